//! How much work it is to hold data against a JSON Schema, before somebody does it: a schema of a few
//! lines can branch so often that nobody lives to see the end. It validates nothing.

use std::collections::HashMap;

use serde_json::{Map, Value};

/// Why a schema is not used.
pub(super) type TooMuch = &'static str;

/// What is known of a schema, or of a schema at a place of the data.
#[derive(Clone, Copy, Default)]
struct Cost {
    /// How often a schema is looked at, if nothing is left out.
    work: u64,
    /// How deep these looks nest.
    height: usize,
}

/// Where a schema stands in memory, and the data that it is held against.
type Place = (usize, usize);

struct Estimate<'a> {
    root: &'a Value,
    anchors: HashMap<&'a str, &'a Value>,
    /// `None` while it is being found out.
    known: HashMap<Place, Option<Cost>>,
}

/// Whether a schema can be used at all, whatever the data.
pub(super) fn check_shape(schema: &Value) -> Result<(), TooMuch> {
    let mut estimate = Estimate::new(schema)?;
    estimate.shape(schema, 0).map(drop)
}

/// Whether it is little enough work to hold these data against a schema.
pub(super) fn check_work(schema: &Value, data: &Value) -> Result<(), TooMuch> {
    let mut estimate = Estimate::new(schema)?;
    estimate.shape(schema, 0)?;
    estimate.known.clear();
    estimate.work(schema, data, 0).map(drop)
}

impl<'a> Estimate<'a> {
    fn new(root: &'a Value) -> Result<Self, TooMuch> {
        let mut anchors = HashMap::new();
        let mut open = vec![root];
        let mut count = 0;
        while let Some(value) = open.pop() {
            count += 1;
            if count > MOST_VALUES {
                return Err("it is too large");
            }
            match value {
                Value::Object(keys) => {
                    let word = |key| keys.get(key).and_then(Value::as_str);
                    // Names that begin elsewhere would have to be resolved as the validator does it.
                    if word("$id").is_some() && !std::ptr::eq(value, root) {
                        return Err("a part of it has an `$id` of its own");
                    }
                    if word("$dynamicRef").is_some() || word("$recursiveRef").is_some() {
                        return Err(
                            "it has references that change with the place, like `$dynamicRef`",
                        );
                    }
                    if let Some(anchor) = word("$anchor") {
                        anchors.insert(anchor, value);
                    }
                    open.extend(keys.values());
                }
                Value::Array(items) => open.extend(items),
                _ => {}
            }
        }
        Ok(Self { root, anchors, known: HashMap::new() })
    }

    /// How deep a schema nests, its references followed. One that leads back to itself ends there.
    fn shape(&mut self, schema: &'a Value, depth: usize) -> Result<Cost, TooMuch> {
        let Value::Object(keys) = schema else { return Ok(Cost { work: 1, height: 1 }) };
        let place = (address(schema), 0);
        if let Some(known) = self.known.get(&place) {
            return Ok(known.unwrap_or_default());
        }
        if depth > MOST_HEIGHT {
            return Err(TOO_DEEP);
        }
        self.known.insert(place, None);
        let mut height = 0;
        let inner: Vec<&Value> = keys.iter().flat_map(|(key, value)| parts(key, value)).collect();
        for part in inner {
            height = height.max(self.shape(part, depth + 1)?.height);
        }
        if let Some(reference) = keys.get("$ref").and_then(Value::as_str) {
            height = height.max(self.shape(self.target(reference)?, depth + 1)?.height);
        }
        let cost = Cost { work: 1, height: height + 1 };
        if cost.height > MOST_HEIGHT {
            return Err(TOO_DEEP);
        }
        self.known.insert(place, Some(cost));
        Ok(cost)
    }

