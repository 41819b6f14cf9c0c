//! The document that describes all this: committed, served, and true.

use expect_test::expect_file;
use serde_json::Value;

use crate::world::World;

/// LD-H32
#[tokio::test]
async fn what_is_served_is_what_is_committed() {
    let document = sabir_net::ldp_openapi();
    expect_file!["../../../../spec/openapi/ldp.json"].assert_eq(&format!("{document:#}\n"));
    let world = World::start().await;
    let served = world.wire().await.get("/ldp/openapi.json", "").await;
    assert_eq!(served.json(), document);
    world.end().await;
}

/// LD-H32
#[tokio::test]
async fn every_path_of_the_document_is_there_and_no_other_is() {
    let document = sabir_net::ldp_openapi();
    let world = World::start().await;
    let mut wire = world.wire().await;
    let paths = document["paths"].as_object().unwrap();
    assert_eq!(paths.len(), 16);
    for (path, methods) in paths {
        let path = path.replace("{name}", "pilot");
        for method in ["get", "post", "put", "delete", "patch"] {
            let name = method.to_uppercase();
            wire.send(format!(
                "{name} {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n"
            ))
            .await;
            let status = wire.reply().await.status;
            let is_described = methods.get(method).is_some();
            assert_ne!(status, 404, "{path}");
            assert_eq!(status != 405, is_described, "{method} {path}: {status}");
        }
    }
    world.end().await;
}

/// LD-H32
#[tokio::test]
async fn what_is_sent_passes_the_schemas_of_the_document() {
    let document = sabir_net::ldp_openapi();
    let check = |name: &str, value: &Value| {
        let mut schema = document.clone();
        schema["$ref"] = format!("#/components/schemas/{name}").into();
        let validator = jsonschema::validator_for(&schema).unwrap();
        if let Err(error) = validator.validate(value) {
            panic!("{name}: {error} in {value}");
        }
        assert!(!validator.is_valid(&Value::Null), "{name} says something");
    };
    let world = World::start().await;
    let mut wire = world.wire().await;
    check("Card", &wire.get("/ldp/identity", "").await.json());
    check("Capabilities", &wire.get("/ldp/capabilities", "").await.json());
    check("Health", &wire.get("/healthz", "").await.json());
    check("Refusal", &wire.get("/nowhere", "").await.json());
    let sent: Value = serde_json::from_str(&crate::world::hello()).unwrap();
    check("Envelope", &sent);
    check("Envelope", &wire.post("/ldp/messages", "", &sent.to_string()).await.json());
    let no_message = wire.post("/ldp/messages", "", "{").await.json();
    check("Envelope", &no_message);
    check("Refusal", &no_message);
    world.end().await;
}

/// LD-H32
#[test]
fn the_schemas_are_those_of_other_implementations() {
    let document = sabir_net::ldp_openapi();
    let schemas = document["components"]["schemas"].as_object().unwrap();
    for (name, mut schema) in
        [("Card", sabir_ldp::card_schema()), ("Envelope", sabir_ldp::envelope_schema())]
    {
        let schema = schema.as_object_mut().unwrap();
        let definitions = schema.remove("$defs").unwrap();
        for key in ["$schema", "$id"] {
            schema.remove(key);
        }
        let ours = Value::Object(schema.clone());
        let mut all = vec![(name.to_owned(), ours)];
        for (definition, schema) in definitions.as_object().unwrap() {
            all.push((format!("{name}.{definition}"), schema.clone()));
        }
        for (name_in_document, schema) in all {
            let text = schema.to_string();
            let moved = text.replace("#/$defs/", &format!("#/components/schemas/{name}."));
            assert_eq!(schemas[&name_in_document].to_string(), moved);
        }
    }
    // Every reference leads somewhere.
    let text = document.to_string();
    for reference in text.split("\"$ref\":\"#").skip(1) {
        let pointer = reference.split('"').next().unwrap();
        assert!(document.pointer(pointer).is_some(), "{pointer}");
    }
}
