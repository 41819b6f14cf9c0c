//! LLMX beside JSON of the same content, with the same keys.

use std::hint::black_box;

use anyhow::ensure;
use sabir_llmx::{check, check_messages, parse, print, same};

use super::{Case, Group, Prepared};
use crate::corpus::{Corpus, LlmxMessage};

/// The rows that ratios are taken against.
pub(crate) const BASE: &str = "serde_json Value, LLMX's keys";
pub(crate) const BASE_WRITE: &str = "serde_json to_string, LLMX's keys";

pub(super) const CASES: [Case; 8] = [
    read("LLMX parse", llmx, |all| all.each_llmx(llmx_parse)),
    read("LLMX parse+validate", llmx, |all| all.each_llmx(llmx_check_messages)),
    read("LLMX as a conversation too", llmx, |all| all.each_llmx(llmx_check)),
    read(BASE, json, |all| all.each_llmx(serde_value)),
    read("simd-json borrowed Value, ditto", json, |all| all.each_llmx(simd_value)),
    read("sonic-rs Value, ditto", json, |all| all.each_llmx(sonic_value)),
    Case {
        name: "LLMX print",
        group: Group::LlmxWrite,
        bytes: llmx,
        pass: |all| {
            all.llmx_trees.iter().for_each(|tree| {
                black_box(print(black_box(tree)));
            });
        },
    },
    Case {
        name: BASE_WRITE,
        group: Group::LlmxWrite,
        bytes: json,
        pass: |all| {
            all.llmx_values.iter().for_each(|value| {
                black_box(serde_json::to_string(black_box(value)).ok());
            });
        },
    },
];

const fn read(name: &'static str, bytes: fn(&Corpus) -> usize, pass: fn(&Prepared<'_>)) -> Case {
    Case { name, group: Group::LlmxRead, bytes, pass }
}

pub(super) fn verify(corpus: &Corpus) -> anyhow::Result<()> {
    for LlmxMessage { llmx, json } in &corpus.llmx {
        let checked = check(llmx);
        ensure!(checked.diagnostics.is_empty(), "{llmx}: {:?}", checked.diagnostics);
        let back = sabir_llmx::json::decode(json)?;
        ensure!(same(&parse(&back).tree, &checked.tree), "{llmx} is not {json}");
        ensure!(!json.contains("{\"$"), "{json} is not what a protocol without LLMX would send");
        serde_json::from_str::<serde_json::Value>(json)?;
        simd_json::to_borrowed_value(&mut json.clone().into_bytes())?;
        sonic_rs::from_str::<sonic_rs::Value>(json)?;
    }
    Ok(())
}

fn llmx(corpus: &Corpus) -> usize {
    corpus.llmx.iter().map(|message| message.llmx.len()).sum()
}

fn json(corpus: &Corpus) -> usize {
    corpus.llmx.iter().map(|message| message.json.len()).sum()
}

fn llmx_parse(message: &LlmxMessage) {
    black_box(parse(black_box(&message.llmx)));
}

fn llmx_check_messages(message: &LlmxMessage) {
    black_box(check_messages(black_box(&message.llmx)));
}

/// Remembers who said what, as if more messages were to come.
fn llmx_check(message: &LlmxMessage) {
    black_box(check(black_box(&message.llmx)));
}

fn serde_value(message: &LlmxMessage) {
    black_box(serde_json::from_str::<serde_json::Value>(black_box(&message.json)).ok());
}

/// simd-json works in place, so the copy that a caller needs is part of its price.
fn simd_value(message: &LlmxMessage) {
    let mut bytes = black_box(&message.json).clone().into_bytes();
    black_box(simd_json::to_borrowed_value(&mut bytes).ok());
}

fn sonic_value(message: &LlmxMessage) {
    black_box(sonic_rs::from_str::<sonic_rs::Value>(black_box(&message.json)).ok());
}
