//! Tree to JSON, written straight from the tree.
//!
//! What cannot be encoded is found by a pass of its own, so that the writer has nothing to refuse
//! and no part of a document is written before the whole of it is known to be good.

mod check;

use sabir_base::Span;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use super::VERSION;
use crate::normal::{approx, operands, peel};
use crate::tree::{Kind, Tree};
use crate::view::{Expr, Field, Message, Node};

/// A document with errors has no encoding: part of it could not be read, or a key stands twice. Nor
/// has one with more than a million `~`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EncodeError {
    /// The first part that cannot be encoded.
    pub span: Span,
}

impl std::fmt::Display for EncodeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the text at bytes {:?} is not valid AXON or too large for its JSON", self.span)
    }
}

impl std::error::Error for EncodeError {}

/// A document that can be encoded: give it to any serializer. It needs no memory of its own.
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

/// The JSON of a document, as a value. To write it, [`encoding`] is quicker and smaller.
pub fn encode(tree: &Tree<'_>) -> Result<Value, EncodeError> {
    let encoding = encoding(tree)?;
    // Every key is a string and nothing here refuses, so a value can hold all of it.
    serde_json::to_value(encoding).map_err(|_| EncodeError { span: tree.root().span() })
}

impl Serialize for Encoding<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        two(serializer, ("axon", &VERSION), ("messages", &Messages(self.tree.root())))
    }
}

type Entry<'v, T> = (&'static str, &'v T);

fn one<S: Serializer>(
    serializer: S,
    (key, value): Entry<'_, impl Serialize + ?Sized>,
) -> Result<S::Ok, S::Error> {
    let mut object = serializer.serialize_map(Some(1))?;
    object.serialize_entry(key, value)?;
    object.end()
}

fn two<S: Serializer>(
    serializer: S,
    first: Entry<'_, impl Serialize + ?Sized>,
    second: Entry<'_, impl Serialize + ?Sized>,
) -> Result<S::Ok, S::Error> {
    let mut object = serializer.serialize_map(Some(2))?;
    object.serialize_entry(first.0, first.1)?;
    object.serialize_entry(second.0, second.1)?;
    object.end()
}

/// The messages under the root.
struct Messages<'a>(Node<'a>);

impl Serialize for Messages<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.children().map(Expression))
    }
}

fn message<S: Serializer>(message: Message<'_>, serializer: S) -> Result<S::Ok, S::Error> {
    let meta = message.meta_node();
    let mut object = serializer.serialize_map(Some(4 + usize::from(meta.is_some())))?;
    if let Some(meta) = meta {
        object.serialize_entry("meta", &Fields(meta))?;
    }
    object.serialize_entry("performative", message.word())?;
    object.serialize_entry("from", &Endpoint(message.from))?;
    object.serialize_entry("to", &Endpoint(message.to))?;
    object.serialize_entry("content", &Expression(message.content))?;
    object.end()
}

struct Endpoint<'a>(Node<'a>);

impl Serialize for Endpoint<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.kind() {
            Kind::Agents => serializer.collect_seq(self.0.children().map(Node::text)),
            _ => serializer.serialize_str(self.0.text()),
        }
    }
}

/// The fields under a record or a metadata block, as one object.
struct Fields<'a>(Node<'a>);

impl Serialize for Fields<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fields = self.0.children().filter_map(Node::as_field);
        serializer.collect_map(fields.map(|field| (field.key(), Expression(field.value))))
    }
}

struct Expression<'a>(Node<'a>);

impl Serialize for Expression<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let node = peel(self.0);
        match node.expr() {
            // The check has refused `Error`: it does not come here.
            Expr::Null | Expr::Error => serializer.serialize_unit(),
            Expr::Bool(value) => serializer.serialize_bool(value),
            Expr::String(string) => serializer.serialize_str(&string.value()),
            Expr::Number(number) => match number.unit {
                None => one(serializer, ("num", number.lexeme)),
                Some(unit) => two(serializer, ("num", number.lexeme), ("unit", unit.text())),
            },
            Expr::Ref(name) => one(serializer, ("ref", name)),
            Expr::Var(name) => one(serializer, ("var", name)),
            Expr::Name(name) => one(serializer, ("name", name)),
            Expr::Tag { name, record: None } => one(serializer, ("tag", name)),
            Expr::Tag { name, record: Some(record) } => {
                two(serializer, ("tag", name), ("record", &Fields(record)))
            }
            Expr::Call { name, .. } => two(serializer, ("call", name), ("args", &Arguments(node))),
            Expr::List(elements) => serializer.collect_seq(elements.map(Expression)),
            Expr::Record(_) => one(serializer, ("record", &Fields(node))),
            Expr::Approx { .. } => match approx(node) {
                (1, of) => one(serializer, ("approx", &Expression(of))),
                (times, of) => two(serializer, ("approx", &Expression(of)), ("times", &times)),
            },
            Expr::Range { from, to } => {
                two(serializer, ("op", ".."), ("args", &[Expression(from), Expression(to)]))
            }
            Expr::Compare { op, left, right } => {
                let args = [Expression(left), Expression(right)];
                two(serializer, ("op", op.symbol()), ("args", &args))
            }
            Expr::Chain { op, .. } => two(serializer, ("op", op.symbol()), ("args", &Chain(node))),
            Expr::Message(inner) => message(inner, serializer),
        }
    }
}

/// The arguments of a call.
struct Arguments<'a>(Node<'a>);

impl Serialize for Arguments<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.children().map(Argument))
    }
}

struct Argument<'a>(Node<'a>);

impl Serialize for Argument<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.as_field() {
            None => Expression(self.0).serialize(serializer),
            Some(field @ Field { value, .. }) => {
                two(serializer, ("arg", &field.key()), ("value", &Expression(value)))
            }
        }
    }
}

/// The operands of a chain, one after the other: there may be as many as a text has bytes.
struct Chain<'a>(Node<'a>);

impl Serialize for Chain<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(operands(self.0).map(Expression))
    }
}
