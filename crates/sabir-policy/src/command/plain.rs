//! A reader for the plainest of scripts: words, quotes, and commands joined by `&&`, `||`, `;` and
//! `|`. It stands beside the grammar: a script is safe only if both read the same commands from it,
//! so that a mistake in one of them is not enough.

/// The words of each command, or why this is not a plain script.
pub(super) fn read(script: &str) -> Result<Vec<Vec<String>>, String> {
    let mut commands = Vec::new();
    let mut words: Vec<String> = Vec::new();
    let mut chars = script.trim_matches([' ', '\t', '\n']).chars().peekable();
    let mut must_follow = true;
    while let Some(char) = chars.next() {
        match char {
            ' ' | '\t' => {}
            ';' | '|' | '&' => {
                let twice = chars.next_if_eq(&char).is_some();
                match (char, twice) {
                    ('&', false) => return Err("it starts something in the background".to_owned()),
                    (';', true) => return Err("`;;` stands where a command belongs".to_owned()),
                    _ => {}
                }
                if words.is_empty() {
                    return Err("a command is missing beside an operator".to_owned());
                }
                commands.push(std::mem::take(&mut words));
                must_follow = char != ';';
            }
            _ => {
                let mut word = String::new();
                read_piece(char, true, &mut chars, &mut word)?;
                while let Some(next) =
                    chars.next_if(|next| !matches!(next, ' ' | '\t' | ';' | '|' | '&'))
                {
                    read_piece(next, false, &mut chars, &mut word)?;
                }
                if words.is_empty() && word.contains('=') {
                    return Err("it sets a variable".to_owned());
                }
                words.push(word);
                must_follow = false;
            }
        }
    }
    if must_follow {
        return Err("a command is missing at the end".to_owned());
    }
    if !words.is_empty() {
        commands.push(words);
    }
    Ok(commands)
}

type Chars<'a> = std::iter::Peekable<std::str::Chars<'a>>;

fn read_piece(
    first: char,
    at_start: bool,
    chars: &mut Chars<'_>,
    word: &mut String,
) -> Result<(), String> {
    match first {
        '\'' => loop {
            match chars.next() {
                Some('\'') => return Ok(()),
                Some(char) => word.push(char),
                None => return Err("a quote is not closed".to_owned()),
            }
        },
        '"' => loop {
            match chars.next() {
                Some('"') => return Ok(()),
                Some('\\') => match chars.next() {
                    Some(char @ ('"' | '\\' | '$' | '`')) => word.push(char),
                    Some('\n') | None => return Err("a backslash joins lines".to_owned()),
                    Some(char) => word.extend(['\\', char]),
                },
                Some('$' | '`') => return Err(EXPANDS.to_owned()),
                Some(char) => word.push(char),
                None => return Err("a quote is not closed".to_owned()),
            }
        },
        '\\' => match chars.next() {
            Some(char) if char == ' ' || char.is_ascii_punctuation() => word.push(char),
            _ => return Err("a backslash stands where it is not needed".to_owned()),
        },
        // Some shells take these at the start of a word for a pattern or the path of a command.
        '=' | '^' if at_start => return Err(format!("a word begins with `{first}`")),
        '~' if at_start && !matches!(chars.peek(), None | Some(' ' | '/')) => {
            return Err("it names another person's home".to_owned());
        }
        '_' | '-' | '.' | '/' | ':' | ',' | '+' | '@' | '%' | '=' | '^' | '~' => word.push(first),
        _ if first.is_alphanumeric() => word.push(first),
        '$' | '`' => return Err(EXPANDS.to_owned()),
        '<' | '>' => return Err("it redirects input or output".to_owned()),
        '(' | ')' => return Err("it has a subshell or a function".to_owned()),
        '*' | '?' | '[' | ']' | '{' | '}' => {
            return Err("it has a pattern that the shell replaces".to_owned());
        }
        '\n' | '\r' => return Err("it has more than one line".to_owned()),
        '#' => return Err("it has a comment".to_owned()),
        '!' => return Err("it has a `!`".to_owned()),
        _ => return Err(format!("it has {first:?} outside of quotes")),
    }
    Ok(())
}

const EXPANDS: &str = "it has a variable or a substitution, whose value is not known";

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(script: &str, expected: &[&[&str]]) {
        assert_eq!(read(script).unwrap(), expected);
    }

    #[test]
    fn words_quotes_and_operators() {
        check("ls -la", &[&["ls", "-la"]]);
        check(" a&&b||c ;d|e ; ", &[&["a"], &["b"], &["c"], &["d"], &["e"]]);
        check(r#"grep 'a b' "c\"d" e"f"'g' ''"#, &[&["grep", "a b", "c\"d", "efg", ""]]);
        check(r"ls my\ file HEAD~1 HEAD^", &[&["ls", "my file", "HEAD~1", "HEAD^"]]);
        check("ls ~ ~/x a=b", &[&["ls", "~", "~/x", "a=b"]]);
    }

    #[test]
    fn everything_else_is_refused() {
        for script in [
            "",
            ";",
            "ls &&",
            "ls |",
            "&& ls",
            "ls ;; ls",
            "ls & ls",
            "ls &",
            "ls |& cat",
            "a=b",
            "ls $x",
            "ls `x`",
            "ls \"$x\"",
            "ls > x",
            "ls < x",
            "(ls)",
            "{ ls; }",
            "ls *",
            "ls a?",
            "ls [a]",
            "ls\npwd",
            "! ls",
            "ls # x",
            "ls =x",
            "ls ^x",
            "ls ~root",
            "ls 'x",
            "ls \"x",
            "ls \\",
            "ls \\x",
            "ls \u{a0}",
            "ls &&& ls",
            "ls ||| ls",
        ] {
            assert!(read(script).is_err(), "{script:?}");
        }
    }
}
