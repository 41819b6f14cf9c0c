//! Questions of the gate, on the terminal. Where nobody sits, nobody is asked, and the answer is no.

use std::io::{BufRead as _, IsTerminal as _, Write as _};

use sabir_host::Petition;
use tokio::sync::mpsc;

/// Whether somebody can be asked.
pub(super) fn is_attended() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Answers one question after the other, for as long as there are any.
pub(super) fn answer_all(mut petitions: mpsc::Receiver<Petition>) {
    // A thread of its own: reading a line cannot be given up.
    std::thread::spawn(move || {
        while let Some(Petition { question, answer }) = petitions.blocking_recv() {
            let mut screen = std::io::stderr().lock();
            let text = format!("\n{}\nAllow it? [y]es [n]o: ", question.in_words());
            let _ = screen.write_all(text.as_bytes()).and_then(|()| screen.flush());
            drop(screen);
            let mut line = String::new();
            let is_read = std::io::stdin().lock().read_line(&mut line).is_ok();
            let is_yes = is_read && matches!(line.trim(), "y" | "Y" | "yes");
            // Whoever was stopped meanwhile waits for nothing.
            let _ = answer.send(is_yes);
        }
    });
}
