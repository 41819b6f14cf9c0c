//! Sessions: one for each delegate, kept open, opened again, and closed.

use sabir_net::ErrandNews;

use crate::peer::{Manner, Peer, Twist, delegate_id, sharing};
use crate::world::{World, base, do_task, ending, see_through, task};

/// LD-C10
#[tokio::test]
async fn one_session_serves_many_tasks() {
    let world = World::new();
    let peer = Peer::start(Manner::default()).await;
    let client = world.client();
    let met = client.meet(&base(&peer.url)).await.unwrap();
    for number in 0..5 {
        let mut errand =
            client.session(&met, None).submit(task(&format!("t-{number}"), "echo")).await;
        let (_, end) = see_through(&mut errand).await;
        assert!(ending(&end).is_ok());
    }
    assert_eq!((peer.count("HELLO"), peer.count("SESSION_PROPOSE")), (1, 1));
    assert_eq!(peer.runs(), 5);
    client.close().await;
    assert_eq!(peer.count("SESSION_CLOSE"), 1);
}

/// LD-C10
#[tokio::test]
async fn a_session_that_the_delegate_forgot_is_opened_again() {
    let world = World::new();
    let peer = Peer::start(Manner::default()).await;
    let client = world.client();
    let met = client.meet(&base(&peer.url)).await.unwrap();
    let session = client.session(&met, None);
    for number in 0..2 {
        let mut errand = session.submit(task(&format!("t-{number}"), "echo")).await;
        let (_, end) = see_through(&mut errand).await;
        assert!(ending(&end).is_ok(), "{end:?}");
        peer.forget();
    }
    assert_eq!(peer.count("SESSION_PROPOSE"), 2);
}

/// LD-C7, LD-C8: all is signed, and so is the record.
#[tokio::test]
async fn a_result_comes_with_its_signed_record() {
    let world = World::new();
    let peer = Peer::start(Manner::default()).await;
    let client = world.client();
    let met = client.meet(&base(&peer.url)).await.unwrap();
    let mut errand = client.session(&met, None).submit(task("t", "echo")).await;
    let (_, end) = see_through(&mut errand).await;
    let ErrandNews::Done(delivered) = end else { panic!("{end:?}") };
    let record = delivered.signed_record.unwrap();
    assert_eq!(record["signature"]["public_key"], peer.key_hex());
    assert_eq!(delivered.report.outcome.output["said"], "say hi");
}

/// LD-C8: what somebody signs in the name of another.
#[tokio::test]
async fn a_record_in_the_name_of_another_needs_that_one_s_key() {
    let world = World::new();
    let manner = Manner { producer: Some("ldp:delegate:quay"), ..Manner::default() };
    let peer = Peer::start(manner).await;
    let client = world.client();
    let met = client.meet(&base(&peer.url)).await.unwrap();
    let mut errand = client.session(&met, None).submit(task("t", "echo")).await;
    let (_, end) = see_through(&mut errand).await;
    let ErrandNews::Done(delivered) = end else { panic!("{end:?}") };
    // Nobody knows that key: it proves nothing.
    assert_eq!(delivered.signed_record, None);
    let other = sabir_ldp::SigningKey::from_seed(&[99; 32]).public_key();
    world.peers.pin(&delegate_id("quay"), &other, "earlier", 1).unwrap();
    assert_eq!(do_task(&world, &peer.url, "echo").await.unwrap_err(), "BAD_SIGNATURE");
}

/// LD-C10
#[tokio::test]
async fn a_session_that_nobody_holds_is_closed() {
    let world = World::new();
    let peer = Peer::start(Manner::default()).await;
    assert!(do_task(&world, &peer.url, "echo").await.is_ok());
    let heard = async {
        while peer.count("SESSION_CLOSE") == 0 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(20), heard).await.unwrap();
}

/// LD-C15: who has neither key nor stream is spoken to as the references are.
#[tokio::test]
async fn a_delegate_without_keys_and_streams_is_served() {
    let world = World::new();
    let manner = Manner { has_key: false, has_stream: false, ..Manner::default() };
    let peer = Peer::start(manner).await;
    assert!(do_task(&world, &peer.url, "echo").await.is_ok());
    assert_eq!(peer.heard()[..3], ["HELLO", "SESSION_PROPOSE", "TASK_SUBMIT"]);
}

