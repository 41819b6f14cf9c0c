//! `sabir sessions`, `resume`, `fork` and `replay`: what was, and going on from it.

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::{Args, Subcommand};
use sabir_base::text::without_hidden;
use sabir_engine::{ConfigureSession, Event};
use sabir_store::{Line, Reader, Scope, SessionFilter, SessionId, SessionSummary, StoreError};

use crate::agent_args::AgentArgs;
use crate::cli::OneFile;
use crate::exit::Exit;
use crate::home::HomeArgs;
use crate::output::{Notes, Output};
use crate::run::{HowArgs, Screen, converse};

/// List the stored sessions, those used last first
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  sabir sessions
  sabir sessions --json
  sabir sessions export ID > session.jsonl

Exit codes:
  0  done
  2  the store cannot be read"
)]
pub(crate) struct SessionsArgs {
    #[command(subcommand)]
    command: Option<SessionsCommand>,
    #[command(flatten)]
    home: HomeArgs,
    /// Print a JSON array
    #[arg(long)]
    json: bool,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,
}

#[derive(Debug, Subcommand)]
enum SessionsCommand {
    /// Write everything that is stored of a session, as lines of JSON that `sabir replay` reads
    #[command(after_help = "\
Examples:
  sabir sessions export ID > session.jsonl
  sabir sessions export ID | sabir replay")]
    Export {
        #[command(flatten)]
        home: HomeArgs,
        /// The session
        #[arg(value_name = "ID")]
        id: String,
    },
}

/// Go on with a stored session
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir resume                          the last session of this directory, with a prompt
  sabir resume ID \"and now the docs\"

Exit codes are those of `sabir run`.")]
pub(crate) struct ResumeArgs {
    /// The session; without it, the one used last in this directory
    #[arg(value_name = "ID")]
    id: Option<String>,
    /// What to do next; without it, tasks are read from the terminal, one a line
    #[arg(value_name = "TASK")]
    task: Option<String>,
    #[command(flatten)]
    agent: AgentArgs,
    #[command(flatten)]
    how: HowArgs,
}

/// Start a session from the middle of another
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir fork ID --at RESPONSE_ID                   prints the name of the new session
  sabir fork ID --at RESPONSE_ID \"try it this way\"  and goes on with it

`sabir sessions export ID` shows the responses: they are named in turn_complete.

Exit codes are those of `sabir run`.")]
pub(crate) struct ForkArgs {
    /// The session
    #[arg(value_name = "ID")]
    id: String,
    /// The response after which the new session begins
    #[arg(long, value_name = "RESPONSE_ID")]
    at: String,
    /// What to do next
    #[arg(value_name = "TASK")]
    task: Option<String>,
    #[command(flatten)]
    agent: AgentArgs,
    #[command(flatten)]
    how: HowArgs,
}

/// Show an exported session again
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir sessions export ID | sabir replay
  sabir replay session.jsonl --json        only its events, one a line

Exit codes:
  0  the session was shown
  1  the file is not what was exported
  2  the file cannot be read")]
pub(crate) struct ReplayArgs {
    #[command(flatten)]
    file: OneFile,
    /// Print the events as lines of JSON
    #[arg(long)]
    json: bool,
}

impl SessionsArgs {
    pub(crate) fn run(self, output: &mut Output, notes: &mut Notes) -> anyhow::Result<Exit> {
        if let Some(SessionsCommand::Export { home, id }) = self.command {
            return export(&home, &id, output);
        }
        let sessions = match Reader::open(&self.home.resolve()?) {
            Ok(reader) => reader.sessions(&SessionFilter { cwd: None, limit: Some(self.limit) })?,
            // Before the first session there is no store.
            Err(StoreError::Missing { .. }) => Vec::new(),
            Err(error) => return Err(error.into()),
        };
        if self.json {
            serde_json::to_writer_pretty(&mut *output, &sessions)?;
            writeln!(output)?;
            return Ok(Exit::Done);
        }
        if sessions.is_empty() {
            notes.line("no session is stored here yet: `sabir run \"TASK\"` starts one");
        }
        for session in &sessions {
            writeln!(output, "{}", in_one_line(session))?;
        }
        Ok(Exit::Done)
    }
}

