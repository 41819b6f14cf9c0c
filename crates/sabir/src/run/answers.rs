//! A person's answers, typed on the terminal.

use std::collections::VecDeque;
use std::io::BufRead as _;
use std::time::Instant;

use sabir_engine::{Decision, Event, EventMsg};
use sabir_policy::as_typed;
use tokio::signal::unix::Signal;
use tokio::sync::mpsc;

use super::show::Screen;

/// Something that waits for an answer.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) call_id: String,
    pub(super) is_patch: bool,
    question: String,
    /// What "always" covers.
    scope: String,
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
        match &event.msg {
            EventMsg::ExecApprovalRequest { call_id, command, cwd, reason, session_scope } => {
                let why =
                    reason.as_ref().map(|it| format!("\n  why asked: {it}")).unwrap_or_default();
                Some(Self {
                    call_id: call_id.clone(),
                    is_patch: false,
                    question: format!("Run this command in {cwd}?\n  $ {}{why}", as_typed(command)),
                    scope: session_scope.clone(),
                })
            }
            EventMsg::ApplyPatchApprovalRequest { call_id, changes, reason, session_scope } => {
                let why =
                    reason.as_ref().map(|it| format!("\n  why asked: {it}")).unwrap_or_default();
                let names: Vec<&str> = changes.keys().map(String::as_str).collect();
                Some(Self {
                    call_id: call_id.clone(),
                    is_patch: true,
                    question: format!("Change {}?{why}", names.join(", ")),
                    scope: session_scope.clone(),
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

    /// The next task that is typed.
    pub(super) async fn task(&mut self, interrupts: &mut Option<Signal>) -> Option<String> {
        let lines = self.lines.as_mut()?;
        loop {
            Screen::prompt("\n> ");
            tokio::select! {
                line = lines.recv() => match line?.text.trim() {
                    "" => {}
                    text => return Some(text.to_owned()),
                },
                () = super::pressed(interrupts) => return None,
            }
        }
    }

    pub(super) fn ask(&mut self, asked: Asked, screen: &mut Screen) {
        if self.lines.is_none() {
            return;
        }
        self.asked.push_back(asked);
        if self.asked.len() == 1 {
            self.ask_next(screen);
        }
    }

    pub(super) fn ask_next(&mut self, screen: &mut Screen) {
        if let Some(asked) = self.asked.front() {
            screen.ask(&asked.question, &asked.scope);
            self.asked_at = Some(Instant::now());
        }
    }

    /// What was asked no longer matters.
    pub(super) fn forget(&mut self) {
        self.asked.clear();
    }

    /// The next answer, to the question that was put first.
    pub(super) async fn next(&mut self) -> (Asked, Decision) {
        let (Some(lines), false) = (&mut self.lines, self.asked.is_empty()) else {
            return std::future::pending().await;
        };
        loop {
            // The end of input is a refusal: nobody will answer.
            let line = lines.recv().await;
            // Who typed before the question was put has not answered it.
            if line.as_ref().is_some_and(|line| Some(line.at) < self.asked_at) {
                continue;
            }
            let decision = match line.as_ref().map(|line| line.text.trim()) {
                Some("y" | "Y" | "yes") => Decision::Approved,
                Some("a" | "A" | "always") => Decision::ApprovedForSession,
                Some("n" | "N" | "no") | None => Decision::Denied,
                Some("q" | "Q" | "quit") => Decision::Abort,
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
