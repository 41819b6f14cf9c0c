//! LC-X30: data conforms to its schema or is absent, whatever the schema is.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::collection::{pages, sources};

fn leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!({ "type": "string" })),
        Just(json!({ "type": "string", "format": "date" })),
        Just(json!({ "type": ["string", "null"], "format": "email" })),
        Just(json!({ "type": "string", "format": "uri" })),
        Just(json!({ "type": "string", "minLength": 4, "maxLength": 9 })),
        Just(json!({ "type": "string", "pattern": "^[a-z]+$" })),
        Just(json!({ "type": "number", "minimum": 2, "exclusiveMaximum": 100 })),
        Just(json!({ "type": "integer" })),
        Just(json!({ "type": "integer", "multipleOf": 7 })),
        Just(json!({ "type": "boolean" })),
        Just(json!({ "enum": ["black", "white", "brass"] })),
        Just(json!({ "type": ["string", "null"], "enum": ["black", null] })),
        Just(json!({ "const": 4 })),
        Just(json!({ "anyOf": [{ "type": "integer" }, { "type": "null" }] })),
        Just(json!({ "$ref": "#/$defs/money" })),
        Just(json!(true)),
    ]
}

fn name() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "price", "weight", "power", "colour", "dimmable", "released", "shop", "city", "stock",
        "title", "contact", "warranty", "lumens", "nothing",
    ])
    .prop_map(str::to_owned)
}

fn schema() -> impl Strategy<Value = Value> {
    let node = leaf().prop_recursive(3, 24, 6, |inner| {
        prop_oneof![
            (prop::collection::btree_map(name(), inner.clone(), 1..6), any::<prop::sample::Index>(), any::<bool>())
                .prop_map(|(properties, which, closed)| {
                    let names: Vec<&String> = properties.keys().collect();
                    let required = [which.get(&names)];
                    let mut schema = json!({ "type": "object", "properties": properties, "required": required });
                    if closed {
                        schema["additionalProperties"] = json!(false);
                    }
                    schema
                }),
            (inner, 0..3_u32, any::<bool>()).prop_map(|(items, least, unique)| {
                json!({ "type": "array", "items": items, "minItems": least, "uniqueItems": unique, "maxItems": 4 })
            }),
        ]
    });
    node.prop_map(|mut schema| {
        if let Some(object) = schema.as_object_mut() {
            object.insert(
                "$defs".to_owned(),
                json!({ "money": { "type": "number", "title": "Price" } }),
            );
        }
        schema
    })
}

proptest! {
    #[test]
    fn data_conforms_or_is_absent(schema in schema()) {
        let sources = sources(&pages("lamps"));
        let draft = sabir_extractive::extract(&sources, &schema);
        if let Some(data) = &draft.data {
            let validator =
                jsonschema::options().should_validate_formats(true).build(&schema).unwrap();
            let faults: Vec<String> =
                validator.iter_errors(data).map(|fault| fault.to_string()).collect();
            prop_assert!(faults.is_empty(), "{faults:?}\n{data}\n{schema}");
        }
    }

    #[test]
    fn any_value_is_a_schema_that_can_be_asked_for(schema in any_json()) {
        sabir_extractive::extract(&sources(&pages("lamps")), &schema);
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let keys = prop::sample::select(vec![
        "type",
        "properties",
        "items",
        "enum",
        "anyOf",
        "$ref",
        "required",
        "price",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        prop::sample::select(vec!["object", "array", "string", "#", "#/properties/price", "price"])
            .prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((keys.clone(), inner), 0..5).prop_map(|pairs| pairs
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value))
                .collect()),
        ]
    })
}

/// LC-X31: a schema that refers to itself ends.
#[test]
fn a_schema_without_an_end_is_not_filled() {
    let schema = json!({ "type": "object", "properties": { "price": { "$ref": "#" } }, "required": ["price"] });
    assert_eq!(sabir_extractive::extract(&sources(&pages("lamps")), &schema).data, None);
}
