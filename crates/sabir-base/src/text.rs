//! Words of strangers, made fit to be shown: nothing hidden, nothing that a terminal would obey, no
//! longer than there is room for.

use std::borrow::Cow;

/// Why a character is not seen, or not by everybody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unseen {
    /// Control characters but line ends and tabs, marks that turn the direction of writing, tags, and
    /// others that models read and people do not see.
    Mark,
    /// Fills the place of a letter, and shows none.
    Filler,
    /// As wide as a letter, and blank, where pictures are made of such letters.
    Blank,
    /// Several scripts and many pictures cannot be written without.
    Joiner,
    /// Says how the picture before it looks.
    Selector,
    /// A glyph that only one font knows.
    Private,
}

/// Why a character is not seen; nothing where it is. This is the one list of them.
pub fn unseen(c: char) -> Option<Unseen> {
    Some(match c {
        // Nearly every text is full of these.
        '\n' | '\t' | ' '..='~' => return None,
        '\u{200C}' | '\u{200D}' => Unseen::Joiner,
        '\u{3164}' | '\u{FFA0}' => Unseen::Filler,
        '\u{2800}' => Unseen::Blank,
        '\u{FE00}'..='\u{FE0F}' => Unseen::Selector,
        '\u{E000}'..='\u{F8FF}' | '\u{F0000}'..='\u{10FFFF}' => Unseen::Private,
        '\u{AD}'
        | '\u{34F}'
        | '\u{61C}'
        | '\u{115F}'
        | '\u{1160}'
        | '\u{17B4}'
        | '\u{17B5}'
        | '\u{180B}'..='\u{180F}'
        | '\u{200B}'..='\u{200F}'
        | '\u{2028}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}'
        | '\u{FEFF}'
        | '\u{FFF0}'..='\u{FFFB}'
        | '\u{1BCA0}'..='\u{1BCA3}'
        | '\u{1D173}'..='\u{1D17A}'
        | '\u{E0000}'..='\u{EFFFF}' => Unseen::Mark,
        c if c.is_control() => Unseen::Mark,
        _ => return None,
    })
}

/// Marks and fillers: what no text that is shown needs.
pub fn is_hidden(c: char) -> bool {
    matches!(unseen(c), Some(Unseen::Mark | Unseen::Filler))
}

/// Without what is hidden. For text that is shown as it comes, like the output of a command.
pub fn without_hidden(text: &str) -> Cow<'_, str> {
    match text.contains(is_hidden) {
        true => Cow::Owned(text.replace(is_hidden, "")),
        false => Cow::Borrowed(text),
    }
}

/// With what is hidden spelled out, joiners too where they join nothing. For text that somebody
/// decides about.
pub fn with_hidden_shown(text: &str) -> Cow<'_, str> {
    if !text.contains(|c| is_hidden(c) || is_joiner(c)) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    let joins =
        |c: Option<char>| c.is_some_and(|c| !c.is_ascii() && !is_hidden(c) && !is_joiner(c));
    let (mut before, mut letters) = (None, text.chars().peekable());
    while let Some(c) = letters.next() {
        let is_useless = is_joiner(c) && !(joins(before) && joins(letters.peek().copied()));
        match is_hidden(c) || is_useless {
            true => shown.extend(c.escape_default()),
            false => shown.push(c),
        }
        before = Some(c);
    }
    Cow::Owned(shown)
}

fn is_joiner(c: char) -> bool {
    unseen(c) == Some(Unseen::Joiner)
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
        // Joiners stand where they join, and are spelled out where they hide.
        let joined = "\u{645}\u{6cc}\u{200c}\u{62e}";
        assert_eq!(with_hidden_shown(joined), joined);
        assert_eq!(
            with_hidden_shown("p\u{200d}y\u{200b}p\u{ad}l\u{2028}"),
            r"p\u{200d}y\u{200b}p\u{ad}l\u{2028}"
        );
        assert_eq!(one_line(" a\r\n\u{7} b\tc ", 100), "a b c");
    }

    #[test]
    fn one_list_knows_what_is_unseen() {
        for (c, why) in [
            ('\u{1b}', Some(Unseen::Mark)),
            ('\u{fff3}', Some(Unseen::Mark)),
            ('\u{1d174}', Some(Unseen::Mark)),
            ('\u{e0fff}', Some(Unseen::Mark)),
            ('\u{efffe}', Some(Unseen::Mark)),
            ('\u{3164}', Some(Unseen::Filler)),
            ('\u{2800}', Some(Unseen::Blank)),
            ('\u{200d}', Some(Unseen::Joiner)),
            ('\u{fe0f}', Some(Unseen::Selector)),
            ('\u{e0b0}', Some(Unseen::Private)),
            ('\u{10ffff}', Some(Unseen::Private)),
            ('\n', None),
            ('a', None),
            ('ü', None),
        ] {
            assert_eq!(unseen(c), why, "{c:?}");
            let is_hidden_by_it = matches!(why, Some(Unseen::Mark | Unseen::Filler));
            assert_eq!(is_hidden(c), is_hidden_by_it, "{c:?}");
        }
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
