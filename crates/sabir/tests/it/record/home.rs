//! A home in which a session, an order, a delegate, the gate and somebody else have left their traces.

use std::path::Path;

use sabir_ldp::{DelegateId, Record, SigningKey, sign_attestation, sign_provenance};
use sabir_store::library::{AuditOutcome, Library, NewAudit};
use sabir_store::peers::{Delegation, DelegationStatus, Peers};
use sabir_store::{ApprovalState, Batch, Entry, SessionFacts, SessionId, Store};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::process::{Outcome, run};

pub(crate) const SESSION: &str = "0198-session-of-a-person";
pub(crate) const ORDER: &str = "order-019a8c5e-2f7b-7c41-9d52-6a1f0e3b9c77";
pub(crate) const TASK: &str = "task-of-a-peer";
pub(crate) const CALL: &str = "call_remove";
pub(crate) const PEER: &str = "ldp:delegate:peer";

/// A home, and a program that works in it.
pub(crate) struct Home {
    pub(crate) folder: TempDir,
}

impl Home {
    /// Empty.
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// With everything.
    pub(crate) fn filled() -> Self {
        let home = Self::new();
        home.write_session();
        home.write_order(true);
        home.write_delegate(true);
        home.write_decisions();
        home.write_delegation();
        home
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn run(&self, args: &[&str]) -> Outcome {
        run(&[args, &["--home", self.path().to_str().unwrap()]].concat(), "")
    }

    /// What it prints, if it ends well.
    pub(crate) fn stdout(&self, args: &[&str]) -> String {
        let outcome = self.run(args);
        assert_eq!(outcome.code, 0, "{args:?}: {}", outcome.stderr);
        outcome.stdout
    }

    /// Objects, one a line.
    pub(crate) fn rows(&self, args: &[&str]) -> Vec<Value> {
        let text = self.stdout(args);
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    pub(crate) fn write_session(&self) {
        let event = |kind: &str, more: Value| {
            let mut msg = json!({ "type": kind });
            msg.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            let body = json!({ "id": "1", "msg": msg }).to_string();
            Entry::Event { sub_id: "1".to_owned(), kind: kind.to_owned(), body }
        };
        let input = json!({ "id": "1", "op": {
            "type": "user_input", "items": [{ "type": "text", "text": "paint the fence" }],
        } });
        let asked = json!({
            "type": "approval", "call_id": CALL, "state": "requested", "what": "rm paint",
        });
        let store = Store::open(self.path()).unwrap();
        let entries = vec![
            facts("m", None),
            Entry::Submission { sub_id: "1".to_owned(), body: input.to_string() },
            event("task_started", json!({})),
            Entry::Approval {
                call_id: CALL.to_owned(),
                state: ApprovalState::Requested,
                body: asked.to_string(),
            },
            event("agent_message", json!({ "message": "It is \"green\" now." })),
            Entry::Turn { response_id: "resp_7".to_owned(), body: "{}".to_owned() },
            event("task_complete", json!({ "last_agent_message": "It is green." })),
        ];
        append(&store, SESSION, 1_000_000, entries);
    }

    /// An order that was done by somebody who signs, or whose signature was changed.
    pub(crate) fn write_order(&self, is_signed: bool) {
        let store = Store::open(self.path()).unwrap();
        let event = |body: Value| Entry::Event {
            sub_id: String::new(),
            kind: body["event"].as_str().unwrap().to_owned(),
            body: body.to_string(),
        };
        let (key, output) = (SigningKey::from_seed(&[7; 32]), json!("green"));
        let mut record = json!({
            "produced_by": PEER, "model_version": "m1", "payload_mode_used": "text",
            "verified": false,
        });
        let signature = sign_provenance(&record, &ORDER[6..], &output, &key).unwrap();
        record["signature"] = json!({
            "algorithm": signature.algorithm, "public_key": signature.public_key,
            "signature": signature.signature,
        });
        let told = if is_signed { output } else { json!("red") };
        let report = json!({
            "event": "report", "state": "done", "error": null,
            "report": {
                "task_id": &ORDER[6..], "output": told, "error": null, "signed_record": record,
                "delegate_id": PEER, "payload_mode": "text", "cost": { "tokens": 12 },
            },
        });
        let request = json!({ "task": "choose a colour", "skill": "colour", "by": "person" });
        let entries = vec![
            facts("colour", Some("choose a colour")),
            Entry::Submission { sub_id: "k1".to_owned(), body: request.to_string() },
            event(json!({ "event": "chosen", "why": "nobody else knows colours" })),
            event(report),
        ];
        append(&store, ORDER, 2_000_000, entries);
    }

    /// What the delegate `researcher` did for a peer.
    pub(crate) fn write_delegate(&self, is_signed: bool) {
        let store = Store::open(&self.path().join("delegates/researcher")).unwrap();
        let mut evidence = json!({ "seen": "yes" });
        let (claim, key) = (json!("it is true"), SigningKey::from_seed(&[7; 32]));
        let signature = sign_attestation(PEER, &claim, &evidence, &key).unwrap();
        evidence["signature"] = json!({
            "algorithm": signature.algorithm, "public_key": signature.public_key,
            "signature": signature.signature,
        });
        let claim = if is_signed { claim } else { json!("it is false") };
        let at = 3_000_000;
        let key = json!({ "owner": PEER, "id": TASK });
        let digest = "00".repeat(32);
        let opened = json!({
            "record": "opened", "session": "x1", "owner": PEER, "domain": "default",
            "mode": "text", "fallback_chain": [], "ttl_ms": 60_000, "keys": null,
            "authentication": "unsigned", "at": at,
        });
        let started = json!({
            "record": "started", "key": key, "session": "x1", "skill": "research",
            "digest": digest, "mode": "text", "contract": null, "delegation_path": [],
            "deadline": at + 60_000, "authentication": "unsigned", "at": at,
        });
        let ended = json!({
            "record": "ended", "key": key, "session": "x1", "digest": digest, "mode": "text",
            "ending": { "failed": {
                "code": "SKILL_FAILED", "category": "runtime", "message": "no source",
                "severity": "error", "retryable": false,
            } },
            "usage": { "tokens": null, "cost_usd": null }, "authentication": "unsigned", "at": at,
        });
        let attested = json!({
            "record": "attested", "from": PEER, "session": null, "claim": claim,
            "evidence": evidence, "at": at,
        });
        for records in [json!([opened, started]), json!([ended]), json!([attested])] {
            let records: Vec<Record> = serde_json::from_value(records).unwrap();
            store.append_and_wait(Batch::of_peers(at, records)).unwrap();
        }
    }

    pub(crate) fn write_decisions(&self) {
        let library = Library::open(self.path(), || [7; 10]).unwrap();
        let body = json!({ "reason": "it would be gone", "subject": "shell" }).to_string();
        let row = NewAudit {
            actor: SESSION.to_owned(),
            call_id: "call_other".to_owned(),
            subject: "shell".to_owned(),
            outcome: AuditOutcome::Deny,
            reason: "dangerous_command".to_owned(),
            body,
        };
        library.append_audit(&[row], 4_000_000).unwrap();
    }

    pub(crate) fn write_delegation(&self) {
        let peers = Peers::open(self.path()).unwrap();
        let delegation = Delegation {
            id: "given-away-1".to_owned(),
            at_ms: 5_000_000,
            delegate_id: Some(DelegateId::new(PEER).unwrap()),
            url: Some("ldp://127.0.0.1:9".to_owned()),
            skill: None,
            payload_mode: None,
            status: DelegationStatus::Failed,
            choice: None,
            provenance: None,
            error: Some(json!({ "code": "TIMEOUT", "message": "too slow" }).to_string()),
            cost_usd: None,
            ended_at_ms: Some(6_000_000),
        };
        peers.log_delegation(&delegation).unwrap();
    }

    /// From now on the key that everything here is signed with is known to be the peer's, or another.
    pub(crate) fn pin(&self, seed: u8) {
        let key = SigningKey::from_seed(&[seed; 32]).public_key();
        let peers = Peers::open(self.path()).unwrap();
        peers.pin(&DelegateId::new(PEER).unwrap(), &key, "a test", 1).unwrap();
    }
}

pub(crate) fn facts(model: &str, title: Option<&str>) -> Entry {
    Entry::Session(SessionFacts {
        cwd: "/w".to_owned(),
        model: model.to_owned(),
        title: title.map(str::to_owned),
        parent: None,
    })
}

pub(crate) fn append(store: &Store, session: &str, at_ms: u64, entries: Vec<Entry>) {
    let batch = Batch { session_id: SessionId::new(session), at_ms, entries };
    store.append_and_wait(batch).unwrap();
}
