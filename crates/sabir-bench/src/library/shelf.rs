//! A collection that is full, and questions that it can answer.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, bail};
use sabir_llmcp::{
    Address, CollectionSource, ContextContent, ContextDocument, Conversation, ConversationId,
    DocId, Envelope, MessageId, OutputFormat, PacketId, Request, Role, Task, TaskName, Timestamp,
    Trust, Turn, UserMessage,
};
use sabir_store::library::{
    Captured, CollectionId, Finished, Library, NewSource, Outcome, SourceKind, Whose, Worker,
};

use super::LibraryRow;
use crate::middle::median;
use crate::prose::Prose;

/// One source, before it is kept.
pub(super) struct Text {
    pub(super) subject: String,
    pub(super) markdown: String,
}

/// Of about eight kilobytes each, all about different things.
pub(super) fn texts(count: usize) -> Vec<Text> {
    let text = |number| {
        let mut prose = Prose::new(number);
        // Two names in one: no other text has it.
        let subject = prose.name() + &prose.name().to_lowercase();
        let markdown = prose.page(&subject, TEXT_BYTES);
        Text { subject, markdown }
    };
    (0..count).map(text).collect()
}

pub(super) struct Shelf {
    pub(super) library: Library,
    pub(super) collection: CollectionId,
    subjects: Vec<String>,
}

impl Shelf {
    /// Keeps the texts as a worker does that has fetched them, one after the other.
    pub(super) fn fill(home: &Path, texts: &[Text]) -> anyhow::Result<(Self, LibraryRow)> {
        let mut drawn: u64 = 0;
        let draw = move || {
            drawn += 1;
            let mut bytes = [0; 10];
            bytes[2..].copy_from_slice(&drawn.to_be_bytes());
            bytes
        };
        let library = Library::open(home, draw)?;
        let collection = library.create_collection("measured", &[], 0)?.id;
        let addresses = (0..texts.len()).map(|number| format!("https://example.org/{number}"));
        let sources: Vec<NewSource> = addresses
            .map(|address| NewSource {
                kind: SourceKind::Url,
                normalized: address.clone(),
                address,
                fetch_address: None,
                title: None,
            })
            .collect();
        library.enqueue(&collection, &sources, "{}", 0)?;
        let worker = Worker::start(&library)?;
        let mut seconds = Vec::new();
        for text in texts {
            let job = worker
                .claim_next(Some(&collection), Whose::Anyones, 0)?
                .context("a job is missing")?;
            let outcome = Outcome::Captured(Box::new(captured(text)));
            let start = Instant::now();
            let finished = worker.finish(&job, &outcome, 0)?;
            seconds.push(start.elapsed().as_secs_f64());
            match finished {
                Finished::Kept { .. } => {}
                Finished::Lost => bail!("a source was not kept"),
            }
        }
        let subjects = texts.iter().map(|text| text.subject.clone()).collect();
        let row = LibraryRow::new("keep one source, to the disk", median(seconds));
        Ok((Self { library, collection, subjects }, row))
    }

    /// What a source is about.
    pub(super) fn subject(&self, number: usize) -> &str {
        &self.subjects[number * 7 % self.subjects.len()]
    }

    pub(super) fn question(&self, number: usize) -> String {
        let subject = self.subject(number);
        match number % 3 {
            0 => format!("What did the celebrated captain of {subject} repair?"),
            1 => format!("Who described the old harbour of {subject}?"),
            _ => format!("Which lantern was painted in {subject}, and when?"),
        }
    }

    /// All sources in one request, as the desk makes it.
    pub(super) fn request(&self, question: &str) -> anyhow::Result<Request> {
        let (mut documents, mut after) = (Vec::new(), 0);
        loop {
            let texts = self.library.current_texts(&self.collection, after, PAGE_OF_ROWS)?;
            let Some(last) = texts.last() else { break };
            after = last.num;
            for text in texts {
                let id = text.version.source_id.as_str();
                let content = CollectionSource {
                    collection_id: sabir_llmcp::CollectionId::new(self.collection.as_str())?,
                    source_id: sabir_llmcp::SourceId::new(id)?,
                    url: text.address.and_then(|address| Address::new(address).ok()),
                    title: text.title,
                    captured_at: None,
                    markdown: text.markdown,
                    summary_only: false,
                    extracted_links: Vec::new(),
                };
                documents.push(ContextDocument {
                    doc_id: DocId::new(id)?,
                    trust: Trust::Untrusted,
                    source: None,
                    content: ContextContent::CollectionSource(content),
                });
            }
        }
        Ok(Request {
            envelope: Envelope {
                id: PacketId::new("request-1")?,
                created_at: Timestamp::new("2026-01-01T00:00:00.000Z")?,
                conversation: Conversation {
                    id: ConversationId::new("conversation-1")?,
                    turn: Turn::new(1)?,
                },
                sender: Role::User,
            },
            user_message: UserMessage {
                id: MessageId::new("message-1")?,
                text: question.to_owned(),
            },
            task: Task { name: TaskName::Answer, args: Default::default() },
            documents,
            format: OutputFormat::Json,
        })
    }
}

fn captured(text: &Text) -> Captured {
    Captured {
        title: text.subject.clone(),
        byline: None,
        media_type: "text/html".to_owned(),
        final_address: None,
        markdown: text.markdown.clone(),
        links: Vec::new(),
        signals: Vec::new(),
        etag: None,
        last_modified: None,
    }
}

const TEXT_BYTES: usize = 8_000;

const PAGE_OF_ROWS: usize = 500;
