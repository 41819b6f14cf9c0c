//! A page as it is read: its Markdown, its links, and what may be in the way of reading it. It
//! fetches nothing and stores nothing.

mod cut;
mod decode;
mod head;
mod media;

use sabir_document::{Block, Document, Inline};
use serde::Serialize;
use url::Url;

pub use self::decode::decode;
pub use self::media::{Media, PageError, read_bytes};

use crate::html::inlines::plain;
use crate::html::invisible::visible_text;
use crate::html::{blocks, hidden, tree};
use crate::links::{Link, links};
use crate::readable;
use crate::signals::{Raw, Signal, signals};

/// What is wanted of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadOptions {
    pub mode: Mode,
    /// How many characters of Markdown at most; [`MIN_CHARS`] to [`MAX_CHARS`].
    pub max_chars: usize,
    pub max_links: usize,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { mode: Mode::Auto, max_chars: DEFAULT_CHARS, max_links: DEFAULT_LINKS }
    }
}

/// What of a page is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// The article where there is one; otherwise the page.
    #[default]
    Auto,
    /// The article, as well as it can be found.
    Article,
    /// Everything but what stands around: feeds, results of a search.
    List,
}

/// A page that has been read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    pub title: Option<String>,
    pub byline: Option<String>,
    /// As the page says it, like `en` or `pt-BR`.
    pub language: Option<String>,
    pub document: Document,
    pub markdown: String,
    pub links: Vec<Link>,
    pub signals: Vec<Signal>,
    /// How many characters the whole Markdown has, of which `markdown` may be the beginning.
    pub chars: usize,
    /// Whether something is missing at the end.
    pub truncated: bool,
}

/// Reads a page of HTML that came from `base`. Every text gives a page, if need be an empty one.
pub fn read_page(html: &str, base: &Url, options: &ReadOptions) -> Page {
    let parsed = tree::parse(html);
    let dom = parsed.dom;
    let title = head::shorten_title(&dom);
    let base_of_links = match dom.base_uri().and_then(|href| base.join(&href).ok()) {
        Some(given) if matches!(given.scheme(), "http" | "https") => given,
        _ => base.clone(),
    };
    let raw = Raw::of(&dom);
    hidden::remove_hidden(&dom, &parsed.sheet);
    let mut signals = signals(&raw, &dom, base);
    signals.extend(parsed.sheet.is_cut().then_some(Signal::StylesUnread));
    let title = head::title(&dom, title);
    let byline = head::byline(&dom);
    let language = head::language(&dom);
    let content = readable::content(dom, options.mode);
    let blocks = match content.root.and_then(|root| content.dom.tree.get(&root)) {
        Some(root) => blocks::convert(&root, &base_of_links),
        None => Vec::new(),
    };
    let found = Found { title, byline, language, signals, cut: parsed.cut };
    assemble(found, blocks, base, options)
}

/// What is known about a page besides its blocks.
#[derive(Default)]
struct Found {
    title: Option<String>,
    byline: Option<String>,
    language: Option<String>,
    signals: Vec<Signal>,
    /// Whether the page was longer than what was looked at.
    cut: bool,
}

fn assemble(found: Found, blocks: Vec<Block>, url: &Url, options: &ReadOptions) -> Page {
    let title = found.title.or_else(|| first_heading(&blocks));
    let links = links(&blocks, url, options.max_links);
    let blocks = with_title(blocks, title.as_deref());
    let limit = options.max_chars.clamp(MIN_CHARS, MAX_CHARS);
    let cut = cut::cut(Document { children: blocks }, limit, found.cut);
    Page {
        title,
        byline: found.byline,
        language: found.language,
        document: cut.document,
        markdown: cut.markdown,
        links,
        signals: found.signals,
        chars: cut.chars,
        truncated: cut.truncated,
    }
}

fn one_line(text: &str, most: usize) -> String {
    sabir_base::text::one_line(&visible_text(text), most)
}

fn first_heading(blocks: &[Block]) -> Option<String> {
    blocks.iter().find_map(|block| match block {
        Block::Heading { children, .. } => Some(one_line(&plain(children), MOST_TITLE)),
        _ => None,
    })
}

/// Puts the title above the text, unless the text has a heading of the first level near its start.
/// A heading further down that says the same goes up.
fn with_title(mut blocks: Vec<Block>, title: Option<&str>) -> Vec<Block> {
    let is_main = |block: &Block| matches!(block, Block::Heading { level: 1, .. });
    let Some(title) = title.filter(|_| !blocks.iter().take(4).any(is_main)) else { return blocks };
    let says_it = |block: &Block| match block {
        Block::Heading { children, .. } => one_line(&plain(children), MOST_TITLE) == title,
        _ => false,
    };
    if let Some(at) = blocks.iter().position(says_it) {
        blocks.remove(at);
    }
    blocks.insert(0, Block::Heading { level: 1, children: vec![Inline::text(title)] });
    blocks
}

/// What a page is cut to unless something else is asked for.
pub const DEFAULT_CHARS: usize = 24_000;
pub const MIN_CHARS: usize = 100;
pub const MAX_CHARS: usize = 200_000;
const DEFAULT_LINKS: usize = 200;
const MOST_TITLE: usize = 300;
