//! Short words to write scenarios with. Each makes one part of a record and knows no notation.

use crate::tokens::scenario::{
    Act, Call, Comparison, Family, Fields, Message, MetaKey, Scenario, Term, To, Unit,
};

pub(crate) fn scenario(
    family: Family,
    name: &'static str,
    messages: impl Into<Vec<Message>>,
) -> Scenario {
    Scenario { name, family, messages: messages.into() }
}

pub(crate) fn message(act: Act, from: &'static str, to: impl Into<To>, content: Term) -> Message {
    Message { act, from, to: to.into(), meta: Vec::new(), content }
}

impl From<&'static str> for To {
    fn from(name: &'static str) -> Self {
        Self::One(name)
    }
}

impl<const N: usize> From<[&'static str; N]> for To {
    fn from(names: [&'static str; N]) -> Self {
        Self::Many(names.to_vec())
    }
}

impl Message {
    pub(crate) fn meta(mut self, key: MetaKey, value: Term) -> Self {
        self.meta.push((key, value));
        self
    }

    pub(crate) fn id(self, id: &'static str) -> Self {
        self.meta(MetaKey::Id, text(id)).meta(MetaKey::Version, num("1"))
    }

    pub(crate) fn re(self, id: &'static str) -> Self {
        self.meta(MetaKey::ReplyTo, text(id))
    }

    pub(crate) fn sent(self, at: &'static str, conversation: &'static str) -> Self {
        self.meta(MetaKey::SentAt, num(at)).meta(MetaKey::Conversation, text(conversation))
    }

    pub(crate) fn ttl(self, seconds: &'static str) -> Self {
        self.meta(MetaKey::TimeToLive, num(seconds))
    }

    pub(crate) fn priority(self, level: &'static str) -> Self {
        self.meta(MetaKey::Priority, num(level))
    }

    pub(crate) fn transaction(self, id: &'static str, state: &'static str) -> Self {
        self.meta(MetaKey::Transaction, text(id)).meta(MetaKey::TransactionState, sym(state))
    }

    pub(crate) fn certified(
        self,
        signature: &'static str,
        authorization: &'static str,
        tenant: &'static str,
        errors: &'static str,
    ) -> Self {
        self.meta(MetaKey::Signature, text(signature))
            .meta(MetaKey::Authorization, text(authorization))
            .meta(MetaKey::Tenant, text(tenant))
            .meta(MetaKey::ErrorNamespace, text(errors))
    }
}

pub(crate) const NOTHING: Term = Term::Nothing;
pub(crate) const YES: Term = Term::Bool(true);
pub(crate) const NO: Term = Term::Bool(false);

pub(crate) fn text(text: &'static str) -> Term {
    Term::Text(text)
}

pub(crate) fn num(digits: &'static str) -> Term {
    Term::Number { digits, unit: None }
}

pub(crate) fn qty(digits: &'static str, unit: Unit) -> Term {
    Term::Number { digits, unit: Some(unit) }
}

pub(crate) fn pct(digits: &'static str) -> Term {
    qty(digits, Unit::Percent)
}

pub(crate) fn ms(digits: &'static str) -> Term {
    qty(digits, Unit::Milliseconds)
}

pub(crate) fn secs(digits: &'static str) -> Term {
    qty(digits, Unit::Seconds)
}

pub(crate) fn mins(digits: &'static str) -> Term {
    qty(digits, Unit::Minutes)
}

pub(crate) fn hours(digits: &'static str) -> Term {
    qty(digits, Unit::Hours)
}

pub(crate) fn days(digits: &'static str) -> Term {
    qty(digits, Unit::Days)
}

pub(crate) fn usd(digits: &'static str) -> Term {
    qty(digits, Unit::Dollars)
}

pub(crate) fn eur(digits: &'static str) -> Term {
    qty(digits, Unit::Euros)
}

pub(crate) fn ent(name: &'static str) -> Term {
    Term::Entity(name)
}

pub(crate) fn sym(name: &'static str) -> Term {
    Term::Symbol(name)
}

pub(crate) fn name(name: &'static str) -> Term {
    Term::Name(name)
}

pub(crate) fn var(name: &'static str) -> Term {
    Term::Variable(name)
}

pub(crate) fn list(items: impl Into<Vec<Term>>) -> Term {
    Term::List(items.into())
}

pub(crate) fn rec(fields: impl Into<Fields>) -> Term {
    Term::Record(fields.into())
}

pub(crate) fn tag(kind: &'static str, fields: impl Into<Fields>) -> Term {
    Term::Tagged(kind, fields.into())
}

pub(crate) fn call(name: &'static str, args: impl Into<Vec<Term>>) -> Term {
    call_with(name, args, [])
}

pub(crate) fn call_with(
    name: &'static str,
    args: impl Into<Vec<Term>>,
    named: impl Into<Fields>,
) -> Term {
    Term::Call(Call { name, args: args.into(), named: named.into() })
}

pub(crate) fn seq(steps: impl Into<Vec<Term>>) -> Term {
    Term::Sequence(steps.into())
}

pub(crate) fn par(parts: impl Into<Vec<Term>>) -> Term {
    Term::Parallel(parts.into())
}

pub(crate) fn any(parts: impl Into<Vec<Term>>) -> Term {
    Term::AnyOf(parts.into())
}

impl Term {
    pub(crate) fn because(self, cause: Term) -> Term {
        Term::Because(Box::new(self), Box::new(cause))
    }

    pub(crate) fn less(self, other: Term) -> Term {
        Term::Compare(Box::new(self), Comparison::Less, Box::new(other))
    }

    pub(crate) fn more(self, other: Term) -> Term {
        Term::Compare(Box::new(self), Comparison::More, Box::new(other))
    }

    pub(crate) fn at_most(self, other: Term) -> Term {
        Term::Compare(Box::new(self), Comparison::AtMost, Box::new(other))
    }

    pub(crate) fn at_least(self, other: Term) -> Term {
        Term::Compare(Box::new(self), Comparison::AtLeast, Box::new(other))
    }

    pub(crate) fn differs(self, other: Term) -> Term {
        Term::Compare(Box::new(self), Comparison::Differs, Box::new(other))
    }

    pub(crate) fn equals(self, other: Term) -> Term {
        Term::Compare(Box::new(self), Comparison::Equals, Box::new(other))
    }

    pub(crate) fn until(self, end: Term) -> Term {
        Term::Range(Box::new(self), Box::new(end))
    }
}

pub(crate) fn about(term: Term) -> Term {
    Term::About(Box::new(term))
}

pub(crate) fn table<const C: usize>(
    columns: [&'static str; C],
    rows: impl Into<Vec<[Term; C]>>,
) -> Term {
    Term::Table {
        columns: columns.to_vec(),
        rows: rows.into().into_iter().map(Vec::from).collect(),
    }
}

pub(crate) fn nested(message: Message) -> Term {
    Term::Message(Box::new(message))
}
