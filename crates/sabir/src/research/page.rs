//! `sabir summarize` and `sabir extract`: one page, without a collection.

use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::path::PathBuf;

use anyhow::{Context, anyhow, bail};
use clap::{Args, ValueEnum};
use sabir_base::text::with_hidden_shown;
use sabir_host::{Answered, Desk, DeskError, Reading, read_file_text, read_text};
use serde_json::{Value, json};

use super::capture::{ReadArgs, name_of, parse_or_stdin};
use super::cited;
use super::desk::{DeskArgs, Sight, block_on};
use crate::exit::Exit;
use crate::output::{Notes, Output};

/// Sum up one page or file, with citations
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir summarize https://example.org/tides
  sabir summarize report.pdf --style detailed
  curl -s https://example.org | sabir summarize -

Exit codes:
  0  there is a summary
  1  there is nothing on the page to sum up
  2  the page cannot be read, or the model failed")]
pub(crate) struct SummarizeArgs {
    /// An address, a file, or - for standard input
    #[arg(value_name = "URL|FILE")]
    input: OsString,
    /// How much is said
    #[arg(long, value_enum, value_name = "STYLE", default_value = "concise")]
    style: Style,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: ReadArgs,
    #[command(flatten)]
    desk: DeskArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Style {
    Concise,
    Detailed,
}

/// Extract data from one page or file, by a JSON Schema
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir extract --schema product.json https://example.org/lamp
  sabir extract --schema product.json page.html | jq .price
  make-schema | sabir extract --schema - https://example.org/lamp

The data is on standard output and fits the schema; what was found where is on standard error.

Exit codes:
  0  there is data
  1  the page does not have what the schema asks for
  2  the page or the schema cannot be read, or the model failed, gave no data, or data that does
     not fit")]
pub(crate) struct ExtractArgs {
    /// An address, a file, or - for standard input
    #[arg(value_name = "URL|FILE")]
    input: OsString,
    /// A file with a JSON Schema of at most 1 MiB, or - for standard input
    #[arg(long, value_name = "FILE")]
    schema: PathBuf,
    /// Print a JSON object with the data, the answer and its citations
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: ReadArgs,
    #[command(flatten)]
    desk: DeskArgs,
}

impl SummarizeArgs {
    pub(crate) fn run(self, output: &mut Output, notes: &mut Notes) -> anyhow::Result<Exit> {
        let desk = self.desk.open(Sight::Hidden)?;
        let style = match self.style {
            Style::Concise => "concise",
            Style::Detailed => "detailed",
        };
        let name = name_of(&self.input);
        let (answered, is_blank) = block_on(async |stop| {
            let reading = read(&desk, &self.input, &self.reading, stop).await?;
            let is_blank = reading.page.markdown.trim().is_empty();
            Ok((desk.summarize(&reading, &name, Some(style), stop).await?, is_blank))
        })?;
        tell_notes(&answered, notes);
        match self.json {
            true => writeln!(output, "{}", cited::json_line(&cited::to_json(&answered)))?,
            false => {
                cited::print(output, &answered)?;
                cited::tell_calls(&answered.calls, notes);
            }
        }
        Ok(if is_blank { Exit::Found } else { Exit::Done })
    }
}

impl ExtractArgs {
    pub(crate) fn run(self, output: &mut Output, notes: &mut Notes) -> anyhow::Result<Exit> {
        let path = self.schema.display();
        let schema = match self.schema.as_os_str() == "-" {
            true if self.input == "-" => {
                bail!("the schema and the page cannot both be on standard input")
            }
            true => read_text(std::io::stdin(), MOST_SCHEMA),
            false => read_file_text(&self.schema, MOST_SCHEMA),
        };
        let schema = schema.map_err(|why| anyhow!("{path}: cannot be read: {why}"))?;
        let schema: Value =
            serde_json::from_str(&schema).with_context(|| format!("{path}: is no JSON"))?;
        let desk = self.desk.open(Sight::Hidden)?;
        let name = name_of(&self.input);
        let answered = block_on(async |stop| {
            let reading = read(&desk, &self.input, &self.reading, stop).await?;
            Ok(desk.extract(&reading, &name, &schema, stop).await?)
        })?;
        tell_notes(&answered, notes);
        if self.json {
            let mut object = cited::to_json(&answered);
            object["data"] = json!(answered.data);
            writeln!(output, "{}", cited::json_line(&object))?;
        } else {
            let mut said = Vec::new();
            cited::print(&mut said, &answered)?;
            notes.line(String::from_utf8_lossy(&said).trim_end());
            cited::tell_calls(&answered.calls, notes);
            if let Some(data) = &answered.data {
                writeln!(output, "{data:#}")?;
            }
        }
        // An object in which nothing stands is no data.
        let holds_data = |data: &Value| match data {
            Value::Object(fields) => fields.values().any(|value| !value.is_null()),
            Value::Array(rows) => !rows.is_empty(),
            other => !other.is_null(),
        };
        Ok(if answered.data.as_ref().is_some_and(holds_data) { Exit::Done } else { Exit::Found })
    }
}

async fn read(
    desk: &Desk,
    input: &OsStr,
    options: &ReadArgs,
    stop: &tokio_util::sync::CancellationToken,
) -> anyhow::Result<Reading> {
    let input = parse_or_stdin(input)?;
    let options = options.options();
    tokio::select! {
        () = stop.cancelled() => Err(DeskError::Stopped.into()),
        read = desk.read(&input, &options) => Ok(read?),
    }
}

fn tell_notes(answered: &Answered, notes: &mut Notes) {
    for note in &answered.notes {
        notes.line(format_args!("note: {}", with_hidden_shown(note)));
    }
}

/// Of a schema, in bytes.
const MOST_SCHEMA: u64 = 1024 * 1024;
