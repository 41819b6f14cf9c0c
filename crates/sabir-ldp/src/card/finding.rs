//! What a reader has to say about a card. It knows places and words, not what is done about them.

use std::fmt;

use sabir_base::text::clip;
use serde::{Deserialize, Serialize};

use super::IdentityCard;

/// A card that was looked at.
#[derive(Clone, Debug, PartialEq)]
pub struct CardReading {
    /// None if one of the findings is an error.
    pub card: Option<IdentityCard>,
    pub findings: Vec<CardFinding>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardFinding {
    pub gravity: Gravity,
    /// A JSON pointer; empty for the whole card.
    pub pointer: String,
    pub message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gravity {
    /// Something was passed over or is missed; the card is good.
    Note,
    /// The card cannot be used.
    Error,
}

impl CardReading {
    /// The card, or the first error that it has.
    pub fn into_card(self) -> Result<IdentityCard, CardFinding> {
        match (self.card, self.findings.into_iter().find(|it| it.gravity == Gravity::Error)) {
            (Some(card), _) => Ok(card),
            (None, Some(finding)) => Err(finding),
            (None, None) => Err(CardFinding::error("", "the card cannot be read")),
        }
    }
}

impl CardFinding {
    pub(super) fn note(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(Gravity::Note, &pointer.into(), &message.into())
    }

    pub(super) fn error(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(Gravity::Error, &pointer.into(), &message.into())
    }

    /// Both may quote a key as long as the card.
    fn new(gravity: Gravity, pointer: &str, message: &str) -> Self {
        let pointer = clip(pointer, MAX_QUOTED).into_owned();
        Self { gravity, pointer, message: clip(message, MAX_QUOTED).into_owned() }
    }
}

const MAX_QUOTED: usize = 400;

impl fmt::Display for CardFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let gravity = match self.gravity {
            Gravity::Note => "note",
            Gravity::Error => "error",
        };
        write!(f, "{gravity}: ")?;
        if !self.pointer.is_empty() {
            write!(f, "at {}: ", self.pointer)?;
        }
        f.write_str(&self.message)
    }
}
