//! Dates as people write them: ISO, `3 May 2020`, `May 3, 2020`, `3.5.2020`, month names of four
//! languages, years, and ranges of these. It knows no clock, so `yesterday` is no date.

use std::ops::Range;

use crate::word;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Date {
    pub(crate) year: u16,
    pub(crate) month: Option<u8>,
    pub(crate) day: Option<u8>,
}

impl Date {
    const fn year(year: u16) -> Self {
        Self { year, month: None, day: None }
    }

    fn checked(year: u32, month: u32, day: Option<u32>) -> Option<Self> {
        let year = u16::try_from(year).ok().filter(|year| YEARS.contains(year))?;
        let month = u8::try_from(month).ok().filter(|month| (1..=12).contains(month))?;
        let days = match month {
            4 | 6 | 9 | 11 => 30,
            2 if year.is_multiple_of(4)
                && (!year.is_multiple_of(100) || year.is_multiple_of(400)) =>
            {
                29
            }
            2 => 28,
            _ => 31,
        };
        let day = match day {
            Some(day) => Some(u8::try_from(day).ok().filter(|day| (1..=days).contains(day))?),
            None => None,
        };
        Some(Self { year, month: Some(month), day })
    }
}

/// The ISO form, as precise as the date is.
impl std::fmt::Display for Date {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:04}", self.year)?;
        if let Some(month) = self.month {
            write!(f, "-{month:02}")?;
        }
        if let Some(day) = self.day {
            write!(f, "-{day:02}")?;
        }
        Ok(())
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) range: Range<usize>,
    pub(crate) date: Date,
    pub(crate) until: Option<Date>,
}

/// The dates in `text`, in order.
pub(crate) fn find(text: &str) -> Vec<Found> {
    let tokens = lex(text);
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        match read(&tokens, at) {
            Some(read) => {
                let range = tokens[at].start..tokens[read.next - 1].end;
                at = read.next;
                found.push(Found { range, date: read.date, until: read.until });
            }
            None => at += 1,
        }
    }
    found
}

/// Whether `word` names a month in one of the languages we know.
pub(crate) fn is_month(word: &str) -> bool {
    month(&word::folded(word)).is_some()
}

struct Read {
    next: usize,
    date: Date,
    until: Option<Date>,
}

