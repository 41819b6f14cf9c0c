//! Signs records of provenance: those that are ready at the same moment together, because one
//! signature costs more than the rest of an answer. It knows records and one key, and no messages.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sabir_ldp::{RecordSignature, SigningKey, UnsignedRecord, sign_records};
use tokio::sync::oneshot;

/// Cheap to clone; clones share everything.
#[derive(Debug, Clone)]
pub(super) struct Notary(Arc<Desk>);

#[derive(Debug)]
struct Desk {
    key: SigningKey,
    waiting: Mutex<Waiting>,
}

/// Records, and who waits for the signature of each.
#[derive(Debug, Default)]
struct Waiting {
    records: Vec<UnsignedRecord>,
    askers: Vec<oneshot::Sender<RecordSignature>>,
    /// Who is about to come.
    expected: usize,
}

/// Somebody who is about to come with a record, or does not come after all when this is dropped.
#[derive(Debug)]
pub(super) struct Expected(Arc<Desk>);

impl Notary {
    pub(super) fn new(key: SigningKey) -> Self {
        Self(Arc::new(Desk { key, waiting: Mutex::default() }))
    }

    /// What is written to disk together is answered together. Who comes first waits for those that are
    /// expected, and not for long: somebody may be held up.
    pub(super) fn expect(&self) -> Expected {
        self.0.waiting().expected += 1;
        Expected(Arc::clone(&self.0))
    }

    pub(super) async fn sign(
        &self,
        record: UnsignedRecord,
        expected: Option<Expected>,
    ) -> Option<RecordSignature> {
        let (asker, signature) = oneshot::channel();
        let is_first = {
            let mut waiting = self.0.waiting();
            waiting.records.push(record);
            waiting.askers.push(asker);
            waiting.askers.len() == 1
        };
        // The last that was expected signs for all.
        drop(expected);
        if is_first && !self.0.is_done() {
            // A task of its own: who came first may leave, or be left alone, and the others wait.
            let desk = Arc::clone(&self.0);
            tokio::spawn(async move {
                for _ in 0..ROUNDS {
                    tokio::task::yield_now().await;
                    if desk.is_done() {
                        return;
                    }
                }
                desk.sign_all();
            });
        }
        signature.await.ok()
    }
}

impl Drop for Expected {
    fn drop(&mut self) {
        let is_last = {
            let mut waiting = self.0.waiting();
            waiting.expected -= 1;
            waiting.expected == 0 && !waiting.askers.is_empty()
        };
        if is_last {
            self.0.sign_all();
        }
    }
}

impl Desk {
    fn is_done(&self) -> bool {
        self.waiting().askers.is_empty()
    }

    fn sign_all(&self) {
        let (records, askers) = {
            let mut waiting = self.waiting();
            (std::mem::take(&mut waiting.records), std::mem::take(&mut waiting.askers))
        };
        let signatures = sign_records(&records, &self.key);
        for (asker, signature) in askers.into_iter().zip(signatures) {
            // Who is gone needs none.
            drop(asker.send(signature));
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How often everything else that is ready gets its turn before those are left out who did not come.
const ROUNDS: usize = 8;

#[cfg(test)]
mod tests {
    use futures_util::future::{join_all, poll_immediate};
    use sabir_ldp::{Body, Envelope, Outcome};
    use serde_json::{Value, json};

    use super::*;

    fn outcome(task: &str) -> Outcome {
        let message = json!({
            "message_id": "m", "session_id": "s", "from": "ldp:delegate:a", "payload_mode": "text",
            "timestamp": "2026-11-16T12:00:00Z",
            "body": {
                "type": "TASK_RESULT", "task_id": task, "output": { "of": task },
                "provenance": { "produced_by": "ldp:delegate:a", "payload_mode_used": "text" },
            },
        });
        let envelope: Envelope = serde_json::from_value(message).unwrap();
        let Body::TaskResult(outcome) = envelope.body else { panic!("no result") };
        outcome
    }

    /// Whose key signed, once the signature stands in the record.
    fn signer(mut outcome: Outcome, signature: RecordSignature) -> String {
        outcome.provenance.signature = Some(signature);
        let body: Value = Body::TaskResult(outcome).to_value();
        let text = body.to_string();
        let json = sabir_base::json::Json::read(&text, 9).unwrap();
        sabir_ldp::verify_provenance(json.top()).unwrap().to_hex()
    }

    fn notary() -> (Notary, String) {
        let key = SigningKey::from_seed(&[3; 32]);
        let public = key.public_key().to_hex();
        (Notary::new(key), public)
    }

    /// LD-S30.
    #[tokio::test]
    async fn those_who_come_together_share_a_signature() {
        let (notary, public) = notary();
        let names: Vec<String> = (0..9).map(|number| format!("t-{number}")).collect();
        let outcomes: Vec<Outcome> = names.iter().map(|name| outcome(name)).collect();
        let signing = outcomes.iter().map(|outcome| {
            let record = UnsignedRecord::of(outcome).unwrap();
            notary.sign(record, None)
        });
        let signatures: Vec<RecordSignature> =
            join_all(signing).await.into_iter().map(Option::unwrap).collect();
        assert!(signatures.iter().all(|it| it.signature == signatures[0].signature));
        for (outcome, signature) in outcomes.into_iter().zip(signatures) {
            assert_eq!(signer(outcome, signature), public);
        }
        let alone = outcome("alone");
        let signature = notary.sign(UnsignedRecord::of(&alone).unwrap(), None).await.unwrap();
        assert!(signature.path.is_empty());
        assert_eq!(signer(alone, signature), public);
    }

    #[tokio::test]
    async fn who_is_left_alone_leaves_nobody_behind() {
        let (notary, public) = notary();
        let (gone, stays) = (outcome("gone"), outcome("stays"));
        let mut first = Box::pin(notary.sign(UnsignedRecord::of(&gone).unwrap(), None));
        assert!(poll_immediate(&mut first).await.is_none());
        let mut second = Box::pin(notary.sign(UnsignedRecord::of(&stays).unwrap(), None));
        assert!(poll_immediate(&mut second).await.is_none());
        // The first is not looked at again.
        assert_eq!(signer(stays, second.await.unwrap()), public);
        drop(first);
    }
}