/// LD-C20
#[tokio::test]
async fn only_modes_that_the_card_has_are_offered() {
    let world = World::new();
    let peer = Peer::start(Manner { modes: vec!["text"], ..Manner::default() }).await;
    let client = world.client();
    let met = client.meet(&base(&peer.url)).await.unwrap();
    let mut errand = client.session(&met, None).submit(task("t", "echo")).await;
    let (_, end) = see_through(&mut errand).await;
    let ErrandNews::Done(delivered) = end else { panic!("{end:?}") };
    assert_eq!(delivered.report.mode, sabir_ldp::PayloadMode::Text);
    assert_eq!(peer.input(0), "say hi");
}

/// LD-C19
#[tokio::test]
async fn a_task_that_is_dropped_is_cancelled() {
    let world = World::new();
    let peer = Peer::start(Manner::default()).await;
    let client = world.client();
    let met = client.meet(&base(&peer.url)).await.unwrap();
    let mut errand = client.session(&met, None).submit(task("t", "hang")).await;
    let Some(ErrandNews::Opened { .. }) = errand.next().await else { panic!("not opened") };
    while peer.runs() == 0 {
        tokio::task::yield_now().await;
    }
    drop(errand);
    while peer.count("TASK_CANCEL") == 0 {
        tokio::task::yield_now().await;
    }
}

/// LD-C19
#[tokio::test]
async fn a_task_that_is_cancelled_says_so() {
    let world = World::new();
    let peer = Peer::start(Manner::default()).await;
    let client = world.client();
    let met = client.meet(&base(&peer.url)).await.unwrap();
    let mut errand = client.session(&met, None).submit(task("t", "hang")).await;
    let Some(ErrandNews::Opened { .. }) = errand.next().await else { panic!("not opened") };
    while peer.runs() == 0 {
        tokio::task::yield_now().await;
    }
    errand.cancel().await;
    let (_, end) = see_through(&mut errand).await;
    assert_eq!(ending(&end), Err("CANCELLED".to_owned()));
}

/// LD-C10: a session that is over says so instead of hanging.
#[tokio::test]
async fn a_closed_session_takes_no_tasks() {
    let world = World::new();
    let peer = Peer::start(Manner::default()).await;
    let client = world.client();
    let met = client.meet(&base(&peer.url)).await.unwrap();
    let session = client.session(&met, None);
    session.clone().close().await;
    let mut errand = session.submit(task("t", "echo")).await;
    let (_, end) = see_through(&mut errand).await;
    assert_eq!(ending(&end), Err("CANCELLED".to_owned()));
    // Another one is opened for who asks for one.
    assert!(!client.session(&met, None).is_over());
}

/// LD-C10: who comes after the delegate has refused hears the delegate's own words.
#[tokio::test]
async fn a_refused_session_says_why_to_who_comes_late() {
    let world = World::new();
    let peer = Peer::start(Manner::default()).await;
    let client = world.client();
    let met = client.meet(&base(&peer.url)).await.unwrap();
    let session = client.session(&met, Some("elsewhere"));
    while !session.is_over() {
        tokio::task::yield_now().await;
    }
    let mut errand = session.submit(task("t", "echo")).await;
    let (_, end) = see_through(&mut errand).await;
    assert_eq!(ending(&end), Err("TRUST_DOMAIN_MISMATCH".to_owned()));
}

/// LD-C9
#[tokio::test]
async fn a_shared_secret_signs_both_ways() {
    let mut world = World::new();
    world.trust.add_peer(delegate_id("harbor"), sharing("sesame"));
    let manner = Manner { has_key: false, secret: Some("sesame"), ..Manner::default() };
    let peer = Peer::start(manner.clone()).await;
    let done = do_task(&world, &peer.url, "echo").await;
    assert!(done.is_ok(), "{done:?}");
    // Signed with another secret, and not at all.
    let other = Peer::start(Manner { secret: Some("open"), ..manner.clone() }).await;
    assert_eq!(do_task(&world, &other.url, "echo").await.unwrap_err(), "BAD_SIGNATURE");
    let silent = Peer::start(Manner { secret: None, ..manner.clone() }).await;
    assert_eq!(do_task(&world, &silent.url, "echo").await.unwrap_err(), "SIGNATURE_REQUIRED");
    let twist = Twist::Unsigned;
    let stripped = Peer::start(Manner { twist, only: "TASK_SUBMIT", ..manner }).await;
    assert_eq!(do_task(&world, &stripped.url, "echo").await.unwrap_err(), "SIGNATURE_REQUIRED");
}
