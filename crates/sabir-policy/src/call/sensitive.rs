//! Texts that hold what identifies a person or opens something, told by their shape. It only makes
//! the gate ask, so that it may be wrong in both directions; it claims no more.

use serde::{Deserialize, Serialize};

/// What was seen in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sensitive {
    Email,
    Secret,
    Iban,
    Card,
    SocialSecurity,
    Phone,
    /// A number beside a word like "passport".
    IdNumber,
    /// Nine digits and more, whatever they count.
    LongNumber,
}

impl Sensitive {
    /// What stands in the text, the most telling first.
    pub fn find(text: &str) -> Option<Self> {
        let text = &text[..text.floor_char_boundary(MAX_BYTES)];
        let numbers = numbers(text);
        let words = || text.split(|c: char| !c.is_alphanumeric());
        let digits: usize = numbers.iter().flat_map(|it| &it.groups).map(|it| it.len()).sum();
        if text.split_whitespace().any(is_email) {
            Some(Self::Email)
        } else if text.contains("PRIVATE KEY") || text.split_whitespace().any(is_secret) {
            Some(Self::Secret)
        } else if has_iban(text) {
            Some(Self::Iban)
        } else if numbers.iter().any(Number::has_card) {
            Some(Self::Card)
        } else if numbers.iter().any(Number::is_social_security) {
            Some(Self::SocialSecurity)
        } else if digits >= 4 && words().any(is_id_word) {
            Some(Self::IdNumber)
        } else if numbers.iter().any(Number::is_phone) {
            Some(Self::Phone)
        } else if numbers.iter().flat_map(|it| &it.groups).any(|group| group.len() >= 9) {
            Some(Self::LongNumber)
        } else {
            None
        }
    }

    pub fn in_words(self) -> &'static str {
        match self {
            Self::Email => "an email address",
            Self::Secret => "a key or token",
            Self::Iban => "an IBAN",
            Self::Card => "a card number",
            Self::SocialSecurity => "a social security number",
            Self::Phone => "a telephone number",
            Self::IdNumber => "a number of an identity or account",
            Self::LongNumber => "a long number",
        }
    }
}

/// Digits that belong together, as they are grouped.
struct Number<'a> {
    /// Begins with `+` or `(`, as telephone numbers do.
    is_marked: bool,
    groups: Vec<&'a str>,
    separators: Vec<u8>,
}

impl Number<'_> {
    /// A card's digits may stand behind a year, so each beginning is tried.
    fn has_card(&self) -> bool {
        (0..self.groups.len()).any(|start| {
            let mut digits = String::new();
            self.groups[start..].iter().take(19).any(|group| {
                digits.push_str(group);
                (13..=19).contains(&digits.len()) && passes_luhn(&digits)
            })
        })
    }

    fn is_social_security(&self) -> bool {
        let lengths: Vec<usize> = self.groups.iter().map(|group| group.len()).collect();
        lengths.windows(3).any(|window| window == [3, 2, 4])
    }

    fn is_phone(&self) -> bool {
        let lengths: Vec<usize> = self.groups.iter().map(|group| group.len()).collect();
        let digits: usize = lengths.iter().sum();
        let is_date = matches!(lengths.as_slice(), [4, 2, 2] | [2, 2, 4] | [4, 4]);
        let starts_with_zero = self.groups.first().is_some_and(|group| group.starts_with('0'));
        let is_dialled = matches!(lengths.as_slice(), [3, 4] | [3, 3, 4] | [1, 3, 3, 4])
            || starts_with_zero
            || self.separators.iter().any(|it| matches!(it, b'-' | b')' | b'/')) && digits >= 9;
        !is_date && (7..=17).contains(&digits) && (self.is_marked || is_dialled)
    }
}

/// The numbers of a text. Between two groups of digits there may be a separator or two.
fn numbers(text: &str) -> Vec<Number<'_>> {
    let bytes = text.as_bytes();
    let mut numbers: Vec<Number<'_>> = Vec::new();
    let mut at = 0;
    let mut last_end = None;
    while at < bytes.len() {
        if !bytes[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let length = bytes[at..].iter().take_while(|it| it.is_ascii_digit()).count();
        let group = &text[at..at + length];
        let between = last_end
            .and_then(|end| bytes.get(end..at))
            .filter(|it: &&[u8]| it.len() <= 2 && it.iter().all(|it| b" -./()".contains(it)));
        match (between, numbers.last_mut()) {
            (Some(between), Some(number)) => {
                number.groups.push(group);
                number.separators.extend(between);
            }
            _ => {
                let is_marked = at > 0 && b"+(".contains(&bytes[at - 1]);
                numbers.push(Number { is_marked, groups: vec![group], separators: Vec::new() });
            }
        }
        at += length;
        last_end = Some(at);
    }
    numbers
}

