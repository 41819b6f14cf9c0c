//! The style sheets that stand in the page, as far as they can hide something. Selectors with
//! siblings or states are not read, and sheets that would have to be fetched are not either.

use std::cell::Cell;
use std::collections::HashMap;

use dom_query::{Element, NodeRef};

use super::style::{Declaration, declarations, without_comments};

/// Rules that say something about what is seen.
#[derive(Debug, Default)]
pub(crate) struct Sheet {
    rules: Vec<Rule>,
    /// Which rules can match an element, by its id (`#x`), one of its classes (`.x`) or its name.
    by_key: HashMap<String, Vec<usize>>,
    /// How much more may be compared. A page cannot make us do more.
    budget: Cell<u32>,
}

#[derive(Debug)]
struct Rule {
    /// From the element outwards.
    selector: Vec<(Relation, Compound)>,
    specificity: u32,
    declarations: Vec<Declaration>,
}

/// How an element stands to the one that was named after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    Itself,
    Parent,
    Ancestor,
}

#[derive(Debug, Default)]
struct Compound {
    name: Option<String>,
    id: Option<String>,
    classes: Vec<String>,
    attributes: Vec<(String, Option<String>)>,
}

impl Sheet {
    /// Reads the text of all `style` elements, in their order.
    pub(crate) fn read<'a>(texts: impl Iterator<Item = &'a str>) -> Self {
        let mut sheet = Self { budget: Cell::new(MOST_COMPARISONS), ..Self::default() };
        let mut room = MOST_TEXT;
        for text in texts {
            let text = &text[..text.floor_char_boundary(room.min(text.len()))];
            room -= text.len();
            sheet.read_rules(&without_comments(text));
        }
        sheet
    }

    /// The declarations that hold for an element, the strongest last.
    pub(crate) fn matching(&self, node: &NodeRef<'_>, element: &Element) -> Vec<&Declaration> {
        if self.rules.is_empty() {
            return Vec::new();
        }
        let mut found: Vec<usize> = Vec::new();
        let mut look_up = |key: &str| {
            for at in self.by_key.get(key).into_iter().flatten() {
                if self.spend() && self.rules[*at].matches(node, element, self) {
                    found.push(*at);
                }
            }
        };
        look_up("*");
        look_up(&element.name.local);
        for attribute in &element.attrs {
            match &*attribute.name.local {
                "id" => look_up(&format!("#{}", &attribute.value)),
                "class" => attribute
                    .value
                    .split_ascii_whitespace()
                    .take(MOST_CLASSES)
                    .for_each(|class| look_up(&format!(".{class}"))),
                _ => {}
            }
        }
        found.sort_by_key(|at| (self.rules[*at].specificity, *at));
        found.dedup();
        found.iter().flat_map(|at| &self.rules[*at].declarations).collect()
    }

    fn spend(&self) -> bool {
        let left = self.budget.get();
        self.budget.set(left.saturating_sub(1));
        left > 0
    }

    fn read_rules(&mut self, text: &str) {
        let mut rest = text;
        // Blocks that are entered are read as if they stood outside; their closing brace then
        // begins the next selector and is cut off there.
        while let Some(open) = rest.find('{') {
            let head = rest[..open].trim_start_matches(['}', ' ', '\n', '\r', '\t', ';']);
            let head = head.rsplit(';').next().unwrap_or(head).trim();
            if head.starts_with('@') {
                rest = match is_entered(head) {
                    true => &rest[open + 1..],
                    false => &rest[block_end(rest, open)..],
                };
                continue;
            }
            let end = rest[open..].find('}').map_or(rest.len(), |at| open + at);
            self.add(head, &rest[open + 1..end]);
            rest = rest.get(end + 1..).unwrap_or_default();
        }
    }

    fn add(&mut self, selectors: &str, body: &str) {
        let declarations = declarations(body);
        if declarations.is_empty() {
            return;
        }
        for selector in selectors.split(',').filter_map(read_selector).take(MOST_SELECTORS) {
            if self.rules.len() >= MOST_RULES {
                return;
            }
            let Some((_, last)) = selector.first() else { continue };
            let rules = self.by_key.entry(last.key()).or_default();
            if rules.len() < MOST_RULES_OF_A_KEY {
                rules.push(self.rules.len());
                self.rules.push(Rule {
                    specificity: selector.iter().map(|(_, part)| part.specificity()).sum(),
                    declarations: declarations.clone(),
                    selector,
                });
            }
        }
    }
}

impl Rule {
    fn matches(&self, node: &NodeRef<'_>, element: &Element, sheet: &Sheet) -> bool {
        let mut at = *node;
        for (relation, part) in &self.selector {
            let found = match relation {
                Relation::Itself => part.matches(element),
                Relation::Parent => step(&mut at) && matches_node(part, &at),
                Relation::Ancestor => loop {
                    if !sheet.spend() || !step(&mut at) {
                        break false;
                    }
                    if matches_node(part, &at) {
                        break true;
                    }
                },
            };
            if !found {
                return false;
            }
        }
        true
    }
}

