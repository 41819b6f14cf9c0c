//! Webhooks: who wants to be told what becomes of a task, and telling them. Each webhook is told in
//! order, by a courier of its own, until its task is over. They are kept, so that a restart goes on.

mod book;
mod courier;

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use a2a::{A2AError, AuthenticationInfo, TaskPushNotificationConfig};
use reqwest::Url;
use sabir_capture::{Guard, Poster, Rules};
use tokio::sync::Semaphore;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::PushLimits;
use crate::errands::{Errands, Placed};
use crate::ldp::client::moment;
use book::{Book, Hook};
use courier::{Courier, Start};

/// Everybody who is told.
pub(super) struct Couriers {
    ground: Arc<Ground>,
    /// Ends all of them.
    _end: DropGuard,
}

/// What couriers share.
struct Ground {
    book: Book,
    poster: Poster,
    errands: Arc<dyn Errands>,
    limits: PushLimits,
    stop: CancellationToken,
    under_way: Mutex<UnderWay>,
    /// One webhook is taken in or out at a time, so that what is counted stays so.
    changing: tokio::sync::Mutex<()>,
    numbers: AtomicU64,
    /// Of couriers that read a task and write what they send.
    turns: Semaphore,
}

/// By task and webhook: which courier tells it, and how to end it.
#[derive(Default)]
struct UnderWay(HashMap<Key, (u64, CancellationToken)>);

type Key = (String, String);

impl UnderWay {
    /// Whoever was at it before is ended.
    fn begin(&mut self, key: Key, number: u64, stop: CancellationToken) {
        if let Some((_, before)) = self.0.insert(key, (number, stop)) {
            before.cancel();
        }
    }

    /// A courier that ends strikes out itself, and not who took its place.
    fn end(&mut self, key: &Key, number: u64) {
        if self.0.get(key).is_some_and(|(it, _)| *it == number) {
            self.0.remove(key);
        }
    }

    fn stop(&mut self, key: &Key) {
        if let Some((_, stop)) = self.0.remove(key) {
            stop.cancel();
        }
    }
}

impl Couriers {
    /// Reads what is kept, and goes on.
    pub(super) async fn open(
        folder: PathBuf,
        poster: Poster,
        errands: Arc<dyn Errands>,
        limits: PushLimits,
    ) -> io::Result<Self> {
        let (book, waiting) = Book::open(folder).await?;
        let stop = CancellationToken::new();
        let ground = Ground {
            book,
            poster,
            errands,
            limits,
            stop: stop.clone(),
            under_way: Mutex::default(),
            changing: tokio::sync::Mutex::default(),
            numbers: AtomicU64::new(1),
            turns: Semaphore::new(WRITERS),
        };
        let ground = Arc::new(ground);
        for (task, hook) in waiting {
            // What was told before the restart is not known: the whole task says it all.
            ground.start(&task, hook, Start::Snapshot);
        }
        Ok(Self { ground, _end: stop.drop_guard() })
    }

    /// What is wrong with a webhook, as far as its words tell.
    pub(super) fn check(&self, config: &TaskPushNotificationConfig) -> Result<(), A2AError> {
        let wrong = |why: String| Err(A2AError::invalid_params(why));
        let Ok(url) = Url::parse(&config.url) else {
            return wrong("url: it is no address".to_owned());
        };
        if config.url.len() > MAX_URL_BYTES {
            return wrong(format!("url: it has more than {MAX_URL_BYTES} bytes"));
        }
        if let Err(refused) = self.ground.poster.check(&url) {
            return wrong(format!("url: {refused}"));
        }
        // What is only reached because the operator allowed it may go without TLS.
        if url.scheme() != "https" && Guard::new(Rules::default()).check(&url).is_ok() {
            return wrong("url: https is needed".to_owned());
        }
        let authentication = config.authentication.as_ref();
        let scheme = authentication.map(|it| it.scheme.as_str());
        if scheme.is_some_and(|it| it.is_empty() || !it.bytes().all(is_token)) {
            return wrong("authentication.scheme: it is no scheme of HTTP".to_owned());
        }
        let credentials = authentication.and_then(|it| it.credentials.as_deref());
        for (name, value) in
            [("token", config.token.as_deref()), ("authentication.credentials", credentials)]
        {
            let value = value.unwrap_or_default();
            let is_sendable = value.bytes().all(|byte| (0x20..0x7f).contains(&byte));
            if value.len() > MAX_SECRET_BYTES || !is_sendable {
                let why = format!("at most {MAX_SECRET_BYTES} printable ASCII characters");
                return wrong(format!("{name}: {why}"));
            }
        }
        let id = config.id.as_deref().unwrap_or_default();
        if id.len() > MAX_NAME_BYTES || id.chars().any(char::is_control) {
            let why = format!("at most {MAX_NAME_BYTES} bytes without control characters");
            return wrong(format!("id: {why}"));
        }
        Ok(())
    }

