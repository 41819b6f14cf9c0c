//! From Markdown to a tree. What the tree cannot hold becomes text: HTML, images (their description),
//! struck text, links to what is not safe. It never fails and knows nothing of how a tree is written.

use std::ops::Range;

use pulldown_cmark::{
    Alignment, CodeBlockKind, Event, LinkType, OffsetIter, Options, Parser, Tag, TagEnd,
};

use crate::build::{Builder, Mark};
use crate::{Align, Document};

/// Whether `[1]` in a text is a mark that points at a citation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Cites {
    /// It is text.
    #[default]
    None,
    /// `[1]` up to this number is a mark, where it stands outside of code and links.
    Upto(u32),
}

impl Document {
    /// Reads Markdown in which `[1]` is text.
    pub fn from_markdown(markdown: &str) -> Document {
        Self::from_cited_markdown(markdown, Cites::None)
    }

    /// Reads Markdown whose marks `[1]`, `[2]`… point at citations.
    pub fn from_cited_markdown(markdown: &str, cites: Cites) -> Document {
        let mut reader = Reader::new(markdown, cites);
        for (event, range) in parser(markdown) {
            reader.take(event, range);
        }
        reader.flush();
        reader.builder.finish()
    }
}

/// The events of Markdown with their places, the same for every reader of this crate.
pub(crate) fn parser(markdown: &str) -> OffsetIter<'_> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    Parser::new_ext(markdown, options).into_offset_iter()
}

struct Reader<'m> {
    markdown: &'m str,
    builder: Builder,
    cites: Cites,
    /// Text that stands in the Markdown as it is, without a gap: marks are looked for in it.
    run: Range<usize>,
    /// Where the last text ended: a backslash behind it is an escape.
    text_end: usize,
    /// How many links are open.
    links: usize,
    /// The language and the text of the open code block.
    code: Option<(Option<String>, String)>,
}

impl<'m> Reader<'m> {
    fn new(markdown: &'m str, cites: Cites) -> Self {
        let builder = Builder::new();
        Self { markdown, builder, cites, run: 0..0, text_end: 0, links: 0, code: None }
    }

