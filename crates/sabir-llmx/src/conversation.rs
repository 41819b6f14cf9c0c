//! Conversations: who owes whom an answer, what is blocked, what was handed to a person, what is
//! done.
//!
//! A value machine: messages go in, one after the other, and events and a state come out. It keeps
//! less than it was fed and knows no time. Only what is certainly wrong is an error here, and that
//! is little: a document may show a part of a conversation.

pub(crate) mod envelope;
mod item;
mod ledger;
mod plan;
pub(crate) mod sequence;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use sabir_base::{Diagnostic, Findings, Severity};

pub use envelope::Receivers;
use envelope::{AgentId, Agents, Envelope, addressee, number};
pub use item::{Event, Handoff, Item, ItemId, ItemKind, ItemState, State};
use ledger::{Class, Ledger, List};
use plan::Plans;
use sequence::Sequences;

use crate::batch::Batches;
use crate::block::BlockKind;
use crate::codes;
use crate::path::quoted;
use crate::tree::{Kind, Tree};
use crate::view::{Block, Message, Node};

/// What is wrong, odd or open in the conversations and batches of a document, in its order, as far
/// as anybody reads.
pub fn check_conversation(tree: &Tree<'_>) -> Vec<Diagnostic> {
    let mut conversation = Conversation::new();
    let mut batches = Batches::new();
    for message in tree.messages() {
        conversation.feed(message);
        batches.feed(message);
    }
    let mut found = conversation.finish();
    found.extend(batches.finish().diagnostics);
    // One message is no conversation: that it is not answered goes without saying.
    if tree.messages().nth(1).is_none() {
        found.retain(|found| found.severity != Severity::Info);
    }
    found.sort_by_key(|found| found.span.start);
    let mut findings = Findings::new(codes::TOO_MANY_ERRORS);
    found.into_iter().for_each(|found| findings.push(found));
    findings.into_list()
}

/// The conversations of any number of agents.
#[derive(Debug, Default)]
pub struct Conversation<'a> {
    agents: Agents<'a>,
    sequences: Sequences<'a>,
    items: Vec<Item<'a>>,
    /// One for each item.
    accounts: Vec<Account>,
    ledger: Ledger,
    /// The options of every question.
    choices: HashSet<(usize, Cow<'a, str>)>,
    /// The blockers that go away with a question: those of the same message.
    riders: HashMap<usize, Vec<usize>>,
    /// The messages by sender and number.
    sent: HashMap<(AgentId, u64), usize>,
    count: usize,
    /// Who has said anything to whom.
    spoken: HashSet<(AgentId, AgentId)>,
    plans: Plans<'a>,
    done: Vec<Handoff<'a>>,
    found: Vec<Diagnostic>,
}

#[derive(Debug)]
struct Account {
    from: AgentId,
    answers: usize,
    /// How many have to answer.
    needed: usize,
}

/// The message that is being read.
struct Turn<'a> {
    envelope: Envelope<'a>,
    from: AgentId,
    to: Vec<AgentId>,
    /// The number of the message in the conversation.
    message: usize,
    /// Its items go away with this question.
    question: Option<usize>,
}

