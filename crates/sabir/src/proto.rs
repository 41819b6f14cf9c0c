//! `sabir proto`: the queue pair for other programs.

use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{ArgGroup, Args};
use sabir_net::{Listen, Server, Token};
use tokio_util::sync::CancellationToken;

use crate::agent_args::{AgentArgs, block_on};
use crate::exit::Exit;
use crate::output::{Notes, Output};
use crate::signals::{Signals, Stop};

/// Serve the engine to another program, as messages of JSON
///
/// Each message that comes in is a submission, each that goes out an event. Without a listener they
/// are lines on standard input and output. Every connection is a session of its own, which begins
/// with configure_session. What is said here is the default of the sessions.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("listeners").multiple(true)))]
#[command(after_help = "\
Examples:
  sabir proto < submissions.jsonl > events.jsonl
  echo '{\"id\":\"1\",\"op\":{\"type\":\"configure_session\",\"model\":\"m\"}}' | sabir proto \\
      --base-url http://127.0.0.1:8080/v1
  sabir proto --tcp 127.0.0.1:7000 --unix ~/.sabir.sock
  sabir proto --ws 127.0.0.1:0 --json
  sabir proto --http 127.0.0.1:7001 &
  curl --http2-prior-knowledge -N -T submissions.jsonl -X POST http://127.0.0.1:7001/session
  sabir proto --grpc 0.0.0.0:7002 --token-file ~/.sabir-token

When the input of a session ends, what runs is finished, and what would have to be asked for is
denied. When its reader goes away, everything it runs is stopped.

A listener that other machines can reach needs a token: --token-file, or SABIR_TOKEN. Where there is
a token, every client must send it: as the first line {\"authorization\":\"Bearer TOKEN\"}, or in the
header authorization.

Exit codes:
  0    the session is over, or the server was told to end (SIGTERM)
  2    the command line is wrong, the engine cannot be opened, or an address cannot be used
  130  interrupted")]
pub(crate) struct ProtoArgs {
    /// Lines of JSON over TCP; port 0 takes a free one
    #[arg(long, value_name = "ADDR", value_parser = address, group = "listeners")]
    tcp: Vec<SocketAddr>,
    /// Lines of JSON over a Unix socket, for you alone
    #[arg(long, value_name = "PATH", group = "listeners")]
    unix: Vec<PathBuf>,
    /// WebSocket at /, a message in each text frame
    #[arg(long, value_name = "ADDR", value_parser = address, group = "listeners")]
    ws: Vec<SocketAddr>,
    /// HTTP/2 without TLS: POST /session, lines of JSON in both bodies
    #[arg(long, value_name = "ADDR", value_parser = address, group = "listeners")]
    http: Vec<SocketAddr>,
    /// gRPC without TLS: sabir.queue_pair.v1.QueuePair/Session
    #[arg(long, value_name = "ADDR", value_parser = address, group = "listeners")]
    grpc: Vec<SocketAddr>,
    /// A file that only you can read, with the token that clients must send
    #[arg(long, value_name = "FILE", requires = "listeners")]
    token_file: Option<PathBuf>,
    /// How many sessions may be open at one time
    #[arg(long, value_name = "N", default_value = "1024", requires = "listeners",
        value_parser = clap::value_parser!(u32).range(1..))]
    max_sessions: u32,
    /// Print where it listens as lines of JSON on standard output
    #[arg(long, requires = "listeners")]
    json: bool,
    #[command(flatten)]
    agent: AgentArgs,
}

impl ProtoArgs {
    pub(crate) fn run(self, notes: &mut Notes) -> ExitCode {
        block_on(self.serve(notes)).flatten().unwrap_or_else(|error| {
            notes.error(error);
            Exit::Unusable.into()
        })
    }

    async fn serve(self, notes: &mut Notes) -> anyhow::Result<ExitCode> {
        let stop = CancellationToken::new();
        let signals = Signals::listen();
        let listens = self.listens();
        if listens.is_empty() {
            let engine = self.agent.open()?;
            let ending = tokio::spawn(stop_on(signals, stop.clone()));
            sabir_net::serve_stdio(&engine, &stop).await;
            engine.shutdown().await;
            return if stop.is_cancelled() { Ok(ending.await?) } else { Ok(Exit::Done.into()) };
        }
        let token = self.token()?;
        // Addresses are cheaper to find wrong than a store is to open.
        let server = Server::bind(listens, token).await?;
        // What a command is told to do through a listener of ours is not confined by its sandbox.
        let mut runner = AgentArgs::runner()?.hiding(server.sockets());
        if server.has_open_port() {
            runner = runner.without_network();
        }
        let engine = self.agent.open_with(runner, self.token_file.iter().cloned().collect())?;
        for listening in server.listening() {
            if self.json {
                let mut output = Output::stdout();
                serde_json::to_writer(&mut output, &listening)?;
                writeln!(output)?;
                output.flush()?;
            }
            notes.line(format_args!("listening on {} {}", listening.transport, listening.address));
        }
        let ending = tokio::spawn(stop_on(signals, stop.clone()));
        server.serve(engine.clone(), self.max_sessions as usize, stop).await;
        engine.shutdown().await;
        Ok(ending.await?)
    }

    fn listens(&self) -> Vec<Listen> {
        let mut listens = Vec::new();
        listens.extend(self.tcp.iter().copied().map(Listen::Tcp));
        listens.extend(self.unix.iter().cloned().map(Listen::Unix));
        listens.extend(self.ws.iter().copied().map(Listen::WebSocket));
        listens.extend(self.http.iter().copied().map(Listen::Http));
        listens.extend(self.grpc.iter().copied().map(Listen::Grpc));
        listens
    }

    /// The file, or else the environment.
    fn token(&self) -> anyhow::Result<Option<Token>> {
        if let Some(path) = &self.token_file {
            return Ok(Some(Token::from_file(path)?));
        }
        match sabir_host::secrets::var("SABIR_TOKEN") {
            None => Ok(None),
            Some(text) => {
                let text = text.to_str().context("SABIR_TOKEN is not UTF-8")?;
                Ok(Some(Token::new(text).context("SABIR_TOKEN")?))
            }
        }
    }
}

pub(crate) fn address(text: &str) -> Result<SocketAddr, String> {
    if let Some(port) = text.strip_prefix("localhost:")
        && let Ok(port) = port.parse()
    {
        return Ok((Ipv4Addr::LOCALHOST, port).into());
    }
    text.parse().map_err(|_| "write it as 127.0.0.1:PORT, [::1]:PORT or localhost:PORT".to_owned())
}

/// The first signal stops in good order, a second at once. Returns how the program then ends.
pub(crate) async fn stop_on(mut signals: Signals, stop: CancellationToken) -> ExitCode {
    let code = exit_code(signals.next().await);
    stop.cancel();
    tokio::spawn(async move {
        let code = exit_code(signals.next().await);
        // Whoever supervises what still runs sees us end, and ends it.
        std::process::exit(code.into());
    });
    code.into()
}

/// A server that is told to end has done what it was there for.
pub(crate) fn exit_code(stop: Stop) -> u8 {
    match stop {
        Stop::Interrupt => stop.exit_code(),
        Stop::End(_) => 0,
    }
}
