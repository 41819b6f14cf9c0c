//! `sabir tokens`: what a text costs, message by message, and what it would cost in other tongues.

use std::collections::BTreeSet;
use std::io::Write;

use clap::Args;
use clap::builder::PossibleValuesParser;
use clap::builder::TypedValueParser;
use sabir_lingua::tokens::Tokenizer;
use serde::Serialize;
use serde::ser::SerializeMap;

use crate::cli::ManyFiles;
use crate::exit::Exit;
use crate::input::{Origin, Source};
use crate::output::{Notes, Output};
use crate::place::Places;
use crate::render;
use crate::tongue::Tongue;

/// Count the tokens of files, by message and by file, and in every other tongue
///
/// The vocabularies are part of the program: nothing is sent anywhere. A file's count is that of
/// its whole text. Text in no tongue of ours is counted as a whole.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir tokens conversation.axon
  sabir tokens --tokenizer o200k,llama3 *.axon *.llmx
  echo 'INF(@a>@b): ok' | sabir tokens --json

Exit codes:
  0  every file was counted
  2  wrong usage, or a file cannot be read")]
pub(crate) struct TokensArgs {
    /// Count with these vocabularies only; all of them if not given
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = tokenizer_parser())]
    tokenizer: Vec<Tokenizer>,
    /// The tongue of the files; if not given, their names or their texts show it
    #[arg(long, value_enum)]
    from: Option<Tongue>,
    /// Print one JSON object per file on standard output
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    input: ManyFiles,
}

pub(crate) fn tokenizer_parser() -> impl TypedValueParser<Value = Tokenizer> {
    let values = Tokenizer::ALL.iter().map(|tokenizer| {
        clap::builder::PossibleValue::new(tokenizer.name()).help(tokenizer.description())
    });
    PossibleValuesParser::new(values)
        .try_map(|name| Tokenizer::from_name(&name).ok_or("there is no such vocabulary"))
}

/// What one text costs, by vocabulary.
#[derive(Debug)]
struct Counts(Vec<(Tokenizer, usize)>);

impl Serialize for Counts {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (tokenizer, count) in &self.0 {
            map.serialize_entry(tokenizer.name(), count)?;
        }
        map.end()
    }
}

/// What `--json` prints for one file. The shape is a contract: fields may be added.
#[derive(Debug, Serialize)]
struct FileCounts {
    file: String,
    /// `None` for text in no tongue of ours.
    tongue: Option<&'static str>,
    bytes: usize,
    /// Of the whole text.
    counts: Counts,
    /// What the same content costs in each tongue, in its tersest form.
    same_content: Vec<TongueCounts>,
    messages: Vec<MessageCounts>,
}

#[derive(Debug, Serialize)]
struct TongueCounts {
    tongue: &'static str,
    counts: Counts,
}

#[derive(Debug, Serialize)]
struct MessageCounts {
    /// Counted from one, as is the line.
    message: usize,
    line: u32,
    /// The first characters.
    text: String,
    counts: Counts,
}

impl TokensArgs {
    pub(crate) fn run(mut self, output: &mut Output, notes: &mut Notes) -> anyhow::Result<Exit> {
        let origins = Origin::parse_all(std::mem::take(&mut self.input.files))?;
        let tokenizers: Vec<Tokenizer> = match self.tokenizer.is_empty() {
            true => Tokenizer::ALL.to_vec(),
            false => BTreeSet::from_iter(self.tokenizer.iter().copied()).into_iter().collect(),
        };
        let mut worst = Exit::Done;
        for origin in origins {
            match origin.read() {
                Ok(source) => {
                    let counted = self.count(&source, &tokenizers);
                    if self.json {
                        serde_json::to_writer(&mut *output, &counted)?;
                        writeln!(output)?;
                    } else {
                        print(&counted, &source, &tokenizers, output)?;
                    }
                }
                Err(error) => {
                    notes.error(error);
                    worst = worst.max(Exit::Unusable);
                }
            }
        }
        Ok(worst)
    }

    fn count(&self, source: &Source, tokenizers: &[Tokenizer]) -> FileCounts {
        let counts = |text: &str| {
            Counts(tokenizers.iter().map(|tokenizer| (*tokenizer, tokenizer.count(text))).collect())
        };
        let tongue = self.from.or_else(|| Tongue::guess(source));
        let same_content = tongue.into_iter().flat_map(|from| {
            Tongue::ALL.iter().filter_map(move |to| {
                let said = sabir_lingua::convert(&source.text, from.into(), (*to).into()).ok()?;
                Some(TongueCounts { tongue: to.name(), counts: counts(said.trim_end()) })
            })
        });
        let places = Places::new(&source.text);
        let messages = messages(&source.text, tongue).into_iter().enumerate();
        let messages = messages.map(|(index, (start, text))| MessageCounts {
            message: index + 1,
            line: places.of(start).line,
            text: opening(text),
            counts: counts(text),
        });
        FileCounts {
            file: source.origin.as_given(),
            tongue: tongue.map(Tongue::name),
            bytes: source.text.len(),
            counts: counts(&source.text),
            same_content: same_content.collect(),
            messages: messages.collect(),
        }
    }
}

/// Where each message starts, and its text. JSON is one thing.
fn messages(text: &str, tongue: Option<Tongue>) -> Vec<(u32, &str)> {
    let texts = |spans: Vec<sabir_base::Span>| {
        spans.into_iter().map(|span| (span.start, &text[span.range()])).collect()
    };
    match tongue {
        Some(Tongue::Axon) => {
            texts(sabir_axon::parse(text).tree.messages().map(|node| node.span()).collect())
        }
        Some(Tongue::Llmx) => {
            texts(sabir_llmx::parse(text).tree.messages().map(|it| it.node.span()).collect())
        }
        Some(Tongue::Json | Tongue::Frame) | None => Vec::new(),
    }
}

/// Enough of a message to know it again.
fn opening(text: &str) -> String {
    const CHARACTERS: usize = 40;
    let line = text.lines().next().unwrap_or_default();
    render::clip(&render::printable(line), CHARACTERS)
}

/// A table: one row for each message, the whole file, and each tongue; one column for each
/// vocabulary.
fn print(
    counted: &FileCounts,
    source: &Source,
    tokenizers: &[Tokenizer],
    output: &mut Output,
) -> anyhow::Result<()> {
    let mut rows: Vec<(String, &Counts)> = Vec::new();
    for message in &counted.messages {
        rows.push((format!("{:>3}  {}", message.message, message.text), &message.counts));
    }
    rows.push(("the whole file".to_owned(), &counted.counts));
    for tongue in &counted.same_content {
        rows.push((format!("the same as {}", tongue.tongue), &tongue.counts));
    }
    let width = rows.iter().map(|(label, _)| label.chars().count()).max().unwrap_or_default();
    let tongue = counted.tongue.unwrap_or("plain text");
    writeln!(output, "{}: {tongue}, {} bytes", source.origin, counted.bytes)?;
    write!(output, "  {:width$}", "")?;
    for tokenizer in tokenizers {
        write!(output, "  {:>COLUMN$}", tokenizer.name())?;
    }
    writeln!(output)?;
    for (label, Counts(counts)) in rows {
        write!(output, "  {label}{:1$}", "", width - label.chars().count())?;
        for (_, count) in counts {
            write!(output, "  {count:>COLUMN$}")?;
        }
        writeln!(output)?;
    }
    Ok(())
}

/// As wide as the longest name of a vocabulary.
const COLUMN: usize = 8;
