//! The queue pair on standard input and output.

use std::os::fd::AsFd as _;

use sabir_host::Engine;
use tokio_util::sync::CancellationToken;

use crate::lines::lines;
use crate::transport::carry_until;

/// Serves one session, until it is shut down, or its input ends and it has nothing left to do, or
/// `stop` is cancelled.
pub async fn serve_stdio(engine: &Engine, stop: &CancellationToken) {
    let (source, sink) = lines(tokio::io::stdin(), tokio::io::stdout());
    let watched = std::io::stdout().as_fd().try_clone_to_owned().ok();
    carry_until(source, sink.watching(watched), engine.connect(), stop).await;
}
