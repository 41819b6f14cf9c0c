//! There and back gives an equal tree: AXON through LLMX and frames, LLMX through AXON and frames,
//! frames through AXON.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sabir_lingua::{Refused, Tongue, convert};

fuzz_target!(|text: &str| {
    let axon = sabir_axon::parse(text);
    if !axon.has_errors() {
        for by in [Tongue::Llmx, Tongue::Frame, Tongue::Json] {
            if let Some(back) = there_and_back(text, Tongue::Axon, by) {
                let again = sabir_axon::parse(&back);
                assert!(sabir_axon::same(&axon.tree, &again.tree), "{by:?}: {text} became {back}");
            }
        }
    }
    let llmx = sabir_llmx::check_messages(text);
    if !llmx.has_errors() {
        for by in [Tongue::Axon, Tongue::Frame, Tongue::Json] {
            if let Some(back) = there_and_back(text, Tongue::Llmx, by) {
                let again = sabir_llmx::parse(&back);
                assert!(sabir_llmx::same(&llmx.tree, &again.tree), "{by:?}: {text} became {back}");
            }
        }
    }
    if let Ok(frame) = convert(text, Tongue::Frame, Tongue::Frame) {
        let back = there_and_back(&frame, Tongue::Frame, Tongue::Axon);
        assert!(back.is_none_or(|back| back == frame), "{frame}");
    }
    // Whatever this is, it is refused or translated, and nothing panics.
    let _ = convert(text, Tongue::Json, Tongue::Llmx);
});

/// `None` when the text was wrapped too often to be translated.
fn there_and_back(text: &str, from: Tongue, by: Tongue) -> Option<String> {
    let there = match convert(text, from, by) {
        Err(Refused::TooManyLayers { .. }) => return None,
        there => there.unwrap_or_else(|why| panic!("{by:?}: {text} is refused: {why}")),
    };
    match convert(&there, by, from) {
        Err(Refused::TooManyLayers { .. }) => None,
        back => Some(back.unwrap_or_else(|why| panic!("{text}: {there} is refused: {why}"))),
    }
}
