//! Text without characters that nobody sees and a model reads. What a script or a picture needs to be
//! shown right stays. Which characters those are it does not know.

use std::borrow::Cow;

use sabir_base::text::{Unseen, unseen};

/// The text as a person sees it: without characters of no width, marks that turn the direction of
/// writing, tags, fillers, soft hyphens, glyphs that only one font knows, and control characters but
/// line ends and tabs. Joiners stay inside of words whose script needs them and between pictures;
/// selectors of variants stay behind pictures.
pub fn visible_text(text: &str) -> Cow<'_, str> {
    if !text.contains(|c| unseen(c).is_some()) {
        return Cow::Borrowed(text);
    }
    let mut seen = String::with_capacity(text.len());
    let mut before = None;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let kept = match unseen(letter) {
            Some(Unseen::Joiner) => {
                let joins = |c: char| is_joining(c) || (letter == ZWJ && is_picture(c));
                let next = letters.peek().copied();
                (before.is_some_and(joins) && next.is_some_and(joins)).then_some(letter)
            }
            // A selector belongs to the picture before it, which may be joined to the next one.
            Some(Unseen::Selector) => {
                let is_kept = is_of_pictures(letter) && before.is_some_and(is_picture);
                seen.extend(is_kept.then_some(letter));
                continue;
            }
            Some(Unseen::Mark) => {
                matches!(letter, '\u{2028}' | '\u{2029}' | '\u{85}').then_some('\n')
            }
            // Blank, but as wide as a letter.
            Some(Unseen::Filler | Unseen::Blank) => Some(' '),
            Some(Unseen::Private) => None,
            None => Some(letter),
        };
        if let Some(kept) = kept {
            seen.push(kept);
            before = Some(kept);
        }
    }
    Cow::Owned(seen)
}

const ZWJ: char = '\u{200D}';

/// The selectors that pictures need: as text, or as a picture.
fn is_of_pictures(selector: char) -> bool {
    matches!(selector, '\u{FE0E}' | '\u{FE0F}')
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
