//! When something happened, and how it is called: how the desk writes times and draws names.

use super::DeskError;
pub(super) use crate::clock::now_ms;

/// A time as packets write it: `2026-01-28T12:34:56.789Z`.
pub fn written(ms: u64) -> String {
    let (days, rest) = (ms / DAY_MS, ms % DAY_MS);
    let (year, month, day) = civil(days);
    let (seconds, ms) = (rest / 1000, rest % 1000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z")
}

/// The date of a day, counted from 1970-01-01. Months are counted from March, so that the leap day
/// is the last of its year, and years in cycles of 400.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + DAYS_TO_1970;
    let (cycle, day) = (days / CYCLE, days % CYCLE);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (year, month) = (year + cycle * 400, if month < 10 { month + 3 } else { month - 9 });
    (if month <= 2 { year + 1 } else { year }, month, day)
}

/// Random bytes, or a clear word that there are none.
pub(super) fn random<const N: usize>() -> Result<[u8; N], DeskError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| DeskError::Random { reason: error.to_string() })?;
    Ok(bytes)
}

/// A UUID of version 4.
pub(super) fn uuid() -> Result<String, DeskError> {
    let mut bytes = random::<16>()?;
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex = hex(&bytes);
    let parts = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]];
    Ok(parts.join("-"))
}

/// What a page cannot guess.
pub(super) fn nonce() -> Result<String, DeskError> {
    Ok(hex(&random::<16>()?))
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

const DAY_MS: u64 = 86_400_000;
/// Days of 400 years.
const CYCLE: u64 = 146_097;
/// From the first of March of the year 0.
const DAYS_TO_1970: u64 = 719_468;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_people_count_them() {
        for (ms, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_769_603_696_789, "2026-01-28T12:34:56.789Z"),
            (4_107_542_399_999, "2100-02-28T23:59:59.999Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        ] {
            assert_eq!(written(ms), text);
        }
    }

    #[test]
    fn names_look_as_they_should() {
        let id = uuid().unwrap();
        assert_eq!(id.len(), 36);
        assert_eq!(id.as_bytes()[14], b'4');
        assert!(b"89ab".contains(&id.as_bytes()[19]));
        assert_ne!(id, uuid().unwrap());
        assert_eq!(nonce().unwrap().len(), 32);
    }
}
