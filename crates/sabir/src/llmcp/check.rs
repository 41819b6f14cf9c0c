//! `sabir llmcp check`.

use std::path::PathBuf;

use clap::Args;
use sabir_base::{Diagnostic, Severity, Span};
use sabir_host::check_data;
use sabir_llmcp::{Mode, Note, OutputFormat, Packet, Parsed, Request, codes, read_answer};

use crate::check::{ReportOptions, judge, judge_beside};
use crate::cli::ManyFiles;
use crate::exit::Exit;
use crate::input::{Origin, ReadError, Source};
use crate::notation::Checked;
use crate::output::{Notes, Output};

/// Check that files are valid packets: requests to a model, or responses of one
///
/// Each file holds one packet. With --request the packets are responses, and are compared with the
/// request that they answer: its id, its conversation and turn, and the schema of the data that it
/// asks for. Where it asks for Markdown, an answer in Markdown is valid. A request with errors is
/// told of, and the responses are checked without it. The summary counts it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir llmcp check request.json
  sabir llmcp check --request request.json response.json
  sabir llmcp check --json - < response.json

Exit codes:
  0  every packet is valid (warnings are allowed)
  1  errors were found
  2  wrong usage, or a file cannot be read")]
pub(crate) struct CheckArgs {
    /// Compare responses with this request; - is standard input
    #[arg(long, value_name = "FILE")]
    request: Option<PathBuf>,
    #[command(flatten)]
    report: ReportOptions,
    #[command(flatten)]
    input: ManyFiles,
}

impl CheckArgs {
    pub(crate) fn run(self, output: &mut Output, notes: &mut Notes) -> anyhow::Result<Exit> {
        let Self { request, report, input } = self;
        let alone = |text: &str| Packet::parse(text, None).into();
        let Some(path) = request else {
            return judge(input, report, alone, output, notes);
        };
        let origin = Origin::parse(path);
        let also_read = Origin::parse_all(input.files.clone())?;
        if origin == Origin::Stdin && also_read.contains(&Origin::Stdin) {
            return Err(ReadError::StdinTwice.into());
        }
        let source: Source = origin.read()?;
        let Parsed { value, diagnostics } = Request::parse(&source.text);
        let found = Checked::from(Parsed { value: value.as_ref(), diagnostics });
        if !found.diagnostics.is_empty() {
            report.tell(&source, &found, output, notes)?;
        }
        let judged = match &value {
            Some(request) => {
                let beside = |text: &str| check_beside(text, request);
                judge_beside(Some(&found), input, report, beside, output, notes)?
            }
            // Nothing can be compared with what is no request; the rest can be said all the same.
            None => judge_beside(Some(&found), input, report, alone, output, notes)?,
        };
        Ok(judged.max(found.exit()))
    }
}

/// What is wrong with the answer to a request. One in Markdown is right where that was asked for.
fn check_beside(text: &str, request: &Request) -> Checked {
    let as_packet = || Packet::parse_with(text, request, &check_data).into();
    if request.format == OutputFormat::Json {
        return as_packet();
    }
    let answer = read_answer(text, request, &check_data);
    if answer.mode != Mode::Markdown {
        return as_packet();
    }
    let told = answer.notes.iter().map(|note| {
        let code = match note {
            Note::CitationsDropped(_) => codes::UNCHECKABLE_CITATION,
            Note::Cut => codes::TOO_LARGE,
            _ => codes::BAD_DOCUMENT,
        };
        let message = format!("whoever reads this answer {note}");
        Diagnostic::new(code, Severity::Warning, Span::default(), message)
    });
    Checked { messages: 1, diagnostics: told.collect(), pointers: Vec::new() }
}

impl<T> From<Parsed<T>> for Checked {
    fn from(parsed: Parsed<T>) -> Self {
        let (pointers, diagnostics) =
            parsed.diagnostics.into_iter().map(|found| (found.pointer, found.diagnostic)).unzip();
        Self { messages: usize::from(parsed.value.is_some()), diagnostics, pointers }
    }
}
