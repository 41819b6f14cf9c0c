//! The order of packets in one conversation: every request opens a turn of its own, later than those
//! before, and is answered at most once. It knows no clock.

use std::fmt;

use crate::packet::Turn;
use crate::value::{ConversationId, PacketId};
use crate::{Request, Response};

/// Where a conversation stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Turns {
    last: Option<(ConversationId, Turn)>,
    /// The request that has no answer yet.
    open: Option<PacketId>,
}

/// Why a packet cannot come next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnError {
    OtherConversation {
        expected: ConversationId,
    },
    /// A request does not come after the last turn.
    NotIncreasing {
        last: Turn,
    },
    /// Nothing waits for this answer.
    NothingAsked,
    /// The response belongs to another turn than the open request.
    OtherTurn {
        expected: Turn,
    },
}

impl Turns {
    /// Takes the next request.
    pub fn ask(&mut self, request: &Request) -> Result<(), TurnError> {
        let conversation = &request.envelope.conversation;
        if let Some((id, last)) = &self.last {
            if *id != conversation.id {
                return Err(TurnError::OtherConversation { expected: id.clone() });
            }
            if conversation.turn <= *last {
                return Err(TurnError::NotIncreasing { last: *last });
            }
        }
        self.last = Some((conversation.id.clone(), conversation.turn));
        self.open = Some(request.envelope.id.clone());
        Ok(())
    }

    /// Takes the response to the open request.
    pub fn answer(&mut self, response: &Response) -> Result<(), TurnError> {
        let conversation = &response.envelope.conversation;
        let Some((id, last)) = &self.last else { return Err(TurnError::NothingAsked) };
        if *id != conversation.id {
            return Err(TurnError::OtherConversation { expected: id.clone() });
        }
        if self.open.as_ref() != Some(&response.in_reply_to) {
            return Err(TurnError::NothingAsked);
        }
        if conversation.turn != *last {
            return Err(TurnError::OtherTurn { expected: *last });
        }
        self.open = None;
        Ok(())
    }
}

impl fmt::Display for TurnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TurnError::OtherConversation { expected } => {
                write!(f, "the packet does not belong to the conversation {expected}")
            }
            TurnError::NotIncreasing { last } => {
                write!(f, "the turn does not come after turn {}", last.value())
            }
            TurnError::NothingAsked => f.write_str("no open request has this response"),
            TurnError::OtherTurn { expected } => {
                write!(f, "the open request belongs to turn {}", expected.value())
            }
        }
    }
}

impl std::error::Error for TurnError {}
