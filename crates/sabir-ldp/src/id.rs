//! The names of things on the wire, each a type of its own. It knows their bounds, not who has them.
//! A name is written once and shared: a node has each of them in many places.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};
use sha2::{Digest as _, Sha256};

use crate::moment::Moment;

/// Longer than any id that a person or a generator makes, short enough to keep in every row.
pub const MAX_ID_BYTES: usize = 256;

/// Why a text is no id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdError {
    Empty,
    TooLong,
    ControlCharacter,
}

impl fmt::Display for IdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("an id is not empty"),
            Self::TooLong => write!(f, "an id has at most {MAX_ID_BYTES} bytes"),
            Self::ControlCharacter => f.write_str("an id has no control characters"),
        }
    }
}

impl std::error::Error for IdError {}

fn checked(text: &str) -> Result<Arc<str>, IdError> {
    if text.is_empty() {
        return Err(IdError::Empty);
    }
    if text.len() > MAX_ID_BYTES {
        return Err(IdError::TooLong);
    }
    // Most are plain letters, of which the control characters are the lowest and the last.
    let is_plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    if !is_plain && text.chars().any(char::is_control) {
        return Err(IdError::ControlCharacter);
    }
    Ok(text.into())
}

/// The hash of something that has a name of its own among those of its owner. The length keeps the
/// two apart.
pub(crate) fn hash_of_named(owner: &DelegateId, name: &str) -> [u8; 32] {
    let owner = owner.as_str();
    let hash = Sha256::new().chain_update((owner.len() as u64).to_be_bytes());
    hash.chain_update(owner).chain_update(name).finalize().into()
}

macro_rules! id {
    ($(#[$about:meta])* $name:ident) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
        #[serde(try_from = "String")]
        pub struct $name(Arc<str>);

        impl $name {
            pub fn new(text: impl AsRef<str>) -> Result<Self, IdError> {
                checked(text.as_ref()).map(Self)
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                Self::new(text)
            }
        }

        impl TryFrom<String> for $name {
            type Error = IdError;

            fn try_from(text: String) -> Result<Self, IdError> {
                Self::new(text)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.as_str().to_owned()
            }
        }

        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }
    };
}

id! {
    /// Who somebody says to be. On a card it has the form `ldp:delegate:NAME`; in an envelope any
    /// name passes, because the references send what they were configured with.
    DelegateId
}
id!(SessionId);
id!(MessageId);
id! {
    /// Belongs to its sender: two senders may use the same.
    TaskId
}
id! {
    /// What a delegate can be asked to do; the name of a capability.
    SkillName
}
id!(ContractId);

impl SessionId {
    /// One that nobody has used.
    pub(crate) fn fresh(moment: &mut Moment) -> Self {
        Self(moment.fresh_id().into())
    }
}

impl MessageId {
    /// One that nobody has used.
    pub fn fresh(moment: &mut Moment) -> Self {
        Self(moment.fresh_id().into())
    }
}

impl DelegateId {
    const PREFIX: &'static str = "ldp:delegate:";

    /// Whether it has the form that the specification gives: the prefix and a name without spaces.
    pub fn is_well_formed(&self) -> bool {
        let name = self.0.strip_prefix(Self::PREFIX);
        name.is_some_and(|name| !name.is_empty() && !name.contains(char::is_whitespace))
    }
}
