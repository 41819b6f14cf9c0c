//! The thread as providers want it: every call with exactly one output, every id used once.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::ModelRequest;
use crate::items::Item;

/// One step of a thread that is in order.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Step<'a> {
    /// Neither a call nor an output.
    Item(&'a Item),
    Call(Call<'a>),
    /// Where the output of the call with this number stood; it comes after the call.
    Output(usize),
    /// An answer of the model is over.
    AnswerEnd,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Call<'a> {
    /// Calls are numbered from zero, in their order.
    pub(super) number: usize,
    pub(super) id: Cow<'a, str>,
    pub(super) name: &'a str,
    pub(super) arguments: &'a str,
    /// `None`: there was none, so that no [`Step::Output`] comes.
    pub(super) output: Option<&'a str>,
}

/// What a call says that was never answered.
pub(super) const ABORTED: &str = "aborted";

impl<'a> Call<'a> {
    pub(super) fn output_text(&self) -> &'a str {
        self.output.unwrap_or(ABORTED)
    }
}

pub(super) fn pair(request: &ModelRequest) -> Vec<Step<'_>> {
    let ModelRequest { items, answers_end, .. } = request;
    let mut ends = answers_end.iter().peekable();
    let mut steps: Vec<Step<'_>> = Vec::with_capacity(items.len());
    // The steps of the calls, by number.
    let mut calls: Vec<usize> = Vec::new();
    // The numbers of the calls that wait for an output. Some servers number the calls of every
    // response from zero, so that one id may name several; the last one is meant.
    let mut open: HashMap<&str, Vec<usize>> = HashMap::new();
    let mut used: HashSet<Cow<'_, str>> = HashSet::new();
    for (index, item) in items.iter().enumerate() {
        if ends.next_if(|&&end| end <= index).is_some() {
            steps.push(Step::AnswerEnd);
            while ends.next_if(|&&end| end <= index).is_some() {}
        }
        match &**item {
            Item::FunctionCall { call_id, name, arguments } => {
                let number = calls.len();
                calls.push(steps.len());
                open.entry(call_id).or_default().push(number);
                let id = unused(call_id, number, &used);
                used.insert(id.clone());
                steps.push(Step::Call(Call { number, id, name, arguments, output: None }));
            }
            Item::FunctionCallOutput { call_id, output } => {
                let waiting = open.get_mut(call_id.as_str()).and_then(Vec::pop);
                let Some(number) = waiting else { continue };
                if let Some(Step::Call(call)) = steps.get_mut(calls[number]) {
                    call.output = Some(output);
                    steps.push(Step::Output(number));
                }
            }
            // A call that could not be read was never run, and nothing can answer it.
            Item::Other(value) if is_half_read(value) => {}
            other => steps.push(Step::Item(other)),
        }
    }
    if ends.next().is_some() {
        steps.push(Step::AnswerEnd);
    }
    steps
}

fn is_half_read(value: &Value) -> bool {
    matches!(value["type"].as_str(), Some("function_call" | "function_call_output"))
}

fn unused<'a>(id: &'a str, number: usize, used: &HashSet<Cow<'_, str>>) -> Cow<'a, str> {
    if !id.is_empty() && !used.contains(id) {
        return Cow::Borrowed(id);
    }
    // The number differs between calls; only an id that looks like one of these can be in the way.
    let mut made = format!("{id}_{number}");
    while used.contains(made.as_str()) {
        made.push('_');
    }
    Cow::Owned(made)
}
