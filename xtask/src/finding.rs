//! What a rule found, and where.

use std::fmt;

/// One broken rule. Printed as `file:line: message [rule]`, which editors can jump to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    /// Relative to the workspace root, with forward slashes.
    pub file: String,
    /// From one.
    pub line: usize,
    pub rule: &'static str,
    pub message: String,
}

impl Finding {
    pub(crate) fn new(
        rule: &'static str,
        file: impl Into<String>,
        line: usize,
        message: impl Into<String>,
    ) -> Self {
        Self { file: file.into(), line, rule, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, rule, message } = self;
        write!(f, "{file}:{line}: {message} [{rule}]")
    }
}

/// How the tests of the rules read: one line per finding, without the rule's name.
#[cfg(test)]
pub(crate) fn lines(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(|it| format!("{}:{}: {}", it.file, it.line, it.message)).collect()
}
