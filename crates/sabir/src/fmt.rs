//! `fmt`, for every notation: one way to write it, in place or to standard output.

use std::io::Write;
use std::path::Path;

use anyhow::Context;
use clap::Args;

use crate::cli::ManyFiles;
use crate::exit::Exit;
use crate::input::{Origin, Source};
use crate::notation::Formatted;
use crate::output::{Notes, Output};
use crate::render;

/// What can be said to every `fmt`.
#[derive(Debug, Args)]
pub(crate) struct FmtOptions {
    /// Write nothing; print the names of the files that are not formatted
    #[arg(long)]
    check: bool,
    #[command(flatten)]
    input: ManyFiles,
}

impl FmtOptions {
    /// Writes every file as `format` has it; one that cannot be does not stop the others.
    pub(crate) fn run(
        mut self,
        format: impl Fn(&str) -> Formatted,
        output: &mut Output,
        notes: &mut Notes,
    ) -> anyhow::Result<Exit> {
        let origins = Origin::parse_all(std::mem::take(&mut self.input.files))?;
        let mut worst = Exit::Done;
        for origin in origins {
            let done = match origin.read() {
                Ok(source) => match format(&source.text) {
                    Ok(standard) => {
                        if !self.check {
                            render::print_all(notes, &source, &standard.changes);
                        }
                        self.write(&source, &standard.text, output)
                    }
                    Err(diagnostics) => {
                        render::print_all(notes, &source, &diagnostics);
                        Ok(Exit::Found)
                    }
                },
                Err(error) => Err(error.into()),
            };
            worst = worst.max(done.unwrap_or_else(|error| {
                notes.error(error);
                Exit::Unusable
            }));
        }
        Ok(worst)
    }

    fn write(&self, source: &Source, formatted: &str, output: &mut Output) -> anyhow::Result<Exit> {
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
