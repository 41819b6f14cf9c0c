//! A person's answers, typed on the terminal.

use std::collections::{BTreeMap, VecDeque};
use std::io::BufRead as _;
use std::time::{Duration, Instant};

use sabir_engine::{Decision, Event, EventMsg, FileChange};
use sabir_policy::as_typed;
use tokio::sync::mpsc;

use super::show::{Screen, guttered};
use crate::signals::{Signals, Stop};

/// Something that waits for an answer.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) call_id: String,
    pub(super) is_patch: bool,
    pub(super) question: String,
    /// What "always" covers.
    pub(super) scope: String,
    pub(super) changes: BTreeMap<String, FileChange>,
}

/// What became of a question.
pub(super) enum Answer {
    Given(Asked, Decision),
    /// Nobody answered in time; the engine has denied it by itself.
    Late,
}

/// What was typed at the prompt.
pub(super) enum Typed {
    Task(String),
    Nothing,
    Stop(Stop),
}

pub(super) struct Answers {
    lines: Option<mpsc::Receiver<Line>>,
    /// With the time from which on nobody waits for the answer.
    asked: VecDeque<(Asked, Option<Instant>)>,
    /// When the first of them was put.
    asked_at: Option<Instant>,
    /// How long the engine waits.
    patience: Duration,
}

/// What was typed, and when.
struct Line {
    text: String,
    at: Instant,
}

/// Lines are taken from the terminal as they are typed, so that it is known when they were. What
/// is beyond these waits in the terminal.
const TYPED_AHEAD: usize = 64;

impl Asked {
    pub(super) fn of(event: &Event) -> Option<Self> {
        let why = |reason: &Option<String>| match reason {
            Some(reason) => format!("\n  why asked: {}", guttered(reason)),
            None => String::new(),
        };
        match &event.msg {
            EventMsg::ExecApprovalRequest { call_id, command, cwd, reason, session_scope } => {
                let (cwd, command) = (guttered(cwd), guttered(&as_typed(command)));
                Some(Self {
                    call_id: call_id.clone(),
                    is_patch: false,
                    question: format!("Run this command in {cwd}?\n  $ {command}{}", why(reason)),
                    scope: guttered(session_scope),
                    changes: BTreeMap::new(),
                })
            }
            EventMsg::ApplyPatchApprovalRequest { call_id, changes, reason, session_scope } => {
                let names: Vec<&str> = changes.keys().map(String::as_str).collect();
                let names = guttered(&names.join(", "));
                Some(Self {
                    call_id: call_id.clone(),
                    is_patch: true,
                    question: format!("Change {names}?{}", why(reason)),
                    scope: guttered(session_scope),
                    changes: changes.clone(),
                })
            }
            _ => None,
        }
    }
}

/// The call that this event shows to wait for no answer any more.
fn settled(event: &Event) -> Option<&str> {
    match &event.msg {
        EventMsg::ExecCommandBegin { call_id, .. }
        | EventMsg::ExecCommandEnd { call_id, .. }
        | EventMsg::PatchApplyBegin { call_id, .. }
        | EventMsg::PatchApplyEnd { call_id, .. }
        | EventMsg::ToolCallBegin { call_id, .. }
        | EventMsg::ToolCallEnd { call_id, .. } => Some(call_id),
        _ => None,
    }
}

impl Answers {
    pub(super) fn new(is_attended: bool, patience: Duration) -> Self {
        let lines = is_attended.then(|| {
            let (send, lines) = mpsc::channel(TYPED_AHEAD);
            std::thread::spawn(move || {
                for line in std::io::stdin().lock().lines() {
                    let Ok(text) = line else { return };
                    if send.blocking_send(Line { text, at: Instant::now() }).is_err() {
                        return;
                    }
                }
            });
            lines
        });
        Self { lines, asked: VecDeque::new(), asked_at: None, patience }
    }

    pub(super) fn is_attended(&self) -> bool {
        self.lines.is_some()
    }

    /// The next task that is typed.
    pub(super) async fn task(&mut self, signals: &mut Signals) -> Typed {
        let Some(lines) = self.lines.as_mut() else { return Typed::Nothing };
        loop {
            Screen::prompt("\n> ");
            tokio::select! {
                line = lines.recv() => match line.as_ref().map(|line| line.text.trim()) {
                    Some("") => {}
                    Some(text) => return Typed::Task(text.to_owned()),
                    None => return Typed::Nothing,
                },
                stop = signals.next() => return Typed::Stop(stop),
            }
        }
    }

    pub(super) fn ask(&mut self, asked: Asked, screen: &mut Screen) {
        let deadline = Instant::now().checked_add(self.patience);
        self.asked.push_back((asked, deadline));
        if self.asked.len() == 1 {
            self.put(screen);
        }
    }

    /// Puts the next question, if there is one that somebody still waits for.
    pub(super) fn ask_next(&mut self, screen: &mut Screen) {
        screen.answered();
        let now = Instant::now();
        self.asked.retain(|(_, deadline)| deadline.is_none_or(|deadline| deadline > now));
        self.put(screen);
    }

    fn put(&mut self, screen: &mut Screen) {
        if let Some((asked, _)) = self.asked.front() {
            // Before it is seen: nobody is faster than that.
            self.asked_at = Some(Instant::now());
            screen.ask(asked);
        }
    }

    /// Takes back a question that the engine has settled by itself.
    pub(super) fn hear(&mut self, event: &Event, screen: &mut Screen) {
        let Some(call_id) = settled(event) else { return };
        let Some(at) = self.asked.iter().position(|(asked, _)| asked.call_id == call_id) else {
            return;
        };
        self.asked.remove(at);
        if at == 0 {
            screen.note("this question is settled");
            self.ask_next(screen);
        }
    }

    /// What was asked no longer matters.
    pub(super) fn forget(&mut self) {
        self.asked.clear();
    }

    /// The next answer, to the question that was put first.
    pub(super) async fn next(&mut self) -> Answer {
        let (Some(lines), Some((_, deadline))) = (self.lines.as_mut(), self.asked.front()) else {
            return std::future::pending().await;
        };
        let deadline = *deadline;
        let late = async {
            match deadline {
                Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
                None => std::future::pending().await,
            }
        };
        let mut late = std::pin::pin!(late);
        let decision = loop {
            let line = tokio::select! {
                line = lines.recv() => line,
                () = &mut late => break None,
            };
            // Who typed before the question was put has not answered it.
            if line.as_ref().is_some_and(|line| Some(line.at) < self.asked_at) {
                continue;
            }
            let word = line.map(|line| line.text.trim().to_lowercase());
            match word.as_deref() {
                Some("y" | "yes") => break Some(Decision::Approved),
                Some("a" | "always") => break Some(Decision::ApprovedForSession),
                // The end of input is a refusal: nobody will answer.
                Some("n" | "no") | None => break Some(Decision::Denied),
                Some("q" | "quit") => break Some(Decision::Abort),
                Some(_) => Screen::prompt("y, n, a or q? "),
            }
        };
        match (self.asked.pop_front(), decision) {
            (Some((asked, _)), Some(decision)) => Answer::Given(asked, decision),
            _ => Answer::Late,
        }
    }
}
