//! Where findings are gathered, with a bound on how many.

use sabir_base::{Diagnostic, Severity};

use crate::codes;

/// As many of each severity as the parser lists errors: more help nobody.
const MOST: usize = 1_000;

/// The findings so far. They are made only when there is room for them, so that a document with
/// millions of them costs no more than one with a few.
#[derive(Default)]
pub(super) struct Findings {
    list: Vec<Diagnostic>,
    /// How many there were of each severity, listed or not.
    seen: [usize; 3],
}

impl Findings {
    pub(super) fn error(&mut self, make: impl FnOnce() -> Diagnostic) {
        self.add(Severity::Error, make);
    }

    pub(super) fn warning(&mut self, make: impl FnOnce() -> Diagnostic) {
        self.add(Severity::Warning, make);
    }

    pub(super) fn info(&mut self, make: impl FnOnce() -> Diagnostic) {
        self.add(Severity::Info, make);
    }

    #[cold]
    pub(super) fn add(&mut self, severity: Severity, make: impl FnOnce() -> Diagnostic) {
        let seen = &mut self.seen[severity as usize];
        *seen += 1;
        if *seen > MOST + 1 {
            return;
        }
        let mut found = make();
        found.severity = severity;
        if *seen == MOST + 1 {
            // The severity of what is left out: a thousand remarks do not make a document invalid,
            // and a thousand errors must not make it valid.
            let message =
                format!("more than {MOST} findings of this severity; the rest is not listed");
            found = Diagnostic::new(codes::TOO_MANY_ERRORS, severity, found.span, message);
        }
        self.list.push(found);
    }

    pub(super) fn sorted(mut self) -> Vec<Diagnostic> {
        sort(&mut self.list);
        self.list
    }
}

/// By place; what is at the same place keeps its order.
pub(super) fn sort(list: &mut [Diagnostic]) {
    list.sort_by_key(|found| (found.span.start, found.span.end));
}

#[cfg(test)]
mod tests {
    use sabir_base::Span;

    use super::*;

    #[test]
    fn the_overflow_keeps_its_severity() {
        let mut findings = Findings::default();
        for at in 0..3_000 {
            findings.info(|| Diagnostic::info(codes::UNBOUND_VARIABLE, Span::at(at), "x"));
        }
        let list = findings.sorted();
        assert_eq!(list.len(), MOST + 1);
        assert_eq!(list[MOST].code, codes::TOO_MANY_ERRORS);
        assert!(!list.iter().any(Diagnostic::is_error));
    }
}
