//! Takes out of the tree what a person who looks at the page does not see. It believes attributes,
//! inline styles and the sheets of the page; sheets of other files and scripts it does not know.

use std::borrow::Cow;

use dom_query::{Document, Element, NodeData, NodeRef};

use super::invisible::visible_text;
use super::sheet::Sheet;
use super::style::{Background, Color, Look, Size, TextColor, declarations};
use super::table::mark_align;

/// Removes hidden elements and characters, and what is never shown as text. `noscript` stays: whoever looks for
/// signs of a script-made page needs it, and removes it.
pub(crate) fn remove_hidden(dom: &Document) {
    let view = View { sheet: read_sheet(dom), has_foreign_sheets: has_foreign_sheets(dom) };
    let mut open = vec![(dom.root(), Around::default())];
    while let Some((node, around)) = open.pop() {
        let mut around = around;
        if node.is_text() {
            match around.hides_text(&view) {
                true => node.remove_from_parent(),
                false => clean_text(&node),
            }
            continue;
        }
        if let Some(element) = node.element_ref() {
            let hidden = view.hides(&node, &element, &mut around);
            drop(element);
            if hidden {
                node.remove_from_parent();
                continue;
            }
            node.remove_attr("aria-hidden");
            close_details(&node);
            if node.has_name("td") || node.has_name("th") {
                mark_align(&node);
            }
        }
        open.extend(node.children_it(true).map(|child| (child, around)));
    }
}

/// Takes the characters out of a text that nobody sees.
fn clean_text(node: &NodeRef<'_>) {
    node.update(|inner| {
        if let NodeData::Text { contents } = &mut inner.data
            && let Cow::Owned(visible) = visible_text(contents)
        {
            *contents = visible.into();
        }
    });
}

struct View {
    sheet: Sheet,
    has_foreign_sheets: bool,
}

/// What the elements around a text say about how it looks.
#[derive(Clone, Copy)]
struct Around {
    text: TextColor,
    background: Background,
    size: Size,
}

impl Default for Around {
    fn default() -> Self {
        Self { text: TextColor::Unknown, background: Background::Inherited, size: Size::Seen }
    }
}

impl Around {
    fn add(&mut self, look: &Look<'_>) {
        self.size = look.size().unwrap_or(self.size);
        match look.color() {
            TextColor::Inherited => {}
            color => self.text = color,
        }
        match look.background() {
            Background::Inherited => {}
            background => self.background = background,
        }
    }

    /// Whether letters are too small here, or have the colour of what is behind them.
    fn hides_text(&self, view: &View) -> bool {
        let background = match self.background {
            Background::Color(color) => Some(color),
            // Nothing in the page sets one, so that it is white, unless a sheet from elsewhere does.
            Background::Inherited if !view.has_foreign_sheets => Some(Color::WHITE),
            Background::Inherited | Background::Unknown => None,
        };
        let vanishes = match (self.text, background) {
            (TextColor::Clear, _) => true,
            (TextColor::Color(text), Some(background)) => text.vanishes_on(background),
            _ => false,
        };
        self.size == Size::Tiny || vanishes
    }
}

impl View {
    fn hides(&self, node: &NodeRef<'_>, element: &Element, around: &mut Around) -> bool {
        let name = &*element.name.local;
        if matches!(name, "html" | "body") {
            // Scripts show a body that waits for them; what it says about its texts holds.
            self.look(node, element, around);
            return false;
        }
        if is_never_text(name) || is_hidden_by_attribute(name, element) {
            return true;
        }
        if is_decoration(node, element) {
            return true;
        }
        self.look(node, element, around)
    }

    /// Whether its styles hide it; and what they say about the texts in it.
    fn look(&self, node: &NodeRef<'_>, element: &Element, around: &mut Around) -> bool {
        let from_sheet = self.sheet.matching(node, element);
        let inline = declarations(&presentation(element));
        if from_sheet.is_empty() && inline.is_empty() {
            return false;
        }
        let mut look = Look::default();
        from_sheet.into_iter().chain(&inline).for_each(|declaration| look.add(declaration));
        around.add(&look);
        look.is_hidden()
    }
}

