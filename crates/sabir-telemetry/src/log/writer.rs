//! The thread that writes lines. What it has no room for is left out and counted.

use std::io::Write;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::time::Duration;

use crate::metrics::metrics;

/// Lines that may wait to be written.
const WAITING: usize = 4096;

enum Job {
    Line(String),
    Flush(SyncSender<()>),
}

/// Where lines go. Clones share one thread.
#[derive(Debug, Clone)]
pub(super) struct Sink(SyncSender<Job>);

/// Waits for lines that are on their way.
#[derive(Debug)]
pub struct LogGuard(SyncSender<Job>);

pub(super) fn to(out: Box<dyn Write + Send>) -> (Sink, LogGuard) {
    let (sender, jobs) = sync_channel(WAITING);
    // Without a thread there are no lines, and all else goes on.
    let _ = std::thread::Builder::new().name("sabir-log".to_owned()).spawn(|| run(out, jobs));
    (Sink(sender.clone()), LogGuard(sender))
}

fn run(mut out: Box<dyn Write + Send>, jobs: Receiver<Job>) {
    while let Ok(job) = jobs.recv() {
        match job {
            // Who reads is gone: nothing can be said about that here.
            Job::Line(line) => drop(out.write_all(line.as_bytes())),
            Job::Flush(done) => {
                let _ = out.flush();
                let _ = done.send(());
            }
        }
    }
}

impl Sink {
    /// Never waits.
    pub(super) fn write(&self, line: String) {
        if let Err(TrySendError::Full(_)) = self.0.try_send(Job::Line(line)) {
            metrics().log_lines_dropped.add(1);
        }
    }
}

impl LogGuard {
    /// Comes back when what was said before is written, or after `limit`.
    pub fn flush(&self, limit: Duration) {
        let (done, is_done) = sync_channel(1);
        if self.0.try_send(Job::Flush(done)).is_ok() {
            let _ = is_done.recv_timeout(limit);
        }
    }
}

impl std::fmt::Debug for Job {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Line(_) => "Line",
            Self::Flush(_) => "Flush",
        })
    }
}
