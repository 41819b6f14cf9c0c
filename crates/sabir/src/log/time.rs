//! Times as people say them: a day, a moment, or how long ago.

use sabir_ldp::Timestamp;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    At(u64),
    /// Milliseconds before now.
    Ago(u64),
}

impl When {
    pub(crate) fn millis(self, now_ms: u64) -> u64 {
        match self {
            Self::At(ms) => ms,
            Self::Ago(ms) => now_ms.saturating_sub(ms),
        }
    }
}

pub(crate) fn parse(text: &str) -> Result<When, String> {
    if let Some(ago) = ago(text) {
        return Ok(When::Ago(ago));
    }
    let day = format!("{text}T00:00:00Z");
    let at = Timestamp::parse(text).or_else(|_| Timestamp::parse(&day));
    at.map(|at| When::At(at.millis())).map_err(|_| {
        "write a day (2026-11-16), a moment (2026-11-16T12:00:00Z) or how long ago (90s, 10m, 2h, 3d)"
            .to_owned()
    })
}

/// `90s`, `10m`, `2h`, `3d`, in milliseconds.
fn ago(text: &str) -> Option<u64> {
    let unit = match text.chars().last()? {
        's' => 1_000,
        'm' => 60_000,
        'h' => 3_600_000,
        'd' => 86_400_000,
        _ => return None,
    };
    text[..text.len() - 1].parse::<u64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_people_write_them() {
        assert_eq!(parse("90s"), Ok(When::Ago(90_000)));
        assert_eq!(parse("3d"), Ok(When::Ago(259_200_000)));
        assert_eq!(parse("1970-01-02"), Ok(When::At(86_400_000)));
        assert_eq!(parse("1970-01-01T00:00:01.5Z"), Ok(When::At(1_500)));
        assert_eq!(When::Ago(7).millis(5), 0);
        for wrong in ["", "h", "x2h", "-1h", "yesterday", "99999999999999999999d", "ü"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
