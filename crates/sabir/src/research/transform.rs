//! `sabir transform`: an artifact made of a collection.

use std::io::Write as _;

use clap::Args;
use clap::builder::PossibleValuesParser;
use serde_json::{Map, json};

use super::cited;
use super::desk::{DeskArgs, Sight, block_on, find};
use crate::exit::Exit;
use crate::output::{Notes, Output};

/// Make something of a collection: a brief, a comparison, a timeline, cards
///
/// Prints the artifact's id; `sabir share` writes it to a file. What it says is on standard error.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir transform -c tides timeline
  sabir share $(sabir transform -c tides executive_brief) --format pdf
  sabir transform -c tides quiz --count 20 --json

Exit codes:
  0  the artifact is made
  2  wrong usage, there are no sources, or the model or the library failed")]
pub(crate) struct TransformArgs {
    /// What to make
    #[arg(value_name = "TYPE", value_parser = PossibleValuesParser::new(sabir_host::transform_kinds()))]
    kind: String,
    /// The collection, by name or id
    #[arg(short = 'c', long, value_name = "NAME")]
    collection: String,
    /// How many points, questions, cards or rows
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    count: Option<u32>,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    desk: DeskArgs,
}

impl TransformArgs {
    pub(crate) fn run(self, output: &mut Output, notes: &mut Notes) -> anyhow::Result<Exit> {
        let desk = self.desk.open(Sight::Hidden)?;
        let collection = find(&desk, &self.collection)?;
        let mut config = Map::new();
        if let Some(count) = self.count {
            config.insert("count".to_owned(), json!(count));
        }
        let made = block_on(async |stop| {
            Ok(desk.transform(&collection.id, &self.kind, &config, stop).await?)
        })?;
        if self.json {
            let mut object = cited::to_json(&made.answered);
            object["artifact"] = json!(made.id);
            object["title"] = json!(made.title);
            writeln!(output, "{}", cited::json_line(&object))?;
        } else {
            let mut said = Vec::new();
            cited::print(&mut said, &made.answered)?;
            notes.line(String::from_utf8_lossy(&said).trim_end());
            cited::tell_calls(&made.answered.calls, notes);
            writeln!(output, "{}", made.id)?;
        }
        Ok(Exit::Done)
    }
}
