//! Selectors of CSS: reading them, and whether an element matches. States that a person brings about,
//! like `:hover`, never hold; what a selector is for it does not know.

use std::cell::Cell;
use std::sync::Arc;

use dom_query::{Element, NodeRef};
use html5ever::Attribute;

use super::css::{real, split_outside};

/// How much may be compared. A page cannot make us do more.
#[derive(Debug, Default)]
pub(super) struct Budget(Cell<u32>);

impl Budget {
    pub(super) fn new(steps: u32) -> Self {
        Self(Cell::new(steps))
    }

    pub(super) fn spend(&self, steps: u32) -> bool {
        let left = self.0.get();
        self.0.set(left.saturating_sub(steps));
        left > steps
    }

    pub(super) fn is_spent(&self) -> bool {
        self.0.get() == 0
    }
}

/// One selector, from the element outwards. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Selector {
    parts: Arc<[(Relation, Compound)]>,
    pub(super) specificity: u32,
}

pub(super) type Selectors = Arc<[Selector]>;

/// Why there is no selector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unread {
    /// It holds when somebody does something, or is of no element, or is none at all.
    NeverHolds,
    /// It may hold.
    NotKnown,
}

/// Whether the page has scripts, which may define elements of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Scripts {
    #[default]
    Absent,
    Present,
}

/// How an element stands to the one that was named after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    Itself,
    Parent,
    Ancestor,
    Previous,
    Earlier,
}

#[derive(Debug, Default)]
struct Compound {
    name: Option<String>,
    ids: Vec<String>,
    classes: Vec<String>,
    attributes: Vec<Test>,
    places: Vec<Place>,
    any: Vec<Selectors>,
    none: Vec<Selectors>,
    /// What must stand below it, beside it or behind it.
    has: Vec<Vec<(Relation, Selectors)>>,
    is_root: bool,
    is_empty: bool,
    /// Of a kind that a browser knows without scripts.
    is_defined: bool,
    specificity: u32,
}

#[derive(Debug)]
struct Test {
    name: String,
    operator: Option<char>,
    value: String,
}

/// Which child: `an + b`.
#[derive(Clone, Debug)]
struct Place {
    a: i32,
    b: i32,
    from_end: bool,
    of_type: bool,
    /// Only children that match are counted.
    of: Option<Selectors>,
}

impl Selector {
    /// Reads one selector; `&` in it, or what is around it, is `outer`.
    pub(super) fn read(
        text: &str,
        outer: Option<&Selectors>,
        scripts: Scripts,
    ) -> Result<Self, Unread> {
        Reader { outer, depth: 0, scripts }.selector(text)
    }

    /// The keys of a list of selectors that cannot be read whole. Those that never hold have none.
    pub(super) fn keys_of(list: &str) -> Vec<String> {
        let mut keys = Vec::new();
        for text in split_outside(list, |c| c == ',') {
            let is_between = |c: char| c.is_ascii_whitespace() || matches!(c, '>' | '+' | '~');
            let last = split_outside(text.trim(), is_between).last().unwrap_or_default();
            let last = split_outside(last, |c| c == ':').next().unwrap_or_default();
            match Self::read(text, None, Scripts::Absent) {
                Err(Unread::NeverHolds) if !text.trim_start().starts_with(is_between) => {}
                _ => keys.push(
                    Self::read(last, None, Scripts::Absent).map_or("*".into(), |it| it.key()),
                ),
            }
        }
        keys
    }

    /// What an element must have: its id (`#x`), one of its classes (`.x`), its name, or nothing.
    pub(super) fn key(&self) -> String {
        let Some((_, last)) = self.parts.first() else { return "*".to_owned() };
        match (last.ids.first(), last.classes.first(), &last.name) {
            (Some(id), _, _) => format!("#{id}"),
            (None, Some(class), _) => format!(".{class}"),
            (None, None, Some(name)) => name.clone(),
            (None, None, None) => "*".to_owned(),
        }
    }

    pub(super) fn matches(&self, node: &NodeRef<'_>, element: &Element, budget: &Budget) -> bool {
        let Some((_, last)) = self.parts.first() else { return false };
        last.matches(node, element, budget) && self.matches_from(1, node, budget)
    }

