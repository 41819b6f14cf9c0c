//! `sabir delegate`: a task for somebody else, with progress, and at the end who did it, how they
//! were chosen, what it cost and how it was checked.

use std::io::{BufRead, IsTerminal as _, Read as _, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::{Args, ValueEnum};
use futures_util::future::BoxFuture;
use sabir_base::json::{Json, long_integer};
use sabir_base::text::one_line;
use sabir_ldp::{Budget, MAX_DEPTH, SkillName, Strategy};
use sabir_net::{
    Address, AttemptOutcome, CheckOutcome, DelegationEvent, DelegationReport, DelegationRequest,
    Judge, Judgement, PlainHttp, Question, TaskInput, Verify,
};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::me::{Me, MeArgs};
use super::shown::{exit_of, first_meeting, json_text};
use crate::agent_args::block_on;
use crate::exit::Exit;
use crate::output::{Notes, Output};
use crate::signals::{Signals, Stop};

/// Hand a task to another agent
///
/// Delegates come from --to, or are those that `sabir delegates add` made known. One is chosen by
/// what it claims and how it did before; when it fails in a way that another may not, the next one is
/// tried.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir delegate \"Translate: the tide is out\" --skill translate
  sabir delegate \"hello\" --to ldp://127.0.0.1:7420 --skill echo
  sabir delegate \"Summarize\" --input page.json --skill summarize --strategy cost
  sabir delegate \"List the ports\" --skill list --verify rule --schema ports.schema.json --json
  sabir delegate \"Fix the test\" --skill fix --verify tool --check 'cargo test'
  sabir delegate \"What is new?\" --to mcp://127.0.0.1:8000/mcp --skill search

Progress goes to standard error, the output to standard output. With --json one object is printed:
output, provenance, payload_mode, delegate_id, chosen, attempts, cost, checks, or the error in the
delegate's own words.

Exit codes:
  0    it is done, and stood the check if there was one
  1    it failed, did not stand the check, could not be checked, or this machine is in trouble, as
       with a full disk
  2    the command line or the configuration is wrong
  130  interrupted: the task was cancelled")]
pub(crate) struct DelegateArgs {
    /// What is to be done; `-` reads it from standard input
    task: String,
    /// What the delegate has to know how to do [default: the only thing that is offered]
    #[arg(long)]
    skill: Option<String>,
    /// Who may do it: ldp://, https://, a2a://, mcp:// or mcp+stdio:COMMAND; can be given several
    /// times [default: the delegates that are known]
    #[arg(long, value_name = "URL")]
    to: Vec<String>,
    /// By what the delegate is chosen
    #[arg(long, value_enum, default_value = "balanced")]
    strategy: By,
    /// A file of JSON that goes with the task; `-` reads standard input
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// How many tokens it may use
    #[arg(long, value_name = "N")]
    budget_tokens: Option<u64>,
    /// How many dollars it may cost
    #[arg(long, value_name = "USD", value_parser = dollars)]
    budget_usd: Option<f64>,
    /// When it is worth nothing any more: 30s, 5m, 2h
    #[arg(long, value_name = "TIME", value_parser = duration)]
    deadline: Option<Duration>,
    /// The trust domain that the delegate must be in
    #[arg(long, value_name = "NAME")]
    domain: Option<String>,
    /// The jurisdiction that the delegate must be in
    #[arg(long, value_name = "NAME")]
    jurisdiction: Option<String>,
    /// How many delegates are tried at most
    #[arg(long, value_name = "N", default_value = "3",
        value_parser = clap::value_parser!(u8).range(1..))]
    attempts: u8,
    /// When the first delegate has not finished after this time, ask the next one as well: the first
    /// result counts, and the other one is told to stop. Whatever the task does may be done twice
    #[arg(long, value_name = "TIME", value_parser = duration)]
    hedge: Option<Duration>,
    /// Who checks the result, besides who made it
    #[arg(long, value_enum, value_name = "WHO")]
    verify: Option<Who>,
    /// For --verify rule: a file with the JSON Schema that the output has to fit
    #[arg(long, value_name = "FILE", required_if_eq("verify", "rule"))]
    schema: Option<PathBuf>,
    /// For --verify tool: a command that gets the output as JSON; exit code 0 passes
    #[arg(long, value_name = "COMMAND", required_if_eq("verify", "tool"))]
    check: Option<String>,
    /// For --verify peer: who is asked [default: another delegate that is known]
    #[arg(long, value_name = "URL")]
    verifier: Option<String>,
    /// For --verify peer: the skill that it is asked for
    #[arg(long, value_name = "NAME", default_value = "verify")]
    verifier_skill: String,
    /// Speak plain HTTP with other machines, where ldp:// means https
    #[arg(long)]
    plain: bool,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
    /// Print no progress
    #[arg(long, short)]
    quiet: bool,
    #[command(flatten)]
    me: MeArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum By {
    Quality,
    Cost,
    Latency,
    Balanced,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Who {
    /// A JSON Schema
    Rule,
    /// A command
    Tool,
    /// Another delegate
    Peer,
    /// You, at this terminal
    Human,
}

impl DelegateArgs {
    pub(crate) fn run(self, notes: &mut Notes) -> ExitCode {
        block_on(self.delegate(notes)).flatten().unwrap_or_else(|error| {
            let exit = exit_of(&error);
            notes.error(error);
            exit.into()
        })
    }

    async fn delegate(self, notes: &mut Notes) -> anyhow::Result<ExitCode> {
        let request = self.request()?;
        let me = Me::open(&self.me)?;
        let delegation = me.delegation()?;
        let stop = CancellationToken::new();
        let mut signals = Signals::listen();
        let (events, mut told) = mpsc::channel(64);
        let run = delegation.run(&request, &events, &stop);
        tokio::pin!(run);
        let mut interrupted: Option<Stop> = None;
        let ran = loop {
            tokio::select! {
                ran = &mut run => break ran,
                Some(event) = told.recv() => self.tell(&event, notes),
                signal = signals.next() => {
                    if interrupted.replace(signal).is_some() {
                        // Asked twice: whoever has the task will find out by itself.
                        return Ok(ExitCode::from(signal.exit_code()));
                    }
                    notes.line("cancelling; once more to leave at once");
                    stop.cancel();
                }
            }
        };
        while let Ok(event) = told.try_recv() {
            self.tell(&event, notes);
        }
        let report = ran?;
        delegation.close().await;
        let mut output = Output::stdout();
        let written = self.write(&report, &mut output, notes);
        if let Err(error) = written.and_then(|()| Ok(output.flush()?)) {
            notes.error(error.context("the result cannot be written"));
            return Ok(Exit::Found.into());
        }
        Ok(match (interrupted, report.is_done()) {
            (Some(signal), false) => ExitCode::from(signal.exit_code()),
            (_, true) => Exit::Done.into(),
            (None, false) => Exit::Found.into(),
        })
    }

    fn tell(&self, event: &DelegationEvent, notes: &mut Notes) {
        if !self.quiet {
            tell(event, notes);
        }
    }

    fn request(&self) -> anyhow::Result<DelegationRequest> {
        let plain = if self.plain { PlainHttp::Anywhere } else { PlainHttp::LoopbackOnly };
        let parse = |url: &String| Address::parse(url, plain).with_context(|| one_line(url, 120));
        let mut request = DelegationRequest::new(self.task()?);
        request.skill = self.skill.as_deref().map(skill).transpose()?;
        request.to = self.to.iter().map(parse).collect::<anyhow::Result<_>>()?;
        request.strategy = match self.strategy {
            By::Quality => Strategy::Quality,
            By::Cost => Strategy::Cost,
            By::Latency => Strategy::Latency,
            By::Balanced => Strategy::Balanced,
        };
        request.trust_domain.clone_from(&self.domain);
        request.jurisdiction.clone_from(&self.jurisdiction);
        request.budget = Budget { max_tokens: self.budget_tokens, max_cost_usd: self.budget_usd };
        request.deadline = self.deadline;
        request.attempts = self.attempts.into();
        request.hedge_after = self.hedge;
        if self.hedge.is_some() && self.attempts == 1 {
            bail!("--hedge asks a second delegate, and --attempts 1 allows one");
        }
        self.check_verification()?;
        request.verify = match self.verify {
            None => None,
            Some(Who::Rule) => Some(self.rule()?),
            Some(Who::Tool) => {
                let check = self.check.clone().unwrap_or_default();
                Some(Verify::Tool { command: vec!["sh".to_owned(), "-c".to_owned(), check] })
            }
            Some(Who::Peer) => Some(Verify::Peer {
                to: self.verifier.as_ref().map(parse).transpose()?,
                skill: skill(&self.verifier_skill)?,
            }),
            Some(Who::Human) => Some(Verify::Human(Arc::new(AtTerminal))),
        };
        Ok(request)
    }

    /// Who asks for a check gets that one, and no other.
    fn check_verification(&self) -> anyhow::Result<()> {
        let given = [
            (self.schema.is_some(), "--schema", Who::Rule, "rule"),
            (self.check.is_some(), "--check", Who::Tool, "tool"),
            (self.verifier.is_some(), "--verifier", Who::Peer, "peer"),
        ];
        for (is_given, option, who, name) in given {
            if is_given && self.verify != Some(who) {
                bail!("{option} is for --verify {name}, and nothing else");
            }
        }
        if self.check.as_ref().is_some_and(|it| it.trim().is_empty()) {
            bail!("--check is empty: a command that does nothing passes everything");
        }
        Ok(())
    }

    /// The words, and the data that goes with them.
    fn task(&self) -> anyhow::Result<TaskInput> {
        let from_stdin = || -> anyhow::Result<String> {
            let mut text = String::new();
            let read = std::io::stdin().take(MAX_INPUT).read_to_string(&mut text);
            read.context("standard input is not text")?;
            Ok(text)
        };
        let words = match self.task.as_str() {
            "-" => from_stdin()?,
            task => task.to_owned(),
        };
        if words.trim().is_empty() {
            bail!("the task is empty");
        }
        let Some(path) = &self.input else { return Ok(TaskInput::Text(words)) };
        let text = match path.as_os_str() == "-" {
            true if self.task == "-" => bail!("task and input cannot both be standard input"),
            true => from_stdin()?,
            false => std::fs::read_to_string(path).with_context(|| path.display().to_string())?,
        };
        let data = read_json(path, &text)?;
        let mut fields = match data {
            Value::Object(fields) => fields,
            data => serde_json::Map::from_iter([("data".to_owned(), data)]),
        };
        if fields.insert("instruction".to_owned(), words.into()).is_some() {
            bail!("{}: it has an instruction, and the task is another one", path.display());
        }
        Ok(TaskInput::Json(Value::Object(fields)))
    }

    fn rule(&self) -> anyhow::Result<Verify> {
        let path = self.schema.clone().unwrap_or_default();
        let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let schema = read_json(&path, &text)?;
        if let Err(why) = sabir_host::check_schema(&schema) {
            bail!("{}: {why}", path.display());
        }
        let name = path.file_name().map(|it| it.to_string_lossy().into_owned());
        Ok(Verify::Rule { name: name.unwrap_or_default(), schema })
    }

    fn write(
        &self,
        report: &DelegationReport,
        output: &mut Output,
        notes: &mut Notes,
    ) -> anyhow::Result<()> {
        if self.json {
            writeln!(output, "{}", json_text(&serde_json::to_value(report)?))?;
        } else if let Some(done) = &report.output {
            match words_of(done) {
                Some(text) => writeln!(output, "{}", shown(text))?,
                None => writeln!(output, "{}", shown(&format!("{done:#}")))?,
            }
        }
        // On a terminal both are read: what came of it, and then how.
        output.flush()?;
        if let Some(error) = &report.error {
            let (code, message) = (one_line(&error.code, 80), one_line(&error.message, 2000));
            notes.line(format_args!("{code}: {message}"));
        }
        if !self.quiet {
            summarize(report, notes);
        }
        for why in &report.unrecorded {
            notes.line(format_args!("warning: this was not recorded: {}", one_line(why, 400)));
        }
        Ok(())
    }
}

/// A text, also where it travelled in a frame that holds nothing else.
fn words_of(output: &Value) -> Option<&str> {
    let Value::Object(frame) = output else { return output.as_str() };
    let is_text = frame.len() == 2 && frame.get("task_type").is_some_and(|it| it == "text");
    frame.get("instruction").filter(|_| is_text)?.as_str()
}

/// JSON in which every key is there once: of two, nobody could tell which one is meant. And with no
/// integer that would arrive as another number.
fn read_json(path: &Path, text: &str) -> anyhow::Result<Value> {
    let shown = path.display();
    let value = serde_json::from_str(text).with_context(|| format!("{shown}: not JSON"))?;
    if let Err(error) = Json::read(text, MAX_DEPTH) {
        bail!("{shown}: {error}");
    }
    if let Some(digits) = long_integer(text) {
        let digits = one_line(digits, 60);
        bail!("{shown}: the integer {digits} is too long: write it as a string");
    }
    Ok(value)
}

/// What other agents write, without what a terminal would obey.
fn shown(text: &str) -> String {
    sabir_base::text::with_hidden_shown(text).into_owned()
}

fn summarize(report: &DelegationReport, notes: &mut Notes) {
    let who = report.delegate_id.as_ref().map_or("nobody", |id| id.as_str());
    match &report.address {
        Some(at) => {
            notes.line(format_args!("by       {} at {}", one_line(who, 80), one_line(at, 120)));
        }
        None => notes.line(format_args!("by       {}", one_line(who, 80))),
    }
    if !report.chosen.why.is_empty() {
        let mut label = "chosen";
        for line in report.chosen.why.lines().filter(|line| !line.trim().is_empty()) {
            let indent = &line[..line.len() - line.trim_start().len()];
            notes.line(format_args!("{label:<8} {indent}{}", one_line(line, 400)));
            label = "";
        }
    }
    let stopped = report.attempts.iter().filter(|it| it.outcome == AttemptOutcome::Stopped);
    for attempt in stopped {
        let who = one_line(attempt.delegate_id.as_str(), 80);
        notes.line(format_args!("stopped  {who}, which was asked as well"));
    }
    let mut cost = format!("{:.1} s", report.cost.latency_ms as f64 / 1000.0);
    if let Some(tokens) = report.cost.tokens {
        cost += &format!(", {tokens} tokens");
    }
    if let Some(usd) = report.cost.usd {
        cost += &format!(", ${usd}");
    }
    let mode = report.payload_mode.map_or(String::new(), |it| format!(", as {}", it.wire_name()));
    notes.line(format_args!("cost     {cost}{mode}"));
    let contract = report.provenance.as_ref().filter(|it| it.contract_id.is_some());
    if contract.is_some_and(|it| it.contract_satisfied.is_none()) {
        notes.line("budget   nobody measured whether it was kept");
    }
    if report.checks.is_empty() && report.is_done() {
        notes.line("checked  by nobody");
    }
    for check in &report.checks {
        let detail = check.detail.as_deref().map_or(String::new(), |it| format!(": {it}"));
        let (by, detail) = (one_line(&check.by, 80), one_line(&detail, 400));
        match check.outcome {
            CheckOutcome::Passed => notes.line(format_args!("checked  passed, by {by}{detail}")),
            CheckOutcome::Failed => notes.line(format_args!("checked  failed, by {by}{detail}")),
            CheckOutcome::NotMade => {
                notes.line(format_args!("checked  by nobody: it was not verified ({by}{detail})"));
            }
        }
    }
}

fn tell(event: &DelegationEvent, notes: &mut Notes) {
    let id = |id: &sabir_ldp::DelegateId| one_line(id.as_str(), 80);
    match event {
        DelegationEvent::Found { delegate_id, address } => {
            notes.line(format_args!("found {} at {address}", id(delegate_id)));
        }
        DelegationEvent::Unreachable { address, error } => {
            let (address, message) = (address.to_string(), one_line(&error.message, 300));
            match message.contains(&address) {
                true => notes.line(message),
                false => notes.line(format_args!("{address}: {message}")),
            }
        }
        DelegationEvent::KeyPinned(pin) => {
            notes.line(first_meeting(pin));
        }
        DelegationEvent::Chosen { .. } | DelegationEvent::Delivered { .. } => {}
        DelegationEvent::Trying { delegate_id, .. } => {
            notes.line(format_args!("asking {}", id(delegate_id)));
        }
        DelegationEvent::SessionOpened { mode, .. } => {
            notes.line(format_args!("session opened, mode {}", mode.wire_name()));
        }
        DelegationEvent::Progress { progress, message, state, .. } => {
            let share = progress.map_or(String::new(), |it| format!("{:>3.0} % ", it * 100.0));
            let state = state.map_or("", |it| it.wire_name());
            let said = message.as_deref().map_or(state.to_owned(), |it| one_line(it, 300));
            notes.line(format_args!("  {share}{said}"));
        }
        DelegationEvent::Failed { delegate_id, error } => {
            let (code, message) = (one_line(&error.code, 80), one_line(&error.message, 300));
            notes.line(format_args!("{} failed: {code}: {message}", id(delegate_id)));
        }
        DelegationEvent::Hedging { delegate_id } => {
            notes.line(format_args!("that takes long: {} is asked as well", id(delegate_id)));
        }
        DelegationEvent::Stopped { delegate_id } => {
            notes.line(format_args!("{} was told to stop", id(delegate_id)));
        }
        DelegationEvent::Checking { by } => {
            notes.line(format_args!("checking by {}", one_line(by, 80)))
        }
        DelegationEvent::Checked(_) => {}
    }
}

/// The person at this terminal.
struct AtTerminal;

impl Judge for AtTerminal {
    fn name(&self) -> String {
        std::env::var("USER").unwrap_or_else(|_| "a person".to_owned())
    }

    fn judge<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Judgement> {
        let asked = format!("{:#}", question.output);
        Box::pin(async move {
            // Somebody who thinks does not hold up anybody else.
            let answered = tokio::task::spawn_blocking(move || {
                let stdin = std::io::stdin();
                match stdin.is_terminal() {
                    true => ask(&asked, &mut stdin.lock(), &mut std::io::stderr()),
                    false => unanswered("standard input is no terminal, so that nobody was asked"),
                }
            });
            answered.await.unwrap_or_else(|_| unanswered("the question could not be asked"))
        })
    }
}

/// Asks until there is an answer, a few times.
fn ask(output: &str, from: &mut impl BufRead, to: &mut impl Write) -> Judgement {
    let _ = write!(to, "{}\n\n", shown(output));
    for _ in 0..MOST_QUESTIONS {
        let _ = write!(to, "Is this right? [y]es [n]o: ");
        let _ = to.flush();
        let mut line = String::new();
        match from.take(MAX_ANSWER).read_line(&mut line) {
            Ok(0) => return unanswered("standard input was closed"),
            Ok(_) => {}
            Err(_) => return unanswered("the answer could not be read"),
        }
        match line.trim().to_ascii_lowercase().as_str() {
            "y" | "yes" => return Judgement::Right(None),
            "n" | "no" => return Judgement::Wrong(None),
            "" => return unanswered("nobody answered"),
            _ => {}
        }
    }
    unanswered("no answer was yes or no")
}

fn unanswered(why: &str) -> Judgement {
    Judgement::Unanswered(why.to_owned())
}

fn skill(name: &str) -> anyhow::Result<SkillName> {
    SkillName::new(name).with_context(|| one_line(name, 80))
}

fn dollars(text: &str) -> Result<f64, String> {
    match text.trim_start_matches('$').parse::<f64>() {
        Ok(usd) if usd.is_finite() && usd >= 0.0 => Ok(usd),
        _ => Err("write it as 0.05".to_owned()),
    }
}

/// A number and its unit.
fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || "write it as 500ms, 30s, 5m or 2h".to_owned();
    let unit_at = text.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(wrong)?;
    let (number, unit) = text.split_at(unit_at);
    let number: f64 = number.parse().map_err(|_| wrong())?;
    let seconds = match unit {
        "ms" => number / 1000.0,
        "s" => number,
        "m" => number * 60.0,
        "h" => number * 3600.0,
        _ => return Err(wrong()),
    };
    Duration::try_from_secs_f64(seconds).map_err(|_| wrong())
}