    fn take(&mut self, event: Event<'_>, range: Range<usize>) {
        if let Event::Text(text) = &event {
            match &mut self.code {
                Some((_, code)) => code.push_str(text),
                None => self.text(text, range),
            }
            return;
        }
        self.flush();
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Code(text) => self.builder.code(&text),
            Event::Html(text) | Event::InlineHtml(text) => self.builder.text(&html_text(&text)),
            Event::SoftBreak => self.builder.text(" "),
            Event::HardBreak => self.builder.text("\n"),
            Event::Rule => self.builder.thematic_break(),
            // Of extensions that are not switched on.
            Event::Text(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text)
            | Event::FootnoteReference(text) => self.builder.text(&text),
            Event::TaskListMarker(_) => {}
        }
    }

    fn text(&mut self, text: &str, range: Range<usize>) {
        let is_verbatim = self.markdown.get(range.clone()) == Some(text);
        if !is_verbatim || range.start != self.run.end || self.run.is_empty() {
            self.flush();
            self.run = range.start..range.start;
        }
        if is_verbatim {
            self.run.end = range.end;
        } else {
            self.builder.text(text);
            self.run = 0..0;
            self.text_end = range.end;
        }
    }

    /// Hands on the run of text, with its marks.
    fn flush(&mut self) {
        let run = std::mem::replace(&mut self.run, 0..0);
        if run.is_empty() {
            return;
        }
        let text = &self.markdown[run.clone()];
        let is_escaped = self.text_end < run.start && self.markdown[..run.start].ends_with('\\');
        self.text_end = run.end;
        match self.cites {
            Cites::Upto(most) if self.links == 0 => {
                // What is escaped is text, and may not be part of a mark.
                let first = text.chars().next().filter(|_| is_escaped).map_or(0, char::len_utf8);
                self.builder.text(&text[..first]);
                self.text_with_cites(&text[first..], most);
            }
            Cites::Upto(_) | Cites::None => self.builder.text(text),
        }
    }

    fn text_with_cites(&mut self, text: &str, most: u32) {
        let mut rest = text;
        while let Some(open) = rest.find('[') {
            let (before, from) = rest.split_at(open);
            self.builder.text(before);
            let inner = &from[1..];
            let digits = inner.bytes().take_while(u8::is_ascii_digit).count();
            let number = inner[..digits].parse::<u32>().ok();
            match number.filter(|number| (1..=most).contains(number)) {
                Some(number) if inner[digits..].starts_with(']') && !inner.starts_with('0') => {
                    self.builder.cite(number);
                    rest = &inner[digits + 1..];
                }
                _ => {
                    self.builder.text("[");
                    rest = inner;
                }
            }
        }
        self.builder.text(rest);
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph | Tag::HtmlBlock => self.builder.start_paragraph(),
            Tag::Heading { level, .. } => self.builder.start_heading(level as u8),
            Tag::BlockQuote(_) => self.builder.open_quote(),
            Tag::CodeBlock(kind) => {
                let language = match kind {
                    CodeBlockKind::Fenced(info) => Some(info.to_string()),
                    CodeBlockKind::Indented => None,
                };
                self.code = Some((language, String::new()));
            }
            Tag::List(first) => self.builder.open_list(first.is_some()),
            Tag::Item => self.builder.open_item(),
            Tag::Table(align) => {
                self.builder.start_table(align.into_iter().map(of_column).collect())
            }
            Tag::TableCell => self.builder.start_cell(),
            Tag::Emphasis => self.builder.open_mark(Mark::Em),
            Tag::Strong => self.builder.open_mark(Mark::Strong),
            Tag::Link { link_type, dest_url, .. } => {
                self.links += 1;
                let href = match link_type {
                    LinkType::Email => format!("mailto:{dest_url}"),
                    _ => dest_url.to_string(),
                };
                self.builder.open_mark(Mark::Link { href });
            }
            Tag::Image { .. } | Tag::Strikethrough | Tag::Superscript | Tag::Subscript => {
                self.builder.open_mark(Mark::Nothing);
            }
            Tag::TableHead
            | Tag::TableRow
            | Tag::FootnoteDefinition(_)
            | Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::MetadataBlock(_) => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock | TagEnd::Heading(_) | TagEnd::TableCell => {
                self.builder.end_leaf();
            }
            TagEnd::BlockQuote(_) | TagEnd::List(_) | TagEnd::Item => self.builder.close(),
            TagEnd::CodeBlock => {
                if let Some((language, text)) = self.code.take() {
                    let text = text.strip_suffix('\n').unwrap_or(&text);
                    self.builder.code_block(language.as_deref(), text);
                }
            }
            TagEnd::Table => self.builder.end_table(),
            TagEnd::TableHead | TagEnd::TableRow => self.builder.end_row(),
            TagEnd::Link => {
                self.links -= 1;
                self.builder.close_mark();
            }
            TagEnd::Emphasis
            | TagEnd::Strong
            | TagEnd::Image
            | TagEnd::Strikethrough
            | TagEnd::Superscript
            | TagEnd::Subscript => self.builder.close_mark(),
            TagEnd::FootnoteDefinition
            | TagEnd::DefinitionList
            | TagEnd::DefinitionListTitle
            | TagEnd::DefinitionListDefinition
            | TagEnd::MetadataBlock(_) => {}
        }
    }
}

/// HTML is shown as it was written, but its lines are no lines of the text.
fn html_text(html: &str) -> String {
    html.replace(['\n', '\r'], " ")
}

fn of_column(align: Alignment) -> Align {
    match align {
        Alignment::None => Align::None,
        Alignment::Left => Align::Left,
        Alignment::Center => Align::Center,
        Alignment::Right => Align::Right,
    }
}
