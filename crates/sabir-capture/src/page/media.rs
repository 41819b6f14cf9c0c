//! Which kinds of files can be read, and reading them. What cannot be read is said so.

use std::fmt;

use sabir_document::{Block, Inline};
use url::Url;

use super::{Found, Page, ReadOptions, assemble, decode, read_page};
use crate::html::invisible::visible_text;
use crate::html::{blocks, hidden, tree};
use crate::pdf::{PdfError, PdfReader};
use crate::signals::Signal;

/// A kind of file that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Media {
    Html,
    Markdown,
    Text,
    Json,
    Pdf,
}

impl Media {
    /// Decides by the content type; where that says nothing, by the name of the file and by its first
    /// bytes.
    pub fn of(bytes: &[u8], content_type: Option<&str>, url: &Url) -> Result<Self, PageError> {
        let kind = content_type.and_then(|kind| kind.split(';').next()).unwrap_or_default();
        let kind = kind.trim().to_ascii_lowercase();
        let by_name = || Self::by_name(url.path());
        let media = match kind.as_str() {
            "text/html" | "application/xhtml+xml" => Some(Self::Html),
            "text/markdown" | "text/x-markdown" => Some(Self::Markdown),
            "application/pdf" | "application/x-pdf" => Some(Self::Pdf),
            "application/json" | "text/json" => Some(Self::Json),
            "text/plain" => Some(by_name().filter(|media| *media == Self::Markdown))
                .map(|media| media.unwrap_or(Self::Text)),
            "" | "application/octet-stream" | "binary/octet-stream" => Self::by_start(bytes)
                .or_else(by_name)
                .or_else(|| Self::by_tag(bytes))
                .or_else(|| Self::by_text(bytes)),
            kind if kind.ends_with("+json") => Some(Self::Json),
            kind if kind.starts_with("text/") => Some(Self::Text),
            _ => None,
        };
        match media {
            Some(Self::Pdf) => Ok(Self::Pdf),
            Some(_) if is_binary(bytes, content_type) => {
                Err(PageError::Unsupported { content_type: String::new() })
            }
            Some(media) => Ok(media),
            None => Err(PageError::Unsupported { content_type: kind }),
        }
    }

    fn by_start(bytes: &[u8]) -> Option<Self> {
        if bytes.starts_with(b"%PDF-") {
            return Some(Self::Pdf);
        }
        let start: String =
            bytes.iter().take(512).map(|byte| char::from(byte.to_ascii_lowercase())).collect();
        let start = start.trim_start_matches(['\u{ef}', '\u{bb}', '\u{bf}', ' ', '\n', '\r', '\t']);
        let is_html = start.starts_with("<!doctype html")
            || start.starts_with("<html")
            || (start.starts_with("<?xml") && start.contains("<html"));
        is_html.then_some(Self::Html)
    }

    /// A part of a page, as a program would pass it on, begins with a tag or a comment.
    fn by_tag(bytes: &[u8]) -> Option<Self> {
        let start = bytes.trim_ascii_start();
        let begins = match start {
            [b'<', b'!', b'-', b'-', ..] => true,
            [b'<', letter, ..] => letter.is_ascii_alphabetic() && !start.starts_with(b"<svg"),
            _ => false,
        };
        begins.then_some(Self::Html)
    }

    fn by_name(path: &str) -> Option<Self> {
        let (_, extension) = path.rsplit('/').next()?.rsplit_once('.')?;
        match extension.to_ascii_lowercase().as_str() {
            "html" | "htm" | "xhtml" => Some(Self::Html),
            "md" | "markdown" | "mkd" => Some(Self::Markdown),
            "txt" | "text" | "log" | "rst" | "csv" | "tsv" => Some(Self::Text),
            "json" => Some(Self::Json),
            "pdf" => Some(Self::Pdf),
            _ => None,
        }
    }

    /// Text has no zeros in it.
    fn by_text(bytes: &[u8]) -> Option<Self> {
        let start = &bytes[..bytes.len().min(4_096)];
        (!start.contains(&0) && is_utf8_or_cut(start)).then_some(Self::Text)
    }
}

/// Whether something that calls itself a text is none. Texts of two bytes a letter have zeros in
/// them, and say so.
fn is_binary(bytes: &[u8], content_type: Option<&str>) -> bool {
    let says_wide = content_type.is_some_and(|it| it.to_ascii_lowercase().contains("utf-16"));
    if says_wide || encoding_rs::Encoding::for_bom(bytes).is_some() {
        return false;
    }
    let start = &bytes[..bytes.len().min(4_096)];
    let is_control =
        |byte: &&u8| **byte < 0x20 && !matches!(**byte, b'\t' | b'\n' | 0x0c | b'\r' | 0x1b);
    let controls = start.iter().filter(is_control).count();
    start.contains(&0) || !is_utf8_or_cut(start) && controls * 50 > start.len()
}

/// Whether it is UTF-8, if the end of it is not looked at.
fn is_utf8_or_cut(bytes: &[u8]) -> bool {
    match std::str::from_utf8(bytes) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none(),
    }
}

