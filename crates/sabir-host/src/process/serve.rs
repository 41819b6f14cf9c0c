//! A program that is talked to over its standard streams, under a supervisor like any command's: when
//! it ends, or we do, nothing of it is left.

use std::io;
use std::path::Path;
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::net::UnixStream;
use tokio::net::unix::pipe;
use tokio::process::{Child, ChildStderr, ChildStdout};
use tokio::time::timeout;

use super::{ExecError, UNKILLABLE, input_pipe, last_report, start};
use crate::sandbox::wire::{self, Command, How, Status, Task};

/// A running program. Dropping it ends the program and everything that it started.
#[derive(Debug)]
pub(crate) struct Served {
    supervisor: Child,
    /// The lifeline.
    socket: UnixStream,
}

/// Our ends of its streams.
pub(crate) struct Streams {
    pub(crate) input: pipe::Sender,
    pub(crate) output: ChildStdout,
    pub(crate) errors: ChildStderr,
}

/// How it ended.
pub(crate) enum End {
    /// By itself.
    Alone(Status),
    /// We ended it.
    Told,
    /// Nobody knows.
    Lost(ExecError),
}

impl Served {
    /// Starts it with full access. `helper` is as for [`super::Runner::new`].
    pub(crate) async fn start(helper: &Path, command: Command) -> io::Result<(Self, Streams)> {
        let task = wire::encode(&Task { command, how: How::FullAccess })?;
        let (input, to_input) = input_pipe()?;
        let (mut socket, mut supervisor) = start(helper, Some(input))?;
        let (Some(output), Some(errors)) = (supervisor.stdout.take(), supervisor.stderr.take())
        else {
            return Err(io::Error::other("its pipes are missing"));
        };
        // A helper that goes away while it is told what to do says nothing, and is noticed so.
        let _ = socket.write_all(&task).await;
        Ok((Self { supervisor, socket }, Streams { input: to_input, output, errors }))
    }

    /// Waits for the program to end by itself, and then ends it and all that is left of it.
    pub(crate) async fn end(mut self, patience: Duration) -> End {
        let (mut reports, lifeline) = self.socket.into_split();
        let mut warnings = Vec::new();
        let mut last = std::pin::pin!(last_report(&mut reports, &mut warnings));
        let end = match timeout(patience, &mut last).await {
            Ok(Ok((status, _))) => End::Alone(status),
            Ok(Err(lost)) => End::Lost(lost.unconfined()),
            Err(_) => {
                drop(lifeline);
                match timeout(UNKILLABLE, last).await {
                    Ok(Ok(_)) => End::Told,
                    Ok(Err(lost)) => End::Lost(lost.unconfined()),
                    Err(_) => return End::Lost(ExecError::Unkillable),
                }
            }
        };
        let _ = self.supervisor.wait().await;
        end
    }
}
