//! Texts of strangers without the characters that nobody sees and that do something all the same. It
//! knows no form of a file.

/// On one line, without control characters and without invisible ones.
pub(crate) fn one_line(text: &str) -> String {
    let mut out = String::new();
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()) {
        let start = out.len();
        out.extend(word.chars().filter(|c| !is_invisible(*c)));
        if out.len() > start {
            out.push(' ');
        }
    }
    out.truncate(out.trim_end().len());
    out
}

/// Without control characters, which a terminal would obey. Lines and tabs stay.
pub(crate) fn without_controls(mut text: String) -> String {
    text.retain(|c| !c.is_control() || matches!(c, '\n' | '\t'));
    text
}

/// Whether a character turns the direction of others, or takes no place at all.
pub(crate) fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{AD}'
        | '\u{61C}'
        | '\u{180E}'
        | '\u{200B}'
        | '\u{200E}' | '\u{200F}'
        | '\u{202A}'..='\u{202E}'
        | '\u{2060}'..='\u{2064}'
        | '\u{2066}'..='\u{2069}'
        | '\u{FEFF}'
        | '\u{FFF9}'..='\u{FFFB}'
        | '\u{E0000}'..='\u{E007F}')
}
