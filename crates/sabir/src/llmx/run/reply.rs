//! Observations as a message, and as JSON.

use std::fmt::{self, Write as _};

use sabir_host::Observation;
use sabir_llmx::{is_key, is_word, quote};
use serde::Serialize;
use serde_json::Value;

use super::{Job, addressee};

/// Everything that was carried out.
#[derive(Serialize)]
pub(super) struct RunReport {
    file: String,
    pub(super) ok: bool,
    replies: Vec<Reply>,
}

/// The answer to one message.
#[derive(Serialize)]
pub(super) struct Reply {
    f: String,
    t: String,
    s: u64,
    b: Option<String>,
    /// The sequence number of the message that it answers.
    re: u64,
    observations: Vec<Observed>,
}

#[derive(Serialize)]
struct Observed {
    ai: Option<String>,
    op: String,
    tgt: String,
    s: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    c: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    e: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    x_c: Option<Value>,
    duration_ms: u64,
}

impl RunReport {
    pub(super) fn new(file: String, replies: Vec<Reply>) -> Self {
        let all = replies.iter().flat_map(|reply| &reply.observations);
        let ok = all.into_iter().all(|observed| observed.e.is_none());
        Self { file, ok, replies }
    }
}

impl Reply {
    pub(super) fn new(
        job: &Job<'_>,
        from: Option<&str>,
        sequence: u64,
        observations: Vec<Observation>,
    ) -> Self {
        let observed = job.acts.iter().zip(observations).map(|(act, observation)| {
            let (s, c, e, x_c) = match observation.outcome {
                Ok(content) => ("OK", Some(Value::Object(content)), None, None),
                Err(failure) => {
                    ("ERR", None, Some(failure.message), failure.content.map(Value::Object))
                }
            };
            Observed {
                ai: act.id.as_ref().map(|id| id.clone().into_owned()),
                op: act.operation.as_str().to_owned(),
                tgt: act.target.clone().into_owned(),
                s,
                c,
                e,
                x_c,
                duration_ms: observation.took.as_millis() as u64,
            }
        });
        Self {
            f: from.map_or_else(|| addressee(&job.header.to), str::to_owned),
            t: job.header.from.clone().into_owned(),
            s: sequence,
            b: job.header.batch.as_ref().map(|batch| batch.clone().into_owned()),
            re: job.header.sequence,
            observations: observed.collect(),
        }
    }
}

impl fmt::Display for RunReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.replies.iter().try_for_each(|reply| reply.fmt(f))
    }
}

impl fmt::Display for Reply {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { f, t, s, b, re, observations } = self;
        write!(out, "HEADER:{{f:{},t:{},s:{s}", word(f), word(t))?;
        if let Some(batch) = b {
            write!(out, ",b:{}", word(batch))?;
        }
        writeln!(out, ",x_re:{re}}}")?;
        observations.iter().try_for_each(|observed| writeln!(out, "{observed}"))
    }
}

impl fmt::Display for Observed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("OBS:{")?;
        if let Some(id) = &self.ai {
            write!(out, "ai:{},", word(id))?;
        }
        write!(out, "s:{}", self.s)?;
        if let Some(content) = &self.c {
            write!(out, ",c:{}", written(content))?;
        }
        if let Some(error) = &self.e {
            write!(out, ",e:{}", quote(error))?;
        }
        if let Some(content) = &self.x_c {
            write!(out, ",x_c:{}", written(content))?;
        }
        out.write_char('}')
    }
}

/// A name, bare where it may be.
fn word(text: &str) -> String {
    if is_word(text) { text.to_owned() } else { quote(text) }
}

/// A value in the strict form.
fn written(value: &Value) -> String {
    match value {
        // The notation has no null, and no observation holds one.
        Value::Null => quote(""),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => quote(text),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(written).collect();
            format!("[{}]", items.join(","))
        }
        Value::Object(fields) => {
            let fields = fields.iter().filter(|(key, _)| is_key(key));
            let fields: Vec<String> =
                fields.map(|(key, value)| format!("{key}:{}", written(value))).collect();
            format!("{{{}}}", fields.join(","))
        }
    }
}
