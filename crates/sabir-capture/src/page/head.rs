//! What a page says about itself: its title, who wrote it, in which language. It guesses no language.

use dom_query::Document;

use super::{MOST_TITLE, one_line};

/// The title of the window, which is also cut short in the tree: whatever compares headings with it
/// does so for each of them.
pub(super) fn shorten_title(dom: &Document) -> Option<String> {
    let node = dom.root().descendants_it().find(|node| {
        node.has_name("title") && node.parent().is_some_and(|parent| !parent.has_name("svg"))
    })?;
    let title = one_line(&node.text(), MOST_TITLE);
    node.set_text(title.as_str());
    (!title.is_empty()).then_some(title)
}

/// The title of the page: its main heading, where that is the title of the window without the name of
/// the site; otherwise the title of the window.
pub(super) fn title(dom: &Document, window: Option<String>) -> Option<String> {
    let window = window?;
    let heading = dom
        .root()
        .descendants_it()
        .filter(|node| node.has_name("h1"))
        .take(MOST_HEADINGS)
        .map(|node| one_line(node.text().trim_end_matches(['¶', '#', '§', '🔗']), MOST_TITLE))
        .find(|heading| heading.chars().count() >= 3 && window.contains(heading.as_str()));
    Some(heading.unwrap_or(window))
}

/// Who the page says has written it: in its head, or in the one place that is marked for it.
pub(super) fn byline(dom: &Document) -> Option<String> {
    let metas = dom.select("meta[name=author], meta[property='article:author']");
    let in_head = metas
        .nodes()
        .iter()
        .filter_map(|meta| meta.attr("content"))
        .find(|author| !author.starts_with("http"));
    let marked = dom.select("[rel~=author], [itemprop~=author], .byline");
    let author = match (in_head, marked.nodes()) {
        (Some(author), _) => author,
        (None, [only]) => only.text(),
        (None, _) => return None,
    };
    let line = one_line(&author, MOST_BYLINE);
    (!line.is_empty()).then_some(line)
}

/// The language as the page names it.
pub(super) fn language(dom: &Document) -> Option<String> {
    let language = dom.select("html[lang]").attr("lang")?.trim().to_owned();
    let is_language = (2..=35).contains(&language.len())
        && language.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    is_language.then_some(language)
}

/// More of the first level is a list.
const MOST_HEADINGS: usize = 8;
const MOST_BYLINE: usize = 120;
