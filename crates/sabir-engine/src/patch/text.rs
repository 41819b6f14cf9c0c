//! A file as lines, each with its own line end, so that what a patch does not touch stays as it is.

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
    /// What some systems write in front of UTF-8. Editors do not show it, so that patches are
    /// written without, and it is no part of the first line.
    mark: &'t str,
    text: &'t str,
    lines: Vec<Line>,
    /// The last line has no end of its own; the one it carries is that of the line before it.
    is_open: bool,
}

impl<'t> FileText<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let (mark, text) = text.split_at(text.len() - unmarked(text).len());
        let mut lines: Vec<Line> = Vec::new();
        let mut start = 0;
        for whole in text.split_inclusive('\n') {
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
        Self { mark, text, lines, is_open }
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
        let mut out = String::with_capacity(old.mark.len() + old.byte_len());
        out.push_str(old.mark);
        Self { old, out, owed: None }
    }

    /// Copies the lines `from..to` as they are.
    pub(super) fn keep(&mut self, from: usize, to: usize) {
        for at in from..to {
            self.push(self.old.line(at), self.old.lines[at].line_end);
        }
    }

    pub(super) fn insert(&mut self, text: &str, line_end: LineEnd) {
        let has_mark = self.owed.is_none() && !self.old.mark.is_empty();
        self.push(if has_mark { unmarked(text) } else { text }, line_end);
    }

    fn push(&mut self, text: &str, line_end: LineEnd) {
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

/// A line without the mark in front of UTF-8.
pub(super) fn unmarked(text: &str) -> &str {
    text.strip_prefix('\u{FEFF}').unwrap_or(text)
}

pub(super) fn has_too_many_lines(text: &str) -> bool {
    text.split_inclusive('\n').nth(MAX_LINES).is_some()
}

/// A line costs a few dozen bytes beside its text: with this many, no more than a large file does.
const MAX_LINES: usize = 2_000_000;
