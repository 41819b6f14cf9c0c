//! From text to a [`Patch`], line by line.
//!
//! Lenient where models are careless and nothing can be misread: markers may be padded, a wrapper
//! of a here-document is taken off, the first chunk needs no `@@`.

use sabir_base::Span;

use super::MAX_PATCH_BYTES;
use super::error::{PatchError, PatchErrorKind};
use super::path::PatchPath;
use super::syntax::{Chunk, ChunkLine, Context, Operation, OperationKind, Patch};
use super::text::unmarked;

/// Reads a patch. A text that is not one gets the first thing that is wrong with it.
pub fn parse(text: &str) -> Result<Patch, PatchError> {
    if text.len() > MAX_PATCH_BYTES {
        return Err(PatchError { kind: PatchErrorKind::TooLarge, span: Span::at(0), line: 1 });
    }
    let all = lines(text);
    if let Some(at) = text.find('\0') {
        let line = all.iter().rfind(|line| line.start <= at).map_or(1, |line| line.number);
        let span = Span::new(at as u32, at as u32 + 1);
        return Err(PatchError { kind: PatchErrorKind::Nul, span, line });
    }
    let body = body(&all)?;
    let mut reader = Reader { lines: body.lines, at: 0, end: body.end };
    let mut operations = Vec::new();
    while let Some(operation) = reader.operation()? {
        operations.push(operation);
    }
    if operations.is_empty() {
        return Err(body.begin.error(PatchErrorKind::Empty));
    }
    Ok(Patch { operations })
}

/// One line of the patch.
#[derive(Clone, Copy)]
struct Line<'t> {
    /// Without its line end, which is that of the patch.
    text: &'t str,
    /// The offset of its first byte.
    start: usize,
    /// Counted from one.
    number: u32,
}

impl Line<'_> {
    fn span(&self) -> Span {
        Span::new(self.start as u32, (self.start + self.text.len()) as u32)
    }

    fn error(&self, kind: PatchErrorKind) -> PatchError {
        PatchError { kind, span: self.span(), line: self.number }
    }

    fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }
}

fn lines(text: &str) -> Vec<Line<'_>> {
    // Some systems write a mark in front of UTF-8.
    let after_mark = unmarked(text);
    let mut start = text.len() - after_mark.len();
    let mut number = 0;
    after_mark
        .split_inclusive('\n')
        .map(|whole| {
            number += 1;
            let line = Line { text: whole.strip_suffix('\n').unwrap_or(whole), start, number };
            start += whole.len();
            line
        })
        .collect()
}

/// The lines between the first and the last marker.
struct Body<'a, 't> {
    begin: Line<'t>,
    lines: Vec<Line<'t>>,
    end: &'a Line<'t>,
}

fn body<'a, 't>(all: &'a [Line<'t>]) -> Result<Body<'a, 't>, PatchError> {
    let lines = unwrap_here_document(trim_blank(all));
    let nowhere = Line { text: "", start: 0, number: 1 };
    let (Some(first), Some(last)) = (lines.first(), lines.last()) else {
        return Err(nowhere.error(PatchErrorKind::NoBegin));
    };
    if first.text.trim() != BEGIN {
        return Err(first.error(PatchErrorKind::NoBegin));
    }
    if lines.len() == 1 || last.text.trim() != END {
        // Text behind the end is another mistake than no end.
        let end = lines.iter().rposition(|line| line.text.trim_end() == END);
        return Err(match end.and_then(|end| lines.get(end + 1)) {
            Some(behind) => behind.error(PatchErrorKind::AfterEnd),
            None => last.error(PatchErrorKind::NoEnd),
        });
    }
    // A patch that came through a system that writes CRLF has it on every line; it is not part of
    // what the lines say. In any other patch a carriage return in an added file is meant.
    let is_crlf = first.text.ends_with('\r');
    let mut inner = lines[1..lines.len() - 1].to_vec();
    if is_crlf {
        for line in &mut inner {
            line.text = line.text.strip_suffix('\r').unwrap_or(line.text);
        }
    }
    Ok(Body { begin: *first, lines: inner, end: last })
}

fn trim_blank<'a, 't>(mut lines: &'a [Line<'t>]) -> &'a [Line<'t>] {
    while let [first, rest @ ..] = lines
        && first.is_blank()
    {
        lines = rest;
    }
    while let [rest @ .., last] = lines
        && last.is_blank()
    {
        lines = rest;
    }
    lines
}

