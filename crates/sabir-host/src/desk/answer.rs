//! One question, from the packet to the record: the model is asked, its citations are held against
//! the sources, what it proposes goes through the gate, and everything is kept.

use std::collections::BTreeSet;

use sabir_base::text::clip_counted;
use sabir_document::Document;
use sabir_engine::Usage;
use sabir_llmcp::{
    Answer, CallId, ContextContent, ContextDocument, DocId, Mode, OutputFormat, Request, Task,
    TaskName, Text, Tool, ToolCall, ToolName, ToolResult, ToolStatus, Trust, read_answer,
    redact_packet_within, redact_text,
};
use sabir_policy::{Labels, Outcome, Reading as Read, RuleId, Taint};
use sabir_store::library::{
    ArtifactId, ChatEvent, ChatId, ChatRole, Collection, CollectionId, Fault, MAX_MESSAGE,
    MAX_PACKET, NewChatEvent, NewRun, Turn,
};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::cited::{Cited, verify};
use super::context::{Carried, Context, TAINT, evidence_of, follow_up, request, wrong};
use super::data::{check_data, check_schema};
use super::gate::{Around, CallReport, Door, Petition};
use super::input::Reading;
use super::model::{DeskModel, Said};
use super::moment::now_ms;
use super::{Desk, DeskError, is_of_browser};

/// A question about a collection.
#[derive(Debug, Clone)]
pub struct Ask {
    pub collection: CollectionId,
    pub question: String,
    pub tools: ToolSet,
    /// Earlier questions and answers are given along.
    pub with_history: bool,
}

/// Which tools the model is told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolSet {
    None,
    /// Those of the library, and the calculator.
    Library,
    /// The browser as well.
    Browser,
}

/// An answer, checked and kept.
#[derive(Debug, Clone)]
pub struct Answered {
    pub title: Option<String>,
    pub document: Document,
    pub citations: Vec<Cited>,
    pub data: Option<Value>,
    pub calls: Vec<CallReport>,
    /// How the answer had to be read, what the model did not see.
    pub notes: Vec<String>,
    pub model: String,
    /// Where it stands in the conversation of the collection.
    pub chat: Option<ChatId>,
}

/// What is wanted of a model.
pub(super) struct Wanted<'a> {
    pub(super) question: &'a str,
    pub(super) task: Task,
    pub(super) tools: ToolSet,
    pub(super) context: Context,
    /// What it is asked for.
    pub(super) errand: Errand,
    pub(super) person: Option<&'a mpsc::Sender<Petition>>,
}

/// What a model is asked for, so that what it costs is kept beside it.
#[derive(Debug, Clone, Default)]
pub(super) struct Errand {
    pub(super) collection: Option<CollectionId>,
    /// The question.
    pub(super) chat: Option<ChatId>,
    pub(super) artifact: Option<ArtifactId>,
}

impl Errand {
    /// Who acts, by the word of the audit.
    fn actor(&self) -> String {
        self.collection.as_ref().map_or_else(|| "page".to_owned(), ToString::to_string)
    }
}

/// What came of it, before it is kept where it belongs.
pub(super) struct Outcomes {
    pub(super) answered: Answered,
    /// What keeps the answer from being as it should.
    fault: Option<String>,
    taint: Taint,
    tool_calls: Vec<Value>,
    tool_results: Vec<Value>,
}

impl Desk {
    /// Answers a question from the sources of a collection.
    pub async fn ask(
        &self,
        ask: &Ask,
        person: Option<&mpsc::Sender<Petition>>,
        stop: &CancellationToken,
    ) -> Result<Answered, DeskError> {
        if ask.question.trim().is_empty() {
            return Err(DeskError::refused("there is no question"));
        }
        let id = ask.collection.clone();
        let collection = self.with_library(move |library| library.collection(&id)).await?;
        let mut context = self.context_of(&collection).await?;
        if ask.with_history {
            let id = collection.id.clone();
            let said =
                self.with_library(move |library| library.recent_chat(&id, None, MOST_HISTORY));
            context.add_history(&said.await?)?;
        }
        let asked = self.keep_question(&collection, &ask.question).await?;
        let errand = Errand {
            collection: Some(collection.id.clone()),
            chat: Some(asked.id),
            artifact: None,
        };
        let wanted = Wanted {
            question: &ask.question,
            task: Task { name: TaskName::Answer, args: Map::new() },
            tools: ask.tools,
            context,
            errand,
            person,
        };
        let outcomes = self.perform(wanted, stop).await?;
        self.keep_answer(&collection, asked.turn, outcomes).await
    }

