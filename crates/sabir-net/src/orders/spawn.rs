//! Work that agents hand on, as orders: to the node's own delegates and to those that people made
//! known, here or in another trust domain.

use std::path::Path;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use sabir_base::text::one_line;
use sabir_host::{SpawnRequest, Spawned, Spawner};
use sabir_ldp::TaskId;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::order::{Order, OrderState};
use super::request::{OrderId, OrderRequest};
use super::{OrderError, Orders, OwnDelegate, Shared};
use crate::errands::Placer;

impl Spawner for Orders {
    fn knows<'a>(&'a self, name: &'a str) -> BoxFuture<'a, bool> {
        async move { self.0.address(name, Placer::Agent).await.is_ok() }.boxed()
    }

    /// What names a skill or somebody is for the router. What does not is for whoever works in the
    /// same folder.
    fn takes(&self, request: &SpawnRequest) -> bool {
        let is_named = request.skill.is_some() || request.to.is_some();
        is_named || self.0.at_work_in(&request.within.cwd).is_some()
    }

    fn handed_on_by(&self, task: &TaskId) -> Option<TaskId> {
        let order = self.0.live(&OrderId::of_task(task.as_str())?)?.order();
        let Some(parent) = order.parent.as_deref().and_then(OrderId::parse) else {
            // Somebody else gave the agent its task.
            return order.request.for_task.as_ref().map(|task| task.id.clone());
        };
        let name = match self.0.live(&parent) {
            Some(live) => live.order().task_name(),
            None => parent.task_id().to_owned(),
        };
        TaskId::new(name).ok()
    }

    fn spawn(
        &self,
        request: SpawnRequest,
        news: mpsc::Sender<String>,
        stop: CancellationToken,
    ) -> BoxFuture<'static, Spawned> {
        let orders = self.clone();
        async move {
            match orders.hand_on(request, &news, &stop).await {
                Ok(order) => Spawned { answer: answer(&order), tokens: used(&order) },
                Err(Unheard::NotPlaced(why)) => Spawned { answer: Err(why), tokens: Some(0) },
                Err(Unheard::Lost(why)) => Spawned { answer: Err(why), tokens: None },
            }
        }
        .boxed()
    }
}

impl Orders {
    async fn hand_on(
        &self,
        spawn: SpawnRequest,
        news: &mpsc::Sender<String>,
        stop: &CancellationToken,
    ) -> Result<Order, Unheard> {
        let mut request = OrderRequest::new(spawn.task.clone());
        request.by = Placer::Agent;
        request.parent = Some(self.0.placed_for(&spawn).await);
        request.for_task.clone_from(&spawn.origin.task);
        request.depth = spawn.depth.max(u32::try_from(spawn.origin.path.len()).unwrap_or(u32::MAX));
        request.path.clone_from(&spawn.origin.path);
        (request.budget_tokens, request.deadline_secs) = (spawn.budget_tokens, spawn.deadline_secs);
        request.skill.clone_from(&spawn.skill);
        request.to = spawn.to.iter().cloned().collect();
        if spawn.skill.is_none() && spawn.to.is_none() {
            let own = self.0.at_work_in(&spawn.within.cwd);
            let nobody = || Unheard::NotPlaced("nobody else works in this folder".to_owned());
            let own = own.ok_or_else(nobody)?;
            (request.skill, request.to) = (Some(CODE.to_owned()), vec![own.name.clone()]);
        }
        request.within = Some(spawn.within);
        // Nobody waits for it any more when this is dropped, wherever it is by then.
        let gone = CancellationToken::new();
        let unless_ended = gone.clone().drop_guard();
        let refused = |error: OrderError| Unheard::NotPlaced(format!("{}: {error}", error.code()));
        let id = self.place_until(request, None, Some(gone)).await.map_err(refused)?;
        tell(news, format!("{id} was placed")).await;
        let order = self.follow(&id, news, stop).await;
        unless_ended.disarm();
        order.map_err(Unheard::Lost)
    }

    /// Tells what happens to an order until it has ended.
    async fn follow(
        &self,
        id: &OrderId,
        news: &mpsc::Sender<String>,
        stop: &CancellationToken,
    ) -> Result<Order, String> {
        if let Some(live) = self.0.live(id) {
            let mut orders = live.order.subscribe();
            drop(live);
            let (mut told, mut is_stopped) = (String::new(), false);
            loop {
                let order = orders.borrow_and_update().clone();
                if order.state.is_over() {
                    return Ok(Order::clone(&order));
                }
                let words = in_words(&order);
                if words != told {
                    told.clone_from(&words);
                    tell(news, words).await;
                }
                tokio::select! {
                    changed = orders.changed() => {
                        if changed.is_err() {
                            break;
                        }
                    }
                    () = stop.cancelled(), if !is_stopped => {
                        is_stopped = true;
                        // One that has ended meanwhile cannot be cancelled.
                        let _ = self.cancel(id).await;
                    }
                }
            }
        }
        self.wait(id).await.map_err(|error| error.to_string())
    }
}

impl Shared {
    fn at_work_in(&self, cwd: &str) -> Option<&OwnDelegate> {
        let works_there = |own: &&OwnDelegate| own.workspace.as_deref() == Some(Path::new(cwd));
        self.own.iter().find(works_there)
    }

    /// The order whose task the agent does, if we placed it; otherwise its session.
    async fn placed_for(&self, spawn: &SpawnRequest) -> String {
        let Some(task) = &spawn.origin.task else { return spawn.parent.clone() };
        let Some(id) = OrderId::of_key(self.delegation.client().delegate_id(), task) else {
            return spawn.parent.clone();
        };
        let is_there =
            self.live(&id).is_some() || self.rows.get(&id).await.is_ok_and(|it| it.is_some());
        if is_there { id.to_string() } else { spawn.parent.clone() }
    }
}

/// Why nothing is known of an order.
enum Unheard {
    NotPlaced(String),
    /// It was placed, and may go on.
    Lost(String),
}

/// What it took. Nothing if nobody was given it.
fn used(order: &Order) -> Option<u64> {
    if order.attempts.is_empty() { Some(0) } else { order.cost.tokens }
}

async fn tell(news: &mpsc::Sender<String>, words: String) {
    let _ = news.send(words).await;
}

fn in_words(order: &Order) -> String {
    let id = &order.id;
    let who = order.delegate_id().unwrap_or("nobody yet");
    let state = match order.state {
        OrderState::Waiting => " waits for a person",
        OrderState::Away => " cannot be reached, and is asked again",
        OrderState::Running => "",
        OrderState::Done => " is done",
        OrderState::Failed => " failed",
        OrderState::Cancelled => " was cancelled",
        OrderState::Interrupted => " was interrupted",
    };
    let message = order.progress.as_ref().and_then(|it| it.message.as_deref());
    let message = message.map(|it| format!(": {}", one_line(it, LONGEST))).unwrap_or_default();
    format!("{id} at {who}{state}{message}")
}

/// What the agent hears of it.
fn answer(order: &Order) -> Result<String, String> {
    let output = order.output.as_ref().map(|output| match output {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    });
    match order.state {
        OrderState::Done => Ok(output.unwrap_or_else(|| "(it said nothing)".to_owned())),
        _ => {
            let error = order.error.as_ref();
            let why = error.map(|error| format!("{}: {}", error.code, error.message));
            let why = why.unwrap_or_else(|| "it came to nothing".to_owned());
            Err(format!("{} was not done: {why}", order.id))
        }
    }
}

/// What agents that work in a folder offer.
const CODE: &str = "code";
const LONGEST: usize = 300;
