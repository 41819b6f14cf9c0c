//! A file as lines, each with its own line end, so that what a patch does not touch stays as it is.

use super::error::PlanErrorKind;

/// How a line ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineEnd {
    Lf,
    CrLf,
}

impl LineEnd {
    fn as_str(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::CrLf => "\r\n",
        }
    }
}

/// A line without its end.
#[derive(Clone, Copy, Debug)]
struct Line {
    start: u32,
    end: u32,
    line_end: LineEnd,
}

/// The lines of a text.
#[derive(Debug)]
pub(super) struct FileText<'t> {
    text: &'t str,
    lines: Vec<Line>,
    /// The last line has no end of its own; the one it carries is that of the line before it.
    is_open: bool,
}

impl<'t> FileText<'t> {
    pub(super) fn new(text: &'t str) -> Result<Self, PlanErrorKind> {
        let mut lines: Vec<Line> = Vec::new();
        let mut start = 0;
        for whole in text.split_inclusive('\n') {
            if lines.len() == MAX_LINES {
                return Err(PlanErrorKind::TooManyLines);
            }
            let (content, line_end) = if let Some(content) = whole.strip_suffix("\r\n") {
                (content, LineEnd::CrLf)
            } else if let Some(content) = whole.strip_suffix('\n') {
                (content, LineEnd::Lf)
            } else {
                (whole, lines.last().map_or(LineEnd::Lf, |line| line.line_end))
            };
            let end = start + content.len();
            lines.push(Line { start: start as u32, end: end as u32, line_end });
            start += whole.len();
        }
        let is_open = !text.is_empty() && !text.ends_with('\n');
        Ok(Self { text, lines, is_open })
    }

    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    pub(super) fn byte_len(&self) -> usize {
        self.text.len()
    }

    pub(super) fn line(&self, at: usize) -> &'t str {
        let line = self.lines[at];
        &self.text[line.start as usize..line.end as usize]
    }

    /// The end that a new line gets at this place: that of the line it replaces, else of the line
    /// before it, else of the line after it.
    pub(super) fn line_end(&self, replaced: Option<usize>, at: usize) -> LineEnd {
        let before = || at.checked_sub(1).and_then(|before| self.lines.get(before));
        replaced
            .and_then(|replaced| self.lines.get(replaced))
            .or_else(before)
            .or_else(|| self.lines.get(at))
            .map_or(LineEnd::Lf, |line| line.line_end)
    }
}

/// Writes a text that is made of lines of an old one and of new ones.
#[derive(Debug)]
pub(super) struct Rewrite<'a, 't> {
    old: &'a FileText<'t>,
    out: String,
    /// The end of the last line, which is written with the next one, or never.
    owed: Option<LineEnd>,
}

impl<'a, 't> Rewrite<'a, 't> {
    pub(super) fn new(old: &'a FileText<'t>) -> Self {
        Self { old, out: String::with_capacity(old.byte_len()), owed: None }
    }

    /// Copies the lines `from..to` as they are.
    pub(super) fn keep(&mut self, from: usize, to: usize) {
        for at in from..to {
            self.push(self.old.line(at), self.old.lines[at].line_end);
        }
    }

    pub(super) fn push(&mut self, text: &str, line_end: LineEnd) {
        self.out.push_str(self.owed.replace(line_end).map_or("", LineEnd::as_str));
        self.out.push_str(text);
    }

    pub(super) fn len(&self) -> usize {
        self.out.len()
    }

    /// A missing end of the last line stays missing.
    pub(super) fn finish(mut self) -> String {
        if !self.old.is_open {
            self.out.push_str(self.owed.map_or("", LineEnd::as_str));
        }
        self.out
    }
}

/// A line costs a few dozen bytes beside its text: with this many, no more than a large file does.
const MAX_LINES: usize = 2_000_000;
