//! `sabir search`: words in the sources of a collection.

use std::io::Write as _;

use clap::Args;
use clap::builder::RangedU64ValueParser;
use sabir_base::text::{one_line, with_hidden_shown};
use sabir_host::open_library_to_read;
use sabir_store::library::{Hit, Matching, SearchRequest, Snippet};
use serde_json::json;

use crate::exit::Exit;
use crate::home::HomeArgs;
use crate::output::{Colour, Notes, Output};

/// Find words in the sources of a collection
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir search -c tides spring moon
  sabir search -c tides '\"new moon\"'       the words in this order
  sabir search spring --any tide ebb       in every collection, any of the words

Exit codes:
  0  something was found
  1  nothing was found
  2  wrong usage, or the library cannot be read")]
pub(crate) struct SearchArgs {
    /// The words; in double quotes they belong together
    #[arg(value_name = "WORDS", required = true)]
    words: Vec<String>,
    /// The collection, by name or id [default: all of them]
    #[arg(short = 'c', long, value_name = "NAME")]
    collection: Option<String>,
    /// Any of the words is enough
    #[arg(long)]
    any: bool,
    /// How many sources to list
    #[arg(long, value_name = "N", default_value_t = 10,
        value_parser = RangedU64ValueParser::<usize>::new().range(1..=100))]
    limit: usize,
    /// Leave out this many of the best
    #[arg(long, value_name = "N", default_value_t = 0)]
    skip: usize,
    /// Print a JSON array
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    home: HomeArgs,
}

impl SearchArgs {
    pub(crate) fn run(self, output: &mut Output, notes: &mut Notes) -> anyhow::Result<Exit> {
        let library = open_library_to_read(&self.home.resolve()?)?;
        let scope = self.collection.as_deref().map(|name| library.find_collection(name));
        let scope = scope.transpose()?.map(|collection| collection.id);
        let words = self.words.join(" ");
        let hits = library.search(&SearchRequest {
            words: &words,
            matching: if self.any { Matching::Any } else { Matching::All },
            scope: scope.as_ref(),
            skip: self.skip,
            limit: self.limit,
        })?;
        if self.json {
            let listed: Vec<_> = hits.iter().map(to_json).collect();
            writeln!(output, "{}", super::cited::json_line(&json!(listed)))?;
        } else {
            for hit in &hits {
                let title = one_line(&hit.title, 80);
                write!(output, "{}  {title}", hit.source_id)?;
                if let Some(address) = &hit.address {
                    write!(output, "  {}", one_line(address, 200))?;
                }
                writeln!(output, "\n    {}", marked(&hit.snippet, notes.colour))?;
            }
        }
        if hits.is_empty() {
            notes.line("nothing was found");
            return Ok(Exit::Found);
        }
        Ok(Exit::Done)
    }
}

fn to_json(hit: &Hit) -> serde_json::Value {
    let marks: Vec<[usize; 2]> =
        hit.snippet.marks.iter().map(|mark| [mark.start, mark.end]).collect();
    json!({
        "source_id": hit.source_id, "collection_id": hit.collection_id, "title": hit.title,
        "url": hit.address, "score": hit.score, "snippet": hit.snippet.text, "marks": marks,
    })
}

/// The words that were found stand out.
fn marked(snippet: &Snippet, colour: Colour) -> String {
    let mut text = String::new();
    let mut at = 0;
    for mark in &snippet.marks {
        let (before, word) = (&snippet.text[at..mark.start], &snippet.text[mark.clone()]);
        text.push_str(&with_hidden_shown(before));
        match colour {
            Colour::Styled => text.push_str(&format!("\x1b[1m{}\x1b[0m", with_hidden_shown(word))),
            Colour::Plain => text.push_str(&with_hidden_shown(word)),
        }
        at = mark.end;
    }
    text.push_str(&with_hidden_shown(&snippet.text[at..]));
    text.replace('\n', " ")
}
