//! `sabir lsp`: the languages of Sabir in an editor, over standard input and output.
//!
//! `transport` frames messages, `server` is the protocol as a machine that takes a message and
//! gives messages back, `document` knows which notation a text is in, and each of the other modules
//! answers one kind of question: what notations share of the answer is there, the rest is in `axon`
//! and `llmx`.

mod actions;
mod axon;
mod completion;
mod diagnostics;
mod document;
mod hover;
mod llmx;
mod navigation;
mod position;
mod semantic;
mod server;
mod transport;
mod types;

use std::io;
use std::process::ExitCode;

use crate::output::Notes;
use server::Server;
use transport::Incoming;

/// Serves one editor until it says `exit` or goes away. The exit code is the protocol's: 0 after an
/// orderly shutdown, 1 otherwise.
pub(crate) fn serve() -> ExitCode {
    match converse() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            Notes::stderr().line(format_args!("error: the connection broke: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// Whether the conversation ended with a shutdown.
fn converse() -> io::Result<bool> {
    let mut reader = io::stdin().lock();
    let mut writer = io::stdout().lock();
    let mut server = Server::default();
    let mut replies = Vec::new();
    loop {
        match transport::read(&mut reader)? {
            Incoming::Message(message) => server.handle(message, &mut replies),
            Incoming::Malformed(error) => transport::refuse(&mut writer, &error)?,
            Incoming::End => return Ok(server.was_shut_down()),
        }
        for reply in replies.drain(..) {
            reply.write(&mut writer)?;
        }
        if server.has_ended() {
            return Ok(server.was_shut_down());
        }
    }
}