    /// Whether one more could be taken in now.
    pub(super) fn check_room(&self) -> Result<(), A2AError> {
        match self.ground.is_full() {
            true => Err(full()),
            false => Ok(()),
        }
    }

    /// Takes a webhook in. One with an id that is known takes its place; one without an id that says
    /// what another one says is that one, because a message or a call may come twice.
    pub(super) async fn add(
        &self,
        placed: &Placed,
        config: TaskPushNotificationConfig,
    ) -> Result<TaskPushNotificationConfig, A2AError> {
        let ground = &self.ground;
        let _turn = ground.changing.lock().await;
        let known = ground.book.of_task(&placed.id);
        let id = match config.id.clone().filter(|id| !id.is_empty()) {
            Some(id) => id,
            None => {
                if let Some(twin) = known.iter().find(|hook| hook.says(&config)) {
                    return Ok(shown(&placed.id, twin.clone()));
                }
                let chance = moment();
                let mut chance =
                    chance.ok_or_else(|| A2AError::internal("the system has no random numbers"))?;
                chance.fresh_id()
            }
        };
        let is_new = known.iter().all(|hook| hook.id != id);
        if is_new && known.len() >= ground.limits.per_task {
            let most = ground.limits.per_task;
            let why = format!("a task has at most {most} webhooks");
            return Err(A2AError::invalid_params(why));
        }
        if is_new && ground.is_full() {
            return Err(full());
        }
        let authentication = config.authentication;
        let hook = Hook {
            id,
            url: config.url,
            token: config.token.filter(|it| !it.is_empty()),
            scheme: authentication.as_ref().map(|it| it.scheme.clone()),
            credentials: authentication.and_then(|it| it.credentials),
            is_done: false,
            number: ground.numbers.fetch_add(1, Ordering::Relaxed),
        };
        let kept = ground.book.put(&placed.id, hook.clone()).await;
        kept.map_err(|error| A2AError::internal(format!("it cannot be kept: {error}")))?;
        let start = match placed.state.is_over() {
            true => Start::Snapshot,
            false => Start::After(placed.last),
        };
        ground.start(&placed.id, hook.clone(), start);
        Ok(shown(&placed.id, hook))
    }

    pub(super) fn list(&self, task: &str) -> Vec<TaskPushNotificationConfig> {
        let hooks = self.ground.book.of_task(task);
        hooks.into_iter().map(|hook| shown(task, hook)).collect()
    }

    /// Takes a webhook out. One that is not there is gone already.
    pub(super) async fn remove(&self, task: &str, id: &str) -> Result<(), A2AError> {
        let _turn = self.ground.changing.lock().await;
        self.ground.lock().stop(&(task.to_owned(), id.to_owned()));
        let removed = self.ground.book.remove(task, id).await;
        removed.map_err(|error| A2AError::internal(format!("it cannot be kept: {error}")))
    }
}

impl Ground {
    fn start(self: &Arc<Self>, task: &str, hook: Hook, start: Start) {
        let stop = self.stop.child_token();
        let key = (task.to_owned(), hook.id.clone());
        self.lock().begin(key.clone(), hook.number, stop.clone());
        // It holds no part of what ends it: when all is over, it is too.
        let ground = Arc::clone(self);
        tokio::spawn(async move {
            let (book, poster) = (&ground.book, &ground.poster);
            let (errands, limits) = (&ground.errands, &ground.limits);
            let turns = &ground.turns;
            let (task, hook) = (&key.0, &hook);
            let courier = Courier { task, hook, book, poster, errands, limits, turns };
            tokio::select! {
                biased;
                () = stop.cancelled() => return,
                () = courier.run(start) => {}
            }
            ground.lock().end(&key, hook.number);
        });
    }

    fn is_full(&self) -> bool {
        self.lock().0.len() >= self.limits.at_once
    }

    fn lock(&self) -> MutexGuard<'_, UnderWay> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Hook {
    /// Whether it is told at the same place, with the same secrets.
    fn says(&self, config: &TaskPushNotificationConfig) -> bool {
        let authentication = config.authentication.as_ref();
        self.url == config.url
            && self.token.as_deref() == config.token.as_deref().filter(|it| !it.is_empty())
            && self.scheme.as_deref() == authentication.map(|it| it.scheme.as_str())
            && self.credentials.as_deref()
                == authentication.and_then(|it| it.credentials.as_deref())
    }
}

