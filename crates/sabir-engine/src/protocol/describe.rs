//! The messages, described for others: JSON Schema for programs that check, TypeScript for programs
//! that are written against it. Both are made from the types, so that neither can be wrong.

use std::collections::{BTreeMap, BTreeSet};

use schemars::generate::SchemaSettings;
use serde_json::{Value, json};
use ts_rs::{Config, TS, TypeVisitor};

use super::event::Event;
use super::op::Submission;

/// One schema for both directions: a message is a submission or an event.
pub fn schema() -> Value {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let submission = generator.subschema_for::<Submission>();
    let event = generator.subschema_for::<Event>();
    let definitions = generator.take_definitions(true);
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The queue pair",
        "description": "A message is a submission or an event.",
        "anyOf": [submission, event],
        "$defs": definitions,
    })
}

/// Every type of the wire, by name.
pub fn typescript() -> String {
    let config = Config::new().with_large_int("number");
    let mut found = Found { config: &config, declarations: BTreeMap::new(), seen: BTreeSet::new() };
    found.visit::<Submission>();
    found.visit::<Event>();
    let mut text =
        "// The messages of the queue pair. Generated from the code: do not edit.\n".to_owned();
    for declaration in found.declarations.values() {
        text.push_str("\nexport ");
        text.push_str(declaration.trim_end());
        text.push('\n');
    }
    text
}

struct Found<'a> {
    config: &'a Config,
    declarations: BTreeMap<String, String>,
    seen: BTreeSet<String>,
}

impl TypeVisitor for Found<'_> {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        // Only what is declared somewhere has a name of its own.
        if T::output_path().is_none() || !self.seen.insert(T::ident(self.config)) {
            return;
        }
        self.declarations.insert(T::ident(self.config), T::decl(self.config));
        T::visit_dependencies(self);
    }
}
