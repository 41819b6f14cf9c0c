//! Takes out of the tree what a person who looks at the page does not see. It believes attributes,
//! inline styles and the sheets of the page; sheets of other files and scripts it does not know.

use std::borrow::Cow;

use dom_query::{Document, Element, NodeData, NodeRef};
use html5ever::{Attribute, ns};

use super::around::Around;
use super::invisible::visible_text;
use super::math;
use super::sheet::{Sheet, Verdict};
use super::style::Look;
use super::table::mark_align;

/// Removes hidden elements and characters, and what is never shown as text. `noscript` stays: whoever looks for
/// signs of a script-made page needs it, and removes it.
pub(crate) fn remove_hidden(dom: &Document, sheet: &Sheet) {
    let view = View { sheet };
    let mut open = vec![(dom.root(), Around::new(sheet))];
    // Elements whose own letters are not seen; others in them may be.
    let mut unseen = Vec::new();
    let mut formulas = Vec::new();
    while let Some((node, around)) = open.pop() {
        let mut around = around;
        if node.is_text() {
            match around.hides_text() {
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
            if around.is_invisible() {
                unseen.push(node);
            }
            node.remove_attr("aria-hidden");
            close_details(&node);
            close_host(&node);
            math::close(&node);
            if node.has_name("math") {
                formulas.push(node);
            }
            if node.has_name("td") || node.has_name("th") {
                mark_align(&node);
            }
        }
        open.extend(node.children_it(true).map(|child| (child, around)));
    }
    // From the inside out, what nothing is left in goes.
    for node in unseen.into_iter().rev() {
        if node.children_it(false).all(|child| is_blank(&child)) && !is_cell(&node) {
            node.remove_from_parent();
        }
    }
    formulas.iter().for_each(math::mark_source);
}

/// Without its cells a table falls apart.
fn is_cell(node: &NodeRef<'_>) -> bool {
    ["td", "th", "html", "body"].iter().any(|name| node.has_name(name))
}

fn is_blank(node: &NodeRef<'_>) -> bool {
    node.query_or(false, |inner| match &inner.data {
        NodeData::Text { contents } => contents.trim().is_empty(),
        _ => false,
    })
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

struct View<'a> {
    sheet: &'a Sheet,
}

impl View<'_> {
    fn hides(&self, node: &NodeRef<'_>, element: &Element, around: &mut Around) -> bool {
        let name = &*element.name.local;
        if matches!(name, "html" | "body") {
            // Scripts show a body that waits for them; what it says about its texts holds.
            self.look(node, element, around);
            around.show();
            return false;
        }
        if is_never_text(name)
            || math::is_hidden(node, element)
            || is_hidden_by_attribute(name, &element.attrs)
        {
            return true;
        }
        if is_decoration(node, element) {
            return true;
        }
        self.look(node, element, around)
    }

    /// Whether its styles hide it; and what they say about the texts in it.
    fn look(&self, node: &NodeRef<'_>, element: &Element, around: &mut Around) -> bool {
        let mut look = Look::default();
        let verdict = self.sheet.add_to(&mut look, node, element);
        let inline = self.sheet.inline(&presentation(element));
        inline.into_iter().for_each(|declaration| look.add(declaration));
        let look = look.settled(self.sheet.keyframes());
        around.add(&look);
        verdict == Verdict::Hidden || look.is_hidden()
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
            name if element.name.ns == ns!(mathml) => {
                let property = match name {
                    "mathcolor" => "color",
                    "mathbackground" => "background",
                    "mathsize" => "font-size",
                    _ => continue,
                };
                style.insert_str(0, &format!("{property}:{};", &attribute.value));
            }
            _ => {}
        }
    }
    style
}

fn attribute<'a>(element: &'a Element, name: &str) -> Option<&'a str> {
    element.attrs.iter().find(|attr| *attr.name.local == *name).map(|attr| &*attr.value)
}

pub(crate) fn is_never_text(name: &str) -> bool {
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

pub(crate) fn is_hidden_by_attribute(name: &str, attributes: &[Attribute]) -> bool {
    let value = |name: &str| {
        attributes.iter().find(|attr| *attr.name.local == *name).map(|attr| &*attr.value)
    };
    let has = |name: &str| value(name).is_some();
    has("hidden")
        // Until somebody presses the button for it.
        || has("popover")
        || (name == "dialog" && !has("open"))
        || (name == "input" && value("type").is_some_and(|it| it.eq_ignore_ascii_case("hidden")))
        || value("class").is_some_and(is_hidden_by_class)
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

/// An element with a shadow shows its children only where the shadow has a slot for them.
fn close_host(node: &NodeRef<'_>) {
    let is_shadow =
        |child: &NodeRef<'_>| child.has_name("template") && child.has_attr("shadowrootmode");
    let Some(shadow) = node.children_it(false).find(is_shadow) else { return };
    let contents = shadow.element_ref().and_then(|element| element.template_contents);
    let contents = contents.and_then(|id| shadow.tree.get(&id)).unwrap_or(shadow);
    let has_slot = contents
        .descendants_it()
        .any(|inner| inner.has_name("slot") && inner.attr("name").is_none_or(|it| it.is_empty()));
    for child in node.children() {
        if !has_slot && !child.has_attr("slot") {
            child.remove_from_parent();
        }
    }
}
