//! A text that is no message: what is wrong with it, where, and as much of it as could be read, so
//! that the answer can name what it answers.

use std::fmt;

use sabir_base::json::{JsonError, JsonFault};
use sabir_base::text::clip;
use serde::{Deserialize, Serialize};

use super::MessageType;
use crate::id::{DelegateId, MessageId, SessionId, TaskId};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Malformed {
    pub fault: Fault,
    /// A JSON pointer; empty for the whole text.
    pub pointer: String,
    pub message: String,
    pub message_id: Option<MessageId>,
    pub session_id: Option<SessionId>,
    pub from: Option<DelegateId>,
    pub message_type: Option<MessageType>,
    pub task_id: Option<TaskId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// It is not JSON, or JSON that two readers may read differently or not at all: nobody can
    /// be answered.
    Text,
    /// It is JSON and no message.
    Shape,
}

impl Malformed {
    pub(super) fn new(error: JsonError) -> Self {
        let fault = match error.fault {
            JsonFault::Syntax
            | JsonFault::TooLarge
            | JsonFault::TooDeep
            | JsonFault::DuplicateKey
            | JsonFault::Escape => Fault::Text,
            JsonFault::Shape => Fault::Shape,
        };
        Self {
            fault,
            // Both may quote a key as long as the message, and both go into answers and logs.
            pointer: clip(&error.pointer, MAX_QUOTED).into_owned(),
            message: clip(&error.message, MAX_QUOTED).into_owned(),
            message_id: None,
            session_id: None,
            from: None,
            message_type: None,
            task_id: None,
        }
    }
}

const MAX_QUOTED: usize = 400;

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.pointer.is_empty() {
            write!(f, "at {}: ", self.pointer)?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for Malformed {}
