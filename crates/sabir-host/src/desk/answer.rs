//! One question, from the packet to the record: the model is asked, its citations are held against
//! the sources, what it proposes goes through the gate, and everything is kept.

use sabir_document::Document;
use sabir_engine::Usage;
use sabir_llmcp::{
    Answer, CallId, ContextContent, ContextDocument, DocId, Mode, OutputFormat, Request, Task,
    TaskName, Text, ToolCall, ToolName, ToolResult, ToolStatus, Trust, read_answer, redact_packet,
    redact_packet_within, redact_text,
};
use sabir_policy::{Outcome, Reading as Read};
use sabir_store::library::{
    ChatId, ChatRole, Collection, CollectionId, Fault, MAX_PACKET, NewChatEvent, NewRun, Turn,
};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::cited::{Cited, verify};
use super::context::{Context, evidence_of, follow_up, request, wrong};
use super::data::{check_data, check_schema};
use super::gate::{Around, CallReport, Door, Petition};
use super::input::Reading;
use super::model::Said;
use super::moment::now_ms;
use super::{Desk, DeskError};

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
    /// The collection that it is asked for, or another word for who asks.
    pub(super) actor: String,
    pub(super) person: Option<&'a mpsc::Sender<Petition>>,
}

/// What came of it, before it is kept where it belongs.
pub(super) struct Outcomes {
    pub(super) answered: Answered,
    runs: Vec<NewRun>,
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
        let turn = self.keep_question(&collection, &ask.question).await?;
        let wanted = Wanted {
            question: &ask.question,
            task: Task { name: TaskName::Answer, args: Map::new() },
            tools: ask.tools,
            context,
            actor: collection.id.to_string(),
            person,
        };
        let outcomes = self.perform(wanted, stop).await?;
        self.keep_answer(&collection, turn, outcomes).await
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
        self.of_page(reading, name, "summarize this page", task, stop).await
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
        self.of_page(reading, name, "extract the fields of the schema", task, stop).await
    }

    async fn of_page(
        &self,
        reading: &Reading,
        name: &str,
        question: &str,
        task: Task,
        stop: &CancellationToken,
    ) -> Result<Answered, DeskError> {
        let wanted = Wanted {
            question,
            task,
            tools: ToolSet::None,
            context: Context::of_page(reading, name)?,
            actor: "page".to_owned(),
            person: None,
        };
        let outcomes = self.perform(wanted, stop).await?;
        self.keep_runs(outcomes.runs, None, None).await?;
        Ok(outcomes.answered)
    }

    /// Asks, reads, verifies; carries out what may be carried out, and asks again with the results.
    pub(super) async fn perform(
        &self,
        wanted: Wanted<'_>,
        stop: &CancellationToken,
    ) -> Result<Outcomes, DeskError> {
        let Wanted { question, task, tools, mut context, actor, person } = wanted;
        let names = tools.names();
        let documents = std::mem::take(&mut context.documents);
        let kind = task.name.as_str().to_owned();
        let mut asked = request(question, task, OutputFormat::Json, documents)?;
        let mut door = Door { desk: self, actor, person, stop, calls_made: 0, asks_made: 0 };
        let (mut runs, mut calls) = (Vec::new(), Vec::new());
        let (mut tool_calls, mut tool_results) = (Vec::new(), Vec::new());
        for step in 1.. {
            let started = now_ms();
            let said = match self.say(&asked, &names, stop).await {
                Ok(said) => said,
                Err(error) => {
                    let fault = Fault::new(error.code(), error.to_string());
                    runs.push(self.run_of(&kind, &asked, started, Err(fault)));
                    self.keep_runs(runs, None, None).await?;
                    return Err(error);
                }
            };
            let answer = read_answer(&said.text, &asked, &check_data);
            runs.push(self.run_of(&kind, &asked, started, Ok((&said, &answer))));
            if answer.tool_calls.is_empty() || step == MOST_STEPS {
                let answered = self.answered(answer, &said, calls, &context);
                return Ok(Outcomes { answered, runs, tool_calls, tool_results });
            }
            let mut results = Vec::new();
            for (number, call) in answer.tool_calls.iter().enumerate() {
                let (report, result) =
                    self.propose(&mut door, call, step, number, &asked, &context).await?;
                tool_calls.push(json!({
                    "id": report.call_id, "name": report.tool, "outcome": report.outcome,
                    "reason": report.reason_code,
                    "arguments": redact_packet(&call.call.arguments()),
                }));
                tool_results.push(json!({
                    "id": report.call_id, "status": result.status.as_str(),
                    "error": result.error_code.as_ref().map(Text::as_str),
                }));
                let doc_id = format!("doc:tool:{}", report.call_id);
                if call.call.name().result_trust() == Trust::Untrusted {
                    context.taint.untrusted.insert(doc_id.clone());
                }
                results.push(ContextDocument {
                    doc_id: DocId::new(doc_id).map_err(wrong)?,
                    trust: call.call.name().result_trust(),
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
        let around = Around {
            evidence: &evidence,
            taint: &context.taint,
            reading: Read::Strict,
            page: spot.as_ref().map(|spot| &spot.page),
            field: spot.as_ref().and_then(|spot| spot.hints()),
        };
        let mut report = door.pass(&call_id, call, &around).await?;
        let call_id = CallId::new(call_id).map_err(wrong)?;
        let (status, error_code, payload) = match report.outcome {
            Outcome::Allow => match self.held_to(&call.call).carry_out(&call.call, door).await {
                Ok(payload) => {
                    self.note_opened(&call.call, &evidence).await;
                    (ToolStatus::Ok, None, payload)
                }
                Err(failure) => {
                    let payload = json!({ "message": redact_text(&failure.message) });
                    (ToolStatus::Error, Some(failure.code), payload)
                }
            },
            Outcome::Ask | Outcome::Deny => {
                let payload = json!({ "message": report.reason, "reason": report.reason_code });
                (ToolStatus::Cancelled, Some("NOT_ALLOWED".to_owned()), payload)
            }
        };
        if report.outcome == Outcome::Allow {
            report.result = Some(error_code.clone().unwrap_or_else(|| "ok".to_owned()));
        }
        let error_code = error_code.map(Text::new).transpose().map_err(wrong)?;
        let result = ToolResult { tool, call_id, status, error_code, payload: Some(payload) };
        Ok((report, result))
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
    ) -> Result<u64, DeskError> {
        let id = collection.id.clone();
        let event = NewChatEvent {
            role: ChatRole::User,
            turn: Turn::Next,
            markdown: redact_text(question).into_owned(),
            tool_calls: None,
            tool_results: None,
            model: None,
            citations: Vec::new(),
        };
        let kept = self.with_library(move |library| library.append_chat(&id, &event, now_ms()));
        Ok(kept.await?.turn)
    }

    async fn keep_answer(
        &self,
        collection: &Collection,
        turn: u64,
        outcomes: Outcomes,
    ) -> Result<Answered, DeskError> {
        let Outcomes { mut answered, runs, tool_calls, tool_results } = outcomes;
        let id = collection.id.clone();
        let list =
            |values: Vec<Value>| (!values.is_empty()).then(|| Value::Array(values).to_string());
        let event = NewChatEvent {
            role: ChatRole::Assistant,
            turn: Turn::Of(turn),
            markdown: redact_text(&answered.document.to_markdown()).into_owned(),
            tool_calls: list(tool_calls),
            tool_results: list(tool_results),
            model: Some(
                json!({ "provider": self.0.model.provider(), "model": answered.model }).to_string(),
            ),
            citations: answered.citations.iter().map(Cited::to_keep).collect(),
        };
        let kept = self.with_library(move |library| library.append_chat(&id, &event, now_ms()));
        let chat = kept.await?.id;
        self.keep_runs(runs, Some(collection.id.clone()), Some(chat.clone())).await?;
        answered.chat = Some(chat);
        Ok(answered)
    }

    pub(super) async fn keep_runs(
        &self,
        runs: Vec<NewRun>,
        collection: Option<CollectionId>,
        chat: Option<ChatId>,
    ) -> Result<(), DeskError> {
        self.with_library(move |library| {
            for run in runs {
                let (collection_id, chat_id) = (collection.clone(), chat.clone());
                library.record_run(&NewRun { collection_id, chat_id, ..run })?;
            }
            Ok(())
        })
        .await
    }

    /// What is kept of one call of a model: redacted, and without the bodies of documents.
    fn run_of(
        &self,
        kind: &str,
        asked: &Request,
        started: u64,
        outcome: Result<(&Said, &Answer), Fault>,
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
            collection_id: None,
            source_id: None,
            chat_id: None,
            artifact_id: None,
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

impl Outcomes {
    pub(super) fn into_parts(self) -> (Answered, Vec<NewRun>) {
        (self.answered, self.runs)
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

/// What was said long ago matters less than the sources.
const MOST_HISTORY: usize = 12;
/// A model that has not answered by then goes round in circles.
const MOST_STEPS: usize = 8;
