//! Questions of the gate, on the terminal. Where nobody sits, nobody is asked, and the answer is no.

use std::io::{BufRead as _, IsTerminal as _, Write as _};

use sabir_host::Petition;
use tokio::sync::mpsc;

/// Whether somebody can be asked.
pub(super) fn is_attended() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Answers one question after the other, for as long as there are any. What was typed before a
/// question was put is no answer to it.
pub(super) fn answer_all(mut petitions: mpsc::Receiver<Petition>) {
    let (send, mut lines) = mpsc::channel(TYPED_AHEAD);
    // Threads of their own: reading a line cannot be given up.
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { return };
            if send.blocking_send(line).is_err() {
                return;
            }
        }
    });
    std::thread::spawn(move || {
        while let Some(Petition { question, answer }) = petitions.blocking_recv() {
            while lines.try_recv().is_ok() {}
            // The tool once more, where the eye is when the answer is typed.
            let choice = format!("Allow {}? [y]es [n]o: ", question.tool);
            prompt(&format!("\n{}\n{choice}", question.in_words(width())));
            let is_yes = loop {
                // At the end of input nobody will answer.
                let Some(line) = lines.blocking_recv() else { break false };
                match line.trim().to_lowercase().as_str() {
                    "y" | "yes" => break true,
                    "n" | "no" => break false,
                    _ => prompt(&choice),
                }
            };
            // Whoever was stopped meanwhile waits for nothing.
            let _ = answer.send(is_yes);
        }
    });
}

/// Of the terminal. It may have changed since the last question.
fn width() -> usize {
    let size = rustix::termios::tcgetwinsize(std::io::stderr()).ok();
    size.map(|it| usize::from(it.ws_col)).filter(|columns| *columns > 0).unwrap_or(USUAL_WIDTH)
}

fn prompt(text: &str) {
    let mut screen = std::io::stderr().lock();
    // Nobody is left to tell when it cannot be written.
    let _ = screen.write_all(text.as_bytes()).and_then(|()| screen.flush());
}

/// Of a terminal that does not say.
const USUAL_WIDTH: usize = 80;

/// Lines that somebody typed while nothing was asked.
const TYPED_AHEAD: usize = 1024;
