//! GBNF, read and run the way llama.cpp does it: a set of stacks, advanced by one character at a
//! time. Written from the description of the format; it refuses what llama.cpp refuses (unknown
//! escapes, undefined rules, left recursion).

use std::collections::{BTreeSet, HashMap, HashSet};
use std::iter::Peekable;
use std::str::Chars;

pub(super) struct Machine {
    /// Per rule its alternatives, each a row of elements.
    rules: Vec<Vec<Vec<Element>>>,
    root: usize,
}

pub(super) struct Run {
    pub(super) accepted: bool,
    pub(super) most_stacks: usize,
}

#[derive(Clone, Debug)]
enum Element {
    Class { ranges: Vec<(char, char)>, negated: bool },
    Rule(usize),
}

/// Where reading goes on: rule, alternative, element. The innermost place is last.
type Stack = Vec<(usize, usize, usize)>;

impl Machine {
    pub(super) fn new(text: &str) -> Self {
        let mut reader =
            Reader { rest: text.chars().peekable(), rules: Vec::new(), names: HashMap::new() };
        reader.read();
        let root = reader.names["root"];
        for (name, &index) in &reader.names.iter().collect::<std::collections::BTreeMap<_, _>>() {
            assert!(!reader.rules[*index].is_empty(), "rule {name} is used and not defined");
        }
        let machine = Self { rules: reader.rules, root };
        machine.refuse_left_recursion();
        machine
    }

    pub(super) fn run(&self, text: &str) -> Run {
        let mut stacks = BTreeSet::new();
        let mut seen = HashSet::new();
        for alternative in 0..self.rules[self.root].len() {
            self.settle(vec![(self.root, alternative, 0)], &mut stacks, &mut seen);
        }
        let mut most_stacks = stacks.len();
        for c in text.chars() {
            let mut next = BTreeSet::new();
            let mut seen = HashSet::new();
            for stack in &stacks {
                let Some(&(rule, alternative, at)) = stack.last() else { continue };
                let Element::Class { ranges, negated } = &self.rules[rule][alternative][at] else {
                    unreachable!("stacks settle on characters");
                };
                if ranges.iter().any(|&(low, high)| low <= c && c <= high) != *negated {
                    let mut stack = stack.clone();
                    stack.pop();
                    stack.push((rule, alternative, at + 1));
                    self.settle(stack, &mut next, &mut seen);
                }
            }
            stacks = next;
            most_stacks = most_stacks.max(stacks.len());
        }
        Run { accepted: stacks.contains(&Vec::new()), most_stacks }
    }

    /// Follows rules until every stack waits for a character, or is empty.
    fn settle(&self, mut stack: Stack, out: &mut BTreeSet<Stack>, seen: &mut HashSet<Stack>) {
        if !seen.insert(stack.clone()) {
            return;
        }
        let Some((rule, alternative, at)) = stack.pop() else {
            out.insert(stack);
            return;
        };
        match self.rules[rule][alternative].get(at) {
            None => self.settle(stack, out, seen),
            Some(Element::Class { .. }) => {
                stack.push((rule, alternative, at));
                out.insert(stack);
            }
            Some(&Element::Rule(inner)) => {
                // A place at the end of its rule has nothing left to do, so it is not kept.
                if at + 1 < self.rules[rule][alternative].len() {
                    stack.push((rule, alternative, at + 1));
                }
                for alternative in 0..self.rules[inner].len() {
                    let mut stack = stack.clone();
                    stack.push((inner, alternative, 0));
                    self.settle(stack, out, seen);
                }
            }
        }
    }

    fn refuse_left_recursion(&self) {
        let mut nullable = vec![false; self.rules.len()];
        loop {
            let before = nullable.clone();
            for (index, alternatives) in self.rules.iter().enumerate() {
                nullable[index] |= alternatives.iter().any(|row| {
                    row.iter().all(|e| matches!(e, Element::Rule(inner) if before[*inner]))
                });
            }
            if nullable == before {
                break;
            }
        }
        for start in 0..self.rules.len() {
            let mut reached = HashSet::new();
            let mut open = vec![start];
            while let Some(rule) = open.pop() {
                for row in &self.rules[rule] {
                    for element in row {
                        let Element::Rule(inner) = element else { break };
                        assert_ne!(*inner, start, "rule {start} is left-recursive");
                        if reached.insert(*inner) {
                            open.push(*inner);
                        }
                        if !nullable[*inner] {
                            break;
                        }
                    }
                }
            }
        }
    }
}

struct Reader<'t> {
    rest: Peekable<Chars<'t>>,
    rules: Vec<Vec<Vec<Element>>>,
    names: HashMap<String, usize>,
}

