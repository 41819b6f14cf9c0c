//! Those who speak in the name of a delegate that is known: what they say and do is not held against
//! it, and nothing of it is kept.

use std::time::Duration;

use crate::peer::{Manner, Peer, Twist, delegate_id};
use crate::world::{World, address, request};

fn impostors() -> [Manner; 3] {
    let harbor = Manner::default;
    [
        Manner { has_key: false, ..harbor() },
        // The key on a card is anybody's to copy.
        Manner { twist: Twist::Unsigned, ..harbor() },
        Manner { twist: Twist::Silent, only: "HELLO", ..harbor() },
    ]
}

async fn known_harbor() -> (World, Peer) {
    let mut world = World::new();
    world.pace.answer = Duration::from_millis(500);
    let harbor = Peer::start(Manner::default()).await;
    let (report, _) = world.run(&request("echo", &[&harbor.url])).await;
    assert!(report.is_done(), "{:?}", report.error);
    (world, harbor)
}

/// LD-C42
#[tokio::test]
async fn what_is_said_in_its_name_is_no_evidence() {
    let (world, harbor) = known_harbor().await;
    let before = world.peers.tallies().unwrap();
    for manner in impostors() {
        let impostor = Peer::start(manner).await;
        for _ in 0..4 {
            let (report, _) = world.run(&request("echo", &[&impostor.url])).await;
            assert!(!report.is_done());
        }
    }
    assert_eq!(world.peers.tallies().unwrap(), before);
    assert_eq!(world.peers.breakers().unwrap(), []);
    // Where it is known, its silence is its own.
    harbor.change(|manner| (manner.twist, manner.only) = (Twist::Silent, "HELLO"));
    let (report, _) = world.run(&request("echo", &[&harbor.url])).await;
    assert!(!report.is_done());
    let after = world.peers.tallies().unwrap();
    assert!(after[0].tally.tries > before[0].tally.tries + 0.9, "{after:?}");
}

/// LD-C42
#[tokio::test]
async fn its_card_is_taken_only_from_itself() {
    let (world, harbor) = known_harbor().await;
    let delegation = world.delegation();
    let (card, pinned) = delegation.look(&address(&harbor.url)).await.unwrap();
    assert_eq!((card.delegate_id, pinned), (delegate_id("harbor"), None));
    let [keyless, copied, silent] = impostors();
    for manner in [keyless, copied] {
        let impostor = Peer::start(manner).await;
        let error = delegation.look(&address(&impostor.url)).await.unwrap_err();
        assert_eq!(error.code, "BAD_SIGNATURE");
        assert!(error.message.contains("its card is not taken"), "{}", error.message);
    }
    let silent = Peer::start(silent).await;
    delegation.look(&address(&silent.url)).await.unwrap_err();
}

/// LD-C8: what is not signed by another is by who delivered it.
#[tokio::test]
async fn a_record_that_is_not_signed_is_by_who_delivered_it() {
    let (world, _harbor) = known_harbor().await;
    let manner = Manner {
        has_key: false,
        producer: Some("ldp:delegate:harbor"),
        name: "ldp:delegate:plain".to_owned(),
        ..Manner::default()
    };
    let plain = Peer::start(manner).await;
    let (report, _) = world.run(&request("echo", &[&plain.url])).await;
    assert!(report.is_done(), "{:?}", report.error);
    assert_eq!(report.provenance.unwrap().produced_by, delegate_id("plain"));
    assert_eq!(report.signed_record, None);
}
