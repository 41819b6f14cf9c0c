//! Where in the page the content is: an article, a list of things, or all of it. It removes what
//! stands around content on every page of a site, and converts nothing.

use std::collections::HashSet;

use dom_query::{Document, NodeData, NodeId, NodeRef};
use dom_smoothie::{Config, Readability};

use crate::page::Mode;

/// The part of a page that is worth reading.
pub(crate) struct Content {
    pub(crate) dom: Document,
    /// Where in the tree it is; nothing when the page has no body.
    pub(crate) root: Option<NodeId>,
}

/// Finds the content. The tree must be free of what is hidden.
pub(crate) fn content(dom: Document, mode: Mode) -> Content {
    remove_chrome(&dom);
    let body = dom.body().map(|body| body.id);
    let whole = |dom: Document| {
        // What a list is made of may be articles.
        let parts = if mode == Mode::List { MAIN } else { CONTENT };
        let root = main_part(&dom, parts).or(body);
        Content { dom, root }
    };
    let wants_article = match mode {
        Mode::Article => true,
        Mode::List => false,
        Mode::Auto => !is_list(&dom),
    };
    let elements = dom.root().descendants_it().filter(NodeRef::is_element).count();
    if !wants_article || elements > MOST_ELEMENTS || has_costly_text(&dom) {
        return whole(dom);
    }
    article(&dom).unwrap_or_else(|| whole(dom))
}

/// Whether a text is long and full of marks that are written as names in HTML. A reader's view writes
/// the page out, and for each such mark it looks through the rest of the text for others.
fn has_costly_text(dom: &Document) -> bool {
    let is_costly = |text: &str| {
        let marks = text.bytes().filter(|byte| matches!(byte, b'&' | 0xC2)).count();
        marks.saturating_mul(text.len()) > MOST_LOOKS
    };
    dom.root().descendants_it().any(|node| {
        dom.tree.query_node_or(&node.id, false, |inner| match &inner.data {
            NodeData::Text { contents } => is_costly(contents),
            NodeData::Element(element) => {
                element.attrs.iter().any(|attribute| is_costly(&attribute.value))
            }
            _ => false,
        })
    })
}

/// What a reader's view would show, unless that is much less than the page marks as its content.
fn article(dom: &Document) -> Option<Content> {
    // A part has no more letters than the whole, and a reader's view of little is costly: it is
    // tried again and again in the hope of more.
    if dom.body().is_none_or(|body| letters(&body) < LEAST_LETTERS) {
        return None;
    }
    let config = Config {
        keep_classes: true,
        disable_json_ld: true,
        // An article of three sentences is one, too; what it would fall back to is the whole page.
        char_threshold: 250,
        ..Config::default()
    };
    let copy = dom.clone();
    name_author(&copy);
    let mut readability = Readability::with_document(copy, None, Some(config)).ok()?;
    let article = readability.parse().ok()?;
    let dom_of_article = readability.doc;
    let root = dom_of_article.select_single("#readability-page-1").nodes().first()?.id;
    let length = article.text_content.split_whitespace().map(str::len).sum::<usize>();
    let expected = main_part(dom, CONTENT)
        .map_or(0, |id| letters(&NodeRef::new(id, &dom.tree)))
        .max(letters_of_prose(dom));
    let is_enough = length >= LEAST_LETTERS && length * 10 >= expected * 6;
    is_enough.then_some(Content { dom: dom_of_article, root: Some(root) })
}

/// Readability takes the first line out of a text that looks like an author's name, unless the page
/// names the author elsewhere. In a conversation that is the name of who spoke first.
fn name_author(dom: &Document) {
    if let Some(head) = dom.head() {
        head.append_html("<meta name=\"author\" content=\"-\">");
    }
}

/// What the page itself calls its content.
fn main_part(dom: &Document, selectors: &[&str]) -> Option<NodeId> {
    let all = dom.body().map_or(0, |body| letters(&body));
    selectors.iter().find_map(|selector| {
        let found = dom.select(selector);
        let nodes = found.nodes();
        // Several articles are a list of them.
        let [only] = nodes else { return None };
        let has = letters(only);
        (has >= LEAST_LETTERS && has * 10 >= all * 4).then_some(only.id)
    })
}

