//! What the fields of an observation or a question say together.

use sabir_base::{Diagnostic, Edit, Span};

use super::Validator;
use super::fields::Seen;
use crate::codes;
use crate::normal;
use crate::tree::Kind;
use crate::view::{Block, Field, Node};

impl Validator {
    /// An `OK` has content and no error; an `ERR` has an error and no content.
    pub(super) fn observation(&mut self, block: Block<'_>, seen: &Seen<'_>) {
        let status = seen.get("s").and_then(Node::as_text);
        match status.as_deref() {
            Some("OK") => {
                if let Some(error) = seen.field("e") {
                    self.error_on_success(error);
                }
            }
            Some("ERR") => {
                if seen.get("e").is_none() {
                    self.missing_error(block);
                }
                if let Some(content) = seen.field("c") {
                    self.content_on_failure(block, content);
                }
            }
            _ => {}
        }
    }

    #[cold]
    fn error_on_success(&mut self, error: Field<'_>) {
        self.findings.warning(|| {
            let message = "an observation that is OK has no error";
            Diagnostic::warning(codes::ERROR_ON_SUCCESS, error.key_span(), message)
                .help("write s:ERR, or leave the error out")
        });
    }

    #[cold]
    fn missing_error(&mut self, block: Block<'_>) {
        self.findings.warning(|| {
            let message = "an observation that failed says why";
            Diagnostic::warning(codes::MISSING_ERROR, block.word_span(), message)
                .help("add e:\"...\"")
        });
    }

    #[cold]
    fn content_on_failure(&mut self, block: Block<'_>, content: Field<'_>) {
        // What holds nothing is left out in silence; many tools send `c:{}`.
        if normal::is_empty(content.value) {
            return;
        }
        self.findings.warning(|| {
            let span = content.key_span();
            let message = "only an observation that is OK has content";
            let found = Diagnostic::warning(codes::CONTENT_ON_FAILURE, span, message);
            if block.field("x_c").is_some() {
                return found.help("leave it out, or move it into x_c");
            }
            found.help("it is written as x_c").fix(Edit::replace(span, "x_c"))
        });
    }

    /// What is taken if nobody answers has to be one of the answers.
    pub(super) fn question(&mut self, seen: &Seen<'_>) {
        let (Some(options), Some(default)) = (seen.get("o"), seen.get("def")) else { return };
        if options.kind() != Kind::Array {
            return;
        }
        let mut items = normal::items(options).peekable();
        // No options are no restriction, and they have their own warning.
        if items.peek().is_none() {
            return;
        }
        let Some(wanted) = default.as_text() else { return };
        let is_wanted = |item: Node<'_>| item.as_text().is_none_or(|text| text == wanted);
        if !items.any(is_wanted) {
            self.default_not_offered(options.span(), default);
        }
    }

    #[cold]
    fn default_not_offered(&mut self, options: Span, default: Node<'_>) {
        self.findings.warning(|| {
            let message = "the default is none of the options";
            Diagnostic::warning(codes::DEFAULT_NOT_OFFERED, default.span(), message)
                .label(options, "the options")
                .help("name one of the options, or add it to them")
        });
    }
}
