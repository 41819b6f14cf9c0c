//! News of a task: each once and in order, wherever the stream is cut.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::peer::{Manner, Peer, Twist};
use crate::world::{World, base, ending, see_through, task};

async fn count(manner: Manner) -> (Vec<Option<u64>>, Result<String, String>, Peer) {
    let world = World::new();
    let peer = Peer::start(manner).await;
    let client = world.client();
    let met = client.meet(&base(&peer.url)).await.unwrap();
    let mut errand = client.session(&met, None).submit(task("t", "count")).await;
    let (updates, end) = see_through(&mut errand).await;
    (updates, ending(&end), peer)
}

fn all() -> Vec<Option<u64>> {
    (1..=20).map(Some).collect()
}

/// LD-C15
#[tokio::test]
async fn a_task_is_followed_on_its_stream() {
    let (updates, end, peer) = count(Manner::default()).await;
    assert_eq!((updates, end), (all(), Ok("\"counted\"".to_owned())));
    assert_eq!(peer.count("TASK_UPDATE"), 0);
}

/// LD-C15
#[tokio::test]
async fn a_delegate_that_has_no_stream_after_all_is_asked_otherwise() {
    let (_, end, peer) = count(Manner { has_stream: false, ..Manner::default() }).await;
    assert_eq!(end, Ok("\"counted\"".to_owned()));
    assert_eq!(peer.runs(), 1);
}

/// LD-C16, LD-C17
#[tokio::test]
async fn a_stream_that_is_cut_anywhere_goes_on_where_it_was() {
    let mut cuts = Vec::new();
    // Here and there in the first events, in the middle of an event, of a line, of a letter.
    for at in (0..20_000).step_by(379) {
        cuts.push(at);
    }
    // A cut at the same place again and again brings nothing new; the client gives up then, so that
    // each next cut is later.
    for chunk in cuts.chunks(18) {
        let manner = Manner { cuts: chunk.to_vec(), ..Manner::default() };
        let (updates, end, peer) = count(manner).await;
        let is_given_up = end == Err("INTERRUPTED".to_owned());
        assert!(end == Ok("\"counted\"".to_owned()) || is_given_up, "{end:?}");
        let whole = all();
        assert_eq!(updates, whole[..updates.len()], "cut at {chunk:?}");
        assert!(is_given_up || updates.len() == 20);
        assert_eq!(peer.runs(), 1);
    }
}

/// LD-C16: a stream that brings one update at a time.
#[tokio::test]
async fn many_cuts_are_survived_as_long_as_something_comes() {
    // An event has about 700 bytes, so that each connection brings one or two.
    let manner = Manner { cuts: vec![1_400; 18], ..Manner::default() };
    let (updates, end, peer) = count(manner).await;
    assert_eq!((updates, end), (all(), Ok("\"counted\"".to_owned())));
    assert!(peer.count("TASK_SUBMIT") > 5, "{}", peer.count("TASK_SUBMIT"));
    assert_eq!(peer.runs(), 1);
}

/// LD-C17
#[tokio::test]
async fn updates_that_come_twice_are_told_once() {
    let (updates, end, _) = count(Manner { twist: Twist::Twice, ..Manner::default() }).await;
    assert_eq!((updates, end), (all(), Ok("\"counted\"".to_owned())));
}

/// LD-C17
#[tokio::test]
async fn the_last_event_counts_whatever_its_number_is() {
    let (updates, end, peer) = count(Manner { twist: Twist::OldEnd, ..Manner::default() }).await;
    assert_eq!((updates, end), (all(), Ok("\"counted\"".to_owned())));
    assert_eq!(peer.count("TASK_SUBMIT"), 1);
}

/// LD-C18
#[tokio::test]
async fn a_forged_update_fails_the_task() {
    let (updates, end, _) = count(Manner { twist: Twist::Forged, ..Manner::default() }).await;
    assert_eq!(updates, []);
    assert_eq!(end.unwrap_err(), "BAD_SIGNATURE");
}
