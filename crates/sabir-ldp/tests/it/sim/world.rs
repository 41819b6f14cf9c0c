//! A node, some clients, and everything that can happen between them.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeMap;

use sabir_ldp::{
    DelegateInput, ExchangeId, InitiatorInput, Payload, PayloadMode, RequestId, Signing, SkillName,
    TaskId, TaskKey, TaskRequest,
};
use serde_json::json;

use super::client::Client;
use super::network::Dice;
use crate::node::{Node, START};

/// How bad it is.
#[derive(Clone, Copy)]
pub(crate) struct Weather {
    /// In percent of messages, in each direction.
    pub(crate) loss: u64,
    pub(crate) twice: u64,
    pub(crate) longest_delay_ms: u64,
    /// How often the node dies.
    pub(crate) restarts: u64,
    /// How often each client suspends its session.
    pub(crate) rests: u64,
    /// How many tasks each client cancels.
    pub(crate) cancels: u64,
}

impl Weather {
    pub(crate) const GOOD: Weather =
        Weather { loss: 0, twice: 0, longest_delay_ms: 50, restarts: 0, rests: 0, cancels: 0 };
    pub(crate) const BAD: Weather =
        Weather { loss: 15, twice: 15, longest_delay_ms: 3_000, restarts: 0, rests: 0, cancels: 0 };
}

enum Event {
    Request { client: usize, exchange: ExchangeId, text: String },
    Reply { client: usize, exchange: ExchangeId, text: String },
    GiveUp(RequestId),
    TaskDone(TaskKey, u64),
    Act(usize, Box<InitiatorInput>),
    Restart,
}

pub(crate) struct World {
    node: Option<Node>,
    clients: Vec<Client>,
    dice: Dice,
    weather: Weather,
    now: u64,
    events: BTreeMap<(u64, u64), Event>,
    next: u64,
    /// Who waits for which request; the number of lives of the node when it came.
    waiting: BTreeMap<RequestId, (usize, ExchangeId)>,
    runs: BTreeMap<TaskKey, u32>,
    lives: u64,
    submitted: usize,
}

const NAMES: [(&str, Signing); 3] = [
    ("ldp:delegate:ada", Signing::Native),
    ("ldp:delegate:bob", Signing::Native),
    ("ldp:delegate:cyn", Signing::Unsigned),
];
const TASKS: u64 = 6;
/// All that a client does by itself happens in this time.
const ACTIVE_MS: u64 = 60_000;
const CLOSED_AT_MS: u64 = 900_000;

impl World {
    pub(crate) fn new(seed: u64, weather: Weather) -> Self {
        let client = |(name, signing): (&str, Signing)| {
            Client::with(name, signing, |settings| {
                settings.ttl_secs = 300;
                settings.patience.answer_ms = 8_000;
                settings.patience.attempts = 8;
            })
        };
        let mut world = Self {
            node: Some(Node::new()),
            clients: NAMES.into_iter().map(client).collect(),
            dice: Dice::new(seed),
            weather,
            now: START,
            events: BTreeMap::new(),
            next: 0,
            waiting: BTreeMap::new(),
            runs: BTreeMap::new(),
            lives: 0,
            submitted: 0,
        };
        for client in 0..NAMES.len() {
            world.plan(client);
        }
        for _ in 0..weather.restarts {
            let after = world.dice.roll(ACTIVE_MS);
            world.at(after, Event::Restart);
        }
        world
    }

    fn plan(&mut self, client: usize) {
        self.at(0, Event::Act(client, Box::new(InitiatorInput::Begin)));
        for number in 0..TASKS {
            let after = self.dice.roll(ACTIVE_MS);
            // The same names for all: ids belong to their senders.
            let task = TaskId::new(format!("t-{number}")).unwrap();
            let input = json!({ "task_type": "echo", "instruction": format!("{client}/{number}") });
            let request = TaskRequest {
                task_id: task.clone(),
                skill: SkillName::new("echo").unwrap(),
                payload: Payload::check(PayloadMode::SemanticFrame, &input).unwrap(),
                contract: None,
                delegation_path: Vec::new(),
            };
            self.submitted += 1;
            self.at(after, Event::Act(client, Box::new(InitiatorInput::Submit(Box::new(request)))));
            if number < self.weather.cancels {
                let cancel = InitiatorInput::Cancel { task };
                let later = after + self.dice.roll(5_000);
                self.at(later, Event::Act(client, Box::new(cancel)));
            }
        }
        for _ in 0..self.weather.rests {
            let after = self.dice.roll(ACTIVE_MS);
            self.at(after, Event::Act(client, Box::new(InitiatorInput::Suspend)));
        }
        // A Resume that comes while the session is not suspended does nothing: there are more of them.
        for number in 1..12 {
            let resume = InitiatorInput::Resume;
            self.at(number * ACTIVE_MS / 4, Event::Act(client, Box::new(resume)));
        }
        self.at(CLOSED_AT_MS, Event::Act(client, Box::new(InitiatorInput::Close)));
    }

