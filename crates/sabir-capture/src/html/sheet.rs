//! The style sheets that stand in the page, as far as they can hide something. Where there is more
//! than can be read or compared, what may be hidden is, and the sheet says so. Sheets that would have
//! to be fetched are not read.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;

use dom_query::{Element, NodeRef};
use html5ever::Attribute;

use super::css::{plain, split_outside};
use super::media_query;
use super::selector::{Budget, Selector, Selectors, Unread};
use super::style::{Declaration, Look, Variables};

/// Rules that say something about what is seen.
#[derive(Debug, Default)]
pub(crate) struct Sheet {
    rules: Vec<Rule>,
    /// Which rules can match an element, by its key.
    by_key: HashMap<String, Vec<usize>>,
    /// The keys of all rules that hide, for when there is no time to compare.
    hiding: HashSet<u64>,
    /// The keys of rules that hide and were too many to be kept.
    beyond: HashSet<u64>,
    hasher: RandomState,
    budget: Budget,
    variables: Variables,
    is_cut: Cell<bool>,
}

#[derive(Debug)]
struct Rule {
    selector: Selector,
    declarations: Arc<[Declaration]>,
}

/// A block that is not closed yet.
struct Open {
    /// Whom the declarations in it are for; nobody where it is skipped.
    selectors: Option<Selectors>,
    is_skipped: bool,
    /// What hides, but for whom could not be read.
    is_unread: bool,
    look: Look,
}

