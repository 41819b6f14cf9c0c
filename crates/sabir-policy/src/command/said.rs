//! What `echo`, `printf` and the like print, told without running them.

use super::word::{self, Word};

/// The output of a command that only says something. Parts that are not known are marks in it.
pub(super) fn output(words: &[Word]) -> Option<String> {
    let (name, arguments) = words.split_first()?;
    let values: Vec<String> = arguments.iter().map(Word::as_value).collect();
    match (word::base_name(&name.text), &values[..]) {
        ("command" | "builtin", [option, ..]) if !option.starts_with('-') => output(arguments),
        // Where a command is: its name says as much.
        ("command", [option, name]) if option == "-v" => Some(name.clone()),
        ("type", [option, name]) if matches!(&**option, "-p" | "-P") => Some(name.clone()),
        ("which", [name]) => Some(name.clone()),
        ("echo", _) => Some(unescaped(&without_options(&values).join(" "))),
        ("printf", [option, format, values @ ..]) if option == "--" => Some(print(format, values)),
        ("printf", [format, values @ ..]) if !format.starts_with("-v") => {
            Some(print(format, values))
        }
        _ => None,
    }
}

/// Whether all that a command prints stands in its words.
pub(super) fn is_teller(name: &str) -> bool {
    matches!(word::base_name(name), "echo" | "printf")
}

fn without_options(values: &[String]) -> &[String] {
    let is_option = |value: &&String| {
        value.strip_prefix('-').is_some_and(|it| !it.is_empty() && it.trim_matches(ECHO).is_empty())
    };
    &values[values.iter().take_while(is_option).count()..]
}

/// Some shells read escapes without being asked to.
fn unescaped(text: &str) -> String {
    let mut done = String::new();
    word::push_ansi_quoted(text, &mut done);
    done
}

fn print(format: &str, values: &[String]) -> String {
    let format = unescaped(format);
    let mut values = values.iter();
    let mut printed = String::new();
    // The format is used again while there are values for it.
    for _ in 0..MAX_ROUNDS {
        let before = values.len();
        let mut rest = format.as_str();
        while let Some(at) = rest.find('%') {
            printed.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            let size = rest.find(|c: char| c.is_ascii_alphabetic() || c == '%').unwrap_or(0);
            let (options, tail) = rest.split_at(size);
            let kind = tail.chars().next().unwrap_or('%');
            rest = tail.get(kind.len_utf8()..).unwrap_or_default();
            let most = options.split_once('.').and_then(|(_, digits)| digits.parse().ok());
            match kind {
                '%' => printed.push('%'),
                'c' => printed.extend(values.next().and_then(|value| value.chars().next())),
                'b' => printed.push_str(&unescaped(values.next().map_or("", String::as_str))),
                _ => printed.extend(
                    values
                        .next()
                        .map_or("", String::as_str)
                        .chars()
                        .take(most.unwrap_or(MAX_FIELD)),
                ),
            }
        }
        printed.push_str(rest);
        if values.len() == 0 || values.len() == before {
            break;
        }
    }
    printed
}

/// The letters that `echo` takes as options.
const ECHO: [char; 3] = ['n', 'e', 'E'];
const MAX_ROUNDS: usize = 64;
const MAX_FIELD: usize = 4_096;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(words: &[&str], expected: Option<&str>) {
        let words: Vec<Word> = words.iter().map(|text| Word::literal(text)).collect();
        assert_eq!(output(&words).as_deref(), expected);
    }

    #[test]
    fn what_is_said_is_known() {
        check(&["echo", "-n", "rm", "-rf"], Some("rm -rf"));
        check(&["/bin/echo", "-ne", r"r\x6d"], Some("rm"));
        check(&["echo", "-rf"], Some("-rf"));
        check(&["builtin", "echo", "a"], Some("a"));
        check(&["command", "-v", "git"], Some("git"));
        check(&["printf", "%s\\n", "a", "b"], Some("a\nb\n"));
        check(&["printf", "r%s -%.1s%c", "m", "rx", "fy"], Some("rm -rf"));
        check(&["printf", "--", "100%%"], Some("100%"));
        check(&["printf", "%b", r"a\040b"], Some("a b"));
        check(&["printf", "-v", "x", "y"], None);
        check(&["date"], None);
    }
}