    /// Whether an element matches that stands nowhere yet: what is around it counts as if it did.
    pub(super) fn may_match(&self, name: &str, attributes: &[Attribute]) -> bool {
        self.parts.first().is_some_and(|(_, last)| {
            last.has(name, attributes)
                && last
                    .any
                    .iter()
                    .all(|list| list.iter().any(|one| one.may_match(name, attributes)))
        })
    }

    fn matches_from(&self, at: usize, node: &NodeRef<'_>, budget: &Budget) -> bool {
        let Some((relation, part)) = self.parts.get(at) else { return true };
        let is_long = matches!(relation, Relation::Ancestor | Relation::Earlier);
        let mut around = *node;
        loop {
            let next = match relation {
                Relation::Itself => Some(around),
                Relation::Parent | Relation::Ancestor => around.parent(),
                Relation::Previous | Relation::Earlier => previous(&around, budget),
            };
            let Some(next) = next else { return false };
            around = next;
            if !budget.spend(1) {
                return false;
            }
            let fits = around.element_ref().is_some_and(|it| part.matches(&around, &it, budget));
            if fits && self.matches_from(at + 1, &around, budget) {
                return true;
            }
            // Whatever is around the next one that fits is around this one, too.
            let is_same = self.parts.get(at + 1).is_none_or(|(next, _)| next == relation);
            if !is_long || (fits && is_same) {
                return false;
            }
        }
    }
}

fn previous<'a>(node: &NodeRef<'a>, budget: &Budget) -> Option<NodeRef<'a>> {
    let mut at = node.prev_sibling()?;
    while !at.is_element() {
        if !budget.spend(1) {
            return None;
        }
        at = at.prev_sibling()?;
    }
    Some(at)
}

impl Compound {
    fn matches(&self, node: &NodeRef<'_>, element: &Element, budget: &Budget) -> bool {
        let holds = |list: &Selectors| list.iter().any(|one| one.matches(node, element, budget));
        self.has(&element.name.local, &element.attrs)
            && (!self.is_root || node.parent().is_none_or(|parent| !parent.is_element()))
            && (!self.is_empty || node.children_it(false).next().is_none())
            && self.places.iter().all(|place| place.holds(node, element, budget))
            && self.any.iter().all(holds)
            && !self.none.iter().any(holds)
            && self
                .has
                .iter()
                .all(|ways| ways.iter().any(|(relation, list)| has(node, *relation, list, budget)))
    }

    fn has(&self, name: &str, attributes: &[Attribute]) -> bool {
        let attribute = |name: &str| {
            attributes.iter().find(|attr| *attr.name.local == *name).map(|attr| &*attr.value)
        };
        self.name.as_ref().is_none_or(|own| own == name)
            && (!self.is_defined || !name.contains('-'))
            && self.ids.iter().all(|id| attribute("id") == Some(id))
            && (self.classes.is_empty()
                || attribute("class").is_some_and(|held| {
                    let has = |class: &String| held.split_ascii_whitespace().any(|it| it == class);
                    self.classes.iter().all(has)
                }))
            && self
                .attributes
                .iter()
                .all(|test| attribute(&test.name).is_some_and(|it| test.holds(it)))
    }
}

/// Whether one of these stands to an element like this.
fn has(node: &NodeRef<'_>, relation: Relation, list: &Selectors, budget: &Budget) -> bool {
    let fits = |at: &NodeRef<'_>| {
        budget.spend(1)
            && at
                .element_ref()
                .is_some_and(|element| list.iter().any(|one| one.matches(at, &element, budget)))
    };
    let mut siblings = std::iter::successors(node.next_sibling(), NodeRef::next_sibling);
    match relation {
        Relation::Parent => node.children_it(false).any(|at| fits(&at)),
        Relation::Previous => siblings.find(NodeRef::is_element).is_some_and(|at| fits(&at)),
        Relation::Earlier => siblings.any(|at| fits(&at)),
        Relation::Ancestor | Relation::Itself => {
            for at in node.descendants_it() {
                if fits(&at) {
                    return true;
                }
                if budget.is_spent() {
                    return false;
                }
            }
            false
        }
    }
}

impl Test {
    fn holds(&self, held: &str) -> bool {
        // Which attributes are compared by case is nobody's secret, but a long list.
        let (held, value) = (held.to_ascii_lowercase(), self.value.to_ascii_lowercase());
        let value = value.as_str();
        match self.operator {
            None => true,
            Some('=') => held == value,
            _ if value.is_empty() => false,
            Some('~') => held.split_ascii_whitespace().any(|word| word == value),
            Some('^') => held.starts_with(value),
            Some('$') => held.ends_with(value),
            Some('*') => held.contains(value),
            Some('|') => held
                .strip_prefix(value)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('-')),
            Some(_) => false,
        }
    }
}

