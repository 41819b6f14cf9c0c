//! The numbers of a sender's messages: they count upwards, and the same message may come twice.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use sabir_base::{Diagnostic, Span};

use super::envelope::Envelope;
use crate::codes;
use crate::view::{Message, Node};

#[derive(Debug, Default)]
pub(crate) struct Sequences<'a> {
    /// The highest number of each sender, and where it stands.
    highest: HashMap<Cow<'a, str>, (u64, Span)>,
    /// The first message with each number.
    first: HashMap<(Cow<'a, str>, u64), Message<'a>>,
}

/// How the number of a message fits those before it.
pub(crate) enum Order {
    /// It goes up, or there is none to compare.
    Fits,
    /// The message was there before, word for word.
    Repeats {
        number: Span,
        first: Span,
    },
    Behind {
        number: Span,
        highest: Span,
    },
}

impl<'a> Sequences<'a> {
    pub(crate) fn feed(&mut self, envelope: &Envelope<'a>, message: Message<'a>) -> Order {
        let Some(sequence) = envelope.sequence else { return Order::Fits };
        let number = envelope.header.get("s").map_or(message.node.span(), Node::span);
        match self.first.entry((envelope.from.clone(), sequence)) {
            Entry::Occupied(first) => {
                let first = *first.get();
                if first.node.text().trim_end() == message.node.text().trim_end() {
                    let span = first.header().map_or(first.node.span(), |it| it.word_span());
                    return Order::Repeats { number, first: span };
                }
            }
            Entry::Vacant(slot) => {
                slot.insert(message);
            }
        }
        match self.highest.entry(envelope.from.clone()) {
            Entry::Vacant(slot) => {
                slot.insert((sequence, number));
                Order::Fits
            }
            Entry::Occupied(mut highest) => {
                let (before, span) = *highest.get();
                if sequence <= before {
                    return Order::Behind { number, highest: span };
                }
                highest.insert((sequence, number));
                Order::Fits
            }
        }
    }
}

impl Order {
    pub(crate) fn is_repeat(&self) -> bool {
        matches!(self, Self::Repeats { .. })
    }

    pub(crate) fn diagnostic(&self, envelope: &Envelope<'_>) -> Option<Diagnostic> {
        match *self {
            Self::Fits => None,
            Self::Repeats { number, first } => {
                let message = "this message was sent before, word for word";
                Some(
                    Diagnostic::info(codes::RETRANSMISSION, number, message)
                        .label(first, "it stands here first")
                        .help("nothing is wrong; it counts once"),
                )
            }
            Self::Behind { number, highest } => {
                let from = super::shown(&envelope.from);
                let message = format!("the sequence numbers of {from} do not go up here");
                Some(
                    Diagnostic::warning(codes::SEQUENCE_ORDER, number, message)
                        .label(highest, "it had come this far")
                        .help("count every message of a sender upwards"),
                )
            }
        }
    }
}
