//! What models write, made valid.
//!
//! Every finding of the parser and the validator carries the edits that would mend it; repair
//! applies them, looks again, and stops when nothing is left to mend. What no edit can mend is kept
//! as text: a value becomes a string, a stray line becomes a comment. So nothing that was written
//! is dropped, nothing is invented, and the result always parses.

use std::collections::BTreeMap;

use sabir_base::{Code, Diagnostic, Edit, Span, apply_edits};

use crate::codes;
use crate::parser::{Parsed, as_comment, parse, parse_reporting};
use crate::strings::quote;
use crate::tree::Kind;
use crate::validate::{Rules, check, validate};
use crate::view::Node;

/// A mistake can hide the next one, but hardly ever this many.
const MAX_PASSES: usize = 32;
/// Large texts get fewer passes, so that one made of nothing but mistakes costs seconds, not minutes.
const MIN_PASSES: usize = 3;
const BYTES_TO_READ: usize = 32 << 20;
/// What one pass mends at most: a bound on memory.
const FINDINGS_PER_PASS: usize = 50_000;

/// The result of a repair.
#[derive(Clone, Debug)]
pub struct Repaired {
    pub text: String,
    /// What was changed, in order.
    pub changes: Vec<Change>,
    /// What is still to be said about the result.
    pub diagnostics: Vec<Diagnostic>,
}

/// One change: why, where in the original text, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub code: Code,
    /// In the original text.
    pub span: Span,
    pub message: String,
    pub before: String,
    pub after: String,
}

impl Repaired {
    pub fn is_valid(&self) -> bool {
        !self.diagnostics.iter().any(Diagnostic::is_error)
    }
}

/// Mends `text`. Total: whatever comes in, the text that comes out parses without errors.
pub fn repair(text: &str) -> Repaired {
    let mut work = Work { text: text.to_owned(), changes: Vec::new(), passes: Vec::new() };
    // Quoting a quotation doubles its backslashes; a text that swells is better kept whole.
    let largest = text.len().saturating_mul(4).saturating_add(4096);
    let passes = (BYTES_TO_READ / text.len().max(1)).clamp(MIN_PASSES, MAX_PASSES);
    work.mend(passes, largest);
    if parse(&work.text).has_errors() {
        let rest = last_resort(&work.text);
        work.apply(rest);
    }
    if parse(&work.text).has_errors() {
        let whole = Span::new(0, work.text.len() as u32);
        let comment = as_comment(&work.text);
        let message = "no message can be read out of this";
        work.apply(vec![kept_as_comment(whole, comment, message)]);
    }
    // With the syntax right at last, meaning can be mended too, and that quotes nothing twice.
    work.mend(passes, usize::MAX);
    work.finish(text)
}

/// The findings of one look that carry edits: syntax first, meaning once the syntax is right.
fn mendable(text: &str) -> Vec<Diagnostic> {
    let Parsed { tree, diagnostics } = parse_reporting(text, FINDINGS_PER_PASS);
    let mut errors: Vec<_> = diagnostics.into_iter().filter(Diagnostic::is_error).collect();
    if errors.is_empty() {
        errors = validate(&tree, Rules::default());
        for edit in errors.iter_mut().flat_map(|found| &mut found.fixes) {
            keep_in_comment(edit, &text[edit.span.range()]);
        }
    }
    // A comment that never ends hides the rest of the text, closing brackets included.
    if errors.iter().any(|found| found.code == codes::UNTERMINATED_COMMENT) {
        errors.retain(|found| found.code == codes::UNTERMINATED_COMMENT);
    }
    errors.retain(|found| found.is_error() && !found.fixes.is_empty());
    errors
}

/// `ttl:2min` means `ttl:120`; what was written stays beside it.
fn keep_in_comment(edit: &mut Edit, before: &str) {
    let mut after = edit.text.chars().filter(|c| c.is_alphanumeric());
    let mut letters = before.chars().filter(|c| c.is_alphanumeric());
    if !letters.all(|c| after.any(|kept| kept == c)) {
        edit.text.push_str(&format!(" {}", as_comment(before)));
    }
}

