//! `sabir llmx json`: LLMX as JSON and back, without loss.

use std::io::Write;

use clap::{Args, Subcommand};

use crate::cli::OneFile;
use crate::exit::Exit;
use crate::json::{self, EncodeOptions, Encoding, Layout};
use crate::notation::llmx_changes;
use crate::output::{Notes, Output};
use crate::render;

/// Translate LLMX to JSON and back, without loss
#[derive(Debug, Args)]
pub(crate) struct JsonArgs {
    #[command(subcommand)]
    direction: Direction,
}

#[derive(Debug, Subcommand)]
enum Direction {
    /// LLMX to JSON
    #[command(after_help = "\
Examples:
  sabir llmx json encode message.llmx
  echo 'HEADER:{f:a,t:b,s:1} RES:{o:\"ACK\"}' | sabir llmx json encode --pretty

Exit codes:
  0  the JSON is on standard output
  1  the text has syntax errors; the findings are on standard error
  2  wrong usage, or the file cannot be read")]
    Encode(EncodeOptions),
    /// JSON to LLMX, in its strict form
    #[command(after_help = "\
Examples:
  sabir llmx json decode message.json
  sabir llmx json encode message.llmx | sabir llmx json decode

Exit codes:
  0  the LLMX is on standard output
  1  the JSON is no LLMX document; standard error says where and why
  2  wrong usage, or the file cannot be read")]
    Decode(OneFile),
    /// The JSON Schema of the encoding
    #[command(after_help = "Examples:\n  sabir llmx json schema > llmx.schema.json")]
    Schema,
}

impl JsonArgs {
    pub(crate) fn run(self, output: &mut Output, notes: &mut Notes) -> anyhow::Result<Exit> {
        match self.direction {
            Direction::Encode(options) => {
                let layout = options.layout();
                let source = options.input.read()?;
                let parsed = sabir_llmx::parse(&source.text);
                let encoding = sabir_llmx::json::encoding(&parsed.tree);
                let exit =
                    json::encode(&source, &parsed.diagnostics, encoding, layout, output, notes)?;
                if exit == Exit::Done {
                    render::print_all(notes, &source, &llmx_changes(parsed.diagnostics));
                }
                Ok(exit)
            }
            Direction::Decode(input) => {
                let source = input.read()?;
                json::decode(&source, sabir_llmx::json::decode(&source.text), output, notes)
            }
            Direction::Schema => json::print_schema(&sabir_llmx::json::schema(), output),
        }
    }
}

impl Encoding for sabir_llmx::json::Encoding<'_> {
    fn write(&self, layout: Layout, output: &mut Output) -> anyhow::Result<()> {
        match layout {
            Layout::OneLine => write!(output, "{self}")?,
            Layout::Indented => write!(output, "{self:#}")?,
        }
        Ok(())
    }
}
