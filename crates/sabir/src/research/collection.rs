//! `sabir collection`: what is collected.

use std::io::Write as _;

use clap::{Args, Subcommand};
use sabir_base::text::one_line;
use sabir_host::{EXAMPLE_QUESTION, open_library, open_library_to_read, written};
use sabir_store::library::{Artifact, Collection, Library, LibraryError, Source, SourceStatus};
use serde_json::json;

use super::cited::json_line;
use super::desk::{EgressArgs, block_on, open_without_model};
use super::progress::clock;
use super::versions::{Wants, show_source};
use crate::exit::Exit;
use crate::home::HomeArgs;
use crate::output::{Notes, Output};

/// Make, list and look at collections of sources
#[derive(Debug, Subcommand)]
pub(crate) enum CollectionCommand {
    New(NewArgs),
    List(ListArgs),
    Show(ShowArgs),
    Delete(DeleteArgs),
    Example(ExampleArgs),
}

/// Make a collection
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir collection new tides
  sabir collection new \"Model releases\" --tag models --tag 2026

Prints the id. One that exists already is not made again: its id is printed, and the exit code is 1.")]
pub(crate) struct NewArgs {
    /// What it is called; other commands find it by this name or its id
    title: String,
    /// A word to sort it by; can be given several times
    #[arg(long = "tag", value_name = "WORD")]
    tags: Vec<String>,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    home: HomeArgs,
}

/// List the collections
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir collection list
  sabir collection list --json | jq -r '.[].id'")]
pub(crate) struct ListArgs {
    /// Print a JSON array
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    home: HomeArgs,
}

/// Show a collection, its sources and its artifacts
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir collection show tides
  sabir collection show tides --json | jq -r '.sources[].url'
  sabir collection show tides --json | jq -r '.artifacts[].id'
  sabir collection show tides --source src_0123456789abcdef --diff")]
pub(crate) struct ShowArgs {
    /// Its name or id
    name: String,
    /// Show the versions of this source
    #[arg(long, value_name = "ID")]
    source: Option<String>,
    /// Show what changed between the last two versions of the source
    #[arg(long, requires = "source")]
    diff: bool,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    home: HomeArgs,
}

/// Delete a collection with its sources and its conversation; artifacts stay
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir collection delete tides --yes")]
pub(crate) struct DeleteArgs {
    /// Its name or id
    name: String,
    /// Really
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    home: HomeArgs,
}

/// Make a collection of pages that come with the program, to try it without the network
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir collection example
  sabir ask \"How long is it from one high water to the next?\" -c Harbour

Prints the id. The pages are copied into the home. One of them carries prompt injections, on purpose.")]
pub(crate) struct ExampleArgs {
    /// Print a JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    home: HomeArgs,
}

impl ExampleArgs {
    fn run(self, output: &mut Output, notes: &mut Notes) -> anyhow::Result<Exit> {
        let desk = open_without_model(&self.home, &EgressArgs::default())?;
        let made = block_on(async |stop| Ok(desk.make_example(stop).await?))?;
        match self.json {
            true => {
                writeln!(output, "{}", json_line(&json!({ "id": made.id, "title": made.title })))?
            }
            false => {
                writeln!(output, "{}", made.id)?;
                let title = &made.title;
                notes.line(format_args!("try: sabir ask {EXAMPLE_QUESTION:?} -c {title}"));
            }
        }
        Ok(Exit::Done)
    }
}

impl CollectionCommand {
    pub(crate) fn run(self, output: &mut Output, notes: &mut Notes) -> anyhow::Result<Exit> {
        match self {
            Self::New(args) => args.run(output, notes),
            Self::List(args) => args.run(output, notes),
            Self::Show(args) => args.run(output),
            Self::Delete(args) => args.run(notes),
            Self::Example(args) => args.run(output, notes),
        }
    }
}

impl NewArgs {
    fn run(self, output: &mut Output, notes: &mut Notes) -> anyhow::Result<Exit> {
        let library = open_library(&self.home.resolve()?)?;
        let (id, exit) = match library.create_collection(&self.title, &self.tags, now_ms()) {
            Ok(made) => (made.id, Exit::Done),
            Err(LibraryError::TitleTaken { title, id }) => {
                notes.line(format_args!("there is a collection {title:?} already"));
                (id, Exit::Found)
            }
            Err(error) => return Err(error.into()),
        };
        match self.json {
            true => writeln!(output, "{}", json!({ "id": id, "title": self.title }))?,
            false => writeln!(output, "{id}")?,
        }
        Ok(exit)
    }
}

impl ListArgs {
    fn run(self, output: &mut Output, notes: &mut Notes) -> anyhow::Result<Exit> {
        let library = open_library_to_read(&self.home.resolve()?)?;
        let mut listed = Vec::new();
        let mut after = 0;
        loop {
            let some = library.collections(after, PAGE)?;
            let Some(last) = some.last() else { break };
            after = last.num;
            listed.extend(some);
        }
        let mut objects = Vec::new();
        for collection in &listed {
            let counts = library.collection_counts(&collection.id)?;
            let Collection { id, title, tags, updated_at_ms, .. } = collection;
            match self.json {
                true => objects.push(json!({
                    "id": id, "title": title, "tags": tags, "counts": counts,
                    "updated_at": written(*updated_at_ms),
                })),
                false => {
                    let title = one_line(title, 60);
                    let (captured, words) = (counts.captured, counts.words);
                    writeln!(output, "{id}  {title}  {captured} sources, {words} words")?;
                }
            }
        }
        if self.json {
            writeln!(output, "{}", json_line(&json!(objects)))?;
        } else if listed.is_empty() {
            notes.line(
                "nothing is collected yet: `sabir capture -c NAME URL|FILE` begins a collection, \
                 `sabir collection example` makes one to try",
            );
        }
        Ok(Exit::Done)
    }
}

