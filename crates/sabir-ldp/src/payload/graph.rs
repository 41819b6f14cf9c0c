//! Semantic graphs: nodes with an id and a type, and edges between them with a type. What else a node
//! or an edge holds belongs to the task.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::PayloadError;
use crate::mode::PayloadMode;

/// As many as a model could be told about.
pub const MAX_NODES: usize = 4096;
pub const MAX_EDGES: usize = 16_384;

#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    /// What else stands beside nodes and edges.
    rest: Map<String, Value>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    pub id: String,
    pub kind: String,
    pub properties: Map<String, Value>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Edge {
    pub from: String,
    pub to: String,
    pub kind: String,
    pub properties: Map<String, Value>,
}

impl Graph {
    /// An error if there are too many, an id stands twice or an edge ends at nothing.
    pub fn new(nodes: Vec<Node>, edges: Vec<Edge>) -> Result<Self, PayloadError> {
        Self::with_rest(nodes, edges, Map::new())
    }

    fn with_rest(
        nodes: Vec<Node>,
        edges: Vec<Edge>,
        rest: Map<String, Value>,
    ) -> Result<Self, PayloadError> {
        if nodes.is_empty() || nodes.len() > MAX_NODES {
            return Err(invalid("/nodes", format!("expected 1 to {MAX_NODES} nodes")));
        }
        if edges.len() > MAX_EDGES {
            return Err(invalid("/edges", format!("expected at most {MAX_EDGES} edges")));
        }
        let mut ids = BTreeSet::new();
        for (index, node) in nodes.iter().enumerate() {
            if !ids.insert(node.id.as_str()) {
                return Err(invalid(format!("/nodes/{index}/id"), "the id stands twice"));
            }
        }
        for (index, edge) in edges.iter().enumerate() {
            for (key, end) in [("from", &edge.from), ("to", &edge.to)] {
                if !ids.contains(end.as_str()) {
                    return Err(invalid(format!("/edges/{index}/{key}"), "no node has this id"));
                }
            }
        }
        Ok(Self { nodes, edges, rest })
    }

    pub(crate) fn check(value: &Value) -> Result<Self, PayloadError> {
        let Value::Object(fields) = value else { return Err(invalid("", "expected an object")) };
        Self::of_fields(fields.clone())
    }

    pub(super) fn of_fields(mut fields: Map<String, Value>) -> Result<Self, PayloadError> {
        let Some(Value::Array(nodes)) = fields.shift_remove("nodes") else {
            return Err(invalid("", "the key \"nodes\" is missing or no array"));
        };
        let edges = match fields.shift_remove("edges") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(edges)) => edges,
            Some(_) => return Err(invalid("/edges", "expected an array")),
        };
        if nodes.len() > MAX_NODES || edges.len() > MAX_EDGES {
            let message = format!("expected at most {MAX_NODES} nodes and {MAX_EDGES} edges");
            return Err(invalid("", message));
        }
        let nodes = nodes.into_iter().enumerate().map(|(index, value)| {
            let (texts, properties) = take_texts(value, ["id", "type"], "nodes", index)?;
            let [id, kind] = texts;
            Ok(Node { id, kind, properties })
        });
        let edges = edges.into_iter().enumerate().map(|(index, value)| {
            let (texts, properties) = take_texts(value, ["from", "to", "type"], "edges", index)?;
            let [from, to, kind] = texts;
            Ok(Edge { from, to, kind, properties })
        });
        let nodes = nodes.collect::<Result<_, _>>()?;
        Self::with_rest(nodes, edges.collect::<Result<_, _>>()?, fields)
    }

    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    pub(super) fn rest(&self) -> &Map<String, Value> {
        &self.rest
    }

    pub fn to_value(&self) -> Value {
        Value::Object(self.to_fields())
    }

    pub(super) fn to_fields(&self) -> Map<String, Value> {
        let mut fields = Map::new();
        let nodes = self
            .nodes
            .iter()
            .map(|node| object(&[("id", &node.id), ("type", &node.kind)], &node.properties));
        let edges = self.edges.iter().map(|edge| {
            let texts = [("from", &edge.from), ("to", &edge.to), ("type", &edge.kind)];
            object(&texts, &edge.properties)
        });
        fields.insert("nodes".to_owned(), nodes.collect());
        fields.insert("edges".to_owned(), edges.collect());
        fields.extend(self.rest.clone());
        fields
    }
}

fn object(texts: &[(&str, &String)], properties: &Map<String, Value>) -> Value {
    let mut fields = Map::new();
    for (key, text) in texts {
        fields.insert((*key).to_owned(), text.as_str().into());
    }
    fields.extend(properties.clone());
    Value::Object(fields)
}

/// Takes the named texts out of an object; the rest are properties.
fn take_texts<const N: usize>(
    value: Value,
    keys: [&str; N],
    list: &str,
    index: usize,
) -> Result<([String; N], Map<String, Value>), PayloadError> {
    let place = || format!("/{list}/{index}");
    let Value::Object(mut fields) = value else {
        return Err(invalid(place(), "expected an object"));
    };
    let mut texts = [const { String::new() }; N];
    for (text, key) in texts.iter_mut().zip(keys) {
        *text = match fields.shift_remove(key) {
            Some(Value::String(text)) if !text.is_empty() && text.len() <= MAX_NAME => text,
            _ => {
                let message = format!("the key {key:?} is missing or no short string");
                return Err(invalid(place(), message));
            }
        };
    }
    Ok((texts, fields))
}

const MAX_NAME: usize = 1024;

fn invalid(pointer: impl Into<String>, message: impl Into<String>) -> PayloadError {
    PayloadError::invalid(PayloadMode::SemanticGraph, pointer, message)
}