impl Place {
    fn holds(&self, node: &NodeRef<'_>, element: &Element, budget: &Budget) -> bool {
        let is_of = |at: &NodeRef<'_>, it: &Element| {
            self.of.as_ref().is_none_or(|list| list.iter().any(|one| one.matches(at, it, budget)))
        };
        if !is_of(node, element) {
            return false;
        }
        let mut at = *node;
        let mut count: i32 = 1;
        loop {
            let next = if self.from_end { at.next_sibling() } else { at.prev_sibling() };
            let Some(next) = next else { break };
            if !budget.spend(1) {
                return false;
            }
            at = next;
            let counts = at
                .element_ref()
                .is_some_and(|it| (!self.of_type || it.name == element.name) && is_of(&at, &it));
            count += i32::from(counts);
        }
        match self.a {
            0 => count == self.b,
            a => (count - self.b) % a == 0 && (count - self.b) / a >= 0,
        }
    }

    /// `2n+1`, `odd`, `-n + 3`, `4`.
    fn read(text: &str, from_end: bool, of_type: bool) -> Option<Self> {
        let text: String = text.chars().filter(|c| !c.is_ascii_whitespace()).collect();
        let number = |text: &str| match text {
            "" | "+" => Some(1),
            "-" => Some(-1),
            text => text.parse::<i32>().ok().filter(|number| number.abs() < 1_000_000),
        };
        let (a, b) = match text.to_ascii_lowercase().as_str() {
            "odd" => (2, 1),
            "even" => (2, 0),
            text => match text.split_once('n') {
                Some((a, "")) => (number(a)?, 0),
                Some((a, b)) => (number(a)?, number(b)?),
                None => (0, number(text)?),
            },
        };
        Some(Self { a, b, from_end, of_type, of: None })
    }
}

struct Reader<'a> {
    outer: Option<&'a Selectors>,
    depth: u8,
    scripts: Scripts,
}

