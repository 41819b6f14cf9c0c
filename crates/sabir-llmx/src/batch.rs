//! Batches: actions that are carried out side by side, and observations that come back in any
//! order.
//!
//! A batch belongs to who started it: two agents may both call theirs `B1`.

use std::borrow::Cow;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use sabir_base::{Diagnostic, Span};

use crate::block::BlockKind;
use crate::codes;
use crate::conversation::Receivers;
use crate::conversation::envelope::{AgentId, Agents, Envelope, addressee, name};
use crate::conversation::sequence::Sequences;
use crate::conversation::shown;
use crate::normal::is_failure;
use crate::view::{Block, Message, Node};

/// Collects the actions and observations of a document.
#[derive(Debug, Default)]
pub struct Batches<'a> {
    agents: Agents<'a>,
    sequences: Sequences<'a>,
    batches: Vec<BatchState<'a>>,
    /// The batch of each name and starter.
    by_starter: HashMap<(Cow<'a, str>, AgentId), usize>,
    /// The only batch of each name; `None` when there are several.
    by_name: HashMap<Cow<'a, str>, Option<usize>>,
    /// The action of each id in each batch.
    ids: HashMap<(usize, Cow<'a, str>), usize>,
    /// Observations in batches wait until all actions are known: they come in any order.
    waiting: Vec<Waiting<'a>>,
    loose: Vec<ActionState<'a>>,
    /// The latest action outside a batch by who asks, who is asked and its id.
    latest: HashMap<(AgentId, AgentId, Cow<'a, str>), usize>,
    /// Who has answered which action outside a batch, and where.
    answered: HashMap<(usize, AgentId), Span>,
    found: Vec<Diagnostic>,
}

/// Everything that was found about batches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BatchReport<'a> {
    pub batches: Vec<BatchState<'a>>,
    /// Actions outside a batch.
    pub loose: Vec<ActionState<'a>>,
    pub diagnostics: Vec<Diagnostic>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchState<'a> {
    pub id: Cow<'a, str>,
    /// Who sent its actions.
    pub from: Cow<'a, str>,
    pub actions: Vec<ActionState<'a>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionState<'a> {
    pub id: Option<Cow<'a, str>>,
    pub to: Receivers<'a>,
    /// The type of its block.
    pub span: Span,
    pub answers: Vec<Answer<'a>>,
}

/// An observation of an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer<'a> {
    pub from: Cow<'a, str>,
    pub failed: bool,
    pub span: Span,
}

#[derive(Debug)]
struct Waiting<'a> {
    batch: Cow<'a, str>,
    from: AgentId,
    to: AgentId,
    action: Option<Cow<'a, str>>,
    /// Where it names its action, or its type.
    place: Span,
    answer: Answer<'a>,
}

impl<'a> Batches<'a> {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn feed(&mut self, message: Message<'a>) {
        let Some(envelope) = Envelope::of(message) else { return };
        if self.sequences.feed(&envelope, message).is_repeat() {
            return;
        }
        for block in message.blocks() {
            match (block.kind(), &envelope.batch) {
                (BlockKind::Act, Some(batch)) => self.action(block, batch.clone(), &envelope),
                (BlockKind::Act, None) => self.loose_action(block, &envelope),
                (BlockKind::Obs, Some(batch)) => {
                    let from = self.agents.id(envelope.from.clone());
                    let to = addressee(&self.agents.receivers(&envelope.to));
                    self.waiting.push(Waiting {
                        batch: batch.clone(),
                        from,
                        to,
                        action: block.get("ai").and_then(name),
                        place: block.get("ai").map_or(block.word_span(), Node::span),
                        answer: answer(block, &envelope),
                    });
                }
                (BlockKind::Obs, None) => self.loose_observation(block, &envelope),
                _ => {}
            }
        }
    }

