//! Reading how a shell was called: which of its words is the script.

use super::known_safe;

/// A shell's arguments, taken apart.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ShellCall<'a> {
    /// What stands behind `-c`, in any of its spellings.
    pub(super) script: Option<&'a str>,
    /// Every option is one that does not change what the script does.
    pub(super) plain: bool,
    /// The script comes from the input.
    pub(super) reads_input: bool,
}

/// `arguments` are what follows the name of the shell.
pub(super) fn read<'a>(arguments: &[&'a str]) -> ShellCall<'a> {
    let mut plain = true;
    let (mut has_script, mut asks_for_input) = (false, false);
    let mut rest = arguments;
    while let [first, tail @ ..] = rest {
        if *first == "--" || *first == "-" {
            rest = tail;
            break;
        }
        let Some(letters) = first.strip_prefix(['-', '+']).filter(|it| !it.is_empty()) else {
            break;
        };
        rest = tail;
        if first.starts_with("--") {
            plain &= known_safe::SHELL_LONG_OPTIONS.contains(first);
            // These name a file; its commands run before the script.
            if matches!(*first, "--rcfile" | "--init-file") {
                rest = tail.get(1..).unwrap_or_default();
            }
            continue;
        }
        plain &= first.starts_with('-');
        for letter in letters.chars() {
            match letter {
                'o' | 'O' => {
                    let value = rest.first().copied().unwrap_or_default();
                    plain &= letter == 'o' && known_safe::SHELL_OPTIONS.contains(&value);
                    rest = rest.get(1..).unwrap_or_default();
                }
                _ => {
                    has_script |= letter == 'c';
                    asks_for_input |= letter == 's';
                    plain &= known_safe::SHELL_LETTERS.contains(letter);
                }
            }
        }
    }
    let first = rest.first().copied();
    let reads_input = !has_script && (asks_for_input || first.is_none_or(is_input));
    ShellCall { script: first.filter(|_| has_script), plain, reads_input }
}

fn is_input(path: &str) -> bool {
    matches!(path, "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(arguments: &str, script: Option<&str>, plain: bool) {
        let arguments: Vec<&str> = arguments.split_whitespace().collect();
        let call = read(&arguments);
        assert_eq!((call.script, call.plain), (script, plain));
    }

    #[test]
    fn the_script_is_found_behind_every_spelling() {
        check("-c ls", Some("ls"), true);
        check("-lc ls", Some("ls"), true);
        check("-cl ls", Some("ls"), true);
        check("-l -c ls zero one", Some("ls"), true);
        check("-c -l ls", Some("ls"), true);
        check("--login -c ls", Some("ls"), true);
        check("-c -- ls", Some("ls"), true);
        check("-euo pipefail -c ls", Some("ls"), true);
        check("-o errexit -ec ls", Some("ls"), true);
    }

    #[test]
    fn options_that_change_the_script_are_not_plain() {
        check("-ic ls", Some("ls"), false);
        check("-O extglob -c ls", Some("ls"), false);
        check("-o posix -c ls", Some("ls"), false);
        check("+e -c ls", Some("ls"), false);
        check("--rcfile x -c ls", Some("ls"), false);
        check("--verbose -c ls", Some("ls"), false);
    }

    #[test]
    fn where_the_script_comes_from() {
        for (arguments, expected) in [
            ("", true),
            ("-s one", true),
            ("-", true),
            ("-e", true),
            ("/dev/stdin", true),
            ("run.sh", false),
            ("-c ls", false),
            ("-x run.sh", false),
        ] {
            let words: Vec<&str> = arguments.split_whitespace().collect();
            assert_eq!(read(&words).reads_input, expected, "{arguments}");
        }
    }

    #[test]
    fn without_c_there_is_no_script() {
        check("", None, true);
        check("run.sh -c ls", None, true);
        check("-s", None, false);
        check("-c", None, true);
        check("-- -c ls", None, true);
    }
}