    pub(crate) fn run(&mut self) {
        for _ in 0..200_000 {
            let Some(next) = self.next_time() else { break };
            self.now = self.now.max(next);
            self.wake();
            while let Some(entry) = self.events.first_entry()
                && entry.key().0 <= self.now
            {
                let event = entry.remove();
                self.happen(event);
            }
            self.carry();
        }
        assert!(self.next_time().is_none(), "it never ends");
        assert!(self.clients.iter().all(|client| client.ended), "a session did not end");
        let node = self.node.as_ref().unwrap();
        assert_eq!((node.delegate.sessions(), node.delegate.running_tasks()), (0, 0));
        for (task, runs) in &self.runs {
            assert_eq!(*runs, 1, "{task:?} ran {runs} times");
        }
    }

    pub(crate) fn submitted(&self) -> usize {
        self.submitted
    }

    /// How many tasks are done and how many failed. Each is reported once, with its own result.
    pub(crate) fn reported(&self) -> (usize, usize) {
        let (mut done, mut failed) = (0, 0);
        for (number, client) in self.clients.iter().enumerate() {
            for (task, reports) in &client.reports {
                assert_eq!(reports.len(), 1, "{task} is reported as {reports:?}");
                match &reports[0] {
                    Ok(output) => {
                        let task = task.as_str().trim_start_matches("t-");
                        assert_eq!(*output, json!(format!("{number}/{task}")));
                        done += 1;
                    }
                    Err(_) => failed += 1,
                }
            }
        }
        (done, failed)
    }

    /// What failed, failed for one of these reasons.
    pub(crate) fn assert_failures(&self, allowed: &[&str]) {
        for (task, report) in self.clients.iter().flat_map(|client| &client.reports) {
            if let Err(code) = &report[0] {
                assert!(allowed.contains(&code.as_str()), "{task} failed with {code}");
            }
        }
    }

    fn next_time(&self) -> Option<u64> {
        let node = self.node.as_ref()?.delegate.next_wake();
        let clients = self.clients.iter().filter_map(|client| client.machine.next_wake());
        let wakes = clients.chain(node).map(|at| at.millis());
        wakes.chain(self.events.keys().next().map(|(at, _)| *at)).min()
    }

    fn wake(&mut self) {
        let now = self.now;
        let is_due = |at: Option<sabir_ldp::Timestamp>| at.is_some_and(|at| at.millis() <= now);
        if is_due(self.node().delegate.next_wake()) {
            self.node().handle(DelegateInput::Tick);
        }
        for client in &mut self.clients {
            if is_due(client.machine.next_wake()) {
                client.handle(InitiatorInput::Tick, now);
            }
        }
    }

    fn happen(&mut self, event: Event) {
        let now = self.now;
        match event {
            Event::Act(client, input) => self.clients[client].handle(*input, now),
            Event::Request { client, exchange, text } => {
                let request = self.node().post_text(&text);
                self.waiting.insert(request, (client, exchange));
                self.at(5_000, Event::GiveUp(request));
            }
            Event::Reply { client, exchange, text } => {
                self.clients[client].take(exchange, &text, now);
            }
            Event::GiveUp(request) => self.node().handle(DelegateInput::GiveUp { request }),
            // What ran when the node died does not finish.
            Event::TaskDone(_, life) if life != self.lives => {}
            Event::TaskDone(key, _) => {
                let order = self.node().started.iter().find(|order| order.key == key).cloned();
                let input = order.unwrap().payload.to_frame().unwrap();
                self.node().finish(&key, json!(input.instruction()));
            }
            Event::Restart => {
                let node = self.node.take().unwrap();
                self.node = Some(node.restart());
                self.lives += 1;
                // Those who waited hear nothing.
                self.waiting.clear();
            }
        }
        self.carry();
    }

    /// Brings what was said on its way.
    fn carry(&mut self) {
        for client in 0..self.clients.len() {
            for (exchange, text) in std::mem::take(&mut self.clients[client].outbox) {
                for delay in self.fates() {
                    let text = text.clone();
                    self.at(delay, Event::Request { client, exchange, text });
                }
            }
        }
        for (request, reply) in std::mem::take(&mut self.node().replies) {
            let Some((client, exchange)) = self.waiting.remove(&request) else { continue };
            for delay in self.fates() {
                self.at(delay, Event::Reply { client, exchange, text: reply.to_string() });
            }
        }
        let orders: Vec<TaskKey> =
            self.node().started.iter().map(|order| order.key.clone()).collect();
        for key in orders {
            if !self.runs.contains_key(&key) {
                let after = 1 + self.dice.roll(20_000);
                self.at(after, Event::TaskDone(key.clone(), self.lives));
            }
            // Counted from the node's list, which a second start would make longer.
            let runs = self.node().started.iter().filter(|order| order.key == key).count();
            let before = self.runs.entry(key).or_insert(0);
            *before = (*before).max(u32::try_from(runs).unwrap());
        }
    }

    /// When the copies of a message come, if any does.
    fn fates(&mut self) -> Vec<u64> {
        let Weather { loss, twice, longest_delay_ms, .. } = self.weather;
        let copies = if self.dice.percent(twice) { 2 } else { 1 };
        let mut delays = Vec::new();
        for _ in 0..copies {
            let delay = 1 + self.dice.roll(longest_delay_ms);
            if !self.dice.percent(loss) {
                delays.push(delay);
            }
        }
        delays
    }

    fn at(&mut self, after: u64, event: Event) {
        self.next += 1;
        self.events.insert((self.now + after, self.next), event);
    }

    fn node(&mut self) -> &mut Node {
        let node = self.node.as_mut().unwrap();
        node.now = self.now;
        node
    }
}