    pub fn finish(mut self) -> BatchReport<'a> {
        let mut answered: HashMap<(usize, usize, AgentId), Span> = HashMap::new();
        let mut counts: HashMap<(usize, AgentId), usize> = HashMap::new();
        for waiting in std::mem::take(&mut self.waiting) {
            let Some(batch) = self.batch_of(&waiting) else {
                self.unknown_batch(&waiting);
                continue;
            };
            let Some(action) = self.action_of(batch, &waiting, &answered, &counts) else {
                continue;
            };
            match answered.entry((batch, action, waiting.from)) {
                Entry::Vacant(slot) => {
                    slot.insert(waiting.answer.span);
                    *counts.entry((batch, waiting.from)).or_default() += 1;
                    self.batches[batch].actions[action].answers.push(waiting.answer);
                }
                Entry::Occupied(first) => {
                    let found = Diagnostic::error;
                    self.found.push(duplicate(found, &waiting.answer, *first.get()));
                }
            }
        }
        for batch in &self.batches {
            report_batch(batch, &mut self.found);
        }
        self.found.sort_by_key(|found| found.span.start);
        BatchReport { batches: self.batches, loose: self.loose, diagnostics: self.found }
    }

    fn action(&mut self, act: Block<'a>, batch: Cow<'a, str>, envelope: &Envelope<'a>) {
        let from = self.agents.id(envelope.from.clone());
        let next = self.batches.len();
        let index = *self.by_starter.entry((batch.clone(), from)).or_insert(next);
        if index == next {
            let (id, from) = (batch.clone(), envelope.from.clone());
            self.batches.push(BatchState { id, from, actions: Vec::new() });
            let only = self.by_name.entry(batch.clone());
            only.and_modify(|only| *only = None).or_insert(Some(index));
        }
        let state = action_state(act, envelope);
        let number = self.batches[index].actions.len();
        if let Some(id) = &state.id {
            match self.ids.entry((index, id.clone())) {
                Entry::Vacant(slot) => {
                    slot.insert(number);
                }
                Entry::Occupied(first) => {
                    let first = self.batches[index].actions[*first.get()].span;
                    let place = act.get("i").map_or(state.span, |id| id.span());
                    let (id, batch) = (shown(id), shown(&batch));
                    let message = format!("batch {batch} has an action {id} already");
                    self.found.push(
                        Diagnostic::error(codes::DUPLICATE_ACTION, place, message)
                            .label(first, "this is it")
                            .help("give every action of a batch an id of its own"),
                    );
                }
            }
        }
        self.batches[index].actions.push(state);
    }

    fn loose_action(&mut self, act: Block<'a>, envelope: &Envelope<'a>) {
        let from = self.agents.id(envelope.from.clone());
        let state = action_state(act, envelope);
        let number = self.loose.len();
        if let Some(id) = &state.id {
            // Who declares an action may carry it out too.
            for to in self.agents.receivers(&envelope.to).into_iter().chain([from, AgentId::ANY]) {
                self.latest.insert((from, to, id.clone()), number);
            }
            self.latest.insert((AgentId::ANY, AgentId::ANY, id.clone()), number);
        }
        self.loose.push(state);
    }

    fn loose_observation(&mut self, obs: Block<'a>, envelope: &Envelope<'a>) {
        let Some(id) = obs.get("ai").and_then(name) else { return };
        let from = self.agents.id(envelope.from.clone());
        let asker = addressee(&self.agents.receivers(&envelope.to));
        let own = (from, AgentId::ANY, id.clone());
        let asked = match asker {
            AgentId::ANY => vec![(AgentId::ANY, AgentId::ANY, id.clone()), own],
            _ => vec![(asker, from, id.clone()), (asker, AgentId::ALL, id.clone()), own],
        };
        let action = asked.iter().filter_map(|key| self.latest.get(key).copied()).max();
        let answer = answer(obs, envelope);
        let Some(action) = action else {
            let place = obs.get("ai").map_or(answer.span, |id| id.span());
            let message = format!("the action {} is not in the document", shown(&id));
            let help = "nothing is wrong if the document shows a part of a conversation";
            let found = Diagnostic::info(codes::UNKNOWN_ACTION, place, message);
            return self.found.push(found.help(help));
        };
        match self.answered.entry((action, from)) {
            Entry::Vacant(slot) => {
                slot.insert(answer.span);
                self.loose[action].answers.push(answer);
            }
            // Outside a batch an id may be used again for an action that is not shown.
            Entry::Occupied(first) => {
                self.found.push(duplicate(Diagnostic::warning, &answer, *first.get()));
            }
        }
    }

    /// The batch that an observation belongs to: of those with that name, the one that its
    /// receiver started, or its sender, or the only one.
    fn batch_of(&self, waiting: &Waiting<'a>) -> Option<usize> {
        let started_by = |agent| self.by_starter.get(&(waiting.batch.clone(), agent)).copied();
        let only = || self.by_name.get(&waiting.batch).copied().flatten();
        started_by(waiting.to).or_else(|| started_by(waiting.from)).or_else(only)
    }

    fn action_of(
        &mut self,
        batch: usize,
        waiting: &Waiting<'a>,
        answered: &HashMap<(usize, usize, AgentId), Span>,
        counts: &HashMap<(usize, AgentId), usize>,
    ) -> Option<usize> {
        if let Some(id) = &waiting.action {
            let known = self.ids.get(&(batch, id.clone())).copied();
            if known.is_none() {
                let batch = shown(&waiting.batch);
                let message = format!("batch {batch} has no action {}", shown(id));
                self.found.push(
                    Diagnostic::error(codes::UNKNOWN_ACTION, waiting.place, message)
                        .help("repeat the `i` of the action as `ai`"),
                );
            }
            return known;
        }
        let actions = &self.batches[batch].actions;
        let done = counts.get(&(batch, waiting.from)).copied().unwrap_or_default();
        match actions.len().saturating_sub(done) {
            0 => None,
            // Rare enough to look for: who comes here has answered all the others.
            1 => (0..actions.len())
                .find(|action| !answered.contains_key(&(batch, *action, waiting.from))),
            open => {
                let message =
                    format!("this observation does not say which of {open} actions it answers");
                self.found.push(
                    Diagnostic::warning(
                        codes::OBSERVATION_WITHOUT_ID,
                        waiting.answer.span,
                        message,
                    )
                    .help("repeat the `i` of the action as `ai`"),
                );
                None
            }
        }
    }

    fn unknown_batch(&mut self, waiting: &Waiting<'a>) {
        let batch = shown(&waiting.batch);
        let message = format!("no action of batch {batch} in the document fits this");
        self.found.push(
            Diagnostic::info(codes::UNKNOWN_ACTION, waiting.place, message)
                .help("nothing is wrong if the document shows a part of a conversation"),
        );
    }
}

