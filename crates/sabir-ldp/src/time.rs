//! Points in time, as the wire writes them. It knows calendars and no clock.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Milliseconds since 1970, UTC.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Timestamp(u64);

/// A time as a peer wrote it. Signatures cover the text, so that it is never written anew.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Stamp {
    pub text: String,
    pub at: Timestamp,
}

/// Why a text is no time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeError {
    NotTime,
    /// Without an offset nobody knows when that is.
    NoOffset,
    /// Before 1970.
    TooEarly,
}

impl fmt::Display for TimeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotTime => "expected a time like 2026-11-16T12:00:00.123Z",
            Self::NoOffset => "the time has no offset: end it with Z or with one like +00:00",
            Self::TooEarly => "the time is before 1970",
        })
    }
}

impl std::error::Error for TimeError {}

impl Timestamp {
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    pub const fn millis(self) -> u64 {
        self.0
    }

    /// This many milliseconds later, at most the end of time.
    #[must_use]
    pub const fn plus_millis(self, millis: u64) -> Self {
        Self(self.0.saturating_add(millis))
    }

    /// How many milliseconds lie between the two, whichever comes first.
    pub const fn distance_millis(self, other: Self) -> u64 {
        self.0.abs_diff(other.0)
    }

    /// Reads RFC 3339, with any fraction and any offset. What is finer than a millisecond is dropped.
    pub fn parse(text: &str) -> Result<Self, TimeError> {
        parse(text.as_bytes())
    }

    /// The last time that has a year of four digits.
    const LAST: u64 = 253_402_300_799_999;
}

impl fmt::Display for Timestamp {
    /// Writes `2026-11-16T12:00:00.123Z`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.written().as_str())
    }
}

impl Timestamp {
    /// Every answer has several, so that they are put together digit by digit.
    fn written(self) -> Written {
        let millis = self.0.min(Self::LAST);
        let (year, month, day) = date_of(millis / DAY_MILLIS);
        let seconds = millis % DAY_MILLIS / 1000;
        let mut text = *b"0000-00-00T00:00:00.000Z";
        let mut put = |range: std::ops::Range<usize>, mut number: u64| {
            for digit in text[range].iter_mut().rev() {
                *digit = b'0' + (number % 10) as u8;
                number /= 10;
            }
        };
        put(0..4, year.unsigned_abs());
        put(5..7, month.unsigned_abs());
        put(8..10, day.unsigned_abs());
        put(11..13, seconds / 3600);
        put(14..16, seconds / 60 % 60);
        put(17..19, seconds % 60);
        put(20..23, millis % 1000);
        Written(text)
    }
}

/// A time as we write it.
struct Written([u8; 24]);

impl Written {
    fn as_str(&self) -> &str {
        // Digits and signs are text.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl From<Timestamp> for Stamp {
    fn from(at: Timestamp) -> Self {
        Self { text: at.written().as_str().to_owned(), at }
    }
}

impl TryFrom<String> for Stamp {
    type Error = TimeError;

    fn try_from(text: String) -> Result<Self, TimeError> {
        Timestamp::parse(&text).map(|at| Self { text, at })
    }
}

impl From<Stamp> for String {
    fn from(stamp: Stamp) -> Self {
        stamp.text
    }
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

const DAY_MILLIS: u64 = 86_400_000;

fn parse(text: &[u8]) -> Result<Timestamp, TimeError> {
    let (date_time, rest) = text.split_at_checked(19).ok_or(TimeError::NotTime)?;
    let number = |from: usize, to: usize| digits(&date_time[from..to]).ok_or(TimeError::NotTime);
    let separators = [(4, "-"), (7, "-"), (10, "Tt "), (13, ":"), (16, ":")];
    if separators.iter().any(|(at, allowed)| !allowed.as_bytes().contains(&date_time[*at])) {
        return Err(TimeError::NotTime);
    }
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    // A leap second is read as the second after it.
    if !(1..=12).contains(&month) || day < 1 || day > days_in(year, month) {
        return Err(TimeError::NotTime);
    }
    if hour > 23 || minute > 59 || second > 60 {
        return Err(TimeError::NotTime);
    }
    let (millis, offset) = fraction(rest)?;
    let seconds = days_since_1970(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second;
    let offset_minutes = offset_minutes(offset)?;
    let total = (seconds - offset_minutes * 60) * 1000 + millis;
    match u64::try_from(total) {
        Ok(total) if total <= Timestamp::LAST => Ok(Timestamp(total)),
        Ok(_) => Err(TimeError::NotTime),
        Err(_) => Err(TimeError::TooEarly),
    }
}

/// The milliseconds of a fraction of any length, and what follows it.
fn fraction(rest: &[u8]) -> Result<(i64, &[u8]), TimeError> {
    let Some(after_point) = rest.strip_prefix(b".") else { return Ok((0, rest)) };
    let length = after_point.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if length == 0 {
        return Err(TimeError::NotTime);
    }
    let (fraction, offset) = after_point.split_at(length);
    let digit = |at: usize| fraction.get(at).map_or(0, |byte| i64::from(byte - b'0'));
    Ok((digit(0) * 100 + digit(1) * 10 + digit(2), offset))
}

fn offset_minutes(offset: &[u8]) -> Result<i64, TimeError> {
    match offset {
        b"" => Err(TimeError::NoOffset),
        b"Z" | b"z" => Ok(0),
        [sign @ (b'+' | b'-'), hour @ .., b':', m1, m2] => {
            let hour = digits(hour).filter(|hour| *hour < 24).ok_or(TimeError::NotTime)?;
            let minute = digits(&[*m1, *m2]).filter(|it| *it < 60).ok_or(TimeError::NotTime)?;
            if offset.len() != 6 {
                return Err(TimeError::NotTime);
            }
            let minutes = hour * 60 + minute;
            Ok(if *sign == b'-' { -minutes } else { minutes })
        }
        _ => Err(TimeError::NotTime),
    }
}

fn digits(text: &[u8]) -> Option<i64> {
    let digit = |byte: &u8| byte.is_ascii_digit().then(|| i64::from(byte - b'0'));
    // At most four digits are asked for, so that this cannot overflow.
    text.get(..text.len().min(4))?.iter().try_fold(0, |sum, byte| Some(sum * 10 + digit(byte)?))
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days before a year: 365 for each year before it, and the leap days among them.
fn days_before_year(year: i64) -> i64 {
    let past = year - 1;
    past * 365 + past.div_euclid(4) - past.div_euclid(100) + past.div_euclid(400)
}

fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let in_year: i64 = (1..month).map(|month| days_in(year, month)).sum();
    days_before_year(year) - days_before_year(1970) + in_year + day - 1
}

/// Year, month and day of a day since 1970.
fn date_of(days: u64) -> (i64, i64, i64) {
    let days = i64::try_from(days).unwrap_or(i64::MAX / 800);
    // Four hundred years are always this long: the guess is at most a year late or early.
    let mut year = 1970 + days * 400 / DAYS_OF_400_YEARS;
    while days_since_1970(year, 1, 1) > days {
        year -= 1;
    }
    while days_since_1970(year + 1, 1, 1) <= days {
        year += 1;
    }
    let (mut month, mut day) = (1, days - days_since_1970(year, 1, 1) + 1);
    while month < 12 && day > days_in(year, month) {
        day -= days_in(year, month);
        month += 1;
    }
    (year, month, day)
}

const DAYS_OF_400_YEARS: i64 = 146_097;
