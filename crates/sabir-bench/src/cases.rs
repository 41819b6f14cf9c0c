//! What is measured: one operation over one message.

use std::borrow::Cow;
use std::hint::black_box;

use anyhow::ensure;
use sabir_axon::{Rules, Style, Tree, check, parse, print, tokens};
use serde::Deserialize;

use crate::corpus::{Corpus, Message};

/// One row of the table.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) group: Group,
    /// The bytes that the operation reads or writes.
    pub(crate) bytes: fn(&Message) -> usize,
    pub(crate) run: Run,
}

/// Which rows can be compared with each other.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Group {
    Read,
    Write,
}

/// Operations that read start from text; operations that write start from what was read before.
#[derive(Clone, Copy)]
pub(crate) enum Run {
    Read(fn(&Message)),
    PrintAxon,
    PrintJson,
}

/// The row that ratios are taken against.
pub(crate) const BASE: &str = "serde_json Value";
pub(crate) const BASE_WRITE: &str = "serde_json to_string";

pub(crate) const CASES: &[Case] = &[
    Case { name: "AXON tokens only", group: Group::Read, bytes: axon, run: Run::Read(axon_tokens) },
    Case { name: "AXON parse", group: Group::Read, bytes: axon, run: Run::Read(axon_parse) },
    Case {
        name: "AXON parse+validate",
        group: Group::Read,
        bytes: axon,
        run: Run::Read(axon_check),
    },
    Case { name: BASE, group: Group::Read, bytes: plain, run: Run::Read(serde_value) },
    Case {
        name: "serde_json typed",
        group: Group::Read,
        bytes: plain,
        run: Run::Read(serde_typed),
    },
    Case {
        name: "simd-json borrowed Value",
        group: Group::Read,
        bytes: plain,
        run: Run::Read(simd_value),
    },
    Case { name: "simd-json typed", group: Group::Read, bytes: plain, run: Run::Read(simd_typed) },
    Case { name: "sonic-rs Value", group: Group::Read, bytes: plain, run: Run::Read(sonic_value) },
    Case { name: "sonic-rs typed", group: Group::Read, bytes: plain, run: Run::Read(sonic_typed) },
    Case {
        name: "serde_json Value, lossless form",
        group: Group::Read,
        bytes: lossless,
        run: Run::Read(serde_lossless),
    },
    Case { name: "AXON print wire", group: Group::Write, bytes: axon, run: Run::PrintAxon },
    Case { name: BASE_WRITE, group: Group::Write, bytes: plain, run: Run::PrintJson },
];

/// The messages ready to be worked on, so that writing does not measure reading.
pub(crate) struct Prepared<'c> {
    messages: &'c [Message],
    trees: Vec<Tree<'c>>,
    values: Vec<serde_json::Value>,
}

impl<'c> Prepared<'c> {
    pub(crate) fn new(corpus: &'c Corpus) -> Self {
        let trees = corpus.messages.iter().map(|message| parse(&message.axon).tree).collect();
        let values = corpus
            .messages
            .iter()
            .map(|message| serde_json::from_str(&message.plain).unwrap_or_default());
        Self { messages: &corpus.messages, trees, values: values.collect() }
    }

    /// Runs `case` once over every message.
    pub(crate) fn pass(&self, case: &Case) {
        match case.run {
            Run::Read(read) => self.messages.iter().for_each(read),
            Run::PrintAxon => self.trees.iter().for_each(|tree| {
                black_box(print(black_box(tree), Style::Wire));
            }),
            Run::PrintJson => self.values.iter().for_each(|value| {
                black_box(serde_json::to_string(black_box(value)).ok());
            }),
        }
    }
}

