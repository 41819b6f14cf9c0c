//! Context documents as they stand in a prompt: a few fields on lines of their own, and a body
//! without credentials and without what is hidden.

use std::borrow::Cow;

use sabir_base::text::without_hidden;

use crate::context::{
    CollectionIndex, Comment, ContextContent, ContextDocument, Element, Item, Link, OutlineEntry,
    ToolResult, Trust, WebSummary,
};
use crate::fence::{Fence, header_text};
use crate::redact::{redact_text, redact_url};
use crate::value::Address;

#[derive(Debug)]
pub(super) struct Entry<'a> {
    pub(super) document: &'a ContextDocument,
    /// What the document says, and no more than its kind allows.
    trust: Trust,
    fields: Vec<(&'static str, String)>,
    pub(super) body: Cow<'a, str>,
}

impl<'a> Entry<'a> {
    pub(super) fn of(document: &'a ContextDocument) -> Self {
        let mut entry = Self {
            document,
            trust: document.trust.min(document.content.most_trust()),
            fields: vec![("id", header_text(document.doc_id.as_str()))],
            body: Cow::Borrowed(""),
        };
        let body = match &document.content {
            ContextContent::WebSummary(page) => {
                entry.add_place(&page.title, Some(&page.url));
                entry.add("captured", page.captured_at.as_ref().map(|at| at.as_str()));
                let signals: Vec<&str> =
                    page.signals.iter().map(|signal| signal.as_str()).collect();
                entry.add("signals", (!signals.is_empty()).then(|| signals.join(", ")).as_deref());
                page_body(page)
            }
            ContextContent::WebChunk(chunk) => {
                entry.add_place(&chunk.title, Some(&chunk.url));
                let (index, count) = (chunk.chunk_index.value(), chunk.chunk_count.value());
                entry.add("chunk", Some(&format!("{index} of {count}")));
                Cow::Borrowed(chunk.markdown.as_str())
            }
            ContextContent::CollectionIndex(index) => {
                entry.add_place(&index.title, None);
                entry.add("collection", Some(index.collection_id.as_str()));
                Cow::Owned(index_lines(index).collect())
            }
            ContextContent::CollectionSource(source) => {
                let id = source.source_id.as_str();
                entry.add("source", (id != document.doc_id.as_str()).then_some(id));
                entry.add_place(&source.title, source.url.as_ref());
                entry.add("captured", source.captured_at.as_ref().map(|at| at.as_str()));
                entry.add("part", source.summary_only.then_some("summary"));
                Cow::Borrowed(source.markdown.as_str())
            }
            ContextContent::ToolResult(result) => {
                entry.add_result(result);
                Cow::Owned(result.payload.as_ref().map(ToString::to_string).unwrap_or_default())
            }
            ContextContent::ConversationTurn(turn) => {
                entry.add("turn", Some(&turn.turn.value().to_string()));
                entry.add("by", Some(turn.role.as_str()));
                Cow::Borrowed(turn.markdown.as_str())
            }
        };
        entry.body = clean(body);
        entry
    }

    pub(super) fn title(&self) -> &str {
        self.fields.iter().find(|(name, _)| *name == "title").map_or("", |(_, title)| title)
    }

    /// Every text that stands between the marks.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> + Clone {
        self.fields.iter().map(|(_, value)| value.as_str()).chain([&*self.body])
    }

    pub(super) fn enclose(&self, fence: &Fence) -> String {
        self.enclose_part(fence, None, &self.body)
    }

    /// A part of it, with a field that says which.
    pub(super) fn enclose_part(
        &self,
        fence: &Fence,
        part: Option<(&'static str, String)>,
        body: &str,
    ) -> String {
        let fields: Vec<_> = self.fields.iter().cloned().chain(part).collect();
        fence.enclose(self.trust, self.document.kind().as_str(), &fields, body)
    }

    fn add(&mut self, name: &'static str, value: Option<&str>) {
        if let Some(value) = value {
            self.fields.push((name, header_text(value)));
        }
    }

    fn add_place(&mut self, title: &str, url: Option<&Address>) {
        self.add("title", Some(title));
        self.add("url", url.map(shown_address).as_deref());
    }

    fn add_result(&mut self, result: &ToolResult) {
        self.add("tool", Some(result.tool.as_str()));
        self.add("call", Some(result.call_id.as_str()));
        self.add("status", Some(result.status.as_str()));
        self.add("error", result.error_code.as_ref().map(|code| code.as_str()));
    }
}

