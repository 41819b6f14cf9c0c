//! What a model is given to read: the sources of a collection, or one page, as documents of a
//! request. Whatever others wrote is untrusted; notes and files of the user are private as well.

use sabir_llmcp::{
    Address, CollectionIndex, CollectionSource, ContextContent, ContextDocument, Conversation,
    ConversationTurn, DocId, Envelope, IndexEntry, Link, OutputFormat, Request, Role, Signal,
    Speaker, Task, Timestamp, Trust, UserMessage, ValueError, WebSummary, redact_url,
};
use sabir_policy::{Evidence, Taint};
use sabir_store::library::{ChatEvent, ChatRole, Collection, SourceLink, VersionText};
use serde_json::Value;

use super::collect::note_redacted;
use super::input::Reading;
use super::moment::{now_ms, uuid, written};
use super::{Desk, DeskError};

/// What can be cited: the documents and the texts behind them.
#[derive(Debug, Default)]
pub(super) struct Context {
    pub(super) documents: Vec<ContextDocument>,
    pub(super) texts: Vec<Citable>,
    pub(super) taint: Taint,
    /// Sources that did not fit into a request.
    pub(super) left_out: usize,
}

/// A text that a citation is held against.
#[derive(Debug, Clone)]
pub(super) struct Citable {
    /// As the model names it.
    pub(super) id: String,
    pub(super) title: String,
    pub(super) url: Option<String>,
    /// Whether the address lacks something, so that it may lead to another page.
    pub(super) is_redacted: bool,
    pub(super) markdown: String,
    /// The version in the library, if it is in there.
    pub(super) version: Option<sabir_store::library::VersionId>,
}

impl Context {
    /// A page that is in no collection.
    pub(super) fn of_page(reading: &Reading, name: &str) -> Result<Self, DeskError> {
        let page = &reading.page;
        let redacted = reading.final_url.as_ref().and_then(|url| redact_url(url.as_str()));
        let mut signals = page.signals.clone();
        let is_redacted = redacted.as_ref().is_some_and(|it| it.changed);
        if is_redacted {
            note_redacted(&mut signals);
        }
        let url = redacted.map(|it| it.url);
        let address = url.clone().unwrap_or_else(|| format!("file:///{}", path_of(name)));
        let title = page.title.clone().unwrap_or_else(|| name.to_owned());
        let links = page.links.iter().filter_map(|it| link(&it.url, &it.text, &it.context));
        let signals = signals.iter().filter_map(|it| Signal::new(it.as_str()).ok());
        let content = WebSummary {
            url: Address::new(address).map_err(wrong)?,
            title: title.clone(),
            captured_at: Some(timestamp(now_ms())?),
            markdown: Some(page.markdown.clone()),
            extracted_links: links.take(MOST_LINKS).collect(),
            signals: signals.collect(),
            chunk_count: None,
            text: None,
            primary: None,
            items: Vec::new(),
            top_discussions: Vec::new(),
            comments: Vec::new(),
            outline: Vec::new(),
            elements: Vec::new(),
        };
        let mut context = Self::default();
        context.taint.untrusted.insert(PAGE.to_owned());
        if url.is_none() {
            context.taint.private.insert(PAGE.to_owned());
        }
        context.texts.push(Citable {
            id: PAGE.to_owned(),
            title,
            url,
            is_redacted,
            markdown: page.markdown.clone(),
            version: None,
        });
        context.documents.push(ContextDocument {
            doc_id: DocId::new(PAGE).map_err(wrong)?,
            trust: Trust::Untrusted,
            source: None,
            content: ContextContent::WebSummary(Box::new(content)),
        });
        Ok(context)
    }

