//! A step of a trace: begun, described, and handed to the exporter when it is dropped. Without an
//! exporter nothing is recorded, and the trace of others passes through.

use std::sync::OnceLock;
use std::time::SystemTime;

use tokio::sync::mpsc;

use super::context::{TraceContext, current};
use crate::metrics::metrics;

/// A step that is under way.
#[derive(Debug, Default)]
pub struct Span {
    passed_on: Option<TraceContext>,
    recorded: Option<Box<Step>>,
}

/// What a step is to those beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpanKind {
    Internal,
    /// Somebody asked us.
    Server,
    /// We ask somebody.
    Client,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Attribute {
    Text(String),
    Number(i64),
}

#[derive(Debug, Clone)]
pub(super) struct Step {
    pub(super) context: TraceContext,
    pub(super) parent: Option<[u8; 8]>,
    pub(super) name: &'static str,
    pub(super) kind: SpanKind,
    pub(super) began: SystemTime,
    pub(super) ended: SystemTime,
    pub(super) attributes: Vec<(&'static str, Attribute)>,
    pub(super) error: Option<String>,
}

/// Where steps go that are over.
pub(super) static STEPS: OnceLock<mpsc::Sender<Step>> = OnceLock::new();

impl Span {
    /// A step of the trace that this work is part of, or the first of a new one.
    pub fn begin(name: &'static str, kind: SpanKind) -> Self {
        Self::after(current(), name, kind)
    }

    /// The same after a step that is known by its context.
    pub fn after(parent: Option<TraceContext>, name: &'static str, kind: SpanKind) -> Self {
        let is_wanted = STEPS.get().is_some() && parent.is_none_or(|parent| parent.is_sampled);
        if !is_wanted {
            return Self { passed_on: parent, recorded: None };
        }
        let context = match &parent {
            Some(parent) => parent.next(),
            None => TraceContext::root(),
        };
        let Some(context) = context else { return Self { passed_on: parent, recorded: None } };
        let began = now();
        let step = Step {
            context,
            parent: parent.map(|parent| parent.span),
            name,
            kind,
            began,
            ended: began,
            attributes: Vec::new(),
            error: None,
        };
        Self { passed_on: parent, recorded: Some(Box::new(step)) }
    }

    /// What comes after this step: its own context, or that of the step before if it is not recorded.
    pub fn context(&self) -> Option<TraceContext> {
        self.recorded.as_ref().map(|step| step.context).or(self.passed_on)
    }

    /// Describes it. Names are ours; values are cleaned before they are sent.
    pub fn set(&mut self, name: &'static str, value: impl Into<Attribute>) {
        if let Some(step) = &mut self.recorded {
            step.attributes.push((name, value.into()));
        }
    }

    /// It came to nothing, with this code.
    pub fn fail(&mut self, code: &str) {
        if let Some(step) = &mut self.recorded {
            step.error = Some(code.to_owned());
        }
    }
}

impl Drop for Span {
    fn drop(&mut self) {
        let Some(mut step) = self.recorded.take() else { return };
        step.ended = now();
        // Nobody waits for a collector.
        let is_taken = STEPS.get().is_some_and(|steps| steps.try_send(*step).is_ok());
        if !is_taken {
            metrics().spans_dropped.add(1);
        }
    }
}

impl From<&str> for Attribute {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<u64> for Attribute {
    fn from(number: u64) -> Self {
        Self::Number(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

#[expect(clippy::disallowed_methods, reason = "a step says when it began and ended")]
fn now() -> SystemTime {
    SystemTime::now()
}
