//! Where the text could not be read as written.
//!
//! The parser goes on behind a mistake as if it had been mended, so a tree may hold things that
//! nobody wrote. Rules that would complain about those ask here first.

use sabir_base::{Diagnostic, Span};

use crate::tree::{Kind, Tree};

/// Damaged places, in order and apart from each other. Empty for almost every document.
#[derive(Default)]
pub(super) struct Damage(Vec<Span>);

impl Damage {
    /// What the tree shows, and what the parser said.
    pub(super) fn of(tree: &Tree<'_>, syntax: &[Diagnostic]) -> Self {
        let unread = tree.nodes.iter().filter(|node| node.kind == Kind::Error);
        let mut spans: Vec<Span> =
            unread.map(|node| Span { start: node.start, end: node.end }).collect();
        spans.extend(syntax.iter().filter(|found| found.is_error()).map(|found| found.span));
        spans.sort_unstable();
        spans.dedup_by(|next, last| {
            let joined = next.start <= last.end;
            if joined {
                *last = last.to(*next);
            }
            joined
        });
        Self(spans)
    }

    #[inline]
    pub(super) fn is_none(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether `span` holds damage, or has some directly at its ends.
    #[inline]
    pub(super) fn touches(&self, span: Span) -> bool {
        !self.is_none() && self.search(span)
    }

    #[cold]
    fn search(&self, span: Span) -> bool {
        let behind = self.0.partition_point(|damage| damage.end < span.start);
        self.0.get(behind).is_some_and(|damage| damage.start <= span.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes;

    #[test]
    fn damage_is_found_inside_and_at_the_ends() {
        let spans = [(10, 12), (3, 5), (4, 7), (20, 20)];
        let syntax = spans.map(|(start, end)| {
            Diagnostic::error(codes::UNEXPECTED_TOKEN, Span::new(start, end), "x")
        });
        let damage = Damage::of(&crate::parse("").tree, &syntax);
        assert_eq!(damage.0.len(), 3);
        let touches = |start, end| damage.touches(Span::new(start, end));
        assert!(touches(0, 3) && touches(7, 8) && touches(11, 11) && touches(15, 25));
        assert!(!touches(0, 2) && !touches(8, 9) && !touches(13, 19) && !touches(21, 30));
    }
}
