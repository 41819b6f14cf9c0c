//! Numbers as people write them: with separators, signs, currencies, percent and words of scale. It
//! knows no units beyond these.

use std::ops::Range;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Found {
    /// With its sign, currency, scale and percent.
    pub(crate) range: Range<usize>,
    /// In plain digits: `-1200.5`. The scale is worked in.
    pub(crate) digits: String,
    pub(crate) kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Plain,
    Percent,
    Money,
}

impl Found {
    pub(crate) fn value(&self) -> f64 {
        self.digits.parse().unwrap_or(f64::NAN)
    }
}

/// The numbers in `text`, in order. Digits inside of words (`mp3`, `2nd`) and versions (`1.2.3`) are
/// no numbers.
pub(crate) fn find(text: &str) -> Vec<Found> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if !bytes[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let end = digits_end(text, at);
        let before = &text[..at];
        let in_word = before.chars().next_back().is_some_and(|c| {
            c.is_alphanumeric()
                || c == '_'
                || matches!(c, '.' | ',' | '/' | ':') && is_glued(before)
        });
        if !in_word && let Some(number) = read(text, at, end) {
            at = number.range.end.max(end);
            found.push(number);
        } else {
            at = end;
        }
    }
    found
}

/// Whether a digit stands before the mark that ends `before`.
fn is_glued(before: &str) -> bool {
    before.chars().rev().nth(1).is_some_and(|c| c.is_ascii_digit())
}

fn digits_end(text: &str, start: usize) -> usize {
    let mut end = start;
    let mut chars = text[start..].char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let joins = is_separator(c) && chars.peek().is_some_and(|(_, next)| next.is_ascii_digit());
        if !c.is_ascii_digit() && !joins {
            break;
        }
        end = start + at + c.len_utf8();
    }
    end
}

fn is_separator(c: char) -> bool {
    matches!(c, '.' | ',' | '\'' | '’' | '\u{a0}' | '\u{202f}' | '\u{2009}')
}

fn read(text: &str, start: usize, end: usize) -> Option<Found> {
    if end - start > LONGEST {
        return None;
    }
    let mut digits = plain(&text[start..end])?;
    let (mut from, mut to) = (start, end);
    let mut kind = Kind::Plain;
    let before = text[..start].trim_end_matches([' ', '\u{a0}']);
    if let Some(currency) = CURRENCIES.iter().find(|currency| before.ends_with(**currency)) {
        from = before.len() - currency.len();
        kind = Kind::Money;
    }
    let sign = text[..from].chars().next_back().filter(|c| matches!(c, '-' | '−'));
    if let Some(sign) = sign {
        let at = from - sign.len_utf8();
        if text[..at].chars().next_back().is_none_or(|c| c.is_whitespace() || c == '(' || c == ':')
        {
            from = at;
            digits.insert(0, '-');
        }
    }
    let after = &text[to..];
    let word = next_word(after);
    if let Some(zeros) = scale(word) {
        to += after.find(word).unwrap_or(0) + word.len();
        shift(&mut digits, zeros);
    }
    let after = &text[to..];
    let gap = after.len() - after.trim_start_matches([' ', '\u{a0}', '\u{202f}']).len();
    let rest = &after[gap..];
    let unit = next_word(after);
    if rest.starts_with('%') {
        to += gap + 1;
        kind = Kind::Percent;
    } else if PERCENT.contains(&unit) {
        to += gap + unit.len();
        kind = Kind::Percent;
    } else if let Some(currency) = CURRENCIES.iter().find(|currency| rest.starts_with(**currency)) {
        let ends = currency.chars().all(|c| !c.is_alphabetic())
            || !rest[currency.len()..].starts_with(char::is_alphanumeric);
        if ends && kind == Kind::Plain {
            to += gap + currency.len();
            kind = Kind::Money;
        }
    } else if text[to..].starts_with(|c: char| c.is_alphanumeric() || c == '_') {
        // `2nd`, `5x`, `3D`; but `12km` is a number with its unit.
        let glued: String =
            text[to..].chars().take_while(|c| c.is_alphanumeric()).take(5).collect();
        if !UNITS.contains(&&*glued) {
            return None;
        }
    }
    Some(Found { range: from..to, digits, kind })
}

/// The word after at most one space.
fn next_word(text: &str) -> &str {
    let text = text.strip_prefix([' ', '\u{a0}', '\u{202f}', '-']).unwrap_or(text);
    let end = text.find(|c: char| !c.is_alphabetic()).unwrap_or(text.len());
    if end <= LONGEST { &text[..end] } else { "" }
}

