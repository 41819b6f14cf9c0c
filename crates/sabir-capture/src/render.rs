//! Documents and Markdown as HTML that can be shown anywhere: written from the tree, with all text
//! escaped, and then through a list of what is allowed. There is no way around the second step.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::sync::LazyLock;

use ammonia::{Builder, UrlRelative};
use sabir_document::{Block, Document, Inline, ListItem, Table};

/// A document as HTML. Marks of citations link to `#s-cite-1` and so on; the page that shows the
/// document has those places.
pub fn to_safe_html(document: &Document) -> String {
    let mut html = String::new();
    // Normal form bounds the depth, which the parser of the second step is slow with.
    write_blocks(&document.normalised().children, &mut html);
    with_marks(&ALLOWED.clean(&html).to_string())
}

/// Markdown as HTML. HTML in it is shown as text. A byte order mark belongs to the file, not to the
/// first line, which could not be a heading behind it.
pub fn markdown_to_safe_html(markdown: &str) -> String {
    let markdown = markdown.strip_prefix('\u{FEFF}').unwrap_or(markdown);
    to_safe_html(&Document::from_markdown(markdown))
}

fn write_blocks(blocks: &[Block], out: &mut String) {
    for block in blocks {
        write_block(block, out);
    }
}

fn write_block(block: &Block, out: &mut String) {
    match block {
        Block::Heading { level, children } => {
            let level = level.clamp(&1, &6);
            push(out, format_args!("<h{level}>"));
            write_inlines(children, out);
            push(out, format_args!("</h{level}>\n"));
        }
        Block::Paragraph { children } => {
            out.push_str("<p>");
            write_inlines(children, out);
            out.push_str("</p>\n");
        }
        Block::List { ordered, items } => {
            let name = if *ordered { "ol" } else { "ul" };
            push(out, format_args!("<{name}>\n"));
            items.iter().for_each(|item| write_item(item, out));
            push(out, format_args!("</{name}>\n"));
        }
        Block::Quote { children } => {
            out.push_str("<blockquote>\n");
            write_blocks(children, out);
            out.push_str("</blockquote>\n");
        }
        Block::CodeBlock { language, text } => {
            match language.as_deref().and_then(language_class) {
                Some(class) => push(out, format_args!("<pre><code class=\"{class}\">")),
                None => out.push_str("<pre><code>"),
            }
            escape(text, out);
            out.push_str("\n</code></pre>\n");
        }
        Block::Table(table) => write_table(table, out),
        Block::ThematicBreak => out.push_str("<hr>\n"),
    }
}

/// An item of one paragraph is its line; others have paragraphs.
fn write_item(item: &ListItem, out: &mut String) {
    out.push_str("<li>");
    match item.children.split_first() {
        Some((Block::Paragraph { children }, rest))
            if rest.iter().all(|block| matches!(block, Block::List { .. })) =>
        {
            write_inlines(children, out);
            if !rest.is_empty() {
                out.push('\n');
            }
            write_blocks(rest, out);
        }
        _ => write_blocks(&item.children, out),
    }
    out.push_str("</li>\n");
}

fn write_table(table: &Table, out: &mut String) {
    out.push_str("<table>\n");
    if table.header.iter().any(|cell| !cell.is_empty()) {
        out.push_str("<thead>\n");
        write_row(&table.header, "th", out);
        out.push_str("</thead>\n");
    }
    out.push_str("<tbody>\n");
    table.rows.iter().for_each(|row| write_row(row, "td", out));
    out.push_str("</tbody>\n</table>\n");
}

fn write_row(row: &[Vec<Inline>], name: &str, out: &mut String) {
    out.push_str("<tr>");
    for cell in row {
        push(out, format_args!("<{name}>"));
        write_inlines(cell, out);
        push(out, format_args!("</{name}>"));
    }
    out.push_str("</tr>\n");
}

fn write_inlines(inlines: &[Inline], out: &mut String) {
    for inline in inlines {
        match inline {
            Inline::Text { text } => {
                for (at, line) in text.split('\n').enumerate() {
                    if at > 0 {
                        out.push_str("<br>\n");
                    }
                    escape(line, out);
                }
            }
            Inline::Strong { children } => write_marked("strong", children, out),
            Inline::Em { children } => write_marked("em", children, out),
            Inline::Code { text } => {
                out.push_str("<code>");
                escape(text, out);
                out.push_str("</code>");
            }
            Inline::Link { href, children } if !is_address(href) => {
                write_inlines(children, out);
            }
            Inline::Link { href, children } => {
                out.push_str("<a href=\"");
                escape_address(href, out);
                out.push_str("\">");
                write_inlines(children, out);
                out.push_str("</a>");
            }
            Inline::Cite { reference } => {
                push(out, format_args!("<sup><a href=\"{CITE}{reference}\">{reference}</a></sup>"))
            }
        }
    }
}

