//! The style sheets that stand in the page, as far as they can hide something. Where there is more
//! than can be read or compared, what may be hidden is, and the sheet says so. Sheets that would have
//! to be fetched are not read.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;

use dom_query::{Element, NodeRef};
use html5ever::Attribute;

use super::animation::Keyframes;
use super::css::{plain, split_outside};
use super::media_query;
use super::selector::{Budget, Scripts, Selector, Selectors, Unread};
use super::style::{Declaration, Look, declarations};
use super::variables::Variables;

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
    keyframes: Keyframes,
    scripts: Scripts,
    /// Whether there are others that would have to be fetched.
    has_others: bool,
    is_cut: Cell<bool>,
}

#[derive(Debug)]
struct Rule {
    selector: Selector,
    declarations: Arc<[Declaration]>,
}

/// A block that is not closed yet.
struct Open {
    kind: Kind,
    /// How many rules are around it.
    rules: usize,
    /// What it says, if it says anything.
    look: Option<Box<Look>>,
}

#[derive(Clone)]
enum Kind {
    /// Nothing in it counts.
    Skipped,
    /// A condition that holds: what is in it is for whom it was for before.
    Group(Option<Selectors>),
    /// For these, and for those with these keys if nobody knows better.
    Rule(Selectors, Vec<String>),
    /// A rule in too many rules, or in one for nobody knows whom. The keys of those it may be for.
    Unread(Vec<String>),
    Keyframes(Arc<str>),
    Frame {
        name: Arc<str>,
        head: String,
    },
}

impl Kind {
    fn selectors(&self) -> Option<&Selectors> {
        match self {
            Self::Group(selectors) => selectors.as_ref(),
            Self::Rule(selectors, _) => Some(selectors),
            _ => None,
        }
    }
}

impl Sheet {
    /// Reads the texts of all sheets, in their order; [`plain`] has read them. Values that the rules
    /// ask for are in `variables`.
    pub(crate) fn read(texts: &[String], variables: Variables, scripts: Scripts) -> Self {
        let mut sheet =
            Self { budget: Budget::new(MOST_COMPARISONS), variables, scripts, ..Self::default() };
        sheet.is_cut.set(sheet.variables.is_cut);
        for text in texts {
            sheet.read_rules(text);
        }
        sheet
    }

    /// The same sheet, beside others that would have to be fetched, if there are any.
    pub(crate) fn beside_others(self, has_others: bool) -> Self {
        Self { has_others, ..self }
    }

    /// Whether nothing but this sheet says how the page looks.
    pub(crate) fn is_alone(&self) -> bool {
        !self.has_others
    }

    /// What a `style` attribute says.
    pub(crate) fn inline(&self, style: &str) -> Vec<Declaration> {
        declarations(style, &self.variables)
    }

    /// Whether a `style` attribute alone hides its element.
    pub(crate) fn hides_inline(&self, style: &str) -> bool {
        let mut variables = Variables::default();
        variables.read(&plain(style));
        [&variables, &self.variables].iter().any(|variables| {
            Look::of(&declarations(style, variables)).settled(&self.keyframes).hides_alone()
        })
    }

    pub(crate) fn keyframes(&self) -> &Keyframes {
        &self.keyframes
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
            let declarations = self.rules[at].declarations.iter();
            declarations.for_each(|declaration| look.add(declaration.clone()));
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
                let look = || Look::of(&rule.declarations).settled(&self.keyframes);
                if may && look().hides_alone() {
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
                    if byte == b'{' {
                        open.push(self.enter(piece, open.last()));
                        continue;
                    }
                    if let Some(block) = open.last_mut() {
                        block.declare(piece, &self.variables);
                    }
                    if byte == b'}'
                        && let Some(block) = open.pop()
                    {
                        self.add(block);
                    }
                }
                _ => {}
            }
        }
        // What is open at the end is closed there.
        if let Some(block) = open.last_mut() {
            block.declare(&text[from..], &self.variables);
        }
        while let Some(block) = open.pop() {
            self.add(block);
        }
    }

    fn enter(&mut self, head: &str, outer: Option<&Open>) -> Open {
        let rules = outer.map_or(0, |outer| outer.rules);
        let block = |kind| Open { kind, rules, look: None };
        match outer.map(|outer| &outer.kind) {
            Some(Kind::Skipped | Kind::Frame { .. }) => return block(Kind::Skipped),
            Some(Kind::Keyframes(name)) => {
                return block(Kind::Frame { name: name.clone(), head: head.to_owned() });
            }
            _ => {}
        }
        let around = outer.and_then(|outer| outer.kind.selectors());
        if head.starts_with('@') {
            if let Some(name) = media_query::keyframes(head) {
                return block(Kind::Keyframes(self.keyframes.open(name).into()));
            }
            return block(match (media_query::is_entered(head), outer.map(|outer| &outer.kind)) {
                (true, Some(Kind::Unread(keys))) => Kind::Unread(keys.clone()),
                (true, _) => Kind::Group(around.cloned()),
                (false, _) => Kind::Skipped,
            });
        }
        let rule = |kind| Open { kind, rules: rules + 1, look: None };
        let is_in_unread = match outer.map(|outer| &outer.kind) {
            Some(Kind::Unread(_)) => true,
            Some(Kind::Rule(_, unread)) => !unread.is_empty(),
            _ => false,
        };
        if rules >= MOST_NESTED || is_in_unread {
            return rule(Kind::Unread(Selector::keys_of(head)));
        }
        let mut selectors = Vec::new();
        let mut unread = Vec::new();
        for selector in split_outside(head, |c| c == ',') {
            match Selector::read(selector, around, self.scripts) {
                Ok(selector) => selectors.push(selector),
                Err(Unread::NotKnown) => unread.extend(Selector::keys_of(selector)),
                Err(Unread::NeverHolds) => {}
            }
        }
        rule(Kind::Rule(selectors.into(), unread))
    }

    fn add(&mut self, block: Open) {
        let Some(look) = block.look else { return };
        // Frames may come later than what they are for.
        let hides = look.hides_alone() || look.is_animated();
        let (selectors, unread) = match block.kind {
            Kind::Group(Some(selectors)) => (selectors, Vec::new()),
            Kind::Rule(selectors, unread) => (selectors, unread),
            Kind::Unread(unread) => (Selectors::default(), unread),
            Kind::Frame { name, head } => {
                if !self.keyframes.add(&name, &head, &look) {
                    self.is_cut.set(true);
                }
                return;
            }
            Kind::Group(None) | Kind::Skipped | Kind::Keyframes(_) => return,
        };
        if hides && !unread.is_empty() {
            self.is_cut.set(true);
            self.beyond.extend(unread.iter().map(|key| self.hasher.hash_one(key.as_str())));
        }
        let declarations: Arc<[Declaration]> = look.declarations().collect();
        if declarations.is_empty() {
            return;
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

impl Open {
    fn declare(&mut self, piece: &str, variables: &Variables) {
        let counts = match &self.kind {
            Kind::Skipped | Kind::Keyframes(_) | Kind::Group(None) => false,
            Kind::Group(Some(_)) | Kind::Rule(..) | Kind::Unread(_) | Kind::Frame { .. } => true,
        };
        if counts && piece.contains(':') {
            self.look.get_or_insert_default().read(piece, variables);
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
/// How many rules may stand in each other. Conditions around them do not count.
const MOST_NESTED: usize = 32;
const MOST_COMPARISONS: u32 = 8_000_000;
