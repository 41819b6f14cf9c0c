//! Sources into a collection: queued together, fetched a few at a time, each on disk before it is
//! told. Who is interrupted, by a person or by a crash, runs the same command again and goes on. Of
//! what another process fetches at the same time, the outcome is waited for and told.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use reqwest::Url;
use sabir_capture::{Conditional, Mode, ReadOptions, Signal};
use sabir_llmcp::redact_url;
use sabir_store::library::{
    Captured, CollectionId, Enqueued, Fault, Finished, Found, Freshness, Job, JobId, JobState,
    JobStatus, Library, LibraryError, MAX_ADDRESS, Outcome, Put, Queueing, Retry, SourceId,
    SourceKind, SourceLink, VersionId, Whose, Worker,
};
use sabir_telemetry::{current, metrics, topic, within};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::difference::{Change, count_changes};
use super::input::{Again, Input, InputError, Reading};
use super::moment::now_ms;
use super::order::{Order, source_of};
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
    /// Fetch what earlier commands left in the collection, too.
    pub leftovers: bool,
}

impl Default for CaptureOptions {
    fn default() -> Self {
        let ReadOptions { mode, max_chars, .. } = ReadOptions::default();
        Self { mode, max_chars, refresh: false, parallel: PARALLEL, leftovers: false }
    }
}

/// What happened to one source. Addresses are as they may be shown.
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
    /// It was named before, perhaps in other words.
    Same {
        source_id: SourceId,
        address: String,
    },
    Failed {
        source_id: SourceId,
        address: String,
        fault: Fault,
        /// When it is tried again, if it is.
        again_at_ms: Option<u64>,
    },
    /// The server wants to be left alone for longer than anybody waits.
    Waits {
        source_id: SourceId,
        address: String,
        until_ms: u64,
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
    /// Against the version before, where there was one and it said something else.
    pub change: Option<Change>,
}