/// One line for each source of a collection, and its note.
pub(super) fn index_lines(index: &CollectionIndex) -> impl Iterator<Item = String> {
    let note = index.context_note.iter().map(|note| format!("{}\n\n", header_text(note)));
    note.chain(index.sources.iter().map(|source| {
        let id = header_text(source.source_id.as_str());
        let url = source.url.as_ref().map(|url| format!(" ({})", header_text(&shown_address(url))));
        format!("- {id}: {}{}\n", header_text(&source.title), url.unwrap_or_default())
    }))
}

/// Without what is hidden first: a credential could be cut in two by it.
pub(super) fn clean(body: Cow<'_, str>) -> Cow<'_, str> {
    let body = match without_hidden(&body) {
        Cow::Borrowed(_) => body,
        Cow::Owned(visible) => Cow::Owned(visible),
    };
    match redact_text(&body) {
        Cow::Borrowed(_) => body,
        Cow::Owned(redacted) => Cow::Owned(redacted),
    }
}

fn shown_address(url: &Address) -> String {
    redact_url(url.as_str()).map_or_else(|| url.as_str().to_owned(), |redacted| redacted.url)
}

/// The Markdown of the page, and behind it what was seen besides.
fn page_body(page: &WebSummary) -> Cow<'_, str> {
    let main = page.markdown.as_deref().or(page.text.as_deref()).unwrap_or("");
    let mut more = String::new();
    if page.markdown.is_none()
        && let Some(primary) = &page.primary
    {
        more.push_str(&format!("\n\n{}", primary.text));
    }
    section(&mut more, "Items", &page.items, item_line);
    section(&mut more, "Top discussions", &page.top_discussions, item_line);
    section(&mut more, "Comments", &page.comments, comment_line);
    if page.markdown.is_none() {
        section(&mut more, "Outline", &page.outline, outline_line);
    }
    section(&mut more, "Elements", &page.elements, element_line);
    section(&mut more, "Links", &page.extracted_links, link_line);
    match more.is_empty() {
        true => Cow::Borrowed(main),
        false => Cow::Owned(format!("{main}{more}")),
    }
}

fn section<T>(out: &mut String, name: &str, entries: &[T], line: fn(&T) -> String) {
    if entries.is_empty() {
        return;
    }
    out.push_str(&format!("\n\n## {name}\n"));
    for entry in entries {
        out.push_str(&format!("\n- {}", line(entry)));
    }
}

fn item_line(item: &Item) -> String {
    let comments = item.comment_count.map(|count| format!("{} comments", count.value()));
    let url = item.url.as_ref().map(shown_address);
    let handle = item.handle_id.as_ref().map(|handle| format!("handle {handle}"));
    joined([Some(item.title.clone()), item.snippet.clone(), comments, url, handle])
}

fn comment_line(comment: &Comment) -> String {
    let depth = comment.depth.map(|depth| format!("depth {}", depth.value()));
    joined([
        comment.author.clone(),
        comment.age.clone(),
        comment.score.clone(),
        depth,
        Some(comment.text.clone()),
    ])
}

fn outline_line(entry: &OutlineEntry) -> String {
    joined([Some(format!("level {}", entry.level.value())), Some(entry.text.clone())])
}

fn element_line(element: &Element) -> String {
    joined([
        Some(format!("handle {}", element.handle_id)),
        element.role.clone(),
        element.input_type.clone(),
        element.text.clone(),
        element.href.clone(),
    ])
}

fn link_line(link: &Link) -> String {
    joined([Some(link.text.clone()), Some(shown_address(&link.url)), link.context.clone()])
}

fn joined<const N: usize>(parts: [Option<String>; N]) -> String {
    let parts: Vec<String> = parts.into_iter().flatten().map(|part| header_text(&part)).collect();
    parts.join(" | ")
}
