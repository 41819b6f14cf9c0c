//! Sources into a collection: queued together, fetched a few at a time, each on disk before it is
//! told. Who is interrupted, by a person or by a crash, runs the same command again and goes on.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use reqwest::Url;
use sabir_capture::{Conditional, Mode, ReadOptions, Signal};
use sabir_llmcp::{normalise_url, redact_url};
use sabir_store::library::{
    Captured, CollectionId, Enqueued, Fault, Finished, Found, Job, NewSource, Outcome, Put,
    Queueing, Retry, SourceId, SourceKind, SourceLink, VersionId, Worker,
};
use serde::{Deserialize, Serialize};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::input::{Again, Input, InputError, Reading};
use super::moment::now_ms;
use super::{Desk, DeskError};

/// How sources are fetched.
#[derive(Debug, Clone, Copy)]
pub struct CaptureOptions {
    pub mode: Mode,
    pub max_chars: usize,
    /// Fetch again what is there already.
    pub refresh: bool,
    /// How many at a time.
    pub parallel: usize,
}

impl Default for CaptureOptions {
    fn default() -> Self {
        let ReadOptions { mode, max_chars, .. } = ReadOptions::default();
        Self { mode, max_chars, refresh: false, parallel: PARALLEL }
    }
}

/// What happened to one source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CaptureNews {
    /// So many are to be fetched, those included that an earlier run left.
    Waiting {
        sources: usize,
    },
    Kept(Kept),
    /// It is in the collection already.
    Present {
        source_id: SourceId,
        address: String,
    },
    Failed {
        source_id: SourceId,
        address: String,
        fault: Fault,
        will_retry: bool,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    pub source_id: SourceId,
    pub version: VersionId,
    pub address: String,
    pub title: String,
    pub chars: usize,
    pub signals: Vec<String>,
    pub is_new: bool,
}

/// How a capture ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CaptureReport {
    pub kept: usize,
    pub present: usize,
    pub failed: usize,
    /// Still waiting: somebody said stop.
    pub left: usize,
}

/// What is kept of the options with a job, so that whoever takes it over fetches in the same way.
#[derive(Debug, Serialize, Deserialize)]
struct Wanted {
    mode: String,
    max_chars: usize,
}

impl Desk {
    /// Fetches everything into the collection. Each source is told of when it is on disk.
    pub async fn capture(
        &self,
        collection: &CollectionId,
        inputs: &[Input],
        options: CaptureOptions,
        news: &mpsc::Sender<CaptureNews>,
        stop: &CancellationToken,
    ) -> Result<CaptureReport, DeskError> {
        let mut report = CaptureReport::default();
        let enqueued = self.enqueue(collection, inputs, options).await?;
        let redacted = redacted_addresses(inputs.iter().zip(enqueued.iter().map(|(it, _)| it)));
        for (address, Enqueued { source_id, queueing }) in enqueued {
            if let Queueing::AlreadyCaptured = queueing {
                report.present += 1;
                tell(news, CaptureNews::Present { source_id, address }).await;
            }
        }
        self.work_off(collection, options.parallel, redacted, news, stop, &mut report).await?;
        Ok(report)
    }

    /// Puts a note into the collection.
    pub async fn add_note(
        &self,
        collection: &CollectionId,
        title: Option<String>,
        markdown: String,
    ) -> Result<SourceId, DeskError> {
        let collection = collection.clone();
        let added = self.with_library(move |library| {
            library.add_note(&collection, title.as_deref(), &markdown, now_ms())
        });
        Ok(added.await?.id)
    }

    async fn enqueue(
        &self,
        collection: &CollectionId,
        inputs: &[Input],
        options: CaptureOptions,
    ) -> Result<Vec<(String, Enqueued)>, DeskError> {
        let sources = inputs.iter().map(source_of).collect::<Result<Vec<_>, _>>()?;
        let wanted = options.wanted()?;
        let collection = collection.clone();
        self.with_library(move |library| {
            let now = now_ms();
            let mut enqueued = library.enqueue(&collection, &sources, &wanted, now)?;
            if options.refresh {
                for Enqueued { source_id, queueing } in &mut enqueued {
                    if let Queueing::AlreadyCaptured = queueing {
                        *queueing = library.refresh(source_id, &wanted, now)?;
                    }
                }
            }
            let addresses = sources.into_iter().map(|source| source.address);
            Ok(addresses.zip(enqueued).collect())
        })
        .await
    }

