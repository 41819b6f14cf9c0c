//! Who is believed and who may open a session: `tests/data/trust.txt` is the whole table.

#![expect(clippy::unwrap_used, reason = "a fixture that cannot be made fails its test")]

use std::fmt::Write as _;

use expect_test::expect_file;
use sabir_ldp::{
    Backing, Basis, Channel, Credential, DelegateId, Fingerprint, Handshake, Holder, Means, Nonce,
    Origin, Peer, Proposal, Received, Refusal, SessionKeys, ShareSecret, SharedSecret,
    SignaturePolicy, SignedMessage, Signer, SigningBytes, SigningKey, Standing, Trust, TrustDomain,
    TrustFault, sign_fields,
};
use serde_json::{Value, json};

const SENDER: &str = "ldp:delegate:peer";

fn key(seed: u8) -> SigningKey {
    SigningKey::from_seed(&[seed; 32])
}

fn sender() -> DelegateId {
    DelegateId::new(SENDER).unwrap()
}

fn token(text: &str) -> Credential {
    Credential::Token(Fingerprint::of(text.as_bytes()))
}

fn session_keys() -> SessionKeys {
    let bytes = SigningBytes::of_value(sabir_ldp::Algorithm::Ed25519, &json!({})).unwrap();
    let handshake = Handshake {
        session_id: "s",
        initiator: SENDER,
        responder: "ldp:delegate:us",
        propose: &bytes,
        accept: &bytes,
    };
    let theirs = ShareSecret::from_bytes([2; 32]).share();
    ShareSecret::from_bytes([1; 32]).agree(&theirs, handshake).unwrap()
}

/// What our configuration knows about the sender.
const KNOWN: [&str; 7] =
    ["nothing", "pinned key", "key", "secret", "token", "token+key", "token+secret"];
const WAYS: [(&str, Origin); 3] =
    [("loopback", Origin::Loopback), ("remote", Origin::Remote), ("answer", Origin::Answer)];
const SHOWN: [&str; 4] = ["nothing", "own token", "any token", "wrong token"];
/// How the message is signed. All are a HELLO that carries the sender's own key.
const SIGNED: [&str; 8] =
    ["no", "own key", "other key", "session", "secret", "bad secret", "unknown", "half"];

fn trust(known: &str, policy: SignaturePolicy) -> Trust {
    let mut trust = Trust::new(TrustDomain::closed("ours"), policy);
    trust.add_holder(Holder { domain: "ours".to_owned(), credential: token("any token") });
    let mut peer =
        Peer { domain: "ours".to_owned(), keys: Vec::new(), secret: None, credentials: Vec::new() };
    for part in known.split('+') {
        match part {
            "pinned key" => trust.pin(&sender(), key(1).public_key()).unwrap(),
            "key" => peer.keys.push(key(1).public_key()),
            "secret" => peer.secret = Some(SharedSecret::new("secret".to_owned())),
            "token" => peer.credentials.push(token("own token")),
            _ => {}
        }
    }
    // Of a peer with nothing but a name nothing is known.
    trust.add_peer(sender(), peer);
    trust
}

fn hello(signed: &str) -> Received {
    let envelope = json!({
        "message_id": "m", "session_id": "", "from": SENDER, "to": "ldp:delegate:us",
        "body": {
            "type": "HELLO",
            "delegate_id": SENDER,
            "supported_modes": ["text"],
            "public_key": key(1).public_key().to_hex(),
        },
        "payload_mode": "text", "timestamp": "2026-11-16T12:00:00.000Z", "provenance": null,
    });
    signed_as(envelope, signed)
}