impl<'a> Conversation<'a> {
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next message, and says what it did.
    pub fn feed(&mut self, message: Message<'a>) -> Vec<Event<'a>> {
        let Some(envelope) = Envelope::of(message) else { return Vec::new() };
        let order = self.sequences.feed(&envelope, message);
        self.found.extend(order.diagnostic(&envelope));
        if order.is_repeat() {
            return vec![Event::Repeated];
        }
        let from = self.agents.id(envelope.from.clone());
        let to = self.agents.receivers(&envelope.to);
        let mut turn = Turn { envelope, from, to, message: self.count, question: None };
        self.count += 1;

        let mut events = Vec::new();
        let has = |kind| message.blocks().any(|block| block.kind() == kind);
        let has_request = has(BlockKind::Req);
        if has_request && has(BlockKind::Plan) {
            self.plans.start(self.pair(&turn));
        }
        // A question stands for the blockers beside it: one answer is for both.
        for ask in message.blocks().filter(|block| block.kind() == BlockKind::Ask) {
            let id = self.open(ItemKind::Question, ask, &turn, &mut events);
            turn.question.get_or_insert(id);
        }
        for block in message.blocks() {
            match block.kind() {
                BlockKind::Req => {
                    self.open(ItemKind::Request, block, &turn, &mut events);
                }
                BlockKind::Blk => {
                    self.open(ItemKind::Blocker, block, &turn, &mut events);
                }
                BlockKind::Res => self.respond(block, &turn, &mut events),
                BlockKind::Plan => {
                    let pair = self.pair(&turn);
                    self.plans.feed(pair, block, &mut self.found);
                    if !has_request {
                        self.progress(&turn, &mut events);
                    }
                }
                BlockKind::End => self.end(block, &turn, &mut events),
                BlockKind::Header
                | BlockKind::Ctx
                | BlockKind::Act
                | BlockKind::Obs
                | BlockKind::Ask
                | BlockKind::Extension
                | BlockKind::Unknown => {}
            }
        }
        if let Some(sequence) = turn.envelope.sequence {
            self.sent.entry((turn.from, sequence)).or_insert(turn.message);
        }
        for to in &turn.to {
            self.spoken.extend([(turn.from, *to), (AgentId::ANY, *to)]);
        }
        events
    }

    /// Everything that was ever asked, in order; see [`ItemId`].
    pub fn item(&self, id: ItemId) -> Option<&Item<'a>> {
        self.items.get(id.0)
    }

    /// An event in words.
    pub fn describe(&self, event: &Event<'a>) -> String {
        let item = |id: &ItemId| self.items.get(id.0).map(Item::to_string).unwrap_or_default();
        match event {
            Event::Opened(id) => format!("opens {}", item(id)),
            Event::Answered { item: id, by, choice } => {
                format!("{by} answers {choice:?} to {}", item(id))
            }
            Event::Decided { item: id, by, choice } => {
                format!("{by} decides {choice:?} on {}", item(id))
            }
            Event::Unblocked(id) => format!("unblocks {}", item(id)),
            Event::Progress { item: id, by } => format!("{by} works on {}", item(id)),
            Event::Ended(handoff) => match &handoff.request {
                Some(id) => format!("ends {handoff} after {}", item(id)),
                None => format!("ends {handoff}"),
            },
            Event::Repeated => "repeats an earlier message".to_owned(),
        }
    }