/// Why something cannot be read.
#[derive(Debug)]
pub enum PageError {
    /// Pictures, archives, programs.
    Unsupported {
        content_type: String,
    },
    Pdf(PdfError),
}

impl fmt::Display for PageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsupported { content_type } if content_type.is_empty() => {
                f.write_str("this is no HTML, Markdown, text, JSON or PDF")
            }
            Self::Unsupported { content_type } => {
                let kind = sabir_base::text::one_line(content_type, 80);
                write!(f, "cannot read {kind}: only HTML, Markdown, text, JSON and PDF")
            }
            Self::Pdf(_) => f.write_str("cannot read the PDF"),
        }
    }
}

impl std::error::Error for PageError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Unsupported { .. } => None,
            Self::Pdf(error) => Some(error),
        }
    }
}

/// Reads a file or an answer of a server. PDF files are read by the program that `pdf` starts.
pub async fn read_bytes(
    bytes: &[u8],
    content_type: Option<&str>,
    url: &Url,
    options: &ReadOptions,
    pdf: &PdfReader,
) -> Result<Page, PageError> {
    let media = Media::of(bytes, content_type, url)?;
    let text = || decode(bytes, content_type, media);
    Ok(match media {
        Media::Html => read_page(&text(), url, options),
        Media::Markdown => read_markdown(&text(), url, options),
        Media::Text => read_text(&text(), url, options),
        Media::Json => read_json(&text(), url, options),
        Media::Pdf => {
            let read = pdf.read(bytes).await.map_err(PageError::Pdf)?;
            let found = Found { title: read.title, cut: read.truncated, ..Found::default() };
            assemble(found, read.blocks, url, options)
        }
    })
}

/// Markdown goes through HTML, so that comments and hidden elements in it are treated like those of
/// a page.
fn read_markdown(markdown: &str, url: &Url, options: &ReadOptions) -> Page {
    let kinds =
        pulldown_cmark::Options::ENABLE_TABLES | pulldown_cmark::Options::ENABLE_STRIKETHROUGH;
    let markdown = without_front_matter(markdown);
    let mut html = String::with_capacity(markdown.len() * 2);
    pulldown_cmark::html::push_html(&mut html, pulldown_cmark::Parser::new_ext(markdown, kinds));
    let parsed = tree::parse(&html);
    hidden::remove_hidden(&parsed.dom, &parsed.sheet);
    let blocks = parsed.dom.body().map_or_else(Vec::new, |body| blocks::convert(&body, url));
    let signals = parsed.sheet.is_cut().then_some(Signal::StylesUnread).into_iter().collect();
    assemble(Found { signals, cut: parsed.cut, ..Found::default() }, blocks, url, options)
}

/// Without the block of metadata that may stand at the very top, keys between two lines of `---`.
/// Everywhere else such lines are rules and underlines, and what is between them is text.
fn without_front_matter(markdown: &str) -> &str {
    let mut lines = markdown.split_inclusive('\n');
    let mut read = match lines.next() {
        Some(first) if first.trim_end() == "---" => first.len(),
        _ => return markdown,
    };
    let mut has_keys = false;
    for (at, line) in lines.enumerate() {
        read += line.len();
        match line.trim_end() {
            // A rule with a paragraph below it.
            "" if at == 0 => return markdown,
            // Without a key it is text between two rules.
            "---" | "..." if has_keys => return &markdown[read..],
            "---" | "..." => return markdown,
            line => has_keys |= is_key(line),
        }
    }
    markdown
}

/// `key: value`, `"a key":`, at the start of a line.
fn is_key(line: &str) -> bool {
    let Some((key, value)) = line.split_once(':') else { return false };
    let is_quoted = key.len() > 2 && key.starts_with(['"', '\'']) && key.ends_with(['"', '\'']);
    let is_plain = key.starts_with(|c: char| c.is_alphanumeric() || c == '_')
        && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
    (is_quoted || is_plain) && (value.is_empty() || value.starts_with([' ', '\t']))
}

/// Paragraphs are what empty lines divide; lines stay lines.
fn read_text(text: &str, url: &Url, options: &ReadOptions) -> Page {
    let text = visible_text(text).replace("\r\n", "\n");
    let mut blocks = Vec::new();
    let mut lines: Vec<&str> = Vec::new();
    for line in text.lines().chain([""]) {
        if !line.trim().is_empty() {
            lines.push(line.trim());
        } else if !lines.is_empty() {
            let children = vec![Inline::text(lines.join("\n"))];
            blocks.push(Block::Paragraph { children });
            lines.clear();
        }
    }
    assemble(Found::default(), blocks, url, options)
}

fn read_json(text: &str, url: &Url, options: &ReadOptions) -> Page {
    let text = visible_text(text).trim().to_owned();
    let code = Block::CodeBlock { language: Some("json".to_owned()), text };
    assemble(Found::default(), vec![code], url, options)
}
