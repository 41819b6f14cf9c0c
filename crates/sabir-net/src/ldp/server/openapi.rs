//! The OpenAPI document: what is served, in the words that generators of clients know. It is made of
//! the list of routes and of the schemas that other implementations have.

use sabir_host::MEMBERS;
use serde_json::{Map, Value, json};

use super::route::{ROUTES, Route};

/// Of everything that a node answers to other agents.
pub fn ldp_openapi() -> Value {
    let mut paths = Map::new();
    for (path, route) in ROUTES {
        let mut operation = operation(route);
        // The card has two places, and an id must stand once.
        let suffix = if path.starts_with("/.well-known") { "WellKnown" } else { "" };
        operation["operationId"] = format!("{}{suffix}", name(route)).into();
        let method = if route.allowed() == "POST" { "post" } else { "get" };
        paths.insert(format!("{MEMBERS}{{name}}{path}"), json!({ method: of_member(&operation) }));
        paths.insert(path.to_owned(), json!({ method: operation }));
    }
    let mut schemas = Map::new();
    add_schema(&mut schemas, "Card", sabir_ldp::card_schema());
    add_schema(&mut schemas, "Envelope", sabir_ldp::envelope_schema());
    schemas.insert("Capabilities".to_owned(), capabilities());
    schemas.insert("Health".to_owned(), health());
    schemas.insert("Refusal".to_owned(), refusal());
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "LDP node",
            "version": "0.1",
            "description": "A delegate: its identity card, the messages that it takes, and the events of its tasks.",
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "servers": [{ "url": "http://127.0.0.1:7420" }],
        "security": [{}, { "token": [] }, { "certificate": [] }],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "responses": responses(),
            "securitySchemes": {
                "token": { "type": "http", "scheme": "bearer" },
                "certificate": { "type": "mutualTLS" },
            },
        },
    })
}

/// The same of another delegate of this node.
fn of_member(operation: &Value) -> Value {
    let mut operation = operation.clone();
    let id = operation["operationId"].as_str().unwrap_or_default();
    operation["operationId"] = format!("{id}OfMember").into();
    let name = json!({
        "name": "name",
        "in": "path",
        "required": true,
        "description": "Which of the delegates beside the node's own.",
        "schema": { "type": "string" },
    });
    let parameters = operation["parameters"].as_array().cloned().unwrap_or_default();
    operation["parameters"] = std::iter::once(name).chain(parameters).collect();
    operation
}

fn name(route: Route) -> &'static str {
    match route {
        Route::Identity => "identity",
        Route::Capabilities => "capabilities",
        Route::Messages => "sendMessage",
        Route::Stream => "followTask",
        Route::Socket => "openSocket",
        Route::Health => "health",
        Route::OpenApi => "openapi",
    }
}

fn operation(route: Route) -> Value {
    match route {
        Route::Identity => reading("The identity card of this node.", schema("Card"), &[]),
        Route::Capabilities => reading(
            "What this node can do, and in which payload modes.",
            schema("Capabilities"),
            &[],
        ),
        Route::Health => {
            let unwell = json!({
                "description": "The node stops, or cannot go on.",
                "content": { "application/json": { "schema": schema("Health") } },
            });
            let mut operation = reading("Whether the node serves.", schema("Health"), &[]);
            operation["security"] = json!([{}]);
            operation["responses"]["503"] = unwell;
            operation
        }
        Route::OpenApi => reading("This document.", json!({ "type": "object" }), &[]),
        Route::Messages => {
            let said = "The answer: one envelope. A refusal is TASK_FAILED or SESSION_REJECT.";
            let mut operation = writing("Takes one message and gives its one answer.", &[]);
            operation["responses"]["200"] = json!({
                "description": said,
                "content": { "application/json": { "schema": schema("Envelope") } },
            });
            operation
        }
        Route::Stream => {
            let after = json!({
                "name": "Last-Event-ID",
                "in": "header",
                "required": false,
                "description": "The id of the last event that was seen: those after it are told.",
                "schema": { "type": "integer", "minimum": 0 },
            });
            let summary = "Takes a TASK_SUBMIT and tells the events of its task.";
            let mut operation = writing(summary, &[after]);
            operation["responses"]["200"] = json!({
                "description": "Events with an id; the data of each is an envelope. The last one is TASK_RESULT or TASK_FAILED. The task goes on when the connection is lost.",
                "content": { "text/event-stream": { "schema": { "type": "string" } } },
            });
            operation
        }
        Route::Socket => {
            let mut responses = refusals(&["400", "401", "403", "429", "503"]);
            responses.insert(
                "101".to_owned(),
                json!({ "description": "A WebSocket: each text frame is an envelope, in both directions." }),
            );
            json!({ "summary": "Opens a WebSocket for messages.", "responses": responses })
        }
    }
}