    /// Sums up one page. Nothing is kept but the run.
    pub async fn summarize(
        &self,
        reading: &Reading,
        name: &str,
        style: Option<&str>,
        stop: &CancellationToken,
    ) -> Result<Answered, DeskError> {
        let mut args = Map::new();
        args.insert("style".to_owned(), json!(style.unwrap_or("concise")));
        let task = Task { name: TaskName::Summarize, args };
        let outcomes = self.of_page(reading, name, "summarize this page", task, stop).await?;
        Ok(outcomes.answered)
    }

    /// Fills a JSON Schema from one page. Nothing is kept but the run.
    pub async fn extract(
        &self,
        reading: &Reading,
        name: &str,
        schema: &Value,
        stop: &CancellationToken,
    ) -> Result<Answered, DeskError> {
        check_schema(schema).map_err(DeskError::refused)?;
        let mut args = Map::new();
        args.insert("schema".to_owned(), schema.clone());
        let task = Task { name: TaskName::Extract, args };
        let question = "extract the fields of the schema";
        let Outcomes { answered, fault, .. } =
            self.of_page(reading, name, question, task, stop).await?;
        // The built-in model gives no data where the page has none. Of another one nobody can tell why.
        let is_built_in = matches!(self.0.model, DeskModel::Extractive);
        let nothing = || (!is_built_in).then(|| "the model gave no data".to_owned());
        match fault.or_else(nothing) {
            Some(reason) if answered.data.is_none() => Err(DeskError::Unreadable { reason }),
            _ => Ok(answered),
        }
    }

    async fn of_page(
        &self,
        reading: &Reading,
        name: &str,
        question: &str,
        task: Task,
        stop: &CancellationToken,
    ) -> Result<Outcomes, DeskError> {
        let wanted = Wanted {
            question,
            task,
            tools: ToolSet::None,
            context: Context::of_page(reading, name)?,
            errand: Errand::default(),
            person: None,
        };
        self.perform(wanted, stop).await
    }

    /// Asks, reads, verifies; carries out what may be carried out, and asks again with the results.
    pub(super) async fn perform(
        &self,
        wanted: Wanted<'_>,
        stop: &CancellationToken,
    ) -> Result<Outcomes, DeskError> {
        let done = self.work_through(wanted, stop).await;
        // What pages tried while nobody looked.
        self.write_down_held().await?;
        done
    }