    /// Fetches what waits, until nothing does.
    async fn work_off(
        &self,
        collection: &CollectionId,
        parallel: usize,
        redacted: HashSet<String>,
        news: &mpsc::Sender<CaptureNews>,
        stop: &CancellationToken,
        report: &mut CaptureReport,
    ) -> Result<(), DeskError> {
        let worker = self.with_library(Worker::start).await.map(Arc::new)?;
        let waiting = self.left(collection).await?;
        tell(news, CaptureNews::Waiting { sources: waiting }).await;
        let (hosts, redacted) = (Hosts::default(), Arc::new(redacted));
        let mut fetching = JoinSet::new();
        loop {
            while fetching.len() < parallel.clamp(1, MOST_PARALLEL) && !stop.is_cancelled() {
                let Some(job) = self.claim(&worker, collection).await? else { break };
                let (desk, worker, stop) = (self.clone(), Arc::clone(&worker), stop.clone());
                let (turn, redacted) = (hosts.of(&job), Arc::clone(&redacted));
                fetching.spawn(async move {
                    let _turn = turn.acquire().await;
                    tokio::select! {
                        () = stop.cancelled() => Ok(None),
                        done = desk.fetch(&worker, job, &redacted) => done.map(Some),
                    }
                });
            }
            let Some(done) = fetching.join_next().await else {
                if stop.is_cancelled() || !self.wait_for_due(collection, stop).await? {
                    break;
                }
                continue;
            };
            let done = done.map_err(|error| DeskError::refused(error.to_string()))??;
            let Some(done) = done else { continue };
            match &done {
                CaptureNews::Kept(_) => report.kept += 1,
                CaptureNews::Failed { will_retry: false, .. } => report.failed += 1,
                _ => {}
            }
            tell(news, done).await;
        }
        // Dropping the worker gives back what it held.
        drop(worker);
        report.left = self.left(collection).await?;
        Ok(())
    }

    async fn claim(
        &self,
        worker: &Arc<Worker>,
        collection: &CollectionId,
    ) -> Result<Option<Job>, DeskError> {
        let (worker, collection) = (Arc::clone(worker), collection.clone());
        self.with_library(move |_| worker.claim_next(Some(&collection), now_ms())).await
    }

    async fn left(&self, collection: &CollectionId) -> Result<usize, DeskError> {
        let collection = collection.clone();
        let counts =
            self.with_library(move |library| library.job_counts(Some(&collection))).await?;
        Ok(usize::try_from(counts.queued + counts.running).unwrap_or(usize::MAX))
    }

    /// Waits until the next attempt is due; says no when there is none to wait for.
    async fn wait_for_due(
        &self,
        collection: &CollectionId,
        stop: &CancellationToken,
    ) -> Result<bool, DeskError> {
        let collection = collection.clone();
        let due = self.with_library(move |library| library.next_due_ms(Some(&collection))).await?;
        let Some(due) = due else { return Ok(false) };
        let wait = Duration::from_millis(due.saturating_sub(now_ms()).min(LONGEST_SLEEP_MS));
        tokio::select! {
            () = stop.cancelled() => Ok(false),
            () = tokio::time::sleep(wait) => Ok(true),
        }
    }

    /// Fetches one source and keeps it. It is told whether its address is one of the `redacted`.
    async fn fetch(
        &self,
        worker: &Arc<Worker>,
        job: Job,
        redacted: &HashSet<String>,
    ) -> Result<CaptureNews, DeskError> {
        let address = job.origin.address.clone().unwrap_or_default();
        let source_id = job.source_id.clone();
        let read = self.read_job(&job, &address).await;
        let worker = Arc::clone(worker);
        match read {
            Ok(mut again) => {
                if let Again::Read(reading) = &mut again
                    && redacted.contains(&address)
                {
                    note_redacted(&mut reading.page.signals);
                }
                let (outcome, kept) = outcome_of(again);
                let finished =
                    self.with_library(move |_| worker.finish(&job, &outcome, now_ms())).await?;
                Ok(match finished {
                    Finished::Kept { version, found } => CaptureNews::Kept(Kept {
                        source_id,
                        version,
                        address,
                        title: kept.title,
                        chars: kept.chars,
                        signals: kept.signals,
                        is_new: found == Found::New,
                    }),
                    Finished::Lost => lost(source_id, address),
                })
            }
            Err(error) => {
                let now = now_ms();
                let retry = match error.retry_after(job.attempt) {
                    Some(wait) => Retry::At(now + u64::try_from(wait.as_millis()).unwrap_or(0)),
                    None => Retry::Never,
                };
                let fault = Fault::new(error.code(), error.to_string());
                let put = {
                    let fault = fault.clone();
                    self.with_library(move |_| worker.fail(&job, &fault, retry, now)).await?
                };
                Ok(match put {
                    Put::Back => {
                        CaptureNews::Failed { source_id, address, fault, will_retry: true }
                    }
                    Put::Aside => {
                        CaptureNews::Failed { source_id, address, fault, will_retry: false }
                    }
                    Put::Lost => lost(source_id, address),
                })
            }
        }
    }

