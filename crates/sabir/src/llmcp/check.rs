//! `sabir llmcp check`.

use std::path::PathBuf;

use clap::Args;
use sabir_host::check_data;
use sabir_llmcp::{Packet, Parsed, Request};

use crate::check::{ReportOptions, judge};
use crate::cli::ManyFiles;
use crate::exit::Exit;
use crate::input::{Origin, Source};
use crate::notation::Checked;
use crate::output::{Notes, Output};

/// Check that files are valid packets: requests to a model, or responses of one
///
/// Each file holds one packet. With --request the packets are responses, and are compared with the
/// request that they answer: its id, its conversation and turn, and the schema of the data that it
/// asks for.
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
    /// Compare responses with this request
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
        let Some(path) = request else {
            return judge(input, report, |text| Packet::parse(text, None).into(), output, notes);
        };
        let source: Source = Origin::File(path).read()?;
        let Parsed { value, diagnostics } = Request::parse(&source.text);
        let Some(request) = value else {
            // Nothing can be compared with what is no request.
            let found = Checked::from(Parsed::<Request> { value: None, diagnostics });
            report.tell(&source, &found, output, notes)?;
            return Ok(found.exit());
        };
        let find = |text: &str| Packet::parse_with(text, &request, &check_data).into();
        judge(input, report, find, output, notes)
    }
}

impl<T> From<Parsed<T>> for Checked {
    fn from(parsed: Parsed<T>) -> Self {
        let (pointers, diagnostics) =
            parsed.diagnostics.into_iter().map(|found| (found.pointer, found.diagnostic)).unzip();
        Self { messages: usize::from(parsed.value.is_some()), diagnostics, pointers }
    }
}
