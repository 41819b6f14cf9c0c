//! What a person sees of a session: the answer on standard output, everything else on standard
//! error. What models and commands write is data: it must not steer the terminal.

use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use sabir_base::text::{clip, with_hidden_shown, without_hidden};
use sabir_engine::{EventMsg, FileChange, InputItem, Op, StepStatus, Submission, TokenTotals};
use sabir_host::Shown;
use sabir_policy::as_typed;

use super::answers::Asked;
use super::streams::{self, Streams};

pub(crate) struct Screen {
    streams: Streams,
    json: bool,
    colors: bool,
    /// Whether a line of progress is on the screen, to be wiped before the next word.
    progress: bool,
    shows_progress: bool,
    /// The answer is being written, and its line is not ended.
    in_answer: bool,
    /// What of the answer was written as it came.
    streamed: String,
    in_thought: bool,
    /// The command whose line of output is not ended.
    in_output: Option<String>,
    busy_since: Option<Instant>,
    what: &'static str,
    /// Of the task, and of the session.
    tokens: Option<(TokenTotals, TokenTotals)>,
    session_id: Option<String>,
}

/// Before every line that a command wrote, so that none looks like the program's own.
const GUTTER: &str = "  | ";

impl Screen {
    pub(crate) fn new(json: bool) -> Self {
        let is_terminal = std::io::stderr().is_terminal();
        let plain = std::env::var_os("NO_COLOR").is_some_and(|it| !it.is_empty());
        Self {
            streams: Streams::new(),
            json,
            colors: is_terminal && !plain,
            progress: false,
            shows_progress: is_terminal && !json,
            in_answer: false,
            streamed: String::new(),
            in_thought: false,
            in_output: None,
            busy_since: None,
            what: "thinking",
            tokens: None,
            session_id: None,
        }
    }

    pub(crate) fn show(&mut self, shown: &Shown) {
        if self.json {
            return self.streams.out(&format!("{}\n", shown.line));
        }
        self.show_event(&shown.event.msg);
    }

    pub(crate) fn show_event(&mut self, msg: &EventMsg) {
        match msg {
            EventMsg::SessionConfigured { session_id, .. } => {
                self.session_id = Some(session_id.clone());
            }
            EventMsg::TaskStarted { .. } => {
                self.streamed.clear();
                self.tokens = None;
                self.busy("thinking");
            }
            EventMsg::AgentMessageDelta { delta } => {
                self.wipe();
                self.end_other();
                self.in_answer = true;
                self.streamed.push_str(delta);
                self.streams.out(&without_hidden(delta));
            }
            EventMsg::AgentMessage { message } => {
                self.wipe();
                self.end_other();
                let streamed = std::mem::take(&mut self.streamed);
                // What was streamed may be the beginning of another answer that was given up.
                let rest = message.strip_prefix(&streamed).unwrap_or_else(|| {
                    self.end_answer();
                    message
                });
                if !rest.is_empty() {
                    self.streams.out(&without_hidden(rest));
                    self.in_answer = true;
                }
                self.end_answer();
            }
            EventMsg::AgentReasoningDelta { delta } => {
                self.end_answer();
                self.wipe();
                self.in_thought = true;
                let text = self.dim(&without_hidden(delta));
                self.streams.err(&text);
            }
            EventMsg::AgentReasoning { text } => {
                if !std::mem::take(&mut self.in_thought) {
                    let text = without_hidden(text);
                    self.line(&self.dim(&text));
                } else {
                    self.streams.err("\n");
                }
            }
            EventMsg::ExecCommandBegin { command, .. } => {
                self.line(&self.bold(&format!("$ {}", as_typed(command))));
                self.busy("running");
            }
            EventMsg::ExecCommandOutputDelta { call_id, chunk, .. } => self.output(call_id, chunk),
            EventMsg::ExecCommandEnd { output, .. } => {
                self.end_other();
                if output.timed_out {
                    self.line(&self.red("  timed out"));
                } else if output.exit_code != 0 {
                    self.line(&self.red(&format!("  exit code {}", output.exit_code)));
                }
                self.busy("thinking");
            }
            EventMsg::PatchApplyBegin { changes, .. } => {
                for (path, change) in changes {
                    self.diff(path, change);
                }
            }
            EventMsg::ApplyPatchApprovalRequest { changes, .. } => {
                for (path, change) in changes {
                    self.diff(path, change);
                }
            }
            EventMsg::PatchApplyEnd { success, message, .. } => {
                let text = without_hidden(message);
                let text = text.trim_end();
                self.line(&if *success { self.dim(text) } else { self.red(text) });
                self.busy("thinking");
            }
            EventMsg::PlanUpdate { plan, .. } => {
                for step in plan {
                    let mark = match step.status {
                        StepStatus::Completed => "[x]",
                        StepStatus::InProgress => "[>]",
                        StepStatus::Pending => "[ ]",
                    };
                    self.line(&self.dim(&format!("  {mark} {}", without_hidden(&step.step))));
                }
            }
            EventMsg::ToolCallBegin { tool, arguments, .. } => {
                let text = format!("{tool} {arguments}");
                let text = without_hidden(&text);
                self.line(&self.dim(&format!("* {}", clip(&text, 160))));
                self.busy("working");
            }
            EventMsg::ToolCallEnd { success, output, .. } => {
                if !success {
                    let text = without_hidden(output);
                    self.line(&self.red(&format!("  {}", text.lines().next().unwrap_or_default())));
                }
                self.busy("thinking");
            }
            EventMsg::TokenCount { usage, total, .. } => {
                let (task, session) = self.tokens.get_or_insert_default();
                task.input += usage.input;
                task.cached += usage.cached;
                task.output += usage.output;
                *session = *total;
            }
            EventMsg::Warning { message } => {
                self.line(&self.yellow(&format!("warning: {}", without_hidden(message))))
            }
            EventMsg::StreamError { message } => {
                self.streamed.clear();
                self.line(&self.yellow(&without_hidden(message)));
            }
            EventMsg::BackgroundEvent { message } => self.line(&self.dim(&without_hidden(message))),
            EventMsg::Error { message } => {
                self.line(&self.red(&format!("error: {}", without_hidden(message))))
            }
            EventMsg::TurnAborted { .. } => self.streamed.clear(),
            EventMsg::TaskComplete { .. }
            | EventMsg::TurnComplete { .. }
            | EventMsg::TurnDiff { .. }
            | EventMsg::ExecApprovalRequest { .. }
            | EventMsg::Tools { .. }
            | EventMsg::Approvals { .. }
            | EventMsg::History { .. }
            | EventMsg::ShutdownComplete => {}
            // Kinds that are newer than this screen.
            _ => {}
        }
    }

