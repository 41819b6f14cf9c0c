//! A line of text in the making: white space collapses as in a browser, and marks open and close
//! around words, never around blanks. It knows no elements.

use sabir_document::Inline;

/// Inlines that are being put together.
#[derive(Debug)]
pub(crate) struct Run {
    frames: Vec<Frame>,
    /// White space has been seen, and is written when a word follows.
    space: Space,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Space {
    None,
    Blank,
    Break,
}

#[derive(Debug)]
struct Frame {
    mark: Option<Mark>,
    children: Vec<Inline>,
}

/// What words can be inside of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    Strong,
    Em,
    Link(String),
}

impl Mark {
    fn is_like(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }

    fn around(self, children: Vec<Inline>) -> Inline {
        match self {
            Self::Strong => Inline::Strong { children },
            Self::Em => Inline::Em { children },
            Self::Link(href) => Inline::Link { href, children },
        }
    }
}

impl Default for Run {
    fn default() -> Self {
        Self { frames: vec![Frame { mark: None, children: Vec::new() }], space: Space::None }
    }
}

impl Run {
    pub(crate) fn push_text(&mut self, text: &str) {
        let mut words = text.split(char::is_whitespace);
        if let Some(word) = words.next() {
            self.push_word(word);
        }
        for word in words {
            self.push_space();
            self.push_word(word);
        }
    }

    pub(crate) fn push_space(&mut self) {
        if self.space == Space::None {
            self.space = Space::Blank;
        }
    }

    /// A new line inside of the paragraph. Says whether there was one already, just before: then the
    /// writer meant a new paragraph.
    pub(crate) fn push_break(&mut self) -> bool {
        let twice = self.space == Space::Break;
        self.space = Space::Break;
        twice
    }

    /// Something that is no plain text, like code.
    pub(crate) fn push(&mut self, inline: Inline) {
        self.write_space();
        self.top().push(inline);
    }

    /// Opens a mark, unless one of its kind is open already. Says whether it did.
    pub(crate) fn open(&mut self, mark: Mark) -> bool {
        let is_open = |frame: &Frame| frame.mark.as_ref().is_some_and(|held| held.is_like(&mark));
        if self.frames.iter().any(is_open) {
            return false;
        }
        self.frames.push(Frame { mark: Some(mark), children: Vec::new() });
        true
    }

    /// Closes what was opened last.
    pub(crate) fn close(&mut self) {
        if self.frames.len() > 1
            && let Some(Frame { mark: Some(mark), children }) = self.frames.pop()
            && !children.is_empty()
        {
            self.top().push(mark.around(children));
        }
    }

    /// What has been written, and an empty run again.
    pub(crate) fn take(&mut self) -> Vec<Inline> {
        while self.frames.len() > 1 {
            self.close();
        }
        self.space = Space::None;
        std::mem::take(self.top())
    }

    fn push_word(&mut self, word: &str) {
        if word.is_empty() {
            return;
        }
        self.write_space();
        push_str(self.top(), word);
    }

    /// Writes the space that was seen before the word that follows: outside of the marks that have
    /// just been opened, and nowhere at the start.
    fn write_space(&mut self) {
        let space = std::mem::replace(&mut self.space, Space::None);
        let text = match space {
            Space::None => return,
            Space::Blank => " ",
            Space::Break => "\n",
        };
        let begun = self.frames.iter_mut().rev().find(|frame| !frame.children.is_empty());
        if let Some(frame) = begun {
            push_str(&mut frame.children, text);
        }
    }

    fn top(&mut self) -> &mut Vec<Inline> {
        // The first frame is never taken away, so that this makes no new one.
        if self.frames.is_empty() {
            self.frames.push(Frame { mark: None, children: Vec::new() });
        }
        let last = self.frames.len() - 1;
        &mut self.frames[last].children
    }
}

fn push_str(inlines: &mut Vec<Inline>, more: &str) {
    match inlines.last_mut() {
        Some(Inline::Text { text }) => text.push_str(more),
        _ => inlines.push(Inline::text(more)),
    }
}

/// The words of inlines, without their marks.
pub(crate) fn plain(inlines: &[Inline]) -> String {
    let mut words = String::new();
    let mut open = vec![inlines.iter()];
    while let Some(last) = open.last_mut() {
        match last.next() {
            None => {
                open.pop();
            }
            Some(Inline::Text { text } | Inline::Code { text }) => words.push_str(text),
            Some(
                Inline::Strong { children }
                | Inline::Em { children }
                | Inline::Link { children, .. },
            ) => open.push(children.iter()),
            Some(Inline::Cite { .. }) => {}
        }
    }
    words
}