    async fn work_through(
        &self,
        wanted: Wanted<'_>,
        stop: &CancellationToken,
    ) -> Result<Outcomes, DeskError> {
        let Wanted { question, task, tools, mut context, errand, person } = wanted;
        let names = tools.names();
        let documents = std::mem::take(&mut context.documents);
        let kind = task.name.as_str().to_owned();
        let mut asked = request(question, task, OutputFormat::Json, documents)?;
        let mut door = Door {
            desk: self,
            actor: errand.actor(),
            person,
            stop,
            offered: names.clone(),
            collection: errand.collection.clone(),
            made: BTreeSet::new(),
            denied: BTreeSet::new(),
            calls_made: 0,
            asks_made: 0,
        };
        let mut calls = Vec::new();
        let (mut tool_calls, mut tool_results) = (Vec::new(), Vec::new());
        for step in 1.. {
            let started = now_ms();
            let said = match self.say(&asked, &names, stop).await {
                Ok(said) => said,
                Err(error) => {
                    let fault = Fault::new(error.code(), error.to_string());
                    self.keep_run(self.run_of(&kind, &asked, started, Err(fault), &errand)).await?;
                    return Err(error);
                }
            };
            self.note_usage(said.usage);
            let answer = read_answer(&said.text, &asked, &check_data);
            // At once: what comes now may fail, and this was paid for.
            let run = self.run_of(&kind, &asked, started, Ok((&said, &answer)), &errand);
            self.keep_run(run).await?;
            if answer.tool_calls.is_empty() || step == MOST_STEPS {
                if answer.data.is_none() && answer.document.to_markdown().trim().is_empty() {
                    return Err(DeskError::NoAnswer);
                }
                let fault = fault_of(&answer);
                let answered = self.answered(answer, &said, calls, &context);
                let taint = context.taint;
                return Ok(Outcomes { answered, fault, taint, tool_calls, tool_results });
            }
            let mut results = Vec::new();
            for (number, call) in answer.tool_calls.iter().enumerate() {
                if stop.is_cancelled() {
                    return Err(DeskError::Stopped);
                }
                let (report, result) =
                    self.propose(&mut door, call, step, number, &asked, &context).await?;
                tool_calls.push(json!({
                    "id": report.call_id, "name": report.tool, "outcome": report.outcome,
                    "reason": report.reason_code,
                    "arguments": redact_packet_within(&call.call.arguments(), MOST_ARGUMENTS),
                }));
                tool_results.push(json!({
                    "id": report.call_id, "status": result.status.as_str(),
                    "error": result.error_code.as_ref().map(Text::as_str),
                }));
                let doc_id = format!("doc:tool:{}", report.call_id);
                let trust = result.most_trust();
                if trust == Trust::Untrusted {
                    context.taint.untrusted.insert(doc_id.clone());
                }
                if report.result.is_some() && self.shows_private(&call.call).await {
                    context.taint.private.insert(doc_id.clone());
                }
                results.push(ContextDocument {
                    doc_id: DocId::new(doc_id).map_err(wrong)?,
                    trust,
                    source: None,
                    content: ContextContent::ToolResult(result),
                });
                calls.push(report);
            }
            asked = follow_up(&asked, results)?;
        }
        Err(DeskError::Stopped)
    }

    /// One call: through the gate and, if it may, carried out.
    async fn propose(
        &self,
        door: &mut Door<'_>,
        call: &ToolCall,
        step: usize,
        number: usize,
        asked: &Request,
        context: &Context,
    ) -> Result<(CallReport, ToolResult), DeskError> {
        // Ours, because a model may give two calls one name.
        let call_id = format!("call_{}_{step}_{}", &asked.envelope.id.as_str()[..8], number + 1);
        let tool = call.call.name();
        let spot = self.spot(&call.call).await;
        let evidence = evidence_of(asked);
        let reach = self.reach(&call.call, door, &evidence).await;
        let around = Around {
            evidence: &evidence,
            taint: &context.taint,
            reading: Read::Strict,
            page: spot.as_ref().map(|spot| &spot.page),
            field: spot.as_ref().and_then(|spot| spot.hints()),
            scope: reach.scope,
            also_called: &reach.also_called,
            hosts: &reach.hosts,
        };
        let passed = door.pass(&call_id, call, &around).await?;
        let mut report = passed.report.clone();
        let call_id = CallId::new(call_id).map_err(wrong)?;
        let (status, error_code, payload) = match report.outcome {
            Outcome::Allow => {
                match self.held_to(&call.call, &passed).carry_out(&call.call, door).await {
                    Ok(payload) => {
                        self.note_opened(&call.call, &evidence).await;
                        let made = made_by(tool, &payload);
                        report.artifact_id =
                            made.clone().filter(|it| ArtifactId::parse(it).is_some());
                        door.made.extend(made);
                        (ToolStatus::Ok, None, payload)
                    }
                    Err(failure) => {
                        let payload = json!({ "message": redact_text(&failure.message) });
                        (ToolStatus::Error, Some(failure.code), payload)
                    }
                }
            }
            _ if report.reason_code == RuleId::CallNotOffered.reason_code() => {
                let payload = json!({ "message": report.reason, "reason": report.reason_code });
                (ToolStatus::Error, Some("UNSUPPORTED_TOOL".to_owned()), payload)
            }
            Outcome::Ask | Outcome::Deny => {
                let payload = json!({ "message": report.reason, "reason": report.reason_code });
                (ToolStatus::Cancelled, Some("NOT_ALLOWED".to_owned()), payload)
            }
        };
        self.write_down_held().await?;
        if report.outcome == Outcome::Allow {
            report.result = Some(error_code.clone().unwrap_or_else(|| result_in_words(&payload)));
        }
        let error_code = error_code.map(Text::new).transpose().map_err(wrong)?;
        let result = ToolResult { tool, call_id, status, error_code, payload: Some(payload) };
        Ok((report, result))
    }

