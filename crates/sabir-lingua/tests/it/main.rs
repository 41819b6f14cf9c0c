//! Integration tests, one module for each concern.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod examples;
mod hostile;
mod round_trip;
mod rules;
mod utterances;

#[expect(dead_code, reason = "the generator is shared; not every test uses all of it")]
#[path = "../../../sabir-axon/tests/it/generate.rs"]
mod axon_documents;
#[expect(dead_code, reason = "the generator is shared; not every test uses all of it")]
#[path = "../../../sabir-llmx/tests/it/generate.rs"]
mod llmx_documents;
