//! Whatever a model wrote becomes something that can be shown. What is not a strict response proposes
//! no tool call: those who would run one never see it.

use std::collections::BTreeSet;
use std::fmt;

use sabir_base::json::{Json, JsonKind, JsonValue};
use sabir_document::{Block, Document, Inline};
use serde_json::Value;

use crate::Problem;
use crate::citation::Citation;
use crate::markdown::{self, split_citations};
use crate::packet::MAX_RESPONSE_BYTES;
use crate::problem::{MAX_DEPTH, Problems};
use crate::repair::{Bare, Mend, Repaired, repair, without_fence, without_thoughts};
use crate::request::{OutputFormat, Request};
use crate::response::{self, DataCheck, Form, Response, Title};
use crate::tool::ToolCall;
use crate::wire::Wire;

/// What a model answered, however it wrote it.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    pub mode: Mode,
    pub title: Option<Title>,
    pub document: Document,
    pub citations: Vec<Citation>,
    /// What `web.extract` found.
    pub data: Option<Value>,
    /// Empty unless the mode is [`Mode::Strict`].
    pub tool_calls: Vec<ToolCall>,
    /// How many calls were proposed in an answer that is not strict.
    pub dropped_tool_calls: usize,
    /// What was done to read it.
    pub notes: Vec<Note>,
    /// What keeps it from being strict, and warnings.
    pub problems: Vec<Problem>,
}

/// How an answer was read, from the best to the worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// A response packet without a fault.
    Strict,
    /// Markdown, as it was asked for.
    Markdown,
    /// A response packet whose text had to be mended first.
    Repaired,
    /// JSON of which only some parts could be used.
    Lenient,
    /// No JSON could be found where it was expected: the text is shown as Markdown.
    FallbackMarkdown,
}

/// One thing that was done to read an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    Mended(Mend),
    /// The answer was longer than the limit.
    Cut,
    /// Markdown stood in place of a document.
    MarkdownForDocument,
    /// The document was not well-formed: its texts alone are shown.
    TextsOfDocument,
    ToolCallsDropped(usize),
    CitationsDropped(usize),
    /// Marks that point at no citation, which the document says now.
    MarksWithoutCitation(usize),
    DataDropped,
    /// The model was cut off before it answered.
    OnlyThoughts,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = |count: usize, noun: &str| match count {
            1 => format!("1 {noun}"),
            _ => format!("{count} {noun}s"),
        };
        match self {
            Note::Mended(mend) => f.write_str(mend.sentence()),
            Note::Cut => write!(f, "read only the first {MAX_RESPONSE_BYTES} bytes"),
            Note::MarkdownForDocument => f.write_str("took Markdown in place of a document"),
            Note::TextsOfDocument => f.write_str("took only the texts of a malformed document"),
            Note::ToolCallsDropped(count) => write!(f, "dropped {}", counted(*count, "tool call")),
            Note::CitationsDropped(count) => write!(f, "dropped {}", counted(*count, "citation")),
            Note::MarksWithoutCitation(count) => {
                write!(f, "found {} without a citation", counted(*count, "mark"))
            }
            Note::DataDropped => f.write_str("dropped the data"),
            Note::OnlyThoughts => f.write_str("found thoughts and no answer"),
        }
    }
}

/// Reads what a model wrote in answer to `request`.
pub fn read_answer(text: &str, request: &Request, check_data: DataCheck<'_>) -> Answer {
    let whole = text;
    let text = &whole[..whole.floor_char_boundary(MAX_RESPONSE_BYTES)];
    let mut answer = match request.format {
        OutputFormat::Markdown if !looks_like_packet(text) => read_markdown(text),
        OutputFormat::Markdown | OutputFormat::Json => read_packet(text, request, check_data),
    };
    if text.len() < whole.len() {
        answer.notes.insert(0, Note::Cut);
    }
    if answer.citations.len() > MAX_CITATIONS {
        answer.notes.push(Note::CitationsDropped(answer.citations.len() - MAX_CITATIONS));
        answer.citations.truncate(MAX_CITATIONS);
    }
    let dangling = settle_marks(&mut answer.document, answer.citations.len());
    if dangling > 0 {
        answer.notes.push(Note::MarksWithoutCitation(dangling));
    }
    if answer.dropped_tool_calls > 0 {
        answer.notes.push(Note::ToolCallsDropped(answer.dropped_tool_calls));
    }
    answer
}

