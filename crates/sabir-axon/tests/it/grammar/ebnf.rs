//! EBNF, read from its text and run by remembering, for every rule and place, where it can end.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::iter::Peekable;
use std::str::Chars;

pub(super) struct Grammar {
    rules: HashMap<String, Expr>,
    start: String,
}

enum Expr {
    Literal(Vec<char>),
    Range(char, char),
    Any,
    Rule(String),
    Sequence(Vec<Expr>),
    Choice(Vec<Expr>),
    Optional(Box<Expr>),
    Many(Box<Expr>),
    Except(Box<Expr>, Box<Expr>),
}

impl Grammar {
    pub(super) fn new(text: &str) -> Self {
        let mut reader = Reader { rest: text.chars().peekable() };
        let mut rules = HashMap::new();
        let mut start = None;
        reader.skip();
        while reader.rest.peek().is_some() {
            let name = reader.name();
            reader.expect('=');
            let body = reader.choice();
            reader.expect(';');
            start.get_or_insert(name.clone());
            assert!(rules.insert(name.clone(), body).is_none(), "{name} is defined twice");
        }
        let grammar = Self { rules, start: start.unwrap() };
        for (_, body) in grammar.rules.iter().collect::<std::collections::BTreeMap<_, _>>() {
            grammar.check_references(body);
        }
        grammar
    }

    pub(super) fn accepts(&self, text: &str) -> bool {
        let run =
            Run { grammar: self, text: text.chars().collect(), ends: RefCell::new(HashMap::new()) };
        run.rule_ends(&self.start, 0).contains(&run.text.len())
    }

    fn check_references(&self, expr: &Expr) {
        match expr {
            Expr::Literal(_) | Expr::Range(..) | Expr::Any => {}
            Expr::Rule(name) => assert!(self.rules.contains_key(name), "{name} is not defined"),
            Expr::Sequence(parts) | Expr::Choice(parts) => {
                parts.iter().for_each(|part| self.check_references(part));
            }
            Expr::Optional(inner) | Expr::Many(inner) => self.check_references(inner),
            Expr::Except(all, gone) => {
                self.check_references(all);
                self.check_references(gone);
            }
        }
    }
}

struct Run<'g> {
    grammar: &'g Grammar,
    text: Vec<char>,
    ends: RefCell<HashMap<(&'g str, usize), BTreeSet<usize>>>,
}

impl<'g> Run<'g> {
    fn rule_ends(&self, name: &'g str, from: usize) -> BTreeSet<usize> {
        if let Some(known) = self.ends.borrow().get(&(name, from)) {
            return known.clone();
        }
        let ends = self.ends(&self.grammar.rules[name], from);
        self.ends.borrow_mut().insert((name, from), ends.clone());
        ends
    }

    fn ends(&self, expr: &'g Expr, from: usize) -> BTreeSet<usize> {
        match expr {
            Expr::Literal(text) => {
                let end = self.text[from..].starts_with(text).then(|| from + text.len());
                end.into_iter().collect()
            }
            Expr::Range(low, high) => {
                let inside = self.text.get(from).is_some_and(|c| (low..=high).contains(&c));
                inside.then(|| from + 1).into_iter().collect()
            }
            Expr::Any => (from < self.text.len()).then(|| from + 1).into_iter().collect(),
            Expr::Rule(name) => self.rule_ends(name, from),
            Expr::Sequence(parts) => parts.iter().fold(BTreeSet::from([from]), |starts, part| {
                starts.into_iter().flat_map(|start| self.ends(part, start)).collect()
            }),
            Expr::Choice(parts) => parts.iter().flat_map(|part| self.ends(part, from)).collect(),
            Expr::Optional(inner) => {
                let mut ends = self.ends(inner, from);
                ends.insert(from);
                ends
            }
            Expr::Many(inner) => {
                let mut ends = BTreeSet::from([from]);
                let mut open = vec![from];
                while let Some(start) = open.pop() {
                    open.extend(
                        self.ends(inner, start).into_iter().filter(|&end| ends.insert(end)),
                    );
                }
                ends
            }
            Expr::Except(all, gone) => {
                let gone = self.ends(gone, from);
                self.ends(all, from).into_iter().filter(|end| !gone.contains(end)).collect()
            }
        }
    }
}