    /// What a person had said, in a session that is shown again.
    pub(crate) fn submitted(&mut self, body: &str) {
        let Ok(submission) = serde_json::from_str::<Submission>(body) else { return };
        let text = match submission.op {
            Op::UserInput { items, .. } => items
                .iter()
                .map(|item| match item {
                    InputItem::Text { text } => text.clone(),
                    InputItem::Image { .. } | InputItem::LocalImage { .. } => {
                        "(picture)".to_owned()
                    }
                })
                .collect::<Vec<_>>()
                .join(" "),
            Op::ExecApproval { decision, .. } | Op::PatchApproval { decision, .. } => {
                format!("{decision:?}")
            }
            Op::Interrupt => "(interrupt)".to_owned(),
            _ => return,
        };
        self.line(&self.bold(&format!("> {}", without_hidden(&text))));
    }

    /// Puts a question. Nothing else is written until it is [`Screen::answered`].
    pub(super) fn ask(&mut self, asked: &Asked) {
        for (path, change) in &asked.changes {
            self.diff(path, change);
        }
        self.line(&self.yellow(&with_hidden_shown(&asked.question)));
        self.line(&self.dim(&format!("  always covers {}", with_hidden_shown(&asked.scope))));
        Self::prompt("[y]es  [n]o  [a]lways  [q]uit the task: ");
        self.streams.hold();
    }

    /// The open question is answered, or does not matter any more.
    pub(super) fn answered(&mut self) {
        self.streams.release();
    }

    pub(crate) fn prompt(text: &str) {
        streams::now(text);
    }

    /// A task is over.
    pub(super) fn ended(&mut self, took: Duration) {
        self.streams.release();
        self.wipe();
        self.end_answer();
        self.end_other();
        self.busy_since = None;
        if self.json {
            return;
        }
        let mut text = format!("{:.1} s", took.as_secs_f64());
        if let Some((task, session)) = self.tokens {
            text.push_str(&format!(", {}", in_words(task)));
            if (task.input, task.output) != (session.input, session.output) {
                text.push_str(&format!("; the whole session: {}", in_words(session)));
            }
        }
        self.line(&self.dim(&text));
    }

    /// Says how to go on, with the options that name the session's home.
    pub(super) fn goodbye(&mut self, home: &[String]) {
        if let (Some(id), false) = (&self.session_id, self.json) {
            let words = [&["sabir".to_owned(), "resume".to_owned(), id.clone()], home].concat();
            let text = format!("go on with: {}", as_typed(&words));
            self.line(&self.dim(&text));
        }
    }

