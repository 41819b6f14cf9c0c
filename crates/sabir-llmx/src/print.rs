//! Tree to text, in the strict form: no white space but one line feed after every block.

use crate::block::BlockKind;
use crate::normal::{self, Normal};
use crate::strings::{is_word, quote_into};
use crate::tree::{Kind, Tree};
use crate::view::{Block, Node};

/// Writes a document in the strict form. What could not be read is written as it was.
pub fn print(tree: &Tree<'_>) -> String {
    let mut printer = Printer { out: String::with_capacity(tree.text().len() + 16) };
    for node in tree.root().children() {
        match node.as_message() {
            Some(message) => message.node.children().for_each(|child| printer.top(child)),
            None => printer.top(node),
        }
    }
    printer.out
}

struct Printer {
    out: String,
}

impl Printer {
    fn top(&mut self, node: Node<'_>) {
        match node.as_block() {
            Some(block) => self.block(block),
            None => self.out.push_str(node.text()),
        }
        self.out.push('\n');
    }

    fn block(&mut self, block: Block<'_>) {
        self.out.push_str(block.word());
        let word_start = self.out.len() - block.word().len();
        self.out[word_start..].make_ascii_uppercase();
        self.out.push(':');
        let body = block.body;
        match body.kind() {
            _ if normal::is_verbatim(block) => self.out.push_str(body.text()),
            Kind::Object => self.fields('{', normal::block_fields(block), '}'),
            Kind::Array if block.kind() == BlockKind::Plan => self.steps(body),
            _ => self.value(body, false),
        }
    }

    fn steps(&mut self, plan: Node<'_>) {
        self.list(normal::items(plan), |printer, step| match step.kind() {
            Kind::Object | Kind::Tuple => printer.fields('(', normal::step_fields(step), ')'),
            _ => printer.value(step, false),
        });
    }

    #[inline]
    fn list<'a>(
        &mut self,
        items: impl Iterator<Item = Node<'a>>,
        mut write: impl FnMut(&mut Self, Node<'a>),
    ) {
        self.out.push('[');
        for (index, item) in items.enumerate() {
            if index > 0 {
                self.out.push(',');
            }
            write(self, item);
        }
        self.out.push(']');
    }

    #[inline]
    fn fields<'a>(&mut self, open: char, fields: impl Iterator<Item = Normal<'a>>, close: char) {
        self.out.push(open);
        for (index, field) in fields.enumerate() {
            if index > 0 {
                self.out.push(',');
            }
            self.out.push_str(&field.key);
            self.out.push(':');
            let value = field.value;
            if open == '(' && value.kind() == Kind::Run && value.text().contains(')') {
                // Here it would end the step.
                quote_into(&mut self.out, value.text());
            } else if field.verbatim {
                self.out.push_str(value.text());
            } else {
                self.value(value, field.bare);
            }
        }
        self.out.push(close);
    }

    fn value(&mut self, node: Node<'_>, bare: bool) {
        match node.kind() {
            Kind::Word if bare => self.out.push_str(node.text()),
            Kind::Word => {
                self.out.push('"');
                self.out.push_str(node.text());
                self.out.push('"');
            }
            Kind::String if !bare && node.is_plain_string() => self.out.push_str(node.text()),
            Kind::String | Kind::Run => {
                let text = node.as_text().unwrap_or_default();
                if bare && is_word(&text) {
                    self.out.push_str(&text);
                } else {
                    quote_into(&mut self.out, &text);
                }
            }
            Kind::Array => {
                self.list(normal::items(node), |printer, item| printer.value(item, bare))
            }
            Kind::Object | Kind::Tuple => self.fields('{', normal::object_fields(node), '}'),
            Kind::Number
            | Kind::True
            | Kind::False
            | Kind::Null
            | Kind::Error
            | Kind::Document
            | Kind::Message
            | Kind::Block
            | Kind::Field => self.out.push_str(node.text()),
        }
    }
}