fn reading(summary: &str, schema: Value, parameters: &[Value]) -> Value {
    let mut responses = refusals(&["401", "403", "406", "429"]);
    responses.insert(
        "200".to_owned(),
        json!({ "description": summary, "content": { "application/json": { "schema": schema } } }),
    );
    json!({ "summary": summary, "parameters": parameters, "responses": responses })
}

fn writing(summary: &str, parameters: &[Value]) -> Value {
    let codes = ["400", "401", "403", "406", "408", "413", "415", "429", "503"];
    json!({
        "summary": summary,
        "parameters": parameters,
        "requestBody": {
            "required": true,
            "content": { "application/json": { "schema": schema("Envelope") } },
        },
        "responses": refusals(&codes),
    })
}

/// Each status that is not what was asked for.
const REFUSALS: [(&str, &str, &str); 9] = [
    (
        "400",
        "NoMessage",
        "The body is no JSON that every reader reads in the same way, or not whole.",
    ),
    ("401", "NoToken", "A token is needed, or it is wrong."),
    ("403", "Foreign", "A page of another site, or a name that is not this machine's."),
    ("406", "NotAcceptable", "What is sent here is not what the header `accept` names."),
    ("408", "TooSlow", "The headers or the body did not come in time."),
    ("413", "TooLarge", "The message is too long."),
    ("415", "NotJson", "The content type is not JSON."),
    ("429", "TooOften", "Too many requests: the header `retry-after` says when to come again."),
    ("503", "Busy", "Too much is being answered at this time."),
];

fn refusals(codes: &[&str]) -> Map<String, Value> {
    let wanted = REFUSALS.iter().filter(|(code, ..)| codes.contains(code));
    wanted
        .map(|(code, name, _)| {
            (code.to_string(), json!({ "$ref": format!("#/components/responses/{name}") }))
        })
        .collect()
}

fn responses() -> Value {
    let all = REFUSALS.iter().map(|(_, name, about)| {
        let content = json!({ "application/json": { "schema": schema("Refusal") } });
        (name.to_string(), json!({ "description": about, "content": content }))
    });
    Value::Object(all.collect())
}

fn capabilities() -> Value {
    let modes = json!({ "type": "array", "items": { "type": "string" } });
    json!({
        "type": "object",
        "required": ["delegate_id", "capabilities", "supported_modes", "supported_payload_modes"],
        "properties": {
            "delegate_id": { "type": "string" },
            "capabilities": { "type": "array", "items": schema("Card.capability") },
            "supported_modes": modes,
            "supported_payload_modes": modes,
        },
    })
}

fn health() -> Value {
    let count = json!({ "type": "integer", "minimum": 0 });
    json!({
        "type": "object",
        "required": ["status"],
        "properties": {
            "status": { "enum": ["ok", "stopping", "failed"] },
            "delegate_id": { "type": "string" },
            "sessions": count,
            "tasks": count,
            "waiting": count,
            "why": { "type": "string" },
        },
    })
}

fn refusal() -> Value {
    json!({
        "type": "object",
        "required": ["error"],
        "properties": { "error": schema("Envelope.error") },
    })
}

fn schema(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

/// Puts a schema and its definitions beside the others, where every generator finds them.
fn add_schema(schemas: &mut Map<String, Value>, name: &str, mut schema: Value) {
    let definitions = match schema.as_object_mut() {
        Some(object) => {
            object.remove("$schema");
            object.remove("$id");
            object.remove("$defs")
        }
        None => None,
    };
    point_to(&mut schema, name);
    schemas.insert(name.to_owned(), schema);
    if let Some(Value::Object(definitions)) = definitions {
        for (definition, mut schema) in definitions {
            point_to(&mut schema, name);
            schemas.insert(format!("{name}.{definition}"), schema);
        }
    }
}

/// Our own schemas are a few levels deep.
fn point_to(value: &mut Value, name: &str) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                let definition = value.as_str().and_then(|text| text.strip_prefix("#/$defs/"));
                match definition {
                    Some(definition) if key == "$ref" => {
                        *value = format!("#/components/schemas/{name}.{definition}").into();
                    }
                    _ => point_to(value, name),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| point_to(item, name)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
