//! Why a delegation does not even begin. What goes wrong afterwards is in its report.

use std::fmt;

use sabir_ldp::PayloadError;

#[derive(Debug, Clone, PartialEq)]
pub enum DelegationError {
    /// No address was given, and no delegate is known.
    NobodyKnown,
    /// No skill was named, and these are offered.
    SkillNeeded {
        offered: Vec<String>,
    },
    /// The task cannot be said, an empty one for example.
    Task(PayloadError),
    /// The way to check cannot be used.
    Verify(String),
    /// What is kept about delegates cannot be read or written.
    Store(String),
    NoRandomNumbers,
}

impl fmt::Display for DelegationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NobodyKnown => f.write_str(
                "no delegate is known: name one with --to URL, or add one with `sabir delegates add`",
            ),
            Self::SkillNeeded { offered } if offered.is_empty() => {
                f.write_str("no skill is offered")
            }
            Self::SkillNeeded { offered } => {
                write!(f, "several skills are offered, name one with --skill: {}", offered.join(", "))
            }
            Self::Task(error) => error.fmt(f),
            Self::Verify(why) => write!(f, "the result could not be checked: {why}"),
            Self::Store(why) => f.write_str(why),
            Self::NoRandomNumbers => f.write_str("the system has no random numbers"),
        }
    }
}

impl std::error::Error for DelegationError {}
