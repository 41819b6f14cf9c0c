//! Signatures in what is stored: who made a result, and what others attested. A chain of hashes shows a
//! change to what was written; a signature shows who said it, also to who has no journal.

use std::collections::BTreeMap;
use std::path::Path;

use sabir_base::json::{Json, JsonKind, JsonValue};
use sabir_host::record::Journal;
use sabir_ldp::{PublicKey, RecordFault, verify_attestation, verify_provenance};
use sabir_store::peers::Peers;
use sabir_store::{Line, LineFilter};
use serde::Serialize;

/// What was found.
#[derive(Debug, Default, Serialize)]
pub(super) struct Signatures {
    /// By a key that is known to be the signer's.
    pub(super) known: u64,
    /// They fit what they sign, and nobody here knows whose key it is.
    pub(super) unknown: u64,
    pub(super) faults: Vec<SignatureFault>,
}

#[derive(Debug, Serialize)]
pub(super) struct SignatureFault {
    /// The row that holds it.
    pub(super) row: String,
    pub(super) signer: String,
    pub(super) why: String,
}

/// The keys that delegates are known by here.
pub(super) struct Keys(BTreeMap<String, PublicKey>);

impl Keys {
    /// Those that are pinned.
    pub(super) fn pinned(home: &Path) -> anyhow::Result<Self> {
        let mut keys = BTreeMap::new();
        if home.join("peers.db").exists() {
            for pin in Peers::open(home)?.pinned_keys()? {
                keys.insert(pin.delegate_id.as_str().to_owned(), pin.key);
            }
        }
        Ok(Self(keys))
    }
}

impl Signatures {
    pub(super) fn is_whole(&self) -> bool {
        self.faults.is_empty()
    }

    pub(super) fn count(&self) -> u64 {
        self.known + self.unknown + self.faults.len() as u64
    }

    /// Looks at every row of a journal that may hold one.
    pub(super) fn check(&mut self, journal: &Journal, keys: &Keys) -> anyhow::Result<()> {
        let mut filter = LineFilter {
            kinds: vec!["peer".to_owned(), "event".to_owned()],
            contains: Some("\"signature\":".to_owned()),
            ..LineFilter::default()
        };
        loop {
            let lines = journal.first_lines(&filter, 256)?;
            let Some(last) = lines.last() else { return Ok(()) };
            filter.after = Some(last.seq);
            for line in &lines {
                self.check_row(journal.name(), line, keys);
            }
        }
    }

    fn check_row(&mut self, journal: &str, line: &Line, keys: &Keys) {
        // What cannot be read is for the chain to find.
        let Ok(json) = Json::read(&line.body, MAX_DEPTH) else { return };
        let top = json.top();
        let row = format!("{journal}/{}", line.seq);
        match line.kind.as_str() {
            "peer" => {
                for record in top.children() {
                    self.check_record(&row, record, keys);
                }
            }
            // The report of an order keeps the producer's record as it was signed.
            _ => {
                let report = top.get("report").unwrap_or(top);
                self.check_result(&row, report, "signed_record", keys);
            }
        }
    }

    fn check_record(&mut self, row: &str, record: JsonValue<'_>, keys: &Keys) {
        match text(record, "record").as_str() {
            "ended" => {
                let Some(result) = record.get("ending").and_then(|it| it.get("result")) else {
                    return;
                };
                let task = record.get("key").map(|key| text(key, "id")).unwrap_or_default();
                self.check_provenance(row, &task, result, "provenance", keys);
            }
            "attested" => {
                let issuer = text(record, "from");
                let found = verify_attestation(&issuer, record);
                self.judge(row, &issuer, found, keys);
            }
            _ => {}
        }
    }

    fn check_result(&mut self, row: &str, report: JsonValue<'_>, key: &str, keys: &Keys) {
        let is_there = report.get(key).is_some_and(|it| it.kind() == JsonKind::Object);
        if is_there {
            self.check_provenance(row, &text(report, "task_id"), report, key, keys);
        }
    }

    /// A record is bound to the task and the output that it is about.
    fn check_provenance(
        &mut self,
        row: &str,
        task: &str,
        result: JsonValue<'_>,
        key: &str,
        keys: &Keys,
    ) {
        let Some(provenance) = result.get(key) else { return };
        let output = result.get("output").map_or("null", |output| output.text());
        let task = serde_json::Value::from(task);
        let provenance_text = provenance.text();
        let body =
            format!("{{\"task_id\":{task},\"output\":{output},\"provenance\":{provenance_text}}}");
        let Ok(json) = Json::read(&body, MAX_DEPTH) else { return };
        let producer = text(provenance, "produced_by");
        self.judge(row, &producer, verify_provenance(json.top()), keys);
    }

    fn judge(
        &mut self,
        row: &str,
        signer: &str,
        found: Result<PublicKey, RecordFault>,
        keys: &Keys,
    ) {
        let why = match (found, keys.0.get(signer)) {
            (Err(RecordFault::Absent), _) => return,
            (Err(fault), _) => fault.to_string(),
            (Ok(key), Some(known)) if key == *known => {
                self.known += 1;
                return;
            }
            (Ok(_), Some(_)) => {
                "it is signed with another key than the one that is pinned".to_owned()
            }
            (Ok(_), None) => {
                self.unknown += 1;
                return;
            }
        };
        let (row, signer) = (row.to_owned(), signer.to_owned());
        self.faults.push(SignatureFault { row, signer, why });
    }
}

fn text(value: JsonValue<'_>, key: &str) -> String {
    value.get(key).and_then(|it| it.string().ok()).map(Into::into).unwrap_or_default()
}

const MAX_DEPTH: usize = 160;
