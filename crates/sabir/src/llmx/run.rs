//! `sabir llmx run`: the actions of messages, carried out here, and the observations as a reply.

mod ask;
mod reply;

use std::collections::HashSet;
use std::io::{IsTerminal as _, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use clap::Args;
use sabir_base::Diagnostic;
use sabir_base::text::with_hidden_shown;
use sabir_host::{Action, ActionSetup, Actions, Engine, Observation, Order, Progress, Spawner};
use sabir_llmx::{Act, Batches, Content, Header, Message, Operation, Receiver, Tree};
use sabir_net::Orders;
use sabir_store::{Store, StoreError};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::agent_args::{AgentArgs, runtime};
use crate::cli::OneFile;
use crate::exit::Exit;
use crate::output::{Notes, Output};
use crate::render;

use super::parse_name;
use super::root::Root;
use ask::Terminal;
use reply::{Reply, RunReport};

/// Carry out the actions of messages and print the observations
///
/// The actions of a batch are carried out side by side, those of a message without a batch one after
/// the other. Changes of one file keep their order. Every action passes the same gate as an agent's
/// calls: what must be asked for is asked on the terminal, and denied where there is none. Actions
/// that the text observes already are not carried out again.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir llmx run batch.llmx
  sabir llmx run --root project --sandbox read-only batch.llmx
  sabir llmx run --approval never --json batch.llmx
  echo 'HEADER:{f:a,t:b,s:1,b:B1} ACT:{i:A1,op:read,tgt:\"p:README.md#L1-5\"}' | sabir llmx run
  sabir llmx run batch.llmx | sabir llmx check

What actions take:
  read    tgt a path, maybe with #L10-25
  search  tgt a path; args q (a regular expression), glob, limit
  write   tgt a path; args text, overwrite
  edit    tgt a path; args old and new, or text for the lines that #L names
  shell   tgt a command line; args cwd, timeout_ms, escalated, why
  spawn   tgt an agent; args task, skill, budget_tokens, deadline_secs

The reply is on standard output and is valid LLMX, how long each action took on standard error.
With --json the reply is one object: {file, ok, replies}. Each reply has f, t, s, b, re and
observations; each of these ai, op, tgt, s, c, e, x_c and duration_ms.
Ctrl-C stops everything; what was not done is observed as aborted.

Exit codes:
  0  every action is OK
  1  an action failed, was denied or was stopped
  2  wrong usage, the text is not valid or holds no action; nothing was carried out")]
pub(crate) struct RunArgs {
    /// No path leads out of this folder, and commands start in it
    #[arg(long, value_name = "DIR", default_value = ".")]
    root: PathBuf,
    /// Who answers [default: whom the message is for, or Sabir]
    #[arg(long, value_name = "NAME", value_parser = parse_name)]
    from: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    agent: AgentArgs,
    #[command(flatten)]
    input: OneFile,
}

/// A message with actions, and where its reply goes.
struct Job<'a> {
    header: Header<'a>,
    acts: Vec<Act<'a>>,
}

/// What is told ahead of being read.
const PROGRESS_ON_THE_WAY: usize = 64;

impl RunArgs {
    pub(crate) fn run(self, output: &mut Output, notes: &mut Notes) -> anyhow::Result<Exit> {
        let root = Root::open(&self.root)?;
        let reads_stdin = self.input.file.as_ref().is_none_or(|it| it.as_os_str() == "-");
        let source = self.input.read()?;
        let found = root.check(&source.text).diagnostics;
        if found.iter().any(Diagnostic::is_error) {
            render::print_all(notes, &source, &found);
            anyhow::bail!("{}: is not valid, so nothing is carried out", source.origin);
        }
        let parsed = sabir_llmx::parse(&source.text);
        let jobs = jobs(&parsed.tree);
        if jobs.is_empty() {
            anyhow::bail!("{}: holds no action to carry out", source.origin);
        }
        let spawns =
            jobs.iter().flat_map(|job| &job.acts).any(|act| act.operation == Operation::Spawn);
        let agents = match spawns && self.agent.model.names_a_model()? {
            true => Some(self.agent.open()?),
            false => None,
        };
        let runtime = runtime()?;
        let home = self.agent.model.home.resolve()?;
        let orders = match spawns {
            true => runtime.block_on(orders(&home, agents.as_ref()))?,
            false => None,
        };
        let spawner = orders.clone().map(|orders| Arc::new(orders) as Arc<dyn Spawner>);
        if let (Some(engine), Some(spawner)) = (&agents, &spawner) {
            engine.hand_on_to(Arc::clone(spawner));
        }
        let actions = Actions::open(ActionSetup {
            root: PathBuf::from(root.path()),
            home,
            runner: AgentArgs::runner()?,
            providers: self.agent.model.providers()?,
            approval_policy: self.agent.approval_policy().unwrap_or_default(),
            sandbox_policy: self.agent.sandbox_policy().unwrap_or_default(),
            agents: agents.clone(),
            spawner,
        })?;
        let is_attended = !reads_stdin
            && !self.json
            && std::io::stdin().is_terminal()
            && std::io::stderr().is_terminal();
        let replies = runtime.block_on(async {
            let mut runner = Runner {
                actions: &actions,
                terminal: is_attended.then(Terminal::open),
                stop: CancellationToken::new(),
                shows_time: !self.json,
                notes,
            };
            let mut replies = Vec::new();
            for job in &jobs {
                let observations = runner.carry_out(job).await?;
                let from = self.from.as_deref();
                replies.push(Reply::new(job, from, replies.len() as u64 + 1, observations));
            }
            if let Some(engine) = &agents {
                engine.shutdown().await;
            }
            if let Some(orders) = &orders {
                orders.leave().await;
            }
            anyhow::Ok(replies)
        });
        // A thread may still be waiting for a line on standard input.
        runtime.shutdown_background();
        let report = RunReport::new(source.origin.as_given(), replies?);
        match self.json {
            true => {
                serde_json::to_writer(&mut *output, &report)?;
                writeln!(output)?;
            }
            false => output.write_all(report.to_string().as_bytes())?,
        }
        Ok(if report.ok { Exit::Done } else { Exit::Found })
    }
}