impl Reader<'_> {
    fn list(&self, text: &str) -> Result<Vec<Selector>, Unread> {
        if self.depth >= MOST_DEPTH {
            return Err(Unread::NotKnown);
        }
        let inner = Reader { depth: self.depth + 1, ..*self };
        let mut found = Vec::new();
        for part in split_outside(text, |c| c == ',') {
            match inner.selector(part) {
                Ok(selector) => found.push(selector),
                // One that never holds adds nothing.
                Err(Unread::NeverHolds) => {}
                Err(Unread::NotKnown) => return Err(Unread::NotKnown),
            }
        }
        Ok(found)
    }

    fn selector(&self, text: &str) -> Result<Selector, Unread> {
        let mut parts: Vec<(Relation, Compound)> = Vec::new();
        // How the compound that comes next stands to the one before it.
        let mut relation = None;
        let mut rest = text.trim();
        if rest.is_empty() {
            return Err(Unread::NeverHolds);
        }
        let has_outer = self.depth == 0 && self.outer.is_some() && !text.contains('&');
        if let Some(outer) = self.outer.filter(|_| has_outer) {
            parts.push((Relation::Itself, nested(outer)));
            relation = Some(Relation::Ancestor);
        }
        while !rest.is_empty() {
            let mark = match rest.as_bytes()[0] {
                b'>' => Some(Relation::Parent),
                b'+' => Some(Relation::Previous),
                b'~' => Some(Relation::Earlier),
                _ => None,
            };
            if let Some(mark) = mark {
                if parts.is_empty() {
                    return Err(Unread::NeverHolds);
                }
                relation = Some(mark);
                rest = rest[1..].trim_start();
                continue;
            }
            let (compound, length) = self.compound(rest)?;
            // The relation is written down with the one that stands before.
            if let Some(before) = parts.last_mut() {
                before.0 = relation.unwrap_or(Relation::Ancestor);
            }
            parts.push((Relation::Itself, compound));
            relation = None;
            rest = rest[length..].trim_start();
            if parts.len() > MOST_PARTS {
                return Err(Unread::NotKnown);
            }
        }
        if relation.is_some() && !has_outer {
            return Err(Unread::NeverHolds);
        }
        parts.reverse();
        let specificity = parts.iter().map(|(_, part)| part.specificity).sum();
        Ok(Selector { parts: parts.into(), specificity })
    }

    /// The compound at the start of a text, and how long it is.
    fn compound(&self, text: &str) -> Result<(Compound, usize), Unread> {
        let mut compound = Compound::default();
        let mut at = 0;
        while let Some(mark) = text[at..].chars().next() {
            let rest = &text[at..];
            match mark {
                ' ' | '\t' | '\n' | '\r' | '\x0c' | '>' | '+' | '~' => break,
                '*' => at += 1,
                '&' => {
                    if let Some(outer) = self.outer {
                        compound.specificity += most_specific(outer);
                        compound.any.push(outer.clone());
                    } else {
                        compound.is_root = true;
                    }
                    at += 1;
                }
                '.' | '#' => {
                    let name = name_at(&rest[1..]).ok_or(Unread::NeverHolds)?;
                    at += 1 + name.len();
                    compound.specificity += if mark == '.' { 100 } else { 10_000 };
                    let list = if mark == '.' { &mut compound.classes } else { &mut compound.ids };
                    list.push(real(name));
                }
                '[' => {
                    let end = rest.find(']').ok_or(Unread::NeverHolds)?;
                    compound.attributes.push(read_test(&rest[1..end])?);
                    compound.specificity += 100;
                    at += end + 1;
                }
                ':' => at += self.pseudo(rest, &mut compound)?,
                _ => {
                    let name = name_at(rest).ok_or(Unread::NeverHolds)?;
                    at += name.len();
                    // Of a name with a namespace only the name.
                    if text[at..].starts_with('|') {
                        at += 1;
                        continue;
                    }
                    compound.name = Some(real(name).to_ascii_lowercase());
                    compound.specificity += 1;
                }
            }
        }
        if at == 0 { Err(Unread::NeverHolds) } else { Ok((compound, at)) }
    }

    /// Reads `:is(…)` and its like, and says how long that is.
    fn pseudo(&self, text: &str, compound: &mut Compound) -> Result<usize, Unread> {
        let name = name_at(&text[1..]).ok_or(Unread::NeverHolds)?;
        let open = 1 + name.len();
        let inner = match text[open..].starts_with('(') {
            true => split_outside(&text[open + 1..], |c| c == ')').next().unwrap_or_default(),
            false => "",
        };
        let length = match text[open..].starts_with('(') {
            true => (open + inner.len() + 2).min(text.len()),
            false => open,
        };
        let name = real(name).to_ascii_lowercase();
        let place = |from_end, of_type| {
            let (inner, of) = match inner.split_once(" of ") {
                Some((place, of)) => (place, Some(Selectors::from(self.list(of)?))),
                None => (inner, None),
            };
            let place = Place::read(inner, from_end, of_type).ok_or(Unread::NeverHolds)?;
            Ok(Some(Place { of, ..place }))
        };
        if let Some((any, none)) = said_otherwise(&name) {
            compound.any.push(self.list(any)?.into());
            compound.none.push(self.list(none)?.into());
            compound.specificity += 100;
            return Ok(length);
        }
        let only = |text, from_end, of_type| Ok(Place::read(text, from_end, of_type));
        let place: Result<Option<Place>, Unread> = match name.as_str() {
            "is" | "where" | "matches" | "-webkit-any" => {
                let list: Selectors = self.list(inner)?.into();
                if name != "where" {
                    compound.specificity += most_specific(&list);
                }
                compound.any.push(list);
                return Ok(length);
            }
            "not" => {
                let list: Selectors = self.list(inner)?.into();
                compound.specificity += most_specific(&list);
                compound.none.push(list);
                return Ok(length);
            }
            "root" => {
                compound.is_root = true;
                Ok(None)
            }
            "first-child" => only("1", false, false),
            "last-child" => only("1", true, false),
            "first-of-type" => only("1", false, true),
            "last-of-type" => only("1", true, true),
            "only-child" | "only-of-type" => {
                let of_type = name == "only-of-type";
                compound.places.extend(Place::read("1", true, of_type));
                only("1", false, of_type)
            }
            "nth-child" => place(false, false),
            "nth-last-child" => place(true, false),
            "nth-of-type" => place(false, true),
            "nth-last-of-type" => place(true, true),
            "has" => {
                let mut ways = Vec::new();
                for part in split_outside(inner, |c| c == ',') {
                    let part = part.trim();
                    let relation = match part.bytes().next() {
                        Some(b'>') => Relation::Parent,
                        Some(b'+') => Relation::Previous,
                        Some(b'~') => Relation::Earlier,
                        _ => Relation::Ancestor,
                    };
                    let list: Selectors =
                        self.list(part.trim_start_matches(['>', '+', '~']))?.into();
                    ways.push((relation, list));
                }
                let specificity = ways.iter().map(|(_, list)| most_specific(list)).max();
                compound.specificity += specificity.unwrap_or_default();
                compound.has.push(ways);
                return Ok(length);
            }
            "empty" => {
                compound.is_empty = true;
                Ok(None)
            }
            "defined" => {
                compound.is_defined = self.scripts == Scripts::Absent;
                Ok(None)
            }
            "lang" => {
                let language = inner.trim().trim_matches('"').trim_start_matches('*');
                let language = name_at(language).unwrap_or_default();
                compound
                    .any
                    .push(self.list(&format!("[lang|={language}],[lang|={language}] *"))?.into());
                Ok(None)
            }
            "dir" => {
                let list: Selectors = self.list("[dir=rtl],[dir=rtl] *")?.into();
                match inner.trim().eq_ignore_ascii_case("rtl") {
                    true => compound.any.push(list),
                    false => compound.none.push(list),
                }
                Ok(None)
            }
            "scope" => {
                compound.is_root = true;
                Ok(None)
            }
            // What holds when somebody does something, or is of no element; and what no browser knows.
            _ => Err(Unread::NeverHolds),
        };
        compound.places.extend(place?);
        compound.specificity += 100;
        Ok(length)
    }
}