fn write_marked(name: &str, children: &[Inline], out: &mut String) {
    push(out, format_args!("<{name}>"));
    write_inlines(children, out);
    push(out, format_args!("</{name}>"));
}

/// The class of a code block, where its language has a plain name.
fn language_class(language: &str) -> Option<String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '#' | '_' | '.');
    let name = language.split_whitespace().next()?;
    (name.len() <= 30 && name.chars().all(is_plain)).then(|| format!("language-{name}"))
}

/// Writes text. Characters that the writer of the second step has names for, or takes for the first
/// byte of one, are written as others that no text has: for each of them it looks through the rest of
/// the text, which takes too long where there are many. [`with_marks`] brings them back.
fn escape(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => out.push(AMPERSAND),
            '\u{A0}'..='\u{BF}' => {
                out.extend(char::from_u32(u32::from(c) - 0xA0 + u32::from(STAND_INS)));
            }
            c if is_stand_in(c) => {}
            c => escape_char(c, out),
        }
    }
}

/// Whether a browser could follow it. The second step would leave the link and take its address.
fn is_address(href: &str) -> bool {
    href.len() <= LONGEST_ADDRESS && url::Url::parse(href).is_ok()
}

fn escape_address(address: &str, out: &mut String) {
    address.chars().filter(|c| !is_stand_in(*c)).for_each(|c| escape_char(c, out));
}

fn escape_char(c: char, out: &mut String) {
    match c {
        '&' => out.push_str("&amp;"),
        '<' => out.push_str("&lt;"),
        '>' => out.push_str("&gt;"),
        '"' => out.push_str("&quot;"),
        '\'' => out.push_str("&#39;"),
        c if sabir_base::text::is_hidden(c) => {}
        c => out.push(c),
    }
}

fn is_stand_in(c: char) -> bool {
    c == AMPERSAND || (STAND_INS..=LAST_STAND_IN).contains(&c)
}

/// Brings back what [`escape`] has written as something else.
fn with_marks(html: &str) -> String {
    let mut out = String::with_capacity(html.len());
    for c in html.chars() {
        match c {
            AMPERSAND => out.push_str("&amp;"),
            STAND_INS => out.push_str("&nbsp;"),
            c if is_stand_in(c) => {
                out.extend(char::from_u32(u32::from(c) - u32::from(STAND_INS) + 0xA0));
            }
            c => out.push(c),
        }
    }
    out
}

/// No characters: Unicode keeps these for programs.
const AMPERSAND: char = '\u{FFFE}';
const STAND_INS: char = '\u{FDD0}';
const LAST_STAND_IN: char = '\u{FDEF}';

/// Longer ones lead nowhere.
const LONGEST_ADDRESS: usize = 8_192;

/// Writing to a string does not fail.
fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    let _ = out.write_fmt(text);
}

/// What may be in the HTML. Everything else is taken out, and its text stays.
static ALLOWED: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let tags = [
        "p",
        "br",
        "strong",
        "em",
        "code",
        "pre",
        "blockquote",
        "hr",
        "ul",
        "ol",
        "li",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "a",
        "sup",
    ];
    let attributes =
        HashMap::from([("a", HashSet::from(["href"])), ("code", HashSet::from(["class"]))]);
    let mut builder = Builder::empty();
    builder
        .tags(HashSet::from(tags))
        .tag_attributes(attributes)
        .generic_attributes(HashSet::new())
        .url_schemes(HashSet::from(["http", "https", "mailto"]))
        .url_relative(UrlRelative::Custom(Box::new(cite)))
        .attribute_filter(|element, attribute, value| match (element, attribute) {
            ("code", "class") => {
                let language = value.strip_prefix("language-")?;
                language_class(language).map(Into::into)
            }
            _ => Some(value.into()),
        })
        .link_rel(Some("noopener noreferrer nofollow"));
    builder
});

/// The only address without a scheme that is allowed: a citation of this document.
fn cite(address: &str) -> Option<Cow<'_, str>> {
    let number = address.strip_prefix(CITE)?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then_some(Cow::Borrowed(address))
}

const CITE: &str = "#s-cite-";
