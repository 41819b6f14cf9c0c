//! How a payload of one mode is said in another.
//!
//! Between graphs and frames the way is exact in both directions. A frame becomes a node for the task
//! and one for each further field; any other graph travels inside of a frame. To text, everything is
//! said in words; from text, the text becomes an instruction. Vectors are hints: they are left behind.

use serde_json::{Map, Value};

use super::frame::{INSTRUCTION, TASK_TYPE};
use super::{Edge, Frame, Graph, Hints, Node, Payload, PayloadError};
use crate::mode::PayloadMode;

impl Payload {
    /// This payload in another mode.
    pub fn to_mode(&self, mode: PayloadMode) -> Result<Payload, PayloadError> {
        if mode == self.mode() {
            return Ok(self.clone());
        }
        match mode {
            PayloadMode::Text => Ok(Self::Text(self.to_text().into())),
            PayloadMode::SemanticFrame => self.to_frame().map(Self::Frame),
            PayloadMode::EmbeddingHints => Ok(Self::Hints(Hints::of_text(self.to_text()))),
            PayloadMode::SemanticGraph => self.to_frame()?.to_graph().map(Self::Graph),
            PayloadMode::LatentCapsules | PayloadMode::CacheSlices => {
                Err(PayloadError::NotImplemented { mode })
            }
        }
    }

    /// In words, for a peer that speaks nothing else.
    pub fn to_text(&self) -> String {
        match self {
            Self::Text(Value::String(text)) => text.clone(),
            Self::Text(value) => value.to_string(),
            Self::Frame(frame) => frame.to_text(),
            Self::Hints(hints) => hints.text().to_owned(),
            Self::Graph(graph) => match graph.as_frame() {
                Some(frame) => frame.to_text(),
                None => graph.to_text(),
            },
        }
    }

    pub fn to_frame(&self) -> Result<Frame, PayloadError> {
        match self {
            Self::Frame(frame) => Ok(frame.clone()),
            Self::Graph(graph) => graph.to_frame(),
            // A frame that was sent in text mode is one already.
            Self::Text(value) => match Frame::check(value) {
                Ok(frame) => Ok(frame),
                Err(_) => Frame::from_text(&self.to_text()),
            },
            Self::Hints(hints) => Frame::from_text(hints.text()),
        }
    }
}

impl Frame {
    /// A frame whose instruction is a text, which must not be empty.
    pub fn from_text(text: &str) -> Result<Self, PayloadError> {
        Self::new(PLAIN, text)
    }

    /// In words. What was made from a text is that text again.
    pub fn to_text(&self) -> String {
        if self.task_type() == PLAIN && self.rest().next().is_none() {
            return self.instruction().to_owned();
        }
        let mut out = format!("Task: {}\n{}\n", self.task_type(), self.instruction());
        for (key, value) in self.rest() {
            out.push_str(key);
            out.push_str(": ");
            match value {
                Value::String(text) => out.push_str(text),
                other => out.push_str(&other.to_string()),
            }
            out.push('\n');
        }
        out
    }

    pub fn to_graph(&self) -> Result<Graph, PayloadError> {
        match self.as_graph() {
            Some(graph) => Ok(graph),
            None => self.spread(),
        }
    }

    /// The graph that travels in this frame, if one does.
    fn as_graph(&self) -> Option<Graph> {
        if self.task_type() != CARRIER {
            return None;
        }
        let mut fields = self.fields().clone();
        fields.shift_remove(TASK_TYPE);
        fields.shift_remove(INSTRUCTION);
        let graph = Graph::of_fields(fields).ok()?;
        // A graph that would be said as another frame does not travel in this one.
        let same = graph.to_frame().is_ok_and(|frame| frame == *self);
        same.then_some(graph)
    }

