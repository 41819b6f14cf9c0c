//! The user's text: the documents first and the question last, where models heed it best.

use serde_json::Value;

use crate::contract::smallest_response;
use crate::fence::Fence;
use crate::{OutputFormat, Request};

/// All of the text but the documents.
#[derive(Debug)]
pub(super) struct Prompt<'a> {
    request: &'a Request,
    mark: &'a str,
    args: String,
    reply: Option<String>,
}

impl<'a> Prompt<'a> {
    pub(super) fn of(request: &'a Request, fence: &'a Fence) -> Self {
        let args = match request.task.args.is_empty() {
            true => String::new(),
            false => Value::Object(request.task.args.clone()).to_string(),
        };
        let reply = match request.format {
            OutputFormat::Json => {
                let id = format!("res-{}", fence.mark());
                Some(smallest_response(request, &id).to_string())
            }
            OutputFormat::Markdown => None,
        };
        Self { request, mark: fence.mark(), args, reply }
    }

    /// The arguments of the task, as JSON.
    pub(super) fn args(&self) -> &str {
        &self.args
    }

    pub(super) fn render<'t>(
        &self,
        documents: impl Iterator<Item = &'t str>,
        note: &str,
    ) -> String {
        let mut text = format!("# Documents\n\nThe mark is {}. {note}\n\n", self.mark);
        for document in documents {
            text.push_str(document);
            text.push('\n');
        }
        let name = self.request.task.name;
        let said = &self.request.user_message.text;
        text.push_str(&format!("# Task\n\n{name} {}\n\n# Request\n\n{said}\n", self.args));
        if let Some(reply) = &self.reply {
            text.push_str(&format!("\n# Reply\n\nFill in this packet:\n{reply}\n"));
        }
        text
    }
}
