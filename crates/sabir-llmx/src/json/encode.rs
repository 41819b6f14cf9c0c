//! Tree to JSON, written straight from the tree.
//!
//! What cannot be encoded is found by a pass of its own, so that the writer has nothing to refuse
//! and no part of a document is written before the whole of it is known to be good.

mod check;

use std::fmt::{self, Write};

use sabir_base::Span;

use super::{VERSION, form};
use crate::block::BlockKind;
use crate::normal::{self, Normal};
use crate::strings::quote_into;
use crate::tree::{Kind, Tree};
use crate::view::{Block, Field, Message, Node};

/// A document with errors has no encoding: part of it could not be read, or a key stands twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EncodeError {
    /// The first part that cannot be encoded.
    pub span: Span,
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the text at bytes {:?} is not valid LLMX and cannot be encoded", self.span)
    }
}

impl std::error::Error for EncodeError {}

/// A document that can be encoded. It needs no memory of its own: `{}` writes it in one line,
/// `{:#}` over several.
#[derive(Clone, Copy, Debug)]
pub struct Encoding<'a> {
    tree: &'a Tree<'a>,
}

/// The encoding of a document without errors. Not every error leaves a trace in the tree, so ask
/// `Parsed::has_errors` first; what would be lost or wrong is refused here all the same.
pub fn encoding<'a>(tree: &'a Tree<'_>) -> Result<Encoding<'a>, EncodeError> {
    check::document(tree)?;
    Ok(Encoding { tree })
}

/// The JSON of a document, in one line. Numbers are written as they are in the document, so a reader
/// that keeps their digits loses nothing.
pub fn encode(tree: &Tree<'_>) -> Result<String, EncodeError> {
    let encoding = encoding(tree)?;
    let mut out = String::with_capacity(tree.text().len() + tree.text().len() / 2);
    let mut writer = Writer::new(&mut out, Layout::OneLine);
    // Writing to a string does not fail.
    let _ = writer.document(encoding.tree);
    Ok(out)
}

impl fmt::Display for Encoding<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let layout = if f.alternate() { Layout::Indented } else { Layout::OneLine };
        Writer::new(f, layout).document(self.tree)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    OneLine,
    Indented,
}

struct Writer<'w, W> {
    out: &'w mut W,
    layout: Layout,
    depth: usize,
    /// The string that is being written.
    quoted: String,
}

impl<'w, W: Write> Writer<'w, W> {
    fn new(out: &'w mut W, layout: Layout) -> Self {
        Self { out, layout, depth: 0, quoted: String::new() }
    }

    /// A list or an object of `items`.
    fn group<T>(
        &mut self,
        [open, close]: [char; 2],
        items: impl Iterator<Item = T>,
        mut write: impl FnMut(&mut Self, T) -> fmt::Result,
    ) -> fmt::Result {
        self.out.write_char(open)?;
        self.depth += 1;
        let mut is_empty = true;
        for item in items {
            if !is_empty {
                self.out.write_char(',')?;
            }
            is_empty = false;
            self.line()?;
            write(self, item)?;
        }
        self.depth -= 1;
        if !is_empty {
            self.line()?;
        }
        self.out.write_char(close)
    }

    fn line(&mut self) -> fmt::Result {
        if self.layout == Layout::OneLine {
            return Ok(());
        }
        self.out.write_char('\n')?;
        (0..self.depth).try_for_each(|_| self.out.write_str("  "))
    }

    fn string(&mut self, text: &str) -> fmt::Result {
        self.quoted.clear();
        // The escapes of LLMX are those of JSON.
        quote_into(&mut self.quoted, text);
        self.out.write_str(&self.quoted)
    }

    /// A key and its colon. Keys and types are letters, digits, `_` and `$`.
    fn key(&mut self, key: &str) -> fmt::Result {
        let colon = if self.layout == Layout::OneLine { "\":" } else { "\": " };
        self.out.write_char('"')?;
        self.out.write_str(key)?;
        self.out.write_str(colon)
    }

    fn document(&mut self, tree: &Tree<'_>) -> fmt::Result {
        self.group(BRACES, ["llmx", "messages"].into_iter(), |writer, key| {
            writer.key(key)?;
            match key {
                "llmx" => write!(writer.out, "{VERSION}"),
                _ => writer.group(BRACKETS, tree.messages(), Self::message),
            }
        })
    }

    fn message(&mut self, message: Message<'_>) -> fmt::Result {
        self.group(BRACES, ["header", "blocks"].into_iter(), |writer, key| {
            writer.key(key)?;
            match (key, message.header()) {
                ("header", Some(header)) => writer.body(header),
                _ => writer.group(BRACKETS, message.blocks(), Self::block),
            }
        })
    }

    fn block(&mut self, block: Block<'_>) -> fmt::Result {
        self.group(BRACES, std::iter::once(block), |writer, block| {
            match block.kind().info() {
                Some(info) => writer.key(info.word)?,
                None => writer.key(&block.word().to_ascii_uppercase())?,
            }
            writer.body(block)
        })
    }

    fn body(&mut self, block: Block<'_>) -> fmt::Result {
        match block.body.kind() {
            _ if normal::is_verbatim(block) => self.verbatim(block.body),
            Kind::Object => self.group(BRACES, normal::block_fields(block), Self::field),
            Kind::Array if block.kind() == BlockKind::Plan => {
                self.group(BRACKETS, normal::items(block.body), |writer, step| match step.kind() {
                    Kind::Object | Kind::Tuple => {
                        writer.group(BRACES, normal::step_fields(step), Self::field)
                    }
                    _ => writer.value(step),
                })
            }
            _ => self.value(block.body),
        }
    }

    fn field(&mut self, field: Normal<'_>) -> fmt::Result {
        self.key(&field.key)?;
        if field.verbatim { self.verbatim(field.value) } else { self.value(field.value) }
    }

    /// A value in the strict form.
    fn value(&mut self, node: Node<'_>) -> fmt::Result {
        match node.kind() {
            Kind::Array => self.group(BRACKETS, normal::items(node), Self::value),
            Kind::Object | Kind::Tuple => {
                self.group(BRACES, normal::object_fields(node), Self::field)
            }
            _ => match node.as_text() {
                Some(text) => self.string(&text),
                // Numbers, booleans and `null` are those of JSON.
                None => self.out.write_str(node.text()),
            },
        }
    }

    /// A value in an extension, as it is.
    fn verbatim(&mut self, node: Node<'_>) -> fmt::Result {
        match node.kind() {
            Kind::Array => self.group(BRACKETS, node.children(), Self::verbatim),
            Kind::Object => self.verbatim_fields(node),
            Kind::Tuple => self.form(form::TUPLE, |writer| writer.verbatim_fields(node)),
            Kind::Word => self.form(form::WORD, |writer| writer.string(node.text())),
            Kind::Run => self.form(form::RUN, |writer| writer.string(node.text())),
            _ => self.value(node),
        }
    }

    fn verbatim_fields(&mut self, node: Node<'_>) -> fmt::Result {
        self.group(BRACES, node.fields(), |writer, field: Field<'_>| {
            writer.key(field.key())?;
            writer.verbatim(field.value)
        })
    }

    fn form(&mut self, key: &str, write: impl FnOnce(&mut Self) -> fmt::Result) -> fmt::Result {
        self.group(BRACES, std::iter::once(write), |writer, write| {
            writer.key(key)?;
            write(writer)
        })
    }
}

const BRACES: [char; 2] = ['{', '}'];
const BRACKETS: [char; 2] = ['[', ']'];
