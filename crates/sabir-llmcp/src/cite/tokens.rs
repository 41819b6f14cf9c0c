//! Words, numbers and signs of a text, folded so that what only looks different is the same: NFKC,
//! lower case, one kind of quote and dash, no invisible characters. It judges nothing.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::words::{is_negation, is_number_word};

/// One word, number or sign that matters, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    /// Folded.
    pub(super) word: String,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: Kind,
    /// Whether it starts with a capital letter.
    pub(super) is_capital: bool,
    /// Whether a line ends between the token before and this one. In the plain text of Markdown a
    /// block, an item or a row ends there.
    pub(super) begins_line: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    Negation,
    /// Everything with a digit in it, and number words.
    Number,
    /// `%`, currencies, signs: they belong to numbers.
    Sign,
}

/// The tokens of a text. Other punctuation is left out.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let clusters = clusters(text);
    let mut tokens: Vec<Token> = Vec::new();
    let mut at = 0;
    while let Some(cluster) = clusters.get(at) {
        let start = cluster.start;
        match class(&clusters, at) {
            Class::Letter => {
                let mut end = at + 1;
                while clusters.get(end).is_some() && continues(&clusters, end) {
                    end += 1;
                }
                tokens.push(word(&clusters[at..end], text));
                at = end;
                continue;
            }
            Class::Single => tokens.push(word(&clusters[at..=at], text)),
            Class::Sign => tokens.push(Token {
                word: cluster.folded.clone(),
                start,
                end: cluster.end,
                kind: Kind::Sign,
                is_capital: false,
                begins_line: false,
            }),
            Class::Other => {}
        }
        at += 1;
    }
    let mut end = 0;
    for token in &mut tokens {
        token.begins_line = text[end..token.start].contains('\n');
        end = token.end;
    }
    tokens
}

/// The text folded, without white space and without the marks of Markdown: two texts of this form are
/// equal when they differ in typography only.
pub(super) fn shape(text: &str) -> String {
    let is_kept = |c: &char| !c.is_whitespace() && !matches!(c, '*' | '_' | '`' | '|' | '\\');
    clusters(text).iter().flat_map(|cluster| cluster.folded.chars()).filter(is_kept).collect()
}

/// A character with the marks that combine with it, folded.
struct Cluster {
    folded: String,
    start: usize,
    end: usize,
}

enum Class {
    Letter,
    /// A character of a script that writes words without spaces.
    Single,
    Sign,
    Other,
}

fn clusters(text: &str) -> Vec<Cluster> {
    let mut clusters: Vec<Cluster> = Vec::new();
    let mut chars = text.char_indices().peekable();
    while let Some((start, c)) = chars.next() {
        let mut end = start + c.len_utf8();
        while let Some((at, next)) = chars.next_if(|(_, next)| joins(*next)) {
            end = at + next.len_utf8();
        }
        let folded = fold(&text[start..end]);
        if !folded.is_empty() {
            clusters.push(Cluster { folded, start, end });
        }
    }
    clusters
}

/// Combining marks, and the later parts of Korean syllables.
fn joins(c: char) -> bool {
    is_combining_mark(c) || matches!(c, '\u{1160}'..='\u{11FF}')
}

fn fold(cluster: &str) -> String {
    // Nothing of ASCII is invisible, compatible or typographic.
    if cluster.is_ascii() {
        return cluster.to_ascii_lowercase();
    }
    let mut folded = String::new();
    for c in cluster.nfc() {
        match c {
            // Invisible: soft hyphens, zero-width characters, selectors of variants, tags.
            '\u{AD}'
            | '\u{200B}'..='\u{200F}'
            | '\u{202A}'..='\u{202E}'
            | '\u{2060}'..='\u{2069}'
            | '\u{FEFF}'
            | '\u{180E}'
            | '\u{FE00}'..='\u{FE0F}'
            | '\u{E0000}'..='\u{E01EF}' => {}
            '‘' | '’' | '‚' | '‛' | '′' | '´' | 'ʼ' | '＇' => folded.push('\''),
            '“' | '”' | '„' | '‟' | '«' | '»' | '″' | '＂' => folded.push('"'),
            '‐' | '‑' | '‒' | '–' | '—' | '―' | '−' | '﹣' | '－' => {
                folded.push('-')
            }
            'ß' => folded.push_str("ss"),
            'ς' => folded.push('σ'),
            // Half is not one and two, and ten to the sixth is not 106.
            _ if c.is_numeric() && !is_plain_digit(c) => folded.push(c),
            _ => {
                let compatible = std::iter::once(c).nfkc();
                folded.extend(compatible.flat_map(char::to_lowercase));
            }
        }
    }
    folded
}

/// Digits that only look different.
fn is_plain_digit(c: char) -> bool {
    c.is_ascii_digit() || matches!(c, '\u{FF10}'..='\u{FF19}' | '\u{1D7CE}'..='\u{1D7FF}')
}