    /// One node for the task, and one for each further field.
    fn spread(&self) -> Result<Graph, PayloadError> {
        let mut task = Map::new();
        task.insert(TASK_TYPE.to_owned(), self.task_type().into());
        task.insert(INSTRUCTION.to_owned(), self.instruction().into());
        let mut nodes = vec![Node { id: ROOT.to_owned(), kind: ROOT.to_owned(), properties: task }];
        let mut edges = Vec::new();
        for (index, (key, value)) in self.rest().enumerate() {
            let id = format!("field-{}", index + 1);
            let mut properties = Map::new();
            properties.insert(VALUE.to_owned(), value.clone());
            let (from, to) = (ROOT.to_owned(), id.clone());
            nodes.push(Node { id, kind: FIELD.to_owned(), properties });
            edges.push(Edge { from, to, kind: key.clone(), properties: Map::new() });
        }
        let graph =
            Graph::new(nodes, edges).and_then(|graph| Graph::check(&graph.to_value())).map_err(
                |_| self.unsayable("it has too many fields, or a name that no edge can have"),
            )?;
        Ok(graph)
    }

    fn unsayable(&self, message: &str) -> PayloadError {
        PayloadError::unsayable(PayloadMode::SemanticFrame, message)
    }
}

impl Graph {
    pub fn to_frame(&self) -> Result<Frame, PayloadError> {
        match self.as_frame() {
            Some(frame) => Ok(frame),
            None => self.carry(),
        }
    }

    /// The frame that this graph was made from, if it was.
    fn as_frame(&self) -> Option<Frame> {
        let [task, fields @ ..] = self.nodes() else { return None };
        if !self.rest().is_empty() || fields.len() != self.edges().len() {
            return None;
        }
        let mut frame = task.properties.clone();
        for (node, edge) in fields.iter().zip(self.edges()) {
            frame.insert(edge.kind.clone(), node.properties.get(VALUE)?.clone());
        }
        let frame = Frame::of_fields(frame).ok()?;
        // What a frame's own way does not lead to is another graph that looks alike. This asks about
        // ever smaller graphs and ends where nothing is left inside.
        let same = frame.to_graph().is_ok_and(|graph| graph == *self);
        same.then_some(frame)
    }

    /// The graph inside of a frame whose instruction says it in words.
    fn carry(&self) -> Result<Frame, PayloadError> {
        let mut fields = Map::new();
        for key in [TASK_TYPE, INSTRUCTION] {
            if self.rest().contains_key(key) {
                let message = format!("it has a field {key:?} of its own");
                return Err(PayloadError::unsayable(PayloadMode::SemanticGraph, message));
            }
        }
        fields.insert(TASK_TYPE.to_owned(), CARRIER.into());
        fields.insert(INSTRUCTION.to_owned(), self.to_text().into());
        fields.extend(self.to_fields());
        Frame::of_fields(fields)
    }

    /// One line for each node and each edge.
    fn to_text(&self) -> String {
        let mut out = String::from("A graph.\n");
        for node in self.nodes() {
            out.push_str(&format!("{} is a {}", node.id, node.kind));
            push_properties(&mut out, &node.properties);
        }
        for edge in self.edges() {
            out.push_str(&format!("{} -> {}: {}", edge.from, edge.to, edge.kind));
            push_properties(&mut out, &edge.properties);
        }
        for (key, value) in self.rest() {
            out.push_str(&format!("{key}: {value}\n"));
        }
        out
    }
}

fn push_properties(out: &mut String, properties: &Map<String, Value>) {
    if !properties.is_empty() {
        out.push_str(" with ");
        let said = properties.iter().map(|(key, value)| format!("{key}: {value}"));
        out.push_str(&said.collect::<Vec<_>>().join(", "));
    }
    out.push('\n');
}

/// The type of a task that is nothing but a text.
const PLAIN: &str = "text";
/// The type of a task that is nothing but a graph.
const CARRIER: &str = "semantic_graph";
/// The node that stands for a frame's task, and its type.
const ROOT: &str = "task";
/// The type of a node that holds the value of a frame's field.
const FIELD: &str = "field";
const VALUE: &str = "value";
