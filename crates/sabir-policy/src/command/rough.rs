//! A look over a text that could not be parsed. It sees words without their quotes and finds too
//! much rather than too little.

use super::danger;
use super::word::{self, Word};

/// What looks destructive in any of the texts.
pub(super) fn scan<'a>(texts: impl Iterator<Item = &'a str>) -> Option<String> {
    // One after the other in one line, because `rm` and `-rf` may be arguments of their own.
    let all: Vec<&str> = texts.collect();
    let all = all.join(" ").replace("${IFS}", " ").replace("$IFS", " ");
    all.split([';', '|', '&', '!', '\n', '(', ')', '{', '}', '`']).find_map(segment)
}

/// The same for texts that have nothing to do with each other.
pub(super) fn scan_each<'a>(mut texts: impl Iterator<Item = &'a str>) -> Option<String> {
    texts.find_map(|text| scan([text].into_iter()))
}

fn segment(text: &str) -> Option<String> {
    let words: Vec<Word> = text
        // `{rm,-rf,x}` is three words to a shell.
        .split(|c: char| c.is_whitespace() || c == ',')
        .filter(|word| !word.is_empty())
        .map(|word| Word::literal(&word.replace(['\'', '"', '\\', '$'], "")))
        .collect();
    let mut looks = 0;
    (0..words.len()).find_map(|at| {
        let name = word::base_name(&words[at].text);
        if !danger::is_listed(name) || looks >= MAX_LOOKS {
            return None;
        }
        looks += 1;
        danger::listed(name, &words[at + 1..])
    })
}

/// Each look reads on to the end of the segment.
const MAX_LOOKS: usize = 64;
