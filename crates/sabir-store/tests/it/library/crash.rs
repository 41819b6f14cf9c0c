//! Several processes at once, and the death of some.

use std::collections::BTreeMap;

use proptest::test_runner::{RngAlgorithm, TestRng};
use sabir_store::library::{JobCounts, JobStatus, Library, SourceStatus, Whose, Worker};

use super::child::text_of;
use super::sample::{collection, enqueue, open, queued, urls};
use crate::child::Child;
use crate::sample::home;

/// LC-S2, LC-S11: of a hundred captures, kill -9 loses none that was acknowledged and repeats none.
#[test]
fn kill_9_loses_no_captured_page_and_repeats_none() {
    // Different points every time would make a failure impossible to see again.
    let mut random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let home = home();
    let library = open(home.path());
    let id = collection(&library, "c").id;
    enqueue(&library, &id, &urls(100));
    let mut done: BTreeMap<String, String> = BTreeMap::new();
    let mut kills = 0;
    loop {
        let mut child = Child::start("library capture", home.path());
        let mut lines = Vec::new();
        // At least one, so that no page is unlucky three times.
        for _ in 0..=random_below(&mut random, 9) {
            lines.push(child.line().unwrap());
            if lines.last().is_some_and(|line| line == "end") {
                break;
            }
        }
        for _ in 0..random_below(&mut random, 200_000) {
            std::hint::spin_loop();
        }
        lines.extend(child.kill());
        kills += 1;
        let ended = lines.iter().any(|line| line == "end");
        for line in lines {
            let mut words = line.split(' ').skip(1).map(str::to_owned);
            let Some((address, version)) = words.next().zip(words.next()) else { continue };
            let before = done.insert(address, version);
            assert_eq!(before, None, "captured twice");
        }
        library.verify().unwrap();
        for (address, version) in &done {
            let source = library.source_by_address(&id, address).unwrap().unwrap();
            assert_eq!(source.current_version.map(|id| id.to_string()).as_ref(), Some(version));
        }
        if ended {
            break;
        }
    }
    assert!(kills > 5, "the child was hardly ever killed");
    check_all_captured_once(&library, 100);
}

/// LC-S2, LC-S8: three processes share a queue; each job is run once and no row is lost.
#[test]
fn several_processes_share_a_queue() {
    let home = home();
    let library = open(home.path());
    let id = collection(&library, "c").id;
    enqueue(&library, &id, &urls(150));
    let mut children: Vec<_> =
        (0..3).map(|_| Child::start("library capture", home.path())).collect();
    let mut done = Vec::new();
    for child in &mut children {
        loop {
            match child.line().unwrap() {
                line if line == "end" => break,
                line => done.push(line),
            }
        }
    }
    assert_eq!(done.len(), 150);
    done.sort();
    done.dedup();
    assert_eq!(done.len(), 150);
    check_all_captured_once(&library, 150);
}

fn check_all_captured_once(library: &Library, count: u64) {
    let id = library.find_collection("c").unwrap().id;
    let verified = library.verify().unwrap();
    assert_eq!((verified.sources, verified.versions), (count, count));
    let expected = JobCounts { succeeded: count, ..JobCounts::default() };
    assert_eq!(library.job_counts(Some(&id)).unwrap(), expected);
    for source in library.sources(&id, 0, 1000).unwrap() {
        assert_eq!(source.status, SourceStatus::Captured);
        let text = library.current_text(&source.id).unwrap().unwrap();
        assert_eq!(text.markdown, text_of(&source.origin.address.unwrap()));
    }
}

/// LC-S2: processes that make the library at the same moment make one, and write it side by side.
#[test]
fn several_processes_make_and_write_one_library() {
    let home = home();
    let mut children: Vec<_> = (0..4).map(|_| Child::start("library write", home.path())).collect();
    for child in &mut children {
        child.wait_for("end");
    }
    let library = open(home.path());
    assert_eq!(library.verify().unwrap().audit.seq, 200);
    let collections = library.collections(0, 10).unwrap();
    let [shared] = collections.as_slice() else { panic!("{collections:?}") };
    let turns: Vec<u64> = library
        .recent_chat(&shared.id, None, 1000)
        .unwrap()
        .iter()
        .map(|event| event.turn)
        .collect();
    assert_eq!(turns, (1..=200).collect::<Vec<_>>());
}

/// LC-S11: the jobs of a killed process are free at once, whatever the time; those of a living one
/// are not, however long it takes.
#[test]
fn a_killed_worker_frees_its_jobs_at_once() {
    let home = home();
    let library = open(home.path());
    let id = collection(&library, "c").id;
    let job_id = queued(&enqueue(&library, &id, &urls(1))[0]).clone();
    let mut child = Child::start("library hold", home.path());
    child.wait_for(&format!("held {job_id}"));
    let worker = Worker::start(&library).unwrap();
    assert_eq!(
        worker.claim_next(None, Whose::Anyones, u64::MAX).unwrap(),
        None,
        "a living worker was robbed"
    );
    child.kill();
    let job = worker.claim_next(None, Whose::Anyones, 0).unwrap().unwrap();
    assert_eq!((job.id, job.attempt), (job_id, 2));
}

/// LC-S11: what kills whoever fetches it is not fetched for ever.
#[test]
fn a_deadly_page_is_put_aside() {
    let home = home();
    let library = open(home.path());
    let id = collection(&library, "c").id;
    let enqueued = enqueue(&library, &id, &urls(1)).remove(0);
    for _ in 0..3 {
        let mut child = Child::start("library hold", home.path());
        child.wait_for(&format!("held {}", queued(&enqueued)));
        child.kill();
    }
    let worker = Worker::start(&library).unwrap();
    let locks = std::fs::read_dir(home.path().join("workers")).unwrap().count();
    assert_eq!(locks, 1, "those of the dead are swept");
    assert_eq!(worker.claim_next(None, Whose::Anyones, u64::MAX).unwrap(), None);
    let state = library.job(queued(&enqueued)).unwrap();
    assert_eq!((state.status, state.attempts), (JobStatus::Failed, 3));
    let source = library.source(&enqueued.source_id).unwrap();
    assert_eq!(
        (source.status, source.fault.unwrap().code.as_str()),
        (SourceStatus::Failed, "worker_died")
    );
}

fn random_below(random: &mut TestRng, bound: u32) -> u32 {
    use proptest::prelude::Rng as _;
    random.next_u32() % bound
}
