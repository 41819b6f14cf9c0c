//! A row of the journal that a delegate wrote, ready to be written: its text, what it means for the
//! tables, and apart from both the keys of sessions, which are never part of the journal.

use sabir_ldp::{KeptKeys, Record, SessionId};

use super::effect::Effect;

/// The records that one input made. They are one row of the journal, written whole or not at all.
#[derive(Clone, Debug)]
pub struct PeerEntry {
    body: String,
    count: usize,
    effects: Vec<Effect>,
    keys: Vec<(SessionId, KeptKeys)>,
}

impl PeerEntry {
    /// Takes the keys out and writes the rest as JSON.
    #[must_use]
    pub fn new(mut records: Vec<Record>) -> Self {
        let mut keys = Vec::new();
        for record in &mut records {
            if let Some((session, kept)) = take_keys(record) {
                keys.push((session, kept));
            }
        }
        // Records are texts, numbers and JSON values: they always have a JSON form.
        let body = serde_json::to_string(&records).unwrap_or_default();
        Self { body, count: records.len(), effects: Effect::of_all(&records), keys }
    }

    /// The records as the journal has them: without keys.
    #[must_use]
    pub fn records(&self) -> Vec<Record> {
        serde_json::from_str(&self.body).unwrap_or_default()
    }

    pub(crate) fn body(&self) -> &str {
        &self.body
    }

    /// How many records it has.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    pub(crate) fn effects(&self) -> &[Effect] {
        &self.effects
    }

    pub(crate) fn keys(&self) -> &[(SessionId, KeptKeys)] {
        &self.keys
    }

    pub(crate) fn bytes(&self) -> usize {
        self.body.len() + self.effects.len() * size_of::<Effect>()
    }

    /// `None` when the text is not what [`PeerEntry::new`] makes.
    pub(crate) fn from_body(body: String) -> Option<Self> {
        let records: Vec<Record> = serde_json::from_str(&body).ok()?;
        let (count, keys) = (records.len(), Vec::new());
        Some(Self { body, count, effects: Effect::of_all(&records), keys })
    }
}

/// The effects are a function of the text.
impl PartialEq for PeerEntry {
    fn eq(&self, other: &Self) -> bool {
        self.body == other.body && self.keys == other.keys
    }
}

impl Eq for PeerEntry {}

fn take_keys(record: &mut Record) -> Option<(SessionId, KeptKeys)> {
    match record {
        Record::Opened(opened) => Some((opened.session.clone(), opened.keys.take()?)),
        Record::Resumed { session, keys, .. } => Some((session.clone(), keys.take()?)),
        Record::Seen(_)
        | Record::SteppedDown { .. }
        | Record::Suspended { .. }
        | Record::SessionEnded { .. }
        | Record::Started(_)
        | Record::Updated(_)
        | Record::Ended(_)
        | Record::Known { .. }
        | Record::Faded { .. }
        | Record::Forgot
        | Record::Attested(_)
        | Record::Refused(_) => None,
    }
}
