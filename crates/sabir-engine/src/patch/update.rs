//! One `*** Update File:` on one text.

use super::MAX_FILE_BYTES;
use super::error::{Elsewhere, PlanErrorKind};
use super::index::{Budget, Index, LINE};
use super::parse::shortened;
use super::syntax::{Chunk, ChunkLine};
use super::text::{FileText, Rewrite, unmarked};
use sabir_base::Span;

/// What does not fit, and where the patch says it.
#[derive(Debug)]
pub(super) struct Misfit {
    pub(super) kind: PlanErrorKind,
    pub(super) span: Span,
    pub(super) line: u32,
}

/// The text after all chunks, which come in the order of the text.
pub(super) fn update(text: &str, chunks: &[Chunk], budget: &mut Budget) -> Result<String, Misfit> {
    let Some(first) = chunks.first() else { return Ok(text.to_owned()) };
    let at = |chunk: &Chunk| {
        let (span, line) = (chunk.span, chunk.line);
        move |kind| Misfit { kind, span, line }
    };
    budget.spend(text.len()).map_err(at(first))?;
    let file = FileText::new(text);
    budget.spend(LINE * file.len()).map_err(at(first))?;
    let mut index = Index::new(&file);
    let mut rewrite = Rewrite::new(&file);
    // Written up to here, and looked through up to there.
    let (mut reached, mut passed) = (0, 0);
    let mut appended = Vec::new();
    for chunk in chunks {
        let mut from = passed;
        for context in &chunk.contexts {
            let misfit = |kind| Misfit { kind, span: context.span, line: context.line };
            let found = index.find(&[unmarked(&context.text)], from, budget).map_err(misfit)?;
            let missing = || PlanErrorKind::NoContext { context: shortened(&context.text) };
            from = found.ok_or_else(|| misfit(missing()))? + 1;
        }
        let place = place(&mut index, chunk, from, budget).map_err(at(chunk))?;
        let Some(start) = place.start else {
            // Later chunks are looked for before the end.
            appended.push(place);
            passed = from;
            continue;
        };
        rewrite.keep(reached, start);
        reached = splice(&mut rewrite, &file, start, &place.lines);
        passed = reached;
        if rewrite.len() > MAX_FILE_BYTES {
            return Err(at(chunk)(PlanErrorKind::TooLarge));
        }
    }
    rewrite.keep(reached, file.len());
    for place in appended {
        splice(&mut rewrite, &file, file.len(), &place.lines);
    }
    Ok(rewrite.finish())
}

/// Where a chunk goes, and those of its lines that go there.
struct Place<'c> {
    /// `None`: behind everything.
    start: Option<usize>,
    lines: Vec<&'c ChunkLine>,
}

fn place<'c>(
    index: &mut Index<'_, '_>,
    chunk: &'c Chunk,
    from: usize,
    budget: &mut Budget,
) -> Result<Place<'c>, PlanErrorKind> {
    let whole: Vec<&ChunkLine> = chunk.lines.iter().collect();
    let variants = [Some(whole), without_last_empty(chunk)];
    for lines in variants.into_iter().flatten() {
        let old: Vec<&str> = lines.iter().filter_map(|line| line.old()).map(unmarked).collect();
        let start = if old.is_empty() {
            // Nothing to look for: behind the context, or else behind everything.
            let is_placed = !chunk.contexts.is_empty() && !chunk.at_end;
            return Ok(Place { start: is_placed.then_some(from), lines });
        } else if chunk.at_end {
            index.find_at_end(&old, from, budget)?
        } else {
            index.find(&old, from, budget)?
        };
        if start.is_some() {
            return Ok(Place { start, lines });
        }
    }
    let old: Vec<&str> = chunk.lines.iter().filter_map(ChunkLine::old).map(unmarked).collect();
    let elsewhere = match index.find(&old, 0, budget)? {
        None => Elsewhere::Nowhere,
        Some(at) if at < from => Elsewhere::Before { line: at + 1 },
        Some(at) => Elsewhere::NotAtEnd { line: at + 1 },
    };
    let mut lines: String =
        old.iter().take(SHOWN).map(|line| shortened(line)).collect::<Vec<_>>().join("\n");
    if old.len() > SHOWN {
        lines.push_str("\n…");
    }
    Err(PlanErrorKind::NoLines { lines, elsewhere })
}

/// The chunk without the empty line at its end. Some writers take the last line end of a file for
/// the beginning of one more line, and some leave an empty line between two sections.
fn without_last_empty(chunk: &Chunk) -> Option<Vec<&ChunkLine>> {
    let mut lines: Vec<&ChunkLine> = chunk.lines.iter().collect();
    let is_kept_empty =
        |line: &&ChunkLine| matches!(line, ChunkLine::Keep(text) if text.is_empty());
    if lines.last().is_some_and(is_kept_empty) {
        while lines.last().is_some_and(is_kept_empty) {
            lines.pop();
        }
        return (!lines.is_empty()).then_some(lines);
    }
    let last_old = lines.iter().rposition(|line| line.old().is_some())?;
    if lines[last_old].old() != Some("") {
        return None;
    }
    lines.remove(last_old);
    if lines.last().is_some_and(|line| matches!(line, ChunkLine::Insert(text) if text.is_empty())) {
        lines.pop();
    }
    (!lines.is_empty()).then_some(lines)
}

/// Writes the chunk and returns the line behind it. Kept lines are copied from the file, so that a
/// lenient match changes nothing that the patch does not change.
fn splice(
    rewrite: &mut Rewrite<'_, '_>,
    file: &FileText<'_>,
    start: usize,
    lines: &[&ChunkLine],
) -> usize {
    let mut at = start;
    // Removed lines whose place an inserted one may take, with its line end.
    let mut vacant = start..start;
    for line in lines {
        match line {
            ChunkLine::Keep(_) => {
                rewrite.keep(at, at + 1);
                at += 1;
                vacant = at..at;
            }
            ChunkLine::Remove(_) => {
                at += 1;
                vacant.end = at;
            }
            ChunkLine::Insert(text) => {
                let replaced = vacant.next();
                rewrite.insert(text, file.line_end(replaced, at));
            }
        }
    }
    at
}

/// A chunk that was not found is shown up to here; the rest of it is in the patch.
const SHOWN: usize = 20;