#[derive(Debug)]
struct Token {
    kind: TokenKind,
    start: usize,
    end: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TokenKind {
    Number {
        value: u32,
        digits: usize,
    },
    Month(u8),
    /// `th`, `er`, `de`, `of`: what may stand between the parts of a date.
    Link,
    /// `in`, `since`: what makes a number a year.
    Before,
    /// `between`, and the `and` that belongs to it.
    Between,
    And,
    /// `to`, `until`, `bis`.
    To,
    Word,
    Mark(char),
}

fn read(tokens: &[Token], at: usize) -> Option<Read> {
    read_numeric(tokens, at)
        .or_else(|| read_day_first(tokens, at))
        .or_else(|| read_month_first(tokens, at))
        .or_else(|| read_year(tokens, at))
}

/// `2020-05-03`, `2020-05`, `3.5.2020`, `23/5/2020`.
fn read_numeric(tokens: &[Token], at: usize) -> Option<Read> {
    let (first, digits) = number(tokens, at)?;
    let mark = mark(tokens, at + 1).filter(|mark| matches!(mark, '-' | '/' | '.'))?;
    if !touching(tokens, at, at + 2) {
        return None;
    }
    let (second, second_digits) = number(tokens, at + 2)?;
    let third = (self::mark(tokens, at + 3) == Some(mark) && touching(tokens, at + 2, at + 4))
        .then(|| number(tokens, at + 4))
        .flatten();
    let (date, next) = match (digits, third) {
        (4, Some((third, 1..=2))) => (Date::checked(first, second, Some(third))?, at + 5),
        (4, None) if mark == '-' && second_digits == 2 => {
            (Date::checked(first, second, None)?, at + 3)
        }
        (1..=2, Some((year, 4))) => {
            let date = match mark {
                '.' | '-' => Date::checked(year, second, Some(first))?,
                _ if first > 12 => Date::checked(year, second, Some(first))?,
                _ if second > 12 => Date::checked(year, first, Some(second))?,
                // `4/5/2020` is April in one country and May in another: only the year is sure.
                _ => Date::year(u16::try_from(year).ok().filter(|year| YEARS.contains(year))?),
            };
            (date, at + 5)
        }
        _ => return None,
    };
    Some(Read { next, date, until: None })
}

/// `3 May 2020`, `3rd of May 2020`, `3. Mai 2020`, `1er mai 2020`, `3 de mayo de 2020`, `3–5 May
/// 2020`.
fn read_day_first(tokens: &[Token], at: usize) -> Option<Read> {
    let (day, 1..=2) = number(tokens, at)? else { return None };
    let mut next = after_day(tokens, at + 1);
    let mut last_day = None;
    if is_dash(tokens, next)
        && let Some((last, 1..=2)) = number(tokens, next + 1)
    {
        last_day = Some(last);
        next = after_day(tokens, next + 2);
    }
    let month = month_at(tokens, next)?;
    let (year, next) = year_after_month(tokens, next + 1)?;
    let date = Date::checked(year, month, Some(day))?;
    let until = last_day.and_then(|day| Date::checked(year, month, Some(day)));
    Some(Read { next, date, until })
}

/// `May 3, 2020`, `May 3–5, 2020`, `May 2020`.
fn read_month_first(tokens: &[Token], at: usize) -> Option<Read> {
    let month = month_at(tokens, at)?;
    if let Some((day, 1..=2)) = number(tokens, at + 1) {
        let mut next = after_day(tokens, at + 2);
        let mut last_day = None;
        if is_dash(tokens, next)
            && let Some((last, 1..=2)) = number(tokens, next + 1)
        {
            last_day = Some(last);
            next = after_day(tokens, next + 2);
        }
        let (year, next) = year_after_month(tokens, next)?;
        let date = Date::checked(year, month, Some(day))?;
        let until = last_day.and_then(|day| Date::checked(year, month, Some(day)));
        return Some(Read { next, date, until });
    }
    let (year, next) = year_after_month(tokens, at + 1)?;
    Some(Read { next, date: Date::checked(year, month, None)?, until: None })
}

/// A year that says that it is one: `in 1999`, `(1999)`, `1999–2004`, `1999:` at the beginning.
fn read_year(tokens: &[Token], at: usize) -> Option<Read> {
    let year = year_at(tokens, at)?;
    let before = at.checked_sub(1).map(|before| tokens[before].kind);
    let touches_before = at > 0
        && touching(tokens, at - 1, at)
        && matches!(before, Some(TokenKind::Mark('.' | '/' | '-' | ':' | '#' | '$' | '€' | '£')));
    if touches_before {
        return None;
    }
    let goes_on = match kind(tokens, at + 1) {
        Some(TokenKind::To) => true,
        Some(TokenKind::And) => before == Some(TokenKind::Between),
        _ => is_dash(tokens, at + 1),
    };
    if goes_on && let Some(until) = year_at(tokens, at + 2).filter(|until| *until >= year) {
        let until = Some(Date::year(until));
        return Some(Read { next: at + 3, date: Date::year(year), until });
    }
    let opens = matches!(
        before,
        None | Some(
            TokenKind::Before
                | TokenKind::Between
                | TokenKind::And
                | TokenKind::To
                | TokenKind::Link
                | TokenKind::Mark('(' | ',' | ';')
        )
    );
    let closes =
        !matches!(kind(tokens, at + 1), Some(TokenKind::Mark('%' | '°' | '$' | '€' | '£')));
    let alone = before.is_none()
        && !matches!(
            kind(tokens, at + 1),
            None | Some(TokenKind::Mark(':' | '–' | '—' | '-' | ','))
        );
    (opens && closes && !alone).then(|| Read { next: at + 1, date: Date::year(year), until: None })
}

fn after_day(tokens: &[Token], at: usize) -> usize {
    let mut next = at;
    while next < at + 3
        && matches!(kind(tokens, next), Some(TokenKind::Link | TokenKind::Mark('.' | 'º')))
    {
        next += 1;
    }
    next
}

fn year_after_month(tokens: &[Token], at: usize) -> Option<(u32, usize)> {
    let mut next = at;
    while next < at + 2
        && matches!(kind(tokens, next), Some(TokenKind::Link | TokenKind::Mark('.' | ',')))
    {
        next += 1;
    }
    year_at(tokens, next).map(|year| (u32::from(year), next + 1))
}

fn kind(tokens: &[Token], at: usize) -> Option<TokenKind> {
    tokens.get(at).map(|token| token.kind)
}

fn number(tokens: &[Token], at: usize) -> Option<(u32, usize)> {
    match kind(tokens, at)? {
        TokenKind::Number { value, digits } => Some((value, digits)),
        _ => None,
    }
}

fn year_at(tokens: &[Token], at: usize) -> Option<u16> {
    let (value, 4) = number(tokens, at)? else { return None };
    // `1999.5` and `1999-05-01` are no years.
    if mark(tokens, at + 1).is_some_and(|mark| matches!(mark, '.' | ',' | '/' | '-'))
        && touching(tokens, at, at + 2)
        && number(tokens, at + 2).is_some_and(|(_, digits)| digits != 4)
    {
        return None;
    }
    u16::try_from(value).ok().filter(|year| YEARS.contains(year))
}

fn mark(tokens: &[Token], at: usize) -> Option<char> {
    match kind(tokens, at)? {
        TokenKind::Mark(mark) => Some(mark),
        _ => None,
    }
}

fn is_dash(tokens: &[Token], at: usize) -> bool {
    matches!(mark(tokens, at), Some('-' | '–' | '—'))
}

fn month_at(tokens: &[Token], at: usize) -> Option<u32> {
    match kind(tokens, at)? {
        TokenKind::Month(month) => Some(u32::from(month)),
        _ => None,
    }
}

/// Whether no white space stands between the tokens `from` to `to`.
fn touching(tokens: &[Token], from: usize, to: usize) -> bool {
    tokens.get(from..=to).is_some_and(|run| run.windows(2).all(|pair| pair[0].end == pair[1].start))
}

fn lex(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut chars = text.char_indices().peekable();
    while let Some((start, c)) = chars.next() {
        if c.is_whitespace() {
            continue;
        }
        let is_same: fn(char) -> bool = if c.is_ascii_digit() {
            |c| c.is_ascii_digit()
        } else if c.is_alphabetic() {
            char::is_alphabetic
        } else {
            |_| false
        };
        let mut end = start + c.len_utf8();
        while let Some((at, next)) = chars.next_if(|&(_, next)| is_same(next)) {
            end = at + next.len_utf8();
        }
        let word = &text[start..end];
        let kind = if c.is_ascii_digit() {
            TokenKind::Number { value: word.parse().unwrap_or(u32::MAX), digits: word.len() }
        } else if c.is_alphabetic() {
            word_kind(word)
        } else {
            TokenKind::Mark(c)
        };
        tokens.push(Token { kind, start, end });
    }
    tokens
}

fn word_kind(word: &str) -> TokenKind {
    if word.len() > LONGEST_WORD {
        return TokenKind::Word;
    }
    let folded = word::folded(word);
    // `may` the verb is no month; `May` is.
    let is_name =
        word.starts_with(char::is_uppercase) || !matches!(&*folded, "may" | "mar" | "mars");
    if let Some(month) = month(&folded).filter(|_| is_name) {
        return TokenKind::Month(month);
    }
    match &*folded {
        "st" | "nd" | "rd" | "th" | "er" | "de" | "del" | "of" => TokenKind::Link,
        "between" | "zwischen" | "entre" => TokenKind::Between,
        "and" | "und" | "et" | "y" => TokenKind::And,
        "to" | "until" | "till" | "bis" | "a" | "hasta" | "through" => TokenKind::To,
        "in" | "since" | "by" | "from" | "before" | "after" | "around" | "year" | "im" | "jahr"
        | "seit" | "ab" | "vor" | "nach" | "en" | "depuis" | "des" | "desde" | "ano" | "early"
        | "late" | "mid" | "circa" | "ca" | "during" | "spring" | "summer" | "autumn"
        | "winter" | "fall" | "annee" | "vers" => TokenKind::Before,
        _ => TokenKind::Word,
    }
}

fn month(folded: &str) -> Option<u8> {
    let found = MONTHS.iter().position(|names| names.contains(&folded))?;
    u8::try_from(found + 1).ok()
}

/// What is taken for a year. A larger number is more often a price.
const YEARS: std::ops::RangeInclusive<u16> = 1000..=2199;

const LONGEST_WORD: usize = 16;

const MONTHS: [&[&str]; 12] = [
    &["january", "jan", "januar", "janner", "janvier", "enero"],
    &["february", "feb", "februar", "fevrier", "febrero"],
    &["march", "mar", "marz", "mars", "marzo"],
    &["april", "apr", "avril", "abril"],
    &["may", "mai", "mayo"],
    &["june", "jun", "juni", "juin", "junio"],
    &["july", "jul", "juli", "juillet", "julio"],
    &["august", "aug", "aout", "agosto"],
    &["september", "sept", "sep", "septembre", "septiembre"],
    &["october", "oct", "oktober", "okt", "octobre", "octubre"],
    &["november", "nov", "novembre", "noviembre"],
    &["december", "dec", "dezember", "dez", "decembre", "diciembre"],
];

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::find;