/// Who takes the tasks of `spawn` that are for delegates. While a node is up, its journal is its own.
async fn orders(home: &Path, agents: Option<&Engine>) -> anyhow::Result<Option<Orders>> {
    let store = match agents {
        Some(engine) => engine.store().clone(),
        None => match Store::open(home) {
            Ok(store) => store,
            Err(StoreError::InUse { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        },
    };
    Ok(Some(crate::agents::spawning::orders(home, store).await?))
}

/// The messages with actions that nobody has observed yet.
fn jobs<'a>(tree: &'a Tree<'a>) -> Vec<Job<'a>> {
    let mut batches = Batches::default();
    tree.messages().for_each(|message| batches.feed(message));
    let report = batches.finish();
    let in_batches = report.batches.iter().flat_map(|batch| &batch.actions);
    let open: HashSet<u32> = in_batches
        .chain(&report.loose)
        .filter(|action| action.answers.is_empty())
        .map(|action| action.span.start)
        .collect();
    tree.messages().filter_map(|message| job(message, &open)).collect()
}

fn job<'a>(message: Message<'a>, open: &HashSet<u32>) -> Option<Job<'a>> {
    let header = Header::read(message.header()?)?;
    let blocks = message.blocks().filter(|block| open.contains(&block.word_span().start));
    let acts: Vec<Act<'a>> = blocks
        .filter_map(|block| match Content::read(block) {
            Some(Content::Act(act)) => Some(act),
            _ => None,
        })
        .collect();
    (!acts.is_empty()).then_some(Job { header, acts })
}

/// Carries one message after the other out, and talks to the person meanwhile.
struct Runner<'a> {
    actions: &'a Actions,
    terminal: Option<Terminal>,
    stop: CancellationToken,
    shows_time: bool,
    notes: &'a mut Notes,
}

impl Runner<'_> {
    async fn carry_out(&mut self, job: &Job<'_>) -> anyhow::Result<Vec<Observation>> {
        let order = match job.header.batch {
            Some(_) => Order::Together,
            None => Order::InTurn,
        };
        let actions: Vec<Action> = job.acts.iter().map(Action::new).collect();
        let (tell, mut told) = mpsc::channel(PROGRESS_ON_THE_WAY);
        let stop = self.stop.clone();
        let running = self.actions.run(&actions, order, &tell, &stop);
        tokio::pin!(running);
        let mut interrupted = Box::pin(interrupted()?);
        loop {
            tokio::select! {
                biased;
                () = &mut interrupted, if !self.stop.is_cancelled() => {
                    self.notes.line("stopping");
                    self.stop.cancel();
                }
                Some(progress) = told.recv() => self.hear(job, progress),
                answer = ask::answer(&mut self.terminal) => {
                    if answer.is_none() {
                        self.stop.cancel();
                    }
                }
                observations = &mut running => {
                    while let Ok(progress) = told.try_recv() {
                        self.hear(job, progress);
                    }
                    return Ok(observations);
                }
            }
        }
    }

    fn hear(&mut self, job: &Job<'_>, progress: Progress) {
        match progress {
            // Where nobody sits, dropping the question says so.
            Progress::Asks(question) => {
                if let Some(terminal) = &mut self.terminal {
                    let name = job.acts.get(question.index).map(name).unwrap_or_default();
                    terminal.ask(&name, question);
                }
            }
            Progress::Ended { index, took, is_ok } if self.shows_time => {
                let name = job.acts.get(index).map(name).unwrap_or_default();
                let how = if is_ok { "ok" } else { "failed" };
                let line = format!("{name}: {how}, {} ms", took.as_millis());
                self.notes.line(with_hidden_shown(&line));
            }
            Progress::Ended { .. } => {}
        }
    }
}

/// Ends when the person, or whoever started us, wants everything to end.
fn interrupted() -> anyhow::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt()).context("signals cannot be heard")?;
    let mut terminate = signal(SignalKind::terminate()).context("signals cannot be heard")?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

/// An action as a person is told of it.
fn name(act: &Act<'_>) -> String {
    let mut target: String =
        act.target.lines().next().unwrap_or_default().chars().take(60).collect();
    if target.len() < act.target.len() {
        target.push_str("...");
    }
    let id = act.id.as_ref().map(|id| format!("{id} ")).unwrap_or_default();
    format!("{id}{} {target}", act.operation.as_str())
}

/// Who answers when nobody says: the one who was asked, if that was one.
fn addressee(to: &Receiver<'_>) -> String {
    match to {
        Receiver::One(name) => name.clone().into_owned(),
        Receiver::All | Receiver::Several(_) => "Sabir".to_owned(),
    }
}
