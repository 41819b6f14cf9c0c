//! Words of a command as a shell would see them, as far as that is known before it runs.

/// A word with quotes and escapes taken away. What is only known at run time counts as nothing:
/// `r$x\m` is `rm` to whoever leaves `x` unset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) text: String,
    /// Parts of it are not known: a variable, a substitution, a pattern of file names.
    pub(super) loose: bool,
}

/// The words of an argument list: nobody expands them.
pub(super) fn literal(argv: &[String]) -> Vec<Word> {
    argv.iter().map(|text| Word { text: text.clone(), loose: false }).collect()
}

/// `/usr/bin/rm` is `rm`.
pub(super) fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// A word as part of a reason: short, and with nothing that moves the cursor of a terminal.
pub(super) fn shown(text: &str) -> String {
    let mut shown: String = text.chars().take(MAX_SHOWN).flat_map(char::escape_debug).collect();
    // In single quotes these need no escape, and a reason is no Rust text.
    shown = shown.replace("\\'", "'").replace("\\\"", "\"");
    if text.chars().nth(MAX_SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

/// A word without quotes: backslashes escape. Braces and patterns are marked for [`finish`].
pub(super) fn push_unquoted(raw: &str, into: &mut String, loose: &mut bool) {
    let mut chars = raw.chars();
    while let Some(char) = chars.next() {
        match char {
            // A backslash before a line break joins the lines.
            '\\' => match chars.next() {
                Some('\n') | None => {}
                Some(next) => into.push(next),
            },
            '{' => into.push(OPEN),
            '}' => into.push(CLOSE),
            '*' | '?' | '[' => {
                *loose = true;
                into.push(char);
            }
            _ => into.push(char),
        }
    }
}

/// The inside of double quotes: a backslash escapes only what is special there.
pub(super) fn push_double_quoted(raw: &str, into: &mut String) {
    let mut chars = raw.chars();
    while let Some(char) = chars.next() {
        if char != '\\' {
            into.push(char);
            continue;
        }
        match chars.next() {
            Some('\n') | None => {}
            Some(next @ ('"' | '\\' | '$' | '`')) => into.push(next),
            Some(next) => {
                into.push('\\');
                into.push(next);
            }
        }
    }
}

/// The inside of `$'…'`.
pub(super) fn push_ansi_quoted(raw: &str, into: &mut String) {
    let mut rest = raw;
    while let Some(at) = rest.find('\\') {
        into.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let Some(kind) = rest.chars().next() else { break };
        let (digits_at, radix, most) = match kind {
            'x' => (1, 16, 2),
            'u' => (1, 16, 4),
            'U' => (1, 16, 8),
            '0'..='7' => (0, 8, 3),
            _ => (0, 0, 0),
        };
        if radix == 0 {
            into.push(match kind {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                other => other,
            });
            rest = &rest[kind.len_utf8()..];
            continue;
        }
        let digits: String =
            rest[digits_at..].chars().take(most).take_while(|c| c.is_digit(radix)).collect();
        let code = u32::from_str_radix(&digits, radix).unwrap_or(0);
        into.extend(char::from_u32(code).filter(|char| *char != '\0'));
        rest = &rest[digits_at + digits.len()..];
    }
    into.push_str(rest);
}

/// What a value becomes when it stands without quotes: it is taken apart at its spaces.
pub(super) fn push_split(value: &str, into: &mut String) {
    into.extend(value.chars().map(|char| if char.is_whitespace() { BREAK } else { char }));
}

/// One written word becomes several: `{rm,-rf,x}`, and a variable whose value has spaces.
pub(super) fn finish(marked: String, loose: bool) -> Vec<Word> {
    let mut done = Vec::new();
    let mut waiting = vec![marked];
    while let Some(text) = waiting.pop() {
        let group = text.rfind(OPEN).and_then(|open| {
            let close = open + text[open..].find(CLOSE)?;
            text[open..close].contains(',').then_some((open, close))
        });
        match group {
            // More alternatives than anybody writes are left as they stand.
            Some((open, close)) if done.len() + waiting.len() < MAX_ALTERNATIVES => {
                let (before, after) = (&text[..open], &text[close + CLOSE.len_utf8()..]);
                let alternatives = text[open + OPEN.len_utf8()..close].split(',').rev();
                waiting.extend(
                    alternatives
                        .take(MAX_ALTERNATIVES)
                        .map(|alternative| format!("{before}{alternative}{after}")),
                );
            }
            _ => done.push(text),
        }
    }
    done.iter()
        .flat_map(|text| {
            text.split(BREAK).filter(move |part| !part.is_empty() || !text.contains(BREAK))
        })
        .map(|part| Word { text: part.replace(OPEN, "{").replace(CLOSE, "}"), loose })
        .collect()
}

/// Enough to recognise an argument by.
const MAX_SHOWN: usize = 60;
const MAX_ALTERNATIVES: usize = 64;

// Characters that no argument can hold or that nobody types, as marks inside a word.
const BREAK: char = '\0';
const OPEN: char = '\u{1}';
const CLOSE: char = '\u{2}';