fn signed_as(envelope: Value, signed: &str) -> Received {
    let sign = |signer| {
        sign_fields(envelope.as_object().unwrap().clone(), signer, Nonce::new([7; 16])).unwrap()
    };
    let mut envelope = match signed {
        "own key" | "unknown" | "half" => sign(Signer::Identity(&key(1))),
        "other key" => sign(Signer::Identity(&key(2))),
        "session" => sign(Signer::Session(&session_keys().initiator)),
        "secret" => sign(Signer::Reference(&SharedSecret::new("secret".to_owned()))),
        "bad secret" => sign(Signer::Reference(&SharedSecret::new("guess".to_owned()))),
        _ => envelope,
    };
    match signed {
        "unknown" => envelope["signature_algorithm"] = "ed448".into(),
        "half" => envelope["signature"] = Value::Null,
        _ => {}
    }
    Received::read(&envelope.to_string()).unwrap()
}

fn cell(result: &Result<Standing, TrustFault>) -> &'static str {
    match result {
        Ok(standing) => match standing.means {
            Means::PinnedKey => "key",
            Means::FirstUse(_) => "first use",
            Means::SessionKey => "session",
            Means::ReferenceHmac => "weak",
            Means::Credential => "shown",
            Means::UnsignedLoopback => "loopback",
            Means::UnsignedAnswer => "answer",
        },
        Err(fault) => match fault.refusal() {
            Refusal::SignatureRequired => "-unsigned",
            Refusal::BadSignature => "-bad",
            other => panic!("{other}"),
        },
    }
}

/// LD-S18, LD-S19, LD-S20, LD-S21, LD-S22, LD-S24, LD-S25, LD-S26, LD-S27
#[test]
fn the_table() {
    let mut out = String::from(INTRODUCTION);
    let _ = write!(out, "{:<13}{:<10}{:<13}", "known", "came by", "shows");
    for signed in SIGNED {
        let _ = write!(out, "{signed:<11}");
    }
    out.push_str("no, all must\n");
    let keys = session_keys();
    for known in KNOWN {
        out.push('\n');
        for (way, origin) in WAYS {
            for shown in SHOWN {
                let credential = (shown != "nothing").then(|| token(shown));
                let channel = Channel { origin, credential };
                let _ = write!(out, "{known:<13}{way:<10}{shown:<13}");
                for signed in SIGNED {
                    let trust = trust(known, SignaturePolicy::WhereKnown);
                    let standing = trust.recognise(&hello(signed), channel, Some(&keys.initiator));
                    let _ = write!(out, "{:<11}", cell(&standing));
                    let strict = self::trust(known, SignaturePolicy::Everyone);
                    let strict = strict.recognise(&hello(signed), channel, Some(&keys.initiator));
                    // Who signs is not asked for more.
                    assert!(signed == "no" || strict == standing, "{known} {way} {shown} {signed}");
                    assert!(signed != "no" || strict.is_err(), "{known} {way} {shown} {signed}");
                }
                let strict = trust(known, SignaturePolicy::Everyone);
                let strict = strict.recognise(&hello("no"), channel, Some(&keys.initiator));
                let _ = writeln!(out, "{}", cell(&strict));
            }
        }
    }
    out.push_str(DOMAINS);
    let domains = [None, Some("ours"), Some("friend"), Some("other")];
    let name = |domain: Option<&str>| domain.unwrap_or("none").to_owned();
    let peers = [
        ("none, loopback", (Origin::Loopback, None)),
        ("none, answer", (Origin::Answer, None)),
        ("none, remote", (Origin::Remote, None)),
        ("ours", (Origin::Remote, Some("ours"))),
        ("friend", (Origin::Remote, Some("friend"))),
        ("other", (Origin::Loopback, Some("other"))),
    ];
    for (bound_to, bound) in peers {
        out.push('\n');
        for asserted in domains {
            let _ = write!(out, "{bound_to:<16}{:<10}", name(asserted));
            for allow_cross_domain in [false, true] {
                for required in [None, Some("ours"), Some("other")] {
                    let opened = open(allow_cross_domain, bound, asserted, required);
                    let _ = write!(out, "{opened:<19}");
                }
            }
            out.truncate(out.trim_end().len());
            out.push('\n');
        }
    }
    expect_file!["../data/trust.txt"].assert_eq(&out);
}

