//! Questions on the terminal, one at a time.

use std::collections::VecDeque;
use std::io::{BufRead as _, Write as _};

use sabir_base::text::with_hidden_shown;
use sabir_host::Question;
use tokio::sync::mpsc;

/// A person at a terminal.
pub(super) struct Terminal {
    lines: mpsc::Receiver<String>,
    asked: VecDeque<(String, Question)>,
}

impl Terminal {
    pub(super) fn open() -> Self {
        let (send, lines) = mpsc::channel(1);
        std::thread::spawn(move || {
            for line in std::io::stdin().lock().lines() {
                let Ok(line) = line else { return };
                if send.blocking_send(line).is_err() {
                    return;
                }
            }
        });
        Self { lines, asked: VecDeque::new() }
    }

    pub(super) fn ask(&mut self, name: &str, question: Question) {
        self.asked.push_back((name.to_owned(), question));
        if self.asked.len() == 1 {
            self.put();
        }
    }

    fn put(&self) {
        let Some((name, question)) = self.asked.front() else { return };
        let text = format!(
            "{name} wants to {}\n  why asked: {}\n",
            with_hidden_shown(&question.what).trim_end(),
            with_hidden_shown(&question.why)
        );
        prompt(&format!("{}{CHOICE}", text));
    }
}

const CHOICE: &str = "[y]es  [n]o  [q]uit: ";

/// Waits until a question is answered. `None` when the person wants everything to end.
pub(super) async fn answer(terminal: &mut Option<Terminal>) -> Option<()> {
    let Some(terminal) = terminal.as_mut().filter(|it| !it.asked.is_empty()) else {
        return std::future::pending().await;
    };
    loop {
        // The end of input is a refusal: nobody will answer.
        let line = terminal.lines.recv().await;
        let word = line.map(|line| line.trim().to_lowercase());
        let is_allowed = match word.as_deref() {
            Some("y" | "yes") => true,
            Some("n" | "no") | None => false,
            Some("q" | "quit") => {
                terminal.asked.clear();
                return None;
            }
            Some(_) => {
                prompt(CHOICE);
                continue;
            }
        };
        if let Some((_, question)) = terminal.asked.pop_front() {
            // An action that was stopped meanwhile waits for nothing.
            let _ = question.answer.send(is_allowed);
        }
        terminal.put();
        return Some(());
    }
}

fn prompt(text: &str) {
    let mut screen = std::io::stderr().lock();
    // Nobody is left to tell when it cannot be written.
    let _ = screen.write_all(text.as_bytes()).and_then(|()| screen.flush());
}
