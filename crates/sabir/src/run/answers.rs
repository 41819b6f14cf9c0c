//! A person's answers, typed on the terminal.

use std::collections::{BTreeMap, VecDeque};
use std::io::BufRead as _;
use std::time::Instant;

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

/// What was typed at the prompt.
pub(super) enum Typed {
    Task(String),
    Nothing,
    Stop(Stop),
}

pub(super) struct Answers {
    lines: Option<mpsc::Receiver<Line>>,
    asked: VecDeque<Asked>,
    /// When the first of them was put.
    asked_at: Option<Instant>,
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

impl Answers {
    pub(super) fn new(is_attended: bool) -> Self {
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
        Self { lines, asked: VecDeque::new(), asked_at: None }
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
        self.asked.push_back(asked);
        if self.asked.len() == 1 {
            self.put(screen);
        }
    }

    /// Puts the next question, if there is one.
    pub(super) fn ask_next(&mut self, screen: &mut Screen) {
        screen.answered();
        self.put(screen);
    }

    fn put(&mut self, screen: &mut Screen) {
        if let Some(asked) = self.asked.front() {
            // Before it is seen: nobody is faster than that.
            self.asked_at = Some(Instant::now());
            screen.ask(asked);
        }
    }

    /// Takes back a question that waits for no answer any more.
    pub(super) fn hear(&mut self, event: &Event, screen: &mut Screen) {
        let EventMsg::ApprovalExpired { call_id } = &event.msg else { return };
        let Some(at) = self.asked.iter().position(|asked| asked.call_id == *call_id) else {
            return;
        };
        self.asked.remove(at);
        if at == 0 {
            screen.note("nobody answered in time, so it is denied");
            self.ask_next(screen);
        }
    }

    /// What was asked no longer matters.
    pub(super) fn forget(&mut self) {
        self.asked.clear();
    }

    /// The next answer, to the question that was put first.
    pub(super) async fn next(&mut self) -> (Asked, Decision) {
        let (Some(lines), false) = (self.lines.as_mut(), self.asked.is_empty()) else {
            return std::future::pending().await;
        };
        loop {
            let line = lines.recv().await;
            // Who typed before the question was put has not answered it.
            if line.as_ref().is_some_and(|line| Some(line.at) < self.asked_at) {
                continue;
            }
            let word = line.map(|line| line.text.trim().to_lowercase());
            let decision = match word.as_deref() {
                Some("y" | "yes") => Decision::Approved,
                Some("a" | "always") => Decision::ApprovedForSession,
                // The end of input is a refusal: nobody will answer.
                Some("n" | "no") | None => Decision::Denied,
                Some("q" | "quit") => Decision::Abort,
                Some(_) => {
                    Screen::prompt("y, n, a or q? ");
                    continue;
                }
            };
            if let Some(asked) = self.asked.pop_front() {
                return (asked, decision);
            }
        }
    }
}