    /// Where the conversation stands.
    pub fn state(&self) -> State<'a> {
        let mut state = State { done: self.done.clone(), ..State::default() };
        for item in &self.items {
            match (&item.state, item.kind) {
                (ItemState::Open, ItemKind::Blocker) => {
                    state.blocked.push(item.clone());
                    if item.escalated && item.decided_by.is_none() {
                        state.escalated.push(item.clone());
                    }
                }
                (ItemState::Open, ItemKind::Request | ItemKind::Question) => {
                    state.owed.push(item.clone());
                }
                (ItemState::Working { .. }, _) => state.working.push(item.clone()),
                (
                    ItemState::Accepted { .. }
                    | ItemState::Answered { .. }
                    | ItemState::AnsweredWith(_)
                    | ItemState::Done { .. },
                    _,
                ) => {}
            }
        }
        state
    }

    /// What was found so far.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.found
    }

    /// What was found, and what is still open at the end.
    pub fn finish(mut self) -> Vec<Diagnostic> {
        for item in &self.items {
            let what = match (&item.state, item.kind) {
                (ItemState::Open, ItemKind::Request) => "this request waits for an answer",
                (ItemState::Open, ItemKind::Question) => "this question waits for an answer",
                (ItemState::Open, ItemKind::Blocker) if item.decided_by.is_some() => {
                    "this blocker was decided on, and who is blocked was not told"
                }
                (ItemState::Open, ItemKind::Blocker) if item.escalated => {
                    "this blocker waits for a person"
                }
                (ItemState::Open, ItemKind::Blocker) => "this blocker is still open",
                (ItemState::Working { .. }, _) => "the work on this request has no END yet",
                (
                    ItemState::Accepted { .. }
                    | ItemState::Answered { .. }
                    | ItemState::AnsweredWith(_)
                    | ItemState::Done { .. },
                    _,
                ) => continue,
            };
            self.found.push(
                Diagnostic::info(codes::STILL_OPEN, item.span, what)
                    .help("nothing is wrong if the conversation goes on"),
            );
        }
        self.found
    }

    /// The two who share a plan, in whichever direction it travels.
    fn pair(&self, turn: &Turn<'a>) -> (AgentId, AgentId) {
        let to = match turn.to.as_slice() {
            [one] => *one,
            _ => AgentId::ALL,
        };
        if turn.from <= to { (turn.from, to) } else { (to, turn.from) }
    }

    fn open(
        &mut self,
        kind: ItemKind,
        block: Block<'a>,
        turn: &Turn<'a>,
        events: &mut Vec<Event<'a>>,
    ) -> usize {
        let (text, choices) = match kind {
            ItemKind::Request => ("o", None),
            ItemKind::Question => ("q", Some("o")),
            ItemKind::Blocker => ("w", Some("a")),
        };
        let text = block.get(text).and_then(Node::as_text).unwrap_or_default();
        let choices: Vec<_> = choices.and_then(|key| block.get(key)).map(texts).unwrap_or_default();
        let escalated = kind == ItemKind::Blocker
            && block.get("esc").is_some_and(|esc| esc.kind() == Kind::True);
        let id = self.items.len();
        if kind == ItemKind::Question {
            self.choices.extend(choices.iter().map(|choice| (id, choice.clone())));
        }
        self.items.push(Item {
            kind,
            from: turn.envelope.from.clone(),
            to: turn.envelope.to.clone(),
            sequence: turn.envelope.sequence,
            text,
            choices,
            escalated,
            decided_by: None,
            state: ItemState::Open,
            span: block.word_span(),
        });
        // One answer is enough for a blocker, and for what was said to all.
        let needed = if kind == ItemKind::Blocker { 1 } else { turn.to.len() };
        self.accounts.push(Account { from: turn.from, answers: 0, needed });
        self.list(id, turn, escalated);
        events.push(Event::Opened(ItemId(id)));
        id
    }

    fn list(&mut self, id: usize, turn: &Turn<'a>, escalated: bool) {
        let kind = self.items[id].kind;
        let classes: &[Class] = match kind {
            ItemKind::Request => &[Class::Request, Class::Work],
            ItemKind::Question => &[Class::Question],
            ItemKind::Blocker => match turn.question {
                Some(question) => {
                    self.riders.entry(question).or_default().push(id);
                    &[]
                }
                None => &[Class::Question],
            },
        };
        for &class in classes {
            for &to in &turn.to {
                self.ledger.push(List::Between(class, turn.from, to), id);
                self.ledger.push(List::Between(class, AgentId::ANY, to), id);
            }
            self.ledger.push(List::Of(class, turn.message), id);
        }
        if kind == ItemKind::Blocker {
            for &to in &turn.to {
                self.ledger.push(List::Blockers(turn.from, to), id);
                if escalated {
                    self.ledger.push(List::EscalatedTo(to), id);
                }
            }
            self.ledger.push(List::Blockers(turn.from, AgentId::ANY), id);
            if escalated {
                self.ledger.push(List::EscalatedBy(turn.from), id);
            }
        }
    }

    fn respond(&mut self, res: Block<'a>, turn: &Turn<'a>, events: &mut Vec<Event<'a>>) {
        let choice = res.get("o").and_then(Node::as_text).unwrap_or_default();
        let asker = addressee(&turn.to);
        let re = res.get("x_re").or_else(|| turn.envelope.header.get("x_re")).and_then(number);
        let named = re.and_then(|re| self.sent.get(&(asker, re)).copied());
        let target = match (re, named) {
            (Some(_), Some(message)) => self.asked_in(message, turn.from),
            // It names a message that is not here.
            (Some(_), None) if asker != AgentId::ANY => {
                return self.answers_elsewhere(res);
            }
            _ => self.asked_by(asker, turn.from, is_acknowledgement(&choice)),
        };
        if let Some(id) = target {
            return self.answer(id, choice, res, turn, events);
        }
        if let Some(id) = self.escalated_by(asker) {
            return self.answer(id, choice, res, turn, events);
        }
        if let Some(id) = self.escalated_to(asker)
            && self.items[id].from != turn.envelope.from
        {
            let by = turn.envelope.from.clone();
            self.items[id].decided_by = Some(by.clone());
            return events.push(Event::Decided { item: ItemId(id), by, choice });
        }
        // Any message may be acknowledged.
        let spoken = named.is_some()
            || self.spoken.contains(&(asker, turn.from))
            || self.spoken.contains(&(asker, AgentId::ALL));
        match spoken {
            true if is_acknowledgement(&choice) => {}
            true => self.answers_nothing(res),
            false => self.answers_elsewhere(res),
        }
    }

    /// What a message asks and `answerer` has not answered.
    fn asked_in(&mut self, message: usize, answerer: AgentId) -> Option<usize> {
        let question = self.ledger.next(List::Of(Class::Question, message), answerer, |_| false);
        question
            .or_else(|| self.ledger.next(List::Of(Class::Request, message), answerer, |_| false))
    }

    /// The oldest that `asker` has asked `answerer`. Who chooses an option answers a question
    /// rather than a request.
    fn asked_by(&mut self, asker: AgentId, answerer: AgentId, acknowledges: bool) -> Option<usize> {
        let mut oldest = |class| {
            let is_own = |id: usize| self.accounts[id].from == answerer;
            self.ledger.oldest(class, asker, answerer, is_own)
        };
        let (question, request) = (oldest(Class::Question), oldest(Class::Request));
        match (question, request) {
            (Some(question), Some(request)) if acknowledges => Some(question.min(request)),
            (question, request) => question.or(request),
        }
    }

    fn escalated_by(&mut self, worker: AgentId) -> Option<usize> {
        let items = &self.items;
        let is_open = |id: usize| items[id].state == ItemState::Open;
        self.ledger.first_open(List::EscalatedBy(worker), is_open)
    }

    fn escalated_to(&mut self, orchestrator: AgentId) -> Option<usize> {
        let items = &self.items;
        let is_open =
            |id: usize| items[id].state == ItemState::Open && items[id].decided_by.is_none();
        self.ledger.first_open(List::EscalatedTo(orchestrator), is_open)
    }

    fn answer(
        &mut self,
        id: usize,
        choice: Cow<'a, str>,
        res: Block<'a>,
        turn: &Turn<'a>,
        events: &mut Vec<Event<'a>>,
    ) {
        let by = turn.envelope.from.clone();
        let item = &mut self.items[id];
        let account = &mut self.accounts[id];
        account.answers += 1;
        let accepts = item.kind == ItemKind::Request && choice == "ACK";
        if accepts {
            self.ledger.answer(id, turn.from);
        } else {
            self.ledger.finish(id, turn.from);
        }
        if item.state == ItemState::Open && account.answers >= account.needed {
            item.state = match accepts {
                true => ItemState::Accepted { by: by.clone() },
                false => ItemState::Answered { by: by.clone(), choice: choice.clone() },
            };
        }
        let (kind, span) = (item.kind, item.span);
        let has_options = kind == ItemKind::Question && !item.choices.is_empty();
        let fits = is_acknowledgement(&choice) || self.choices.contains(&(id, choice.clone()));
        if has_options && !fits {
            let place = res.get("o").map_or(res.word_span(), Node::span);
            let message = format!("{} is none of the options", shown(&choice));
            self.found.push(
                Diagnostic::warning(codes::UNKNOWN_OPTION, place, message)
                    .label(span, "this is the question")
                    .help(options_help(&self.items[id].choices)),
            );
        }
        events.push(Event::Answered { item: ItemId(id), by: by.clone(), choice: choice.clone() });
        if kind != ItemKind::Question {
            return;
        }
        for rider in self.riders.remove(&id).unwrap_or_default() {
            self.items[rider].state = ItemState::AnsweredWith(ItemId(id));
            events.push(Event::Unblocked(ItemId(rider)));
        }
    }

    fn answers_nothing(&mut self, res: Block<'a>) {
        let message = "nothing is open that this could answer";
        self.found.push(
            Diagnostic::warning(codes::ANSWERS_NOTHING, res.word_span(), message)
                .help("answer each question once; name its message with `x_re`"),
        );
    }

    fn answers_elsewhere(&mut self, res: Block<'a>) {
        let message = "what this answers is not in the document";
        self.found.push(
            Diagnostic::info(codes::ANSWERS_NOTHING, res.word_span(), message)
                .help("nothing is wrong if the document shows a part of a conversation"),
        );
    }

    fn work(&mut self, turn: &Turn<'a>) -> Option<usize> {
        let is_own = |id: usize| self.accounts[id].from == turn.from;
        self.ledger.oldest(Class::Work, addressee(&turn.to), turn.from, is_own)
    }

    fn progress(&mut self, turn: &Turn<'a>, events: &mut Vec<Event<'a>>) {
        let Some(id) = self.work(turn) else { return };
        let by = turn.envelope.from.clone();
        let item = &mut self.items[id];
        if matches!(item.state, ItemState::Open | ItemState::Accepted { .. }) {
            item.state = ItemState::Working { by: by.clone() };
        }
        events.push(Event::Progress { item: ItemId(id), by });
    }

    fn end(&mut self, end: Block<'a>, turn: &Turn<'a>, events: &mut Vec<Event<'a>>) {
        if let Some(blocker) = self.open_blocker(turn) {
            let message = "this ends work that is blocked";
            self.found.push(
                Diagnostic::warning(codes::END_WHILE_BLOCKED, end.word_span(), message)
                    .label(self.items[blocker].span, "this blocker is still open")
                    .help("wait for the answer to the blocker before the END"),
            );
        }
        let request = self.work(turn);
        if let Some(id) = request {
            self.ledger.finish(id, turn.from);
            self.items[id].state = ItemState::Done { by: turn.envelope.from.clone() };
        }
        self.plans.start(self.pair(turn));
        let handoff = Handoff {
            from: turn.envelope.from.clone(),
            to: turn.envelope.to.clone(),
            next: end.get("n").and_then(Node::as_text).unwrap_or_default(),
            request: request.map(ItemId),
            span: end.word_span(),
        };
        self.done.push(handoff.clone());
        events.push(Event::Ended(handoff));
    }

    fn open_blocker(&mut self, turn: &Turn<'a>) -> Option<usize> {
        let items = &self.items;
        let is_open = |id: usize| items[id].state == ItemState::Open;
        let to = addressee(&turn.to);
        let direct = self.ledger.first_open(List::Blockers(turn.from, to), is_open);
        direct.or_else(|| self.ledger.first_open(List::Blockers(turn.from, AgentId::ALL), is_open))
    }
}

/// These acknowledge, refuse or doubt a message; they are no options.
fn is_acknowledgement(choice: &str) -> bool {
    matches!(choice, "ACK" | "NACK" | "WARN")
}

fn texts<'a>(list: Node<'a>) -> Vec<Cow<'a, str>> {
    list.children().filter_map(Node::as_text).collect()
}

fn options_help(options: &[Cow<'_, str>]) -> String {
    const MOST: usize = 5;
    let mut listed: Vec<String> = options.iter().take(MOST).map(|it| shown(it)).collect();
    if options.len() > MOST {
        listed.push("…".to_owned());
    }
    format!("choose one of {}, or say ACK or NACK", listed.join(", "))
}

/// A name as a message shows it: on one line, and not longer than a person reads.
pub(crate) fn shown(name: &str) -> String {
    quoted(name)
}