impl ShowArgs {
    fn run(self, output: &mut Output) -> anyhow::Result<Exit> {
        let library = open_library_to_read(&self.home.resolve()?)?;
        let collection = library.find_collection(&self.name)?;
        if let Some(source) = &self.source {
            return show_source(&library, &collection, source, self.wants(), output);
        }
        let counts = library.collection_counts(&collection.id)?;
        let sources = all_sources(&library, &collection)?;
        let artifacts = all_artifacts(&library, &collection)?;
        let now = now_ms();
        let waits = library.waiting_until(&collection.id)?;
        let until = |source: &Source| waits.get(&source.id).copied().filter(|at| *at > now);
        if self.json {
            let listed: Vec<_> =
                sources.iter().map(|source| source_json(source, until(source))).collect();
            let made: Vec<_> = artifacts.iter().map(artifact_json).collect();
            let object = json!({
                "id": collection.id, "title": collection.title, "tags": collection.tags,
                "counts": counts, "sources": listed, "artifacts": made,
                "created_at": written(collection.created_at_ms),
                "updated_at": written(collection.updated_at_ms),
            });
            writeln!(output, "{}", json_line(&object))?;
            return Ok(Exit::Done);
        }
        writeln!(output, "{}  {}", collection.id, one_line(&collection.title, 200))?;
        write!(
            output,
            "{} captured, {} waiting, {} failed; {} words, {} questions and answers, {} artifacts",
            counts.captured,
            counts.pending,
            counts.failed,
            counts.words,
            counts.messages,
            counts.artifacts
        )?;
        if counts.failed_artifacts > 0 {
            write!(output, " and {} failed ones", counts.failed_artifacts)?;
        }
        writeln!(output)?;
        for source in &sources {
            let status = source.status.as_str();
            write!(output, "{}  {status:8}  {}", source.id, one_line(&source.title, 70))?;
            if let Some(address) = &source.origin.address {
                write!(output, "  {}", one_line(address, 200))?;
            }
            if let Some(fault) = &source.fault {
                write!(output, "  ({})", one_line(&fault.text, 120))?;
            }
            if let Some(until) = until(source) {
                write!(output, "  (waits until {})", clock(until))?;
            }
            writeln!(output)?;
        }
        for artifact in &artifacts {
            let (status, kind) = (artifact.status.as_str(), one_line(&artifact.kind, 40));
            let title = one_line(&artifact.title, 70);
            write!(output, "{}  {status:9}  {kind}  {title}", artifact.id)?;
            if let Some(fault) = &artifact.fault {
                write!(output, "  ({})", one_line(&fault.text, 120))?;
            }
            writeln!(output)?;
        }
        Ok(Exit::Done)
    }
}

impl ShowArgs {
    fn wants(&self) -> Wants {
        Wants { json: self.json, diff: self.diff }
    }
}

fn all_sources(library: &Library, collection: &Collection) -> Result<Vec<Source>, LibraryError> {
    let (mut sources, mut after) = (Vec::new(), 0);
    loop {
        let some = library.sources(&collection.id, after, PAGE)?;
        let Some(last) = some.last() else { return Ok(sources) };
        after = last.num;
        sources.extend(some);
    }
}

/// The newest first.
fn all_artifacts(
    library: &Library,
    collection: &Collection,
) -> Result<Vec<Artifact>, LibraryError> {
    let (mut artifacts, mut before) = (Vec::new(), None);
    loop {
        let some = library.artifacts(Some(&collection.id), before, PAGE)?;
        let Some(last) = some.last() else { return Ok(artifacts) };
        before = Some(last.num);
        artifacts.extend(some);
    }
}

fn artifact_json(artifact: &Artifact) -> serde_json::Value {
    json!({
        "id": artifact.id, "kind": artifact.kind, "title": artifact.title,
        "status": artifact.status, "error": artifact.fault,
        "created_at": written(artifact.created_at_ms),
    })
}

/// `until` is when its server may be asked again.
fn source_json(source: &Source, until: Option<u64>) -> serde_json::Value {
    json!({
        "id": source.id, "title": source.title, "status": source.status,
        "kind": source.origin.kind, "url": source.origin.address, "error": source.fault,
        "added_at": written(source.added_at_ms),
        "is_captured": source.status == SourceStatus::Captured,
        "waits_until": until.map(written),
    })
}

impl DeleteArgs {
    fn run(self, notes: &mut Notes) -> anyhow::Result<Exit> {
        let library = open_library(&self.home.resolve()?)?;
        let collection = library.find_collection(&self.name)?;
        if !self.yes {
            let sources = library.collection_counts(&collection.id)?;
            anyhow::bail!(
                "{:?} has {} sources; say --yes to delete it",
                collection.title,
                sources.captured + sources.pending + sources.failed
            );
        }
        library.delete_collection(&collection.id)?;
        notes.line(format_args!("deleted {}", collection.id));
        Ok(Exit::Done)
    }
}

pub(crate) fn now_ms() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    u64::try_from(since.unwrap_or_default().as_millis()).unwrap_or(u64::MAX)
}

const PAGE: usize = 500;