fn first(clusters: &[Cluster], at: usize) -> Option<char> {
    clusters.get(at)?.folded.chars().next()
}

fn is_digit(c: Option<char>) -> bool {
    c.is_some_and(char::is_numeric)
}

fn class(clusters: &[Cluster], at: usize) -> Class {
    let Some(c) = first(clusters, at) else { return Class::Other };
    let before = at.checked_sub(1).and_then(|at| first(clusters, at));
    match c {
        _ if is_unspaced(c) => Class::Single,
        _ if c.is_alphanumeric() => Class::Letter,
        '-' | '~'
            if begins_amount(clusters, at + 1)
                && !before.is_some_and(|c| c.is_alphanumeric() || c == ')') =>
        {
            Class::Sign
        }
        // `.5` is a number, and a full stop before a digit is none in `v.5` and `...5`.
        '.' if begins_fraction(clusters, at) => Class::Letter,
        '(' if is_negative(clusters, at) => Class::Sign,
        _ if is_currency(c) => Class::Sign,
        '%' | '‰' | '°' | '+' | '=' | '<' | '>' | '±' | '∓' | '×' | '÷' | '≤' | '≥' | '≠' | '≈'
        | '≃' | '≅' | '≲' | '≳' | '≪' | '≫' | '∼' | '^' | '§' => Class::Sign,
        _ => Class::Other,
    }
}

pub(super) fn is_currency(c: char) -> bool {
    matches!(c, '$' | '£' | '¥' | '¢' | '\u{20A0}'..='\u{20CF}')
}

/// Whether a number begins at `at`, perhaps with its currency.
fn begins_amount(clusters: &[Cluster], at: usize) -> bool {
    let c = first(clusters, at);
    is_digit(c) || c.is_some_and(is_currency) || begins_fraction(clusters, at)
}

/// Whether a number begins at `at` with its point.
fn begins_fraction(clusters: &[Cluster], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|at| first(clusters, at));
    clusters.get(at).is_some_and(|it| it.folded == ".")
        && is_digit(first(clusters, at + 1))
        && !before.is_some_and(|c| c.is_alphanumeric() || c == '.')
}

/// Whether the bracket at `at` is a minus sign, as accounts write it: nothing but an amount stands in
/// the brackets, and no year.
fn is_negative(clusters: &[Cluster], at: usize) -> bool {
    let inside = || clusters.iter().skip(at + 1).take(MAX_AMOUNT);
    let Some(length) = inside().position(|it| it.folded == ")") else { return false };
    let is_part = |c: char| c.is_numeric() || is_currency(c) || matches!(c, '.' | ',' | '%' | ' ');
    let is_amount = inside().take(length).all(|it| it.folded.chars().all(is_part))
        && inside().take(length).any(|it| it.folded.chars().all(char::is_numeric));
    let is_year =
        length == 4 && inside().take(length).all(|it| it.folded.chars().all(char::is_numeric));
    is_amount && !is_year
}

/// Whether the cluster at `at` belongs to the word of the one before.
fn continues(clusters: &[Cluster], at: usize) -> bool {
    let Some(c) = first(clusters, at) else { return false };
    // Nothing invisible may join two words.
    let before = first(clusters, at - 1);
    let next = first(clusters, at + 1);
    match c {
        _ if is_unspaced(c) => false,
        _ if c.is_alphanumeric() => true,
        '\'' => next.is_some_and(char::is_alphabetic) && before.is_some_and(char::is_alphabetic),
        '.' | ',' | ':' | '-' | '/' => is_digit(before) && is_digit(next),
        _ => false,
    }
}

fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{2E80}'..='\u{30FF}' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}'
        | '\u{E00}'..='\u{E7F}' | '\u{20000}'..='\u{3FFFF}')
        && c.is_alphanumeric()
}

fn word(clusters: &[Cluster], text: &str) -> Token {
    let start = clusters.first().map_or(0, |cluster| cluster.start);
    let end = clusters.last().map_or(start, |cluster| cluster.end);
    let word: String = clusters.iter().map(|cluster| cluster.folded.as_str()).collect();
    let kind = match () {
        () if word.chars().any(char::is_numeric) || is_number_word(&word) => Kind::Number,
        () if is_negation(&word) => Kind::Negation,
        () => Kind::Word,
    };
    let is_capital = text[start..end].chars().next().is_some_and(char::is_uppercase);
    Token { word, start, end, kind, is_capital, begins_line: false }
}

/// Whether the token is a character of a script without spaces.
pub(super) fn is_single(token: &Token) -> bool {
    token.word.chars().next().is_some_and(is_unspaced)
}

/// The longest amount in brackets that is looked at, in characters.
const MAX_AMOUNT: usize = 24;
