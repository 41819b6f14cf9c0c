//! One round of load: everybody begins at once, and whoever fails ends it.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Context as _;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval};

use super::Plan;
use super::child::{NodeChild, Probe, Sample};
use super::person::Person;
use super::talk::{events_of, keep_talking};
use super::viewer::{Manner, Seen, Viewer};
use super::work::{Done, place_orders, send_tasks};

/// Who takes part.
pub(super) struct Stage<'s> {
    pub(super) plan: &'s Plan,
    pub(super) node: &'s NodeChild,
    pub(super) address: SocketAddr,
    pub(super) people: &'s [Person],
    pub(super) conversation: &'s str,
}

/// What came of a round.
pub(super) struct Round {
    /// From the first to the last.
    pub(super) took: Duration,
    pub(super) last_row: u64,
    pub(super) seen: Vec<Seen>,
    pub(super) orders: Done,
    pub(super) tasks: Done,
    pub(super) samples: Vec<Sample>,
}

/// What one of them came to.
enum Came {
    Talked(u64),
    Watched(Box<Seen>),
    Ordered(Done),
    Sent(Done),
    Sampled(Vec<Sample>),
}

impl Stage<'_> {
    /// `number` tells rounds apart, `after` is the last row of the one before.
    pub(super) async fn play(
        &self,
        number: usize,
        length: Duration,
        after: Option<u64>,
    ) -> anyhow::Result<Round> {
        let start = Instant::now();
        let until = start + length;
        let (goal, ending) = watch::channel(None);
        let mut all = JoinSet::new();
        for viewer in 0..self.plan.viewers {
            let viewer = Viewer {
                number: viewer,
                manner: Manner::of(viewer),
                absence: self.plan.absence,
                address: self.address,
                path: events_of(self.conversation),
                cookie: self.person(viewer).cookie,
                goal: ending.clone(),
            };
            all.spawn(async {
                Box::pin(viewer.watch()).await.map(|seen| Came::Watched(Box::new(seen)))
            });
        }
        for worker in 0..self.plan.orders {
            let placing = place_orders(self.person(worker), (number, worker), until);
            all.spawn(async { placing.await.map(Came::Ordered) });
        }
        for caller in 0..self.plan.tasks {
            let (url, node) = (self.node.url.clone(), self.node.delegate_id.clone());
            let sending = send_tasks(url, node, (number, caller), until);
            all.spawn(async { sending.await.map(Came::Sent) });
        }
        let conversation = self.conversation.to_owned();
        let talking = keep_talking(self.person(0), self.address, conversation, after, until);
        all.spawn(async { Box::pin(talking).await.map(Came::Talked) });
        let sampling = sample(self.node.probe(), self.plan.between_samples, until);
        all.spawn(async { sampling.await.map(Came::Sampled) });
        let mut round = Round {
            took: Duration::ZERO,
            last_row: 0,
            seen: Vec::new(),
            orders: Vec::new(),
            tasks: Vec::new(),
            samples: Vec::new(),
        };
        while let Some(came) = all.join_next().await {
            match came.context("somebody panicked")?? {
                Came::Talked(last) => {
                    round.last_row = last;
                    goal.send_replace(Some(last));
                }
                Came::Watched(seen) => round.seen.push(*seen),
                Came::Ordered(done) => round.orders.extend(done),
                Came::Sent(done) => round.tasks.extend(done),
                Came::Sampled(samples) => round.samples = samples,
            }
        }
        round.took = start.elapsed();
        round.orders.sort_unstable();
        round.tasks.sort_unstable();
        Ok(round)
    }

    fn person(&self, number: usize) -> Person {
        self.people[number % self.people.len()].clone()
    }
}

/// Looks at the node again and again.
async fn sample(probe: Probe, between: Duration, until: Instant) -> anyhow::Result<Vec<Sample>> {
    let mut samples = Vec::new();
    let mut moments = interval(between);
    moments.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while Instant::now() < until {
        moments.tick().await;
        samples.push(probe.sample()?);
    }
    Ok(samples)
}