/// A benchmark of something that fails is a benchmark of nothing: every reader must accept every
/// message before any is timed.
pub(crate) fn verify(corpus: &Corpus) -> anyhow::Result<()> {
    for Message { axon, plain, lossless } in &corpus.messages {
        let checked = check(axon, Rules::default());
        ensure!(!checked.has_errors(), "{axon}: {:?}", checked.diagnostics);
        serde_json::from_str::<serde_json::Value>(plain)?;
        serde_json::from_str::<Typed<'_>>(plain)?;
        serde_json::from_str::<serde_json::Value>(lossless)?;
        simd_json::to_borrowed_value(&mut plain.clone().into_bytes())?;
        simd_json::from_slice::<Typed<'_>>(&mut plain.clone().into_bytes())?;
        sonic_rs::from_str::<sonic_rs::Value>(plain)?;
        sonic_rs::from_str::<Typed<'_>>(plain)?;
    }
    Ok(())
}

fn axon(message: &Message) -> usize {
    message.axon.len()
}

fn plain(message: &Message) -> usize {
    message.plain.len()
}

fn lossless(message: &Message) -> usize {
    message.lossless.len()
}

fn axon_tokens(message: &Message) {
    black_box(tokens(black_box(&message.axon)).count());
}

fn axon_parse(message: &Message) {
    black_box(parse(black_box(&message.axon)));
}

fn axon_check(message: &Message) {
    black_box(check(black_box(&message.axon), Rules::default()));
}

fn serde_value(message: &Message) {
    black_box(serde_json::from_str::<serde_json::Value>(black_box(&message.plain)).ok());
}

fn serde_typed(message: &Message) {
    black_box(serde_json::from_str::<Typed<'_>>(black_box(&message.plain)).ok());
}

fn serde_lossless(message: &Message) {
    black_box(serde_json::from_str::<serde_json::Value>(black_box(&message.lossless)).ok());
}

/// simd-json works in place, so the copy that a caller needs is part of its price.
fn simd_value(message: &Message) {
    let mut bytes = black_box(&message.plain).clone().into_bytes();
    black_box(simd_json::to_borrowed_value(&mut bytes).ok());
}

fn simd_typed(message: &Message) {
    let mut bytes = black_box(&message.plain).clone().into_bytes();
    black_box(simd_json::from_slice::<Typed<'_>>(&mut bytes).ok());
}

fn sonic_value(message: &Message) {
    black_box(sonic_rs::from_str::<sonic_rs::Value>(black_box(&message.plain)).ok());
}

fn sonic_typed(message: &Message) {
    black_box(sonic_rs::from_str::<Typed<'_>>(black_box(&message.plain)).ok());
}

/// What a careful program would read a message into: known fields typed, content as a borrowed tree.
#[derive(Debug, Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
#[expect(dead_code, reason = "read to be measured, not to be used")]
struct Typed<'a> {
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
    #[serde(rename = "%%")]
    version: Option<u32>,
    #[serde(borrow)]
    re: Option<Cow<'a, str>>,
    ts: Option<u64>,
    #[serde(borrow)]
    ctx: Option<Cow<'a, str>>,
    #[serde(rename = "^")]
    priority: Option<u8>,
    #[serde(borrow)]
    act: Cow<'a, str>,
    from: Content<'a>,
    to: Content<'a>,
    content: Content<'a>,
}

#[derive(Debug)]
#[expect(dead_code, reason = "read to be measured, not to be used")]
enum Content<'a> {
    Null,
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(Cow<'a, str>),
    List(Vec<Content<'a>>),
    Record(Vec<(Cow<'a, str>, Content<'a>)>),
}

impl<'de: 'a, 'a> Deserialize<'de> for Content<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

struct ContentVisitor;

impl<'de> serde::de::Visitor<'de> for ContentVisitor {
    type Value = Content<'de>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("any value")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Content::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Content::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Content::Integer(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(Content::Integer(value as i64))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
        Ok(Content::Float(value))
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Self::Value, E> {
        Ok(Content::Text(Cow::Borrowed(value)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> {
        Ok(Content::Text(Cow::Owned(value.to_owned())))
    }

    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut list = Vec::new();
        while let Some(element) = seq.next_element()? {
            list.push(element);
        }
        Ok(Content::List(list))
    }

    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut record = Vec::new();
        while let Some(entry) = map.next_entry()? {
            record.push(entry);
        }
        Ok(Content::Record(record))
    }
}