fn open(
    allow_cross_domain: bool,
    (origin, bound): (Origin, Option<&str>),
    asserted: Option<&str>,
    required: Option<&str>,
) -> String {
    let ours = TrustDomain {
        name: "ours".to_owned(),
        allow_cross_domain,
        trusted_peers: vec!["friend".to_owned()],
    };
    let trust = Trust::new(ours, SignaturePolicy::WhereKnown);
    let standing = Standing {
        delegate_id: sender(),
        means: Means::PinnedKey,
        origin,
        bound_domain: bound.map(str::to_owned),
        backing: Backing::Nothing,
    };
    match trust.may_open(&proposal(asserted, required), &standing) {
        Ok(admission) => match admission.basis {
            Basis::Bound => admission.domain,
            Basis::Asserted => format!("{} (asserted)", admission.domain),
        },
        Err(fault) => {
            assert_eq!(fault.refusal(), Refusal::TrustDomainMismatch);
            "-".to_owned()
        }
    }
}

fn proposal(asserted: Option<&str>, required: Option<&str>) -> Proposal {
    let text = json!({
        "message_id": "m", "session_id": "", "from": SENDER, "to": "ldp:delegate:us",
        "body": {
            "type": "SESSION_PROPOSE",
            "config": {"trust_domain": asserted, "required_trust_domain": required},
        },
        "payload_mode": "text", "timestamp": "2026-11-16T12:00:00.000Z", "provenance": null,
    });
    match Received::read(&text.to_string()).unwrap().envelope.body {
        sabir_ldp::Body::SessionPropose(proposal) => proposal,
        other => panic!("{other:?}"),
    }
}

const LOCAL: Channel = Channel { origin: Origin::Loopback, credential: None };

/// LD-S22: only a HELLO, only once, and only with a key that it has signed with.
#[test]
fn a_key_is_pinned_on_first_use() {
    let mut trust = trust("nothing", SignaturePolicy::WhereKnown);
    let close = |signed| {
        let envelope = json!({
            "message_id": "m", "session_id": "s", "from": SENDER, "to": "ldp:delegate:us",
            "body": {"type": "SESSION_CLOSE", "reason": null},
            "payload_mode": "text", "timestamp": "2026-11-16T12:00:00.000Z", "provenance": null,
        });
        signed_as(envelope, signed)
    };
    // Another message brings no key.
    let early = trust.recognise(&close("own key"), LOCAL, None).unwrap_err();
    assert_eq!(early.refusal(), Refusal::BadSignature);
    let standing = trust.recognise(&hello("own key"), LOCAL, None).unwrap();
    let Means::FirstUse(first) = standing.means else { panic!("{standing:?}") };
    assert_eq!(first, key(1).public_key());
    assert_eq!(standing.bound_domain, None);
    assert_eq!(standing.means.warning(), Some("key pinned on first use"));
    trust.pin(&sender(), first).unwrap();
    let standing = trust.recognise(&close("own key"), LOCAL, None).unwrap();
    assert_eq!(standing.means, Means::PinnedKey);
    // A second key does not replace the first.
    trust.pin(&sender(), key(2).public_key()).unwrap();
    assert_eq!(trust.keys(&sender()), [key(1).public_key()]);
    // And nobody can do without from now on.
    let unsigned = trust.recognise(&close("no"), LOCAL, None).unwrap_err();
    assert_eq!(unsigned, TrustFault::PeerSigns);
}

/// LD-S22: pins are for local peers to bring, so there is an end to them. A store keeps 10,000: a node
/// that finds it full has room for itself and its crew.
#[test]
fn pins_are_bounded() {
    let mut trust = trust("nothing", SignaturePolicy::WhereKnown);
    let key = key(1).public_key();
    let mut pin = |n: usize| trust.pin(&DelegateId::new(format!("d{n}")).unwrap(), key);
    assert!((0..10_016).all(|n| pin(n).is_ok()));
    assert_eq!(pin(10_016).unwrap_err().refusal(), Refusal::LimitReached);
    assert!(pin(1).is_ok());
}