/// Whether an answer that should be Markdown is JSON instead.
fn looks_like_packet(text: &str) -> bool {
    let bare = without_fence(without_thoughts(text), &["json", "JSON"]);
    let inside = bare.text.trim_start().strip_prefix('{');
    inside.is_some_and(|inside| inside.trim_start().starts_with('"'))
}

fn read_packet(text: &str, request: &Request, check_data: DataCheck<'_>) -> Answer {
    let (parsed, form) = response::parse(text, Some(request), Some(check_data));
    let problems = parsed.diagnostics;
    if let Some(response) = parsed.value {
        return Answer { problems, ..Answer::of_response(response, form) };
    }
    let answer = match repair(text) {
        Some(repaired) => read_repaired(&repaired, request, check_data),
        None => None,
    };
    Answer { problems, ..answer.unwrap_or_else(|| fall_back(text)) }
}

fn read_repaired(
    repaired: &Repaired,
    request: &Request,
    check_data: DataCheck<'_>,
) -> Option<Answer> {
    let (parsed, form) = response::parse(&repaired.json, Some(request), Some(check_data));
    let mut answer = match parsed.value {
        Some(response) => Answer::of_response(response, form).repaired(&repaired.mends),
        None => read_leniently(&repaired.json)?,
    };
    answer.notes.splice(0..0, repaired.mends.iter().copied().map(Note::Mended));
    Some(answer)
}

/// What can be used of a packet that is not valid.
fn read_leniently(json: &str) -> Option<Answer> {
    let json = Json::read(json, MAX_DEPTH).ok()?;
    let top = json.top();
    let assistant = top.get("assistant")?;
    let mut answer = Answer::empty(Mode::Lenient);
    answer.title = assistant.get("title").and_then(read_quietly);
    let citations: Vec<Option<Citation>> = assistant
        .get("citations")
        .map(|list| list.children().map(read_quietly).collect())
        .unwrap_or_default();
    let dropped = citations.iter().filter(|it| it.is_none()).count();
    let places = citations.into_iter().map(|it| it.unwrap_or_else(Citation::unreadable));
    answer.citations = places.collect();
    if dropped > 0 {
        answer.notes.push(Note::CitationsDropped(dropped));
    }
    let markdown: Option<String> = assistant.get("markdown").and_then(read_quietly);
    answer.document = match (assistant.get("render"), markdown) {
        (Some(render), markdown) => match (read_quietly(render), markdown) {
            (Some(document), _) => document,
            (None, Some(markdown)) => {
                answer.notes.push(Note::MarkdownForDocument);
                markdown::document(&markdown, &answer.citations)
            }
            (None, None) => {
                answer.notes.push(Note::TextsOfDocument);
                texts_of(render)
            }
        },
        (None, Some(markdown)) => {
            answer.notes.push(Note::MarkdownForDocument);
            markdown::document(&markdown, &answer.citations)
        }
        (None, None) => return None,
    };
    if assistant.get("data").is_some() {
        answer.notes.push(Note::DataDropped);
    }
    answer.dropped_tool_calls = top.get("tool_calls").map_or(0, |calls| calls.children().count());
    Some(answer)
}

/// Puts words in place of marks that point at none of `count` citations: such a mark would look like
/// one that proves something.
fn settle_marks(document: &mut Document, count: usize) -> usize {
    let mut dangling = 0;
    let mut blocks: Vec<&mut Block> = document.children.iter_mut().collect();
    let mut inlines: Vec<&mut Inline> = Vec::new();
    loop {
        while let Some(inline) = inlines.pop() {
            match inline {
                Inline::Cite { reference } => {
                    let number = *reference;
                    if number == 0 || number as usize > count {
                        *inline = Inline::text(format!(" (no citation {number})"));
                        dangling += 1;
                    }
                }
                Inline::Strong { children }
                | Inline::Em { children }
                | Inline::Link { children, .. } => inlines.extend(children),
                Inline::Text { .. } | Inline::Code { .. } => {}
            }
        }
        let Some(block) = blocks.pop() else { return dangling };
        match block {
            Block::Heading { children, .. } | Block::Paragraph { children } => {
                inlines.extend(children);
            }
            Block::List { items, .. } => {
                blocks.extend(items.iter_mut().flat_map(|item| &mut item.children));
            }
            Block::Quote { children } => blocks.extend(children),
            Block::Table(table) => {
                let cells = table.header.iter_mut().chain(table.rows.iter_mut().flatten());
                inlines.extend(cells.flatten());
            }
            Block::CodeBlock { .. } | Block::ThematicBreak => {}
        }
    }
}

