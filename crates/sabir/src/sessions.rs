//! `sabir sessions`, `resume`, `fork` and `replay`: what was, and going on from it.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::{Args, Subcommand};
use sabir_base::text::without_hidden;
use sabir_engine::{ConfigureSession, Event};
use sabir_host::record::{NODE, messages, summary};
use sabir_lingua::utter;
use sabir_store::{
    Hash, Line, Reader, Scope, SessionFilter, SessionId, SessionSummary, StoreError,
};
use serde::{Deserialize, Serialize};

use crate::agent_args::AgentArgs;
use crate::cli::OneFile;
use crate::exit::Exit;
use crate::home::HomeArgs;
use crate::log::{FormArg, for_a_reader, journal_of};
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
    /// What to do next; without it, tasks are read from the terminal, one a line, or all of
    /// standard input is the task
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

/// Show a session again, from its export or from the journal
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir sessions export ID | sabir replay
  sabir replay session.jsonl --json        only its events, one a line
  sabir replay --session ID                one that is stored here
  sabir replay --session ID --as axon      every message of it, in AXON

Exit codes:
  0  the session was shown
  1  the file or the journal is not what was written, or not all of it
  2  the file or the journal cannot be read")]
pub(crate) struct ReplayArgs {
    #[command(flatten)]
    file: OneFile,
    /// A session or order that is stored here, instead of a file
    #[arg(long, value_name = "ID", conflicts_with = "file")]
    session: Option<String>,
    /// Print the events as lines of JSON
    #[arg(long)]
    json: bool,
    /// Print every message in this language, as `sabir log` does
    #[arg(long = "as", value_enum, value_name = "FORM", conflicts_with = "json")]
    form: Option<FormArg>,
    #[command(flatten)]
    home: HomeArgs,
}

