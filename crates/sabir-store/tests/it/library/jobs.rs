//! Jobs: who gets them, how often, and how they end.

use sabir_store::library::{
    Fault, Finished, Found, Freshness, InLine, JobCounts, JobStatus, LibraryError, Put, Queueing,
    Retry, SourceStatus, TakenOver, Whose, Worker,
};

use super::sample::{claim, collection, enqueue, open, page, queued, raw, url, urls};
use crate::sample::home;

fn fault() -> Fault {
    Fault::new("timeout", "no answer in 30 s")
}

/// LC-S8: hundreds are queued in one transaction, and a source has one job at a time.
#[test]
fn many_are_queued_at_once() {
    let home = home();
    let library = open(home.path());
    let id = collection(&library, "c").id;
    let sources = urls(500);
    let enqueued = enqueue(&library, &id, &sources);
    assert_eq!(enqueued.len(), 500);
    let worker = Worker::start(&library).unwrap();
    let job = claim(&worker);
    assert_eq!(&job.id, queued(&enqueued[0]), "first come, first served");
    worker.finish(&job, &page("A", "text"), 30).unwrap();
    let again = enqueue(&library, &id, &sources);
    assert_eq!(again[0].queueing, Queueing::AlreadyCaptured);
    assert_eq!(again[1].queueing, Queueing::AlreadyQueued(queued(&enqueued[1]).clone()));
    let refreshed = library.refresh(&again[1].source_id, "{}", 40).unwrap();
    assert_eq!(refreshed, again[1].queueing);
    let expected = JobCounts { queued: 499, succeeded: 1, ..JobCounts::default() };
    assert_eq!(library.job_counts(Some(&id)).unwrap(), expected);
    let sql = "INSERT INTO capture_jobs (id, source, options_json, status, attempts, max_attempts,
                                         not_before_ms, created_at_ms)
               SELECT 'job_x', source, '{}', 'queued', 0, 3, 0, 0 FROM capture_jobs
               WHERE status = 'queued' LIMIT 1";
    assert!(raw(home.path()).execute(sql, []).unwrap_err().to_string().contains("UNIQUE"));
}

/// LC-S8: no two workers get the same job, and a worker can keep to one collection.
#[test]
fn a_job_is_given_once() {
    let home = home();
    let library = open(home.path());
    let (one, other) = (collection(&library, "one").id, collection(&library, "other").id);
    enqueue(&library, &one, &urls(10));
    enqueue(&library, &other, &urls(3));
    let second = open(home.path());
    let workers = [Worker::start(&library).unwrap(), Worker::start(&second).unwrap()];
    let mut seen = Vec::new();
    for turn in 0.. {
        let Some(job) = workers[turn % 2].claim_next(Some(&one), Whose::Anyones, 20).unwrap()
        else {
            break;
        };
        assert_eq!(job.collection_id, one);
        seen.push(job.id);
    }
    assert_eq!(seen.len(), 10);
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 10);
    assert_eq!(library.job_counts(Some(&other)).unwrap().queued, 3);
    assert_eq!(library.job_counts(None).unwrap().running, 10);
}

/// LC-S9: finishing twice changes nothing and says the same.
#[test]
fn finishing_twice_is_finishing_once() {
    let home = home();
    let library = open(home.path());
    let id = collection(&library, "c").id;
    enqueue(&library, &id, &urls(1));
    let worker = Worker::start(&library).unwrap();
    let job = claim(&worker);
    let first = worker.finish(&job, &page("A", "text"), 30).unwrap();
    assert!(matches!(first, Finished::Kept { found: Found::New, .. }));
    let before = library.source(&job.source_id).unwrap();
    let second = worker.finish(&job, &page("B", "another text"), 40).unwrap();
    assert_eq!(second, first);
    assert_eq!(worker.fail(&job, &fault(), Retry::Never, 50).unwrap(), Put::Lost);
    assert_eq!(library.source(&job.source_id).unwrap(), before);
    assert_eq!(library.versions(&job.source_id, 0, 100).unwrap().len(), 1);
}

