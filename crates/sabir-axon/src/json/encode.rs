//! Tree to JSON.

use sabir_base::Span;
use serde_json::{Map, Value, json};

use super::VERSION;
use crate::normal::{approx, operands, peel};
use crate::tree::{Kind, Tree};
use crate::view::{Expr, Message, Node};

/// A document with errors has no encoding: part of it could not be read, or a key stands twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EncodeError {
    /// The first part that cannot be encoded.
    pub span: Span,
}

impl std::fmt::Display for EncodeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the text at bytes {:?} is not valid AXON and cannot be encoded", self.span)
    }
}

impl std::error::Error for EncodeError {}

/// The JSON of a document without errors. Not every error leaves a trace in the tree, so ask
/// `Parsed::has_errors` first; what would be lost or wrong is refused here all the same.
pub fn encode(tree: &Tree<'_>) -> Result<Value, EncodeError> {
    let messages = tree.root().children().map(|node| {
        let message = node.as_message().ok_or_else(|| broken(node))?;
        encode_message(message)
    });
    let messages = messages.collect::<Result<Vec<_>, _>>()?;
    Ok(json!({ "axon": VERSION, "messages": messages }))
}

fn broken(node: Node<'_>) -> EncodeError {
    EncodeError { span: node.span() }
}

fn object<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::Object(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

fn encode_message(message: Message<'_>) -> Result<Value, EncodeError> {
    let mut parts = Map::new();
    let mut count = 4;
    if let Some(meta) = message.meta_node() {
        parts.insert("meta".to_owned(), encode_fields(meta)?);
        count += 1;
    }
    // What stands behind the content was not read as part of it.
    if let Some(rest) = message.node.children().nth(count) {
        return Err(broken(rest));
    }
    parts.insert("performative".to_owned(), message.word().into());
    parts.insert("from".to_owned(), encode_endpoint(message.from)?);
    parts.insert("to".to_owned(), encode_endpoint(message.to)?);
    parts.insert("content".to_owned(), encode_expr(message.content)?);
    Ok(Value::Object(parts))
}

fn encode_endpoint(node: Node<'_>) -> Result<Value, EncodeError> {
    match node.kind() {
        Kind::Agent | Kind::Anyone => Ok(node.text().into()),
        Kind::Agents => node.children().map(encode_endpoint).collect(),
        _ => Err(broken(node)),
    }
}

/// The fields under a record or a metadata block, as one object.
fn encode_fields(node: Node<'_>) -> Result<Value, EncodeError> {
    let mut fields = Map::new();
    for child in node.children() {
        let field = child.as_field().ok_or_else(|| broken(child))?;
        let keyless = field.key_span().is_empty();
        let value = encode_expr(field.value)?;
        if keyless || fields.insert(field.key().into_owned(), value).is_some() {
            return Err(broken(child));
        }
    }
    Ok(Value::Object(fields))
}

fn encode_expr(node: Node<'_>) -> Result<Value, EncodeError> {
    let node = peel(node);
    // Parentheses that are still here hold nothing or several things.
    if node.kind() == Kind::Paren {
        return Err(broken(node));
    }
    Ok(match node.expr() {
        Expr::Null => Value::Null,
        Expr::Bool(value) => value.into(),
        Expr::String(string) => string.value().into_owned().into(),
        Expr::Number(number) => match number.unit {
            None => object([("num", number.lexeme.into())]),
            Some(unit) => object([("num", number.lexeme.into()), ("unit", unit.text().into())]),
        },
        Expr::Ref(name) => object([("ref", name.into())]),
        Expr::Var(name) => object([("var", name.into())]),
        Expr::Name(name) => object([("name", name.into())]),
        Expr::Tag { name, record: None } => object([("tag", name.into())]),
        Expr::Tag { name, record: Some(record) } => {
            object([("tag", name.into()), ("record", encode_fields(record)?)])
        }
        Expr::Call { name, args } => {
            let args = args.map(encode_argument).collect::<Result<Value, _>>()?;
            object([("call", name.into()), ("args", args)])
        }
        Expr::List(elements) => elements.map(encode_expr).collect::<Result<Value, _>>()?,
        Expr::Record(_) => object([("record", encode_fields(node)?)]),
        Expr::Approx { .. } => {
            let (times, of) = approx(node);
            let of = encode_expr(of)?;
            match times {
                1 => object([("approx", of)]),
                times => object([("approx", of), ("times", times.into())]),
            }
        }
        Expr::Range { from, to } => operation("..", [from, to].into_iter())?,
        Expr::Compare { op, left, right } => operation(op.symbol(), [left, right].into_iter())?,
        Expr::Chain { op, .. } => operation(op.symbol(), operands(node))?,
        Expr::Message(message) => encode_message(message)?,
        Expr::Error => return Err(broken(node)),
    })
}

fn operation<'a>(op: &str, operands: impl Iterator<Item = Node<'a>>) -> Result<Value, EncodeError> {
    let args = operands.map(encode_expr).collect::<Result<Value, _>>()?;
    Ok(object([("op", op.into()), ("args", args)]))
}

fn encode_argument(node: Node<'_>) -> Result<Value, EncodeError> {
    match node.as_field() {
        None => encode_expr(node),
        Some(field) => {
            let value = encode_expr(field.value)?;
            Ok(object([("arg", field.key().into_owned().into()), ("value", value)]))
        }
    }
}