impl Reader<'_> {
    fn read(&mut self) {
        self.skip_space(true);
        while self.rest.peek().is_some() {
            let name = self.name();
            self.skip_space(false);
            for expected in "::=".chars() {
                assert_eq!(self.rest.next(), Some(expected), "after {name}");
            }
            self.skip_space(true);
            let rule = self.rule_named(&name);
            assert!(self.rules[rule].is_empty(), "rule {name} is defined twice");
            self.rules[rule] = self.alternatives(false);
            assert!(matches!(self.rest.peek(), None | Some('\n')), "rule {name} goes on");
            self.skip_space(true);
        }
    }

    fn rule_named(&mut self, name: &str) -> usize {
        if let Some(&index) = self.names.get(name) {
            return index;
        }
        self.names.insert(name.to_owned(), self.rules.len());
        self.fresh(Vec::new())
    }

    fn fresh(&mut self, alternatives: Vec<Vec<Element>>) -> usize {
        self.rules.push(alternatives);
        self.rules.len() - 1
    }

    fn name(&mut self) -> String {
        let mut name = String::new();
        while let Some(&c) = self.rest.peek() {
            if !(c.is_ascii_alphanumeric() || c == '-') {
                break;
            }
            name.push(c);
            self.rest.next();
        }
        assert!(!name.is_empty(), "no rule name at {:?}", self.rest.peek());
        name
    }

    fn skip_space(&mut self, newlines: bool) {
        while let Some(&c) = self.rest.peek() {
            match c {
                ' ' | '\t' => {}
                '\n' if newlines => {}
                '#' => {
                    while self.rest.peek().is_some_and(|&c| c != '\n') {
                        self.rest.next();
                    }
                    continue;
                }
                _ => return,
            }
            self.rest.next();
        }
    }

    fn alternatives(&mut self, nested: bool) -> Vec<Vec<Element>> {
        let mut rows = vec![self.sequence(nested)];
        while self.rest.peek() == Some(&'|') {
            self.rest.next();
            self.skip_space(true);
            rows.push(self.sequence(nested));
        }
        rows
    }

    fn sequence(&mut self, nested: bool) -> Vec<Element> {
        let mut row: Vec<Element> = Vec::new();
        // Where the last item starts: an operator behind it repeats all of it.
        let mut last = 0;
        loop {
            match self.rest.peek() {
                Some('"') => {
                    last = row.len();
                    self.rest.next();
                    while self.rest.peek() != Some(&'"') {
                        let c = self.character();
                        row.push(Element::Class { ranges: vec![(c, c)], negated: false });
                    }
                    self.rest.next();
                }
                Some('[') => {
                    last = row.len();
                    let class = self.class();
                    row.push(class);
                }
                Some('(') => {
                    last = row.len();
                    self.rest.next();
                    self.skip_space(true);
                    let rows = self.alternatives(true);
                    assert_eq!(self.rest.next(), Some(')'));
                    let group = self.fresh(rows);
                    row.push(Element::Rule(group));
                }
                Some('?' | '*' | '+') => {
                    let operator = self.rest.next();
                    let item = row.split_off(last);
                    assert!(!item.is_empty(), "nothing to repeat");
                    let repeated = self.fresh(Vec::new());
                    let mut again = item.clone();
                    if operator != Some('?') {
                        again.push(Element::Rule(repeated));
                    }
                    self.rules[repeated] = vec![again, Vec::new()];
                    if operator == Some('+') {
                        row.extend(item);
                    }
                    row.push(Element::Rule(repeated));
                }
                Some(c) if c.is_ascii_alphanumeric() => {
                    last = row.len();
                    let name = self.name();
                    let rule = self.rule_named(&name);
                    row.push(Element::Rule(rule));
                }
                _ => return row,
            }
            self.skip_space(nested);
        }
    }

    fn class(&mut self) -> Element {
        self.rest.next();
        let negated = self.rest.peek() == Some(&'^');
        if negated {
            self.rest.next();
        }
        let mut ranges = Vec::new();
        while self.rest.peek() != Some(&']') {
            let low = self.character();
            let mut high = low;
            if self.rest.peek() == Some(&'-') {
                self.rest.next();
                assert_ne!(self.rest.peek(), Some(&']'), "a dash that ends a class is not used");
                high = self.character();
            }
            assert!(low <= high);
            ranges.push((low, high));
        }
        self.rest.next();
        Element::Class { ranges, negated }
    }

    fn character(&mut self) -> char {
        let c = self.rest.next().unwrap();
        assert_ne!(c, '\n', "a line ends inside a literal");
        if c != '\\' {
            return c;
        }
        match self.rest.next().unwrap() {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'x' => {
                let digits: String = self.rest.by_ref().take(2).collect();
                char::from(u8::from_str_radix(&digits, 16).unwrap())
            }
            c @ ('\\' | '"' | '[' | ']') => c,
            c => panic!("unknown escape \\{c}"),
        }
    }
}