fn passes_luhn(digits: &str) -> bool {
    let sum: u32 = digits
        .bytes()
        .rev()
        .enumerate()
        .map(|(place, digit)| {
            let value = u32::from(digit - b'0') << (place % 2);
            if value > 9 { value - 9 } else { value }
        })
        .sum();
    // A row of zeros passes, and is no card.
    sum > 0 && sum.is_multiple_of(10)
}

fn is_email(word: &str) -> bool {
    let Some((name, host)) = word.split_once('@') else { return false };
    let is_name_end = |c: char| c.is_alphanumeric() || "._%+-".contains(c);
    name.chars().next_back().is_some_and(is_name_end)
        && host.split(|c: char| !c.is_alphanumeric() && c != '.' && c != '-').next().is_some_and(
            |host| host.trim_matches('.').split('.').filter(|label| !label.is_empty()).count() >= 2,
        )
}

/// What services give out as keys, and what nobody would remember.
fn is_secret(word: &str) -> bool {
    let is_opaque = |c: char| c.is_ascii_alphanumeric() || "-_+/=.~".contains(c);
    let word = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    let has = |is: fn(&char) -> bool| word.chars().any(|c| is(&c));
    let starts = SECRET_STARTS.iter().any(|start| word.starts_with(start));
    word.chars().all(is_opaque)
        && !word.contains("//")
        && (starts && word.len() >= 20
            || word.len() >= 32
                && !word.contains('.')
                && has(char::is_ascii_digit)
                && has(char::is_ascii_alphabetic)
                && !word.contains('/'))
}

/// Two letters, two digits, and letters and digits that pass the check of ISO 13616.
fn has_iban(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_start = |at: usize| {
        let before = at.checked_sub(1).and_then(|it| bytes.get(it));
        !before.is_some_and(u8::is_ascii_alphanumeric)
            && matches!(bytes.get(at..at + 4), Some([a, b, c, d])
                if a.is_ascii_alphabetic() && b.is_ascii_alphabetic()
                    && c.is_ascii_digit() && d.is_ascii_digit())
    };
    (0..bytes.len()).filter(|at| is_start(*at)).any(|at| {
        let signs = bytes[at..].iter().take(MOST_IBAN_BYTES).filter(|it| **it != b' ');
        let signs: Vec<u8> = signs.take_while(|it| it.is_ascii_alphanumeric()).copied().collect();
        (15..=signs.len().min(34)).any(|length| passes_mod_97(&signs[..length]))
    })
}

fn passes_mod_97(signs: &[u8]) -> bool {
    let (front, rest) = signs.split_at(4);
    let rest = rest.iter().chain(front).fold(0_u32, |rest, sign| match sign {
        b'0'..=b'9' => (rest * 10 + u32::from(sign - b'0')) % 97,
        _ => (rest * 100 + u32::from(sign.to_ascii_uppercase() - b'A') + 10) % 97,
    });
    rest == 1
}

fn is_id_word(word: &str) -> bool {
    ID_WORDS.iter().any(|it| it.eq_ignore_ascii_case(word))
}

/// What stands behind is not looked at: nobody searches for that much.
const MAX_BYTES: usize = 16 * 1024;
/// 34 signs in groups of four.
const MOST_IBAN_BYTES: usize = 48;
const SECRET_STARTS: [&str; 9] =
    ["sk-", "pk-", "ghp_", "gho_", "github_pat_", "xoxb-", "xoxp-", "AKIA", "eyJ"];
const ID_WORDS: [&str; 22] = [
    "account",
    "iban",
    "ssn",
    "passport",
    "passcode",
    "pin",
    "tax",
    "insurance",
    "licence",
    "license",
    "patient",
    "member",
    "customer",
    "konto",
    "kontonummer",
    "steuernummer",
    "ausweis",
    "reisepass",
    "passeport",
    "pasaporte",
    "cpf",
    "dni",
];