/// LD-S23
#[test]
fn a_session_key_counts_in_its_session() {
    let trust = trust("key", SignaturePolicy::WhereKnown);
    let keys = session_keys();
    let signed = hello("session");
    let standing = trust.recognise(&signed, LOCAL, Some(&keys.initiator)).unwrap();
    assert_eq!(standing.means, Means::SessionKey);
    assert_eq!(standing.bound_domain.as_deref(), Some("ours"));
    for key in [None, Some(&keys.responder)] {
        let fault = trust.recognise(&signed, LOCAL, key).unwrap_err();
        assert_eq!(fault.refusal(), Refusal::BadSignature);
    }
}

/// LD-S13
#[test]
fn the_weak_signature_is_called_weak() {
    let trust = trust("secret", SignaturePolicy::WhereKnown);
    let standing = trust.recognise(&hello("secret"), LOCAL, None).unwrap();
    assert_eq!(standing.means.warning(), Some("weak: body not covered"));
}

/// LD-S18: every known key is tried, and one that is not known is not.
#[test]
fn a_peer_may_have_two_keys() {
    let mut trust = Trust::new(TrustDomain::closed("ours"), SignaturePolicy::WhereKnown);
    let peer = Peer {
        domain: "lab".to_owned(),
        keys: vec![key(3).public_key(), key(1).public_key()],
        secret: None,
        credentials: Vec::new(),
    };
    trust.add_peer(sender(), peer);
    let standing = trust.recognise(&hello("own key"), LOCAL, None).unwrap();
    assert_eq!(standing.bound_domain.as_deref(), Some("lab"));
    assert!(trust.recognise(&hello("other key"), LOCAL, None).is_err());
}

/// LD-S4: what the signature covers is the text that came, and not what we understood of it.
#[test]
fn the_text_that_came_is_what_is_checked() {
    let received = hello("own key");
    let text = received.text().replace("\"HELLO\"", "\"HELLO\",\"new\":1");
    let changed = Received::read(&text).unwrap();
    let trust = trust("key", SignaturePolicy::WhereKnown);
    assert!(trust.recognise(&received, LOCAL, None).is_ok());
    let fault = trust.recognise(&changed, LOCAL, None).unwrap_err();
    assert_eq!(fault.refusal(), Refusal::BadSignature);
    assert_eq!(fault.to_string(), "the signature does not fit the message");
}

/// A signed message says what it is signed with before anybody believes it.
#[test]
fn a_received_message_knows_its_signature() {
    let algorithm = |signed| {
        let received = hello(signed);
        let signed: Option<&SignedMessage> = received.signed().unwrap();
        signed.map(|signed| signed.algorithm().wire_name())
    };
    assert_eq!(algorithm("no"), None);
    assert_eq!(algorithm("own key"), Some("ed25519"));
    assert_eq!(algorithm("session"), Some("sabir-session-hmac-sha256"));
    assert_eq!(algorithm("secret"), Some("hmac-sha256"));
}

const INTRODUCTION: &str = "\
Who is believed. Each row is what our configuration knows about the sender, the way the message came
and the token that was shown; each column is how the message is signed. The message is a HELLO that
carries the sender's own key. `any token` is one that places whoever holds it in our domain.
The last column is an unsigned message where everyone has to sign; with a signature nothing changes.

  key        recognised by its Ed25519 key
  first use  a key that is new: taken, and pinned
  session    by the key of the session
  weak       by the reference's signature, which does not cover the body
  shown      not signed, but a token or certificate proves the sender
  loopback   not signed, from this machine
  answer     not signed, from an address that we called
  -unsigned  refused: SIGNATURE_REQUIRED
  -bad       refused: BAD_SIGNATURE

";

const DOMAINS: &str = "
Who may open a session. Our domain is `ours`; `friend` is among our trusted peers. The domain is
shown in which the session is opened; `-` is TRUST_DOMAIN_MISMATCH.

                          cross-domain not allowed, required:                      cross-domain allowed, required:
bound to        asserts   none               ours               other              none               ours               other
";