fn nested(outer: &Selectors) -> Compound {
    Compound { specificity: most_specific(outer), any: vec![outer.clone()], ..Compound::default() }
}

fn most_specific(list: &Selectors) -> u32 {
    list.iter().map(|one| one.specificity).max().unwrap_or(0)
}

fn name_at(text: &str) -> Option<&str> {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_') || !c.is_ascii();
    let end = text.find(|c| !is_name(c)).unwrap_or(text.len());
    (end > 0).then(|| &text[..end])
}

/// `name`, `name=value`, `name^="value" i`.
fn read_test(text: &str) -> Result<Test, Unread> {
    let Some((name, value)) = text.split_once('=') else {
        let name = real(name_at(text.trim()).ok_or(Unread::NeverHolds)?).to_ascii_lowercase();
        return Ok(Test { name, operator: None, value: String::new() });
    };
    let (name, operator) = match name.trim_end() {
        name if name.ends_with(['~', '|', '^', '$', '*']) => {
            (&name[..name.len() - 1], name.chars().next_back())
        }
        name => (name, Some('=')),
    };
    let name = real(name_at(name.trim()).ok_or(Unread::NeverHolds)?).to_ascii_lowercase();
    let value = value.trim();
    let value = match value.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next().unwrap_or_default(),
        None => value.split_ascii_whitespace().next().unwrap_or_default(),
    };
    Ok(Test { name, operator, value: real(value) })
}

/// States that fields of forms and their like are in before somebody does something: what an element
/// has to be, and what not.
fn said_otherwise(state: &str) -> Option<(&'static str, &'static str)> {
    Some(match state {
        "any-link" | "link" => ("[href]", ""),
        "checked" => ("input[checked],option[selected]", ""),
        "disabled" => ("[disabled]", ""),
        "enabled" => ("input,button,select,textarea,option,optgroup,fieldset", "[disabled]"),
        "required" => ("[required]", ""),
        "optional" => ("input,select,textarea", "[required]"),
        "valid" => ("input,select,textarea,button,form,fieldset", "[required]"),
        "invalid" => ("[required]", "[value]"),
        "placeholder-shown" => ("[placeholder]", "[value]"),
        "default" => ("[checked],option[selected],button,[type=submit]", ""),
        "read-write" => ("input,textarea,[contenteditable]", "[readonly],[disabled]"),
        "read-only" => ("*", "input,textarea,[contenteditable]"),
        "open" => ("details[open],dialog[open],select[open]", ""),
        _ => return None,
    })
}

const MOST_PARTS: usize = 12;
const MOST_DEPTH: u8 = 6;
