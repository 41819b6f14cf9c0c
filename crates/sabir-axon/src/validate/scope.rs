//! Variables: bound in the message, or expected from the context (sections 6.4 rule 3 and 6.5).
//!
//! `$x = ...` binds `$x` for the whole message, nested messages and metadata included. Every other
//! occurrence uses it; `$x.part` uses `$x`. Outputs of a step, like `$result` in section 6.5, are
//! not written down anywhere, so an unbound variable is only worth a remark. Steps of `->` have an
//! order, and there a use before the binding is a mistake.

use std::collections::HashMap;

use sabir_base::{Diagnostic, Span};

use super::findings::Findings;
use crate::codes;
use crate::view::Node;

/// The variables of one message. Reused for the next one, so that it allocates once.
#[derive(Default)]
pub(super) struct Scope<'a> {
    /// In the order of the text.
    seen: Vec<Occurrence<'a>>,
    /// Where in `seen` each variable is bound first.
    bound: HashMap<&'a str, usize>,
}

#[derive(Clone, Copy)]
struct Occurrence<'a> {
    /// Without `$` and without the path behind it.
    root: &'a str,
    span: Span,
    binds: bool,
}

impl<'a> Scope<'a> {
    pub(super) fn uses(&mut self, var: Node<'a>) {
        self.note(var, false);
    }

    pub(super) fn binds(&mut self, var: Node<'a>) {
        // `$x.part = 1` says something about `$x`, which must come from elsewhere.
        let whole = !var.text().contains('.');
        self.note(var, whole);
    }

    fn note(&mut self, var: Node<'a>, binds: bool) {
        let name = &var.text()[1..];
        let root = name.split_once('.').map_or(name, |(root, _)| root);
        if binds {
            self.bound.entry(root).or_insert(self.seen.len());
        }
        self.seen.push(Occurrence { root, span: var.span(), binds });
    }

    /// Where the occurrences of what comes next start.
    pub(super) fn mark(&self) -> usize {
        self.seen.len()
    }

    /// Checks the steps of a `->` chain whose occurrences start at `mark`.
    #[inline]
    pub(super) fn check_steps(&self, chain: Node<'a>, mark: usize, findings: &mut Findings) {
        if !self.bound.is_empty() && self.seen[mark..].iter().any(|one| one.binds) {
            self.check_order(chain, mark, findings);
        }
    }

    #[cold]
    fn check_order(&self, chain: Node<'a>, mark: usize, findings: &mut Findings) {
        let mut steps = chain.children().enumerate().peekable();
        let mut step = 0;
        let mut placed: Vec<(&Occurrence<'a>, usize)> = Vec::new();
        for one in &self.seen[mark..] {
            while let Some((index, _)) =
                steps.next_if(|(_, next)| next.span().start <= one.span.start)
            {
                step = index;
            }
            placed.push((one, step));
        }
        placed.sort_by(|(a, _), (b, _)| a.root.cmp(b.root));
        for same in placed.chunk_by(|(a, _), (b, _)| a.root == b.root) {
            let Some((binding, bound_at)) = same.iter().find(|(one, _)| one.binds) else {
                continue;
            };
            let earlier = self.bound.get(binding.root).is_some_and(|&first| first < mark);
            let (first, used_at) = same[0];
            if earlier || first.binds || used_at >= *bound_at {
                continue;
            }
            findings.warning(|| {
                let message = format!("`${}` is used in a step before it is bound", first.root);
                Diagnostic::warning(codes::USE_BEFORE_BINDING, first.span, message)
                    .label(binding.span, "it is bound here")
                    .help("put the step that binds it first")
            });
        }
    }

    /// Forgets the message.
    #[inline]
    pub(super) fn close(&mut self) {
        self.seen.clear();
        self.bound.clear();
    }

    /// Remarks on what the message never binds.
    #[inline]
    pub(super) fn remark_unbound(&mut self, findings: &mut Findings) {
        if !self.seen.is_empty() {
            self.list_unbound(findings);
        }
    }

    fn list_unbound(&mut self, findings: &mut Findings) {
        let bound = &self.bound;
        if !bound.is_empty() {
            self.seen.retain(|one| !bound.contains_key(one.root));
        }
        self.seen.sort_by(|a, b| a.root.cmp(b.root));
        for same in self.seen.chunk_by(|a, b| a.root == b.root) {
            let first = same[0];
            findings.info(|| {
                let message = format!("`${}` is not bound in this message", first.root);
                Diagnostic::info(codes::UNBOUND_VARIABLE, first.span, message).help(format!(
                    "the receiver must know it from the context; otherwise bind it: `${} = ...`",
                    first.root
                ))
            });
        }
    }
}