/// Takes `<<'EOF'` and `EOF` off: what a shell would have, and what models write without one.
fn unwrap_here_document<'a, 't>(lines: &'a [Line<'t>]) -> &'a [Line<'t>] {
    if let [first, inner @ .., last] = lines
        && let Some(word) = first.text.trim().strip_prefix("<<").and_then(delimiter)
        && last.text.trim() == word
    {
        return trim_blank(inner);
    }
    lines
}

/// The word that ends a here-document: `EOF`, `'EOF'` or `"EOF"`.
pub(super) fn delimiter(word: &str) -> Option<&str> {
    let bare = ['\'', '"']
        .into_iter()
        .find_map(|quote| word.strip_prefix(quote)?.strip_suffix(quote))
        .unwrap_or(word);
    let is_word = !bare.is_empty() && bare.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    is_word.then_some(bare)
}

struct Reader<'a, 't> {
    lines: Vec<Line<'t>>,
    at: usize,
    /// The line of `*** End Patch`, to point at when something is missing before it.
    end: &'a Line<'t>,
}

impl<'t> Reader<'_, 't> {
    fn peek(&self) -> Option<Line<'t>> {
        self.lines.get(self.at).copied()
    }

    fn skip_blank(&mut self) {
        while self.peek().is_some_and(|line| line.is_blank()) {
            self.at += 1;
        }
    }

    fn operation(&mut self) -> Result<Option<Operation>, PatchError> {
        self.skip_blank();
        let Some(head) = self.peek() else { return Ok(None) };
        self.at += 1;
        let text = head.text.trim();
        let (path, kind) = if let Some(path) = marker(text, ADD) {
            (checked_path(&head, path)?, OperationKind::Add { content: self.added()? })
        } else if let Some(path) = marker(text, DELETE) {
            (checked_path(&head, path)?, OperationKind::Delete)
        } else if let Some(path) = marker(text, UPDATE) {
            let path = checked_path(&head, path)?;
            let kind = self.update(&head, &path)?;
            (path, kind)
        } else {
            return Err(head.error(match text {
                END => PatchErrorKind::AfterEnd,
                text if marker(text, MOVE).is_some() => PatchErrorKind::StrayMove,
                text if text.starts_with("***") => {
                    PatchErrorKind::UnknownMarker { found: shortened(text) }
                }
                text => PatchErrorKind::NotAnOperation { found: shortened(text) },
            }));
        };
        Ok(Some(Operation { path, kind, span: head.span(), line: head.number }))
    }

    fn added(&mut self) -> Result<String, PatchError> {
        let mut content = String::new();
        while let Some(line) = self.peek() {
            if let Some(text) = line.text.strip_prefix('+') {
                content.push_str(text);
                content.push('\n');
                self.at += 1;
                continue;
            }
            // Blank lines may stand between two operations, not between two lines of a file.
            self.skip_blank();
            match self.peek() {
                Some(next) if !next.text.trim_start().starts_with("***") => {
                    let culprit = if line.is_blank() { line } else { next };
                    let found = shortened(culprit.text);
                    return Err(culprit.error(PatchErrorKind::AddLine { found }));
                }
                _ => break,
            }
        }
        Ok(content)
    }

    fn update(&mut self, head: &Line<'t>, path: &PatchPath) -> Result<OperationKind, PatchError> {
        let mut move_to = None;
        if let Some(line) = self.peek()
            && let Some(target) = marker(line.text.trim(), MOVE)
        {
            move_to = Some(checked_path(&line, target)?);
            self.at += 1;
        }
        let mut chunks = Vec::new();
        while let Some(chunk) = self.chunk(chunks.is_empty())? {
            chunks.push(chunk);
        }
        if chunks.is_empty() && move_to.is_none() {
            let path = path.to_string();
            return Err(head.error(PatchErrorKind::EmptyUpdate { path }));
        }
        Ok(OperationKind::Update { move_to, chunks })
    }

    /// The next chunk of an update, or `None` at the next operation.
    fn chunk(&mut self, is_first: bool) -> Result<Option<Chunk>, PatchError> {
        if is_first {
            // An empty line at the front is a line of the file only if lines of the file follow.
            let mark = self.at;
            self.skip_blank();
            let is_body = self.peek().is_some_and(|line| !is_head(line.text));
            if is_body {
                self.at = mark;
            }
        } else {
            self.skip_blank();
        }
        let Some(first) = self.peek() else { return Ok(None) };
        let contexts = self.contexts();
        if contexts.found == 0 {
            if is_marker(first.text) || marker_of_operation(first.text.trim()) {
                return Ok(None);
            }
            if !is_first {
                let found = shortened(first.text);
                return Err(first.error(PatchErrorKind::NoChunkHead { found }));
            }
        }
        let (lines, at_end, last) = self.chunk_lines()?;
        if lines.is_empty() {
            let here = self.peek().unwrap_or(*self.end);
            let line = if contexts.found > 0 { first } else { here };
            return Err(line.error(PatchErrorKind::EmptyChunk));
        }
        let span = last.map_or(first.span(), |last| first.span().to(last.span()));
        let contexts = contexts.texts;
        Ok(Some(Chunk { contexts, lines, at_end, span, line: first.number }))
    }

    fn contexts(&mut self) -> Contexts {
        let mut contexts = Contexts { texts: Vec::new(), found: 0 };
        while let Some(line) = self.peek()
            && let Some(text) = context_of(line.text)
        {
            contexts.found += 1;
            self.at += 1;
            if !text.trim().is_empty() {
                let text = text.strip_suffix('\r').unwrap_or(text).to_owned();
                contexts.texts.push(Context { text, span: line.span(), line: line.number });
            }
        }
        contexts
    }

    fn chunk_lines(&mut self) -> Result<(Vec<ChunkLine>, bool, Option<Line<'t>>), PatchError> {
        let mut lines = Vec::new();
        let mut last = None;
        while let Some(line) = self.peek() {
            // The line end of the file is kept whatever the patch has.
            let text = line.text.strip_suffix('\r').unwrap_or(line.text);
            if text.trim_end() == END_OF_FILE {
                self.at += 1;
                return Ok((lines, true, Some(line)));
            }
            if is_head(text) {
                break;
            }
            lines.push(match text.split_at_checked(1) {
                None if text.is_empty() => ChunkLine::Keep(String::new()),
                Some((" ", rest)) => ChunkLine::Keep(rest.to_owned()),
                Some(("-", rest)) => ChunkLine::Remove(rest.to_owned()),
                Some(("+", rest)) => ChunkLine::Insert(rest.to_owned()),
                _ => {
                    let found = shortened(text);
                    return Err(line.error(PatchErrorKind::ChunkLine { found }));
                }
            });
            last = Some(line);
            self.at += 1;
        }
        Ok((lines, false, last))
    }
}

