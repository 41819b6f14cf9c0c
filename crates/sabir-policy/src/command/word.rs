//! Words of a command as a shell would see them, as far as that is known before it runs.
//!
//! While a word is put together, marks stand in it for what is not known. A finished [`Word`] keeps
//! them beside its text, so that it can be told what an unknown part could make of it.

/// A word with quotes and escapes taken away. What is only known at run time counts as nothing:
/// `r$x\m` is `rm` to whoever leaves `x` unset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) text: String,
    marked: String,
}

impl Word {
    /// A word that nobody expands.
    pub(super) fn literal(text: &str) -> Self {
        Self { text: text.to_owned(), marked: text.replace(MARKS, "") }
    }

    /// A word with the value of a variable, which stays one word.
    pub(super) fn of_value(value: &str) -> Self {
        Self { text: value.replace(MARKS, ""), marked: value.to_owned() }
    }

    /// The same, with something unknown in the place of a text.
    pub(super) fn with_unknown(&self, place: &str) -> Self {
        let marked = self.marked.replace(place, &UNKNOWN.to_string());
        Self { text: marked.replace(MARKS, ""), marked }
    }

    pub(super) fn joined(words: &[Self], between: &str) -> Self {
        let texts: Vec<&str> = words.iter().map(|word| &*word.text).collect();
        let marked: Vec<&str> = words.iter().map(|word| &*word.marked).collect();
        Self { text: texts.join(between), marked: marked.join(between) }
    }

    /// Any number of any words.
    pub(super) fn anything() -> Self {
        Self { text: String::new(), marked: SEVERAL.to_string() }
    }

    pub(super) fn is_anything(&self) -> bool {
        *self == Self::anything()
    }

    /// Parts of it are not known: a variable, a substitution, a pattern of file names.
    pub(super) fn is_loose(&self) -> bool {
        self.marked.contains(MARKS)
    }

    /// An unknown part may hold blanks and become several words.
    pub(super) fn may_be_several(&self) -> bool {
        self.marked.contains(SEVERAL)
    }

    /// As the name of a command, it says which: `"$HOME/bin/x"` does, `$X` and `/bin/r?` do not.
    pub(super) fn names_a_command(&self) -> bool {
        !self.may_be_several() && !base_name(&self.marked).contains(MARKS) && self.text != "{}"
    }

    /// Nothing that is known of it keeps it from being options: `$X`, `-$X`, `${X}f`, `*`; not
    /// `"$X/y"` or `$X.o`.
    pub(super) fn may_be_options(&self) -> bool {
        if self.may_be_several() {
            return true;
        }
        let mut chars = self.marked.chars();
        let mut known = String::new();
        while let Some(char) = chars.next() {
            match char {
                PATTERN => _ = chars.next(),
                UNKNOWN => {}
                _ => known.push(char),
            }
        }
        self.is_loose()
            && self.marked.starts_with(['-', UNKNOWN, PATTERN])
            && known.chars().all(|char| char == '-' || char.is_ascii_alphabetic())
    }

    /// It begins like an option, and how it goes on is not known: `-$X`, `--f$X`; not `--x=$X`.
    pub(super) fn is_unfinished_option(&self) -> bool {
        self.is_loose() && self.text.starts_with('-') && !self.text.contains('=')
    }

    /// The word as a part of a script; what is not known is not known there either.
    pub(super) fn as_script(&self) -> String {
        let mut script = String::new();
        for char in self.marked.chars() {
            match char {
                UNKNOWN => script.push_str("${_}"),
                SEVERAL => script.push_str("${@}"),
                PATTERN => {}
                _ => script.push(char),
            }
        }
        script
    }

    /// The word as the value of a variable: patterns are found again where it is used.
    pub(super) fn as_value(&self) -> String {
        self.marked.replace(PATTERN, "").replace(SEVERAL, &UNKNOWN.to_string())
    }
}

/// The words of an argument list: nobody expands them.
pub(super) fn literal(argv: &[String]) -> Vec<Word> {
    argv.iter().map(|text| Word::literal(text)).collect()
}

/// `/usr/bin/rm` is `rm`.
pub(super) fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Whether a word is one of these long options, in any abbreviation, or holds one of these letters
/// in a cluster of short ones.
pub(super) fn is_option(text: &str, short: &str, long: &[&str]) -> bool {
    match text.strip_prefix("--") {
        Some(option) => {
            let option = option.split('=').next().unwrap_or_default();
            !option.is_empty() && long.iter().any(|listed| listed.starts_with(option))
        }
        None => text.strip_prefix('-').is_some_and(|it| it.contains(|c| short.contains(c))),
    }
}

/// The name and the value of `A=b`; of `A+=b` too.
pub(super) fn as_assignment(text: &str) -> Option<(&str, &str)> {
    let (name, value) = text.split_once('=')?;
    let name = name.strip_suffix('+').unwrap_or(name);
    is_variable(name).then_some((name, value))
}

/// What can be the name of a variable.
pub(super) fn is_variable(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
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
pub(super) fn push_unquoted(raw: &str, into: &mut String) {
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
            '*' | '?' | '[' => into.extend([PATTERN, char]),
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
            // `echo -e` and `printf %b` allow a zero in front of three digits.
            '0' => (0, 8, 4),
            '1'..='7' => (0, 8, 3),
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

/// What a value becomes when it stands without quotes: it is taken apart at its blanks and at what
/// else separates words, and its patterns are replaced.
pub(super) fn push_split(value: &str, separators: &str, into: &mut String) {
    for char in value.chars() {
        match char {
            '*' | '?' | '[' => into.extend([PATTERN, char]),
            UNKNOWN => into.push(SEVERAL),
            _ if char.is_whitespace() || separators.contains(char) => into.push(BREAK),
            _ => into.push(char),
        }
    }
}

/// One written word becomes several: `{rm,-rf,x}`, and a variable whose value has spaces.
pub(super) fn finish(marked: String) -> Vec<Word> {
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
        .map(|part| {
            let marked = part.replace(OPEN, "{").replace(CLOSE, "}");
            Word { text: marked.replace(MARKS, ""), marked }
        })
        .collect()
}

/// Enough to recognise an argument by.
const MAX_SHOWN: usize = 60;
const MAX_ALTERNATIVES: usize = 64;

// Characters that no argument can hold or that nobody types, as marks inside a word.
const BREAK: char = '\0';
const OPEN: char = '\u{1}';
const CLOSE: char = '\u{2}';
/// Something unknown that stays one word.
pub(super) const UNKNOWN: char = '\u{3}';
/// Something unknown that may be several words, or none.
pub(super) const SEVERAL: char = '\u{4}';
/// The next character is part of a pattern of file names.
const PATTERN: char = '\u{5}';
const MARKS: [char; 3] = [UNKNOWN, SEVERAL, PATTERN];
