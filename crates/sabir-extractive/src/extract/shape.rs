//! What a JSON Schema asks for, as far as it can be promised. A schema that says more than this knows
//! is not filled at all, because nobody here could tell whether the value conforms.

use serde_json::{Map, Value};

use crate::word;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Shape {
    Object(Vec<Field>),
    List {
        of: Box<Shape>,
        least: usize,
        most: usize,
        distinct: bool,
    },
    Text {
        form: Form,
        least: usize,
        most: usize,
    },
    Number {
        whole: bool,
        bounds: Bounds,
    },
    Boolean,
    /// One of these, which are all strings.
    Choice(Vec<String>),
    /// It cannot be promised.
    Unknown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Plain,
    Date,
    Email,
    Uri,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bounds {
    least: f64,
    most: f64,
    above: f64,
    below: f64,
}

impl Bounds {
    pub(super) fn hold(&self, value: f64) -> bool {
        value >= self.least && value <= self.most && value > self.above && value < self.below
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Field {
    pub(super) name: String,
    /// The words of its name, and those of its title, if it has one.
    pub(super) labels: Vec<Vec<String>>,
    /// The words of its description.
    pub(super) described: Vec<String>,
    pub(super) required: bool,
    /// `null` may stand for what is not found.
    pub(super) nullable: bool,
    pub(super) shape: Shape,
}

impl Shape {
    pub(super) fn of_schema(schema: &Value) -> Self {
        let mut budget = NODES;
        read(schema, schema, DEPTH, &mut budget).0
    }
}

impl Shape {
    /// The last words of the labels of all fields, by which sentences are found.
    pub(super) fn key_words(&self) -> Vec<String> {
        let mut words = Vec::new();
        let mut stack = vec![self];
        while let Some(shape) = stack.pop() {
            match shape {
                Self::Object(fields) => {
                    for field in fields {
                        words.extend(field.labels.iter().filter_map(|label| label.last().cloned()));
                        stack.push(&field.shape);
                    }
                }
                Self::List { of, .. } => stack.push(of),
                Self::Text { .. }
                | Self::Number { .. }
                | Self::Boolean
                | Self::Choice(_)
                | Self::Unknown => {}
            }
        }
        words
    }
}

/// The shape, and whether `null` is allowed instead.
fn read(root: &Value, schema: &Value, depth: usize, budget: &mut usize) -> (Shape, bool) {
    let Some(object) = schema.as_object().filter(|_| depth > 0 && *budget > 0) else {
        return (Shape::Unknown, false);
    };
    *budget -= 1;
    if let Some(target) = object.get("$ref") {
        let only = object.keys().all(|key| key == "$ref" || ANNOTATIONS.contains(&key.as_str()));
        return match target.as_str().and_then(|target| resolve(root, target)).filter(|_| only) {
            Some(target) => read(root, target, depth - 1, budget),
            None => (Shape::Unknown, false),
        };
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(variants) = object.get(key).and_then(Value::as_array) {
            let only =
                object.keys().all(|name| name == key || ANNOTATIONS.contains(&name.as_str()));
            return match one_or_null(variants).filter(|_| only) {
                Some(variant) => (read(root, variant, depth - 1, budget).0, true),
                None => (Shape::Unknown, false),
            };
        }
    }
    let (kind, nullable) = kind(object);
    let shape = match kind {
        Some("object") => read_object(root, object, depth, budget),
        Some("array") => read_list(root, object, depth, budget),
        Some("string") => read_text(object),
        Some("number") => read_number(object, false),
        Some("integer") => read_number(object, true),
        Some("boolean") if knows(object, &[]) => Shape::Boolean,
        _ => Shape::Unknown,
    };
    (shape, nullable)
}

fn read_object(
    root: &Value,
    object: &Map<String, Value>,
    depth: usize,
    budget: &mut usize,
) -> Shape {
    let known = knows(object, &["properties", "required", "additionalProperties"]);
    let Some(properties) = object.get("properties").and_then(Value::as_object) else {
        return Shape::Unknown;
    };
    let required: Vec<&str> = match object.get("required").and_then(Value::as_array) {
        Some(names) => names.iter().filter_map(Value::as_str).collect(),
        None => Vec::new(),
    };
    // A name that is required and not described would be guessed.
    if !known || required.iter().any(|name| !properties.contains_key(*name)) {
        return Shape::Unknown;
    }
    let mut fields = Vec::new();
    for (name, schema) in properties {
        let (shape, nullable) = read(root, schema, depth - 1, budget);
        let text = |key: &str| schema.get(key).and_then(Value::as_str);
        let mut labels = vec![name_terms(name)];
        labels.extend(text("title").map(word::terms));
        fields.push(Field {
            name: name.clone(),
            labels,
            described: text("description").map(word::terms).unwrap_or_default(),
            required: required.contains(&name.as_str()),
            nullable,
            shape,
        });
    }
    Shape::Object(fields)
}

fn read_list(root: &Value, object: &Map<String, Value>, depth: usize, budget: &mut usize) -> Shape {
    let Some(items) = object.get("items") else { return Shape::Unknown };
    if !knows(object, &["items", "minItems", "maxItems", "uniqueItems"]) {
        return Shape::Unknown;
    }
    let (Some(least), Some(most)) = (size(object, "minItems", 0), size(object, "maxItems", ITEMS))
    else {
        return Shape::Unknown;
    };
    match read(root, items, depth - 1, budget).0 {
        Shape::Unknown => Shape::Unknown,
        of => Shape::List {
            of: Box::new(of),
            least,
            most: most.min(ITEMS),
            distinct: object.get("uniqueItems") == Some(&Value::Bool(true)),
        },
    }
}

fn read_text(object: &Map<String, Value>) -> Shape {
    let choices = match (object.get("enum"), object.get("const")) {
        (Some(Value::Array(choices)), None) => Some(choices.as_slice()),
        (None, Some(only)) => Some(std::slice::from_ref(only)),
        (None, None) => None,
        _ => return Shape::Unknown,
    };
    if let Some(choices) = choices {
        let names = choices.iter().filter_map(Value::as_str).map(str::to_owned);
        return if knows(object, &["enum", "const"]) {
            Shape::Choice(names.collect())
        } else {
            Shape::Unknown
        };
    }
    let form = match object.get("format").and_then(Value::as_str) {
        None => Form::Plain,
        Some("date") => Form::Date,
        Some("email") => Form::Email,
        Some("uri" | "url") => Form::Uri,
        Some(_) => return Shape::Unknown,
    };
    let sizes = (size(object, "minLength", 0), size(object, "maxLength", usize::MAX));
    match sizes {
        (Some(least), Some(most)) if knows(object, &["format", "minLength", "maxLength"]) => {
            Shape::Text { form, least, most }
        }
        _ => Shape::Unknown,
    }
}

fn read_number(object: &Map<String, Value>, whole: bool) -> Shape {
    let bound = |key: &str, default: f64| match object.get(key) {
        None => Some(default),
        Some(value) => value.as_f64(),
    };
    let bounds = (|| {
        Some(Bounds {
            least: bound("minimum", f64::NEG_INFINITY)?,
            most: bound("maximum", f64::INFINITY)?,
            above: bound("exclusiveMinimum", f64::NEG_INFINITY)?,
            below: bound("exclusiveMaximum", f64::INFINITY)?,
        })
    })();
    let known = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"];
    match bounds {
        Some(bounds) if knows(object, &known) => Shape::Number { whole, bounds },
        _ => Shape::Unknown,
    }
}

/// The type that is not `null`, and whether `null` is one of them.
fn kind(object: &Map<String, Value>) -> (Option<&str>, bool) {
    match object.get("type") {
        Some(Value::String(kind)) => (Some(kind), false),
        Some(Value::Array(kinds)) => {
            let mut others = kinds.iter().filter_map(Value::as_str).filter(|kind| *kind != "null");
            let first = others.next();
            let nullable = kinds.iter().any(|kind| kind == "null");
            // With a list of choices, `null` must be among them, too.
            let nullable = nullable
                && match object.get("enum") {
                    Some(choices) => {
                        choices.as_array().is_some_and(|all| all.contains(&Value::Null))
                    }
                    None => !object.contains_key("const"),
                };
            (first.filter(|_| others.next().is_none()), nullable)
        }
        None if object.contains_key("properties") => (Some("object"), false),
        None if object
            .get("enum")
            .and_then(Value::as_array)
            .is_some_and(|choices| choices.iter().all(Value::is_string)) =>
        {
            (Some("string"), false)
        }
        Some(_) | None => (None, false),
    }
}

/// Of two variants of which one is `null`, the other one.
fn one_or_null(variants: &[Value]) -> Option<&Value> {
    let is_null = |variant: &Value| variant.get("type").and_then(Value::as_str) == Some("null");
    match variants {
        [a, b] if is_null(a) && !is_null(b) => Some(b),
        [a, b] if is_null(b) && !is_null(a) => Some(a),
        _ => None,
    }
}

fn knows(object: &Map<String, Value>, keys: &[&str]) -> bool {
    object.keys().all(|key| {
        key == "type" || keys.contains(&key.as_str()) || ANNOTATIONS.contains(&key.as_str())
    })
}

fn size(object: &Map<String, Value>, key: &str, default: usize) -> Option<usize> {
    match object.get(key) {
        None => Some(default),
        Some(value) => value.as_u64().and_then(|size| usize::try_from(size).ok()),
    }
}

/// A definition of the same schema: `#/$defs/name`.
fn resolve<'s>(root: &'s Value, target: &str) -> Option<&'s Value> {
    root.pointer(target.strip_prefix('#')?)
}

/// The words of a name: `unitPrice`, `unit_price` and `unit-price` are the same two.
pub(super) fn name_terms(name: &str) -> Vec<String> {
    let mut spaced = String::new();
    let mut was_lower = false;
    for c in name.chars() {
        if was_lower && c.is_uppercase() {
            spaced.push(' ');
        }
        was_lower = c.is_lowercase() || c.is_ascii_digit();
        spaced.push(if c == '_' || c == '-' { ' ' } else { c });
    }
    word::terms(&spaced)
}

/// Keywords that demand nothing of a value. `format` is not here: a form that is not known could be
/// demanded.
const ANNOTATIONS: &[&str] = &[
    "$comment",
    "$defs",
    "$id",
    "$schema",
    "default",
    "definitions",
    "deprecated",
    "description",
    "example",
    "examples",
    "readOnly",
    "title",
    "writeOnly",
];

/// Deeper than any form that a person fills in.
const DEPTH: usize = 8;

/// More fields than a page has.
const NODES: usize = 200;

/// As many as can be cited.
const ITEMS: usize = 150;