impl Sheet {
    /// Reads the texts of all `style` elements, in their order. `inline` are the texts of attributes,
    /// which may set variables.
    pub(crate) fn read<'a>(
        texts: impl Iterator<Item = &'a str> + Clone,
        inline: impl Iterator<Item = &'a str>,
    ) -> Self {
        let mut sheet = Self { budget: Budget::new(MOST_COMPARISONS), ..Self::default() };
        let texts: Vec<_> = texts.map(plain).collect();
        for text in &texts {
            sheet.variables.read(text);
        }
        for text in inline.filter(|text| text.contains("--") || text.contains('\\')) {
            sheet.variables.read(&plain(text));
        }
        sheet.is_cut.set(sheet.variables.is_cut);
        for text in &texts {
            sheet.read_rules(text);
        }
        sheet
    }

    pub(crate) fn variables(&self) -> &Variables {
        &self.variables
    }

    /// Whether there was more than could be read or compared.
    pub(crate) fn is_cut(&self) -> bool {
        self.is_cut.get() || self.budget.is_spent()
    }

    /// Adds to `look` what the sheet says about an element, the strongest last.
    pub(crate) fn add_to(&self, look: &mut Look, node: &NodeRef<'_>, element: &Element) -> Verdict {
        if self.rules.is_empty() && self.beyond.is_empty() {
            return Verdict::Known;
        }
        let mut found: Vec<usize> = Vec::new();
        let mut is_hidden = false;
        self.each_key(&element.name.local, &element.attrs, |key| {
            is_hidden |=
                !self.beyond.is_empty() && self.beyond.contains(&self.hasher.hash_one(key));
            for at in self.by_key.get(key).into_iter().flatten() {
                let rule = &self.rules[*at];
                if !self.budget.spend(1 + rule.declarations.len() as u32 / 4) {
                    is_hidden |= self.hiding.contains(&self.hasher.hash_one(key));
                    break;
                }
                if rule.selector.matches(node, element, &self.budget) {
                    found.push(*at);
                }
            }
        });
        if is_hidden {
            return Verdict::Hidden;
        }
        found.sort_by_key(|at| (self.rules[*at].selector.specificity, *at));
        found.dedup();
        for at in found {
            self.rules[at].declarations.iter().for_each(|declaration| look.add(*declaration));
        }
        Verdict::Known
    }

    /// Whether a rule may hide an element that stands nowhere yet.
    pub(crate) fn may_hide(&self, name: &str, attributes: &[Attribute]) -> bool {
        let mut hides = false;
        self.each_key(name, attributes, |key| {
            let hash = self.hasher.hash_one(key);
            hides |= self.beyond.contains(&hash);
            if hides || !self.hiding.contains(&hash) {
                return;
            }
            for at in self.by_key.get(key).into_iter().flatten() {
                let rule = &self.rules[*at];
                let may = !self.budget.spend(1) || rule.selector.may_match(name, attributes);
                if may && Look::of(&rule.declarations).hides_alone() {
                    hides = true;
                    return;
                }
            }
        });
        hides
    }

    fn each_key(&self, name: &str, attributes: &[Attribute], mut look_up: impl FnMut(&str)) {
        look_up("*");
        look_up(name);
        for attribute in attributes {
            match &*attribute.name.local {
                "id" => look_up(&format!("#{}", &attribute.value)),
                "class" => {
                    let mut classes: Vec<&str> = attribute.value.split_ascii_whitespace().collect();
                    classes.sort_unstable();
                    classes.dedup();
                    classes.into_iter().for_each(|class| look_up(&format!(".{class}")));
                }
                _ => {}
            }
        }
    }

    fn read_rules(&mut self, text: &str) {
        let mut open: Vec<Open> = Vec::new();
        let mut from = 0;
        let mut depth = 0_u32;
        for (at, byte) in text.bytes().enumerate() {
            match byte {
                b'(' | b'[' => depth += 1,
                b')' | b']' => depth = depth.saturating_sub(1),
                _ if depth > 0 => {}
                b';' | b'}' | b'{' => {
                    let piece = text[from..at].trim();
                    from = at + 1;
                    match byte {
                        b'{' => open.push(self.enter(piece, open.last())),
                        _ => {
                            if let Some(block) = open.last_mut().filter(|block| !block.is_skipped) {
                                block.look.read(piece, &self.variables);
                            }
                            if byte == b'}'
                                && let Some(block) = open.pop()
                            {
                                self.add(block);
                            }
                        }
                    }
                    if open.len() > MOST_BLOCKS {
                        self.is_cut.set(true);
                        break;
                    }
                }
                _ => {}
            }
        }
        // What is open at the end is closed there.
        if let Some(block) = open.last_mut().filter(|block| !block.is_skipped) {
            block.look.read(&text[from..], &self.variables);
        }
        while let Some(block) = open.pop() {
            self.add(block);
        }
    }

    fn enter(&mut self, head: &str, outer: Option<&Open>) -> Open {
        let around = outer.and_then(|outer| outer.selectors.clone());
        let is_skipped = outer.is_some_and(|outer| outer.is_skipped);
        let block = Open { selectors: None, is_skipped, is_unread: false, look: Look::default() };
        if is_skipped {
            return block;
        }
        if head.starts_with('@') {
            return match media_query::is_entered(head) {
                true => Open { selectors: around, ..block },
                false => Open { is_skipped: true, ..block },
            };
        }
        let mut selectors = Vec::new();
        let mut is_unread = false;
        for selector in split_outside(head, |c| c == ',') {
            match Selector::read(selector, around.as_ref()) {
                Ok(selector) => selectors.push(selector),
                Err(unread) => is_unread |= unread == Unread::NotKnown,
            }
        }
        Open { selectors: Some(selectors.into()), is_unread, ..block }
    }

    fn add(&mut self, block: Open) {
        let Some(selectors) = block.selectors else { return };
        let declarations: Arc<[Declaration]> = block.look.declarations().collect();
        if declarations.is_empty() {
            return;
        }
        let hides = block.look.hides_alone();
        if block.is_unread && hides {
            self.is_cut.set(true);
        }
        for at in 0..selectors.len() {
            let key = selectors[at].key();
            if hides {
                self.hiding.insert(self.hasher.hash_one(key.as_str()));
            }
            if self.rules.len() >= MOST_RULES {
                self.is_cut.set(true);
                if hides {
                    self.beyond.insert(self.hasher.hash_one(key.as_str()));
                }
                continue;
            }
            self.by_key.entry(key).or_default().push(self.rules.len());
            let selector = selectors[at].clone();
            self.rules.push(Rule { selector, declarations: declarations.clone() });
        }
    }
}

/// What a sheet knows of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// All that it says was added.
    Known,
    /// It cannot be said, and it may be hidden.
    Hidden,
}

/// Far more than sheets in pages have; long ones are files of their own.
const MOST_RULES: usize = 20_000;
const MOST_BLOCKS: usize = 32;
const MOST_COMPARISONS: u32 = 8_000_000;