/// The style attribute, with the old attributes that mean the same before it.
fn presentation(element: &Element) -> String {
    let mut style = String::new();
    for attribute in &element.attrs {
        match &*attribute.name.local {
            "style" => style.push_str(&attribute.value),
            "bgcolor" => style.insert_str(0, &format!("background:{};", &attribute.value)),
            "color" if &*element.name.local == "font" => {
                style.insert_str(0, &format!("color:{};", &attribute.value));
            }
            _ => {}
        }
    }
    style
}

fn attribute<'a>(element: &'a Element, name: &str) -> Option<&'a str> {
    element.attrs.iter().find(|attr| *attr.name.local == *name).map(|attr| &*attr.value)
}

fn is_never_text(name: &str) -> bool {
    matches!(
        name,
        "script"
            | "style"
            | "template"
            | "svg"
            | "canvas"
            | "audio"
            | "video"
            | "object"
            | "embed"
            | "applet"
            | "map"
            | "datalist"
            | "noframes"
            | "noembed"
            | "param"
    )
}

fn is_hidden_by_attribute(name: &str, element: &Element) -> bool {
    let has = |name| attribute(element, name).is_some();
    has("hidden")
        || (matches!(name, "dialog") && !has("open"))
        || (name == "input" && attribute(element, "type").is_some_and(|kind| kind == "hidden"))
        || attribute(element, "class").is_some_and(is_hidden_by_class)
}

/// Classes that mean "not on the screen" wherever they are used, mostly through sheets that are not
/// in the page.
fn is_hidden_by_class(classes: &str) -> bool {
    let mut hidden = false;
    for class in classes.split_ascii_whitespace() {
        match class {
            "sr-only" | "visually-hidden" | "visuallyhidden" | "screen-reader-text"
            | "screen-reader-only" | "screenreader-only" | "offscreen" | "off-screen" => {
                return true;
            }
            "hidden" | "d-none" | "is-hidden" | "u-hidden" => hidden = true,
            // Hidden on a small screen only: `hidden md:block`, `d-none d-md-block`.
            _ if class.contains(":block")
                || class.contains(":flex")
                || class.contains(":grid")
                || class.contains(":inline")
                || class.contains(":table")
                || class.contains(":contents")
                || class.starts_with("d-") =>
            {
                return false;
            }
            _ => {}
        }
    }
    hidden
}

/// `aria-hidden` says that something is not read out. People see it all the same, so that only what
/// holds no paragraph and no heading is taken for decoration; the mark goes from the rest.
fn is_decoration(node: &NodeRef<'_>, element: &Element) -> bool {
    if attribute(element, "aria-hidden") != Some("true") {
        return false;
    }
    let is_prose = |name: &str| {
        matches!(name, "p" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "article" | "main" | "li")
    };
    !is_prose(&element.name.local)
        && !node
            .descendants_it()
            .any(|inner| inner.qual_name_ref().is_some_and(|name| is_prose(&name.local)))
}

/// Closed details show their summary alone.
fn close_details(node: &NodeRef<'_>) {
    if !node.has_name("details") || node.has_attr("open") {
        return;
    }
    let summary = node.children_it(false).find(|child| child.has_name("summary"));
    let kept = summary.map(|summary| summary.id);
    for child in node.children() {
        if Some(child.id) != kept {
            child.remove_from_parent();
        }
    }
}

fn read_sheet(dom: &Document) -> Sheet {
    let texts: Vec<_> = dom
        .root()
        .descendants_it()
        .filter(|node| node.has_name("style"))
        .map(|node| node.text())
        .collect();
    Sheet::read(texts.iter().map(|text| &**text))
}

fn has_foreign_sheets(dom: &Document) -> bool {
    dom.root().descendants_it().any(|node| {
        node.has_name("link")
            && node.attr("rel").is_some_and(|rel| rel.to_ascii_lowercase().contains("stylesheet"))
    })
}
