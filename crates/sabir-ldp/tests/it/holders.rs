//! Who holds a token that is for anyone may come under any free id. What was begun with one token is
//! not for who comes under the same id with another.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use sabir_ldp::{
    Backing, Channel, Credential, DelegateLimits, Fingerprint, Holder, Origin, Peer, Received,
    Record, RequestId, SharedSecret, SignaturePolicy, Signer, SigningKey, Trust, TrustDomain,
};
use serde_json::{Value, json};

use crate::node::{CALLER, LOOPBACK, Node, code, id, key, signed};

/// Tokens for anyone: two are in our domain, and the last is in another.
const ANN: &str = "anns-token";
const BOB: &str = "bobs-token";
const CARO: &str = "caros-token";
const HOLDERS: [(&str, &str); 3] = [(ANN, "default"), (BOB, "default"), (CARO, "friends")];

fn token(text: &str) -> Credential {
    Credential::Token(Fingerprint::of(text.as_bytes()))
}

fn showing(text: &str) -> Channel {
    Channel { origin: Origin::Remote, credential: Some(token(text)) }
}

fn node(limits: DelegateLimits) -> Node {
    let mut node = Node::with(limits);
    for (text, domain) in HOLDERS {
        node.trust.add_holder(Holder { domain: domain.to_owned(), credential: token(text) });
    }
    node
}

/// A node on which Ann has a session `s-1` with a running task `t-1`.
fn anns() -> Node {
    let mut node = node(DelegateLimits::default());
    node.channel = showing(ANN);
    assert_eq!(node.open(CALLER, "s-1", json!({}))["type"], "SESSION_ACCEPT");
    node.submit("s-1", "t-1", json!("x"));
    assert_eq!(node.started.len(), 1);
    node
}

fn query(session: &str, task: &str) -> (String, Value) {
    let body = json!({
        "type": "TASK_UPDATE", "task_id": task, "progress": null, "message": "status_query",
    });
    (session.to_owned(), body)
}

fn cancel(session: &str, task: &str) -> (String, Value) {
    (session.to_owned(), json!({ "type": "TASK_CANCEL", "task_id": task }))
}

fn close(suspend: bool) -> (String, Value) {
    let body = json!({ "type": "SESSION_CLOSE", "reason": null, "suspend": suspend });
    ("s-1".to_owned(), body)
}

fn resume() -> (String, Value) {
    let config = json!({ "resume_session_id": "s-1" });
    (String::new(), json!({ "type": "SESSION_PROPOSE", "config": config }))
}

fn submit(session: &str, task: &str) -> (String, Value) {
    let body = json!({ "type": "TASK_SUBMIT", "task_id": task, "skill": "echo", "input": "x" });
    (session.to_owned(), body)
}

fn post(node: &mut Node, way: Channel, (session, body): (String, Value)) -> RequestId {
    node.channel = way;
    let message = node.message(CALLER, &session, body);
    node.post(&message)
}

/// What is answered to a message of [`CALLER`] that came this way.
fn ask(node: &mut Node, way: Channel, said: (String, Value)) -> Value {
    let request = post(node, way, said);
    node.answer(request)
}

/// The same, signed with this key.
fn ask_signed(
    node: &mut Node,
    way: Channel,
    (session, body): (String, Value),
    by: &SigningKey,
) -> Value {
    node.channel = way;
    let message = node.message(CALLER, &session, body);
    node.ask(&signed(&message, Signer::Identity(by)))
}

fn hello(node: &mut Node, way: Channel, key: &SigningKey) -> Value {
    let body = json!({
        "type": "HELLO", "delegate_id": CALLER, "supported_modes": ["text"],
        "public_key": key.public_key().to_hex(),
    });
    ask_signed(node, way, (String::new(), body), key)
}

/// What others are told of Ann's task is what they are told of one that never was.
fn assert_unknown(node: &mut Node, way: Channel) {
    for about in [query, cancel] {
        let [real, made_up] = ["t-1", "t-0"].map(|task| {
            let mut answer = ask(node, way, about("", task));
            assert_eq!(answer["task_id"].take(), task);
            answer
        });
        assert_eq!(code(&real), "TASK_NOT_FOUND");
        assert_eq!(real, made_up);
    }
}

fn assert_not_theirs(node: &mut Node, way: Channel) {
    let uses = [query("s-1", "t-1"), cancel("s-1", "t-1"), submit("s-1", "t-1")];
    for said in uses.into_iter().chain([submit("s-1", "t-2"), close(true), close(false)]) {
        assert_eq!(code(&ask(node, way, said.clone())), "SESSION_NOT_YOURS", "{said:?}");
    }
}

