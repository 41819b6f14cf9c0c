//! Variables: bound in the message, or expected from the context (sections 6.4 rule 3 and 6.5).
//!
//! `$x = ...` binds `$x` for the whole message, nested messages and metadata included. Every other
//! occurrence uses it; `$x.part` uses `$x`. Outputs of a step, like `$result` in section 6.5, are
//! not written down anywhere, so an unbound variable is only worth a remark. Steps of `->` have an
//! order, and there a use before the binding is a mistake.

use std::collections::HashMap;

use sabir_base::{Diagnostic, Findings, Span};

use crate::codes;
use crate::view::Node;

/// The variables of one message. Reused for the next one, so that it allocates once.
#[derive(Default)]
pub(super) struct Scope<'a> {
    /// Every occurrence, in the order of the text.
    seen: Vec<Occurrence>,
    variables: Vec<Variable<'a>>,
    /// Where in `variables` each of them is. Empty while there are few.
    index: HashMap<&'a str, usize>,
    /// The `->` chains around what comes next, from the outside in.
    chains: Vec<Steps>,
}

struct Occurrence {
    span: Span,
    /// The place in `seen` of the same variable's occurrence before this one.
    before: Option<usize>,
}

struct Variable<'a> {
    /// Without `$` and without the path behind it.
    root: &'a str,
    first: Span,
    /// The place in `seen` of its last occurrence so far.
    last: usize,
    is_bound: bool,
}

/// A `->` chain that is being walked, by places in `seen`: earlier steps have what lies from `start`
/// to before `step`. Chains nest, so these stretches lie apart, an outer one before an inner one.
#[derive(Clone, Copy)]
struct Steps {
    start: usize,
    step: usize,
}

/// Up to here it is quicker to look at all variables than to hash their names.
const FEW: usize = 8;

impl<'a> Scope<'a> {
    pub(super) fn uses(&mut self, var: Node<'a>) {
        self.note(var);
    }

    pub(super) fn binds(&mut self, var: Node<'a>, findings: &mut Findings) {
        let variable = self.note(var);
        // `$x.part = 1` says something about `$x`, which must come from elsewhere.
        if !var.text().contains('.') && !self.variables[variable].is_bound {
            self.variables[variable].is_bound = true;
            self.check_order(variable, findings);
        }
    }

    /// Which of `variables` it is.
    fn note(&mut self, var: Node<'a>) -> usize {
        let name = &var.text()[1..];
        let root = name.split_once('.').map_or(name, |(root, _)| root);
        let (place, span) = (self.seen.len(), var.span());
        let known = self.find(root);
        let before = known.map(|known| std::mem::replace(&mut self.variables[known].last, place));
        self.seen.push(Occurrence { span, before });
        known.unwrap_or_else(|| {
            self.variables.push(Variable { root, first: span, last: place, is_bound: false });
            self.list_last();
            self.variables.len() - 1
        })
    }

    fn find(&self, root: &str) -> Option<usize> {
        if self.variables.len() > FEW {
            return self.index.get(root).copied();
        }
        self.variables.iter().position(|variable| variable.root == root)
    }

    /// Brings the index up to date after a variable was added.
    fn list_last(&mut self) {
        if self.variables.len() > FEW {
            let listed = self.index.len();
            let unlisted = self.variables.iter().enumerate().skip(listed);
            self.index.extend(unlisted.map(|(place, variable)| (variable.root, place)));
        }
    }

    /// A `->` chain opens here.
    pub(super) fn open_steps(&mut self) {
        self.chains.push(Steps { start: self.seen.len(), step: self.seen.len() });
    }

    pub(super) fn next_step(&mut self) {
        let place = self.seen.len();
        if let Some(chain) = self.chains.last_mut() {
            chain.step = place;
        }
    }

    pub(super) fn close_steps(&mut self) {
        self.chains.pop();
    }

    /// Reports uses of a variable in a step before the one that has just bound it: for each chain
    /// around, the first. A variable is bound first only once, so every occurrence is looked at once
    /// at most.
    fn check_order(&self, variable: usize, findings: &mut Findings) {
        let Variable { root, last, .. } = self.variables[variable];
        let binding = &self.seen[last];
        let mut next = binding.before;
        while let Some(place) = next {
            let used = &self.seen[place];
            next = used.before;
            let around = self.chains.partition_point(|chain| chain.start <= place);
            // Before the outermost chain there are no steps.
            let Some(chain) = around.checked_sub(1).map(|around| self.chains[around]) else {
                break;
            };
            let is_first = next.is_none_or(|earlier| earlier < chain.start);
            if place < chain.step && is_first {
                early_use(root, used.span, binding.span, findings);
            }
        }
    }

    /// Forgets the message.
    #[inline]
    pub(super) fn close(&mut self) {
        self.seen.clear();
        self.variables.clear();
        if !self.index.is_empty() {
            // To clear a table costs as much as it once held, and there may be many messages.
            self.index = HashMap::new();
        }
    }

    /// Remarks on what the message never binds.
    #[inline]
    pub(super) fn remark_unbound(&self, findings: &mut Findings) {
        for variable in self.variables.iter().filter(|variable| !variable.is_bound) {
            unbound(variable, findings);
        }
    }
}

#[cold]
fn early_use(root: &str, used: Span, bound: Span, findings: &mut Findings) {
    findings.warning(|| {
        let message = format!("`${root}` is used in a step before it is bound");
        Diagnostic::warning(codes::USE_BEFORE_BINDING, used, message)
            .label(bound, "it is bound here")
            .help("put the step that binds it first")
    });
}

#[cold]
fn unbound(variable: &Variable<'_>, findings: &mut Findings) {
    findings.info(|| {
        let root = variable.root;
        let message = format!("`${root}` is not bound in this message");
        let help = format!(
            "the receiver must know it from the context; otherwise bind it: `${root} = ...`"
        );
        Diagnostic::info(codes::UNBOUND_VARIABLE, variable.first, message).help(help)
    });
}
