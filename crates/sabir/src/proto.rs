//! `sabir proto`: the queue pair for other programs.

use std::process::ExitCode;

use clap::Args;

use crate::agent_args::{AgentArgs, runtime};
use crate::exit::Exit;
use crate::output::Notes;

/// Serve the engine to another program, as lines of JSON
///
/// Each line that comes in is a submission, each line that goes out an event. The session begins
/// with configure_session. What is said here is the default of the session.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir proto < submissions.jsonl > events.jsonl
  echo '{\"id\":\"1\",\"op\":{\"type\":\"configure_session\",\"model\":\"m\"}}' | sabir proto \\
      --base-url http://127.0.0.1:8080/v1

When the input ends, what runs is finished, and what would have to be asked for is denied.

Exit codes:
  0  the session is over
  2  the command line is wrong, or the engine cannot be opened")]
pub(crate) struct ProtoArgs {
    #[command(flatten)]
    agent: AgentArgs,
}

impl ProtoArgs {
    pub(crate) fn run(self, notes: &mut Notes) -> ExitCode {
        let opened = self.agent.open().and_then(|engine| Ok((engine, runtime()?)));
        let (engine, runtime) = match opened {
            Ok(opened) => opened,
            Err(error) => {
                notes.error(error);
                return Exit::Unusable.into();
            }
        };
        runtime.block_on(async {
            sabir_net::serve_stdio(&engine).await;
            engine.shutdown().await;
        });
        // A thread may still be waiting for a line on standard input.
        runtime.shutdown_background();
        Exit::Done.into()
    }
}
