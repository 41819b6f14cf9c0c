//! Where the findings about one text are gathered, with a bound on how many.
//!
//! It knows how bad a finding is and nothing of what it is about.

use crate::{Code, Diagnostic, Severity};

/// The findings so far, in the order in which they were made.
///
/// They are made only where there is room for them, so that a text with millions of them costs no
/// more than one with a few.
#[derive(Debug)]
pub struct Findings {
    list: Vec<Diagnostic>,
    /// How many there were of each severity, listed or not.
    seen: [usize; 3],
    overflow: Code,
}

impl Findings {
    /// `overflow` is the code of the finding that says that more were left out.
    pub fn new(overflow: Code) -> Self {
        Self { list: Vec::new(), seen: [0; 3], overflow }
    }

    pub fn error(&mut self, make: impl FnOnce() -> Diagnostic) {
        self.add(Severity::Error, make);
    }

    pub fn warning(&mut self, make: impl FnOnce() -> Diagnostic) {
        self.add(Severity::Warning, make);
    }

    pub fn info(&mut self, make: impl FnOnce() -> Diagnostic) {
        self.add(Severity::Info, make);
    }

    /// A finding that was made already.
    pub fn push(&mut self, found: Diagnostic) {
        self.add(found.severity, || found);
    }

    /// What is made gets the severity under which it is counted.
    #[cold]
    pub fn add(&mut self, severity: Severity, make: impl FnOnce() -> Diagnostic) {
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
            found = Diagnostic::new(self.overflow, severity, found.span, message);
        }
        self.list.push(found);
    }

    pub fn into_list(self) -> Vec<Diagnostic> {
        self.list
    }
}

/// More findings than this of one severity help nobody, and a hostile text could make millions.
const MOST: usize = 1_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Span;

    #[test]
    fn the_overflow_keeps_its_severity() {
        let (remark, wrong, overflow) = (Code::new("T1"), Code::new("T2"), Code::new("T3"));
        let mut findings = Findings::new(overflow);
        for at in 0..3_000 {
            findings.info(|| Diagnostic::info(remark, Span::at(at), "x"));
        }
        let list = findings.into_list();
        assert_eq!(list.len(), MOST + 1);
        assert_eq!(list[MOST].code, overflow);
        assert!(!list.iter().any(Diagnostic::is_error));

        let mut findings = Findings::new(overflow);
        for at in 0..3_000 {
            findings.push(Diagnostic::warning(remark, Span::at(at), "x"));
        }
        findings.push(Diagnostic::error(wrong, Span::at(0), "x"));
        let list = findings.into_list();
        assert_eq!(list.len(), MOST + 2);
        assert_eq!(list.iter().filter(|found| found.is_error()).count(), 1);
    }
}
