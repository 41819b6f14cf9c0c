//! Any documents are packed within the budget, and the marks tell each of them apart from what it
//! says.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sabir_lingua::tokens::Tokenizer;
use sabir_llmcp::{
    Address, CollectionId, CollectionIndex, CollectionSource, ContextContent, ContextDocument,
    Conversation, ConversationId, ConversationTurn, DocId, Envelope, Inclusion, IndexEntry,
    MessageId, OutputFormat, PackError, PackOptions, PacketId, Request, Role, SourceId, Speaker,
    Task, TaskName, Timestamp, Trust, Turn, UserMessage, ValueError, WebSummary, pack,
};

type Drawn<'a> = (u16, bool, &'a str, Vec<(u8, &'a str, &'a str)>);

fuzz_target!(|drawn: Drawn<'_>| {
    let (budget, is_json, question, texts) = drawn;
    let format = if is_json { OutputFormat::Json } else { OutputFormat::Markdown };
    let Ok(request) = request(question, &texts, format) else { return };
    let options = PackOptions {
        budget: usize::from(budget),
        tokenizer: Tokenizer::O200k,
        nonce: NONCE,
        tools: &[],
        max_tool_calls: 1,
        max_sources: 3,
    };
    let count = |text: &str| options.tokenizer.count(text);
    let packed = match pack(&request, &options) {
        Ok(packed) => packed,
        Err(PackError::BudgetTooSmall { budget, needed }) => {
            assert!(needed > budget);
            return;
        }
        Err(PackError::Nonce(weak)) => panic!("{weak}"),
    };
    assert!(packed.tokens <= options.budget);
    assert_eq!(packed.tokens, count(&packed.system) + count(&packed.user));
    assert_eq!(packed.included.len(), request.documents.len());

    let (open, close) = (format!("<<<{} ", packed.mark), format!("{}>>>", packed.mark));
    let (documents, rest) = packed.user.split_once("\n# Task\n").map_or_else(
        || panic!("there is no task in {}", packed.user),
        // A document may hold such a heading: the last mark is the end of the documents.
        |_| packed.user.split_at(packed.user.rfind(&close).map_or(0, |at| at + close.len())),
    );
    assert!(!rest.contains(&open) && !rest.contains(&close));
    let mut shown = 0;
    for part in documents.split(&open).skip(1) {
        let (inside, behind) = match part.split_once(&close) {
            Some(parts) => parts,
            None => panic!("a document is not closed in {documents}"),
        };
        assert!(!inside.to_ascii_lowercase().contains(&packed.mark));
        assert!(!behind.contains(&packed.mark), "{behind:?}");
        assert!(inside.ends_with('\n') && inside.contains("\nid: "));
        assert!(["untrusted ", "trusted "].iter().any(|trust| inside.starts_with(trust)));
        shown += 1;
    }
    let placed = packed.included.iter().map(|(_, inclusion)| match inclusion {
        Inclusion::Full | Inclusion::Summary => 1,
        Inclusion::Chunks { shown, .. } => shown.len(),
        Inclusion::Omitted => 0,
    });
    assert_eq!(shown, placed.sum::<usize>(), "{documents}");
});

fn request(
    question: &str,
    texts: &[(u8, &str, &str)],
    format: OutputFormat,
) -> Result<Request, ValueError> {
    let documents = texts.iter().enumerate().take(MOST_DOCUMENTS);
    let documents = documents.map(|(at, (kind, title, text))| document(at, *kind, title, text));
    Ok(Request {
        envelope: Envelope {
            id: PacketId::new("req-1")?,
            created_at: Timestamp::new("2026-01-01T00:00:00.000Z")?,
            conversation: Conversation { id: ConversationId::new("c-1")?, turn: Turn::new(1)? },
            sender: Role::User,
        },
        user_message: UserMessage { id: MessageId::new("m-1")?, text: question.to_owned() },
        task: Task { name: TaskName::Answer, args: Default::default() },
        documents: documents.collect::<Result<_, _>>()?,
        format,
    })
}

fn document(at: usize, kind: u8, title: &str, text: &str) -> Result<ContextDocument, ValueError> {
    let (title, markdown) = (title.to_owned(), text.to_owned());
    let url = Address::new("https://example.org/a")?;
    let collection_id = CollectionId::new("col_1")?;
    let source_id = SourceId::new(format!("src_{at}"))?;
    let content = match kind % 4 {
        0 => ContextContent::WebSummary(Box::new(WebSummary {
            url,
            title,
            captured_at: None,
            markdown: Some(markdown),
            extracted_links: Vec::new(),
            signals: Vec::new(),
            chunk_count: None,
            text: None,
            primary: None,
            items: Vec::new(),
            top_discussions: Vec::new(),
            comments: Vec::new(),
            outline: Vec::new(),
            elements: Vec::new(),
        })),
        1 => ContextContent::CollectionIndex(CollectionIndex {
            collection_id,
            title,
            tags: Vec::new(),
            sources: text
                .lines()
                .map(|line| IndexEntry {
                    source_id: source_id.clone(),
                    url: None,
                    title: line.to_owned(),
                    captured_at: None,
                })
                .collect(),
            context_note: Some(markdown),
        }),
        2 => ContextContent::ConversationTurn(ConversationTurn {
            turn: Turn::new(1)?,
            role: Speaker::Assistant,
            markdown,
        }),
        _ => ContextContent::CollectionSource(CollectionSource {
            collection_id,
            source_id,
            url: Some(url),
            title,
            captured_at: None,
            markdown,
            summary_only: false,
            extracted_links: Vec::new(),
        }),
    };
    let doc_id = DocId::new(format!("doc:{at}"))?;
    Ok(ContextDocument { doc_id, trust: Trust::Untrusted, source: None, content })
}

/// Known to the fuzzer, so that it can try to write a mark.
const NONCE: &str = "0123456789abcdef";

const MOST_DOCUMENTS: usize = 12;