    async fn read_job(&self, job: &Job, address: &str) -> Result<Again, InputError> {
        let options = read_options(&job.options);
        match job.origin.kind {
            SourceKind::Url => {
                let url = Url::parse(address).map_err(|error| InputError::Address {
                    text: address.to_owned(),
                    reason: error.to_string(),
                })?;
                let known = Conditional {
                    etag: job.etag.clone(),
                    last_modified: job.last_modified.clone(),
                };
                self.reader().read_again(&url, &known, &options).await
            }
            SourceKind::File | SourceKind::Note => {
                let input = Input::File(address.into());
                let reading = self.reader().read(&input, &options).await?;
                Ok(Again::Read(Box::new(reading)))
            }
        }
    }
}

impl CaptureOptions {
    fn wanted(self) -> Result<String, DeskError> {
        let mode = match self.mode {
            Mode::Auto => "auto",
            Mode::Article => "article",
            Mode::List => "list",
        };
        let wanted = Wanted { mode: mode.to_owned(), max_chars: self.max_chars };
        serde_json::to_string(&wanted).map_err(|error| DeskError::refused(error.to_string()))
    }
}

/// As the job says; what an older program wrote is read as far as it is understood.
fn read_options(stored: &str) -> ReadOptions {
    let usual = ReadOptions::default();
    let Ok(Wanted { mode, max_chars }) = serde_json::from_str(stored) else { return usual };
    let mode = match mode.as_str() {
        "article" => Mode::Article,
        "list" => Mode::List,
        _ => Mode::Auto,
    };
    ReadOptions { mode, max_chars, ..usual }
}

fn source_of(input: &Input) -> Result<NewSource, DeskError> {
    match input {
        Input::Web(url) => {
            let refused = || {
                DeskError::Input(InputError::Address {
                    text: url.to_string(),
                    reason: "only http and https can be fetched".to_owned(),
                })
            };
            // What looks like a credential is neither kept nor sent.
            let address = redact_url(url.as_str()).ok_or_else(refused)?.url;
            let normalized = normalise_url(url.as_str()).ok_or_else(refused)?;
            Ok(NewSource { kind: SourceKind::Url, address, normalized, title: None })
        }
        Input::File(path) => {
            let text = path.to_str().ok_or_else(|| {
                DeskError::refused(format!("the name of {} is not UTF-8", path.display()))
            })?;
            Ok(NewSource {
                kind: SourceKind::File,
                address: text.to_owned(),
                normalized: text.to_owned(),
                title: None,
            })
        }
        Input::Bytes(_) => Err(DeskError::refused("standard input cannot be fetched again later")),
    }
}

/// The addresses of those inputs that lost something on the way into the queue.
fn redacted_addresses<'a>(
    inputs: impl Iterator<Item = (&'a Input, &'a String)>,
) -> HashSet<String> {
    let lost_something = |input: &Input| match input {
        Input::Web(url) => redact_url(url.as_str()).is_some_and(|it| it.changed),
        Input::File(_) | Input::Bytes(_) => false,
    };
    let redacted = inputs.filter(|&(input, _)| lost_something(input));
    redacted.map(|(_, address)| address.clone()).collect()
}

/// Says among the signals of a page that its address was longer.
pub(super) fn note_redacted(signals: &mut Vec<Signal>) {
    if !signals.contains(&Signal::UrlRedacted) {
        signals.push(Signal::UrlRedacted);
    }
}

/// What is told of a source that was kept.
#[derive(Default)]
struct Summary {
    title: String,
    chars: usize,
    signals: Vec<String>,
}