const MOST_QUESTIONS: u32 = 3;
/// Of what is typed as an answer.
const MAX_ANSWER: u64 = 4096;
/// Larger than a message may be; what is beyond is refused there.
const MAX_INPUT: u64 = 16 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_unit() {
        assert_eq!(duration("30s"), Ok(Duration::from_secs(30)));
        assert_eq!(duration("1.5m"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("250ms"), Ok(Duration::from_millis(250)));
        for wrong in ["30", "s", "-1s", "1d", "", "1..5s", "999999999999999999999h"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn who_does_not_answer_has_not_refused() {
        let asked = |typed: &str| {
            let mut shown = Vec::new();
            let judgement = ask("42", &mut typed.as_bytes(), &mut shown);
            (judgement, String::from_utf8(shown).unwrap().matches("Is this right?").count())
        };
        assert_eq!(asked("y\n"), (Judgement::Right(None), 1));
        assert_eq!(asked("NO\n"), (Judgement::Wrong(None), 1));
        assert_eq!(asked("hm\nyes\n"), (Judgement::Right(None), 2));
        assert_eq!(asked(""), (unanswered("standard input was closed"), 1));
        assert_eq!(asked("\n"), (unanswered("nobody answered"), 1));
        assert_eq!(asked("a\nb\nc\ny\n"), (unanswered("no answer was yes or no"), 3));
    }

    #[test]
    fn dollars_are_no_debts() {
        assert_eq!(dollars("$0.5"), Ok(0.5));
        for wrong in ["-1", "NaN", "inf", "much"] {
            assert!(dollars(wrong).is_err(), "{wrong}");
        }
    }
}
