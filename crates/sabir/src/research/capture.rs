//! `sabir capture`: pages, files and notes into a collection, or one page to standard output.

use std::io::{Read as _, Write as _};
use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use sabir_capture::{Mode, ReadOptions};
use sabir_host::{
    CaptureNews, CaptureOptions, CaptureReport, Input, InputReader, guard_under, load_policy,
};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::desk::{EgressArgs, block_on, open_without_model};
use super::progress::Progress;
use crate::exit::Exit;
use crate::home::HomeArgs;
use crate::output::{Notes, Output};

/// Capture pages, files and notes as Markdown
///
/// Pages are fetched, cut down to what is to be read, and kept with their versions. Private,
/// loopback and metadata addresses are refused. What was interrupted is continued by running the
/// same command again.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir capture -c tides https://example.org/tides notes.md report.pdf
  sabir capture -c tides --refresh https://example.org/tides
  sabir capture -c tides --note \"Spring tides come at new and full moon.\"
  sabir capture --print https://example.org/tides > tides.md
  curl -s https://example.org | sabir capture --print -

Exit codes:
  0  everything is captured, or was already
  1  something could not be captured, or you stopped it; the rest is kept
  2  wrong usage, or the library cannot be written")]
pub(crate) struct CaptureArgs {
    /// Addresses and files; with --print one of them, or - for standard input
    #[arg(value_name = "URL|FILE", required_unless_present = "note")]
    inputs: Vec<String>,
    /// The collection, by name or id; it is made when it is new
    #[arg(short = 'c', long, value_name = "NAME", required_unless_present = "print")]
    collection: Option<String>,
    /// Write the Markdown of one page to standard output, and keep nothing
    #[arg(long, conflicts_with_all = ["collection", "note", "refresh"])]
    print: bool,
    /// Fetch again what is there already; a changed page becomes a new version
    #[arg(long)]
    refresh: bool,
    /// Keep this text as a note
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    /// The title of the note
    #[arg(long, value_name = "TITLE", requires = "note")]
    title: Option<String>,
    #[command(flatten)]
    reading: ReadArgs,
    /// How many pages to fetch at a time
    #[arg(long, value_name = "N", default_value_t = CaptureOptions::default().parallel)]
    parallel: usize,
    /// Print a JSON object for each source, one on a line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    egress: EgressArgs,
    #[command(flatten)]
    home: HomeArgs,
}

/// How a page is read.
#[derive(Debug, Clone, Args)]
pub(crate) struct ReadArgs {
    /// What of a page is read
    #[arg(long, value_enum, value_name = "MODE", default_value = "auto")]
    mode: ModeName,
    /// Cut the Markdown at this many characters
    #[arg(long, value_name = "N", default_value_t = ReadOptions::default().max_chars,
          value_parser = parse_chars)]
    max_chars: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ModeName {
    /// The article where there is one, the page otherwise
    Auto,
    /// The article
    Article,
    /// Everything but what stands around: feeds, results of a search
    List,
}

impl ReadArgs {
    pub(super) fn options(&self) -> ReadOptions {
        let mode = match self.mode {
            ModeName::Auto => Mode::Auto,
            ModeName::Article => Mode::Article,
            ModeName::List => Mode::List,
        };
        ReadOptions { mode, max_chars: self.max_chars, ..ReadOptions::default() }
    }
}

fn parse_chars(text: &str) -> Result<usize, String> {
    let (least, most) = (sabir_capture::MIN_CHARS, sabir_capture::MAX_CHARS);
    let number = text.parse::<usize>().ok().filter(|it| (least..=most).contains(it));
    number.ok_or_else(|| format!("a number from {least} to {most}"))
}

