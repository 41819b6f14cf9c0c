//! Where findings are gathered, with a bound on how many.

use sabir_base::{Diagnostic, Severity};

use crate::codes;

/// More findings than this of one severity help nobody, and a hostile text could make millions.
const MOST: usize = 1_000;

/// The findings so far, in the order in which they were made.
#[derive(Default)]
pub(crate) struct Findings {
    list: Vec<Diagnostic>,
    /// How many there were of each severity, listed or not.
    seen: [usize; 3],
}

impl Findings {
    #[cold]
    pub(crate) fn push(&mut self, found: Diagnostic) {
        self.add(found.severity, || found);
    }

    /// Makes the finding only where there is room for it.
    #[cold]
    pub(crate) fn error(&mut self, make: impl FnOnce() -> Diagnostic) {
        self.add(Severity::Error, make);
    }

    /// As `error`.
    #[cold]
    pub(crate) fn warning(&mut self, make: impl FnOnce() -> Diagnostic) {
        self.add(Severity::Warning, make);
    }

    fn add(&mut self, severity: Severity, make: impl FnOnce() -> Diagnostic) {
        let seen = &mut self.seen[severity as usize];
        *seen += 1;
        if *seen > MOST + 1 {
            return;
        }
        let mut found = make();
        if *seen == MOST + 1 {
            // The severity of what is left out: a thousand warnings do not make a document invalid,
            // and a thousand errors must not make it valid.
            let message =
                format!("more than {MOST} findings of this severity; the rest is not listed");
            found = Diagnostic::new(codes::TOO_MANY_ERRORS, severity, found.span, message);
        }
        self.list.push(found);
    }

    pub(crate) fn into_list(self) -> Vec<Diagnostic> {
        self.list
    }
}

#[cfg(test)]
mod tests {
    use sabir_base::Span;

    use super::*;

    #[test]
    fn the_overflow_keeps_its_severity() {
        let mut findings = Findings::default();
        for at in 0..3_000 {
            findings.push(Diagnostic::warning(codes::NULL_VALUE, Span::at(at), "x"));
        }
        findings.push(Diagnostic::error(codes::MISSING_VALUE, Span::at(0), "x"));
        let list = findings.into_list();
        assert_eq!(list.len(), MOST + 2);
        assert_eq!(list[MOST].code, codes::TOO_MANY_ERRORS);
        assert_eq!(list.iter().filter(|found| found.is_error()).count(), 1);
    }
}