impl SessionsArgs {
    pub(crate) fn run(self, output: &mut Output, notes: &mut Notes) -> anyhow::Result<Exit> {
        if let Some(SessionsCommand::Export { home, id }) = self.command {
            return export(&home, &id, output);
        }
        let sessions = match Reader::open(&self.home.resolve()?) {
            Ok(reader) => reader
                .sessions(&SessionFilter { limit: Some(self.limit), ..SessionFilter::default() })?,
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

/// The last line of an export. Without it, what was cut off would not be missed.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExportEnd {
    session_id: SessionId,
    /// How many lines stand above.
    entries: u64,
    /// What an entry follows, by its number, where that is an entry of another session.
    before: BTreeMap<u64, Hash>,
}

fn export(home: &HomeArgs, id: &str, output: &mut Output) -> anyhow::Result<Exit> {
    let reader = Reader::open(&home.resolve()?).map_err(not_begun)?;
    let mut end = ExportEnd { session_id: SessionId::new(id), entries: 0, before: BTreeMap::new() };
    let mut after = 0;
    loop {
        let lines = reader.journal(Scope::Session(&end.session_id), after, 1000)?;
        if lines.is_empty() {
            break;
        }
        for line in &lines {
            if end.entries == 0 || line.seq != after + 1 {
                end.before.insert(line.seq, reader.hash_before(line.seq)?);
            }
            after = line.seq;
            end.entries += 1;
            serde_json::to_writer(&mut *output, line)?;
            writeln!(output)?;
        }
    }
    if end.entries == 0 {
        bail!("no session {id} is stored here: `sabir sessions` lists those that are");
    }
    serde_json::to_writer(&mut *output, &end)?;
    writeln!(output)?;
    Ok(Exit::Done)
}

/// A home that nobody used yet is no fault of it.
pub(crate) fn not_begun(error: StoreError) -> anyhow::Error {
    let is_missing = matches!(error, StoreError::Missing { .. });
    let error = anyhow::Error::from(error);
    match is_missing {
        true => anyhow::anyhow!(
            "{error}: nothing was written down here yet, `sabir run \"TASK\"` or `sabir up` does"
        ),
        false => error,
    }
}

impl ResumeArgs {
    pub(crate) fn run(self, notes: &mut Notes) -> ExitCode {
        let ready = self.how.task(self.task.clone()).and_then(|task| {
            let id = self.id.clone().map_or_else(|| self.last_here(), Ok)?;
            Ok((id, task))
        });
        let (id, task) = match ready {
            Ok(ready) => ready,
            Err(error) => {
                notes.error(error);
                return Exit::Unusable.into();
            }
        };
        let configure = ConfigureSession { session_id: Some(id), ..self.agent.configure() };
        converse(&self.agent, configure, task, &self.how, notes)
    }

    fn last_here(&self) -> anyhow::Result<String> {
        let cwd = std::env::current_dir()?.canonicalize()?;
        let cwd = cwd.to_str().context("the name of this directory is not UTF-8")?.to_owned();
        let reader = Reader::open(&self.agent.model.home.resolve()?).map_err(not_begun)?;
        let filter = SessionFilter {
            cwd: Some(cwd),
            of_people: true,
            limit: Some(1),
            ..SessionFilter::default()
        };
        let here = reader.sessions(&filter)?;
        let last = here.first().context(
            "no session was run in this directory: `sabir sessions` lists those of others",
        )?;
        Ok(last.id.as_str().to_owned())
    }
}

impl ForkArgs {
    pub(crate) fn run(self, notes: &mut Notes) -> ExitCode {
        // Before anything is forked.
        let ready = self.task.clone().map(|task| self.how.task(Some(task))).transpose();
        let ready = ready.and_then(|task| Ok((self.agent.open()?, task.flatten())));
        let (engine, task) = match ready {
            Ok(ready) => ready,
            Err(error) => {
                notes.error(error);
                return Exit::Unusable.into();
            }
        };
        let id = match engine.fork(&self.id, &self.at) {
            Ok(id) => id,
            Err(words) => {
                notes.error(anyhow::anyhow!(words));
                return Exit::Found.into();
            }
        };
        // The engine that goes on opens the same home.
        drop(engine);
        if task.is_none() {
            let mut output = Output::stdout();
            return match writeln!(output, "{id}").and_then(|()| output.flush()) {
                Ok(()) => Exit::Done.into(),
                Err(error) => {
                    notes.error(anyhow::Error::from(error).context("<stdout>: cannot be written"));
                    Exit::Unusable.into()
                }
            };
        }
        let configure = ConfigureSession { session_id: Some(id), ..self.agent.configure() };
        converse(&self.agent, configure, task, &self.how, notes)
    }
}

impl ReplayArgs {
    pub(crate) fn run(mut self, output: &mut Output, notes: &mut Notes) -> anyhow::Result<Exit> {
        match self.session.take() {
            Some(id) => self.stored(&SessionId::new(id), output, notes),
            None => self.exported(output, notes),
        }
    }

    /// From the journal, each entry held against its hash.
    fn stored(
        &self,
        id: &SessionId,
        output: &mut Output,
        notes: &mut Notes,
    ) -> anyhow::Result<Exit> {
        let journal = journal_of(&self.home.resolve()?, id)?;
        let reader = journal.reader().context("the audit has no sessions")?;
        let mut shown = Shown::new(journal.name(), self.json, self.form);
        let mut after = 0;
        loop {
            let lines = reader.journal(Scope::Session(id), after, 1000)?;
            if lines.is_empty() {
                break;
            }
            for line in &lines {
                after = line.seq;
                if !line.follows(&reader.hash_before(line.seq)?) {
                    output.flush()?;
                    let words = format!("entry {after}: it was changed after it was written");
                    return Ok(found(notes, words));
                }
                shown.line(line, output)?;
            }
        }
        output.flush()?;
        Ok(if shown.screen.has_failed() { Exit::Unusable } else { Exit::Done })
    }

    fn exported(self, output: &mut Output, notes: &mut Notes) -> anyhow::Result<Exit> {
        let source = self.file.read()?;
        let (lines, end) = split_end(&source.text);
        let mut shown = Shown::new(NODE, self.json, self.form);
        let mut before: Option<Line> = None;
        for (number, text) in (1..).zip(lines.lines()) {
            let line: Line = match serde_json::from_str(text) {
                Ok(line) => line,
                Err(error) => {
                    let words = format!("line {number} was not exported by sabir: {error}");
                    return Ok(found(notes, words));
                }
            };
            if let Err(words) = check(&line, before.as_ref(), end.as_ref()) {
                output.flush()?;
                return Ok(found(notes, format!("line {number}: {words}")));
            }
            shown.line(&line, output)?;
            before = Some(line);
        }
        output.flush()?;
        if shown.screen.has_failed() {
            return Ok(Exit::Unusable);
        }
        let entries = lines.lines().count() as u64;
        Ok(match end {
            _ if entries == 0 => found(notes, "there is no entry in it".to_owned()),
            None => found(notes, "the end of the export is missing".to_owned()),
            Some(end) if end.entries != entries => {
                let words =
                    format!("{} entries were exported, and {entries} are here", end.entries);
                found(notes, words)
            }
            Some(_) => Exit::Done,
        })
    }
}

/// Where entries are shown again, and how.
struct Shown<'a> {
    journal: &'a str,
    json: bool,
    form: Option<FormArg>,
    screen: Screen,
}

impl<'a> Shown<'a> {
    fn new(journal: &'a str, json: bool, form: Option<FormArg>) -> Self {
        Self { journal, json, form, screen: Screen::new(false) }
    }