/// Whether the page is one of links with a few words each: a feed, a forum's index, search results.
fn is_list(dom: &Document) -> bool {
    let Some(body) = dom.body() else { return false };
    let (mut in_links, mut links, mut headings, mut linked_headings) = (0, 0, 0, 0);
    for node in body.descendants_it() {
        let Some(name) = node.qual_name_ref().map(|name| name.local.clone()) else { continue };
        match &*name {
            "a" if node.has_attr("href") => {
                let length = letters(&node);
                links += usize::from(length >= 6);
                in_links += length;
            }
            "h1" | "h2" | "h3" | "h4" => {
                headings += 1;
                let has_link = node.descendants_it().any(|inner| inner.has_name("a"))
                    || node.parent().is_some_and(|parent| parent.has_name("a"));
                linked_headings += usize::from(has_link);
            }
            _ => {}
        }
    }
    let all = letters(&body);
    let prose = letters_of_prose(dom);
    let is_index = links >= 6 && in_links * 10 >= all * 4 && prose * 3 <= all;
    let is_results = linked_headings >= 4 && linked_headings * 10 >= headings * 6;
    is_index || is_results
}

/// Letters in paragraphs that are long enough to be prose.
fn letters_of_prose(dom: &Document) -> usize {
    dom.root()
        .descendants_it()
        .filter(|node| node.has_name("p"))
        .map(|node| letters(&node))
        .filter(|length| *length >= 80)
        .sum()
}

fn letters(node: &NodeRef<'_>) -> usize {
    node.text().split_whitespace().map(str::len).sum()
}

/// Takes away menus, footers, banners, boxes for cookies and letters, and whatever else names itself
/// so, unless that would be most of the page.
fn remove_chrome(dom: &Document) {
    let Some(body) = dom.body() else { return };
    let all = letters(&body);
    let mut gone: HashSet<NodeId> = HashSet::new();
    for node in body.descendants() {
        let is_inside = node.parent().is_some_and(|parent| gone.contains(&parent.id));
        if is_inside {
            gone.insert(node.id);
            continue;
        }
        if is_chrome(&node) && letters(&node) * 10 <= all * 4 {
            gone.insert(node.id);
            node.remove_from_parent();
        }
    }
}

fn is_chrome(node: &NodeRef<'_>) -> bool {
    let Some(element) = node.element_ref() else { return false };
    let attribute = |name: &str| {
        element.attrs.iter().find(|attr| *attr.name.local == *name).map(|attr| &*attr.value)
    };
    match &*element.name.local {
        "nav" | "noscript" | "dialog" | "button" | "iframe" => return true,
        "footer" | "aside" | "header" => {
            // Those of an article belong to it.
            let is_of_page = !node.ancestors_it(None).any(|ancestor| {
                ["article", "main", "section", "blockquote"]
                    .iter()
                    .any(|name| ancestor.has_name(name))
            });
            let has_title = node.descendants_it().any(|inner| inner.has_name("h1"));
            if is_of_page && !has_title {
                return true;
            }
        }
        "body" | "main" | "article" | "h1" | "h2" | "p" | "table" | "tr" | "td" | "pre"
        | "code" => return false,
        _ => {}
    }
    let has_role = attribute("role").is_some_and(|role| {
        matches!(
            role,
            "navigation"
                | "banner"
                | "contentinfo"
                | "search"
                | "complementary"
                | "dialog"
                | "alertdialog"
                | "menu"
                | "menubar"
                | "toolbar"
                | "tablist"
        )
    });
    let names = [attribute("class"), attribute("id")];
    has_role
        || attribute("aria-modal") == Some("true")
        || names.into_iter().flatten().any(|names| {
            names.split([' ', '-', '_', '\t', '\n']).any(|word| CHROME_WORDS.contains(&word))
        })
}

/// Fewer letters than this are a notice, not a text.
const LEAST_LETTERS: usize = 140;

/// A reader's view looks at each element several times; a page that is larger is shown whole.
const MOST_ELEMENTS: usize = 60_000;

/// Marks times bytes of one text; an article of a hundred thousand letters has a hundredth of it.
const MOST_LOOKS: usize = 1_000_000_000;

const MAIN: &[&str] = &["main", "[role=main]"];

const CONTENT: &[&str] = &["main", "[role=main]", "[itemprop=articleBody]", "article", "#content"];

const CHROME_WORDS: &[&str] = &[
    "ad",
    "ads",
    "advert",
    "advertisement",
    "sponsor",
    "sponsored",
    "promo",
    "promoted",
    "breadcrumb",
    "breadcrumbs",
    "cookie",
    "cookies",
    "consent",
    "gdpr",
    "modal",
    "newsletter",
    "subscribe",
    "signup",
    "share",
    "sharing",
    "social",
    "related",
    "recommended",
    "navbar",
    "sidebar",
    "menu",
    "footer",
    "paywall",
    "overlay",
    "popup",
    "pagination",
    "skip",
    "editsection",
];