    /// Whether what comes back is the user's own. Nobody can have signed in to anything in a browser
    /// without a window, which starts empty: what it shows is shown to everyone.
    pub(super) async fn shows_private(&self, tool: &Tool) -> bool {
        let (name, arguments) = (tool.name(), tool.arguments());
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        Labels::of_tool(name.as_str(), &arguments).reads_private
            && (!is_of_browser(name.as_str()) || self.is_browser_shown().await)
    }

    fn answered(
        &self,
        answer: Answer,
        said: &Said,
        calls: Vec<CallReport>,
        context: &Context,
    ) -> Answered {
        let mut notes: Vec<String> = answer.notes.iter().map(ToString::to_string).collect();
        notes.extend(said.note.clone().filter(|note| !note.is_empty()));
        if let Some(fault) = fault_of(&answer) {
            notes.push(format!("the answer has a fault, so that it is only shown: {fault}"));
        }
        if context.left_out > 0 {
            notes.push(format!("{} sources are too long to be read", context.left_out));
        }
        if !answer.tool_calls.is_empty() {
            notes.push("the model still proposed tools when its steps were used up".to_owned());
        }
        Answered {
            title: answer.title.map(|title| title.as_str().to_owned()),
            citations: verify(&answer.citations, &context.texts),
            document: answer.document,
            data: answer.data,
            calls,
            notes,
            model: self.0.model.name().to_owned(),
            chat: None,
        }
    }

    async fn keep_question(
        &self,
        collection: &Collection,
        question: &str,
    ) -> Result<ChatEvent, DeskError> {
        let id = collection.id.clone();
        let event = NewChatEvent {
            role: ChatRole::User,
            turn: Turn::Next,
            markdown: fit_message(&redact_text(question)),
            tool_calls: None,
            tool_results: None,
            model: None,
            citations: Vec::new(),
        };
        self.with_library(move |library| library.append_chat(&id, &event, now_ms())).await
    }

    async fn keep_answer(
        &self,
        collection: &Collection,
        turn: u64,
        outcomes: Outcomes,
    ) -> Result<Answered, DeskError> {
        let Outcomes { mut answered, taint, tool_calls, tool_results, .. } = outcomes;
        let id = collection.id.clone();
        let list =
            |values: Vec<Value>| (!values.is_empty()).then(|| Value::Array(values).to_string());
        let event = NewChatEvent {
            role: ChatRole::Assistant,
            turn: Turn::Of(turn),
            markdown: fit_message(&redact_text(&answered.document.to_markdown())),
            tool_calls: list(tool_calls),
            tool_results: list(tool_results),
            model: Some(
                json!({
                    "provider": self.0.model.provider(), "model": answered.model,
                    TAINT: Carried::from_taint(&taint).names(),
                })
                .to_string(),
            ),
            citations: answered.citations.iter().map(Cited::to_keep).collect(),
        };
        let kept = self.with_library(move |library| library.append_chat(&id, &event, now_ms()));
        answered.chat = Some(kept.await?.id);
        Ok(answered)
    }

    async fn keep_run(&self, run: NewRun) -> Result<(), DeskError> {
        self.with_library(move |library| library.record_run(&run)).await.map(drop)
    }