    fn work(&mut self, schema: &'a Value, data: &'a Value, depth: usize) -> Result<Cost, TooMuch> {
        let Value::Object(keys) = schema else { return Ok(Cost { work: 1, height: 1 }) };
        let place = (address(schema), address(data));
        match self.known.get(&place) {
            Some(Some(known)) => return Ok(*known),
            Some(None) => return Err("it leads back to itself without looking at the data"),
            None if depth > MOST_HEIGHT => return Err(TOO_DEEP),
            None => _ = self.known.insert(place, None),
        }
        let within = children(data);
        // Here, and one level further into the data.
        let (mut here, mut below) = (Cost::default(), Cost::default());
        let mut own = 1;
        for (key, value) in keys {
            match key.as_str() {
                "$ref" => {
                    if let Some(reference) = value.as_str() {
                        here.add(self.work(self.target(reference)?, data, depth + 1)?);
                    }
                }
                "allOf" | "anyOf" | "oneOf" | "not" | "if" | "then" | "else"
                | "dependentSchemas" | "dependencies" => {
                    for part in parts(key, value) {
                        here.add(self.work(part, data, depth + 1)?);
                    }
                }
                "properties" => {
                    for (name, part) in value.as_object().into_iter().flatten() {
                        if let Some(child) = data.get(name) {
                            below.add(self.work(part, child, depth + 1)?);
                        }
                    }
                }
                "patternProperties"
                | "additionalProperties"
                | "unevaluatedProperties"
                | "propertyNames"
                | "items"
                | "prefixItems"
                | "contains"
                | "additionalItems"
                | "unevaluatedItems" => {
                    for part in parts(key, value) {
                        for child in &within {
                            below.add(self.work(part, child, depth + 1)?);
                        }
                    }
                }
                "enum" => own += count(value),
                "uniqueItems" => own += within.len() as u64,
                _ => {}
            }
            here.check()?;
            below.check()?;
        }
        if keys.contains_key("unevaluatedProperties") || keys.contains_key("unevaluatedItems") {
            // What the others looked at is found out by looking again, for each value.
            here.work = here.work.saturating_mul(within.len() as u64 + 2);
        }
        let cost = Cost {
            work: own.saturating_add(here.work).saturating_add(below.work),
            height: here.height.max(below.height) + 1,
        };
        cost.check()?;
        if self.known.len() > MOST_WORK as usize {
            return Err(TOO_MUCH);
        }
        self.known.insert(place, Some(cost));
        Ok(cost)
    }

    /// Where a reference leads. Only the schema itself is looked into.
    fn target(&self, reference: &str) -> Result<&'a Value, TooMuch> {
        let Some(fragment) = reference.strip_prefix('#') else {
            return Err(
                "it refers to another document; only references like `#/$defs/name` are followed",
            );
        };
        let fragment = percent_decoded(fragment);
        let found = match fragment.starts_with('/') || fragment.is_empty() {
            true => self.root.pointer(&fragment),
            false => self.anchors.get(fragment.as_str()).copied(),
        };
        found.ok_or("it refers to something that is not in it")
    }
}

impl Cost {
    fn add(&mut self, other: Self) {
        self.work = self.work.saturating_add(other.work);
        self.height = self.height.max(other.height);
    }

    fn check(self) -> Result<(), TooMuch> {
        match self {
            Self { work, .. } if work > MOST_WORK => Err(TOO_MUCH),
            Self { height, .. } if height > MOST_HEIGHT => Err(TOO_DEEP),
            _ => Ok(()),
        }
    }
}

/// The schemas that stand under a key of a schema.
fn parts<'a>(key: &str, value: &'a Value) -> Vec<&'a Value> {
    match key {
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => {
            value.as_array().into_iter().flatten().collect()
        }
        "properties" | "patternProperties" | "dependentSchemas" | "dependencies" => {
            value.as_object().into_iter().flat_map(Map::values).collect()
        }
        "items" => match value {
            Value::Array(items) => items.iter().collect(),
            other => vec![other],
        },
        "not"
        | "if"
        | "then"
        | "else"
        | "additionalProperties"
        | "unevaluatedProperties"
        | "propertyNames"
        | "contains"
        | "additionalItems"
        | "unevaluatedItems" => vec![value],
        _ => Vec::new(),
    }
}

fn children(data: &Value) -> Vec<&Value> {
    match data {
        Value::Object(keys) => keys.values().collect(),
        Value::Array(items) => items.iter().collect(),
        _ => Vec::new(),
    }
}

fn count(value: &Value) -> u64 {
    value.as_array().map_or(0, Vec::len) as u64
}

fn address(value: &Value) -> usize {
    std::ptr::from_ref(value).addr()
}