/// How a capture ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CaptureReport {
    pub kept: usize,
    /// Looked at again, and as before.
    pub unchanged: usize,
    pub present: usize,
    /// Named twice.
    pub same: usize,
    pub failed: usize,
    /// Not to be asked before the time that the server named, the first of which is this.
    pub waiting: usize,
    pub waiting_until_ms: Option<u64>,
    /// Still to do: somebody said stop.
    pub left: usize,
    /// Of earlier commands, which this one may not do, or not yet.
    pub of_others: usize,
    /// Addresses that are kept whole and shown in part.
    pub hidden: usize,
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
        let worker = self.with_library(Worker::start).await.map(Arc::new)?;
        let order = Arc::new(Order::new(options, self.allow_egress()));
        let mut run = Run {
            desk: self,
            wanted: order.write()?,
            order,
            worker,
            news,
            stop,
            report: CaptureReport::default(),
            own: HashMap::new(),
            others: Vec::new(),
        };
        run.enqueue(collection, inputs, options).await?;
        let taken = match options.leftovers {
            true => run.take_over(collection).await?,
            false => 0,
        };
        let sources = run.own.len() + run.others.len() + taken;
        run.tell(CaptureNews::Waiting { sources }).await;
        run.work_off(collection, options.parallel).await?;
        run.end().await
    }

    /// Puts a note into the collection, and says what it is called.
    pub async fn add_note(
        &self,
        collection: &CollectionId,
        title: Option<String>,
        markdown: String,
    ) -> Result<Note, DeskError> {
        let collection = collection.clone();
        let added = self
            .with_library(move |library| {
                library.add_note(&collection, title.as_deref(), &markdown, now_ms())
            })
            .await?;
        Ok(Note { id: added.id, title: added.title })
    }

    /// Fetches one source and keeps it, and those who run the node see that.
    async fn fetch(&self, worker: &Arc<Worker>, job: Job) -> Result<CaptureNews, DeskError> {
        let began = tokio::time::Instant::now();
        let host = host_of(&job);
        let told = self.fetch_quietly(worker, job).await;
        let duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let (outcome, code) = match &told {
            Ok(CaptureNews::Kept(kept)) if !kept.is_new => ("unchanged", "ok"),
            Ok(CaptureNews::Failed { fault, .. }) => ("failed", fault.code.as_str()),
            Ok(CaptureNews::Waits { .. }) => ("failed", "waits"),
            Ok(_) => ("captured", "ok"),
            Err(_) => ("failed", "store"),
        };
        metrics().captures.add(outcome, 1);
        tracing::info!(target: topic::CAPTURE, host, outcome, code, duration_ms, "fetched");
        told
    }

    async fn fetch_quietly(
        &self,
        worker: &Arc<Worker>,
        job: Job,
    ) -> Result<CaptureNews, DeskError> {
        let address = job.origin.address.clone().unwrap_or_default();
        let source_id = job.source_id.clone();
        let worker = Arc::clone(worker);
        let again = match self.read_job(&job).await {
            Ok(again) => again,
            Err(error) => {
                let retry = error.retry_after(job.attempt);
                let fault = Fault::new(error.code(), error.to_string());
                return self.give_up(worker, job, fault, retry).await;
            }
        };
        if is_empty(&again) {
            let words = match job.current {
                Some(_) => "the page is empty now; the version before it is kept",
                None => "the page is empty",
            };
            return self.give_up(worker, job, Fault::new("empty", words), None).await;
        }
        let outcome = outcome_of(again, is_redacted(&job));
        let (finishing, finisher) = (job.clone(), Arc::clone(&worker));
        let finished = self
            .with_library(move |library| {
                let finished = finisher.finish(&finishing, &outcome, now_ms())?;
                let Finished::Kept { version, found } = finished else { return Ok(None) };
                let before = finishing.current.as_ref();
                kept(library, &finishing.source_id, version, found, before).map(Some)
            })
            .await;
        match finished {
            Ok(Some(kept)) => Ok(CaptureNews::Kept(kept)),
            Ok(None) => Ok(lost(source_id, address)),
            // It cannot be kept as it is, and would not be the next time. The others can.
            Err(DeskError::Library(
                error @ (LibraryError::TooLarge { .. } | LibraryError::Invalid { .. }),
            )) => {
                let fault = Fault::new("not_kept", error.to_string());
                self.give_up(worker, job, fault, None).await
            }
            Err(error) => Err(error),
        }
    }

    /// Puts a job back or aside.
    async fn give_up(
        &self,
        worker: Arc<Worker>,
        job: Job,
        fault: Fault,
        retry: Option<Duration>,
    ) -> Result<CaptureNews, DeskError> {
        let (source_id, address) = (job.source_id.clone(), job.origin.address.clone());
        let address = address.unwrap_or_default();
        let now = now_ms();
        let at = retry.map(|wait| now + u64::try_from(wait.as_millis()).unwrap_or(0));
        let noted = fault.clone();
        let put = self
            .with_library(move |_| {
                worker.fail(&job, &noted, at.map_or(Retry::Never, Retry::At), now)
            })
            .await?;
        Ok(match (put, at) {
            (Put::Lost, _) => lost(source_id, address),
            (Put::Back, Some(until_ms)) if until_ms > now + PATIENCE_MS => {
                CaptureNews::Waits { source_id, address, until_ms }
            }
            (Put::Back, again_at_ms) => {
                CaptureNews::Failed { source_id, address, fault, again_at_ms }
            }
            (Put::Aside, _) => CaptureNews::Failed { source_id, address, fault, again_at_ms: None },
        })
    }

    async fn read_job(&self, job: &Job) -> Result<Again, InputError> {
        let order = Order::read(&job.options);
        let options = order.options();
        let address = job.fetch_address.as_deref().unwrap_or_default();
        match job.origin.kind {
            SourceKind::Url => {
                let url = Url::parse(address).map_err(|error| InputError::Address {
                    text: job.origin.address.clone().unwrap_or_default(),
                    reason: error.to_string(),
                })?;
                // Who wants another text of the page needs the page, changed or not.
                let before = job.current_options.as_deref().map(Order::read);
                let known = match before.is_some_and(|before| order.reads_as(&before)) {
                    true => Conditional {
                        etag: job.etag.clone(),
                        last_modified: job.last_modified.clone(),
                    },
                    false => Conditional::default(),
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

/// Whom a job asks; a file is asked of nobody.
fn host_of(job: &Job) -> String {
    let url = job.fetch_address.as_deref().and_then(|address| Url::parse(address).ok());
    url.and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_else(|| "a file".to_owned())
}

/// A note that was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    pub id: SourceId,
    pub title: String,
}

/// One capture, from its inputs to its report.
struct Run<'r> {
    desk: &'r Desk,
    worker: Arc<Worker>,
    order: Arc<Order>,
    /// The order as it is kept with jobs.
    wanted: String,
    news: &'r mpsc::Sender<CaptureNews>,
    stop: &'r CancellationToken,
    report: CaptureReport,
    /// Inputs that this process fetches and has not told the end of.
    own: HashMap<SourceId, Pending>,
    /// Inputs that another process fetches.
    others: Vec<Pending>,
}

/// An input that has a job.
#[derive(Clone)]
struct Pending {
    source_id: SourceId,
    job: JobId,
    address: String,
    /// Another process failed at it, and this one tries once in its own way.
    is_second: bool,
}

impl Run<'_> {
    async fn enqueue(
        &mut self,
        collection: &CollectionId,
        inputs: &[Input],
        options: CaptureOptions,
    ) -> Result<(), DeskError> {
        let (mut sources, mut known) = (Vec::new(), Vec::new());
        for input in inputs {
            match input {
                Input::Kept(id) => known.push(id.clone()),
                input => sources.push(source_of(input)?),
            }
        }
        self.report.hidden = sources.iter().filter(|it| it.fetch_address.is_some()).count();
        let freshness = match options.refresh {
            true => Freshness::Everything,
            false => Freshness::Missing,
        };
        let (worker, collection) = (Arc::clone(&self.worker), collection.clone());
        let wanted = self.wanted.clone();
        let enqueue = move |library: &Library| {
            let now = now_ms();
            let enqueued = worker.enqueue(&collection, &sources, &wanted, freshness, now)?;
            let addresses = sources.into_iter().map(|source| source.address);
            let mut all: Vec<(String, Enqueued)> = addresses.zip(enqueued).collect();
            for source_id in known {
                let address = library.source(&source_id)?.origin.address.unwrap_or_default();
                let queueing = worker.refresh(&source_id, &wanted, now)?;
                all.push((address, Enqueued { source_id, queueing }));
            }
            Ok(all)
        };
        let mut seen = HashSet::new();
        for (address, Enqueued { source_id, queueing }) in self.desk.with_library(enqueue).await? {
            if !seen.insert(source_id.clone()) {
                self.report.same += 1;
                self.tell(CaptureNews::Same { source_id, address }).await;
                continue;
            }
            let input = |job| Pending {
                source_id: source_id.clone(),
                job,
                address: address.clone(),
                is_second: false,
            };
            match queueing {
                Queueing::AlreadyCaptured => {
                    self.report.present += 1;
                    self.tell(CaptureNews::Present { source_id, address }).await;
                }
                Queueing::Queued(job) => {
                    let input = input(job);
                    self.own.insert(source_id, input);
                }
                Queueing::AlreadyQueued(job) => self.others.push(input(job)),
            }
        }
        Ok(())
    }

    /// What earlier commands left and this one may do; says how many.
    async fn take_over(&mut self, collection: &CollectionId) -> Result<usize, DeskError> {
        let (worker, collection) = (Arc::clone(&self.worker), collection.clone());
        let order = Arc::clone(&self.order);
        let taken = self
            .desk
            .with_library(move |_| {
                let now = now_ms();
                let fits = |options: &str| order.covers(&Order::read(options));
                worker.take_over(&collection, fits, now + PATIENCE_MS, now)
            })
            .await?;
        self.report.of_others = taken.left;
        Ok(taken.taken)
    }

    /// Fetches what is this process's, and waits for what is others', until nothing is left that
    /// can be done in good time.
    async fn work_off(
        &mut self,
        collection: &CollectionId,
        parallel: usize,
    ) -> Result<(), DeskError> {
        let hosts = Hosts::default();
        let mut fetching = JoinSet::new();
        while !self.stop.is_cancelled() {
            while fetching.len() < parallel.clamp(1, MOST_PARALLEL) {
                let Some(job) = self.claim(collection).await? else { break };
                let (desk, worker) = (self.desk.clone(), Arc::clone(&self.worker));
                let (turn, stop) = (hosts.of(&job), self.stop.clone());
                let fetch = async move {
                    let _turn = turn.acquire().await;
                    tokio::select! {
                        () = stop.cancelled() => Ok(None),
                        done = desk.fetch(&worker, job) => done.map(Some),
                    }
                };
                fetching.spawn(within(current(), fetch));
            }
            let Some(wait) = self.next_look(fetching.is_empty()).await? else { break };
            tokio::select! {
                () = self.stop.cancelled() => break,
                Some(done) = fetching.join_next() => {
                    let done = done.map_err(|error| DeskError::refused(error.to_string()))??;
                    if let Some(done) = done {
                        self.note(done).await;
                    }
                }
                () = tokio::time::sleep(wait) => self.follow().await?,
            }
        }
        // Who was told to stop keeps what is on its way into the library.
        while let Some(done) = fetching.join_next().await {
            if let Ok(Ok(Some(done))) = done {
                self.note(done).await;
            }
        }
        Ok(())
    }

    async fn claim(&self, collection: &CollectionId) -> Result<Option<Job>, DeskError> {
        let (worker, collection) = (Arc::clone(&self.worker), collection.clone());
        let claim = move |_: &Library| worker.claim_next(Some(&collection), Whose::Own, now_ms());
        self.desk.with_library(claim).await
    }

    /// How long until something has to be looked at; nothing when there is nothing to wait for.
    async fn next_look(&self, is_idle: bool) -> Result<Option<Duration>, DeskError> {
        let worker = Arc::clone(&self.worker);
        let due = self.desk.with_library(move |_| worker.in_line()).await?.next_due_ms;
        let now = now_ms();
        let due = due.filter(|due| *due <= now + PATIENCE_MS).map(|due| due.saturating_sub(now));
        let looks = (!self.others.is_empty()).then_some(LOOK_MS);
        let busy = (!is_idle).then_some(LONGEST_SLEEP_MS);
        let next = [due.map(|due| due.max(SHORTEST_SLEEP_MS)), looks, busy];
        Ok(next.into_iter().flatten().min().map(Duration::from_millis))
    }

    /// Looks at what others fetch. What one that died has left is this process's from now on.
    async fn follow(&mut self) -> Result<(), DeskError> {
        if self.others.is_empty() {
            return Ok(());
        }
        let (worker, wanted) = (Arc::clone(&self.worker), self.wanted.clone());
        let jobs: Vec<JobId> = self.others.iter().map(|input| input.job.clone()).collect();
        let states =
            self.desk.with_library(move |_| worker.follow(&jobs, &wanted, now_ms())).await?;
        for (input, state) in std::mem::take(&mut self.others).into_iter().zip(states) {
            let Some(state) = state else {
                self.note(lost(input.source_id, input.address)).await;
                continue;
            };
            match state.status {
                JobStatus::Queued | JobStatus::Running => {
                    match state.worker.as_ref() == Some(self.worker.id()) {
                        true => drop(self.own.insert(input.source_id.clone(), input)),
                        false => self.others.push(input),
                    }
                }
                JobStatus::Succeeded => self.note_kept(input, state).await?,
                // It may not have been allowed what this command is.
                JobStatus::Failed if state.options != self.wanted && !input.is_second => {
                    self.try_own_way(input).await?;
                }
                JobStatus::Failed => {
                    let fault = state.fault.unwrap_or_else(|| Fault::new("failed", "it failed"));
                    let Pending { source_id, address, .. } = input;
                    let failed =
                        CaptureNews::Failed { source_id, address, fault, again_at_ms: None };
                    self.note(failed).await;
                }
                JobStatus::Cancelled => self.note(lost(input.source_id, input.address)).await,
            }
        }
        Ok(())
    }

    async fn note_kept(&mut self, input: Pending, state: JobState) -> Result<(), DeskError> {
        let (Some(version), Some(found)) = (state.version, state.found) else {
            self.note(lost(input.source_id, input.address)).await;
            return Ok(());
        };
        let id = input.source_id.clone();
        let kept =
            self.desk.with_library(move |library| kept(library, &id, version, found, None)).await?;
        self.note(CaptureNews::Kept(kept)).await;
        Ok(())
    }

    async fn try_own_way(&mut self, input: Pending) -> Result<(), DeskError> {
        let (worker, wanted) = (Arc::clone(&self.worker), self.wanted.clone());
        let id = input.source_id.clone();
        let queueing =
            self.desk.with_library(move |_| worker.refresh(&id, &wanted, now_ms())).await?;
        match queueing {
            Queueing::Queued(job) => {
                let input = Pending { job, is_second: true, ..input };
                self.own.insert(input.source_id.clone(), input);
            }
            Queueing::AlreadyQueued(job) => {
                self.others.push(Pending { job, is_second: true, ..input });
            }
            Queueing::AlreadyCaptured => {}
        }
        Ok(())
    }

    /// Counts and tells.
    async fn note(&mut self, news: CaptureNews) {
        let (report, own) = (&mut self.report, &mut self.own);
        match &news {
            CaptureNews::Kept(kept) => {
                own.remove(&kept.source_id);
                match kept.is_new {
                    true => report.kept += 1,
                    false => report.unchanged += 1,
                }
            }
            CaptureNews::Failed { source_id, again_at_ms: None, .. } => {
                own.remove(source_id);
                report.failed += 1;
            }
            CaptureNews::Waits { source_id, until_ms, .. } => {
                own.remove(source_id);
                report.waiting += 1;
                let first = report.waiting_until_ms.map_or(*until_ms, |it| it.min(*until_ms));
                report.waiting_until_ms = Some(first);
            }
            CaptureNews::Failed { again_at_ms: Some(_), .. }
            | CaptureNews::Waiting { .. }
            | CaptureNews::Present { .. }
            | CaptureNews::Same { .. } => {}
        }
        self.tell(news).await;
    }

    /// Says of each input that has not ended why.
    async fn end(mut self) -> Result<CaptureReport, DeskError> {
        if self.stop.is_cancelled() {
            let worker = Arc::clone(&self.worker);
            let line = self.desk.with_library(move |_| worker.in_line()).await?;
            let left = line.queued + line.running;
            let left = usize::try_from(left).unwrap_or(usize::MAX);
            self.report.left = left.saturating_sub(self.report.waiting) + self.others.len();
            return Ok(self.report);
        }
        for input in std::mem::take(&mut self.own).into_values() {
            let job = input.job.clone();
            let state = self.desk.with_library(move |library| library.job(&job)).await;
            let Pending { source_id, address, .. } = input;
            match state {
                Ok(state) if state.status == JobStatus::Queued => {
                    let until_ms = state.not_before_ms;
                    self.note(CaptureNews::Waits { source_id, address, until_ms }).await;
                }
                _ => self.note(lost(source_id, address)).await,
            }
        }
        // Dropping the worker gives back what it held.
        Ok(self.report)
    }

    async fn tell(&self, news: CaptureNews) {
        // Whoever does not listen any more is not told.
        let _ = self.news.send(news).await;
    }
}

/// What is told of a source that was kept.
fn kept(
    library: &Library,
    source: &SourceId,
    version: VersionId,
    found: Found,
    before: Option<&VersionId>,
) -> Result<Kept, LibraryError> {
    let now = library.version_text(&version)?;
    let is_new = found == Found::New;
    let change = match before.filter(|_| is_new) {
        Some(before) => Some(count_changes(&library.version_text(before)?.markdown, &now.markdown)),
        None => None,
    };
    Ok(Kept {
        source_id: source.clone(),
        version,
        address: now.address.unwrap_or_default(),
        title: now.title,
        chars: usize::try_from(now.version.chars).unwrap_or(usize::MAX),
        signals: now.version.signals,
        is_new,
        change,
    })
}

/// Whether nothing came but perhaps a title.
fn is_empty(again: &Again) -> bool {
    let Again::Read(reading) = again else { return false };
    let mut lines = reading.page.markdown.lines().filter(|line| !line.trim().is_empty());
    lines.all(|line| line.starts_with("# "))
}

/// Whether the address that is shown is not the whole one.
fn is_redacted(job: &Job) -> bool {
    let url = job.fetch_address.as_deref().and_then(redact_url);
    job.origin.kind == SourceKind::Url && url.is_some_and(|it| it.changed)
}

/// Says among the signals of a page that its address was longer.
pub(super) fn note_redacted(signals: &mut Vec<Signal>) {
    if !signals.contains(&Signal::UrlRedacted) {
        signals.push(Signal::UrlRedacted);
    }
}

fn outcome_of(again: Again, is_redacted: bool) -> Outcome {
    let Again::Read(reading) = again else { return Outcome::NotModified };
    let Reading { mut page, media_type, final_url, etag, last_modified } = *reading;
    let final_address = final_url.and_then(|url| redact_url(url.as_str()));
    if is_redacted || final_address.as_ref().is_some_and(|it| it.changed) {
        note_redacted(&mut page.signals);
    }
    let shown = |url: &str| redact_url(url).map(|it| it.url).filter(|it| it.len() <= MAX_ADDRESS);
    let mut room = MOST_LINKS;
    let links = page.links.into_iter().filter_map(|link| {
        let url = shown(&link.url)?;
        // Escapes in JSON may double what is kept.
        room = room.checked_sub(2 * (url.len() + link.text.len() + link.context.len()) + 64)?;
        Some(SourceLink { url, text: link.text, context: link.context })
    });
    let links = links.collect();
    Outcome::Captured(Box::new(Captured {
        title: page.title.unwrap_or_default(),
        byline: page.byline,
        media_type,
        // One that is too long to be kept is not what is asked for the next time either.
        final_address: final_address.map(|it| it.url).filter(|it| it.len() <= MAX_ADDRESS),
        markdown: page.markdown,
        links,
        signals: page.signals.iter().map(|it| it.as_str().to_owned()).collect(),
        etag,
        last_modified,
    }))
}

fn lost(source_id: SourceId, address: String) -> CaptureNews {
    let fault = Fault::new("lost", "it was removed or cancelled while it was fetched");
    CaptureNews::Failed { source_id, address, fault, again_at_ms: None }
}

/// A few at a time for each server, so that none is flooded.
#[derive(Default)]
struct Hosts(std::sync::Mutex<HashMap<String, Arc<Semaphore>>>);

impl Hosts {
    fn of(&self, job: &Job) -> Arc<Semaphore> {
        let address = job.fetch_address.as_deref().unwrap_or_default();
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
/// Who is asked to wait for longer runs the command again.
const PATIENCE_MS: u64 = 60_000;
/// How often what others fetch is looked at.
const LOOK_MS: u64 = 250;
const SHORTEST_SLEEP_MS: u64 = 20;
const LONGEST_SLEEP_MS: u64 = 5_000;
/// Of the links of one page, in bytes; the library takes twice as many.
const MOST_LINKS: usize = 512 * 1024;

#[cfg(test)]
mod tests {
    use sabir_capture::read_page;

    use super::*;

    /// LC-C18: what a server adds to an address is not kept, and it is told that something went.
    #[test]
    fn what_lets_somebody_in_is_not_kept_where_the_server_led() {
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
            let outcome = outcome_of(Again::Read(Box::new(reading)), false);
            let Outcome::Captured(captured) = outcome else { panic!("nothing was captured") };
            assert_eq!(captured.final_address.as_deref(), Some(kept));
            assert_eq!(captured.signals.contains(&"url_redacted".to_owned()), is_told);
        }
    }
}