/// As many findings as can be mended at once. The widest edits come first: what becomes a string as
/// a whole needs no mending inside.
fn choose(mut findings: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let width = |found: &Diagnostic| found.fixes.iter().map(|edit| edit.span.len()).max();
    findings.sort_by_key(|found| std::cmp::Reverse(width(found)));
    let mut taken = Taken::default();
    let mut chosen: Vec<Diagnostic> = Vec::new();
    for found in findings {
        if taken.take(&found) {
            chosen.push(found);
        }
    }
    chosen.sort_by_key(|found| found.span);
    chosen
}

/// The places that are spoken for.
#[derive(Default)]
struct Taken {
    /// Replaced spans, by start.
    replaced: BTreeMap<u32, u32>,
    /// Insertions, with the code of the finding that makes them.
    inserted: BTreeMap<u32, Code>,
}

impl Taken {
    fn take(&mut self, found: &Diagnostic) -> bool {
        if !found.fixes.iter().all(|edit| self.is_free(edit.span, found.code)) {
            return false;
        }
        for edit in &found.fixes {
            if edit.span.is_empty() {
                self.inserted.insert(edit.span.start, found.code);
            } else {
                self.replaced.insert(edit.span.start, edit.span.end);
            }
        }
        true
    }

    fn is_free(&self, span: Span, code: Code) -> bool {
        let before = self.replaced.range(..span.start).next_back();
        if before.is_some_and(|(_, &end)| end > span.start) {
            return false;
        }
        if span.is_empty() {
            // Closing brackets that miss at one place are reported from the inside out, which is
            // the order in which they are inserted. Any other two insertions would have to guess.
            let other = self.inserted.get(&span.start);
            return other.is_none_or(|&other| other == code && code == codes::UNCLOSED_BRACKET);
        }
        self.replaced.range(span.start..span.end).next().is_none()
            && self.inserted.range(span.start + 1..span.end).next().is_none()
    }
}

/// For messages that no edit could mend: content becomes a string, anything else a comment.
fn last_resort(text: &str) -> Vec<Diagnostic> {
    let parsed = parse_reporting(text, FINDINGS_PER_PASS);
    let mut errors: Vec<u32> = parsed
        .diagnostics
        .iter()
        .filter(|found| found.is_error())
        .map(|found| found.span.start)
        .collect();
    errors.sort_unstable();
    let wrong = |span: Span| {
        let from = errors.partition_point(|&at| at < span.start);
        errors[from..].first().is_some_and(|&at| at <= span.end)
    };
    let mut findings = Vec::new();
    for node in parsed.tree.root().children() {
        let span = node.span();
        if !wrong(span) {
            continue;
        }
        let content = content_start(node).filter(|&start| !wrong(Span::new(span.start, start - 1)));
        findings.push(match content {
            Some(start) => {
                let rest = &text[start as usize..span.end as usize];
                let start = start + (rest.len() - rest.trim_start().len()) as u32;
                let raw = rest.trim();
                let place = Span::new(start, start + raw.len() as u32);
                let message = "the content cannot be read; it is kept as text";
                Diagnostic::error(codes::UNEXPECTED_TOKEN, place, message)
                    .fix(Edit::replace(place, quote(raw)))
            }
            None => {
                let comment = as_comment(&text[span.range()]);
                kept_as_comment(
                    span,
                    comment,
                    "this cannot be read as a message; it is kept as a comment",
                )
            }
        });
    }
    findings
}

/// Where the content of a readable header starts.
fn content_start(node: Node<'_>) -> Option<u32> {
    let message = node.as_message()?;
    let readable = |endpoint: Node<'_>| endpoint.kind() != Kind::Error;
    let start = message.content.span().start;
    let usable = readable(message.from)
        && readable(message.to)
        && readable(message.performative_node())
        && start > message.to.span().end
        && start < node.span().end;
    usable.then_some(start)
}

