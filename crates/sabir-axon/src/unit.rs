//! The units that may follow a number, and which of them can be compared (section 6.4, rule 1).

/// A unit as written directly after a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Unit {
    Percent = 1,
    Milliseconds,
    Seconds,
    Minutes,
    Hours,
    Days,
    Bytes,
    Kilobytes,
    Megabytes,
    Gigabytes,
    Tokens,
    Dollars,
    Euros,
}

/// Units of one category can be compared with each other, units of two cannot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnitCategory {
    Ratio,
    Time,
    Size,
    /// Named in the grammar and in no category of section 6.4: tokens compare with tokens only.
    Tokens,
    Currency,
}

impl Unit {
    pub const ALL: [Unit; 13] = [
        Unit::Percent,
        Unit::Milliseconds,
        Unit::Seconds,
        Unit::Minutes,
        Unit::Hours,
        Unit::Days,
        Unit::Bytes,
        Unit::Kilobytes,
        Unit::Megabytes,
        Unit::Gigabytes,
        Unit::Tokens,
        Unit::Dollars,
        Unit::Euros,
    ];

    pub fn from_text(text: &str) -> Option<Self> {
        Self::from_bytes(text.as_bytes())
    }

    pub(crate) fn from_bytes(text: &[u8]) -> Option<Self> {
        Some(match text {
            b"%" => Self::Percent,
            b"ms" => Self::Milliseconds,
            b"s" => Self::Seconds,
            b"min" => Self::Minutes,
            b"h" => Self::Hours,
            b"d" => Self::Days,
            b"B" => Self::Bytes,
            b"KB" => Self::Kilobytes,
            b"MB" => Self::Megabytes,
            b"GB" => Self::Gigabytes,
            b"tok" => Self::Tokens,
            b"usd" => Self::Dollars,
            b"eur" => Self::Euros,
            _ => return None,
        })
    }

    /// The inverse of `as u8`; zero and everything past the last unit stand for "no unit".
    pub(crate) fn from_index(index: u8) -> Option<Self> {
        Self::ALL.get(usize::from(index).wrapping_sub(1)).copied()
    }

    pub fn text(self) -> &'static str {
        match self {
            Unit::Percent => "%",
            Unit::Milliseconds => "ms",
            Unit::Seconds => "s",
            Unit::Minutes => "min",
            Unit::Hours => "h",
            Unit::Days => "d",
            Unit::Bytes => "B",
            Unit::Kilobytes => "KB",
            Unit::Megabytes => "MB",
            Unit::Gigabytes => "GB",
            Unit::Tokens => "tok",
            Unit::Dollars => "usd",
            Unit::Euros => "eur",
        }
    }

    pub fn category(self) -> UnitCategory {
        match self {
            Unit::Percent => UnitCategory::Ratio,
            Unit::Milliseconds | Unit::Seconds | Unit::Minutes | Unit::Hours | Unit::Days => {
                UnitCategory::Time
            }
            Unit::Bytes | Unit::Kilobytes | Unit::Megabytes | Unit::Gigabytes => UnitCategory::Size,
            Unit::Tokens => UnitCategory::Tokens,
            Unit::Dollars | Unit::Euros => UnitCategory::Currency,
        }
    }
}

impl UnitCategory {
    pub fn name(self) -> &'static str {
        match self {
            UnitCategory::Ratio => "ratio",
            UnitCategory::Time => "time",
            UnitCategory::Size => "size",
            UnitCategory::Tokens => "tokens",
            UnitCategory::Currency => "currency",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_survive_text_and_index() {
        for unit in Unit::ALL {
            assert_eq!(Unit::from_text(unit.text()), Some(unit));
            assert_eq!(Unit::from_index(unit as u8), Some(unit));
        }
        assert_eq!(Unit::from_index(0), None);
        assert_eq!(Unit::from_index(14), None);
        assert_eq!(Unit::from_text("kb"), None);
    }
}
