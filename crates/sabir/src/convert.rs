//! `sabir convert`: from one tongue to another, without loss.

use std::io::Write;

use anyhow::bail;
use clap::Args;
use sabir_lingua::Refused;

use crate::cli::OneFile;
use crate::exit::Exit;
use crate::input::Source;
use crate::notation::llmx_changes;
use crate::output::{Notes, Output};
use crate::tongue::Tongue;
use crate::{json, render};

/// Translate a document into another tongue, without loss
///
/// What the other tongue has no word for travels in extension fields, so that translating back
/// gives an equal document.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir convert --to llmx conversation.axon
  sabir convert --from llmx --to axon < batch.llmx
  sabir convert --from frame --to axon task.json
  sabir convert --to json conversation.axon | sabir convert --from json --to llmx

Exit codes:
  0  the translation is on standard output
  1  the input has errors
  2  wrong usage, or the file cannot be read")]
pub(crate) struct ConvertArgs {
    /// The tongue of the input; if not given, its name or its text shows it
    #[arg(long, value_enum)]
    from: Option<Tongue>,
    /// The tongue to translate into
    #[arg(long, value_enum)]
    to: Tongue,
    #[command(flatten)]
    input: OneFile,
}

impl ConvertArgs {
    pub(crate) fn run(self, output: &mut Output, notes: &mut Notes) -> anyhow::Result<Exit> {
        let source = self.input.read()?;
        let Some(from) = self.from.or_else(|| Tongue::guess(&source)) else {
            bail!("{}: in which tongue is it? say --from axon|llmx|json|frame", source.origin);
        };
        match sabir_lingua::convert(&source.text, from.into(), self.to.into()) {
            Ok(text) => {
                if from == Tongue::Llmx {
                    let found = sabir_llmx::parse(&source.text).diagnostics;
                    render::print_all(notes, &source, &llmx_changes(found));
                }
                output.write_all(text.as_bytes())?;
                if !text.is_empty() && !text.ends_with('\n') {
                    writeln!(output)?;
                }
                Ok(Exit::Done)
            }
            Err(refused) => {
                explain(&source, &refused, notes);
                Ok(Exit::Found)
            }
        }
    }
}

fn explain(source: &Source, refused: &Refused, notes: &mut Notes) {
    match refused {
        Refused::Invalid(diagnostics) => render::print_all(notes, source, diagnostics),
        Refused::Json(error) => json::explain(source, error, notes),
        Refused::TooManyLayers { .. } | Refused::TooLarge { .. } => {
            notes.line(format_args!("error: {}: {refused}", source.origin));
        }
    }
}
