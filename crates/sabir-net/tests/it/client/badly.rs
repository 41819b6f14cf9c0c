//! Delegates that behave badly: each fails its task, in time, and nothing that it says is believed.

use std::time::Duration;

use crate::peer::{Manner, Peer, Twist, named};
use crate::world::{World, do_task};

async fn ended(
    twist: Twist,
    only: &'static str,
    has_stream: bool,
) -> (Result<String, String>, Peer) {
    let mut world = World::new();
    // Only silence is a question of time.
    if matches!(twist, Twist::Silent) {
        world.pace.answer = Duration::from_secs(1);
        world.pace.silence = Duration::from_secs(1);
    }
    let peer = Peer::start(Manner { twist, only, has_stream, ..Manner::default() }).await;
    (do_task(&world, &peer.url, "echo").await, peer)
}

/// LD-C7
#[tokio::test]
async fn unsigned_and_forged_answers_fail_the_task() {
    for has_stream in [true, false] {
        for (twist, code) in
            [(Twist::Unsigned, "SIGNATURE_REQUIRED"), (Twist::Forged, "BAD_SIGNATURE")]
        {
            let only = if has_stream { "" } else { "TASK_SUBMIT" };
            let (ended, _) = ended(twist, only, has_stream).await;
            assert_eq!(ended.unwrap_err(), code, "{twist:?}, stream: {has_stream}");
        }
    }
}

/// LD-C7: the handshake too.
#[tokio::test]
async fn a_handshake_that_is_not_signed_opens_nothing() {
    for kind in ["HELLO", "SESSION_PROPOSE"] {
        let (ended, peer) = ended(Twist::Unsigned, kind, false).await;
        assert_eq!(ended.unwrap_err(), "SIGNATURE_REQUIRED", "{kind}");
        assert_eq!(peer.runs(), 0);
    }
}

/// LD-C7
#[tokio::test]
async fn somebody_else_s_answer_fails_the_task() {
    let (ended, _) = ended(Twist::OtherSender, "TASK_SUBMIT", false).await;
    assert_eq!(ended.unwrap_err(), "BAD_SIGNATURE");
}

/// LD-C14: a delegate without a key can say whatever it likes, but not about another task or session.
#[tokio::test]
async fn answers_about_something_else_do_not_count() {
    for (twist, expected) in
        [(Twist::WrongTask, "INTERRUPTED"), (Twist::WrongSession, "INTERRUPTED")]
    {
        let world = World::new();
        let manner = Manner { twist, only: "TASK_SUBMIT", has_key: false, ..Manner::default() };
        let peer = Peer::start(manner).await;
        let ended = do_task(&world, &peer.url, "echo").await;
        assert_eq!(ended.unwrap_err(), expected, "{twist:?}");
        assert_eq!(peer.runs(), 1);
    }
}

/// LD-C11
#[tokio::test]
async fn an_answer_has_an_end_and_comes_in_time() {
    for (twist, code) in [(Twist::Endless, "ANSWER_REFUSED"), (Twist::Silent, "TRANSPORT_FAILED")] {
        let (ended, _) = ended(twist, "SESSION_PROPOSE", false).await;
        assert_eq!(ended.unwrap_err(), code, "{twist:?}");
    }
}

/// LD-C36: nobody knows whether it was done.
#[tokio::test]
async fn a_task_without_an_answer_is_interrupted() {
    for twist in [Twist::Endless, Twist::Silent, Twist::Unavailable, Twist::NotJson] {
        let (ended, peer) = ended(twist, "TASK_SUBMIT", false).await;
        assert_eq!(ended.unwrap_err(), "INTERRUPTED", "{twist:?}");
        assert!(peer.runs() <= 1, "{twist:?}");
    }
    // It was refused, and somebody else may do it.
    let (ended, _) = ended(Twist::Unauthorized, "TASK_SUBMIT", false).await;
    assert_eq!(ended.unwrap_err(), "HTTP_403");
}