fn outcome_of(again: Again) -> (Outcome, Summary) {
    let Again::Read(reading) = again else { return (Outcome::NotModified, Summary::default()) };
    let Reading { mut page, media_type, final_url, etag, last_modified } = *reading;
    let final_address = final_url.and_then(|url| redact_url(url.as_str()));
    if final_address.as_ref().is_some_and(|it| it.changed) {
        note_redacted(&mut page.signals);
    }
    let signals: Vec<String> = page.signals.iter().map(|it| it.as_str().to_owned()).collect();
    let link = |link: sabir_capture::Link| SourceLink {
        url: redact_url(&link.url).map_or_else(String::new, |it| it.url),
        text: link.text,
        context: link.context,
    };
    let title = page.title.unwrap_or_default();
    let summary = Summary {
        title: title.clone(),
        chars: page.markdown.chars().count(),
        signals: signals.clone(),
    };
    let captured = Captured {
        title,
        byline: page.byline,
        media_type,
        final_address: final_address.map(|it| it.url),
        markdown: page.markdown,
        links: page.links.into_iter().map(link).filter(|link| !link.url.is_empty()).collect(),
        signals,
        etag,
        last_modified,
    };
    (Outcome::Captured(Box::new(captured)), summary)
}

fn lost(source_id: SourceId, address: String) -> CaptureNews {
    let fault = Fault::new("lost", "it was removed or cancelled while it was fetched");
    CaptureNews::Failed { source_id, address, fault, will_retry: false }
}

async fn tell(news: &mpsc::Sender<CaptureNews>, what: CaptureNews) {
    // Whoever does not listen any more is not told.
    let _ = news.send(what).await;
}

/// A few at a time for each server, so that none is flooded.
#[derive(Default)]
struct Hosts(std::sync::Mutex<HashMap<String, Arc<Semaphore>>>);

impl Hosts {
    fn of(&self, job: &Job) -> Arc<Semaphore> {
        let address = job.origin.address.as_deref().unwrap_or_default();
        let host = Url::parse(address).ok().and_then(|url| Some(url.host_str()?.to_owned()));
        let mut hosts = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let turn = hosts
            .entry(host.unwrap_or_default())
            .or_insert_with(|| Arc::new(Semaphore::new(PER_HOST)));
        Arc::clone(turn)
    }
}

const PARALLEL: usize = 6;
const MOST_PARALLEL: usize = 32;
/// As browsers of old did; servers are used to it.
const PER_HOST: usize = 4;
/// Another process may put something into the queue meanwhile.
const LONGEST_SLEEP_MS: u64 = 5_000;

#[cfg(test)]
mod tests {
    use sabir_capture::read_page;

    use super::*;

    /// LC-C18: what lets somebody in is neither sent nor kept, and it is told that something went.
    #[test]
    fn an_address_goes_into_the_queue_without_what_lets_somebody_in() {
        for (given, kept) in [
            ("https://a.example/p?b=2", "https://a.example/p?b=2"),
            ("https://a.example/p?b=2&access_token=x", "https://a.example/p?b=2"),
            ("https://user:word@a.example/p", "https://a.example/p"),
            ("https://a.example/p?utm_source=mail#top", "https://a.example/p"),
        ] {
            let input = Input::Web(Url::parse(given).unwrap());
            let source = source_of(&input).unwrap();
            assert_eq!(source.address, kept);
            let redacted = redacted_addresses(std::iter::once((&input, &source.address)));
            assert_eq!(redacted.contains(kept), given != kept, "{given}");
        }
    }

    /// LC-C18: also where the server led.
    #[test]
    fn what_a_server_adds_to_an_address_is_not_kept() {
        for (led_to, kept, is_told) in [
            ("https://a.example/p", "https://a.example/p", false),
            ("https://a.example/p?session=abc", "https://a.example/p", true),
        ] {
            let url = Url::parse(led_to).unwrap();
            let page = read_page("<p>Words of a page.</p>", &url, &ReadOptions::default());
            let reading = Reading {
                page,
                media_type: "text/html".to_owned(),
                final_url: Some(url),
                etag: None,
                last_modified: None,
            };
            let (outcome, summary) = outcome_of(Again::Read(Box::new(reading)));
            let Outcome::Captured(captured) = outcome else { panic!("nothing was captured") };
            assert_eq!(captured.final_address.as_deref(), Some(kept));
            assert_eq!(captured.signals.contains(&"url_redacted".to_owned()), is_told);
            assert_eq!(captured.signals, summary.signals);
        }
    }
}
