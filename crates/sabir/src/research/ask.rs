//! `sabir ask`: a question about a collection, answered with citations that were checked.

use std::io::Write as _;
use std::process::{Command, Stdio};

use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use sabir_base::text::with_hidden_shown;
use sabir_host::{Answered, Ask, Cited, Desk, ToolSet};
use tokio::sync::mpsc;

use super::desk::{DeskArgs, Sight, block_on, find};
use super::{cited, petition};
use crate::exit::Exit;
use crate::output::{Notes, Output};

/// Ask a question about a collection
///
/// The answer stands on the captured sources alone. Each citation is looked up in the source that it
/// names: "verified" means that the words are there, "repaired" that the source's own words were
/// put in, "unverified" that they were not found. Without a model the built-in one answers, with
/// sentences of the sources.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir ask -c tides \"When do spring tides come?\"
  sabir ask -c tides --open=1 \"When do spring tides come?\"
  sabir ask -c tides --json \"When do spring tides come?\" | jq .citations
  sabir ask -c tides --tools browser --model NAME --base-url URL \"What has changed since?\"

With --json one object is on standard output: {answer, citations: [{number, quote, status,
source_id, url, start, end, title, how, link}], title, model, notes, calls}. Offsets are bytes of
the captured Markdown. A call that made an artifact has its artifact_id, for sabir share.

Exit codes:
  0  there is an answer, which may be that your sources do not say
  2  wrong usage, or the model or the library failed")]
pub(crate) struct AskArgs {
    /// The question
    question: String,
    /// The collection, by name or id
    #[arg(short = 'c', long, value_name = "NAME")]
    collection: String,
    /// Jump to the passage of this citation: in a browser where it is a page of the web
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "1")]
    open: Option<usize>,
    /// Which tools the model may propose to use; what has effects is asked for
    #[arg(long, value_enum, value_name = "SET", default_value = "library")]
    tools: Tools,
    /// Show the browser that the model works with
    #[arg(long)]
    visible: bool,
    /// Ask without the questions and answers before this one; they stay in the collection
    #[arg(long)]
    fresh: bool,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    desk: DeskArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Tools {
    /// None
    None,
    /// Collections, sources, artifacts, the calculator
    Library,
    /// Those, and a browser
    Browser,
}

impl AskArgs {
    pub(crate) fn run(self, output: &mut Output, notes: &mut Notes) -> anyhow::Result<Exit> {
        let sight = if self.visible { Sight::Visible } else { Sight::Hidden };
        let desk = self.desk.open(sight)?;
        let collection = find(&desk, &self.collection)?;
        let ask = Ask {
            collection: collection.id,
            question: self.question.clone(),
            tools: match self.tools {
                Tools::None => ToolSet::None,
                Tools::Library => ToolSet::Library,
                Tools::Browser => ToolSet::Browser,
            },
            with_history: !self.fresh,
        };
        let person = petition::is_attended().then(|| {
            let (send, petitions) = mpsc::channel(1);
            petition::answer_all(petitions);
            send
        });
        let answered = block_on(async |stop| Ok(desk.ask(&ask, person.as_ref(), stop).await?))?;
        for note in &answered.notes {
            notes.line(format_args!("note: {}", with_hidden_shown(note)));
        }
        match self.json {
            true => writeln!(output, "{}", cited::json_line(&cited::to_json(&answered)))?,
            false => {
                cited::print(output, &answered)?;
                cited::tell_calls(&answered.calls, notes);
            }
        }
        if let Some(number) = self.open {
            open(&desk, &answered, number, notes)?;
        }
        Ok(Exit::Done)
    }
}

/// Jumps to a passage: a page of the web in the person's browser, everything else right here.
fn open(desk: &Desk, answered: &Answered, number: usize, notes: &mut Notes) -> anyhow::Result<()> {
    let Some(citation) = number.checked_sub(1).and_then(|at| answered.citations.get(at)) else {
        bail!("there is no citation {number}; the answer has {}", answered.citations.len());
    };
    let passage = passage(desk, citation)?;
    notes.line(format_args!("\n{}", with_hidden_shown(&passage)));
    let Some(link) = &citation.link else {
        if citation.url.is_some() {
            notes.line("its page is not opened: the address is kept without what may be secret");
        }
        return Ok(());
    };
    let opener = std::env::var_os("BROWSER").filter(|it| !it.is_empty());
    let opener = opener.unwrap_or_else(|| "xdg-open".into());
    let started = Command::new(&opener)
        .arg(link)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    match started {
        Ok(status) if status.success() => Ok(()),
        // A server has no browser: the address is what helps.
        Ok(_) | Err(_) => {
            notes.line(link);
            Ok(())
        }
    }
}

/// The words of a citation among their neighbours.
fn passage(desk: &Desk, citation: &Cited) -> anyhow::Result<String> {
    let (Some(start), Some(end)) = (citation.start, citation.end) else {
        bail!("citation {} is {}: there is no passage", citation.number, citation.status.as_str());
    };
    // The version that was cited: the source may have been fetched again since.
    let version = citation.version.as_ref().context("the source is in no collection")?;
    let text = desk.library().version_text(version)?.markdown;
    let from = text[..text.floor_char_boundary(start)].rfind("\n\n").map_or(0, |at| at + 2);
    let behind = text.floor_char_boundary(end);
    let to = text[behind..].find("\n\n").map_or(text.len(), |at| behind + at);
    Ok(text[from..to].to_owned())
}
