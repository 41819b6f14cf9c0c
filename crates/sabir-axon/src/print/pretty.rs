//! The layout for people: groups that are on one line if they fit, and one element a line if not.
//!
//! A message is first written down as events. One pass from its end then knows how wide every group
//! is up to the first place where the line may end, and a last pass writes the text: linear,
//! whatever the nesting.

use super::Layout;
use super::wire::merges;
use crate::strings::quote_into;

/// What fits beside a margin in most editors and reviews.
const WIDTH: usize = 88;
const INDENT: usize = 2;
/// A text of several lines: no group that holds it is on one line.
const NEVER_FITS: usize = 1 << 24;

pub(super) struct Pretty {
    out: String,
    /// The text of the current message, without any white space of the layout.
    text: String,
    events: Vec<Event>,
    /// The last byte of `text` if nothing came behind it.
    last: Option<u8>,
    rendering: Rendering,
}

#[derive(Clone, Copy)]
enum Event {
    /// So many bytes of `text`.
    Text(usize),
    /// One space.
    Space,
    /// The width of the group with what follows up to the next break; known after `measure`.
    Open(usize),
    Close,
    Indent,
    Dedent,
    Line,
    LineOrSpace,
    NewLine,
}

/// Kept from message to message, so that it is allocated once.
#[derive(Default)]
struct Rendering {
    /// Widths up to the break behind each open group.
    ends: Vec<usize>,
    /// Whether each open group is on one line.
    flat: Vec<bool>,
}

impl Pretty {
    pub(super) fn new(size: usize) -> Self {
        Self {
            out: String::with_capacity(size + size / 4),
            text: String::new(),
            events: Vec::new(),
            last: None,
            rendering: Rendering::default(),
        }
    }

    fn push_space(&mut self) {
        self.events.push(Event::Space);
        self.last = None;
    }

    fn push_break(&mut self, event: Event) {
        self.events.push(event);
        self.last = None;
    }

    /// Gives every group its width. Goes backwards: what counts is where the next break is.
    fn measure(&mut self) {
        let ends = &mut self.rendering.ends;
        ends.clear();
        let mut end = self.text.len();
        // Both are distances from the end of the message.
        let (mut width, mut to_break) = (0usize, 0usize);
        for event in self.events.iter_mut().rev() {
            match event {
                Event::Text(length) => {
                    let start = end.saturating_sub(*length);
                    width = width.saturating_add(text_width(&self.text[start..end]));
                    end = start;
                }
                Event::Space => width += 1,
                Event::Close => ends.push(to_break),
                Event::Open(extent) => {
                    *extent = width.saturating_sub(ends.pop().unwrap_or_default());
                }
                Event::Line | Event::NewLine => to_break = width,
                Event::LineOrSpace => {
                    to_break = width;
                    width += 1;
                }
                Event::Indent | Event::Dedent => {}
            }
        }
    }

    fn render(&mut self) {
        self.measure();
        let flat = &mut self.rendering.flat;
        flat.clear();
        let (mut start, mut column, mut indent) = (0usize, 0usize, 0usize);
        let mut on_one_line = false;
        for event in self.events.drain(..) {
            let breaks = match event {
                Event::Text(length) => {
                    let text = &self.text[start..start + length];
                    start += length;
                    self.out.push_str(text);
                    column = match text.rfind('\n') {
                        Some(at) => text_width(&text[at + 1..]),
                        None => column + text_width(text),
                    };
                    false
                }
                Event::Space => {
                    self.out.push(' ');
                    column += 1;
                    false
                }
                Event::Open(width) => {
                    flat.push(on_one_line);
                    on_one_line = on_one_line || column + width <= WIDTH;
                    false
                }
                Event::Close => {
                    on_one_line = flat.pop().unwrap_or_default();
                    false
                }
                Event::Indent => {
                    indent += INDENT;
                    false
                }
                Event::Dedent => {
                    indent -= INDENT;
                    false
                }
                Event::Line => !on_one_line,
                Event::LineOrSpace if on_one_line => {
                    self.out.push(' ');
                    column += 1;
                    false
                }
                Event::LineOrSpace | Event::NewLine => true,
            };
            if breaks {
                self.out.push('\n');
                self.out.extend(std::iter::repeat_n(' ', indent));
                column = indent;
            }
        }
        self.text.clear();
        self.last = None;
    }
}

fn text_width(text: &str) -> usize {
    if text.is_ascii() && !text.contains('\n') {
        text.len()
    } else if text.contains('\n') {
        NEVER_FITS
    } else {
        text.chars().count()
    }
}

impl Layout for Pretty {
    type Mark = (usize, usize);

    fn token(&mut self, text: &str) {
        self.text.push_str(text);
        self.events.push(Event::Text(text.len()));
        self.last = text.as_bytes().last().copied();
    }

    fn guarded(&mut self, text: &str) {
        if merges(self.last, text) {
            self.push_space();
        }
        self.token(text);
    }

    fn string(&mut self, value: &str) {
        let before = self.text.len();
        quote_into(&mut self.text, value);
        self.events.push(Event::Text(self.text.len() - before));
        self.last = Some(b'"');
    }

    fn space(&mut self) {
        self.push_space();
    }

    fn gap(&mut self) {
        self.push_space();
    }

    fn open(&mut self) {
        self.events.push(Event::Open(0));
    }

    fn close(&mut self) {
        self.events.push(Event::Close);
    }

    fn indent(&mut self) {
        self.events.push(Event::Indent);
    }

    fn dedent(&mut self) {
        self.events.push(Event::Dedent);
    }

    fn line(&mut self) {
        self.push_break(Event::Line);
    }

    fn line_or_space(&mut self) {
        self.push_break(Event::LineOrSpace);
    }

    fn end_of_meta(&mut self) {
        self.push_break(Event::NewLine);
    }

    fn inline_comment(&mut self, text: &str) {
        // Behind white space, a bracket or a colon it needs no space of its own.
        if !matches!(self.last, None | Some(b'(' | b'[' | b'{' | b':')) {
            self.push_space();
        }
        self.token(text);
        self.push_space();
    }

    fn own_line_comment(&mut self, text: &str) {
        self.token(text);
        self.push_break(Event::NewLine);
    }

    fn begin_message(&mut self) {
        if !self.out.is_empty() {
            self.out.push('\n');
        }
    }

    fn end_message(&mut self) {
        self.render();
        if !self.out.ends_with('\n') {
            self.out.push('\n');
        }
    }

    fn mark(&self) -> (usize, usize) {
        (self.text.len(), self.events.len())
    }

    fn rewind(&mut self, (text, events): (usize, usize)) {
        self.text.truncate(text);
        self.events.truncate(events);
        self.last = None;
    }

    fn finish(self) -> String {
        self.out
    }
}