    /// What is kept of one call of a model: redacted, and without the bodies of documents.
    fn run_of(
        &self,
        kind: &str,
        asked: &Request,
        started: u64,
        outcome: Result<(&Said, &Answer), Fault>,
        errand: &Errand,
    ) -> NewRun {
        let usage = |outcome: &Result<(&Said, &Answer), Fault>| -> Option<Usage> {
            outcome.as_ref().ok()?.0.usage
        };
        let fit = |packet: &Value| redact_packet_within(packet, MAX_PACKET).to_string();
        let response = |(said, answer): &(&Said, &Answer)| match answer.mode {
            Mode::Strict => serde_json::from_str::<Value>(&said.text)
                .map_or_else(|_| fit(&json!({ "text": said.text })), |packet| fit(&packet)),
            Mode::Markdown | Mode::Repaired | Mode::Lenient | Mode::FallbackMarkdown => {
                fit(&json!({ "text": said.text }))
            }
        };
        NewRun {
            kind: kind.to_owned(),
            provider: self.0.model.provider().to_owned(),
            model: self.0.model.name().to_owned(),
            collection_id: errand.collection.clone(),
            source_id: None,
            chat_id: errand.chat.clone(),
            artifact_id: errand.artifact.clone(),
            input_tokens: usage(&outcome).map(|it| it.input),
            output_tokens: usage(&outcome).map(|it| it.output),
            cost_usd_micros: None,
            started_at_ms: started,
            duration_ms: now_ms().saturating_sub(started),
            request_redacted: fit(&asked.to_json()),
            response_redacted: outcome.as_ref().ok().map(response),
            fault: outcome.err(),
        }
    }
}

impl ToolSet {
    /// Those that are told to the model.
    pub(super) fn names(self) -> Vec<ToolName> {
        let is_browser =
            |name: &ToolName| name.as_str().starts_with("browser.") || *name == ToolName::Search;
        match self {
            Self::None => Vec::new(),
            Self::Library => ToolName::ALL.iter().copied().filter(|it| !is_browser(it)).collect(),
            Self::Browser => ToolName::ALL.to_vec(),
        }
    }
}

/// What keeps an answer from being as it should, and where: the first thing, and how many more.
fn fault_of(answer: &Answer) -> Option<String> {
    if matches!(answer.mode, Mode::Strict | Mode::Markdown) {
        return None;
    }
    let mut problems = answer.problems.iter().filter(|it| it.is_error());
    let first = problems.next().or(answer.problems.first())?;
    let place = if first.pointer.is_empty() { "the whole" } else { &first.pointer };
    let more = match problems.count() {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    Some(format!("{place}: {}{more}", first.diagnostic.message))
}

/// What became of a call that was carried out. Of several sources some may have failed.
fn result_in_words(payload: &Value) -> String {
    let sources = payload.get("sources").and_then(Value::as_array);
    let failed = |source: &&Value| source.get("status").is_some_and(|it| it == "failed");
    match sources.map(|all| (all.iter().filter(failed).count(), all.len())) {
        None | Some((0, _)) => "ok".to_owned(),
        Some((failed, all)) => format!("{failed} of {all} failed"),
    }
}

/// What the turn may use from now on, because it has made it.
fn made_by(tool: ToolName, payload: &Value) -> Option<String> {
    let key = match tool {
        ToolName::CreateCollection => "collectionId",
        ToolName::SaveArtifact | ToolName::RunTransform => "artifactId",
        _ => return None,
    };
    payload.get(key).and_then(Value::as_str).map(str::to_owned)
}

/// As much of a message as the library keeps; who asked has seen all of it.
fn fit_message(markdown: &str) -> String {
    clip_counted(markdown, MAX_MESSAGE - CUT_WORDS).into_owned()
}

/// What says how much was cut.
const CUT_WORDS: usize = 64;
/// Of the arguments of one call, as they are kept beside the answer.
const MOST_ARGUMENTS: usize = 16 * 1024;
/// What was said long ago matters less than the sources.
const MOST_HISTORY: usize = 12;
/// A model that has not answered by then goes round in circles.
const MOST_STEPS: usize = 8;
