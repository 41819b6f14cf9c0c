//! Times of the wire: every way in which they are written, and those in which they are not.

use proptest::prelude::*;
use sabir_ldp::{Stamp, TimeError, Timestamp};

/// LD-W7: RFC 3339 with any fraction and any offset.
#[test]
fn times_are_read() {
    let millis = |text: &str| Timestamp::parse(text).unwrap().millis();
    assert_eq!(millis("1970-01-01T00:00:00Z"), 0);
    assert_eq!(millis("2026-11-16T12:00:00.123Z"), 1_794_830_400_123);
    assert_eq!(millis("2026-11-16T12:00:00.123456789+00:00"), 1_794_830_400_123);
    assert_eq!(millis("2026-11-16T12:00:00.1-00:00"), 1_794_830_400_100);
    assert_eq!(millis("2026-11-16t17:30:00+05:30"), 1_794_830_400_000);
    assert_eq!(millis("2026-11-16 04:00:00z"), 1_794_830_400_000 - 8 * 3_600_000);
    assert_eq!(millis("2026-11-15T23:00:00-13:00"), 1_794_830_400_000);
    assert_eq!(millis("2000-02-29T00:00:00Z"), 951_782_400_000);
    assert_eq!(millis("2016-12-31T23:59:60Z"), 1_483_228_800_000);
    assert_eq!(millis("9999-12-31T23:59:59.999Z"), 253_402_300_799_999);
}

/// LD-W8: a time without an offset is no time, and neither is what no calendar has.
#[test]
fn other_texts_are_refused() {
    let error = |text: &str| Timestamp::parse(text).unwrap_err();
    assert_eq!(error("2026-11-16T12:00:00"), TimeError::NoOffset);
    assert_eq!(error("2026-11-16T12:00:00.5"), TimeError::NoOffset);
    assert_eq!(error("1969-12-31T23:59:59.999Z"), TimeError::TooEarly);
    assert_eq!(error("1970-01-01T00:00:00+00:01"), TimeError::TooEarly);
    for text in [
        "",
        "now",
        "2026-11-16",
        "2026-11-16T12:00Z",
        "2026-13-01T00:00:00Z",
        "2026-00-01T00:00:00Z",
        "2026-04-31T00:00:00Z",
        "1900-02-29T00:00:00Z",
        "2026-11-16T24:00:00Z",
        "2026-11-16T12:60:00Z",
        "2026-11-16T12:00:61Z",
        "2026-11-16T12:00:00.Z",
        "2026-11-16T12:00:00+0000",
        "2026-11-16T12:00:00+1:00",
        "2026-11-16T12:00:00+001:00",
        "2026-11-16T12:00:00+24:00",
        "2026-11-16T12:00:00+10:60",
        "2026-11-16T12:00:00 +00:00",
        "2026-11-16T12:00:00ZZ",
        "+026-11-16T12:00:00Z",
        "2026-11-16T12:00:00Ｚ",
        "20261116T120000Z",
        "9999-12-31T23:59:59-01:00",
    ] {
        assert_eq!(error(text), TimeError::NotTime, "{text:?}");
    }
}

/// LD-W7: the text of a stamp is kept as it was written.
#[test]
fn stamps_keep_their_text() {
    let text = "2026-11-16T12:00:00.854592387+00:00";
    let stamp = Stamp::try_from(text.to_owned()).unwrap();
    assert_eq!(stamp.text, text);
    assert_eq!(stamp.at.to_string(), "2026-11-16T12:00:00.854Z");
    assert_eq!(serde_json::to_string(&stamp).unwrap(), format!("{text:?}"));
}

proptest! {
    /// LD-W7: what is written is read as the same time.
    #[test]
    fn times_come_back(millis in 0_u64..=253_402_300_799_999) {
        let time = Timestamp::from_millis(millis);
        prop_assert_eq!(Timestamp::parse(&time.to_string()), Ok(time));
    }

    /// LD-W8: any text gets an answer.
    #[test]
    fn any_text_gets_an_answer(text in "[0-9TZ:.+-]{0,40}|\\PC{0,40}") {
        let _ = Timestamp::parse(&text);
    }
}
