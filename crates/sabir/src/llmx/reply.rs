//! `sabir llmx reply`: what a receiver answers, by the notation's own rules.

use std::io::Write;

use anyhow::Context;
use clap::Args;
use sabir_llmx::{Reply, Response};
use serde::Serialize;

use crate::cli::OneFile;
use crate::exit::Exit;
use crate::output::Output;
use crate::place::Places;

use super::parse_name;

/// Answer messages as the notation demands: acknowledge, warn or refuse
///
/// Every message is answered by one RES block, or by one for each unknown type in it; a text without
/// messages is refused. With --from, each answer is a whole message that can be sent.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  echo 'HEADER:{f:a,t:b,s:1} REQ:{pr:1}' | sabir llmx reply
  sabir llmx reply --from Worker --seq 8 message.llmx
  sabir llmx reply --json message.llmx

The answers are on standard output, and nothing else is.
With --json they are one object: {file, accepted, replies}. Each reply has line (where the message
that it answers starts, or null), responses and text (as it would be printed without --json); each
response has o (ACK, NACK or WARN), error (of a NACK), unknown_type (of a WARN) and block.

Exit codes:
  0  every message is accepted (ACK or WARN)
  1  a message is refused (NACK)
  2  wrong usage, or the file cannot be read")]
pub(crate) struct ReplyArgs {
    /// Who answers; puts a HEADER in front of every answer
    #[arg(long, value_name = "NAME", value_parser = parse_name)]
    from: Option<String>,
    /// The sequence number of the first answer; it counts upwards
    #[arg(long, value_name = "N", requires = "from", default_value_t = 1)]
    seq: u64,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    input: OneFile,
}

#[derive(Serialize)]
struct RepliesReport<'a> {
    file: String,
    accepted: bool,
    replies: Vec<ReplyReport<'a>>,
}

#[derive(Serialize)]
struct ReplyReport<'a> {
    line: Option<u32>,
    responses: Vec<ResponseReport<'a>>,
    text: String,
}

#[derive(Serialize)]
struct ResponseReport<'a> {
    o: &'static str,
    error: Option<&'a str>,
    unknown_type: Option<&'a str>,
    block: String,
}

impl ReplyArgs {
    pub(crate) fn run(self, output: &mut Output) -> anyhow::Result<Exit> {
        let Self { from, seq, json, input } = self;
        let source = input.read()?;
        let parsed = sabir_llmx::check(&source.text);
        let replies = sabir_llmx::replies(&parsed);
        let texts: anyhow::Result<Vec<String>> = replies
            .iter()
            .zip(0..)
            .map(|(reply, index)| match &from {
                None => Ok(reply.to_string()),
                Some(name) => seq
                    .checked_add(index)
                    .and_then(|sequence| reply.message(name, sequence))
                    .context("the sequence numbers of the notation end before this"),
            })
            .collect();
        let texts = texts?;
        let accepted = !replies.iter().any(is_refusal);
        if json {
            let places = Places::new(&source.text);
            let report = RepliesReport {
                file: source.origin.as_given(),
                accepted,
                replies: replies
                    .iter()
                    .zip(texts)
                    .map(|(reply, text)| ReplyReport::new(reply, text, &places))
                    .collect(),
            };
            serde_json::to_writer(&mut *output, &report)?;
            writeln!(output)?;
        } else {
            texts.iter().try_for_each(|text| output.write_all(text.as_bytes()))?;
        }
        Ok(if accepted { Exit::Done } else { Exit::Found })
    }
}

impl<'a> ReplyReport<'a> {
    fn new(reply: &'a Reply<'_>, text: String, places: &Places<'_>) -> Self {
        let line = reply.answers.map(|message| places.of(message.node.span().start).line);
        Self { line, responses: reply.responses.iter().map(ResponseReport::new).collect(), text }
    }
}

impl<'a> ResponseReport<'a> {
    fn new(response: &'a Response) -> Self {
        let (o, error, unknown_type) = match response {
            Response::Ack => ("ACK", None, None),
            Response::Nack { error } => ("NACK", Some(error.as_str()), None),
            Response::Warn { unknown_type } => ("WARN", None, Some(unknown_type.as_str())),
        };
        Self { o, error, unknown_type, block: response.to_string() }
    }
}

fn is_refusal(reply: &Reply<'_>) -> bool {
    reply.responses.iter().any(|response| matches!(response, Response::Nack { .. }))
}