/// Fragments of addresses may spell any character as `%2F`.
fn percent_decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let digits = text.get(at + 1..at + 3).and_then(|it| u8::from_str_radix(it, 16).ok());
        match (byte, digits) {
            (b'%', Some(value)) => {
                decoded.push(value);
                at += 3;
            }
            _ => {
                decoded.push(*byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

const TOO_MUCH: TooMuch = "it branches too often to be checked";
const TOO_DEEP: TooMuch = "its references nest too deep";

/// A second or two. Real schemas take a few looks for each value.
const MOST_WORK: u64 = 1_000_000;

/// The validator follows references on the stack.
const MOST_HEIGHT: usize = 200;

/// Those of whole industries have fewer.
const MOST_VALUES: usize = 200_000;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// `count` definitions, each made from the name of the next.
    fn chain(count: usize, make: impl Fn(String) -> Value) -> Value {
        let mut definitions = Map::new();
        for number in 0..count {
            definitions.insert(format!("a{number}"), make(format!("#/$defs/a{}", number + 1)));
        }
        definitions.insert(format!("a{count}"), json!({ "type": "string" }));
        json!({ "$ref": "#/$defs/a0", "$defs": definitions })
    }

    #[test]
    fn schemas_that_branch_without_end_are_refused() {
        let twice = |keyword: &'static str| move |next: String| json!({ keyword: [{ "$ref": next }, { "$ref": next }] });
        for keyword in ["anyOf", "allOf", "oneOf"] {
            assert!(check_work(&chain(10, twice(keyword)), &json!("x")).is_ok());
            assert_eq!(check_work(&chain(30, twice(keyword)), &json!("x")), Err(TOO_MUCH));
        }
        let both = chain(30, |next| json!({ "if": { "$ref": next }, "then": { "$ref": next } }));
        assert_eq!(check_work(&both, &json!("x")), Err(TOO_MUCH));
        // It grows with the depth of the data.
        let tree = json!({ "anyOf": [
            { "properties": { "a": { "$ref": "#" } } }, { "properties": { "a": { "$ref": "#" } } },
        ] });
        let mut data = json!(1);
        for _ in 0..30 {
            data = json!({ "a": data });
        }
        assert_eq!(check_work(&tree, &data), Err(TOO_MUCH));
        assert!(check_work(&tree, &json!({ "a": { "a": 1 } })).is_ok());
        let mut nested = json!({});
        for _ in 0..30 {
            nested = json!({ "allOf": [nested], "unevaluatedProperties": false });
        }
        assert_eq!(check_work(&nested, &json!({ "a": 1 })), Err(TOO_MUCH));
        let anchored = json!({ "$ref": "#a", "$defs": {
            "a": { "$anchor": "a", "allOf": [{ "$ref": "#b" }, { "$ref": "#b" }] },
            "b": { "$anchor": "b" },
        } });
        assert!(check_work(&anchored, &json!(1)).is_ok());
    }

    #[test]
    fn schemas_that_lead_too_deep_or_back_to_themselves_are_refused() {
        let line = |count| chain(count, |next| json!({ "$ref": next }));
        assert!(check_shape(&line(100)).is_ok());
        assert_eq!(check_shape(&line(10_000)), Err(TOO_DEEP));
        // Parts that were seen before count as well.
        let mut late = line(5_000);
        let shortcuts: Vec<Value> =
            (0..50).rev().map(|it| json!({ "$ref": format!("#/$defs/a{}", it * 100) })).collect();
        late["anyOf"] = shortcuts.into();
        late.as_object_mut().unwrap().remove("$ref");
        assert_eq!(check_shape(&late), Err(TOO_DEEP));
        let own = json!({ "$ref": "#" });
        assert!(check_work(&own, &json!(1)).is_err());
        for other in [
            json!({ "$ref": "https://a.example/schema" }),
            json!({ "$ref": "other.json#/x" }),
            json!({ "$ref": "#/nowhere" }),
            json!({ "$dynamicRef": "#x" }),
            json!({ "allOf": [{ "$id": "https://a.example/b" }] }),
        ] {
            assert!(check_shape(&other).is_err(), "{other}");
        }
    }

    #[test]
    fn ordinary_schemas_and_much_data_are_no_trouble() {
        let schema = json!({
            "type": "array",
            "items": { "type": "object", "properties": {
                "name": { "type": "string" }, "kind": { "enum": ["a", "b"] },
                "inner": { "anyOf": [{ "$ref": "#" }, { "type": "null" }] },
                "$id": { "type": "string" },
            } },
        });
        let row = json!({ "name": "n", "kind": "a", "inner": [{ "name": "m", "inner": null }] });
        let data = Value::Array(vec![row; 5_000]);
        assert_eq!(check_work(&schema, &data), Ok(()));
    }
}
