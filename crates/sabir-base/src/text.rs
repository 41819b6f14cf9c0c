//! Words of strangers, made fit to be shown: nothing hidden, nothing that a terminal would obey, no
//! longer than there is room for.

use std::borrow::Cow;

/// Control characters but line ends and tabs, marks that turn the direction of writing, and
/// characters that models read and people do not see.
pub fn is_hidden(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t'))
        || matches!(
            c,
            '\u{202A}'..='\u{202E}'
                | '\u{2066}'..='\u{2069}'
                | '\u{FEFF}'
                | '\u{E0000}'..='\u{E007F}'
        )
}

/// Without what is hidden. For text that is shown as it comes, like the output of a command.
pub fn without_hidden(text: &str) -> Cow<'_, str> {
    match text.contains(is_hidden) {
        true => Cow::Owned(text.replace(is_hidden, "")),
        false => Cow::Borrowed(text),
    }
}

/// With what is hidden spelled out. For text that somebody decides about.
pub fn with_hidden_shown(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match is_hidden(c) {
            true => shown.extend(c.escape_default()),
            false => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

/// At most `most` bytes of it, and a mark where it was cut.
pub fn clip(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return Cow::Borrowed(text);
    }
    let end = text.floor_char_boundary(most.saturating_sub(CUT_MARK.len()));
    Cow::Owned(format!("{}{CUT_MARK}", &text[..end]))
}

/// On one line, without what is hidden, at most `most` characters and a mark where it was cut. For
/// messages and titles.
pub fn one_line(text: &str, most: usize) -> String {
    let mut line = String::new();
    let mut room = most;
    for word in text.split_whitespace() {
        let mut letters = word.chars().filter(|c| !is_hidden(*c)).peekable();
        let space = (letters.peek().is_some() && !line.is_empty()).then_some(' ');
        for letter in space.into_iter().chain(letters) {
            if room == 0 {
                line.push_str(CUT_MARK);
                return line;
            }
            line.push(letter);
            room -= 1;
        }
    }
    line
}

/// At most `most` bytes of it, and how many more there were.
pub fn clip_counted(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return Cow::Borrowed(text);
    }
    let end = text.floor_char_boundary(most);
    Cow::Owned(format!("{}\n[... {} more bytes ...]", &text[..end], text.len() - end))
}

const CUT_MARK: &str = "…";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminals_and_readers_are_not_fooled() {
        let text = "a\u{1b}[31mb\u{202e}c\u{e0041}\td\ne\r";
        assert_eq!(without_hidden(text), "a[31mbc\td\ne");
        assert_eq!(
            with_hidden_shown(text),
            r"a\u{1b}[31mb\u{202e}c\u{e0041}".to_owned() + "\td\ne\\r"
        );
        assert_eq!(one_line(" a\r\n\u{7} b\tc ", 100), "a b c");
    }

    #[test]
    fn cuts_fall_between_characters() {
        assert_eq!(clip("üüü", 6), "üüü");
        assert_eq!(clip("üüüü", 6), "ü…");
        assert_eq!(clip("abc", 1), "…");
        assert_eq!(one_line("one two three", 9), "one two t…");
        assert_eq!(clip_counted("üü", 3), "ü\n[... 2 more bytes ...]");
    }
}