    fn of_collection(collection: &Collection, texts: Vec<VersionText>) -> Result<Self, DeskError> {
        let mut context = Self::default();
        let mut entries = Vec::new();
        let mut room = MOST_BYTES;
        for text in texts {
            let VersionText { title, address, version, markdown, .. } = text;
            if markdown.len() > room {
                context.left_out += 1;
                continue;
            }
            room -= markdown.len();
            let source_id =
                sabir_llmcp::SourceId::new(version.source_id.as_str()).map_err(wrong)?;
            let web = address.filter(|it| it.starts_with("http://") || it.starts_with("https://"));
            let url = web.clone().and_then(|it| Address::new(it).ok());
            let captured_at = Some(timestamp(version.captured_at_ms)?);
            let doc_id = version.source_id.as_str().to_owned();
            context.taint.untrusted.insert(doc_id.clone());
            if web.is_none() {
                context.taint.private.insert(doc_id.clone());
            }
            entries.push(IndexEntry {
                source_id: source_id.clone(),
                url: url.clone(),
                title: title.clone(),
                captured_at: captured_at.clone(),
            });
            let linked = |it: &SourceLink| link(&it.url, &it.text, &it.context);
            context.documents.push(ContextDocument {
                doc_id: DocId::new(doc_id.as_str()).map_err(wrong)?,
                trust: Trust::Untrusted,
                source: None,
                content: ContextContent::CollectionSource(CollectionSource {
                    collection_id: id_of(collection)?,
                    source_id,
                    url,
                    title: title.clone(),
                    captured_at,
                    markdown: markdown.clone(),
                    summary_only: false,
                    extracted_links: version
                        .links
                        .iter()
                        .filter_map(linked)
                        .take(MOST_LINKS)
                        .collect(),
                }),
            });
            context.texts.push(Citable {
                id: doc_id,
                title,
                url: web,
                is_redacted: version
                    .signals
                    .iter()
                    .any(|it| it == sabir_capture::Signal::UrlRedacted.as_str()),
                markdown,
                version: Some(version.id),
            });
        }
        context.documents.insert(0, index(collection, entries, context.left_out)?);
        Ok(context)
    }

    /// Puts what was said before behind the documents. An answer brings along what it was made from.
    pub(super) fn add_history(&mut self, events: &[ChatEvent]) -> Result<(), DeskError> {
        for event in events {
            let (role, trust) = match event.role {
                ChatRole::User => (Speaker::User, Trust::Trusted),
                ChatRole::Assistant => (Speaker::Assistant, Trust::Untrusted),
                ChatRole::System | ChatRole::Tool => continue,
            };
            let turn = u32::try_from(event.turn).unwrap_or(u32::MAX);
            let content = ConversationTurn {
                turn: sabir_llmcp::Turn::new(u64::from(turn)).map_err(wrong)?,
                role,
                markdown: event.markdown.clone(),
            };
            let doc_id = format!("doc:chat:{}", event.num);
            if event.role == ChatRole::Assistant {
                Carried::by(event).taint(&doc_id, &mut self.taint);
            }
            self.documents.push(ContextDocument {
                doc_id: DocId::new(doc_id).map_err(wrong)?,
                trust,
                source: None,
                content: ContextContent::ConversationTurn(content),
            });
        }
        Ok(())
    }
}

/// What an answer was made from, as it is kept beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Carried {
    untrusted: bool,
    private: bool,
}

impl Carried {
    pub(super) fn from_taint(taint: &Taint) -> Self {
        Self { untrusted: !taint.untrusted.is_empty(), private: !taint.private.is_empty() }
    }

    pub(super) fn names(self) -> Vec<&'static str> {
        let all = [(self.untrusted, UNTRUSTED), (self.private, PRIVATE)];
        all.into_iter().filter_map(|(is_so, name)| is_so.then_some(name)).collect()
    }

    /// An answer that does not say was made from anything.
    fn by(event: &ChatEvent) -> Self {
        let kept = event.model.as_deref().and_then(|it| serde_json::from_str::<Value>(it).ok());
        match kept.as_ref().and_then(|it| it.get(TAINT)?.as_array()) {
            Some(names) => Self {
                untrusted: names.iter().any(|it| it == UNTRUSTED),
                private: names.iter().any(|it| it == PRIVATE),
            },
            None => Self { untrusted: true, private: true },
        }
    }

    fn taint(self, doc_id: &str, taint: &mut Taint) {
        if self.untrusted {
            taint.untrusted.insert(doc_id.to_owned());
        }
        if self.private {
            taint.private.insert(doc_id.to_owned());
        }
    }
}

/// Where values of a call may have come from: what the user typed, what documents hold and link.
pub(super) fn evidence_of(request: &Request) -> Evidence<'_> {
    let mut evidence = Evidence::new();
    evidence.add_message(&request.user_message.text);
    for document in &request.documents {
        let id = document.doc_id.as_str();
        let (url, links): (Option<&Address>, &[Link]) = match &document.content {
            ContextContent::ConversationTurn(turn) if turn.role == Speaker::User => {
                evidence.add_message(&turn.markdown);
                continue;
            }
            ContextContent::WebSummary(page) => (Some(&page.url), &page.extracted_links),
            ContextContent::CollectionSource(source) => {
                (source.url.as_ref(), &source.extracted_links)
            }
            ContextContent::WebChunk(chunk) => (Some(&chunk.url), &[]),
            ContextContent::CollectionIndex(index) => {
                for entry in &index.sources {
                    if let Some(url) = &entry.url {
                        evidence.add_link(id, url.as_str());
                    }
                }
                (None, &[])
            }
            ContextContent::ToolResult(_) | ContextContent::ConversationTurn(_) => (None, &[]),
        };
        if let Some(url) = url {
            evidence.add_link(id, url.as_str());
        }
        for link in links {
            evidence.add_link(id, link.url.as_str());
        }
        if let Some(text) = document.content.markdown() {
            evidence.add_text(id, text);
        }
    }
    evidence
}

