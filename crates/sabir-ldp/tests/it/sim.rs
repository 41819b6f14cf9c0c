//! Two peers and a bad network in simulated time.

mod client;
mod network;
mod world;

pub(crate) use client::Client;

use world::{Weather, World};

/// LD-M38, LD-M42: with a good network every task is done, and reported once.
#[test]
fn on_a_good_day_everything_is_done() {
    for seed in 0..20 {
        let mut world = World::new(seed, Weather::GOOD);
        world.run();
        let (done, failed) = world.reported();
        assert_eq!((done, failed), (world.submitted(), 0), "seed {seed}");
    }
}

/// LD-M38, LD-M40, LD-M41, LD-M42: loss, delay, duplication and reordering.
#[test]
fn on_a_bad_day_nothing_is_lost_or_done_twice() {
    let (mut all, mut finished) = (0, 0);
    for seed in 100..160 {
        let mut world = World::new(seed, Weather::BAD);
        world.run();
        let (done, failed) = world.reported();
        assert_eq!(done + failed, world.submitted(), "seed {seed}");
        world.assert_failures(&["TRANSPORT_FAILED"]);
        all += world.submitted();
        finished += done;
    }
    // Retries are worth something: without them about half would be lost.
    assert!(finished * 100 >= all * 95, "{finished} of {all}");
}

/// LD-M5, LD-M40: the node dies again and again.
#[test]
fn a_node_that_dies_runs_nothing_twice_and_says_so() {
    let (mut all, mut finished) = (0, 0);
    for seed in 200..240 {
        let mut world = World::new(seed, Weather { restarts: 4, ..Weather::BAD });
        world.run();
        let (done, failed) = world.reported();
        assert_eq!(done + failed, world.submitted(), "seed {seed}");
        world.assert_failures(&["INTERRUPTED", "TRANSPORT_FAILED"]);
        all += world.submitted();
        finished += done;
    }
    // A task runs for ten seconds, and the node lives for twelve.
    assert!(finished * 100 >= all * 45, "{finished} of {all}");
}

/// LD-M44, LD-M22
#[test]
fn sessions_that_rest_go_on() {
    for seed in 300..330 {
        let mut world = World::new(seed, Weather { rests: 2, cancels: 3, ..Weather::BAD });
        world.run();
        let (done, failed) = world.reported();
        assert_eq!(done + failed, world.submitted(), "seed {seed}");
        world.assert_failures(&["CANCELLED", "TRANSPORT_FAILED"]);
    }
}