    /// Whether everything that belongs on standard output could be written there.
    pub(crate) fn has_failed(&self) -> bool {
        self.streams.has_failed()
    }

    /// Something that cannot wait, not even for an answer.
    pub(super) fn note(&mut self, text: &str) {
        if self.json {
            return;
        }
        match self.streams.is_holding() {
            true => streams::now(&format!("\n{}\n", self.yellow(text))),
            false => self.line(&self.yellow(text)),
        }
    }

    /// Shows that something is alive.
    pub(crate) fn beat(&mut self) {
        let Some(since) = self.busy_since else { return };
        let seconds = since.elapsed().as_secs();
        let in_line = self.in_answer || self.in_thought || self.in_output.is_some();
        let quiet = !in_line && !self.streams.is_holding();
        if self.shows_progress && quiet && seconds >= 1 {
            streams::now(&format!("\r\x1b[2K{} ... {seconds} s", self.what));
            self.progress = true;
        }
    }

    fn busy(&mut self, what: &'static str) {
        self.what = what;
        self.busy_since = Some(Instant::now());
    }

    fn wipe(&mut self) {
        if std::mem::take(&mut self.progress) {
            streams::now("\r\x1b[2K");
        }
    }

    fn end_answer(&mut self) {
        if std::mem::take(&mut self.in_answer) {
            self.streams.out("\n");
        }
    }

    fn end_other(&mut self) {
        let in_output = self.in_output.take().is_some();
        if std::mem::take(&mut self.in_thought) || in_output {
            self.streams.err("\n");
        }
    }

    /// A piece of what a command writes. Several may write at the same time.
    fn output(&mut self, call_id: &str, chunk: &str) {
        self.end_answer();
        self.wipe();
        if self.in_thought || self.in_output.as_deref().is_some_and(|writer| writer != call_id) {
            self.end_other();
        }
        let text = without_hidden(chunk);
        let mut shown = String::with_capacity(text.len() + GUTTER.len());
        for line in text.split_inclusive('\n') {
            if self.in_output.is_none() {
                shown.push_str(GUTTER);
            }
            shown.push_str(line);
            self.in_output = (!line.ends_with('\n')).then(|| call_id.to_owned());
        }
        let shown = self.dim(&shown);
        self.streams.output(&shown);
    }

    fn line(&mut self, text: &str) {
        self.wipe();
        self.end_answer();
        self.end_other();
        self.streams.err(&format!("{text}\n"));
    }

    fn diff(&mut self, path: &str, change: &FileChange) {
        match change {
            FileChange::Add { content } => {
                self.line(&self.bold(&format!("add {}", without_hidden(path))));
                for line in content.lines() {
                    self.line(&self.green(&format!("+{}", without_hidden(line))));
                }
            }
            FileChange::Delete { .. } => {
                self.line(&self.bold(&format!("delete {}", without_hidden(path))))
            }
            FileChange::Update { unified_diff, move_path } => {
                let to = move_path
                    .as_ref()
                    .map(|to| format!(" -> {}", without_hidden(to)))
                    .unwrap_or_default();
                self.line(&self.bold(&format!("change {}{to}", without_hidden(path))));
                // Only above the first change do these begin the names of the files.
                let is_name = |line: &&str| line.starts_with("---") || line.starts_with("+++");
                for line in unified_diff.lines().skip_while(is_name) {
                    let text = without_hidden(line);
                    self.line(&match line.as_bytes().first() {
                        Some(b'+') => self.green(&text),
                        Some(b'-') => self.red(&text),
                        _ => self.dim(&text),
                    });
                }
            }
        }
    }

    fn paint(&self, code: &str, text: &str) -> String {
        match self.colors {
            true => format!("\x1b[{code}m{text}\x1b[0m"),
            false => text.to_owned(),
        }
    }

    fn dim(&self, text: &str) -> String {
        self.paint("2", text)
    }

    fn bold(&self, text: &str) -> String {
        self.paint("1", text)
    }

    fn red(&self, text: &str) -> String {
        self.paint("31", text)
    }

    fn green(&self, text: &str) -> String {
        self.paint("32", text)
    }

    fn yellow(&self, text: &str) -> String {
        self.paint("33", text)
    }
}

fn in_words(TokenTotals { input, cached, output, .. }: TokenTotals) -> String {
    format!("{input} tokens in ({cached} cached), {output} out")
}

/// Text of strangers inside a question: each further line is marked as part of it.
pub(super) fn guttered(text: &str) -> String {
    text.replace('\n', &format!("\n{GUTTER}"))
}