    fn line(&mut self, line: &Line, output: &mut Output) -> anyhow::Result<()> {
        if let Some(form) = self.form {
            let text = utter(&messages(self.journal, line), form.form())?;
            writeln!(output, "{}", for_a_reader(text.trim_end()))?;
        } else if line.kind == "event" {
            if self.json {
                writeln!(output, "{}", line.body)?;
            } else if let Ok(event) = serde_json::from_str::<Event>(&line.body) {
                output.flush()?;
                self.screen.show_event(&event.msg);
            } else {
                // News of an order are no events of an engine.
                writeln!(output, "{}", without_hidden(&summary(self.journal, line)))?;
            }
        } else if line.kind == "submission" && !self.json {
            self.screen.submitted(&line.body);
        }
        Ok(())
    }
}

/// The entries, and the line behind them.
fn split_end(text: &str) -> (&str, Option<ExportEnd>) {
    let text = text.trim_end_matches('\n');
    let (lines, last) = text.rsplit_once('\n').unwrap_or(("", text));
    match serde_json::from_str(last) {
        Ok(end) => (lines, Some(end)),
        Err(_) => (text, None),
    }
}

/// Whether the entry is what was written, behind what was written before it. Entries of other
/// sessions may lie between; the end of the export knows the hashes of those.
fn check(line: &Line, before: Option<&Line>, end: Option<&ExportEnd>) -> Result<(), &'static str> {
    let neighbour = before.filter(|before| before.seq.checked_add(1) == Some(line.seq));
    let known = end.and_then(|end| end.before.get(&line.seq));
    let previous = neighbour.map(|before| &before.hash).or(known);
    match previous {
        _ if before.is_some_and(|before| before.seq >= line.seq) => Err("it is not in its place"),
        _ if end.is_some_and(|end| end.session_id != line.session_id) => {
            Err("it belongs to another session")
        }
        Some(previous) if !line.follows(previous) => Err("it was changed after it was written"),
        None if end.is_some() => Err("entries before it are missing"),
        // Nobody knows what it follows; that the end is missing is said at the end.
        Some(_) | None => Ok(()),
    }
}

fn found(notes: &mut Notes, words: String) -> Exit {
    notes.error(anyhow::anyhow!(words));
    Exit::Found
}
