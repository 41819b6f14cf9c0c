//! Why a node cannot be started.

use std::fmt;
use std::path::PathBuf;

use sabir_ldp::{DelegateId, SkillName};
use sabir_store::StoreError;

#[derive(Debug)]
pub enum NodeError {
    Store(StoreError),
    /// The card offers what nothing does.
    NoSuchSkill(SkillName),
    /// A skill needs what this program was started without.
    Missing {
        skill: SkillName,
        what: &'static str,
    },
    /// A variable that the configuration names is not set.
    NoVariable(String),
    /// A variable that the configuration names holds what cannot be used. What it holds is not said.
    BadVariable {
        name: String,
        why: &'static str,
    },
    /// A skill is to work where no folder is.
    NoFolder {
        skill: SkillName,
        folder: PathBuf,
    },
    /// The card cannot be published.
    BadCard(String),
    /// A key that was pinned could not be enforced.
    Unpinned {
        delegate_id: DelegateId,
        why: String,
    },
    /// The system gives no random numbers.
    NoRandom(String),
}

impl fmt::Display for NodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store(error) => error.fmt(f),
            Self::NoSuchSkill(skill) => {
                write!(f, "the card offers the skill {skill}, and nothing does it")
            }
            Self::Missing { skill, what } => write!(f, "the skill {skill} needs {what}"),
            Self::NoVariable(name) => {
                write!(f, "the configuration names the variable {name}, which is not set")
            }
            Self::BadVariable { name, why } => write!(f, "the variable {name} {why}"),
            Self::NoFolder { skill, folder } => {
                write!(
                    f,
                    "the skill {skill} is to work in {}, which is no folder",
                    folder.display()
                )
            }
            Self::BadCard(why) => write!(f, "the card of this node is not right: {why}"),
            Self::Unpinned { delegate_id, why } => write!(
                f,
                "the pinned key of {delegate_id} cannot be enforced: {why}: \
                 `sabir keys forget` those that are not needed"
            ),
            Self::NoRandom(why) => write!(f, "the system gives no random numbers: {why}"),
        }
    }
}

impl std::error::Error for NodeError {}

impl From<StoreError> for NodeError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}