fn action_state<'a>(act: Block<'a>, envelope: &Envelope<'a>) -> ActionState<'a> {
    ActionState {
        id: act.get("i").and_then(name),
        to: envelope.to.clone(),
        span: act.word_span(),
        answers: Vec::new(),
    }
}

fn answer<'a>(obs: Block<'a>, envelope: &Envelope<'a>) -> Answer<'a> {
    Answer { from: envelope.from.clone(), failed: is_failure(obs), span: obs.word_span() }
}

fn duplicate(
    new: fn(sabir_base::Code, Span, String) -> Diagnostic,
    answer: &Answer<'_>,
    first: Span,
) -> Diagnostic {
    let message = format!("{} answers this action a second time", shown(&answer.from));
    new(codes::DUPLICATE_OBSERVATION, answer.span, message)
        .label(first, "it has answered here")
        .help("answer every action once")
}

fn report_batch(batch: &BatchState<'_>, found: &mut Vec<Diagnostic>) {
    let name = shown(&batch.id);
    let several = batch.actions.len() > 1;
    if several {
        for action in batch.actions.iter().filter(|action| action.id.is_none()) {
            let message = format!("an action in a batch of several has no id: batch {name}");
            found.push(
                Diagnostic::warning(codes::ACTION_WITHOUT_ID, action.span, message)
                    .help("give it an `i`, so that its result can be told from the others"),
            );
        }
    }
    let unanswered = || batch.actions.iter().filter(|action| action.answers.is_empty());
    let Some(first) = unanswered().next() else { return };
    if unanswered().count() == batch.actions.len() {
        // Nobody has answered yet: most likely the document ends with the question.
        let message = format!("no action of batch {name} has an observation yet");
        found.push(
            Diagnostic::info(codes::UNANSWERED_ACTION, first.span, message)
                .help("nothing is wrong if the conversation goes on"),
        );
        return;
    }
    // A duplicate is an error of its own, and its answers go to the first.
    let mut seen = HashSet::new();
    for action in &batch.actions {
        let Some(id) = &action.id else { continue };
        if !seen.insert(id) || !action.answers.is_empty() {
            continue;
        }
        let message = format!("action {} of batch {name} has no observation", shown(id));
        found.push(
            Diagnostic::warning(codes::UNANSWERED_ACTION, action.span, message)
                .help("send an OBS for it, with `s:ERR` if it was not carried out"),
        );
    }
}
