//! `sabir share`: an artifact as a file.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, ValueEnum};
use sabir_host::ShareFormat;
use sabir_store::library::ArtifactId;

use super::desk::{EgressArgs, block_on, open_without_model};
use crate::exit::Exit;
use crate::home::HomeArgs;
use crate::output::{Notes, Output};

/// Write an artifact to a file
///
/// The file goes into the working directory under a name made of the title, and its name is
/// printed. Nothing is overwritten unless you name the file with -o.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir share art_0123456789abcdef --format pdf
  sabir share art_0123456789abcdef --format csv -o - | head
  sabir share art_0123456789abcdef --format markdown -o brief.md

Exit codes:
  0  the file is written
  2  there is no such artifact, or it cannot be written")]
pub(crate) struct ShareArgs {
    /// The artifact's id
    #[arg(value_name = "ARTIFACT")]
    artifact: String,
    /// What to write
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "markdown")]
    format: FormatName,
    /// Where to write it; - means standard output
    #[arg(short = 'o', long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    home: HomeArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FormatName {
    Markdown,
    Text,
    Json,
    Csv,
    Pdf,
}

impl ShareArgs {
    pub(crate) fn run(self, output: &mut Output, notes: &mut Notes) -> anyhow::Result<Exit> {
        let id = ArtifactId::parse(&self.artifact).with_context(|| {
            format!("{:?} is no artifact: its id begins with art_", self.artifact)
        })?;
        let desk = open_without_model(&self.home, &EgressArgs::default())?;
        let format = match self.format {
            FormatName::Markdown => ShareFormat::Markdown,
            FormatName::Text => ShareFormat::Text,
            FormatName::Json => ShareFormat::Json,
            FormatName::Csv => ShareFormat::Csv,
            FormatName::Pdf => ShareFormat::Pdf,
        };
        let shared = block_on(async |_| Ok(desk.share(&id, format).await?))?;
        match &self.output {
            Some(path) if path == Path::new("-") => output.write_all(&shared.bytes)?,
            Some(path) => {
                std::fs::write(path, &shared.bytes)
                    .with_context(|| format!("{}: cannot be written", path.display()))?;
                notes.line(path.display());
            }
            None => {
                let folder = std::env::current_dir().context("the working directory is gone")?;
                let path =
                    sabir_host::write_new(&folder, &shared.file_name, format, &shared.bytes)?;
                let name = path.file_name().map_or(path.as_path(), Path::new);
                writeln!(output, "{}", name.display())?;
            }
        }
        Ok(Exit::Done)
    }
}