struct Contexts {
    texts: Vec<Context>,
    /// How many lines of `@@`, with a text or without.
    found: usize,
}

/// Whether the line ends a chunk. Markers must not be padded here: with a space in front they are
/// lines of a file that tells of patches.
fn is_head(text: &str) -> bool {
    is_marker(text) || context_of(text).is_some()
}

fn is_marker(text: &str) -> bool {
    text.starts_with("***")
}

/// What stands behind `@@`, without the one blank that separates it.
fn context_of(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("@@")?;
    if rest.trim().is_empty() { Some("") } else { rest.strip_prefix(' ') }
}

/// A padded head of the next operation, where no line of a chunk has been read yet.
fn marker_of_operation(trimmed: &str) -> bool {
    [ADD, DELETE, UPDATE].iter().any(|name| marker(trimmed, name).is_some())
}

/// The argument of a marker. The blank behind the colon may be missing or many.
fn marker<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    text.strip_prefix(name).map(str::trim)
}

fn checked_path(line: &Line<'_>, text: &str) -> Result<PatchPath, PatchError> {
    PatchPath::new(text)
        .map_err(|error| line.error(PatchErrorKind::Path { path: shortened(text), error }))
}

/// Errors quote the patch, and a patch may be one line of megabytes.
pub(super) fn shortened(text: &str) -> String {
    let mut chars = text.trim_end().chars();
    let mut short: String =
        chars.by_ref().take(QUOTED).map(|c| if c.is_control() { '\u{FFFD}' } else { c }).collect();
    if chars.next().is_some() {
        short.push('…');
    }
    short
}

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const ADD: &str = "*** Add File:";
const DELETE: &str = "*** Delete File:";
const UPDATE: &str = "*** Update File:";
const MOVE: &str = "*** Move to:";
const END_OF_FILE: &str = "*** End of File";

/// Enough to recognise a line by.
const QUOTED: usize = 120;