/// LD-M50: while the task runs, when it is over, and after a restart.
#[test]
fn what_one_holder_began_is_not_for_another_under_the_same_id() {
    let mut node = anns();
    for restarts in 0..2 {
        for other in [BOB, CARO] {
            assert_unknown(&mut node, showing(other));
            assert_not_theirs(&mut node, showing(other));
        }
        assert_eq!(code(&ask(&mut node, showing(BOB), resume())), "SESSION_NOT_YOURS");
        // Caro's domain may not open a session at all.
        assert_eq!(code(&ask(&mut node, showing(CARO), resume())), "TRUST_DOMAIN_MISMATCH");
        let other = format!("s-bob-{restarts}");
        node.channel = showing(BOB);
        assert_eq!(node.open(CALLER, &other, json!({}))["type"], "SESSION_ACCEPT");
        let taken = ask(&mut node, showing(BOB), submit(&other, "t-1"));
        assert_eq!(code(&taken), "MESSAGE_INVALID");
        assert_eq!(ask(&mut node, showing(ANN), resume())["resumed"], true);
        if restarts == 0 {
            assert_eq!(ask(&mut node, showing(ANN), query("s-1", "t-1"))["message"], "working");
            node.finish(&key(CALLER, "t-1"), json!("for ann"));
        }
        for said in [query("", "t-1"), cancel("s-1", "t-1"), submit("s-1", "t-1")] {
            assert_eq!(ask(&mut node, showing(ANN), said)["output"], "for ann");
        }
        assert_eq!((node.started.len(), node.stopped.len()), (1, 0));
        node = node.restart();
    }
}

/// LD-M50: what has to be looked up is for the same holder, too.
#[test]
fn a_forgotten_task_is_for_its_holder_only() {
    let mut node = node(DelegateLimits { finished: 1, ..DelegateLimits::default() });
    for (text, session) in [(ANN, "s-1"), (BOB, "s-2")] {
        node.channel = showing(text);
        node.open(CALLER, session, json!({}));
    }
    for task in ["t-1", "t-2", "t-3"] {
        post(&mut node, showing(ANN), submit("s-1", task));
        node.finish(&key(CALLER, task), json!(task));
    }
    assert_unknown(&mut node, showing(BOB));
    assert_eq!(code(&ask(&mut node, showing(BOB), submit("s-2", "t-1"))), "MESSAGE_INVALID");
    for said in [query("", "t-1"), cancel("", "t-1"), submit("s-1", "t-1")] {
        assert_eq!(ask(&mut node, showing(ANN), said)["output"], "t-1");
    }
    assert_eq!(node.started.len(), 3);
}

/// LD-M50: also when the session rests, and when it is over.
#[test]
fn a_session_that_rests_or_ended_is_for_its_holder() {
    let mut node = anns();
    node.finish(&key(CALLER, "t-1"), json!("for ann"));
    assert_eq!(ask(&mut node, showing(ANN), close(true))["suspend"], true);
    let mut node = node.restart();
    assert_eq!(code(&ask(&mut node, showing(BOB), resume())), "SESSION_NOT_YOURS");
    assert_eq!(ask(&mut node, showing(ANN), resume())["resumed"], true);
    assert_eq!(ask(&mut node, showing(ANN), close(false))["type"], "SESSION_CLOSE");
    for _ in 0..2 {
        assert_eq!(code(&ask(&mut node, showing(BOB), query("s-1", "t-1"))), "SESSION_NOT_YOURS");
        assert_eq!(code(&ask(&mut node, showing(ANN), query("s-1", "t-1"))), "SESSION_CLOSED");
        node = node.restart();
    }
}

/// LD-M50: any holder may bring a key for an id that has none, so that the key alone does not help.
#[test]
fn a_key_that_another_holder_pinned_opens_nothing_of_before() {
    let mut node = anns();
    let bobs = SigningKey::from_seed(&[3; 32]);
    assert_eq!(hello(&mut node, showing(BOB), &bobs)["type"], "CAPABILITY_MANIFEST");
    let from_elsewhere = Channel { credential: None, ..showing(BOB) };
    for way in [showing(BOB), from_elsewhere, LOOPBACK] {
        let told = ask_signed(&mut node, way, query("", "t-1"), &bobs);
        assert_eq!(code(&told), "TASK_NOT_FOUND", "{way:?}");
        let told = ask_signed(&mut node, way, close(false), &bobs);
        assert_eq!(code(&told), "SESSION_NOT_YOURS", "{way:?}");
    }
    // Who brings a key and goes on to show the token keeps what it had.
    let mut node = anns();
    let own = SigningKey::from_seed(&[4; 32]);
    assert_eq!(hello(&mut node, showing(ANN), &own)["type"], "CAPABILITY_MANIFEST");
    let told = ask_signed(&mut node, showing(ANN), query("s-1", "t-1"), &own);
    assert_eq!(told["message"], "working");
}

