//! Text that a script only writes into files: `cat > FILE <<'END'`. It may be a whole program with
//! more signs in it than a script has, and nothing in it is run.

use std::borrow::Cow;

/// The script without such text, if that is all that it is about: nothing in it could run what it
/// writes, and no parser is needed to see that.
pub(super) fn without_written_text(script: &str) -> Cow<'_, str> {
    let mut kept = String::new();
    let mut rest = script;
    while let Some(document) = Document::first_of(rest) {
        kept.push_str(document.opens);
        kept.push_str(document.ends);
        rest = document.behind;
    }
    match !kept.is_empty() && rest.chars().all(is_plain) && are_harmless(commands_of(rest)) {
        true => Cow::Owned(kept + rest),
        false => Cow::Borrowed(script),
    }
}

fn commands_of(plain: &str) -> impl DoubleEndedIterator<Item = &str> {
    plain.split(['&', ';', '|', '\n']).map(str::trim)
}

fn are_harmless<'s>(mut commands: impl Iterator<Item = &'s str>) -> bool {
    commands.all(|command| command.is_empty() || is_one_of(command, &HARMLESS))
}

fn is_one_of(command: &str, names: &[&str]) -> bool {
    command.split([' ', '\t', '>']).next().is_some_and(|word| names.contains(&word))
}

/// The parts of a script up to the end of its first here-document.
struct Document<'s> {
    /// Everything up to the end of the line that opens it.
    opens: &'s str,
    /// The line that ends it.
    ends: &'s str,
    behind: &'s str,
}

impl<'s> Document<'s> {
    fn first_of(script: &'s str) -> Option<Self> {
        let at = script.find(|c| !is_plain(c))?;
        let (before, operator) = script.split_at(at);
        // Of what stands before it is known what it does, and that it leaves `cat` what it is.
        let mut commands = commands_of(before);
        if !is_one_of(commands.next_back()?, &WRITERS) || !are_harmless(commands) {
            return None;
        }
        let after = operator.strip_prefix("<<")?;
        let (after, indented) = match after.strip_prefix('-') {
            Some(after) => (after, true),
            None => (after, false),
        };
        let after = after.trim_start_matches([' ', '\t']);
        let quote = after.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
        let (name, tail) = after[1..].split_once(quote)?;
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let (tail, body) = tail.split_once('\n')?;
        let is_target = |c: char| is_name(c) || "./ \t>-".contains(c);
        if name.is_empty() || !name.chars().all(is_name) || !tail.chars().all(is_target) {
            return None;
        }
        let opens = &script[..script.len() - body.len()];
        let mut at = 0;
        for line in body.split_inclusive('\n') {
            let text = line.strip_suffix('\n').unwrap_or(line);
            let text = if indented { text.trim_start_matches('\t') } else { text };
            let next = at + line.len();
            if text == name {
                return Some(Self { opens, ends: &body[at..next], behind: &body[next..] });
            }
            at = next;
        }
        None
    }
}

/// What stands for itself wherever it stands: no quotes, no comments, nothing to be expanded.
fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_./+:,- \t\n&;|>".contains(c)
}

const WRITERS: [&str; 2] = ["cat", "tee"];

/// Commands that run nothing and change nothing about what the next ones mean.
const HARMLESS: [&str; 10] =
    ["cat", "cd", "chmod", "echo", "ls", "mkdir", "set", "tee", "touch", "wc"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_is_only_written_is_left_out() {
        for (script, expected) in [
            ("cat > a <<'E'\nx | y\nE\n", "cat > a <<'E'\nE\n"),
            ("cat <<\"E\" > a.c\nx\nE\nls", "cat <<\"E\" > a.c\nE\nls"),
            (
                "set -e; mkdir -p a && cd a\ncat >b <<-'E'\n\tx\n\tE\ntee c <<'F'\ny\nF",
                "set -e; mkdir -p a && cd a\ncat >b <<-'E'\n\tE\ntee c <<'F'\nF",
            ),
        ] {
            assert_eq!(without_written_text(script), expected);
        }
    }

    #[test]
    fn a_program_that_is_only_written_is_not_too_long() {
        let program = "std::cout << (a | b) << '\\n';\n".repeat(5_000);
        let script = format!("mkdir -p src && cat > src/main.cc <<'EOF'\n{program}EOF\n");
        let judge = |script: String| {
            let argv = ["bash", "-lc", &script].map(str::to_owned);
            super::super::assess(&argv, super::super::Place::Session).verdict()
        };
        assert_eq!(judge(script.clone()), super::super::Verdict::Ordinary);
        assert_eq!(judge(script + "make"), super::super::Verdict::Dangerous);
    }

    #[test]
    fn nothing_else_is_left_out() {
        for script in [
            "cat <<'E' | sh\nrm -rf x\nE\n",
            "sh <<'E'\nrm -rf x\nE\n",
            "cat <<E > a\n$(rm -rf x)\nE\n",
            "alias cat=sh\ncat <<'E'\nrm -rf x\nE\n",
            "hash -p /bin/sh cat; cat > a <<'E'\nrm -rf x\nE\n",
            "# cat <<'E'\nrm -rf x\nE\n",
            "echo \"\ncat <<'E'\n\"; rm -rf x\nE\n",
            "cat > a <<'E'\nnever ended\n",
            "cat > a <<'E'\nrm -rf x\nE\nsh a\n",
            "cat > a <<'E'\nrm -rf x\nE\n. ./a\n",
            "cat > a <<'E'\nrm -rf x\nE\ntrap 'sh a' EXIT\n",
            "cat > a <<'E' && sh a\nrm -rf x\nE\n",
            "cat > >sh <<'E' <<'F'\nx\nE\n",
            "cat <<'E F'\nx\nE F\n",
        ] {
            assert_eq!(without_written_text(script), script);
        }
    }
}
