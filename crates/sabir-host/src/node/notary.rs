//! Signs records of provenance while the disk writes what they are about: those that are written together
//! are signed together, because one signature costs more than the rest of an answer. It knows results and
//! one key, and nothing else that is answered.

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
    waiting: Mutex<Vec<Draft>>,
    /// Somebody is about to sign all that wait by then.
    is_called: AtomicBool,
}

/// An answer that somebody waits for, and that is not to be sent yet.
#[derive(Debug)]
pub(super) enum Reply {
    Final(Letter),
    Draft(Draft),
}

/// An answer, and who waits for it.
#[derive(Debug)]
pub(super) struct Letter {
    answer: Box<Answer>,
    reader: oneshot::Sender<Box<Answer>>,
}

/// A letter with a result, which is sent when it is signed and released.
#[derive(Debug, Clone)]
pub(super) struct Draft(Arc<Mutex<Progress>>);

#[derive(Debug)]
struct Progress {
    /// None while it is being signed, and once it is sent.
    letter: Option<Letter>,
    is_signed: bool,
    is_released: bool,
}

impl Notary {
    pub(super) fn new(key: SigningKey) -> Self {
        Self(Arc::new(Desk { key, waiting: Mutex::default(), is_called: AtomicBool::new(false) }))
    }

    /// Takes in an answer. If it is a result, it is signed after the next call of [`sign`](Self::sign).
    pub(super) fn take(&self, answer: Box<Answer>, reader: oneshot::Sender<Box<Answer>>) -> Reply {
        let letter = Letter { answer, reader };
        let Body::TaskResult(_) = letter.answer.envelope.body else { return Reply::Final(letter) };
        let progress = Progress { letter: Some(letter), is_signed: false, is_released: false };
        let draft = Draft(Arc::new(Mutex::new(progress)));
        self.0.waiting().push(draft.clone());
        Reply::Draft(draft)
    }

    /// Has all results signed that were taken in.
    pub(super) fn sign(&self, runtime: &Handle) {
        if self.0.waiting().is_empty() || self.0.is_called.swap(true, Ordering::AcqRel) {
            return;
        }
        let desk = Arc::clone(&self.0);
        // Not here: this may be the journal's own thread.
        runtime.spawn(async move {
            // Before they are taken: who comes after that calls for somebody else.
            desk.is_called.store(false, Ordering::Release);
            desk.sign_all();
        });
    }
}

impl Desk {
    fn sign_all(&self) {
        let drafts = std::mem::take(&mut *self.waiting());
        let mut letters: Vec<Option<Letter>> =
            drafts.iter().map(|draft| draft.progress().letter.take()).collect();
        // A number that has no canonical form leaves a record unsigned: it is still told.
        let (records, outcomes): (Vec<UnsignedRecord>, Vec<&mut Outcome>) = letters
            .iter_mut()
            .filter_map(|letter| letter.as_mut()?.outcome())
            .filter_map(|outcome| Some((UnsignedRecord::of(outcome).ok()?, outcome)))
            .unzip();
        for (outcome, signature) in outcomes.into_iter().zip(sign_records(&records, &self.key)) {
            outcome.provenance.signature = Some(signature);
        }
        for (draft, letter) in drafts.iter().zip(letters) {
            let mut progress = draft.progress();
            (progress.letter, progress.is_signed) = (letter, true);
            progress.send_if_ready();
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<Draft>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reply {
    /// What it says is on disk: it may be sent.
    pub(super) fn release(self) {
        match self {
            Self::Final(letter) => letter.send(),
            Self::Draft(draft) => {
                let mut progress = draft.progress();
                progress.is_released = true;
                progress.send_if_ready();
            }
        }
    }
}

impl Draft {
    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Progress {
    fn send_if_ready(&mut self) {
        if self.is_signed
            && self.is_released
            && let Some(letter) = self.letter.take()
        {
            letter.send();
        }
    }
}

impl Letter {
    fn send(self) {
        // Who is gone needs none.
        drop(self.reader.send(self.answer));
    }

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

    /// A result that may be told, and how it is waited for.
    fn ask(notary: &Notary, task: &str, output: Value) -> oneshot::Receiver<Box<Answer>> {
        let (reply, answer) = draft(notary, task, output);
        reply.release();
        answer
    }

    /// A result that is about to be told.
    fn draft(
        notary: &Notary,
        task: &str,
        output: Value,
    ) -> (Reply, oneshot::Receiver<Box<Answer>>) {
        let message = json!({
            "message_id": "m", "session_id": "s", "from": "ldp:delegate:a", "payload_mode": "text",
            "timestamp": "2026-11-16T12:00:00Z",
            "body": {
                "type": "TASK_RESULT", "task_id": task, "output": output,
                "provenance": { "produced_by": "ldp:delegate:a", "payload_mode_used": "text" },
            },
        });
        let envelope: Envelope = serde_json::from_value(message).unwrap();
        let (reader, answer) = oneshot::channel();
        let told = Answer { envelope: Box::new(envelope), seal: Seal::None, is_refused: false };
        (notary.take(Box::new(told), reader), answer)
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

    /// LD-N2: signed or not, nothing is told before it is on disk.
    #[tokio::test]
    async fn what_is_signed_waits_until_it_is_released() {
        let (notary, public) = notary();
        let (reply, mut answer) = draft(&notary, "early", json!(1));
        notary.sign(&Handle::current());
        tokio::task::yield_now().await;
        assert!(poll_immediate(&mut answer).await.is_none());
        reply.release();
        assert_eq!(signer(&answer.await.unwrap()), public);
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