impl Desk {
    /// The sources of a collection, as far as they fit into a request.
    pub(super) async fn context_of(&self, collection: &Collection) -> Result<Context, DeskError> {
        let id = collection.id.clone();
        let texts = self.with_library(move |library| {
            let (mut texts, mut after) = (Vec::new(), 0);
            loop {
                let more = library.current_texts(&id, after, PAGE_OF_ROWS)?;
                let Some(last) = more.last() else { return Ok(texts) };
                after = last.num;
                texts.extend(more);
            }
        });
        Context::of_collection(collection, texts.await?)
    }
}

/// A request packet about the documents.
pub(super) fn request(
    question: &str,
    task: Task,
    format: OutputFormat,
    documents: Vec<ContextDocument>,
) -> Result<Request, DeskError> {
    let new = |_| uuid();
    Ok(Request {
        envelope: Envelope {
            id: sabir_llmcp::PacketId::new(new(())?).map_err(wrong)?,
            created_at: timestamp(now_ms())?,
            conversation: Conversation {
                id: sabir_llmcp::ConversationId::new(new(())?).map_err(wrong)?,
                turn: sabir_llmcp::Turn::new(1).map_err(wrong)?,
            },
            sender: Role::Agent,
        },
        user_message: UserMessage {
            id: sabir_llmcp::MessageId::new(new(())?).map_err(wrong)?,
            text: question.to_owned(),
        },
        task,
        documents,
        format,
    })
}

/// The request that follows, in the same conversation.
pub(super) fn follow_up(
    before: &Request,
    more: Vec<ContextDocument>,
) -> Result<Request, DeskError> {
    let mut next = before.clone();
    next.envelope.id = sabir_llmcp::PacketId::new(uuid()?).map_err(wrong)?;
    next.envelope.created_at = timestamp(now_ms())?;
    let turn = before.envelope.conversation.turn.value() + 1;
    next.envelope.conversation.turn = sabir_llmcp::Turn::new(turn).map_err(wrong)?;
    next.envelope.sender = Role::Tool;
    next.documents.extend(more);
    Ok(next)
}

fn index(
    collection: &Collection,
    sources: Vec<IndexEntry>,
    left_out: usize,
) -> Result<ContextDocument, DeskError> {
    let note = (left_out > 0).then(|| format!("{left_out} sources are too long to be given here"));
    Ok(ContextDocument {
        doc_id: DocId::new("doc:collection:index").map_err(wrong)?,
        trust: Trust::Untrusted,
        source: None,
        content: ContextContent::CollectionIndex(CollectionIndex {
            collection_id: id_of(collection)?,
            title: collection.title.clone(),
            tags: collection.tags.clone(),
            sources,
            context_note: note,
        }),
    })
}

fn id_of(collection: &Collection) -> Result<sabir_llmcp::CollectionId, DeskError> {
    sabir_llmcp::CollectionId::new(collection.id.as_str()).map_err(wrong)
}

fn link(url: &str, text: &str, context: &str) -> Option<Link> {
    let url = Address::new(url).ok()?;
    let context = (!context.is_empty()).then(|| context.to_owned());
    Some(Link { url, text: text.to_owned(), context })
}

fn timestamp(ms: u64) -> Result<Timestamp, DeskError> {
    Timestamp::new(written(ms)).map_err(wrong)
}

/// Letters and digits of a file's name; nothing else matters to a model.
fn path_of(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' }).collect()
}

pub(super) fn wrong(error: ValueError) -> DeskError {
    DeskError::refused(error.to_string())
}

/// The name of a page that is read by itself.
pub(super) const PAGE: &str = "doc:web:summary";
/// Beside the name of the model that answered: what it had read.
pub(super) const TAINT: &str = "taint";
const UNTRUSTED: &str = "untrusted";
const PRIVATE: &str = "private";
const MOST_LINKS: usize = 40;
const PAGE_OF_ROWS: usize = 500;
/// Of all sources together; a request may have thirty-two megabytes with everything.
const MOST_BYTES: usize = 16 * 1024 * 1024;
