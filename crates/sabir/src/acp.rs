//! `sabir acp`: the engine for editors that speak the Agent Client Protocol.

use std::process::ExitCode;

use clap::Args;

use crate::agent_args::{AgentArgs, block_on};
use crate::exit::Exit;
use crate::output::Notes;
use crate::signals::Signals;

/// Serve an editor over standard input and output (Agent Client Protocol)
///
/// The editor opens sessions, each in a folder of its own; what is said here is the default of all
/// of them. Stored sessions can be loaded again.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir acp --model gpt-5        start this from an editor
  sabir acp --model m --base-url http://127.0.0.1:8080/v1 --approval untrusted

When the input ends, and on Ctrl-C, SIGTERM and SIGHUP, everything that was started ends too.

Exit codes:
  0    the editor is gone
  2    the command line is wrong, or the engine cannot be opened
  130  interrupted; 129 and 143 after SIGHUP and SIGTERM")]
pub(crate) struct AcpArgs {
    #[command(flatten)]
    agent: AgentArgs,
}

impl AcpArgs {
    pub(crate) fn run(self, notes: &mut Notes) -> ExitCode {
        let served = self.agent.open().and_then(|engine| {
            block_on(async {
                let mut signals = Signals::listen();
                let stopped = tokio::select! {
                    () = sabir_net::serve_acp(&engine, self.agent.configure()) => None,
                    stop = signals.next() => Some(stop),
                };
                engine.shutdown().await;
                stopped.map_or(Exit::Done.into(), |stop| stop.exit_code().into())
            })
        });
        served.unwrap_or_else(|error| {
            notes.error(error);
            Exit::Unusable.into()
        })
    }
}