    fn check(text: &str, expect: Expect) {
        let found: Vec<String> = find(text)
            .into_iter()
            .map(|found| match found.until {
                Some(until) => format!("{}..{until} {:?}", found.date, &text[found.range]),
                None => format!("{} {:?}", found.date, &text[found.range]),
            })
            .collect();
        expect.assert_eq(&found.join("\n"));
    }

    #[test]
    fn dates_are_found_in_many_spellings() {
        check(
            "2020-05-03, 2020-05, 3.5.2020, 23/5/2020, 5/23/2020, 4/5/2020; May 3, 2020; 3 May 2020; \
             3rd of May 2020; Sept. 2019",
            expect![[r#"
                2020-05-03 "2020-05-03"
                2020-05 "2020-05"
                2020-05-03 "3.5.2020"
                2020-05-23 "23/5/2020"
                2020-05-23 "5/23/2020"
                2020 "4/5/2020"
                2020-05-03 "May 3, 2020"
                2020-05-03 "3 May 2020"
                2020-05-03 "3rd of May 2020"
                2019-09 "Sept. 2019""#]],
        );
        check(
            "am 3. Mai 2020, le 1er février 2021, el 3 de mayo de 2020, im März 2018",
            expect![[r#"
                2020-05-03 "3. Mai 2020"
                2021-02-01 "1er février 2021"
                2020-05-03 "3 de mayo de 2020"
                2018-03 "März 2018""#]],
        );
    }

    #[test]
    fn ranges_have_an_end() {
        check(
            "3–5 May 2020; May 3-5, 2020; 1999–2004; from 1999 to 2004",
            expect![[r#"
            2020-05-03..2020-05-05 "3–5 May 2020"
            2020-05-03..2020-05-05 "May 3-5, 2020"
            1999..2004 "1999–2004"
            1999..2004 "1999 to 2004""#]],
        );
    }

    #[test]
    fn not_every_number_is_a_year() {
        check(
            "1999 people paid 2000 euros; in 1999 they left (2001). Version 2020.1, 31.2.2020, it may \
             2020; ISO 9001, port 8080, +49 1999 1234",
            expect![[r#"
                1999 "1999"
                2001 "2001""#]],
        );
    }
}
