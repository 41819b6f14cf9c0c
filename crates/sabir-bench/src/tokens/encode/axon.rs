//! AXON: the text is written as a person would, then printed by the library in both styles.

use anyhow::{Result, ensure};
use sabir_axon::{Style, parse, print, quote_into};

use crate::tokens::scenario::{Fields, Message, MetaKey, Term, To};

pub(super) fn wire(message: &Message) -> Result<String> {
    printed(message, Style::Wire)
}

pub(super) fn pretty(message: &Message) -> Result<String> {
    printed(message, Style::Pretty)
}

fn printed(message: &Message, style: Style) -> Result<String> {
    let mut text = String::new();
    write_message(&mut text, message);
    let parsed = parse(&text);
    ensure!(!parsed.has_errors(), "not AXON: {text}\n{:?}", parsed.diagnostics);
    Ok(print(&parsed.tree, style).trim_end().to_owned())
}

/// How tightly what was written holds together, by section 5. An operand that holds less tightly
/// than its operator stands in parentheses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    /// A nested message takes everything to its right.
    Message,
    Because,
    Sequence,
    Parallel,
    AnyOf,
    Compare,
    Range,
    About,
    Primary,
}

fn level(term: &Term) -> Level {
    match term {
        Term::Message(_) => Level::Message,
        Term::Because(..) => Level::Because,
        Term::Sequence(_) => Level::Sequence,
        Term::Parallel(_) => Level::Parallel,
        Term::AnyOf(_) => Level::AnyOf,
        Term::Compare(..) => Level::Compare,
        Term::Range(..) => Level::Range,
        Term::About(_) => Level::About,
        Term::Nothing
        | Term::Text(_)
        | Term::Number { .. }
        | Term::Bool(_)
        | Term::Entity(_)
        | Term::Symbol(_)
        | Term::Name(_)
        | Term::Variable(_)
        | Term::List(_)
        | Term::Record(_)
        | Term::Tagged(..)
        | Term::Call(_)
        | Term::Table { .. } => Level::Primary,
    }
}

fn write_message(out: &mut String, message: &Message) {
    if !message.meta.is_empty() {
        out.push('[');
        separated(out, &message.meta, |out, (key, value)| {
            out.push_str(meta_key(*key));
            out.push(':');
            write_term(out, value);
        });
        out.push_str("] ");
    }
    out.push_str(message.act.word());
    out.push_str("(@");
    out.push_str(message.from);
    out.push('>');
    match &message.to {
        To::One(name) => {
            out.push('@');
            out.push_str(name);
        }
        To::Many(names) => {
            out.push('[');
            separated(out, names, |out, name| {
                out.push('@');
                out.push_str(name);
            });
            out.push(']');
        }
        To::Anyone => out.push('*'),
    }
    out.push_str("): ");
    write_term(out, &message.content);
}

pub(super) fn meta_key(key: MetaKey) -> &'static str {
    match key {
        MetaKey::Id => "id",
        MetaKey::Version => "%%",
        MetaKey::ReplyTo => "re",
        MetaKey::SentAt => "ts",
        MetaKey::Conversation => "ctx",
        MetaKey::TimeToLive => "ttl",
        MetaKey::Priority => "^",
        MetaKey::Signature => "sig",
        MetaKey::Authorization => "authz",
        MetaKey::Tenant => "tenant",
        MetaKey::ErrorNamespace => "err_ns",
        MetaKey::Transaction => "txn_id",
        MetaKey::TransactionState => "txn_state",
    }
}

fn write_term(out: &mut String, term: &Term) {
    match term {
        Term::Nothing => out.push('_'),
        Term::Text(text) => quote_into(out, text),
        Term::Number { digits, unit } => {
            out.push_str(digits);
            out.push_str(unit.map_or("", |unit| unit.text()));
        }
        Term::Bool(value) => out.push(if *value { 'T' } else { 'F' }),
        Term::Entity(name) => sigil(out, '@', name),
        Term::Symbol(name) => sigil(out, '#', name),
        Term::Variable(name) => sigil(out, '$', name),
        Term::Name(name) => out.push_str(name),
        Term::List(items) => {
            out.push('[');
            separated(out, items, write_term);
            out.push(']');
        }
        Term::Record(fields) => record(out, fields),
        Term::Tagged(kind, fields) => {
            sigil(out, '#', kind);
            if !fields.is_empty() {
                record(out, fields);
            }
        }
        Term::Call(call) => {
            out.push_str(call.name);
            out.push('(');
            separated(out, &call.args, write_term);
            if !call.args.is_empty() && !call.named.is_empty() {
                out.push(',');
            }
            separated(out, &call.named, field);
            out.push(')');
        }
        Term::Sequence(steps) => chain(out, "->", steps, Level::Sequence),
        Term::Parallel(parts) => chain(out, "&", parts, Level::Parallel),
        Term::AnyOf(parts) => chain(out, "|", parts, Level::AnyOf),
        Term::Because(effect, cause) => {
            operand(out, effect, Level::Because);
            out.push_str(" <- ");
            // Causes of causes need no parentheses: the operator groups to the right.
            match level(cause) {
                Level::Because => write_term(out, cause),
                _ => operand(out, cause, Level::Because),
            }
        }
        Term::Compare(left, comparison, right) => {
            operand(out, left, Level::Compare);
            out.push(' ');
            out.push_str(comparison.symbol());
            out.push(' ');
            operand(out, right, Level::Compare);
        }
        Term::Range(from, to) => {
            operand(out, from, Level::Range);
            out.push_str("..");
            operand(out, to, Level::Range);
        }
        Term::About(of) => {
            out.push('~');
            operand(out, of, Level::About);
        }
        Term::Table { columns, rows } => {
            out.push('[');
            separated(out, rows, |out, row| {
                out.push('{');
                let fields: Vec<_> = columns.iter().zip(row).collect();
                separated(out, &fields, |out, (key, value)| {
                    out.push_str(key);
                    out.push(':');
                    write_term(out, value);
                });
                out.push('}');
            });
            out.push(']');
        }
        Term::Message(message) => write_message(out, message),
    }
}

fn sigil(out: &mut String, sigil: char, name: &str) {
    out.push(sigil);
    out.push_str(name);
}

fn record(out: &mut String, fields: &Fields) {
    out.push('{');
    separated(out, fields, field);
    out.push('}');
}

fn field(out: &mut String, (key, value): &(&'static str, Term)) {
    out.push_str(key);
    out.push(':');
    write_term(out, value);
}

fn chain(out: &mut String, operator: &str, operands: &[Term], level: Level) {
    for (index, term) in operands.iter().enumerate() {
        if index > 0 {
            out.push(' ');
            out.push_str(operator);
            out.push(' ');
        }
        operand(out, term, level);
    }
}

fn operand(out: &mut String, term: &Term, under: Level) {
    if level(term) > under {
        write_term(out, term);
    } else {
        out.push('(');
        write_term(out, term);
        out.push(')');
    }
}

fn separated<T>(out: &mut String, items: &[T], mut write: impl FnMut(&mut String, &T)) {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write(out, item);
    }
}
