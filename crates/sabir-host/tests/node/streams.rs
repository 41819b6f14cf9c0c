//! Streams: each update once and in order, whatever was heard before and however slow one listens.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::future::{BoxFuture, FutureExt as _};
use sabir_host::{Broken, News, Skill};
use sabir_ldp::{Finished, TaskOrder};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::world::{CALLER, World, all, body, code, echo, message, submission, until};

/// Tells as many updates as there are permits, and ends when there are `until`.
#[derive(Debug)]
struct Teller {
    permits: Arc<Semaphore>,
    until: u64,
}

impl Skill for Teller {
    fn run(&self, _order: TaskOrder, news: News) -> BoxFuture<'static, Result<Finished, Broken>> {
        let (permits, until) = (Arc::clone(&self.permits), self.until);
        async move {
            for number in 1..=until {
                permits.acquire().await.unwrap().forget();
                news.progress(format!("update {number}")).await;
            }
            Ok(Finished { output: json!("told all"), ..Finished::default() })
        }
        .boxed()
    }
}

pub(crate) fn teller(
    until: u64,
    permits: usize,
) -> (Arc<Semaphore>, (&'static str, Arc<dyn Skill>)) {
    let permits = Arc::new(Semaphore::new(permits));
    let skill = Teller { permits: Arc::clone(&permits), until };
    (permits, ("tell", Arc::new(skill)))
}

pub(crate) fn ids(told: &[(u64, Value)]) -> Vec<u64> {
    told.iter().map(|(id, _)| *id).collect()
}

/// LD-N12, LD-N8: those who were cut off are forgotten.
#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_is_cut_a_hundred_times_tells_each_update_once_and_in_order() {
    let (permits, skill) = teller(1000, 0);
    let world = World::new(&[skill]).await;
    world.open().await;
    let order = || submission("t-1", "tell", json!(1));
    let mut heard: Vec<u64> = Vec::new();
    let mut dice = 12_345_u64;
    for cut in 0..100 {
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let wanted = 1 + (dice >> 60);
        permits.add_permits(10);
        let mut follow = world.follow(&order(), heard.last().copied()).await;
        // Some are cut before they have heard anything.
        let wanted = if cut % 7 == 0 { 0 } else { wanted };
        let available = (cut + 1) * 10 - heard.len() as u64;
        for _ in 0..wanted.min(available) {
            let told = follow.next().await.unwrap();
            assert!(!told.last);
            assert_eq!(body(&told.text)["message"], format!("update {}", told.id));
            heard.push(told.id);
        }
    }
    let rest = all(world.follow(&order(), heard.last().copied()).await).await;
    heard.extend(ids(&rest));
    assert_eq!(heard, (1..=1001).collect::<Vec<_>>());
    assert_eq!(rest.last().unwrap().1["output"], "told all");
    assert_eq!(world.node.counts().waiting_requests, 0);
}

/// LD-N13.
#[tokio::test(flavor = "multi_thread")]
async fn a_follower_that_does_not_read_misses_nothing() {
    let (_permits, skill) = teller(500, 500);
    let world = World::new(&[skill]).await;
    world.open().await;
    let slow = world.follow(&submission("t-1", "tell", json!(1)), None).await;
    until("the task ends", || world.node.counts().running_tasks == 0).await;
    assert_eq!(ids(&all(slow).await), (1..=501).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread")]
async fn many_followers_hear_the_same() {
    let (permits, skill) = teller(50, 0);
    let world = World::new(&[skill]).await;
    world.open().await;
    let mut follows = Vec::new();
    for _ in 0..8 {
        follows.push(world.follow(&submission("t-1", "tell", json!(1)), None).await);
    }
    permits.add_permits(50);
    let heard = futures_util::future::join_all(follows.into_iter().map(all)).await;
    for told in heard {
        assert_eq!(ids(&told), (1..=51).collect::<Vec<_>>());
    }
}

/// LD-N11.
#[tokio::test(flavor = "multi_thread")]
async fn a_finished_task_is_told_again_also_to_one_who_heard_its_end() {
    let (_permits, skill) = teller(3, 3);
    let world = World::new(&[skill]).await;
    world.open().await;
    let order = || submission("t-1", "tell", json!(1));
    assert_eq!(ids(&all(world.follow(&order(), None).await).await), [1, 2, 3, 4]);
    for (after, expected) in
        [(None, vec![1, 2, 3, 4]), (Some(2), vec![3, 4]), (Some(3), vec![4]), (Some(4), vec![4])]
    {
        let told = all(world.follow(&order(), after).await).await;
        assert_eq!(ids(&told), expected, "after {after:?}");
        assert_eq!(told.last().unwrap().1["type"], "TASK_RESULT");
    }
}

/// LD-N12: nothing is hidden by a number that no event has.
#[tokio::test(flavor = "multi_thread")]
async fn a_number_beyond_the_last_event_is_that_of_the_last() {
    let (permits, skill) = teller(200, 2);
    let world = World::new(&[skill, echo()]).await;
    world.open().await;
    let order = || submission("t-1", "tell", json!(1));
    for after in [3, 1000, u64::MAX] {
        let mut beyond = world.follow(&order(), Some(after)).await;
        // What comes after it has looked is told to it.
        let mut first = None;
        while first.is_none() {
            permits.add_permits(1);
            first = timeout(Duration::from_millis(20), beyond.next()).await.ok().flatten();
        }
        let first = first.unwrap();
        assert!(!first.last && first.id < 200, "{first:?}");
        assert_eq!(body(&first.text)["message"], format!("update {}", first.id));
    }
    permits.add_permits(200);
    assert_eq!(ids(&all(world.follow(&order(), None).await).await), (1..=201).collect::<Vec<_>>());
    let world = world.restart(&[teller(200, 0).1, echo()]).await;
    for after in [200, 201, 202, 1000, u64::MAX] {
        let told = all(world.follow(&order(), Some(after)).await).await;
        assert_eq!(ids(&told), [201], "{after}");
        assert_eq!(told[0].1["output"], "told all");
    }
    // One that nobody began yet has no events.
    let fresh = submission("t-2", "echo", json!(1));
    assert_eq!(ids(&all(world.follow(&fresh, Some(1000)).await).await), [1]);
}

/// LD-N14.
#[tokio::test(flavor = "multi_thread")]
async fn a_refused_message_is_a_stream_of_one_and_tells_nothing_of_the_task() {
    let (_permits, skill) = teller(3, 3);
    let world = World::new(&[skill, echo()]).await;
    world.open().await;
    let order = submission("t-1", "tell", json!(1));
    all(world.follow(&order, None).await).await;
    let replayed = all(world.follow(&order, None).await).await;
    assert_eq!((replayed.len(), code(&replayed[0].1)), (1, "REPLAY_DETECTED"));
    let other = submission("t-1", "tell", json!("another input"));
    let told = all(world.follow(&other, None).await).await;
    assert_eq!((told.len(), code(&told[0].1)), (1, "MESSAGE_INVALID"));
    // The same id of another sender is another task.
    let stranger = json!({ "type": "TASK_SUBMIT", "task_id": "t-1", "skill": "tell", "input": 1 });
    let told = all(world.follow(&message("ldp:delegate:other", "s-1", stranger), None).await).await;
    assert_eq!((told.len(), code(&told[0].1)), (1, "SESSION_NOT_YOURS"));
    let hello = json!({ "type": "HELLO", "delegate_id": CALLER, "supported_modes": ["text"] });
    let told = all(world.follow(&message(CALLER, "", hello), None).await).await;
    assert_eq!(told[0].1["type"], "CAPABILITY_MANIFEST");
}