fn step(at: &mut NodeRef<'_>) -> bool {
    match at.parent() {
        Some(parent) => {
            *at = parent;
            true
        }
        None => false,
    }
}

fn matches_node(part: &Compound, node: &NodeRef<'_>) -> bool {
    node.element_ref().is_some_and(|element| part.matches(&element))
}

impl Compound {
    fn key(&self) -> String {
        match (&self.id, self.classes.first(), &self.name) {
            (Some(id), _, _) => format!("#{id}"),
            (None, Some(class), _) => format!(".{class}"),
            (None, None, Some(name)) => name.clone(),
            (None, None, None) => "*".to_owned(),
        }
    }

    fn specificity(&self) -> u32 {
        let classes = self.classes.len() + self.attributes.len();
        u32::from(self.id.is_some()) * 10_000
            + u32::try_from(classes).unwrap_or(99).min(99) * 100
            + u32::from(self.name.is_some())
    }

    fn matches(&self, element: &Element) -> bool {
        let attribute = |name: &str| {
            element.attrs.iter().find(|attr| *attr.name.local == *name).map(|attr| &*attr.value)
        };
        self.name.as_ref().is_none_or(|name| *element.name.local == **name)
            && self.id.as_ref().is_none_or(|id| attribute("id") == Some(id))
            && self.classes.iter().all(|class| {
                attribute("class")
                    .is_some_and(|held| held.split_ascii_whitespace().any(|word| word == class))
            })
            && self.attributes.iter().all(|(name, value)| match (attribute(name), value) {
                (Some(held), Some(value)) => held == value,
                (Some(_), None) => true,
                (None, _) => false,
            })
    }
}

/// A selector of names, ids, classes and attributes, joined by white space and `>`.
fn read_selector(text: &str) -> Option<Vec<(Relation, Compound)>> {
    let spaced = text.replace('>', " > ");
    let mut parts = Vec::new();
    let mut relation = Relation::Itself;
    for word in spaced.split_ascii_whitespace().rev() {
        if word == ">" {
            relation = Relation::Parent;
            continue;
        }
        parts.push((relation, read_compound(word)?));
        relation = Relation::Ancestor;
        if parts.len() > MOST_PARTS {
            return None;
        }
    }
    (!parts.is_empty()).then_some(parts)
}

fn read_compound(word: &str) -> Option<Compound> {
    let mut compound = Compound::default();
    let mut rest = word;
    loop {
        let mark = rest.chars().next()?;
        if mark == '[' {
            let (inside, after) = rest[1..].split_once(']')?;
            let (name, value) = match inside.split_once('=') {
                Some((name, value)) => (name, Some(value.trim_matches(['"', '\'']).to_owned())),
                None => (inside, None),
            };
            // `~=`, `^=` and their like are left alone.
            if !name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_')) {
                return None;
            }
            compound.attributes.push((name.to_ascii_lowercase(), value));
            rest = after;
        } else {
            let start = usize::from(matches!(mark, '.' | '#'));
            let end = rest[start..].find(['.', '#', '[', ':']).map_or(rest.len(), |at| at + start);
            let name = &rest[start..end];
            if name.is_empty() || !name.chars().all(is_name) {
                return None;
            }
            match mark {
                '.' => compound.classes.push(name.to_owned()),
                '#' => compound.id = Some(name.to_owned()),
                _ if name == "*" => {}
                _ => compound.name = Some(name.to_ascii_lowercase()),
            }
            rest = &rest[end..];
        }
        if rest.is_empty() {
            return Some(compound);
        }
    }
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '-' | '_' | '*') || !c.is_ascii()
}

/// Whether the rules in this block hold on an ordinary screen.
fn is_entered(head: &str) -> bool {
    let mut words = head.split([' ', '(', '\t', '\n']).filter(|word| !word.is_empty());
    match words.next().map(str::to_ascii_lowercase).as_deref() {
        Some("@media") => {
            let query = head[6..].trim().to_ascii_lowercase();
            query.split(',').any(|query| matches!(query.trim(), "all" | "screen" | "only screen"))
        }
        Some("@supports" | "@layer" | "@container") => true,
        _ => false,
    }
}

/// Behind the block that opens at `open`.
fn block_end(text: &str, open: usize) -> usize {
    let mut depth = 0_u32;
    for (at, byte) in text.bytes().enumerate().skip(open) {
        match byte {
            b'{' => depth += 1,
            b'}' if depth == 1 => return at + 1,
            b'}' => depth -= 1,
            _ => {}
        }
    }
    text.len()
}

/// Sheets in pages are shorter; long ones are files of their own.
const MOST_TEXT: usize = 512 * 1024;
const MOST_RULES: usize = 4_000;
const MOST_RULES_OF_A_KEY: usize = 128;
const MOST_SELECTORS: usize = 200;
const MOST_PARTS: usize = 8;
const MOST_CLASSES: usize = 64;
const MOST_COMPARISONS: u32 = 4_000_000;
