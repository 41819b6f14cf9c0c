//! Who answers: the model that is built in, or one on a server. Both are asked with a request packet
//! and answer with a text, which nobody believes yet.

use std::time::Duration;

use sabir_engine::{Attempts, Item, ModelEvent, ModelFailure, ModelRequest, Usage, retry_delay_ms};
use sabir_extractive::respond;
use sabir_lingua::tokens::Tokenizer;
use sabir_llmcp::{PackOptions, PacketId, Request, Timestamp, ToolName, pack};
use tokio_util::sync::CancellationToken;

use super::context::wrong;
use super::moment::{nonce, now_ms, random, uuid, written};
use super::{Desk, DeskError};
use crate::model::ModelClient;

/// Who is asked.
#[derive(Debug, Clone)]
pub enum DeskModel {
    /// The one that is built in: it selects sentences of the sources, and needs nothing.
    Extractive,
    Server {
        client: Box<ModelClient>,
        model: String,
        /// Tokens that it may be given at once.
        budget: usize,
    },
}

impl DeskModel {
    /// As people call it.
    pub fn name(&self) -> &str {
        match self {
            Self::Extractive => "extractive",
            Self::Server { model, .. } => model,
        }
    }

    pub(super) fn provider(&self) -> &str {
        match self {
            Self::Extractive => "built-in",
            Self::Server { client, .. } => &client.provider().name,
        }
    }
}

/// What a model said.
pub(super) struct Said {
    pub(super) text: String,
    pub(super) usage: Option<Usage>,
    /// What it was not shown, in words.
    pub(super) note: Option<String>,
}

/// How much of a prompt may be documents unless somebody says otherwise: what small local models
/// can read.
pub const USUAL_BUDGET: usize = 24_000;

impl Desk {
    /// Asks the model.
    pub(super) async fn say(
        &self,
        request: &Request,
        tools: &[ToolName],
        stop: &CancellationToken,
    ) -> Result<Said, DeskError> {
        match &self.0.model {
            DeskModel::Extractive => {
                let id = PacketId::new(uuid()?).map_err(wrong)?;
                let created_at = Timestamp::new(written(now_ms())).map_err(wrong)?;
                let request = request.clone();
                // It thinks on this machine, for as long as the sources are long.
                let said = tokio::task::spawn_blocking(move || respond(&request, id, created_at));
                let said = said.await.map_err(|error| model_error(error.to_string()))?;
                Ok(Said { text: said.to_json().to_string(), usage: None, note: None })
            }
            DeskModel::Server { client, model, budget } => {
                let nonce = nonce()?;
                let options = PackOptions {
                    budget: *budget,
                    tokenizer: tokenizer_of(model),
                    nonce: &nonce,
                    tools,
                    max_tool_calls: sabir_llmcp::MAX_TOOL_CALLS,
                    max_sources: MAX_SOURCES,
                };
                let packed =
                    pack(request, &options).map_err(|error| model_error(error.to_string()))?;
                let prompt = ModelRequest {
                    model: model.clone(),
                    instructions: packed.system,
                    items: vec![Item::user(packed.user).into()],
                    answers_end: Vec::new(),
                    tools: Vec::new(),
                    effort: None,
                    cache_key: request.envelope.conversation.id.to_string(),
                    parallel_tool_calls: false,
                };
                let (text, usage) = complete(client, &prompt, stop).await?;
                Ok(Said { text, usage, note: Some(packed.note) })
            }
        }
    }
}

/// One whole answer, after as many attempts as the provider's settings allow.
async fn complete(
    client: &ModelClient,
    prompt: &ModelRequest,
    stop: &CancellationToken,
) -> Result<(String, Option<Usage>), DeskError> {
    let seed = u64::from_be_bytes(random()?);
    let (mut requests, mut streams) = (0, 0);
    loop {
        let failure = match attempt(client, prompt, stop).await? {
            Ok(answer) => return Ok(answer),
            Err(failure) => failure,
        };
        let provider = client.provider();
        let (count, most) = match Attempts::of(failure.kind) {
            Some(Attempts::Request) => (&mut requests, provider.request_max_retries),
            Some(Attempts::Stream) => (&mut streams, provider.stream_max_retries),
            None => return Err(model_error(failure.message)),
        };
        *count += 1;
        if *count > most {
            return Err(model_error(failure.message));
        }
        let wait = retry_delay_ms(*count, failure.retry_after_ms, seed);
        tokio::select! {
            () = stop.cancelled() => return Err(DeskError::Stopped),
            () = tokio::time::sleep(Duration::from_millis(wait)) => {}
        }
    }
}

type Attempted = Result<(String, Option<Usage>), ModelFailure>;

async fn attempt(
    client: &ModelClient,
    prompt: &ModelRequest,
    stop: &CancellationToken,
) -> Result<Attempted, DeskError> {
    let mut stream = client.open(prompt, stop.clone());
    let mut text = String::new();
    while let Some(event) = stream.next().await {
        match event {
            // The whole item comes at its end.
            ModelEvent::TextDelta(_) | ModelEvent::ReasoningDelta(_) => {}
            ModelEvent::ItemDone(item) => {
                if let Some(part) = item.text() {
                    text.push_str(&part);
                }
            }
            ModelEvent::Completed { usage, .. } => return Ok(Ok((text, usage))),
            ModelEvent::Failed(failure) => return Ok(Err(failure)),
        }
    }
    Err(DeskError::Stopped)
}

fn model_error(reason: String) -> DeskError {
    DeskError::Model { reason }
}

/// The vocabulary that comes nearest to the model's name.
fn tokenizer_of(model: &str) -> Tokenizer {
    let model = model.to_ascii_lowercase();
    let families = [
        ("qwen", Tokenizer::Qwen),
        ("llama", Tokenizer::Llama3),
        ("deepseek", Tokenizer::DeepSeek),
        ("mistral", Tokenizer::Mistral),
        ("mixtral", Tokenizer::Mistral),
        ("kimi", Tokenizer::Kimi),
        ("minimax", Tokenizer::MiniMax),
        ("glm-4", Tokenizer::Glm4),
        ("glm", Tokenizer::Glm5),
        ("gpt-4-", Tokenizer::Cl100k),
        ("gpt-3.5", Tokenizer::Cl100k),
    ];
    let known = families.iter().find(|(family, _)| model.contains(family));
    known.map_or(Tokenizer::O200k, |(_, tokenizer)| *tokenizer)
}

/// More are listed in the index, and not shown.
const MAX_SOURCES: usize = 20;
