//! Who answers at an address.

use std::time::Duration;

use sabir_ldp::{PublicKey, SigningKey};
use sabir_net::{DiscoverError, MeetError, PinError};

use crate::peer::{Manner, Peer, Twist, named};
use crate::world::{World, base, do_task, id};

/// LD-C3
#[tokio::test]
async fn a_card_is_at_the_well_known_path_or_where_the_references_have_it() {
    let world = World::new();
    for has_well_known in [true, false] {
        let peer = Peer::start(Manner { has_well_known, ..Manner::default() }).await;
        let discovered = world.client().discover(&base(&peer.url)).await.unwrap();
        assert_eq!(discovered.card.delegate_id, id("ldp:delegate:harbor"));
        assert!(discovered.notes.is_empty(), "{:?}", discovered.notes);
    }
}

/// LD-C3, LD-C4
#[tokio::test]
async fn what_is_no_card_is_refused() {
    let mut world = World::new();
    let patience = world.pace.answer;
    for (twist, expected) in [
        (Twist::Endless, "longer than"),
        (Twist::Silent, "no answer in time"),
        (Twist::Redirect, "redirects"),
        (Twist::NotJson, "not good"),
    ] {
        // Only silence is a question of time.
        let short = Duration::from_millis(300);
        world.pace.answer = if matches!(twist, Twist::Silent) { short } else { patience };
        let peer = Peer::start(Manner { twist, only: "card", ..Manner::default() }).await;
        let error = world.client().discover(&base(&peer.url)).await.unwrap_err().to_string();
        assert!(error.contains(expected), "{twist:?}: {error}");
    }
    let nobody = world.client().discover(&base("http://127.0.0.1:1")).await.unwrap_err();
    assert!(matches!(nobody, DiscoverError::Unreached { .. }), "{nobody}");
    assert!(nobody.to_string().contains("cannot be reached"), "{nobody}");
}

/// LD-C4: who redirects to itself is not called somebody else.
#[tokio::test]
async fn a_redirect_that_goes_round_is_told_as_such() {
    let world = World::new();
    let peer = Peer::start(Manner { twist: Twist::Circle, only: "card", ..named("round") }).await;
    let error = world.client().discover(&base(&peer.url)).await.unwrap_err().to_string();
    assert!(error.contains("redirects again and again"), "{error}");
}

/// LD-C6
#[tokio::test]
async fn a_key_is_pinned_on_first_use_and_reported() {
    let world = World::new();
    let peer = Peer::start(Manner::default()).await;
    let met = world.client().meet(&base(&peer.url)).await.unwrap();
    let pinned = met.pinned.unwrap();
    assert_eq!(pinned.key.to_hex(), peer.key_hex());
    let kept = world.peers.pinned_key(&id("ldp:delegate:harbor")).unwrap().unwrap();
    assert_eq!(kept.key, pinned.key);
    assert!(kept.origin.starts_with(&peer.url), "{}", kept.origin);
    // The second time is no news.
    assert_eq!(world.client().meet(&base(&peer.url)).await.unwrap().pinned, None);
}

/// LD-C6
#[tokio::test]
async fn another_key_under_a_known_name_is_refused() {
    let world = World::new();
    let other = SigningKey::from_seed(&[99; 32]).public_key();
    world.peers.pin(&id("ldp:delegate:harbor"), &other, "earlier", 1).unwrap();
    let peer = Peer::start(Manner::default()).await;
    let error = world.client().meet(&base(&peer.url)).await.unwrap_err();
    assert!(
        matches!(&error, MeetError::Pin(PinError::OtherKey { known, .. }) if *known == other.to_hex())
    );
    assert_eq!(error.to_error().code, "BAD_SIGNATURE");
    assert!(error.to_string().contains("`sabir keys forget ldp:delegate:harbor`"), "{error}");
    assert!(peer.heard().is_empty());
}

/// LD-C37
#[tokio::test]
async fn a_known_address_under_another_name_is_refused() {
    let world = World::new();
    for has_key in [true, false] {
        let peer = Peer::start(Manner { has_key, ..Manner::default() }).await;
        let other = SigningKey::from_seed(&[99; 32]).public_key();
        let quay = id(&format!("ldp:delegate:quay-{has_key}"));
        world.peers.pin(&quay, &other, base(&peer.url).as_str(), 1).unwrap();
        let error = world.client().meet(&base(&peer.url)).await.unwrap_err();
        assert!(matches!(error, MeetError::Pin(PinError::OtherDelegate { .. })), "{error}");
        let by_name = peer.url.replace("127.0.0.1", "localhost");
        let error = world.client().meet(&base(&by_name)).await.unwrap_err();
        assert!(matches!(error, MeetError::Pin(PinError::OtherDelegate { .. })), "{error}");
        let advice = format!("`sabir keys forget {quay}`");
        assert!(error.to_string().contains(&advice), "{error}");
        world.peers.unpin(&quay).unwrap();
        world.client().meet(&base(&peer.url)).await.unwrap();
        world.peers.unpin(&id("ldp:delegate:harbor")).unwrap();
    }
}

/// LD-C7: a card without a key does not let a delegate off that had one.
#[tokio::test]
async fn a_delegate_that_lost_its_key_is_not_believed() {
    let world = World::new();
    let with_key = Peer::start(Manner::default()).await;
    world.client().meet(&base(&with_key.url)).await.unwrap();
    let without = Peer::start(Manner { has_key: false, ..Manner::default() }).await;
    let ended = do_task(&world, &without.url, "echo").await;
    assert_eq!(ended.unwrap_err(), "SIGNATURE_REQUIRED");
    assert_eq!(without.runs(), 0);
}

/// LD-C21
#[tokio::test]
async fn a_token_goes_to_its_origin_and_to_nobody_else() {
    let mut world = World::new();
    let ours = Peer::start(Manner { token: Some("sesame"), ..named("ours") }).await;
    let other = Peer::start(Manner { token: Some("sesame"), ..named("other") }).await;
    world.http.tokens.insert(base(&ours.url).origin(), "sesame".to_owned());
    assert!(do_task(&world, &ours.url, "echo").await.is_ok());
    let refused = do_task(&world, &other.url, "echo").await.unwrap_err();
    assert!(refused.contains("401"), "{refused}");
    assert!(!format!("{:?}", world.http).contains("sesame"));
}

/// LD-C7
#[tokio::test]
async fn a_configured_key_counts_before_a_pinned_one() {
    let mut world = World::new();
    let peer = Peer::start(Manner::default()).await;
    let configured = |key: PublicKey| sabir_ldp::Peer {
        domain: "default".to_owned(),
        keys: vec![key],
        secret: None,
        credentials: Vec::new(),
    };
    let right = PublicKey::from_hex(&peer.key_hex()).unwrap();
    world.trust.add_peer(id("ldp:delegate:harbor"), configured(right));
    let met = world.client().meet(&base(&peer.url)).await.unwrap();
    assert_eq!(met.pinned, None);
    let wrong = SigningKey::from_seed(&[1; 32]).public_key();
    world.trust.add_peer(id("ldp:delegate:harbor"), configured(wrong));
    let error = world.client().meet(&base(&peer.url)).await.unwrap_err();
    assert!(matches!(error, MeetError::Pin(PinError::OtherKey { .. })), "{error}");
}