/// LC-S9: what was cancelled, removed or given to another keeps nothing.
#[test]
fn a_lost_job_keeps_nothing() {
    let home = home();
    let library = open(home.path());
    let id = collection(&library, "c").id;
    enqueue(&library, &id, &urls(3));
    let worker = Worker::start(&library).unwrap();
    let [cancelled, removed, given] = [claim(&worker), claim(&worker), claim(&worker)];
    assert_eq!(library.cancel_job(&cancelled.id, 30).unwrap(), JobStatus::Cancelled);
    library.remove_source(&removed.source_id, 30).unwrap();
    worker.fail(&given, &fault(), Retry::At(0), 30).unwrap();
    // Somebody who knows no rules gives it away.
    let sql = "UPDATE capture_jobs SET worker = NULL WHERE id = ?1";
    raw(home.path()).execute(sql, [given.id.as_str()]).unwrap();
    let other = Worker::start(&library).unwrap();
    let again = claim(&other);
    assert_eq!((again.id.clone(), again.attempt), (given.id.clone(), 2));
    for job in [&cancelled, &removed, &given] {
        assert_eq!(worker.finish(job, &page("A", "text"), 40).unwrap(), Finished::Lost);
        assert_eq!(worker.fail(job, &fault(), Retry::Never, 40).unwrap(), Put::Lost);
    }
    assert_eq!(library.verify().unwrap().versions, 0);
    assert_eq!(library.source(&cancelled.source_id).unwrap().status, SourceStatus::Pending);
    other.finish(&again, &page("A", "text"), 50).unwrap();
    assert_eq!(library.cancel_job(&again.id, 60).unwrap(), JobStatus::Succeeded);
}

/// LC-S10: a job is tried three times, each time not before its time.
#[test]
fn a_job_is_tried_three_times() {
    let home = home();
    let library = open(home.path());
    let id = collection(&library, "c").id;
    let job_id = queued(&enqueue(&library, &id, &urls(1))[0]).clone();
    let worker = Worker::start(&library).unwrap();
    let mut now = 100;
    for attempt in 1..=3 {
        if attempt > 1 {
            assert_eq!(worker.claim_next(None, Whose::Anyones, now - 1).unwrap(), None);
        }
        let job = worker.claim_next(None, Whose::Anyones, now).unwrap().unwrap();
        assert_eq!((job.attempt, job.max_attempts), (attempt, 3));
        now += 1000;
        let put = worker.fail(&job, &fault(), Retry::At(now), now - 500).unwrap();
        assert_eq!(put, if attempt < 3 { Put::Back } else { Put::Aside });
        let due = worker.in_line().unwrap().next_due_ms;
        assert_eq!(due, (attempt < 3).then_some(now));
    }
    assert_eq!(worker.claim_next(None, Whose::Anyones, u64::MAX).unwrap(), None);
    let state = library.job(&job_id).unwrap();
    assert_eq!((state.status, state.attempts), (JobStatus::Failed, 3));
    assert_eq!(state.fault, Some(fault()));
}

/// LC-S10: what would fail again is not tried again.
#[test]
fn what_would_fail_again_is_put_aside() {
    let home = home();
    let library = open(home.path());
    let id = collection(&library, "c").id;
    enqueue(&library, &id, &urls(1));
    let worker = Worker::start(&library).unwrap();
    assert_eq!(worker.fail(&claim(&worker), &fault(), Retry::Never, 5).unwrap(), Put::Aside);
    assert_eq!(worker.claim_next(None, Whose::Anyones, u64::MAX).unwrap(), None);
}

/// LC-S11: a worker that ends gives back what it had at hand.
#[test]
fn an_ended_worker_frees_its_jobs() {
    let home = home();
    let library = open(home.path());
    let id = collection(&library, "c").id;
    enqueue(&library, &id, &urls(2));
    let (first, second) = (Worker::start(&library).unwrap(), Worker::start(&library).unwrap());
    let [held, other] = [claim(&first), claim(&second)];
    assert_eq!(second.claim_next(None, Whose::Anyones, 30).unwrap(), None, "the first one lives");
    drop(first);
    let again = second.claim_next(None, Whose::Anyones, 30).unwrap().unwrap();
    assert_eq!((again.id, again.attempt), (held.id, 2));
    assert_eq!(library.job(&other.id).unwrap().attempts, 1);
    let locks = std::fs::read_dir(home.path().join("workers")).unwrap().count();
    assert_eq!(locks, 1, "the lock of the first is gone");
}