impl CaptureArgs {
    pub(crate) fn run(self, output: &mut Output, notes: &mut Notes) -> anyhow::Result<Exit> {
        if self.print {
            return self.print_one(output);
        }
        let desk = open_without_model(&self.home, &self.egress)?;
        let name = self.collection.as_deref().context("no collection is named: say -c NAME")?;
        let collection = match desk.library().find_collection(name) {
            Ok(collection) => collection,
            Err(sabir_store::library::LibraryError::NotFound { .. }) => {
                desk.library().create_collection(name, &[], super::collection::now_ms())?
            }
            Err(error) => return Err(error.into()),
        };
        if let Some(note) = &self.note {
            let id = block_on(async |_| {
                Ok(desk.add_note(&collection.id, self.title.clone(), note.clone()).await?)
            })?;
            match self.json {
                true => writeln!(output, "{}", json!({ "source_id": id, "status": "captured" }))?,
                false => notes.line(format_args!("captured  {id}  note")),
            }
        }
        let inputs =
            self.inputs.iter().map(|word| parse(word)).collect::<anyhow::Result<Vec<_>>>()?;
        if inputs.is_empty() {
            return Ok(Exit::Done);
        }
        let ReadOptions { mode, max_chars, .. } = self.reading.options();
        let options =
            CaptureOptions { mode, max_chars, refresh: self.refresh, parallel: self.parallel };
        let mut progress = Progress::new();
        let report = block_on(async |stop| {
            let (tell, mut told) = mpsc::channel(64);
            let work = async {
                let report = desk.capture(&collection.id, &inputs, options, &tell, stop).await;
                drop(tell);
                report
            };
            let show = async {
                while let Some(news) = told.recv().await {
                    match self.json {
                        true => {
                            if let Some(line) = to_json(&news) {
                                writeln!(output, "{line}")?;
                                output.flush()?;
                            }
                        }
                        false => progress.hear(&news),
                    }
                }
                anyhow::Ok(())
            };
            let (report, shown) = tokio::join!(work, show);
            shown?;
            Ok(report?)
        });
        progress.end();
        let report = report?;
        if !self.json {
            notes.line(summary(&report, &collection.title));
        }
        Ok(if report.failed == 0 && report.left == 0 { Exit::Done } else { Exit::Found })
    }

    fn print_one(&self, output: &mut Output) -> anyhow::Result<Exit> {
        let [word] = &self.inputs[..] else { bail!("--print takes one page") };
        let policy = load_policy(&self.home.resolve()?)?;
        let guard = guard_under(&policy, self.egress.allow_egress.clone(), &[]);
        let program = std::env::current_exe().context("this program cannot find itself")?;
        let reader = InputReader::new(guard, program);
        let input = parse_or_stdin(word)?;
        let options = self.reading.options();
        let reading = block_on(async |stop| {
            tokio::select! {
                () = stop.cancelled() => Err(sabir_host::DeskError::Stopped.into()),
                read = reader.read(&input, &options) => Ok(read?),
            }
        })?;
        let markdown = reading.page.markdown.trim_end();
        writeln!(output, "{markdown}")?;
        Ok(Exit::Done)
    }
}

fn parse(word: &str) -> anyhow::Result<Input> {
    if word == "-" {
        bail!("standard input cannot be fetched again; use --print, or --note TEXT");
    }
    Ok(Input::parse(word)?)
}

/// An address, a file or standard input.
pub(super) fn parse_or_stdin(word: &str) -> anyhow::Result<Input> {
    if word != "-" {
        return Ok(Input::parse(word)?);
    }
    let mut bytes = Vec::new();
    std::io::stdin()
        .lock()
        .take(MAX_STDIN + 1)
        .read_to_end(&mut bytes)
        .context("standard input cannot be read")?;
    if bytes.len() as u64 > MAX_STDIN {
        bail!("standard input has more than {MAX_STDIN} bytes");
    }
    Ok(Input::Bytes(bytes))
}

/// What a page is called that is asked about.
pub(super) fn name_of(word: &str) -> String {
    match word {
        "-" => "standard input".to_owned(),
        word if word.contains("://") => word.to_owned(),
        word => {
            let path = PathBuf::from(word);
            path.file_name().map_or_else(|| word.to_owned(), |it| it.to_string_lossy().into_owned())
        }
    }
}

fn to_json(news: &CaptureNews) -> Option<Value> {
    match news {
        CaptureNews::Waiting { .. } => None,
        CaptureNews::Kept(kept) => Some(json!({
            "source_id": kept.source_id, "version": kept.version, "status": "captured",
            "url": kept.address, "title": kept.title, "chars": kept.chars,
            "signals": kept.signals, "is_new": kept.is_new,
        })),
        CaptureNews::Present { source_id, address } => {
            Some(json!({ "source_id": source_id, "status": "present", "url": address }))
        }
        CaptureNews::Failed { source_id, address, fault, will_retry } => Some(json!({
            "source_id": source_id, "status": if *will_retry { "again" } else { "failed" },
            "url": address, "error": fault.code, "message": fault.text,
        })),
    }
}

fn summary(report: &CaptureReport, title: &str) -> String {
    let CaptureReport { kept, present, failed, left } = *report;
    let mut parts = vec![format!("{kept} captured")];
    let mut add = |count: usize, word: &str| {
        if count > 0 {
            parts.push(format!("{count} {word}"));
        }
    };
    add(present, "already there");
    add(failed, "failed");
    add(left, "left: run the same command again to go on");
    format!("{title}: {}", parts.join(", "))
}

/// As large as a file may be.
const MAX_STDIN: u64 = 32 * 1024 * 1024;
