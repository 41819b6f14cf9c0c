//! Inlines in normal form: no mark inside of itself, no empty mark, no white space at the edges of a
//! mark or of the whole, texts and codes that stand side by side are one. It knows no blocks.

use crate::{Inline, MAX_DEPTH, is_safe_href};

/// Whether a line feed in a text is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lines {
    One,
    Several,
}

/// What can be opened around inlines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Mark {
    Strong,
    Em,
    Link {
        href: String,
    },
    /// Around what is kept without a mark.
    Nothing,
}

/// A mark is opened when something is put into it, so that white space that comes first stays
/// outside.
#[derive(Debug)]
pub(crate) struct InlineBuilder {
    lines: Lines,
    /// The marks that were asked for, each with a number of its own.
    asked: Vec<(u64, Mark)>,
    /// The marks that are open: the number, the mark, and what stands before it in what holds it.
    open: Vec<(u64, Mark, Vec<Inline>)>,
    children: Vec<Inline>,
    /// White space that was read and not yet put anywhere.
    space: String,
    next: u64,
    /// How many marks were asked for that are too deep to be kept.
    too_deep: usize,
}

impl InlineBuilder {
    pub(crate) fn new(lines: Lines) -> Self {
        Self {
            lines,
            asked: Vec::new(),
            open: Vec::new(),
            children: Vec::new(),
            space: String::new(),
            next: 0,
            too_deep: 0,
        }
    }

    pub(crate) fn finish(mut self) -> Vec<Inline> {
        self.shut(0);
        self.children
    }

    pub(crate) fn open(&mut self, mark: Mark) {
        if self.too_deep > 0 || self.asked.len() >= MAX_DEPTH {
            self.too_deep += 1;
            return;
        }
        let is_kept = match &mark {
            Mark::Link { href } => is_safe_href(href) && !self.is_in_link(),
            _ => !self.asked.iter().any(|(_, asked)| *asked == mark),
        };
        let mark = if is_kept { mark } else { Mark::Nothing };
        self.asked.push((self.next, mark));
        self.next += 1;
    }

    /// The mark that was asked for last.
    pub(crate) fn close(&mut self) {
        match self.too_deep {
            0 => drop(self.asked.pop()),
            _ => self.too_deep -= 1,
        }
    }

    pub(crate) fn text(&mut self, text: &str) {
        let mut rest = text;
        while !rest.is_empty() {
            let word_at = rest.find(|c| !is_space(c)).unwrap_or(rest.len());
            let (space, from_word) = rest.split_at(word_at);
            space.chars().for_each(|c| self.push_space(c));
            let word_end = from_word.find(is_space).unwrap_or(from_word.len());
            let (word, after) = from_word.split_at(word_end);
            if !word.is_empty() {
                self.arrive();
                self.push_text(word);
            }
            rest = after;
        }
    }

    pub(crate) fn code(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if self.is_in_link() && (text.contains("]:") || text.starts_with(':')) {
            // At the start of a paragraph it would end the label of a definition, even in code.
            self.text(text);
            return;
        }
        self.arrive();
        let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        match self.children.last_mut() {
            Some(Inline::Code { text: before }) => before.push_str(&text),
            _ => self.children.push(Inline::Code { text }),
        }
    }

    fn is_in_link(&self) -> bool {
        self.asked.iter().any(|(_, asked)| matches!(asked, Mark::Link { .. }))
    }

    /// A number that no citation has is dropped. In a link it would be a link in a link: there it
    /// becomes text.
    pub(crate) fn cite(&mut self, reference: u32) {
        if self.is_in_link() {
            self.text(&format!("[{reference}]"));
        } else if reference > 0 {
            self.arrive();
            self.children.push(Inline::Cite { reference });
        }
    }

    fn push_space(&mut self, c: char) {
        let is_line = matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}');
        let c = match self.lines {
            Lines::Several if is_line => '\n',
            _ if is_line || c.is_ascii() => ' ',
            _ => c,
        };
        if c == '\n' {
            self.space.clear();
        }
        if self.space != "\n" && !(c == ' ' && self.space.ends_with(' ')) {
            self.space.push(c);
        }
    }

    fn push_text(&mut self, text: &str) {
        match self.children.last_mut() {
            Some(Inline::Text { text: before }) => before.push_str(text),
            _ => self.children.push(Inline::text(text)),
        }
    }

    /// Makes the open marks those that were asked for, with the white space between.
    fn arrive(&mut self) {
        let asked: Vec<&(u64, Mark)> =
            self.asked.iter().filter(|(_, mark)| *mark != Mark::Nothing).collect();
        let same = self
            .open
            .iter()
            .zip(&asked)
            .take_while(|((open, ..), (asked, _))| open == asked)
            .count();
        let opening: Vec<(u64, Mark)> = asked[same..].iter().map(|&asked| asked.clone()).collect();
        self.shut(same);
        let space = std::mem::take(&mut self.space);
        let is_start = self.open.is_empty() && self.children.is_empty();
        if !space.is_empty() && !is_start {
            self.push_text(&space);
        }
        for (number, mark) in opening {
            // A mark beside one of its kind continues it.
            let inner = match (self.children.pop(), &mark) {
                (Some(Inline::Strong { children }), Mark::Strong)
                | (Some(Inline::Em { children }), Mark::Em) => children,
                (last, _) => {
                    self.children.extend(last);
                    Vec::new()
                }
            };
            let before = std::mem::replace(&mut self.children, inner);
            self.open.push((number, mark, before));
        }
    }

    /// Shuts the open marks behind the first `keep`.
    fn shut(&mut self, keep: usize) {
        while self.open.len() > keep {
            let Some((_, mark, before)) = self.open.pop() else { return };
            let children = std::mem::replace(&mut self.children, before);
            match mark {
                Mark::Strong => self.children.push(Inline::Strong { children }),
                Mark::Em => self.children.push(Inline::Em { children }),
                Mark::Link { href } => self.children.push(Inline::Link { href, children }),
                Mark::Nothing => self.children.extend(children),
            }
        }
    }
}

/// What separates words, and control characters, which Markdown has no way to say.
fn is_space(c: char) -> bool {
    c.is_whitespace() || c.is_control()
}
