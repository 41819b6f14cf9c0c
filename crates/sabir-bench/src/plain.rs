//! A message as the JSON that people would design for it by hand: compact, and not lossless.

use sabir_axon::{Children, Expr, Kind, Message, Node, endpoint_agents};
use serde_json::{Map, Value, json};

pub(crate) fn message(message: Message<'_>) -> Value {
    let mut out = Map::new();
    for field in message.meta() {
        out.insert(field.key().into_owned(), expr(field.value));
    }
    out.insert("act".to_owned(), message.word().into());
    out.insert("from".to_owned(), endpoint(message.from));
    out.insert("to".to_owned(), endpoint(message.to));
    out.insert("content".to_owned(), expr(message.content));
    Value::Object(out)
}

fn endpoint(node: Node<'_>) -> Value {
    match node.kind() {
        Kind::Anyone => "*".into(),
        Kind::Agents => endpoint_agents(node).collect::<Vec<_>>().into(),
        _ => endpoint_agents(node).next().unwrap_or_default().into(),
    }
}

fn expr(node: Node<'_>) -> Value {
    match node.expr() {
        Expr::Null | Expr::Error => Value::Null,
        Expr::Bool(value) => value.into(),
        Expr::String(string) => string.value().into(),
        Expr::Number(number) => match number.unit {
            Some(unit) => format!("{}{}", number.lexeme, unit.text()).into(),
            None => serde_json::from_str(number.lexeme).unwrap_or(Value::Null),
        },
        Expr::Ref(name) => format!("@{name}").into(),
        Expr::Var(name) => format!("${name}").into(),
        Expr::Name(name) => name.into(),
        Expr::Tag { name, record: None } => format!("#{name}").into(),
        Expr::Tag { name, record: Some(record) } => {
            let mut out = Map::new();
            out.insert("tag".to_owned(), name.into());
            fields(record.children(), &mut out);
            Value::Object(out)
        }
        Expr::Call { name, args } => {
            let mut out = Map::new();
            out.insert("call".to_owned(), name.into());
            let positional = args.clone().filter(|arg| arg.as_field().is_none());
            out.insert("args".to_owned(), positional.map(expr).collect::<Vec<_>>().into());
            fields(args, &mut out);
            Value::Object(out)
        }
        Expr::List(elements) => elements.map(expr).collect::<Vec<_>>().into(),
        Expr::Record(children) => {
            let mut out = Map::new();
            fields(children, &mut out);
            Value::Object(out)
        }
        Expr::Approx { of, .. } => json!({ "about": expr(of) }),
        Expr::Range { from, to } => json!({ "from": expr(from), "to": expr(to) }),
        Expr::Compare { op, left, right } => {
            json!({ "op": op.symbol(), "args": [expr(left), expr(right)] })
        }
        Expr::Chain { op, operands } => {
            json!({ "op": op.symbol(), "args": operands.map(expr).collect::<Vec<_>>() })
        }
        Expr::Message(nested) => message(nested),
    }
}

fn fields(children: Children<'_>, out: &mut Map<String, Value>) {
    for field in children.filter_map(Node::as_field) {
        out.insert(field.key().into_owned(), expr(field.value));
    }
}