/// A value that is whole, or nothing.
fn read_quietly<T: Wire>(value: JsonValue<'_>) -> Option<T> {
    let mut problems = Problems::default();
    T::read(value, &mut problems).filter(|_| problems.is_empty())
}

/// The strings under the key `text`, one paragraph for each top-level node.
fn texts_of(render: JsonValue<'_>) -> Document {
    let nodes = render.get("children").unwrap_or(render);
    let mut children = Vec::new();
    for node in nodes.children() {
        let mut words = String::new();
        let mut open = vec![node];
        while let Some(value) = open.pop() {
            if let Some(text) = value.get("text").filter(|text| text.kind() == JsonKind::String) {
                words.push_str(&text.string().unwrap_or_default());
            }
            let held: Vec<JsonValue<'_>> = value.children().collect();
            open.extend(held.into_iter().rev());
        }
        if !words.trim().is_empty() {
            children.push(Block::Paragraph { children: vec![Inline::text(words)] });
        }
    }
    Document { children }
}

fn read_markdown(text: &str) -> Answer {
    let bare = without_fence(without_thoughts(text), &["markdown", "md"]);
    let cited = split_citations(bare.text);
    let mut answer = Answer::of_markdown(Mode::Markdown, &bare, cited.markdown, cited.citations);
    if cited.skipped > 0 {
        answer.notes.push(Note::CitationsDropped(cited.skipped));
    }
    answer
}

/// The text is Markdown after all; what it claims to cite is not taken over.
fn fall_back(text: &str) -> Answer {
    let bare = without_thoughts(text);
    let cited = split_citations(bare.text);
    let dropped = cited.citations.len() + cited.skipped;
    let mut answer = Answer::of_markdown(Mode::FallbackMarkdown, &bare, cited.markdown, Vec::new());
    if dropped > 0 {
        answer.notes.push(Note::CitationsDropped(dropped));
    }
    answer
}

/// More prove nothing more, and nobody reads them.
const MAX_CITATIONS: usize = 1_000;

impl Answer {
    fn empty(mode: Mode) -> Self {
        Self {
            mode,
            title: None,
            document: Document::default(),
            citations: Vec::new(),
            data: None,
            tool_calls: Vec::new(),
            dropped_tool_calls: 0,
            notes: Vec::new(),
            problems: Vec::new(),
        }
    }

    fn of_markdown(mode: Mode, bare: &Bare<'_>, markdown: &str, citations: Vec<Citation>) -> Self {
        let mut answer = Self::empty(mode);
        answer.document = markdown::document(markdown, &citations);
        answer.citations = citations;
        answer.notes.extend(bare.mends.iter().copied().map(Note::Mended));
        if bare.mends.contains(&Mend::Thoughts) && bare.text.trim().is_empty() {
            answer.notes.push(Note::OnlyThoughts);
        }
        answer
    }

    fn of_response(response: Response, form: Form) -> Self {
        let assistant = response.assistant;
        let mut answer = Self {
            title: assistant.title,
            document: assistant.render,
            citations: assistant.citations,
            data: assistant.data,
            tool_calls: response.tool_calls,
            ..Self::empty(Mode::Strict)
        };
        if let Form::Markdown { dropped_calls } = form {
            answer.mode = Mode::Lenient;
            answer.dropped_tool_calls = dropped_calls;
            answer.notes.push(Note::MarkdownForDocument);
        }
        answer
    }

    /// The same answer, read from a text that had to be mended.
    fn repaired(mut self, mends: &BTreeSet<Mend>) -> Self {
        self.mode = self.mode.max(Mode::Repaired);
        self.dropped_tool_calls += self.tool_calls.len();
        self.tool_calls.clear();
        // Data that broke off may fit its schema and still be wrong.
        if mends.contains(&Mend::BrokenOff) && self.data.take().is_some() {
            self.notes.push(Note::DataDropped);
        }
        self
    }
}