fn kept_as_comment(span: Span, comment: String, message: &str) -> Diagnostic {
    Diagnostic::error(codes::TEXT_OUTSIDE_MESSAGE, span, message).fix(Edit::replace(span, comment))
}

/// The text as it changes, and how to find the way back.
struct Work {
    text: String,
    changes: Vec<Change>,
    passes: Vec<Pass>,
}

/// Where the edits of one pass lie before and after it, in order.
struct Pass {
    moved: Vec<(Span, Span)>,
}

impl Work {
    /// Applies edits and looks again, until there is nothing to mend.
    fn mend(&mut self, passes: usize, largest: usize) {
        for _ in 0..passes {
            let findings = mendable(&self.text);
            if findings.is_empty() || self.text.len() > largest {
                break;
            }
            self.apply(choose(findings));
        }
    }

    fn apply(&mut self, findings: Vec<Diagnostic>) {
        let mut edits: Vec<Edit> = Vec::new();
        for found in findings {
            self.changes.push(self.describe(&found));
            edits.extend(found.fixes);
        }
        let after = apply_edits(&self.text, &edits);
        edits.sort_by_key(|edit| (edit.span.start, edit.span.end));
        let mut shift = 0i64;
        let moved = edits.iter().map(|edit| {
            let start = (i64::from(edit.span.start) + shift) as u32;
            shift += edit.text.len() as i64 - i64::from(edit.span.len());
            (edit.span, Span::new(start, start + edit.text.len() as u32))
        });
        self.passes.push(Pass { moved: moved.collect() });
        self.text = after;
    }

    fn describe(&self, found: &Diagnostic) -> Change {
        /// Longer pieces are shown by their edits alone.
        const LONGEST: usize = 160;
        let hull = found.fixes.iter().map(|edit| edit.span).reduce(Span::to).unwrap_or(found.span);
        let local: Vec<Edit> = found
            .fixes
            .iter()
            .map(|edit| {
                let start = edit.span.start - hull.start;
                Edit::replace(Span::new(start, start + edit.span.len()), edit.text.clone())
            })
            .collect();
        let before = &self.text[hull.range()];
        let (before, after) = if before.len() <= LONGEST || found.fixes.len() == 1 {
            (before.to_owned(), apply_edits(before, &local))
        } else {
            let old = found.fixes.iter().map(|edit| &self.text[edit.span.range()]);
            let new = found.fixes.iter().map(|edit| edit.text.as_str());
            (old.collect::<Vec<_>>().join(" ... "), new.collect::<Vec<_>>().join(" ... "))
        };
        Change {
            code: found.code,
            span: Span::new(
                self.original(hull.start),
                self.original(hull.end).max(self.original(hull.start)),
            ),
            message: found.message.clone(),
            before,
            after,
        }
    }

    /// The offset in the original text of an offset in the present one.
    fn original(&self, mut offset: u32) -> u32 {
        for pass in self.passes.iter().rev() {
            let behind = pass.moved.partition_point(|(_, now)| now.start <= offset);
            if let Some(&(old, now)) = behind.checked_sub(1).and_then(|last| pass.moved.get(last)) {
                offset = if offset < now.end { old.start } else { offset - now.end + old.end };
            }
        }
        offset
    }

    fn finish(self, original: &str) -> Repaired {
        let Parsed { tree, mut diagnostics } = check(&self.text, Rules::default());
        let empty = tree.messages().next().is_none();
        if empty && parse(original).tree.root().children().next().is_some() {
            let message = "there is no message in this text";
            diagnostics.push(
                Diagnostic::error(codes::TEXT_OUTSIDE_MESSAGE, Span::at(0), message)
                    .help("a message reads `INF(@sender>@receiver): content`"),
            );
        }
        Repaired { text: self.text, changes: self.changes, diagnostics }
    }
}
