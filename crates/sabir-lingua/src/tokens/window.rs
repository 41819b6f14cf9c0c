//! Cuts a text into windows that can be counted one by one.
//!
//! The library that counts looks at the whole rest of the text for some characters: a megabyte of
//! zero-width joiners would take minutes. A window bounds what it can look at.

/// Large enough that almost every text has a good place to cut in it, small enough that looking at
/// it from every character costs no more than the counting itself.
const WINDOW: usize = 4096;

/// The parts of `text`, in order and without loss. Each is at most [`WINDOW`] bytes.
pub(super) fn windows(mut text: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        if text.is_empty() {
            return None;
        }
        let (window, rest) = text.split_at(end_of_window(text));
        text = rest;
        Some(window)
    })
}

fn end_of_window(text: &str) -> usize {
    if text.len() <= WINDOW {
        return text.len();
    }
    let limit = text.floor_char_boundary(WINDOW);
    let places = (1..=limit).rev().filter(|&at| text.is_char_boundary(at));
    // Half a window back is far enough: a text without a place there hardly has one before it, and
    // looking for it in every window would be the larger part of the work.
    places.take_while(|&at| at > WINDOW / 2).find(|&at| is_token_start(text, at)).unwrap_or(limit)
}

/// Whether every vocabulary starts a token at `at`, wherever the text around it begins or ends.
///
/// Before anything else the vocabularies split a text by patterns that look ahead by one
/// character at white space and never look back. White space is the first character of a piece or
/// stands behind other white space; a piece that holds a line end goes on with white space or `/`
/// only; and a run of ideographs, kana or Hangul ends before punctuation.
pub(super) fn is_token_start(text: &str, at: usize) -> bool {
    let (before, after) = text.split_at(at);
    let (Some(last), Some(first)) = (before.chars().next_back(), after.chars().next()) else {
        return false;
    };
    match (last, first) {
        // A line end belongs to the punctuation before it.
        (_, '\r' | '\n') => false,
        (last, first) if first.is_whitespace() => !last.is_whitespace(),
        ('\n', first) => first != '/',
        ('一'..='龥' | 'ぁ'..='ゖ' | 'ァ'..='ヺ' | '가'..='힣', first) => {
            matches!(first, '、' | '。' | '，' | '！' | '？' | '：' | '；')
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_small_and_lose_nothing() {
        for unit in ["a", "a b ", "🦀", "漢", "x\n", "x。"] {
            let text = unit.repeat(5000);
            assert!(windows(&text).all(|window| (1..=WINDOW).contains(&window.len())), "{unit}");
            assert_eq!(windows(&text).collect::<String>(), text);
        }
        assert_eq!(windows("").count(), 0);
    }

    #[test]
    fn a_window_ends_before_white_space() {
        let text = "word ".repeat(2000);
        assert!(windows(&text).skip(1).all(|window| window.starts_with(' ')));
    }
}
