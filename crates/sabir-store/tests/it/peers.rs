//! What is known of others, by one process and by several.

use std::path::Path;

use rusqlite::Connection;
use sabir_ldp::{
    Breaker, DelegateId, PayloadMode, PublicKey, SigningKey, SkillName, Timestamp, TrustDomain,
};
use sabir_store::StoreError;
use sabir_store::peers::{Delegation, DelegationStatus, Peers, Pinning, Probed};

use crate::child::{Child, report};
use crate::delegate_node::delegate_id;
use crate::sample::home;

fn skill() -> SkillName {
    SkillName::new("echo").unwrap()
}

fn public_key(seed: u8) -> PublicKey {
    SigningKey::from_seed(&[seed; 32]).public_key()
}

fn friend() -> DelegateId {
    delegate_id("ldp:delegate:friend")
}

const URL: &str = "http://127.0.0.1:7421";

/// QP-N5
#[test]
fn a_failed_probe_leaves_the_card() {
    let home = home();
    let peers = Peers::open(home.path()).unwrap();
    let added = peers.add_delegate(URL, 5).unwrap();
    assert_eq!(peers.add_delegate(URL, 9).unwrap(), added);
    let card = Probed::Card { delegate_id: &friend(), card: r#"{"name":"f"}"# };
    assert!(peers.record_probe(URL, card, 10).unwrap());
    let failed = Probed::Failed { error: &"ä".repeat(2000) };
    assert!(peers.record_probe(URL, failed, 11).unwrap());
    assert!(!peers.record_probe("http://elsewhere", failed, 11).unwrap());
    let known = Peers::open(home.path()).unwrap().delegates().unwrap();
    let [known] = known.as_slice() else { panic!("{known:?}") };
    assert_eq!(known.delegate_id, Some(friend()));
    assert_eq!(known.card.as_deref(), Some(r#"{"name":"f"}"#));
    assert_eq!((known.added_at_ms, known.probed_at_ms), (5, Some(11)));
    assert_eq!(known.error.as_ref().unwrap().len(), 2048);
    let card = Probed::Card { delegate_id: &friend(), card: "{}" };
    peers.record_probe(URL, card, 12).unwrap();
    assert_eq!(peers.delegates().unwrap()[0].error, None);
    assert_eq!(peers.remove_delegate(friend().as_str()).unwrap(), 1);
    assert_eq!(peers.remove_delegate(URL).unwrap(), 0);
}

/// QP-N2
#[test]
fn a_pinned_key_is_not_replaced() {
    let home = home();
    let peers = Peers::open(home.path()).unwrap();
    peers.add_delegate(URL, 0).unwrap();
    let pin = |seed, at_ms| peers.pin(&friend(), &public_key(seed), URL, at_ms).unwrap();
    assert_eq!(pin(1, 10), Pinning::Pinned);
    assert_eq!(pin(1, 11), Pinning::Same);
    let pinned = peers.pinned_key(&friend()).unwrap().unwrap();
    assert_eq!((pinned.key, pinned.pinned_at_ms), (public_key(1), 10));
    assert_eq!(pin(2, 12), Pinning::Other(Box::new(pinned.clone())));
    peers.remove_delegate(URL).unwrap();
    assert_eq!(peers.pinned_keys().unwrap(), [pinned]);
    let file = Connection::open(home.path().join("peers.db")).unwrap();
    file.execute("UPDATE pinned_keys SET origin = 'x'", []).unwrap_err();
    // A key that cannot be read is not the same as none.
    file.execute_batch(
        "DROP TRIGGER a_pinned_key_is_never_changed;
         UPDATE pinned_keys SET public_key = replace(hex(zeroblob(32)), '0', 'z')",
    )
    .unwrap();
    peers.pin(&friend(), &public_key(2), URL, 12).unwrap_err();
    assert!(peers.unpin(&friend()).unwrap());
    assert!(!peers.unpin(&friend()).unwrap());
    assert_eq!(pin(2, 13), Pinning::Pinned);
}

/// QP-N3
#[test]
fn a_domain_is_changed_as_a_whole() {
    let home = home();
    let peers = Peers::open(home.path()).unwrap();
    let made = peers.change_domain("harbor", |_| {}).unwrap();
    assert_eq!(made, TrustDomain::closed("harbor"));
    let trust = |peer: &str| {
        peers.change_domain("harbor", |domain| {
            domain.allow_cross_domain = true;
            domain.trusted_peers.push(peer.to_owned());
        })
    };
    trust("b").unwrap();
    trust("a").unwrap();
    trust("b").unwrap();
    let domains = peers.domains().unwrap();
    assert_eq!(domains[0].trusted_peers, ["a", "b"]);
    assert!(domains[0].allow_cross_domain);
    let error = trust(&"x".repeat(2 << 20)).unwrap_err();
    assert!(matches!(error, StoreError::TooLarge { .. }), "{error}");
    assert_eq!(peers.domains().unwrap(), domains);
    assert!(peers.remove_domain("harbor").unwrap());
    assert!(!peers.remove_domain("harbor").unwrap());
    peers.change_domain("", |_| {}).unwrap_err();
}

/// QP-N7
#[test]
fn a_delegation_is_one_line_of_the_log() {
    let home = home();
    let peers = Peers::open(home.path()).unwrap();
    let running = Delegation {
        id: "d-1".to_owned(),
        at_ms: 5,
        delegate_id: Some(friend()),
        url: Some(URL.to_owned()),
        skill: Some(skill()),
        payload_mode: Some(PayloadMode::SemanticFrame),
        status: DelegationStatus::Running,
        choice: Some(r#"{"why":"cheapest"}"#.to_owned()),
        provenance: None,
        error: None,
        cost_usd: None,
        ended_at_ms: None,
    };
    peers.log_delegation(&running).unwrap();
    let second = Delegation { id: "d-2".to_owned(), ..running.clone() };
    peers.log_delegation(&second).unwrap();
    let ended = Delegation {
        status: DelegationStatus::Succeeded,
        provenance: Some("{}".to_owned()),
        cost_usd: Some(0.25),
        ended_at_ms: Some(9),
        ..running
    };
    peers.log_delegation(&ended).unwrap();
    assert_eq!(peers.delegations(10).unwrap(), [second, ended.clone()]);
    assert_eq!(peers.delegations(1).unwrap()[0].id, "d-2");
    assert_eq!(peers.delegation("d-1").unwrap(), Some(ended.clone()));
    for wrong in [
        Delegation { id: String::new(), ..ended.clone() },
        Delegation { choice: Some("no JSON".to_owned()), ..ended.clone() },
        Delegation { error: Some("\"x\"".repeat(1 << 20)), ..ended.clone() },
    ] {
        peers.log_delegation(&wrong).unwrap_err();
    }
    // Far later the oldest are gone, and what still runs is not.
    let file = Connection::open(home.path().join("peers.db")).unwrap();
    file.execute(
        "INSERT INTO delegations (num, id, at_ms, status) VALUES (200000, 'd-3', 0, 'failed')",
        [],
    )
    .unwrap();
    peers.log_delegation(&Delegation { id: "d-4".to_owned(), ..ended }).unwrap();
    let ids: Vec<String> = peers.delegations(10).unwrap().into_iter().map(|it| it.id).collect();
    assert_eq!(ids, ["d-4", "d-3", "d-2"]);
}

/// QP-N4
#[test]
fn what_peers_say_is_bounded() {
    let home = home();
    let peers = Peers::open(home.path()).unwrap();
    let long = "x".repeat(3000);
    assert!(matches!(peers.add_delegate(&long, 0), Err(StoreError::TooLarge { .. })));
    assert!(matches!(peers.add_delegate("", 0), Err(StoreError::Invalid { .. })));
    peers.add_delegate(URL, 0).unwrap();
    let card = format!("\"{}\"", "x".repeat(1 << 20));
    let large = Probed::Card { delegate_id: &friend(), card: &card };
    assert!(matches!(peers.record_probe(URL, large, 0), Err(StoreError::TooLarge { .. })));
    let broken = Probed::Card { delegate_id: &friend(), card: "{" };
    peers.record_probe(URL, broken, 0).unwrap_err();
    let file = Connection::open(home.path().join("peers.db")).unwrap();
    let numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100000)";
    for insert in [
        "INSERT OR IGNORE INTO delegates (url, added_at_ms) SELECT 'u' || i, 0 FROM n LIMIT 99999",
        "INSERT INTO pinned_keys SELECT 'd' || i, hex(zeroblob(32)), '', 0 FROM n",
        "INSERT INTO tallies SELECT 'd' || i, 's', '{}', i FROM n",
    ] {
        file.execute_batch(&format!("{numbers} {insert}")).unwrap();
    }
    assert!(matches!(peers.add_delegate("u", 0), Err(StoreError::TooMany { .. })));
    peers.add_delegate("u7", 0).unwrap();
    let pinned = peers.pin(&friend(), &public_key(1), "", 0);
    assert!(matches!(pinned, Err(StoreError::TooMany { .. })), "{pinned:?}");
    // Evidence makes room for itself: what was changed longest ago goes.
    let now = Timestamp::from_millis(1 << 40);
    peers.change_tally(&friend(), &skill(), now, |_| {}).unwrap();
    let count = "SELECT count(*), min(changed_at_ms) FROM tallies";
    let found = file.query_row(count, [], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)));
    assert_eq!(found.unwrap(), (100_000, 2));
}

/// The part of the child: counts, and makes what others make at the same time.
pub(crate) fn run(home: &Path) {
    let peers = Peers::open(home).unwrap();
    for number in 0..ROUNDS {
        count(&peers, number);
    }
    report("done");
}

const ROUNDS: u32 = 25;

fn count(peers: &Peers, number: u32) {
    peers.add_delegate(&format!("{URL}/{number}"), 0).unwrap();
    let now = Timestamp::from_millis(u64::from(number));
    peers.change_tally(&friend(), &skill(), now, |tally| tally.tries += 1.0).unwrap();
    let change = |breaker: &mut Breaker| {
        *breaker = match *breaker {
            Breaker::Failing { failures } => Breaker::Failing { failures: failures + 1 },
            _ => Breaker::Failing { failures: 1 },
        };
    };
    peers.change_breaker(&friend(), change).unwrap();
    // All come with a key of their own; one of them is believed.
    peers.pin(&friend(), &public_key((std::process::id() % 200) as u8), "", 0).unwrap();
}

/// QP-N1, QP-N3
#[test]
fn several_processes_count_together() {
    let home = home();
    let mut children: Vec<Child> = (0..3).map(|_| Child::start("peers", home.path())).collect();
    run_here(home.path());
    children.iter_mut().for_each(|child| child.wait_for("done"));
    let peers = Peers::open(home.path()).unwrap();
    assert_eq!(peers.delegates().unwrap().len(), ROUNDS as usize);
    let tallies = peers.tallies().unwrap();
    assert_eq!((tallies.len(), tallies[0].tally.tries), (1, f64::from(4 * ROUNDS)));
    let breakers = peers.breakers().unwrap();
    assert_eq!(breakers, [(friend(), Breaker::Failing { failures: 4 * ROUNDS })]);
    assert_eq!(peers.pinned_keys().unwrap().len(), 1);
    peers.change_breaker(&friend(), |breaker| *breaker = Breaker::Closed).unwrap();
    assert_eq!(peers.breakers().unwrap(), []);
}

/// Two handles, as another thread would have.
fn run_here(home: &Path) {
    let peers = Peers::open(home).unwrap();
    let other = peers.clone();
    for number in 0..ROUNDS {
        count(if number % 2 == 0 { &peers } else { &other }, number);
    }
}

/// QP-N1
#[test]
fn a_file_of_others_is_left_alone() {
    let home = home();
    let path = home.path().join("peers.db");
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE t (x)").unwrap();
    let error = Peers::open(home.path()).unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
    std::fs::remove_file(&path).unwrap();
    drop(Peers::open(home.path()).unwrap());
    Connection::open(&path).unwrap().execute_batch("PRAGMA user_version = 99").unwrap();
    let error = Peers::open(home.path()).unwrap_err();
    assert!(matches!(error, StoreError::NewerSchema { found: 99, .. }), "{error}");
}
