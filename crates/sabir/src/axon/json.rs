//! `sabir axon json`: AXON as JSON and back, without loss.

use clap::{Args, Subcommand};

use crate::cli::OneFile;
use crate::exit::Exit;
use crate::json::{self, EncodeOptions, Encoding, Layout};
use crate::output::{Notes, Output};

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
    Encode(EncodeOptions),
    /// JSON to AXON, on the wire
    #[command(after_help = "\
Examples:
  sabir axon json decode message.json
  sabir axon json encode message.axon | sabir axon json decode

Exit codes:
  0  the AXON is on standard output
  1  the JSON is no AXON document; standard error says where and why
  2  wrong usage, or the file cannot be read")]
    Decode(OneFile),
    /// The JSON Schema of the encoding
    #[command(after_help = "Examples:\n  sabir axon json schema > axon.schema.json")]
    Schema,
}

impl JsonArgs {
    pub(crate) fn run(self, output: &mut Output, notes: &mut Notes) -> anyhow::Result<Exit> {
        match self.direction {
            Direction::Encode(options) => {
                let layout = options.layout();
                let source = options.input.read()?;
                let parsed = sabir_axon::parse(&source.text);
                let encoding = sabir_axon::json::encoding(&parsed.tree);
                json::encode(&source, &parsed.diagnostics, encoding, layout, output, notes)
            }
            Direction::Decode(input) => {
                let source = input.read()?;
                json::decode(&source, sabir_axon::json::decode(&source.text), output, notes)
            }
            Direction::Schema => json::print_schema(&sabir_axon::json::schema(), output),
        }
    }
}

impl Encoding for sabir_axon::json::Encoding<'_> {
    fn write(&self, layout: Layout, output: &mut Output) -> anyhow::Result<()> {
        match layout {
            Layout::OneLine => serde_json::to_writer(output, self)?,
            Layout::Indented => serde_json::to_writer_pretty(output, self)?,
        }
        Ok(())
    }
}