/// The digits without separators. The last mark is the decimal one unless it stands before three
/// digits and could be one of thousands.
fn plain(written: &str) -> Option<String> {
    let marks: Vec<(usize, char)> =
        written.char_indices().filter(|(_, c)| !c.is_ascii_digit()).collect();
    let decimal = match marks.as_slice() {
        [] => None,
        [.., (_, before), (at, last)] => {
            let repeated = marks.iter().filter(|(_, mark)| mark == last).count() > 1;
            if repeated && marks.iter().any(|(_, mark)| mark != last) {
                // `1.200,300,400` is nothing that anybody writes.
                return None;
            }
            if repeated && *last == '.' && !is_grouped(written, '.') {
                return None;
            }
            (!repeated && last != before).then_some(*at)
        }
        [(at, ',')] => (!is_grouped(written, ',')).then_some(*at),
        [(at, '.')] => Some(*at),
        [_] => None,
    };
    let whole = &written[..decimal.unwrap_or(written.len())];
    let mut digits: String = whole.chars().filter(char::is_ascii_digit).collect();
    let kept = digits.trim_start_matches('0').len().max(1);
    digits.drain(..digits.len() - kept);
    if let Some(at) = decimal {
        digits.push('.');
        digits.push_str(&written[at + 1..]);
    }
    Some(digits)
}

fn is_grouped(written: &str, mark: char) -> bool {
    let mut groups = written.split(mark);
    let head = groups.next().unwrap_or_default();
    (1..=3).contains(&head.len()) && head != "0" && groups.all(|group| group.len() == 3)
}

fn scale(word: &str) -> Option<usize> {
    Some(match word {
        "thousand" | "Tausend" | "tausend" | "mille" | "mil" => 3,
        "million" | "millions" | "Million" | "Millionen" | "Mio" | "millón" | "millones" | "mn" => {
            6
        }
        "billion" | "billions" | "Milliarde" | "Milliarden" | "Mrd" | "milliard" | "milliards"
        | "bn" => 9,
        "trillion" | "trillions" => 12,
        _ => return None,
    })
}

/// Moves the decimal point of `digits` to the right.
fn shift(digits: &mut String, zeros: usize) {
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let mut shifted = whole.to_owned();
    let moved = fraction.len().min(zeros);
    shifted.push_str(&fraction[..moved]);
    shifted.extend(std::iter::repeat_n('0', zeros - moved));
    let kept = shifted.trim_start_matches(['0']).len().max(1);
    if !shifted.starts_with('-') {
        shifted.drain(..shifted.len() - kept);
    }
    if moved < fraction.len() {
        shifted.push('.');
        shifted.push_str(&fraction[moved..]);
    }
    *digits = shifted;
}

/// More digits than anything that is counted has.
const LONGEST: usize = 40;

const CURRENCIES: &[&str] = &[
    "$", "€", "£", "¥", "₹", "₽", "USD", "EUR", "GBP", "CHF", "JPY", "CAD", "AUD", "Euro", "euros",
    "euro", "dollars", "dollar", "pounds", "francs", "Franken",
];

const PERCENT: &[&str] = &["percent", "Prozent", "pourcent"];

const UNITS: &[&str] = &[
    "km", "m", "cm", "mm", "kg", "g", "mg", "t", "l", "ml", "h", "s", "ms", "min", "W", "kW", "MW",
    "GW", "kWh", "MWh", "GB", "MB", "kB", "TB", "Hz", "MHz", "GHz", "ha", "mi", "ft", "lb", "V",
    "A", "mAh", "Wh", "GWh", "K", "C", "F", "px", "nm",
];

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::find;

    fn check(text: &str, expect: Expect) {
        let found: Vec<String> = find(text)
            .into_iter()
            .map(|found| format!("{} {:?} {:?}", found.digits, found.kind, &text[found.range]))
            .collect();
        expect.assert_eq(&found.join("\n"));
    }

    #[test]
    fn numbers_are_found_in_many_spellings() {
        check(
            "1,200.50 and 1.200,50 and 1,200 and 1.5 and 1,5 and 1.200.300 and 1’200 and 007",
            expect![[r#"
                1200.50 Plain "1,200.50"
                1200.50 Plain "1.200,50"
                1200 Plain "1,200"
                1.5 Plain "1.5"
                1.5 Plain "1,5"
                1200300 Plain "1.200.300"
                1200 Plain "1’200"
                7 Plain "007""#]],
        );
        check(
            "-5 °C, −3, (-2), $1,200, 12 EUR, €3.50, 40 %, 12.5%, 3 percent",
            expect![[r#"
            -5 Plain "-5"
            -3 Plain "−3"
            -2 Plain "-2"
            1200 Money "$1,200"
            12 Money "12 EUR"
            3.50 Money "€3.50"
            40 Percent "40 %"
            12.5 Percent "12.5%"
            3 Percent "3 percent""#]],
        );
        check(
            "2.5 million people, 3 Mrd. Euro, $4 billion, 12km",
            expect![[r#"
            2500000 Plain "2.5 million"
            3000000000 Plain "3 Mrd"
            4000000000 Money "$4 billion"
            12 Plain "12""#]],
        );
    }

    #[test]
    fn digits_in_words_and_versions_are_no_numbers() {
        check(
            "mp3, 2nd, v2, 1.2.3, A4, 2020-05-03",
            expect![[r#"
            2020 Plain "2020"
            5 Plain "05"
            3 Plain "03""#]],
        );
    }
}
