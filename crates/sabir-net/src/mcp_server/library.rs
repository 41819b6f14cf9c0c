//! `ask` and `capture`: questions about collections, and pages into them.

use futures_util::future::join;
use sabir_host::{Answered, Ask, CaptureNews, CaptureOptions, Deed, DeskError, Input, ToolSet};
use sabir_store::library::{Collection, LibraryError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;

use super::call::{Call, ToolError};
use crate::ldp::client::now;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AskInput {
    /// The collection, by name or id.
    collection: String,
    question: String,
    /// Give the earlier questions and answers of the collection along.
    #[serde(default)]
    with_history: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct AskOutput {
    /// Markdown, with the numbers of citations.
    answer: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    citations: Vec<Citation>,
    /// Who answered; `extractive` is the built-in model, which selects sentences of the sources.
    model: String,
    /// How the answer had to be read, and what the model did not see.
    notes: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Citation {
    number: usize,
    quote: String,
    /// `verified`: the words are in the source. `repaired`: the source's own words were put in.
    /// `ambiguous`, `unverified` and `unknown_source` prove nothing.
    status: String,
    source_id: String,
    title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    /// Bytes of the captured Markdown.
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<usize>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CaptureInput {
    /// The collection, by name or id; it is made when it is new.
    collection: String,
    /// Addresses of pages, http or https.
    urls: Vec<String>,
    /// Fetch again what is there already.
    #[serde(default)]
    refresh: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CaptureOutput {
    collection_id: String,
    collection: String,
    sources: Vec<Source>,
    /// How many of them are in the collection now.
    captured: usize,
    failed: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Source {
    source_id: String,
    url: String,
    /// `captured`, `unchanged`, `present`, `same`, `failed` or `waits`.
    status: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    chars: Option<usize>,
    /// What is suspicious about the page.
    signals: Vec<String>,
    /// Why it is not there.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

pub(super) async fn ask(
    call: &Call<'_>,
    arguments: Map<String, Value>,
) -> Result<Value, ToolError> {
    let input: AskInput = call.read(&arguments)?;
    call.pass("serve.ask", &arguments, Deed::Read).await?;
    let collection = find(call, input.collection).await?;
    call.tell(format!("asking about {}", collection.title)).await;
    let ask = Ask {
        collection: collection.id,
        question: input.question,
        // Whoever asks is a model with tools of its own.
        tools: ToolSet::None,
        with_history: input.with_history,
    };
    // It ends in order when it is stopped: what a model was paid for is written down.
    match call.kit.desk.ask(&ask, None, &call.stop).await {
        Ok(answered) => Ok(json!(shown(answered))),
        Err(_) if call.stop.is_cancelled() => Err(ToolError::cancelled()),
        Err(error) => Err(error.into()),
    }
}

fn shown(answered: Answered) -> AskOutput {
    let citations = answered.citations.iter().map(|it| Citation {
        number: it.number,
        quote: it.quote.clone(),
        status: it.status.as_str().to_owned(),
        source_id: it.source_id.clone(),
        title: it.title.clone(),
        url: it.url.clone(),
        start: it.start,
        end: it.end,
    });
    AskOutput {
        answer: answered.document.to_markdown(),
        title: answered.title,
        citations: citations.collect(),
        model: answered.model,
        notes: answered.notes,
    }
}

pub(super) async fn capture(
    call: &Call<'_>,
    arguments: Map<String, Value>,
) -> Result<Value, ToolError> {
    let input: CaptureInput = call.read(&arguments)?;
    let most = call.kit.limits.pages;
    if input.urls.is_empty() || input.urls.len() > most {
        return Err(ToolError::arguments(format!("`urls`: from 1 to {most} addresses")));
    }
    let inputs = input.urls.iter().map(|url| page(url)).collect::<Result<Vec<_>, _>>()?;
    call.pass("serve.capture", &arguments, Deed::Fetch { urls: &input.urls }).await?;
    let name = input.collection;
    let at = now().millis();
    let collection = library(call, move |library| library.find_or_create_collection(&name, at));
    let collection = collection.await?;
    let options = CaptureOptions { refresh: input.refresh, ..CaptureOptions::default() };
    let (tell, mut told) = mpsc::channel(16);
    let work = async {
        let report = call.kit.desk.capture(&collection.id, &inputs, options, &tell, &call.stop);
        let report = report.await;
        drop(tell);
        report
    };
    let listen = async {
        let mut sources = Vec::new();
        while let Some(news) = told.recv().await {
            if let Some(source) = source(news) {
                call.tell(format!("{}: {}", source.status, source.url)).await;
                sources.push(source);
            }
        }
        sources
    };
    let (report, sources) = join(work, listen).await;
    let report = report?;
    if call.stop.is_cancelled() {
        return Err(ToolError::cancelled());
    }
    Ok(json!(CaptureOutput {
        collection_id: collection.id.to_string(),
        collection: collection.title,
        captured: report.kept + report.unchanged + report.present,
        failed: report.failed + report.waiting,
        sources,
    }))
}

/// A page of the web. Files of this machine are captured by people.
fn page(text: &str) -> Result<Input, ToolError> {
    let wrong = |why: String| ToolError::arguments(format!("`urls`: {why}"));
    let input = Input::parse(text.as_ref()).map_err(|error| wrong(error.to_string()))?;
    match &input {
        Input::Web(url) if matches!(url.scheme(), "http" | "https") => {
            sabir_host::check_input(&input)?;
            Ok(input)
        }
        _ => Err(wrong("only http and https addresses can be captured".to_owned())),
    }
}

/// The last word about a source. One that is tried again is told of later.
fn source(news: CaptureNews) -> Option<Source> {
    let plain = |source_id: String, url: String, status: &str| Source {
        source_id,
        url,
        status: status.to_owned(),
        title: None,
        chars: None,
        signals: Vec::new(),
        error: None,
    };
    Some(match news {
        CaptureNews::Waiting { .. } | CaptureNews::Failed { again_at_ms: Some(_), .. } => {
            return None;
        }
        CaptureNews::Kept(kept) => Source {
            title: Some(kept.title),
            chars: Some(kept.chars),
            signals: kept.signals,
            ..plain(
                kept.source_id.to_string(),
                kept.address,
                if kept.is_new { "captured" } else { "unchanged" },
            )
        },
        CaptureNews::Present { source_id, address } => {
            plain(source_id.to_string(), address, "present")
        }
        CaptureNews::Same { source_id, address } => plain(source_id.to_string(), address, "same"),
        CaptureNews::Failed { source_id, address, fault, again_at_ms: None } => Source {
            error: Some(format!("{}: {}", fault.code, fault.text)),
            ..plain(source_id.to_string(), address, "failed")
        },
        CaptureNews::Waits { source_id, address, .. } => Source {
            error: Some("the server wants to be left alone for now".to_owned()),
            ..plain(source_id.to_string(), address, "waits")
        },
    })
}

async fn find(call: &Call<'_>, name: String) -> Result<Collection, ToolError> {
    let wanted = name.clone();
    match library(call, move |library| library.find_collection(&wanted)).await {
        Err(DeskError::Library(LibraryError::NotFound { near, .. })) => {
            let hint = match near.first() {
                Some(near) => format!("did you mean {near:?}?"),
                None => "capture something into it first".to_owned(),
            };
            Err(ToolError::new("not_found", format!("there is no collection {name:?}: {hint}")))
        }
        found => Ok(found?),
    }
}

/// A call of the library, where it blocks nobody.
async fn library<T: Send + 'static>(
    call: &Call<'_>,
    work: impl FnOnce(&sabir_store::library::Library) -> Result<T, LibraryError> + Send + 'static,
) -> Result<T, DeskError> {
    let library = call.kit.desk.library().clone();
    match tokio::task::spawn_blocking(move || work(&library)).await {
        Ok(done) => Ok(done?),
        Err(error) => Err(DeskError::Refused { reason: error.to_string() }),
    }
}