/// LD-M50: what our configuration binds to an id proves it.
#[test]
fn who_is_named_by_the_configuration_gets_at_what_is_under_its_name() {
    let own = SigningKey::from_seed(&[5; 32]);
    let peer = |keys, secret, credentials| Peer {
        domain: "default".to_owned(),
        keys,
        secret,
        credentials,
    };
    let mut node = anns();
    node.trust.add_peer(id(CALLER), peer(vec![own.public_key()], None, Vec::new()));
    let told = ask_signed(&mut node, LOOPBACK, query("s-1", "t-1"), &own);
    assert_eq!(told["message"], "working");
    let mut node = anns();
    let secret = || SharedSecret::new("a secret".to_owned());
    node.trust.add_peer(id(CALLER), peer(Vec::new(), Some(secret()), Vec::new()));
    let message = node.message(CALLER, "", query("", "t-1").1);
    let told = node.ask(&signed(&message, Signer::Reference(&secret())));
    assert_eq!(told["message"], "working");
    let mut node = anns();
    node.trust.add_peer(id(CALLER), peer(Vec::new(), None, vec![token("its own")]));
    assert_eq!(ask(&mut node, showing("its own"), query("s-1", "t-1"))["message"], "working");
    // And what it began is not for a holder when it is named no more.
    post(&mut node, showing("its own"), submit("s-1", "t-2"));
    assert_eq!(node.started.len(), 2);
    let mut node = node.restart();
    node.trust = self::node(DelegateLimits::default()).trust;
    assert_eq!(code(&ask(&mut node, showing(ANN), query("", "t-2"))), "TASK_NOT_FOUND");
    assert_eq!(code(&ask(&mut node, showing(ANN), query("", "t-1"))), "INTERRUPTED");
}

/// LD-M51
#[test]
fn what_began_here_with_nothing_shown_is_not_for_holders_elsewhere() {
    let mut node = node(DelegateLimits::default());
    node.open(CALLER, "s-1", json!({}));
    node.submit("s-1", "t-1", json!("x"));
    for other in [BOB, CARO] {
        assert_unknown(&mut node, showing(other));
        assert_not_theirs(&mut node, showing(other));
    }
    let near = Channel { origin: Origin::Loopback, ..showing(BOB) };
    for way in [LOOPBACK, near] {
        assert_eq!(ask(&mut node, way, query("s-1", "t-1"))["message"], "working");
    }
    let bobs = SigningKey::from_seed(&[3; 32]);
    assert_eq!(hello(&mut node, showing(BOB), &bobs)["type"], "CAPABILITY_MANIFEST");
    let told = ask_signed(&mut node, showing(BOB), query("", "t-1"), &bobs);
    assert_eq!(code(&told), "TASK_NOT_FOUND");
}

/// LD-M50: of a record without a mark nobody knows who held what; it is for no holder.
#[test]
fn a_record_from_before_there_were_marks_is_read_and_is_for_nobody() {
    let mut node = anns();
    node.finish(&key(CALLER, "t-1"), json!("for ann"));
    let unmarked = |record: &Record| {
        let mut record = serde_json::to_value(record).unwrap();
        record.as_object_mut().unwrap().remove("shown");
        serde_json::from_value(record).unwrap()
    };
    let records: Vec<Record> = node.records.iter().map(unmarked).collect();
    assert_ne!(records, node.records);
    node.records = records;
    let mut old = node.restart();
    assert_eq!(code(&ask(&mut old, showing(ANN), query("", "t-1"))), "TASK_NOT_FOUND");
    assert_eq!(code(&ask(&mut old, showing(ANN), query("s-1", "t-1"))), "SESSION_NOT_YOURS");
}

/// What stands behind a HELLO that shows this.
fn backing(domain: &str, held: Credential, shown: Option<Credential>) -> Backing {
    let mut trust = Trust::new(TrustDomain::closed("default"), SignaturePolicy::WhereKnown);
    trust.add_holder(Holder { domain: domain.to_owned(), credential: held });
    let text = json!({
        "message_id": "m", "session_id": "", "from": CALLER, "to": "ldp:delegate:us",
        "body": { "type": "HELLO", "delegate_id": CALLER, "supported_modes": ["text"] },
        "payload_mode": "text", "timestamp": "2026-11-16T12:00:00.000Z", "provenance": null,
    });
    let received = Received::read(&text.to_string()).unwrap();
    let channel = Channel { origin: Origin::Loopback, credential: shown };
    trust.recognise(&received, channel, None).unwrap().backing
}

/// LD-S29
#[test]
fn a_mark_tells_holders_apart_and_gives_nothing_away() {
    let certificate = Credential::Certificate(Fingerprint::of(ANN.as_bytes()));
    let all = [
        backing("default", token(ANN), Some(token(ANN))),
        backing("default", token(BOB), Some(token(BOB))),
        backing("friends", token(ANN), Some(token(ANN))),
        backing("default", certificate, Some(certificate)),
        backing("default", token(ANN), None),
    ];
    for (index, one) in all.iter().enumerate() {
        assert!(!all[..index].contains(one), "{one:?}");
    }
    assert_eq!(all[0], backing("default", token(ANN), Some(token(ANN))));
    assert_eq!(all[4], Backing::Nothing);
    let node = anns();
    let records = format!("{} {:?}", serde_json::to_string(&node.records).unwrap(), node.records);
    let Backing::Held(mark) = all[0] else { panic!("{all:?}") };
    assert!(records.contains(&mark.0.to_hex()));
    let fingerprint = Fingerprint::of(ANN.as_bytes()).to_hex();
    for secret in [ANN, &fingerprint, &fingerprint[..16]] {
        assert!(!records.contains(secret), "{secret}");
    }
}
