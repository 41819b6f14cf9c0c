//! What a thread is made of: the items that models read and write, in the form of the Responses API,
//! because that form loses nothing of either wire.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

/// One item of a thread.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Item {
    Message {
        role: Role,
        content: Vec<Content>,
    },
    /// What a model thought. Kept and sent back, because some models need their own thoughts to go
    /// on; the encrypted form is opaque to us.
    Reasoning {
        #[serde(default)]
        id: String,
        #[serde(default)]
        summary: Vec<Summary>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        encrypted_content: Option<String>,
    },
    FunctionCall {
        call_id: String,
        name: String,
        /// JSON, as text, as the model wrote it. It may be broken: who runs the call says so.
        arguments: String,
    },
    FunctionCallOutput {
        call_id: String,
        output: String,
    },
    /// An item of a kind that this program does not know. It is kept and sent back as it came.
    #[serde(untagged)]
    Other(Value),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    User,
    Assistant,
    System,
    Developer,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Content {
    InputText {
        text: String,
    },
    InputImage {
        image_url: String,
    },
    OutputText {
        text: String,
    },
    Refusal {
        refusal: String,
    },
    #[serde(untagged)]
    Other(Value),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Summary {
    SummaryText { text: String },
}

impl Item {
    /// What a user typed.
    pub fn user(text: impl Into<String>) -> Self {
        let content = vec![Content::InputText { text: text.into() }];
        Self::Message { role: Role::User, content }
    }

    /// What a model said.
    pub fn assistant(text: impl Into<String>) -> Self {
        let content = vec![Content::OutputText { text: text.into() }];
        Self::Message { role: Role::Assistant, content }
    }

    /// The text of a message, its parts joined; refusals count, because a person must see them.
    pub fn text(&self) -> Option<String> {
        let Self::Message { content, .. } = self else { return None };
        let parts = content.iter().filter_map(|part| match part {
            Content::InputText { text } | Content::OutputText { text } => Some(text.as_str()),
            Content::Refusal { refusal } => Some(refusal),
            Content::InputImage { .. } | Content::Other(_) => None,
        });
        Some(parts.collect())
    }
}