fn full() -> A2AError {
    A2AError::internal("too many webhooks are being told; try again later")
}

fn shown(task: &str, hook: Hook) -> TaskPushNotificationConfig {
    let Hook { id, url, token, scheme, credentials, .. } = hook;
    TaskPushNotificationConfig {
        url,
        id: Some(id),
        task_id: task.to_owned(),
        token,
        authentication: scheme.map(|scheme| AuthenticationInfo { scheme, credentials }),
        tenant: None,
    }
}

/// What a name of HTTP is made of.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// As many as there is work for: each may hold a task of any size meanwhile.
const WRITERS: usize = 2;
const MAX_NAME_BYTES: usize = 128;
const MAX_URL_BYTES: usize = 2048;
/// Tokens that say who they are for are long, and servers take no longer headers than this.
const MAX_SECRET_BYTES: usize = 4096;

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;
    use std::time::Duration;

    use futures_util::FutureExt as _;
    use futures_util::future::BoxFuture;
    use futures_util::stream::{self, BoxStream, StreamExt as _};

    use super::*;
    use crate::a2a_server::A2aLimits;
    use crate::errands::{ErrandsError, Listed, Listing, Placement, Placer, Step};

    /// Counts who reads a task at the same time.
    #[derive(Default)]
    struct Counting {
        reading: AtomicUsize,
        most: AtomicUsize,
        read: AtomicUsize,
    }

    impl Errands for Counting {
        fn place(&self, _: Placement) -> BoxFuture<'_, Result<String, ErrandsError>> {
            async { Err(ErrandsError::Busy) }.boxed()
        }

        fn find<'a>(&'a self, _: Placer, _: &'a str) -> BoxFuture<'a, Option<String>> {
            async { None }.boxed()
        }

        fn get<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Placed, ErrandsError>> {
            async {
                let now = self.reading.fetch_add(1, Ordering::SeqCst) + 1;
                self.most.fetch_max(now, Ordering::SeqCst);
                for _ in 0..100 {
                    tokio::task::yield_now().await;
                }
                self.reading.fetch_sub(1, Ordering::SeqCst);
                self.read.fetch_add(1, Ordering::SeqCst);
                Err(ErrandsError::Busy)
            }
            .boxed()
        }

        fn list<'a>(&'a self, _: &'a Listing) -> BoxFuture<'a, Result<Listed, ErrandsError>> {
            async { Ok(Listed::default()) }.boxed()
        }

        fn cancel<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<(), ErrandsError>> {
            async { Ok(()) }.boxed()
        }

        fn follow(&self, _: &str, _: u64) -> BoxStream<'static, Result<Step, ErrandsError>> {
            stream::empty().boxed()
        }
    }

    /// BR-P6: however many webhooks are told again after a restart, few tasks are in memory for it.
    #[tokio::test]
    async fn couriers_read_tasks_a_few_at_a_time() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("a2a");
        let (book, _) = Book::open(folder.clone()).await.unwrap();
        for task in 0..8 {
            let hook = Hook {
                id: "1".to_owned(),
                url: "https://harbor.example/hook".to_owned(),
                token: None,
                scheme: None,
                credentials: None,
                is_done: false,
                number: 0,
            };
            book.put(&format!("order-{task}"), hook).await.unwrap();
        }
        let errands = Arc::new(Counting::default());
        let poster = Poster::new(Guard::new(Rules::default()), Duration::from_secs(1));
        let limits = A2aLimits::default().push;
        let couriers = Couriers::open(folder, poster, Arc::clone(&errands) as _, limits).await;
        while errands.read.load(Ordering::SeqCst) < 8 {
            tokio::task::yield_now().await;
        }
        assert_eq!(errands.most.load(Ordering::SeqCst), WRITERS);
        drop(couriers.unwrap());
    }

    /// BR-P1: one that is deleted is told no more, whoever told it before.
    #[test]
    fn a_courier_that_ends_strikes_out_only_itself() {
        let key: Key = ("order-1".to_owned(), "1".to_owned());
        let (first, second) = (CancellationToken::new(), CancellationToken::new());
        let mut under_way = UnderWay::default();
        under_way.begin(key.clone(), 1, first.clone());
        under_way.begin(key.clone(), 2, second.clone());
        assert!(first.is_cancelled());
        under_way.end(&key, 1);
        assert_eq!(under_way.0.len(), 1);
        under_way.stop(&key);
        assert!(second.is_cancelled() && under_way.0.is_empty());
        under_way.begin(key.clone(), 3, CancellationToken::new());
        under_way.end(&key, 3);
        assert!(under_way.0.is_empty());
    }
}
