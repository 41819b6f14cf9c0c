//! `sabir acp`: the engine for editors that speak the Agent Client Protocol.

use std::process::ExitCode;

use clap::Args;

use crate::agent_args::{AgentArgs, runtime};
use crate::exit::Exit;
use crate::output::Notes;

/// Serve an editor over standard input and output (Agent Client Protocol)
///
/// The editor opens sessions, each in a folder of its own; what is said here is the default of all
/// of them. Stored sessions can be loaded again.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir acp --model gpt-5        start this from an editor
  sabir acp --model m --base-url http://127.0.0.1:8080/v1 --approval untrusted

When the input ends, everything that was started ends too.

Exit codes:
  0  the editor is gone
  2  the command line is wrong, or the engine cannot be opened")]
pub(crate) struct AcpArgs {
    #[command(flatten)]
    agent: AgentArgs,
}

impl AcpArgs {
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
            sabir_net::serve_acp(&engine, self.agent.configure()).await;
            engine.shutdown().await;
        });
        // A thread may still be waiting for a line on standard input.
        runtime.shutdown_background();
        Exit::Done.into()
    }
}