#[test]
fn all_jobs_of_a_collection_can_be_cancelled() {
    let home = home();
    let library = open(home.path());
    let (one, other) = (collection(&library, "one").id, collection(&library, "other").id);
    enqueue(&library, &one, &urls(5));
    enqueue(&library, &other, &[url("https://x.example")]);
    let worker = Worker::start(&library).unwrap();
    claim(&worker);
    assert_eq!(library.cancel_jobs(&one, 30).unwrap(), 5);
    let counts = library.job_counts(None).unwrap();
    assert_eq!((counts.cancelled, counts.queued), (5, 1));
    let missing = sabir_store::library::CollectionId::parse("col_0").unwrap();
    assert!(matches!(library.cancel_jobs(&missing, 1), Err(LibraryError::NotFound { .. })));
}

/// LC-S28: what a worker queued is taken by no other as long as it lives; who wants the same is told
/// whose it is, and gets it when that one dies.
#[test]
fn a_worker_works_off_its_own_jobs() {
    let home = home();
    let library = open(home.path());
    let id = collection(&library, "c").id;
    let first = Worker::start(&library).unwrap();
    let missing = Freshness::Missing;
    let enqueued = first.enqueue(&id, &urls(3), r#"{"a":1}"#, missing, 10).unwrap();
    let second = Worker::start(&library).unwrap();
    assert_eq!(second.claim_next(None, Whose::Anyones, 20).unwrap(), None);
    assert_eq!(second.take_over(&id, |_| true, 100, 20).unwrap(), TakenOver::default());
    let same = second.enqueue(&id, &urls(3)[..1], r#"{"b":2}"#, missing, 20).unwrap();
    let job_id = queued(&enqueued[0]).clone();
    assert_eq!(same[0].queueing, Queueing::AlreadyQueued(job_id.clone()));
    let state =
        second.follow(std::slice::from_ref(&job_id), r#"{"b":2}"#, 20).unwrap().remove(0).unwrap();
    assert_eq!(state.worker.as_ref(), Some(first.id()));
    // Also after a failure it is the first one's.
    let job = first.claim_next(Some(&id), Whose::Own, 20).unwrap().unwrap();
    first.fail(&job, &fault(), Retry::At(0), 30).unwrap();
    assert_eq!(second.claim_next(None, Whose::Anyones, 30).unwrap(), None);
    drop(first);
    let state =
        second.follow(std::slice::from_ref(&job_id), r#"{"b":2}"#, 20).unwrap().remove(0).unwrap();
    assert_eq!((state.worker.as_ref(), state.options.as_str()), (Some(second.id()), r#"{"b":2}"#));
    let own = second.claim_next(Some(&id), Whose::Own, 40).unwrap().unwrap();
    assert_eq!(own.id, job_id);
    assert_eq!(second.claim_next(Some(&id), Whose::Own, 40).unwrap(), None);
}

/// LC-S28: what others left is taken over by who can do it and when it is due; the rest waits on.
#[test]
fn leftovers_are_for_those_who_can_do_them() {
    let home = home();
    let library = open(home.path());
    let id = collection(&library, "c").id;
    let (missing, all) = (Freshness::Missing, Freshness::Everything);
    let first = Worker::start(&library).unwrap();
    let sources = urls(4);
    first.enqueue(&id, &sources[..2], r#"{"hard":true}"#, missing, 10).unwrap();
    first.enqueue(&id, &sources[2..], "{}", missing, 10).unwrap();
    let late = first.claim_next(None, Whose::Own, 20).unwrap().unwrap();
    first.fail(&late, &fault(), Retry::At(5_000), 20).unwrap();
    drop(first);
    let worker = Worker::start(&library).unwrap();
    let fits = |options: &str| !options.contains("hard");
    let expected = TakenOver { taken: 2, left: 2 };
    assert_eq!(worker.take_over(&id, fits, 1_000, 30).unwrap(), expected);
    assert_eq!(
        worker.take_over(&id, |_| true, 1_000, 30).unwrap(),
        TakenOver { taken: 1, left: 1 }
    );
    let in_line = InLine { queued: 3, running: 0, next_due_ms: Some(0) };
    assert_eq!(worker.in_line().unwrap(), in_line);
    // Who names it has it, in time; who wants it fresh has it now.
    worker.enqueue(&id, &sources[..1], "{}", missing, 30).unwrap();
    assert_eq!(library.job(&late.id).unwrap().not_before_ms, 5_000);
    worker.enqueue(&id, &sources[..1], "{}", all, 30).unwrap();
    assert_eq!(library.job(&late.id).unwrap().not_before_ms, 0);
}