struct Reader<'t> {
    rest: Peekable<Chars<'t>>,
}

impl Reader<'_> {
    /// White space and comments. A comment opens with a bracket, so it is told from a group by
    /// looking one character further.
    fn skip(&mut self) {
        loop {
            while self.rest.peek().is_some_and(|c| c.is_whitespace()) {
                self.rest.next();
            }
            let mut ahead = self.rest.clone();
            if ahead.next() != Some('(') || ahead.next() != Some('*') {
                return;
            }
            let mut last = ' ';
            loop {
                let c = ahead.next().unwrap();
                if last == '*' && c == ')' {
                    break;
                }
                last = c;
            }
            self.rest = ahead;
        }
    }

    fn expect(&mut self, expected: char) {
        assert_eq!(self.rest.next(), Some(expected));
        self.skip();
    }

    fn name(&mut self) -> String {
        let mut name = String::new();
        while let Some(&c) = self.rest.peek() {
            if !(c.is_ascii_alphanumeric() || c == '_') {
                break;
            }
            name.push(c);
            self.rest.next();
        }
        assert!(!name.is_empty(), "no rule name at {:?}", self.rest.peek());
        self.skip();
        name
    }

    fn choice(&mut self) -> Expr {
        let mut parts = vec![self.sequence()];
        while self.rest.peek() == Some(&'|') {
            self.expect('|');
            parts.push(self.sequence());
        }
        Expr::Choice(parts)
    }

    fn sequence(&mut self) -> Expr {
        let mut parts = Vec::new();
        loop {
            let part = match self.rest.peek() {
                None | Some('|' | ')' | ']' | '}' | ';') => return Expr::Sequence(parts),
                Some('-') => {
                    self.expect('-');
                    let all = parts.pop().unwrap();
                    Expr::Except(Box::new(all), Box::new(self.item()))
                }
                Some(_) => self.item(),
            };
            parts.push(part);
        }
    }

    fn item(&mut self) -> Expr {
        match self.rest.peek().unwrap() {
            '(' => self.bracketed('(', ')'),
            '[' => Expr::Optional(Box::new(self.bracketed('[', ']'))),
            '{' => Expr::Many(Box::new(self.bracketed('{', '}'))),
            '"' | '\'' | '?' => {
                let Some(text) = self.terminal() else { return Expr::Any };
                if self.rest.peek() != Some(&'.') {
                    return Expr::Literal(text);
                }
                self.expect('.');
                self.expect('.');
                Expr::Range(text[0], self.terminal().unwrap()[0])
            }
            _ => Expr::Rule(self.name()),
        }
    }

    fn bracketed(&mut self, open: char, close: char) -> Expr {
        self.expect(open);
        let inner = self.choice();
        self.expect(close);
        inner
    }

    /// A quoted text, or a special sequence: a code point, or nothing for "any character".
    fn terminal(&mut self) -> Option<Vec<char>> {
        let quote = self.rest.next().unwrap();
        let mut text = Vec::new();
        loop {
            match self.rest.next().unwrap() {
                c if c == quote => break,
                '\\' => text.push(match self.rest.next().unwrap() {
                    '\\' => '\\',
                    'n' => '\n',
                    'r' => '\r',
                    't' => '\t',
                    c => panic!("unknown escape \\{c}"),
                }),
                c => text.push(c),
            }
        }
        self.skip();
        if quote != '?' {
            return Some(text);
        }
        let text: String = text.into_iter().collect();
        match text.trim().strip_prefix("U+") {
            Some(hex) => Some(vec![char::from_u32(u32::from_str_radix(hex, 16).unwrap()).unwrap()]),
            None => {
                assert_eq!(text.trim(), "any character");
                None
            }
        }
    }
}
