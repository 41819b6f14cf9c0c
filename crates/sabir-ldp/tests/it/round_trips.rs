//! What is written is read as the same, for any message and any card.

use proptest::prelude::*;
use sabir_ldp::{Envelope, IdentityCard, Received};

use crate::made::{card, envelope};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// LD-W6: a message that we write is read as it was.
    #[test]
    fn messages_come_back(made in envelope()) {
        let received = Received::read(&made.to_text()).map_err(|why| {
            TestCaseError::fail(format!("{why} in {}", made.to_text()))
        })?;
        prop_assert_eq!(&received.envelope, &made);
        let stored = serde_json::to_string(&made).map_err(|why| TestCaseError::fail(why.to_string()))?;
        prop_assert_eq!(serde_json::from_str::<Envelope>(&stored).ok(), Some(made));
    }

    /// LD-W24: a card that we publish is read as it was.
    #[test]
    fn cards_come_back(made in card()) {
        let reading = IdentityCard::check(&made.to_text());
        prop_assert_eq!(reading.card, Some(made), "{:?}", reading.findings);
    }
}
