//! The model as others see it: a request packet in, a response packet out. It proposes no tool calls,
//! and takes the packet's id and time from the caller.

use std::collections::BTreeSet;

use sabir_llmcp::{
    Assistant, Citation, ContextContent, DocId, Envelope, Locator, LocatorKind, PacketId, Request,
    Response, Role, SourceId, Speaker, Task, TaskName, Text, Timestamp, Title,
};
use serde_json::Value;

use crate::draft::{Composer, Draft, Quote};
use crate::{Artifact, Source, Style, answer, extract, summarize, transform};

/// Answers a request. The same request gives the same answer.
pub fn respond(request: &Request, id: PacketId, created_at: Timestamp) -> Response {
    let sources = sources(request);
    let draft = draft(request, &sources);
    let citations = draft.quotes.iter().map(|quote| citation(&sources, quote)).collect();
    Response {
        envelope: Envelope {
            id,
            created_at,
            conversation: request.envelope.conversation.clone(),
            sender: Role::Assistant,
        },
        in_reply_to: request.envelope.id.clone(),
        assistant: Assistant {
            title: Title::new(draft.title).ok(),
            render: draft.document,
            citations,
            data: draft.data,
        },
        tool_calls: Vec::new(),
    }
}

/// The documents that can be cited, in their order.
pub fn sources(request: &Request) -> Vec<Source> {
    let mut sources: Vec<Source> = Vec::new();
    // Signals of a page that comes in chunks, until its first chunk takes them.
    let mut waiting: Option<(String, Vec<String>)> = None;
    for document in &request.documents {
        let doc_id = document.doc_id.as_str().to_owned();
        match &document.content {
            ContextContent::WebSummary(page) => {
                let signals: Vec<String> =
                    page.signals.iter().map(|signal| signal.as_str().to_owned()).collect();
                let url = page.url.as_str().to_owned();
                if page.markdown.is_none() && page.chunk_count.is_some() {
                    waiting = Some((url, signals));
                    continue;
                }
                sources.push(Source {
                    doc_id,
                    source_id: None,
                    url: Some(url),
                    title: page.title.clone(),
                    markdown: document.content.markdown().unwrap_or_default().to_owned(),
                    signals,
                    partial: page.markdown.is_none(),
                });
            }
            ContextContent::WebChunk(chunk) => {
                let url = chunk.url.as_str();
                let signals = waiting.take_if(|(of, _)| of == url).map(|(_, signals)| signals);
                sources.push(Source {
                    doc_id,
                    source_id: None,
                    url: Some(url.to_owned()),
                    title: chunk.title.clone(),
                    markdown: chunk.markdown.clone(),
                    signals: signals.unwrap_or_default(),
                    partial: false,
                });
            }
            ContextContent::CollectionSource(source) => sources.push(Source {
                doc_id,
                source_id: Some(source.source_id.as_str().to_owned()),
                url: source.url.as_ref().map(|url| url.as_str().to_owned()),
                title: source.title.clone(),
                markdown: source.markdown.clone(),
                signals: Vec::new(),
                partial: source.summary_only,
            }),
            ContextContent::CollectionIndex(_)
            | ContextContent::ToolResult(_)
            | ContextContent::ConversationTurn(_) => {}
        }
    }
    mark_incomplete_pages(request, &mut sources);
    sources
}

/// A page of which not every chunk is there is partial.
fn mark_incomplete_pages(request: &Request, sources: &mut [Source]) {
    let chunks = request.documents.iter().filter_map(|document| match &document.content {
        ContextContent::WebChunk(chunk) => Some((document.doc_id.as_str(), chunk)),
        _ => None,
    });
    let mut last: Option<(&str, u64)> = None;
    let mut broken: BTreeSet<&str> = BTreeSet::new();
    let mut chunks = chunks.peekable();
    while let Some((doc_id, chunk)) = chunks.next() {
        let (url, index) = (chunk.url.as_str(), chunk.chunk_index.value());
        let expected = last.filter(|(of, _)| *of == url).map_or(1, |(_, index)| index + 1);
        let is_last = chunks.peek().is_none_or(|(_, next)| next.url != chunk.url);
        if index != expected || is_last && index != chunk.chunk_count.value() {
            broken.insert(doc_id);
        }
        last = Some((url, index));
    }
    for source in sources {
        source.partial |= broken.contains(source.doc_id.as_str());
    }
}

fn draft(request: &Request, sources: &[Source]) -> Draft {
    let task = &request.task;
    match task.name {
        TaskName::Summarize => {
            let style = task.args.get("style").and_then(Value::as_str).unwrap_or_default();
            summarize(sources, Style::from_name(style))
        }
        TaskName::Answer => {
            let earlier: Vec<&str> = request
                .documents
                .iter()
                .filter_map(|document| match &document.content {
                    ContextContent::ConversationTurn(turn) if turn.role == Speaker::User => {
                        Some(turn.markdown.as_str())
                    }
                    _ => None,
                })
                .collect();
            answer(sources, &request.user_message.text, &earlier)
        }
        TaskName::Extract => extract(sources, task.data_schema().unwrap_or(&Value::Null)),
        TaskName::Transform => {
            let named = task.args.get("type").and_then(Value::as_str);
            match named.and_then(Artifact::from_name) {
                Some(artifact) => transform(sources, artifact, wanted_count(task)),
                None => unknown_artifact(),
            }
        }
    }
}

fn wanted_count(task: &Task) -> Option<usize> {
    let count = task.args.get("config").and_then(|config| config.get("count"))?.as_u64()?;
    usize::try_from(count).ok()
}

fn unknown_artifact() -> Draft {
    let names: Vec<&str> = Artifact::ALL.into_iter().map(Artifact::name).collect();
    let mut draft = Composer::new(&[]);
    draft.sentence(format!("There is no such artifact. Ask for one of: {}.", names.join(", ")));
    draft.finish("Unknown artifact")
}

fn citation(sources: &[Source], quote: &Quote) -> Citation {
    let source = sources.get(quote.source);
    let heading = quote.heading.as_deref().and_then(|heading| Text::new(heading).ok());
    Citation {
        source_id: source.and_then(|source| SourceId::new(source.source_id.as_deref()?).ok()),
        doc_id: source.and_then(|source| DocId::new(source.doc_id.as_str()).ok()),
        url: source.and_then(|source| Text::new(source.url.as_deref()?).ok()),
        quote: Text::new(quote.text.as_str()).ok(),
        locator: heading.map(|value| Locator { kind: LocatorKind::SectionHeading, value }),
        confidence: None,
    }
}
