//! Texts written so that they mean themselves and nothing else. It knows single texts, not the tree.

/// What stands around a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) line: Line,
    pub(super) holder: Holder,
    /// Whether a mark `[1]` stands right before.
    pub(super) after_cite: bool,
    /// Whether a link or a mark comes right after.
    pub(super) before_bracket: bool,
}

/// Where a text begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Line {
    /// At the first line of a block.
    First,
    /// At another line of a paragraph.
    Next,
    Within,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holder {
    Paragraph,
    Heading,
    Cell,
}

/// Appends `text`, which has no line feed, with what needs it escaped.
pub(super) fn push_text(out: &mut String, text: &str, place: Place) {
    let mut start = 0;
    if place.line != Line::Within {
        start = push_line_start(out, text, place.line);
    } else if place.after_cite && text.starts_with(['(', ':', '[']) {
        // `[1](x)` is a link, `[1]: x` defines one.
        out.push('\\');
        out.push_str(&text[..1]);
        start = 1;
    }
    let mut before = text[..start].chars().next_back();
    let mut chars = text[start..].char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        let is_escaped = match c {
            '\\' | '`' | '*' | '[' | ']' | '<' | '~' => true,
            '_' => !is_within_word(text, start + at),
            '&' => is_entity(&text[start + at + 1..]),
            // It would make an image of a link.
            '!' => next.is_none() && place.before_bracket,
            '|' => place.holder == Holder::Cell,
            // At the end of a heading these are decoration.
            '#' => {
                place.holder == Holder::Heading
                    && before.is_none_or(char::is_whitespace)
                    && text[start + at..].bytes().all(|byte| byte == b'#')
            }
            _ => false,
        };
        if is_escaped {
            out.push('\\');
        }
        out.push(c);
        before = Some(c);
    }
}

/// Appends what a block could be taken for at the start of a line, and tells how many bytes that were.
fn push_line_start(out: &mut String, text: &str, line: Line) -> usize {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let marker = if digits <= MAX_LIST_DIGITS { digits } else { 0 };
    let mut after = text[marker..].chars();
    let (first, next) = (after.next(), after.next());
    let ends_marker = next.is_none_or(char::is_whitespace);
    let is_escaped = match first {
        Some('.' | ')') if marker > 0 => ends_marker,
        _ if marker > 0 => false,
        Some('#' | '>') => true,
        Some('+') => ends_marker,
        Some('-') => !next.is_some_and(char::is_alphanumeric),
        // It would underline a heading.
        Some('=') => line == Line::Next,
        // It could make a table of the line before, which may be the one of the item around.
        Some(':') => next == Some('-'),
        Some('|') => true,
        _ => false,
    };
    if !is_escaped {
        return 0;
    }
    out.push_str(&text[..marker]);
    out.push('\\');
    out.push_str(&text[marker..=marker]);
    marker + 1
}

/// Whether the underscore at `at` stands between two letters, where it is no mark. The first and the
/// last letter of a text do not count: they may be written by their numbers.
fn is_within_word(text: &str, at: usize) -> bool {
    let (mut before, mut after) = (text[..at].chars().rev(), text[at + 1..].chars());
    let letters = [before.next(), after.next()];
    letters.iter().all(|letter| letter.is_some_and(char::is_alphanumeric))
        && before.next().is_some()
        && after.next().is_some()
}

/// Whether what follows an ampersand could make a character of it.
fn is_entity(after: &str) -> bool {
    let name = after
        .bytes()
        .take(MAX_ENTITY)
        .take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'#');
    let length = name.count();
    length > 0 && after.as_bytes().get(length) == Some(&b';')
}

/// Appends an address as the target of a link.
pub(super) fn push_target(out: &mut String, href: &str) {
    for c in href.chars() {
        if matches!(c, '\\' | '(' | ')' | '<' | '>' | '&' | '|' | '`' | '*' | '_' | '[' | ']' | '~')
        {
            out.push('\\');
        }
        out.push(c);
    }
}

/// Appends a code span.
pub(super) fn push_code(out: &mut String, text: &str, holder: Holder) {
    let ticks = "`".repeat(longest_run(text, '`') + 1);
    let is_padded = text.starts_with('`')
        || text.ends_with('`')
        || (text.starts_with(' ') && text.ends_with(' ') && !text.bytes().all(|b| b == b' '));
    let pad = if is_padded { " " } else { "" };
    out.push_str(&ticks);
    out.push_str(pad);
    match holder {
        Holder::Cell => out.push_str(&text.replace('|', "\\|")),
        Holder::Paragraph | Holder::Heading => out.push_str(text),
    }
    out.push_str(pad);
    out.push_str(&ticks);
}

/// How often `c` stands in `text` without something between, at most.
pub(super) fn longest_run(text: &str, c: char) -> usize {
    let (mut longest, mut run) = (0, 0);
    for other in text.chars() {
        run = if other == c { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

/// CommonMark numbers items with at most so many digits.
const MAX_LIST_DIGITS: usize = 9;

/// Longer than every name of a character.
const MAX_ENTITY: usize = 40;
