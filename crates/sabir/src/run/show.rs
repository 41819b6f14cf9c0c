//! What a person sees of a session: the answer on standard output, everything else on standard
//! error. What models and commands write is data: it must not steer the terminal.

use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use sabir_base::text::{clip, with_hidden_shown, without_hidden};
use sabir_engine::{EventMsg, FileChange, InputItem, Op, StepStatus, Submission};
use sabir_host::Shown;
use sabir_policy::as_typed;

pub(crate) struct Screen {
    json: bool,
    colors: bool,
    /// Whether a line of progress is on the screen, to be wiped before the next word.
    progress: bool,
    shows_progress: bool,
    /// The answer is being written, and its line is not ended.
    in_answer: bool,
    /// Whether the answer was written as it came.
    streamed: bool,
    in_thought: bool,
    in_output: bool,
    busy_since: Option<Instant>,
    what: &'static str,
    tokens: Option<(u64, u64, u64)>,
    session_id: Option<String>,
    asking: bool,
}

impl Screen {
    pub(crate) fn new(json: bool) -> Self {
        let is_terminal = std::io::stderr().is_terminal();
        let plain = std::env::var_os("NO_COLOR").is_some_and(|it| !it.is_empty());
        Self {
            json,
            colors: is_terminal && !plain,
            progress: false,
            shows_progress: is_terminal && !json,
            in_answer: false,
            streamed: false,
            in_thought: false,
            in_output: false,
            busy_since: None,
            what: "thinking",
            tokens: None,
            session_id: None,
            asking: false,
        }
    }

    pub(crate) fn show(&mut self, shown: &Shown) {
        if self.json {
            return out(&format!("{}\n", shown.line));
        }
        self.show_event(&shown.event.msg);
    }

    pub(crate) fn show_event(&mut self, msg: &EventMsg) {
        match msg {
            EventMsg::SessionConfigured { session_id, .. } => {
                self.session_id = Some(session_id.clone());
            }
            EventMsg::TaskStarted { .. } => self.busy("thinking"),
            EventMsg::AgentMessageDelta { delta } => {
                self.wipe();
                self.end_other();
                self.in_answer = true;
                self.streamed = true;
                out(&without_hidden(delta));
            }
            EventMsg::AgentMessage { message } => {
                self.wipe();
                self.end_other();
                if !std::mem::take(&mut self.streamed) {
                    out(&without_hidden(message));
                }
                self.in_answer = false;
                out("\n");
            }
            EventMsg::AgentReasoningDelta { delta } => {
                self.end_answer();
                self.wipe();
                self.in_thought = true;
                let text = self.dim(&without_hidden(delta));
                err(&text);
            }
            EventMsg::AgentReasoning { text } => {
                if !std::mem::take(&mut self.in_thought) {
                    let text = without_hidden(text);
                    self.line(&self.dim(&text));
                } else {
                    err("\n");
                }
            }
            EventMsg::ExecCommandBegin { command, .. } => {
                self.line(&self.bold(&format!("$ {}", as_typed(command))));
                self.busy("running");
            }
            EventMsg::ExecCommandOutputDelta { chunk, .. } => {
                self.end_answer();
                self.wipe();
                self.in_output = !chunk.ends_with('\n');
                err(&self.dim(&without_hidden(chunk)));
            }
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
            EventMsg::TokenCount { total, .. } => {
                self.tokens = Some((total.input, total.cached, total.output));
            }
            EventMsg::Warning { message } => {
                self.line(&self.yellow(&format!("warning: {}", without_hidden(message))))
            }
            EventMsg::StreamError { message } => self.line(&self.yellow(&without_hidden(message))),
            EventMsg::BackgroundEvent { message } => self.line(&self.dim(&without_hidden(message))),
            EventMsg::Error { message } => {
                self.line(&self.red(&format!("error: {}", without_hidden(message))))
            }
            EventMsg::TurnAborted { .. }
            | EventMsg::TaskComplete { .. }
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

    pub(crate) fn ask(&mut self, question: &str, scope: &str) {
        if self.json {
            return;
        }
        self.line(&self.yellow(&with_hidden_shown(question)));
        self.line(&self.dim(&format!("  always covers {}", with_hidden_shown(scope))));
        self.asking = true;
        Self::prompt("[y]es  [n]o  [a]lways  [q]uit the task: ");
    }

    pub(crate) fn prompt(text: &str) {
        err(text);
    }

    /// A task is over.
    pub(crate) fn ended(&mut self, took: Duration) {
        self.wipe();
        self.end_answer();
        self.end_other();
        self.busy_since = None;
        self.asking = false;
        if self.json {
            return;
        }
        let mut text = format!("{:.1} s", took.as_secs_f64());
        if let Some((input, cached, output)) = self.tokens {
            text.push_str(&format!(", {input} tokens in ({cached} cached), {output} out"));
        }
        self.line(&self.dim(&text));
    }

    pub(crate) fn goodbye(&mut self) {
        if let (Some(id), false) = (&self.session_id, self.json) {
            let text = format!("go on with: sabir resume {id}");
            self.line(&self.dim(&text));
        }
    }

    pub(crate) fn note(&mut self, text: &str) {
        if !self.json {
            self.line(&self.yellow(text));
        }
    }

    /// Shows that something is alive.
    pub(crate) fn beat(&mut self) {
        let Some(since) = self.busy_since else { return };
        let seconds = since.elapsed().as_secs();
        let quiet = !self.in_answer && !self.in_thought && !self.in_output && !self.asking;
        if self.shows_progress && quiet && seconds >= 1 {
            err(&format!("\r\x1b[2K{} ... {seconds} s", self.what));
            self.progress = true;
        }
    }

    fn busy(&mut self, what: &'static str) {
        self.what = what;
        self.asking = false;
        self.busy_since = Some(Instant::now());
    }

    fn wipe(&mut self) {
        if std::mem::take(&mut self.progress) {
            err("\r\x1b[2K");
        }
    }

    fn end_answer(&mut self) {
        if std::mem::take(&mut self.in_answer) {
            out("\n");
        }
    }

    fn end_other(&mut self) {
        if std::mem::take(&mut self.in_thought) || std::mem::take(&mut self.in_output) {
            err("\n");
        }
    }

    fn line(&mut self, text: &str) {
        self.wipe();
        self.end_answer();
        self.end_other();
        err(&format!("{text}\n"));
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
                for line in unified_diff
                    .lines()
                    .filter(|it| !it.starts_with("---") && !it.starts_with("+++"))
                {
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

/// A closed pipe ends the show, not the work: the session goes on, and can be resumed.
fn out(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

fn err(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}