/// LD-C36: a delegate without a key does a task as often as it comes.
#[tokio::test]
async fn a_task_is_sent_once_to_who_would_do_it_twice() {
    let mut world = World::new();
    let manner = |twist| Manner {
        twist,
        only: "TASK_SUBMIT",
        has_key: false,
        has_stream: false,
        ..Manner::default()
    };
    for twist in [Twist::Unavailable, Twist::NotJson, Twist::Endless, Twist::WrongTask] {
        let peer = Peer::start(manner(twist)).await;
        let ended = do_task(&world, &peer.url, "echo").await;
        assert_eq!(ended.unwrap_err(), "INTERRUPTED", "{twist:?}");
        assert_eq!(peer.count("TASK_SUBMIT"), 1, "{twist:?}");
    }
    let busy = Peer::start(manner(Twist::Busy(1))).await;
    assert!(do_task(&world, &busy.url, "echo").await.is_ok());
    assert_eq!(busy.count("TASK_SUBMIT"), 2);
    // It is waited for longer than an answer may take.
    world.pace.answer = Duration::from_secs(1);
    let slow = Peer::start(manner(Twist::Slow(2000))).await;
    assert!(do_task(&world, &slow.url, "echo").await.is_ok());
    assert_eq!(slow.count("TASK_SUBMIT"), 1);
}

/// LD-C4
#[tokio::test]
async fn a_message_is_not_carried_elsewhere() {
    let (ended, peer) = ended(Twist::Redirect, "HELLO", false).await;
    assert_eq!(ended.unwrap_err(), "ANSWER_REFUSED");
    assert_eq!(peer.heard(), ["HELLO"]);
}

/// LD-C12
#[tokio::test]
async fn who_is_busy_is_asked_again_later() {
    let (ended, peer) = ended(Twist::Busy(1), "HELLO", false).await;
    assert!(ended.is_ok(), "{ended:?}");
    assert_eq!(peer.count("HELLO"), 2);
}

/// LD-C12
#[tokio::test]
async fn what_is_no_message_is_asked_for_again_a_few_times() {
    let (ended, peer) = ended(Twist::NotJson, "HELLO", false).await;
    assert_eq!(ended.unwrap_err(), "TRANSPORT_FAILED");
    assert_eq!(peer.count("HELLO"), 3);
}

/// LD-C13
#[tokio::test]
async fn who_is_turned_away_does_not_knock_again() {
    let (ended, peer) = ended(Twist::Unauthorized, "SESSION_PROPOSE", false).await;
    assert_eq!(ended.unwrap_err(), "HTTP_403");
    assert_eq!(peer.count("SESSION_PROPOSE"), 1);
}

/// LD-C43: what is not signed was at least said now.
#[tokio::test]
async fn answers_of_another_time_do_not_count() {
    for then in ["2001-02-03T04:05:06Z", "2099-02-03T04:05:06Z"] {
        for (only, code) in [("HELLO", "TIMESTAMP_OUT_OF_WINDOW"), ("TASK_SUBMIT", "INTERRUPTED")] {
            let twist = Twist::Dated(then);
            let manner =
                Manner { twist, only, has_key: false, has_stream: false, ..named("plain") };
            let peer = Peer::start(manner).await;
            let ended = do_task(&World::new(), &peer.url, "echo").await;
            assert_eq!(ended.unwrap_err(), code, "{only} of {then}");
        }
    }
}

/// LD-C43
#[tokio::test]
async fn a_result_in_a_mode_that_was_not_negotiated_does_not_count() {
    let (twist, only) = (Twist::OtherMode, "TASK_SUBMIT");
    let manner = Manner { twist, only, has_key: false, has_stream: false, ..named("plain") };
    let peer = Peer::start(manner).await;
    let ended = do_task(&World::new(), &peer.url, "echo").await;
    assert_eq!(ended.unwrap_err(), "INTERRUPTED");
    // It was done once, and nobody asks for it again.
    assert_eq!((peer.runs(), peer.count("TASK_SUBMIT")), (1, 1));
}
