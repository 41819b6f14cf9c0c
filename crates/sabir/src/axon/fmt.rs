//! `sabir axon fmt`: one way to write it, in place or to standard output.

use std::io::Write;
use std::path::Path;

use anyhow::Context;
use clap::{Args, ValueEnum};

use crate::cli::ManyFiles;
use crate::exit::Exit;
use crate::input::{Origin, Source};
use crate::output::{Notes, Output};
use crate::place::Places;
use crate::render;

/// Format files in place, or standard input to standard output
///
/// A file with syntax errors is left as it is. Comments survive.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir axon fmt conversation.axon
  sabir axon fmt --check *.axon
  sabir axon fmt --style wire - < conversation.axon

Exit codes:
  0  done; with --check, everything is formatted
  1  a file has syntax errors; with --check, a file is not formatted
  2  wrong usage, or a file cannot be read or written")]
pub(crate) struct FmtArgs {
    /// pretty for people, wire for the fewest tokens
    #[arg(long, value_enum, default_value_t = Style::Pretty)]
    style: Style,
    /// Write nothing; print the names of the files that are not formatted
    #[arg(long)]
    check: bool,
    #[command(flatten)]
    input: ManyFiles,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Style {
    Wire,
    Pretty,
}

impl From<Style> for sabir_axon::Style {
    fn from(style: Style) -> Self {
        match style {
            Style::Wire => Self::Wire,
            Style::Pretty => Self::Pretty,
        }
    }
}

impl FmtArgs {
    pub(crate) fn run(mut self, output: &mut Output, notes: &mut Notes) -> anyhow::Result<Exit> {
        let origins = Origin::parse_all(std::mem::take(&mut self.input.files))?;
        let mut worst = Exit::Done;
        for origin in origins {
            let done = match origin.read() {
                Ok(source) => self.format(&source, output, notes),
                Err(error) => Err(error.into()),
            };
            worst = worst.max(done.unwrap_or_else(|error| {
                notes.error(error);
                Exit::Unusable
            }));
        }
        Ok(worst)
    }

    fn format(
        &self,
        source: &Source,
        output: &mut Output,
        notes: &mut Notes,
    ) -> anyhow::Result<Exit> {
        let parsed = sabir_axon::parse(&source.text);
        if parsed.has_errors() {
            let places = Places::new(&source.text);
            render::print(notes, &source.origin.to_string(), &places, &parsed.diagnostics);
            return Ok(Exit::Found);
        }
        let formatted = sabir_axon::print(&parsed.tree, self.style.into());
        let differs = formatted != source.text;
        match (&source.origin, self.check) {
            (_, true) => {
                if differs {
                    writeln!(output, "{}", source.origin)?;
                    return Ok(Exit::Found);
                }
            }
            (Origin::Stdin, false) => output.write_all(formatted.as_bytes())?,
            (Origin::File(path), false) => {
                if differs {
                    replace(path, formatted.as_bytes())
                        .with_context(|| format!("{}: cannot be written", path.display()))?;
                }
            }
        }
        Ok(Exit::Done)
    }
}

/// Writes a file so that at every moment it holds either the old text or the new one.
fn replace(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    // Through a link to the file it means, or the rename would replace the link.
    let path = path.canonicalize()?;
    let permissions = std::fs::metadata(&path)?.permissions();
    // Who may not write to the file may still replace it; that is not what its owner asked for.
    anyhow::ensure!(!permissions.readonly(), "the file is read-only");
    let dir = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(dir)?;
    file.write_all(bytes)?;
    file.as_file().set_permissions(permissions)?;
    file.as_file().sync_all()?;
    file.persist(&path)?;
    Ok(())
}
