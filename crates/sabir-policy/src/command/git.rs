//! Looks for what is destructive in calls of git: behind its options, in aliases and in settings.

use super::danger::{Search, row_for, starred};
use super::destructive;
use super::word::{self, Word};

impl Search {
    pub(super) fn git(&mut self, arguments: &[Word], depth: usize) -> Option<String> {
        if !self.spend(arguments.len()) {
            return None;
        }
        let mut rest = arguments;
        let mut believed = false;
        while let [option, tail @ ..] = rest
            && option.text.starts_with('-')
        {
            rest = tail;
            believed |= starred(destructive::GIT_CONFIGURERS, &option.text);
            if option.may_be_options() {
                return Some(LOOSE.to_owned());
            }
            if destructive::GIT_OPTIONS_WITH_VALUE.contains(&&*option.text) {
                let value = tail.first();
                rest = tail.get(1..).unwrap_or_default();
                if value.is_some_and(Word::may_be_several) {
                    return Some(LOOSE.to_owned());
                }
                if option.text == "-c"
                    && let Some(setting) = value
                    && let Some(why) = self.git_setting(setting, depth)
                {
                    return Some(why);
                }
            }
        }
        let (name, arguments) = rest.split_first()?;
        if name.is_loose() {
            return Some(LOOSE.to_owned());
        }
        if let Some(why) = row(&name.text, arguments) {
            return Some(why);
        }
        if name.text == "config" {
            return self.git_config(arguments, depth);
        }
        if (believed || self.changes_git) && !destructive::GIT_SUBCOMMANDS.contains(&&*name.text) {
            return Some(format!(
                "`git {}` does what settings say that were just chosen",
                word::shown(&name.text)
            ));
        }
        if destructive::GIT_RUNNERS.contains(&&*name.text) {
            let is_run = |pair: &&[Word]| {
                matches!(&*pair[0].text, "run" | "foreach" | "-x" | "--exec" | "--recursive")
            };
            if arguments.windows(2).filter(is_run).any(|pair| !pair[1].names_a_command()) {
                return Some(format!("what `git {}` runs is not known", name.text));
            }
            return (0..arguments.len())
                .find_map(|at| {
                    let (name, behind) = arguments[at..].split_first()?;
                    row(&name.text, behind).or_else(|| self.here(&arguments[at..], depth + 1))
                })
                .or_else(|| self.script_arguments(arguments, depth));
        }
        if destructive::GIT_SCRIPT_TAKERS.contains(&&*name.text) {
            return self.script_arguments(arguments, depth);
        }
        None
    }

    /// `git config alias.x 'reset --hard'`, with any options.
    fn git_config(&mut self, arguments: &[Word], depth: usize) -> Option<String> {
        let pairs = arguments.windows(2).filter(|pair| pair[0].text.contains('.'));
        let settings: Vec<Word> = pairs.map(|pair| Word::joined(pair, "=")).collect();
        self.changes_git |= !settings.is_empty();
        settings.iter().find_map(|setting| self.git_setting(setting, depth))
    }

    /// `NAME=VALUE`: the value of a setting can be a command, and an alias one of git's own.
    fn git_setting(&mut self, setting: &Word, depth: usize) -> Option<String> {
        let (key, value) = setting.text.split_once('=')?;
        let is_alias = key.to_ascii_lowercase().starts_with("alias.");
        if is_alias && setting.is_loose() {
            return Some("an alias of git is set to what is not known".to_owned());
        }
        self.git_value(value, depth)
    }

    pub(super) fn git_value(&mut self, value: &str, depth: usize) -> Option<String> {
        if let Some(script) = value.strip_prefix('!') {
            return self.script(script, depth + 1);
        }
        let words: Vec<Word> = value.split_whitespace().map(Word::literal).collect();
        let alias = words.split_first().and_then(|(name, behind)| row(&name.text, behind));
        alias.or_else(|| self.perhaps_script(value, depth + 1))
    }
}

/// What the table says about a subcommand.
pub(super) fn row(name: &str, arguments: &[Word]) -> Option<String> {
    row_for(destructive::GIT, name, arguments).map(|why| format!("`git {name}` {why}"))
}

const LOOSE: &str = "which subcommand of `git` runs is not known";
