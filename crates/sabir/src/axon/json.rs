//! `sabir axon json`: AXON as JSON and back, without loss.

use std::io::Write;

use clap::{Args, Subcommand};
use serde::Serialize;

use crate::cli::OneFile;
use crate::exit::Exit;
use crate::output::{Notes, Output};
use crate::place::Places;
use crate::render;

/// Translate AXON to JSON and back, without loss
#[derive(Debug, Args)]
pub(crate) struct JsonArgs {
    #[command(subcommand)]
    direction: Direction,
}

#[derive(Debug, Subcommand)]
enum Direction {
    /// AXON to JSON
    #[command(after_help = "\
Examples:
  sabir axon json encode message.axon
  echo 'INF(@a>@b): ok' | sabir axon json encode --pretty

Exit codes:
  0  the JSON is on standard output
  1  the text is not valid AXON; the findings are on standard error
  2  wrong usage, or the file cannot be read")]
    Encode {
        /// Print the JSON over several lines
        #[arg(long)]
        pretty: bool,
        #[command(flatten)]
        input: OneFile,
    },
    /// JSON to AXON, on the wire
    #[command(after_help = "\
Examples:
  sabir axon json decode message.json
  sabir axon json encode message.axon | sabir axon json decode

Exit codes:
  0  the AXON is on standard output
  1  the JSON is no AXON document; standard error says where and why
  2  wrong usage, or the file cannot be read")]
    Decode {
        #[command(flatten)]
        input: OneFile,
    },
    /// The JSON Schema of the encoding
    #[command(after_help = "Examples:\n  sabir axon json schema > axon.schema.json")]
    Schema,
}

impl JsonArgs {
    pub(crate) fn run(self, output: &mut Output, notes: &mut Notes) -> anyhow::Result<Exit> {
        match self.direction {
            Direction::Encode { pretty, input } => encode(input, pretty, output, notes),
            Direction::Decode { input } => decode(input, output, notes),
            Direction::Schema => {
                write_pretty(output, &sabir_axon::json::schema())?;
                Ok(Exit::Done)
            }
        }
    }
}

fn encode(
    input: OneFile,
    pretty: bool,
    output: &mut Output,
    notes: &mut Notes,
) -> anyhow::Result<Exit> {
    let source = input.read()?;
    let parsed = sabir_axon::parse(&source.text);
    if parsed.has_errors() {
        let places = Places::new(&source.text);
        render::print(notes, &source.origin.to_string(), &places, &parsed.diagnostics);
        return Ok(Exit::Found);
    }
    match sabir_axon::json::encoding(&parsed.tree) {
        Ok(encoding) if pretty => write_pretty(output, &encoding)?,
        Ok(encoding) => {
            serde_json::to_writer(&mut *output, &encoding)?;
            writeln!(output)?;
        }
        Err(error) => {
            notes.line(format_args!("error: {}: {error}", source.origin));
            return Ok(Exit::Found);
        }
    }
    Ok(Exit::Done)
}

fn write_pretty(output: &mut Output, value: &impl Serialize) -> anyhow::Result<()> {
    serde_json::to_writer_pretty(&mut *output, value)?;
    writeln!(output)?;
    Ok(())
}

fn decode(input: OneFile, output: &mut Output, notes: &mut Notes) -> anyhow::Result<Exit> {
    /// Messages quote the JSON, which may be long.
    const MAX: usize = 400;
    let source = input.read()?;
    match sabir_axon::json::decode(&source.text) {
        Ok(text) => {
            output.write_all(text.as_bytes())?;
            if !text.is_empty() && !text.ends_with('\n') {
                writeln!(output)?;
            }
            Ok(Exit::Done)
        }
        Err(error) => {
            let message = render::clip(&error.to_string(), MAX);
            notes.line(format_args!("error: {}: {message}", source.origin));
            if let Some(help) = &error.help {
                notes.line(format_args!("help: {}", render::clip(help, MAX)));
            }
            Ok(Exit::Found)
        }
    }
}
