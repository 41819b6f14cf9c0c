//! Characters that nobody sees and a model reads. What a script or a picture needs to be shown right
//! stays.

use std::borrow::Cow;

/// The text as a person sees it: without characters of no width, marks that turn the direction of
/// writing, tags, fillers, soft hyphens, glyphs that only one font knows, and control characters but
/// line ends and tabs. Joiners stay inside of words whose script needs them and between pictures;
/// selectors of variants stay behind pictures.
pub fn visible_text(text: &str) -> Cow<'_, str> {
    if !text.contains(is_suspect) {
        return Cow::Borrowed(text);
    }
    let mut seen = String::with_capacity(text.len());
    let mut before = None;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let kept = match letter {
            ZWNJ | ZWJ => {
                let joins = |c: char| is_joining(c) || (letter == ZWJ && is_picture(c));
                let next = letters.peek().copied();
                (before.is_some_and(joins) && next.is_some_and(joins)).then_some(letter)
            }
            '\u{FE0E}' | '\u{FE0F}' => before.is_some_and(is_picture).then_some(letter),
            '\u{2028}' | '\u{2029}' | '\u{85}' => Some('\n'),
            // Blank, but as wide as a letter.
            '\u{2800}' | '\u{3164}' | '\u{FFA0}' => Some(' '),
            letter if is_suspect(letter) => None,
            letter => Some(letter),
        };
        if let Some(kept) = kept {
            seen.push(kept);
            // A selector belongs to the picture before it, which may be joined to the next one.
            if !matches!(kept, '\u{FE0E}' | '\u{FE0F}') {
                before = Some(kept);
            }
        }
    }
    Cow::Owned(seen)
}

const ZWNJ: char = '\u{200C}';
const ZWJ: char = '\u{200D}';

/// Whether a character has to be looked at.
fn is_suspect(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        // Nearly every text is full of these.
        ' '..='~' => false,
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
        | '\u{2800}'
        | '\u{3164}'
        | '\u{E000}'..='\u{F8FF}'
        | '\u{FE00}'..='\u{FE0F}'
        | '\u{FEFF}'
        | '\u{FFA0}'
        | '\u{FFF0}'..='\u{FFFB}'
        | '\u{1BCA0}'..='\u{1BCA3}'
        | '\u{1D173}'..='\u{1D17A}'
        | '\u{E0000}'..='\u{10FFFF}' => true,
        c => c.is_control(),
    }
}

/// Letters of scripts that change their shape next to each other: Arabic to Mongolian, the scripts
/// of India and its neighbours.
fn is_joining(c: char) -> bool {
    matches!(c, '\u{620}'..='\u{8FF}' | '\u{900}'..='\u{DFF}' | '\u{E80}'..='\u{109F}'
        | '\u{1780}'..='\u{18AF}' | '\u{1A20}'..='\u{1CFF}' | '\u{A8E0}'..='\u{A8FF}'
        | '\u{FB50}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFC}' | '\u{11000}'..='\u{11FFF}')
}

fn is_picture(c: char) -> bool {
    matches!(c, '#' | '*' | '0'..='9' | '©' | '®' | '\u{203C}'..='\u{3299}'
        | '\u{1F000}'..='\u{1FAFF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_sees_is_gone() {
        for hidden in [
            '\u{0}',
            '\u{7}',
            '\u{1B}',
            '\u{AD}',
            '\u{34F}',
            '\u{61C}',
            '\u{115F}',
            '\u{180E}',
            '\u{200B}',
            '\u{200C}',
            '\u{200D}',
            '\u{200E}',
            '\u{202E}',
            '\u{2060}',
            '\u{2064}',
            '\u{2066}',
            '\u{2069}',
            '\u{206F}',
            '\u{E123}',
            '\u{FE00}',
            '\u{FE0F}',
            '\u{FEFF}',
            '\u{FFF9}',
            '\u{E0001}',
            '\u{E0041}',
            '\u{E007F}',
            '\u{E0100}',
            '\u{F0000}',
        ] {
            assert_eq!(visible_text(&format!("a{hidden}b")), "ab", "{:x}", u32::from(hidden));
        }
        assert_eq!(visible_text("a\u{3164}b\u{2028}c"), "a b\nc");
    }

    #[test]
    fn what_scripts_and_pictures_need_stays() {
        for text in
            ["می\u{200C}خواهم", "क्\u{200D}ष", "👩\u{200D}💻", "❤\u{FE0F}\u{200D}🔥", "1\u{FE0F}"]
        {
            assert_eq!(visible_text(text), text);
        }
        assert_eq!(visible_text("می\u{200C}\u{200C}خواهم"), "می\u{200C}خواهم");
    }
}
