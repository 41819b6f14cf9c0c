//! A row of the journal that a delegate wrote, ready to be written: its text, what it means for the
//! tables, and apart from both the keys of sessions, which are never part of the journal.

use sabir_ldp::{KeptKeys, Record, SessionId, read_records, write_records};

use super::effect::Effect;

/// The records that one input made. They are one row of the journal, written whole or not at all.
#[derive(Clone, Debug)]
pub struct PeerEntry {
    body: String,
    count: usize,
    effects: Vec<Effect>,
    keys: Vec<(SessionId, KeptKeys)>,
}

/// What an entry means for the tables, and the keys that came with it.
#[derive(Clone, Debug)]
pub(crate) struct Meaning {
    pub(super) effects: Vec<Effect>,
    pub(super) keys: Vec<(SessionId, KeptKeys)>,
}

impl Meaning {
    /// Whether it is about keys. They are in no entry, so that the tables have to know of it together with
    /// the journal.
    pub(crate) fn is_urgent(&self) -> bool {
        !self.keys.is_empty()
            || self.effects.iter().any(|effect| matches!(effect, Effect::SessionEnded(_)))
    }
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
        let (body, count) = (write_records(&records), records.len());
        Self { body, count, effects: Effect::of_all(records), keys }
    }

    /// The records as the journal has them: without keys.
    #[must_use]
    pub fn records(&self) -> Vec<Record> {
        read_records(&self.body).unwrap_or_default()
    }

    pub(crate) fn body(&self) -> &str {
        &self.body
    }

    /// How many records it has.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// What it means for the tables.
    pub(crate) fn into_meaning(self) -> Meaning {
        Meaning { effects: self.effects, keys: self.keys }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.body.len() + self.effects.len() * size_of::<Effect>()
    }

    /// `None` when the text is not what [`PeerEntry::new`] makes.
    pub(crate) fn from_body(body: String) -> Option<Self> {
        let records = read_records(&body)?;
        let (count, keys) = (records.len(), Vec::new());
        Some(Self { body, count, effects: Effect::of_all(records), keys })
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
