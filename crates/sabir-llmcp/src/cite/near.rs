//! Whether one word is a slip of another. A number, a negation or a name is never one.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::tokens::{Kind, Token};
use super::words::contrast;

/// Whether letters of a word may differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spelling {
    /// Of names, and of words that are another word when they differ. Accents may.
    Fixed,
    Free,
}

/// Whether `ours`, a word of the source, may be put in for `theirs`.
pub(super) fn is_slip(theirs: &Token, ours: &Token, spelling: Spelling) -> bool {
    if theirs.kind != Kind::Word || ours.kind != Kind::Word {
        return false;
    }
    let is_plain = theirs.word.is_ascii() && ours.word.is_ascii();
    let begins_alike = theirs.word.bytes().next() == ours.word.bytes().next();
    if is_plain && (spelling == Spelling::Fixed || !begins_alike) {
        // Most pairs of words end here, without a look at accents.
        return theirs.word == ours.word;
    }
    let (a, b) = (letters(&theirs.word), letters(&ours.word));
    if a == b {
        // They differ in accents only.
        return true;
    }
    if spelling == Spelling::Fixed || a.first() != b.first() || contrast(&theirs.word, &ours.word) {
        return false;
    }
    let allowed = match a.len().min(b.len()) {
        0..=3 => return false,
        4..=7 => 1,
        8..=MAX_LETTERS => 2,
        _ => return false,
    };
    a.len().max(b.len()) <= MAX_LETTERS && distance(&a, &b) <= allowed
}

fn letters(word: &str) -> Vec<char> {
    word.nfd().filter(|c| !is_combining_mark(*c)).collect()
}

/// Insertions, deletions, replacements and swaps of neighbours. Words are short, so a table will do.
fn distance(a: &[char], b: &[char]) -> usize {
    if a.len().abs_diff(b.len()) > 2 {
        return usize::MAX;
    }
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

/// What is longer is no word.
const MAX_LETTERS: usize = 40;
