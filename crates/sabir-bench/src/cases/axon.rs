//! AXON beside JSON of the same content.

use std::borrow::Cow;
use std::hint::black_box;

use anyhow::ensure;
use sabir_axon::{Rules, Style, check, parse, print, tokens};
use serde::Deserialize;

use super::{Case, Group};
use crate::corpus::{Corpus, Message};

/// The rows that ratios are taken against.
pub(crate) const BASE: &str = "serde_json Value";
pub(crate) const BASE_WRITE: &str = "serde_json to_string";

pub(super) const CASES: [Case; 12] = [
    read("AXON tokens only", axon, |all| all.each_axon(axon_tokens)),
    read("AXON parse", axon, |all| all.each_axon(axon_parse)),
    read("AXON parse+validate", axon, |all| all.each_axon(axon_check)),
    read(BASE, plain, |all| all.each_axon(serde_value)),
    read("serde_json typed", plain, |all| all.each_axon(serde_typed)),
    read("simd-json borrowed Value", plain, |all| all.each_axon(simd_value)),
    read("simd-json typed", plain, |all| all.each_axon(simd_typed)),
    read("sonic-rs Value", plain, |all| all.each_axon(sonic_value)),
    read("sonic-rs typed", plain, |all| all.each_axon(sonic_typed)),
    read("serde_json Value, lossless form", lossless, |all| all.each_axon(serde_lossless)),
    Case {
        name: "AXON print wire",
        group: Group::AxonWrite,
        bytes: axon,
        pass: |all| {
            all.axon_trees.iter().for_each(|tree| {
                black_box(print(black_box(tree), Style::Wire));
            });
        },
    },
    Case {
        name: BASE_WRITE,
        group: Group::AxonWrite,
        bytes: plain,
        pass: |all| {
            all.axon_values.iter().for_each(|value| {
                black_box(serde_json::to_string(black_box(value)).ok());
            });
        },
    },
];

const fn read(
    name: &'static str,
    bytes: fn(&Corpus) -> usize,
    pass: fn(&super::Prepared<'_>),
) -> Case {
    Case { name, group: Group::AxonRead, bytes, pass }
}

pub(super) fn verify(corpus: &Corpus) -> anyhow::Result<()> {
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

fn axon(corpus: &Corpus) -> usize {
    corpus.messages.iter().map(|message| message.axon.len()).sum()
}

fn plain(corpus: &Corpus) -> usize {
    corpus.messages.iter().map(|message| message.plain.len()).sum()
}

fn lossless(corpus: &Corpus) -> usize {
    corpus.messages.iter().map(|message| message.lossless.len()).sum()
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
