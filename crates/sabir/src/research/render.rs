//! `sabir render`: Markdown as HTML that is safe to show.

use std::io::Write as _;

use clap::Args;

use crate::cli::OneFile;
use crate::exit::Exit;
use crate::output::Output;

/// Turn Markdown into safe HTML
///
/// Raw HTML in the Markdown is shown as text. What comes out has a few tags and attributes, links to
/// http, https and mailto only, no images and no scripts.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir render answer.md > answer.html
  sabir capture --print https://example.org | sabir render")]
pub(crate) struct RenderArgs {
    #[command(flatten)]
    input: OneFile,
}

impl RenderArgs {
    pub(crate) fn run(self, output: &mut Output) -> anyhow::Result<Exit> {
        let source = self.input.read()?;
        let html = sabir_capture::markdown_to_safe_html(&source.text);
        writeln!(output, "{}", html.trim_end())?;
        Ok(Exit::Done)
    }
}
