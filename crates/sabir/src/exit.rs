//! The exit codes. Scripts depend on them.

use std::process::ExitCode;

/// How a command ended, from good to bad: of several files, the worst one decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// The input is valid, or the work is done.
    Done,
    /// The input has errors; with `fmt --check`, the input is not formatted.
    Found,
    /// The command line is wrong, or a file cannot be read or written.
    Unusable,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(match exit {
            Exit::Done => 0,
            Exit::Found => 1,
            Exit::Unusable => 2,
        })
    }
}