fn in_one_line(session: &SessionSummary) -> String {
    let title = session.title.as_deref().unwrap_or("(nothing was asked)");
    let title = without_hidden(title);
    let turns = if session.turns == 1 { "turn" } else { "turns" };
    format!("{}  {} {turns}  {}  {title}", session.id.as_str(), session.turns, session.cwd)
}

fn export(home: &HomeArgs, id: &str, output: &mut Output) -> anyhow::Result<Exit> {
    let reader = Reader::open(&home.resolve()?)?;
    let id = SessionId::new(id);
    let mut after = 0;
    loop {
        let lines = reader.journal(Scope::Session(&id), after, 1000)?;
        let Some(last) = lines.last() else { break };
        after = last.seq;
        for line in &lines {
            serde_json::to_writer(&mut *output, line)?;
            writeln!(output)?;
        }
    }
    if after == 0 {
        bail!("no session {} is stored here: `sabir sessions` lists those that are", id.as_str());
    }
    Ok(Exit::Done)
}

impl ResumeArgs {
    pub(crate) fn run(self, notes: &mut Notes) -> ExitCode {
        let id = match self.id.clone().map_or_else(|| self.last_here(), Ok) {
            Ok(id) => id,
            Err(error) => {
                notes.error(error);
                return Exit::Unusable.into();
            }
        };
        let configure = ConfigureSession { session_id: Some(id), ..self.agent.configure() };
        converse(&self.agent, configure, self.task, None, &self.how, notes)
    }

    fn last_here(&self) -> anyhow::Result<String> {
        let cwd = std::env::current_dir()?.canonicalize()?;
        let cwd = cwd.to_str().context("the name of this directory is not UTF-8")?.to_owned();
        let reader = Reader::open(&self.agent.home.resolve()?)?;
        let here = reader.sessions(&SessionFilter { cwd: Some(cwd), limit: Some(1) })?;
        let last = here.first().context(
            "no session was run in this directory: `sabir sessions` lists those of others",
        )?;
        Ok(last.id.as_str().to_owned())
    }
}

impl ForkArgs {
    pub(crate) fn run(self, notes: &mut Notes) -> ExitCode {
        let forked = self.agent.open().and_then(|engine| {
            engine.fork(&self.id, &self.at).map_err(|words| anyhow::anyhow!(words))
        });
        let id = match forked {
            Ok(id) => id,
            Err(error) => {
                notes.error(error);
                return Exit::Unusable.into();
            }
        };
        if self.task.is_none() {
            let mut output = Output::stdout();
            let _ = writeln!(output, "{id}").and_then(|()| output.flush());
            return Exit::Done.into();
        }
        let configure = ConfigureSession { session_id: Some(id), ..self.agent.configure() };
        converse(&self.agent, configure, self.task, None, &self.how, notes)
    }
}

impl ReplayArgs {
    pub(crate) fn run(self, output: &mut Output, notes: &mut Notes) -> anyhow::Result<Exit> {
        let source = self.file.read()?;
        let mut screen = Screen::new(false);
        let mut before: Option<Line> = None;
        for (index, text) in source.text.lines().enumerate() {
            let number = index + 1;
            let line: Line = match serde_json::from_str(text) {
                Ok(line) => line,
                Err(error) => {
                    notes
                        .error(anyhow::anyhow!("line {number} was not exported by sabir: {error}"));
                    return Ok(Exit::Found);
                }
            };
            // Entries of other sessions lie between, so that only neighbours can be checked here.
            if let Some(before) = &before
                && line.seq == before.seq + 1
                && !line.follows(&before.hash)
            {
                notes.error(anyhow::anyhow!("line {number} was changed after it was written"));
                return Ok(Exit::Found);
            }
            if line.kind == "event" {
                if self.json {
                    writeln!(output, "{}", line.body)?;
                } else if let Ok(event) = serde_json::from_str::<Event>(&line.body) {
                    output.flush()?;
                    screen.show_event(&event.msg);
                }
            } else if line.kind == "submission" && !self.json {
                screen.submitted(&line.body);
            }
            before = Some(line);
        }
        Ok(Exit::Done)
    }
}
