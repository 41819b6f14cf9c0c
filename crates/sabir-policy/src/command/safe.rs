//! Whether a command is on the list of those that only read, with arguments that keep it so.

use super::known_safe::{self, Arguments, GitReader, Operands};
use super::{Place, plain, shell_call, tree, word};

/// `Err` says what stands in the way.
pub(super) fn check(argv: &[String], mut place: Place) -> Result<(), String> {
    check_within(argv, &mut place, 0)
}

/// `place` is where the command runs, and then where the next one does.
fn check_within(argv: &[String], place: &mut Place, depth: usize) -> Result<(), String> {
    let words: Vec<&str> = argv.iter().map(String::as_str).collect();
    let Some((program, arguments)) = words.split_first() else {
        return Err("there is no command".to_owned());
    };
    let name = word::base_name(program);
    if let Some(folder) = program.strip_suffix(name).filter(|folder| !folder.is_empty())
        && !known_safe::SYSTEM_FOLDERS.contains(&folder.trim_end_matches('/'))
    {
        return Err(format!(
            "`{}` is named by its path, and nobody knows what stands there",
            word::shown(program)
        ));
    }
    if known_safe::SHELLS.contains(&name) {
        return check_shell(name, arguments, place, depth);
    }
    let row = known_safe::COMMANDS.iter().find(|(listed, _)| *listed == name);
    let Some((_, allowed)) = row else {
        return Err(format!("`{}` is not known to only read", word::shown(program)));
    };
    // An option is one wherever it stands: behind the value of another option, `--` may be that
    // value and end nothing.
    let forbidden =
        |argument: &&str| Err(format!("`{name} {}` may do more than read", word::shown(argument)));
    match allowed {
        Arguments::Any => Ok(()),
        Arguments::NotBeginning(beginnings) => {
            let found = arguments.iter().find(|it| beginnings.iter().any(|b| it.starts_with(b)));
            found.map_or(Ok(()), forbidden)
        }
        Arguments::Not { long, short } => {
            let found = arguments.iter().find(|argument| word::is_option(argument, short, long));
            found.map_or(Ok(()), forbidden)
        }
        Arguments::PrintLines => check_sed(arguments),
        Arguments::Folder => {
            *place = Place::Elsewhere;
            Ok(())
        }
        // A folder that looks like a repository has settings, and settings name programs.
        Arguments::Git if *place == Place::Elsewhere => {
            Err("`git` believes the settings of its folder, and that is not the session's"
                .to_owned())
        }
        Arguments::Git => check_git(arguments),
    }
}

fn check_shell(
    name: &str,
    arguments: &[&str],
    place: &mut Place,
    depth: usize,
) -> Result<(), String> {
    let call = shell_call::read(arguments);
    let Some(script) = call.script else {
        return Err(format!("`{name}` runs commands from a file or from its input"));
    };
    if !call.plain {
        return Err(format!("`{name}` has options that change what its script does"));
    }
    if depth >= MAX_DEPTH {
        return Err("it is nested too deeply to judge".to_owned());
    }
    let commands = plain::read(script)?;
    if tree::plain_commands(script).as_ref() != Some(&commands) {
        return Err("its script is not plain commands".to_owned());
    }
    commands.iter().try_for_each(|command| check_within(command, place, depth + 1))
}

fn check_sed(arguments: &[&str]) -> Result<(), String> {
    let is_line = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let prints_lines = |script: &str| {
        script.strip_suffix('p').is_some_and(|range| match range.split_once(',') {
            Some((from, to)) => is_line(from) && is_line(to),
            None => is_line(range),
        })
    };
    match arguments {
        ["-n", script, files @ ..]
            if prints_lines(script) && files.iter().all(|file| !file.starts_with('-')) =>
        {
            Ok(())
        }
        _ => Err("of `sed` only `sed -n FROM,TOp FILE` is known to only read".to_owned()),
    }
}

fn check_git(arguments: &[&str]) -> Result<(), String> {
    let Some((name, rest)) = arguments.split_first() else {
        return Err("`git` alone is not known to only read".to_owned());
    };
    let Some(reader) = known_safe::GIT.iter().find(|reader| reader.name == *name) else {
        return Err(format!("`git {}` is not known to only read", word::shown(name)));
    };
    let mut operands = 0usize;
    for argument in rest {
        if !argument.starts_with('-') {
            operands += 1;
        } else if *argument != "--" && !takes(reader, argument) {
            let argument = word::shown(argument);
            return Err(format!("`git {name} {argument}` may do more than read"));
        }
    }
    let lists = rest.iter().take_while(|it| **it != "--").any(|it| *it == "--list");
    if reader.operands == Operands::BehindList && operands > 0 && !lists {
        return Err(format!("`git {name}` with a name does more than list"));
    }
    Ok(())
}

fn takes(reader: &GitReader, argument: &str) -> bool {
    let option = argument.split('=').next().unwrap_or_default();
    reader.options.iter().flat_map(|options| options.iter()).any(|listed| {
        match listed.strip_suffix('*') {
            Some(beginning) => argument.starts_with(beginning),
            None if listed.starts_with("--") => *listed == option,
            None => *listed == argument,
        }
    })
}

/// Shells within shells; each level needs another level of quotes, so that nobody means more.
const MAX_DEPTH: usize = 4;
