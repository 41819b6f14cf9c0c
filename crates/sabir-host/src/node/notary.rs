//! Signs records of provenance on the way from the machine to who waits: those that are ready at the
//! same moment together, because one signature costs more than the rest of an answer. It knows results
//! and one key, and nothing else that is answered.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sabir_ldp::{Body, Outcome, SigningKey, UnsignedRecord, sign_records};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::answer::Answer;

/// Cheap to clone; clones share everything.
#[derive(Debug, Clone)]
pub(super) struct Notary(Arc<Desk>);

#[derive(Debug)]
struct Desk {
    key: SigningKey,
    /// Results to be signed. As many as requests wait for one.
    waiting: Mutex<Vec<Waiting>>,
    /// Somebody is about to sign all that wait by then.
    is_called: AtomicBool,
}

/// An answer, and who waits for it.
#[derive(Debug)]
struct Waiting {
    answer: Box<Answer>,
    reply: oneshot::Sender<Box<Answer>>,
}

impl Notary {
    pub(super) fn new(key: SigningKey) -> Self {
        Self(Arc::new(Desk { key, waiting: Mutex::default(), is_called: AtomicBool::new(false) }))
    }

    /// Passes an answer on, or keeps it, if it is a result, until [`sign`](Self::sign) is called.
    pub(super) fn pass_on(&self, answer: Box<Answer>, reply: oneshot::Sender<Box<Answer>>) {
        let Body::TaskResult(_) = answer.envelope.body else {
            // Who is gone needs none.
            drop(reply.send(answer));
            return;
        };
        self.0.waiting().push(Waiting { answer, reply });
    }

    /// Has all results signed that were kept, and passed on.
    pub(super) fn sign(&self, runtime: &Handle) {
        if self.0.waiting().is_empty() || self.0.is_called.swap(true, Ordering::AcqRel) {
            return;
        }
        let desk = Arc::clone(&self.0);
        // Not here: this may be the journal's own thread.
        runtime.spawn(async move {
            // Before they are taken: who comes after that calls for somebody else.
            desk.is_called.store(false, Ordering::Release);
            let waiting = std::mem::take(&mut *desk.waiting());
            desk.sign_all(waiting);
        });
    }
}

impl Desk {
    fn sign_all(&self, mut waiting: Vec<Waiting>) {
        // A number that has no canonical form leaves a record unsigned: it is still told.
        let (records, outcomes): (Vec<UnsignedRecord>, Vec<&mut Outcome>) = waiting
            .iter_mut()
            .filter_map(Waiting::outcome)
            .filter_map(|outcome| Some((UnsignedRecord::of(outcome).ok()?, outcome)))
            .unzip();
        for (outcome, signature) in outcomes.into_iter().zip(sign_records(&records, &self.key)) {
            outcome.provenance.signature = Some(signature);
        }
        for Waiting { answer, reply } in waiting {
            drop(reply.send(answer));
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    fn outcome(&mut self) -> Option<&mut Outcome> {
        match &mut self.answer.envelope.body {
            Body::TaskResult(outcome) => Some(outcome),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::future::{join_all, poll_immediate};
    use sabir_ldp::{Envelope, Seal};
    use serde_json::{Value, json};

    use super::*;

    /// A result that is about to be told, and how it is waited for.
    fn ask(notary: &Notary, task: &str, output: Value) -> oneshot::Receiver<Box<Answer>> {
        let message = json!({
            "message_id": "m", "session_id": "s", "from": "ldp:delegate:a", "payload_mode": "text",
            "timestamp": "2026-11-16T12:00:00Z",
            "body": {
                "type": "TASK_RESULT", "task_id": task, "output": output,
                "provenance": { "produced_by": "ldp:delegate:a", "payload_mode_used": "text" },
            },
        });
        let envelope: Envelope = serde_json::from_value(message).unwrap();
        let (reply, answer) = oneshot::channel();
        let told = Answer { envelope: Box::new(envelope), seal: Seal::None, is_refused: false };
        notary.pass_on(Box::new(told), reply);
        answer
    }

    fn outcome(answer: &Answer) -> &Outcome {
        let Body::TaskResult(outcome) = &answer.envelope.body else { panic!("no result") };
        outcome
    }

    /// Whose key signed it.
    fn signer(answer: &Answer) -> String {
        let text = answer.envelope.body.to_value().to_string();
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
        let asking = (0..9).map(|number| ask(&notary, &format!("t-{number}"), json!(number)));
        let asking: Vec<_> = asking.collect();
        notary.sign(&Handle::current());
        let answers: Vec<_> =
            join_all(asking).await.into_iter().map(|answer| answer.unwrap()).collect();
        let signature = |answer| outcome(answer).provenance.signature.clone().unwrap();
        let first = signature(&answers[0]);
        for answer in &answers {
            assert_eq!(signature(answer).signature, first.signature);
            assert_eq!(signer(answer), public);
        }
        let alone = ask(&notary, "alone", json!(1));
        notary.sign(&Handle::current());
        let alone = alone.await.unwrap();
        assert!(signature(&alone).path.is_empty());
        assert_eq!(signer(&alone), public);
    }

    #[tokio::test]
    async fn who_is_gone_or_left_alone_leaves_nobody_behind() {
        let (notary, public) = notary();
        drop(ask(&notary, "gone", json!(1)));
        let mut alone = ask(&notary, "alone", json!(2));
        assert!(poll_immediate(&mut alone).await.is_none());
        let mut stays = ask(&notary, "stays", json!(3));
        assert!(poll_immediate(&mut stays).await.is_none());
        notary.sign(&Handle::current());
        // The other one is not looked at again.
        assert_eq!(signer(&stays.await.unwrap()), public);
        drop(alone);
    }

    /// A number beyond what a double tells apart has no canonical form.
    #[tokio::test]
    async fn what_cannot_be_signed_is_told_beside_what_can() {
        let (notary, public) = notary();
        let (odd, plain) =
            (ask(&notary, "odd", json!(u64::MAX)), ask(&notary, "plain", json!("text")));
        notary.sign(&Handle::current());
        assert_eq!(outcome(&odd.await.unwrap()).provenance.signature, None);
        assert_eq!(signer(&plain.await.unwrap()), public);
    }
}
