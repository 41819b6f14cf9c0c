//! There and back gives an equal tree, for every generated document (TR-R1).
//!
//! `PROPTEST_CASES` asks for more than the cases of every run.

use proptest::prelude::*;
use sabir_lingua::{Tongue, convert};

use crate::{axon_documents, llmx_documents};

fn there_and_back(text: &str, from: Tongue, by: Tongue) -> String {
    let there = convert(text, from, by).unwrap();
    // What comes out can be read without a finding of severity error.
    match by {
        Tongue::Axon => assert!(!sabir_axon::parse(&there).has_errors(), "{there}"),
        Tongue::Llmx => assert!(!sabir_llmx::check_messages(&there).has_errors(), "{there}"),
        Tongue::Json | Tongue::Frame => {}
    }
    convert(&there, by, from).unwrap_or_else(|why| panic!("{why}: {there}"))
}

fn same_axon(text: &str, by: Tongue) {
    let back = there_and_back(text, Tongue::Axon, by);
    let (before, after) = (sabir_axon::parse(text), sabir_axon::parse(&back));
    assert!(sabir_axon::same(&before.tree, &after.tree), "{text}\n{back}");
}

fn same_llmx(text: &str, by: Tongue) {
    let back = there_and_back(text, Tongue::Llmx, by);
    let (before, after) = (sabir_llmx::parse(text), sabir_llmx::parse(&back));
    assert!(sabir_llmx::same(&before.tree, &after.tree), "{text}\n{back}");
}

fn frame() -> impl Strategy<Value = String> {
    let text = prop_oneof!["[a-z]{1,8}", "\\PC{0,12}", Just("frame".to_owned())];
    let leaf = prop_oneof![
        text.clone().prop_map(|text| serde_json::Value::from(text).to_string()),
        "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,4})?([eE][+-]?[0-9]{1,3})?",
        Just("true".to_owned()),
        Just("null".to_owned()),
    ];
    let value = leaf.prop_recursive(4, 24, 4, move |inner| {
        let items = prop::collection::vec(inner.clone(), 0..4);
        let fields = prop::collection::btree_map("[\\PC]{0,6}", inner, 0..4);
        prop_oneof![
            items.prop_map(|items| format!("[{}]", items.join(","))),
            fields.prop_map(|fields| {
                let fields = fields.iter().map(|(key, value)| {
                    format!("{}:{value}", serde_json::Value::from(key.as_str()))
                });
                format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
            }),
        ]
    });
    let task = prop_oneof!["[a-z.-]{1,8}", "[A-Z]{3}", "\\PC{1,8}", Just("frame".to_owned())];
    let extra = prop::collection::btree_map("(x_)?[a-z]{1,6}|axon|\\PC{1,4}", value, 0..5);
    (task, "\\PC{1,30}", extra, any::<bool>()).prop_map(|(task, instruction, extra, swap)| {
        let quote = |text: &str| serde_json::Value::from(text).to_string();
        let mut fields = vec![
            format!("\"task_type\":{}", quote(&task)),
            format!("\"instruction\":{}", quote(&instruction)),
        ];
        let others = extra.iter().filter(|(key, _)| *key != "task_type" && *key != "instruction");
        fields.extend(others.map(|(key, value)| format!("{}:{value}", quote(key))));
        if swap {
            fields.reverse();
        }
        format!("{{{}}}", fields.join(","))
    })
}

proptest! {
    #![proptest_config(axon_documents::config())]

    #[test]
    fn axon_llmx_axon(text in axon_documents::plain_document()) {
        same_axon(&text, Tongue::Llmx);
    }

    #[test]
    fn axon_frame_axon(text in axon_documents::plain_document()) {
        same_axon(&text, Tongue::Frame);
    }

    #[test]
    fn axon_json_axon(text in axon_documents::plain_document()) {
        same_axon(&text, Tongue::Json);
    }

    #[test]
    fn llmx_axon_llmx(text in llmx_documents::document()) {
        same_llmx(&text, Tongue::Axon);
    }

    #[test]
    fn llmx_json_llmx(text in llmx_documents::document()) {
        same_llmx(&text, Tongue::Json);
    }

    #[test]
    fn llmx_frame_llmx(text in llmx_documents::document()) {
        same_llmx(&text, Tongue::Frame);
    }

    #[test]
    fn frame_axon_frame(text in frame()) {
        let back = there_and_back(&text, Tongue::Frame, Tongue::Axon);
        prop_assert_eq!(back.trim_end(), text);
    }

    #[test]
    fn frame_llmx_frame(text in frame()) {
        let back = there_and_back(&text, Tongue::Frame, Tongue::Llmx);
        prop_assert_eq!(back.trim_end(), text);
    }

    /// What was said in the other tongue is a text of that tongue like any other (TR-R4).
    #[test]
    fn what_was_said_goes_round_as_well(text in axon_documents::plain_document()) {
        let llmx = convert(&text, Tongue::Axon, Tongue::Llmx).unwrap();
        same_llmx(&llmx, Tongue::Axon);
        let parsed = sabir_llmx::parse(&llmx);
        for message in parsed.tree.messages() {
            // Alone, its number is not the one that AXON would give it.
            same_llmx(message.node.text(), Tongue::Axon);
        }
    }

    #[test]
    fn what_was_said_back_goes_round_as_well(text in llmx_documents::document()) {
        let axon = convert(&text, Tongue::Llmx, Tongue::Axon).unwrap();
        same_axon(&axon, Tongue::Llmx);
        let frame = convert(&text, Tongue::Llmx, Tongue::Frame).unwrap();
        let back = there_and_back(&frame, Tongue::Frame, Tongue::Axon);
        prop_assert_eq!(back, frame);
    }
}
