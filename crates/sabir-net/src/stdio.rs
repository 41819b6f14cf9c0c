//! The queue pair on standard input and output.

use sabir_host::Engine;

use crate::lines::lines;
use crate::transport::carry;

/// Serves one session, until it is shut down or its input ends and it has nothing left to do.
pub async fn serve_stdio(engine: &Engine) {
    let (source, sink) = lines(tokio::io::stdin(), tokio::io::stdout());
    carry(source, sink, engine.connect()).await;
}
