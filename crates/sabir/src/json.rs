//! `json`, for every notation: a text as JSON and back, without loss.

use std::fmt::Display;
use std::io::Write;

use clap::Args;
use sabir_base::Diagnostic;
use sabir_base::json::JsonError;
use serde::Serialize;

use crate::cli::OneFile;
use crate::exit::Exit;
use crate::input::Source;
use crate::output::{Notes, Output};
use crate::render;

/// What can be said to every `json encode`.
#[derive(Debug, Args)]
pub(crate) struct EncodeOptions {
    /// Print the JSON over several lines
    #[arg(long)]
    pretty: bool,
    #[command(flatten)]
    pub(crate) input: OneFile,
}

/// How JSON is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    OneLine,
    Indented,
}

/// A document that can be written as JSON.
pub(crate) trait Encoding {
    /// Without a line feed at the end.
    fn write(&self, layout: Layout, output: &mut Output) -> anyhow::Result<()>;
}

impl EncodeOptions {
    pub(crate) fn layout(&self) -> Layout {
        if self.pretty { Layout::Indented } else { Layout::OneLine }
    }
}

/// Prints the encoding of a text, of which `diagnostics` are known, unless one of them is an error.
pub(crate) fn encode<E: Display>(
    source: &Source,
    diagnostics: &[Diagnostic],
    encoding: Result<impl Encoding, E>,
    layout: Layout,
    output: &mut Output,
    notes: &mut Notes,
) -> anyhow::Result<Exit> {
    if diagnostics.iter().any(Diagnostic::is_error) {
        render::print_all(notes, source, diagnostics);
        return Ok(Exit::Found);
    }
    match encoding {
        Ok(encoding) => {
            encoding.write(layout, output)?;
            writeln!(output)?;
            Ok(Exit::Done)
        }
        Err(error) => {
            notes.line(format_args!("error: {}: {error}", source.origin));
            Ok(Exit::Found)
        }
    }
}

/// Prints what was decoded from `source`, or why nothing was.
pub(crate) fn decode(
    source: &Source,
    decoded: Result<String, JsonError>,
    output: &mut Output,
    notes: &mut Notes,
) -> anyhow::Result<Exit> {
    match decoded {
        Ok(text) => {
            output.write_all(text.as_bytes())?;
            if !text.is_empty() && !text.ends_with('\n') {
                writeln!(output)?;
            }
            Ok(Exit::Done)
        }
        Err(error) => {
            explain(source, &error, notes);
            Ok(Exit::Found)
        }
    }
}

/// Says what is wrong with the JSON in `source`, and what to write instead.
pub(crate) fn explain(source: &Source, error: &JsonError, notes: &mut Notes) {
    /// Messages quote the JSON, which may be long.
    const MAX: usize = 400;
    notes.line(format_args!("error: {}: {}", source.origin, render::clip(&error.to_string(), MAX)));
    if let Some(help) = &error.help {
        notes.line(format_args!("help: {}", render::clip(help, MAX)));
    }
}

pub(crate) fn print_schema(schema: &impl Serialize, output: &mut Output) -> anyhow::Result<Exit> {
    serde_json::to_writer_pretty(&mut *output, schema)?;
    writeln!(output)?;
    Ok(Exit::Done)
}
