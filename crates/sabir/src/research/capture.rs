//! `sabir capture`: pages, files and notes into a collection, or one page to standard output.

use std::ffi::{OsStr, OsString};
use std::io::{Read as _, Write as _};
use std::path::Path;

use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use sabir_base::text::one_line;
use sabir_capture::{Mode, ReadOptions};
use sabir_host::{
    CaptureNews, CaptureOptions, CaptureReport, Input, InputReader, guard_under, load_policy,
    written,
};
use sabir_store::library::{CollectionId, Library, SourceId, SourceKind};
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
  sabir capture -c tides --refresh
  sabir capture -c tides --note \"Spring tides come at new and full moon.\"
  sabir capture --print https://example.org/tides > tides.md
  curl -s https://example.org | sabir capture --print -

What another process captures at the same time is waited for. A server that wants to be left alone
for more than a minute is: run the command again then, or with --refresh at once.

Exit codes:
  0  everything is captured, or was already
  1  something could not be captured, has to wait, or you stopped it; the rest is kept
  2  wrong usage, or the library cannot be written")]
pub(crate) struct CaptureArgs {
    /// Addresses and files; with --print one of them, or - for standard input; with --refresh also ids
    /// of sources, and everything in the collection when nothing is named
    #[arg(value_name = "URL|FILE", required_unless_present_any = ["note", "refresh"])]
    inputs: Vec<OsString>,
    /// The collection, by name or id; it is made when it is new
    #[arg(short = 'c', long, value_name = "NAME", required_unless_present = "print")]
    collection: Option<String>,
    /// Write the Markdown of one page to standard output, and keep nothing
    #[arg(long, conflicts_with_all = ["collection", "note", "refresh", "json"])]
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
    #[arg(long, value_name = "N", default_value_t = CaptureOptions::default().parallel,
          value_parser = parse_parallel)]
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

const SOURCES_AT_ONCE: usize = 500;

/// All that can be fetched again.
fn everything(library: &Library, collection: &CollectionId) -> anyhow::Result<Vec<Input>> {
    let (mut inputs, mut after) = (Vec::new(), 0);
    loop {
        let sources = library.sources(collection, after, SOURCES_AT_ONCE)?;
        let Some(last) = sources.last() else { return Ok(inputs) };
        after = last.num;
        let fetched = sources.into_iter().filter(|it| it.origin.kind != SourceKind::Note);
        inputs.extend(fetched.map(|it| Input::Kept(it.id)));
    }
}

fn parse_chars(text: &str) -> Result<usize, String> {
    let (least, most) = (sabir_capture::MIN_CHARS, sabir_capture::MAX_CHARS);
    let number = text.parse::<usize>().ok().filter(|it| (least..=most).contains(it));
    number.ok_or_else(|| format!("a number from {least} to {most}"))
}

fn parse_parallel(text: &str) -> Result<usize, String> {
    let number = text.parse::<usize>().ok().filter(|it| (1..=MOST_PARALLEL).contains(it));
    number.ok_or_else(|| format!("a number from 1 to {MOST_PARALLEL}"))
}

impl CaptureArgs {
    pub(crate) fn run(self, output: &mut Output, notes: &mut Notes) -> anyhow::Result<Exit> {
        if self.print {
            return self.print_one(output);
        }
        let desk = open_without_model(&self.home, &self.egress)?;
        let name = self.collection.as_deref().context("no collection is named: say -c NAME")?;
        // Nothing is kept of a command that cannot be meant so.
        let mut inputs =
            self.inputs.iter().map(|word| self.parse(word)).collect::<anyhow::Result<Vec<_>>>()?;
        for input in &inputs {
            sabir_host::check_input(input)?;
        }
        let is_of_all = self.refresh && inputs.is_empty() && self.note.is_none();
        let is_known = is_of_all || inputs.iter().any(|it| matches!(it, Input::Kept(_)));
        let collection = match is_known {
            true => desk.library().find_collection(name)?,
            false => desk.library().find_or_create_collection(name, super::collection::now_ms())?,
        };
        if is_of_all {
            inputs = everything(desk.library(), &collection.id)?;
        }
        for input in &inputs {
            if let Input::Kept(id) = input
                && desk.library().source(id)?.collection_id != collection.id
            {
                bail!("{id} is not in the collection {name}");
            }
        }
        if let Some(note) = &self.note {
            let kept = block_on(async |_| {
                Ok(desk.add_note(&collection.id, self.title.clone(), note.clone()).await?)
            })?;
            let sabir_host::Note { id, title } = kept;
            let line = json!({ "source_id": id, "status": "captured", "title": title });
            match self.json {
                true => writeln!(output, "{line}")?,
                false => notes.line(format_args!("captured  {id}  {}", one_line(&title, 70))),
            }
        }
        if inputs.is_empty() {
            return Ok(Exit::Done);
        }
        let ReadOptions { mode, max_chars, .. } = self.reading.options();
        let options = CaptureOptions {
            mode,
            max_chars,
            refresh: self.refresh,
            parallel: self.parallel,
            leftovers: true,
        };
        let mut progress = Progress::new();
        let report = block_on(async |stop| {
            let (tell, mut told) = mpsc::channel(64);
            let work = async {
                let report = desk.capture(&collection.id, &inputs, options, &tell, stop).await;
                drop(tell);
                report
            };
            let show = async {
                let mut shown = Ok(());
                while let Some(news) = told.recv().await {
                    match self.json {
                        true if shown.is_ok() => {
                            let line = to_json(&news).map(|line| format!("{line}\n"));
                            let line = line.unwrap_or_default();
                            let written = output.write_all(line.as_bytes());
                            shown = written.and_then(|()| output.flush());
                            if shown.is_err() {
                                // Nobody can be told any more; what is on disk stays.
                                stop.cancel();
                            }
                        }
                        true => {}
                        false => progress.hear(&news),
                    }
                }
                shown
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
        let is_done = report.failed == 0 && report.left == 0 && report.waiting == 0;
        Ok(if is_done { Exit::Done } else { Exit::Found })
    }

    /// A source is meant by its id where it is fetched again.
    fn parse(&self, word: &OsStr) -> anyhow::Result<Input> {
        match word.to_str().and_then(SourceId::parse).filter(|_| self.refresh) {
            Some(id) => Ok(Input::Kept(id)),
            None => parse(word),
        }
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

fn parse(word: &OsStr) -> anyhow::Result<Input> {
    if word == "-" {
        bail!("standard input cannot be fetched again; use --print, or --note TEXT");
    }
    Ok(Input::parse(word)?)
}

/// An address, a file or standard input.
pub(super) fn parse_or_stdin(word: &OsStr) -> anyhow::Result<Input> {
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
pub(super) fn name_of(word: &OsStr) -> String {
    match word.to_str() {
        Some("-") => "standard input".to_owned(),
        Some(word) if word.contains("://") => word.to_owned(),
        _ => Path::new(word).file_name().unwrap_or(word).to_string_lossy().into_owned(),
    }
}

fn to_json(news: &CaptureNews) -> Option<Value> {
    match news {
        CaptureNews::Waiting { .. } => None,
        CaptureNews::Kept(kept) => Some(json!({
            "source_id": kept.source_id, "version": kept.version,
            "status": if kept.is_new { "captured" } else { "unchanged" },
            "url": kept.address, "title": kept.title, "chars": kept.chars,
            "signals": kept.signals, "is_new": kept.is_new,
            "change": kept.change.map(|it| json!({ "added": it.added, "removed": it.removed })),
        })),
        CaptureNews::Present { source_id, address } => {
            Some(json!({ "source_id": source_id, "status": "present", "url": address }))
        }
        CaptureNews::Same { source_id, address } => {
            Some(json!({ "source_id": source_id, "status": "same", "url": address }))
        }
        CaptureNews::Failed { source_id, address, fault, again_at_ms } => Some(json!({
            "source_id": source_id,
            "status": if again_at_ms.is_some() { "again" } else { "failed" },
            "url": address, "error": fault.code, "message": fault.text,
            "again_at": again_at_ms.map(written),
        })),
        CaptureNews::Waits { source_id, address, until_ms } => Some(json!({
            "source_id": source_id, "status": "waits", "url": address, "until": written(*until_ms),
        })),
    }
}

fn summary(report: &CaptureReport, title: &str) -> String {
    let CaptureReport { kept, unchanged, present, same, failed, waiting, left, .. } = *report;
    let until = report.waiting_until_ms.map(super::progress::clock).unwrap_or_default();
    let verb = if waiting == 1 { "waits" } else { "wait" };
    let counted = [
        (unchanged, "unchanged".to_owned()),
        (present, "already there".to_owned()),
        (same, "named twice".to_owned()),
        (failed, "failed".to_owned()),
        (waiting, format!("{verb} until {until}: run the same command again then")),
        (left, "left: run the same command again to go on".to_owned()),
    ];
    let mut text = format!("{title}: {kept} captured");
    for (count, words) in counted.iter().filter(|(count, _)| *count > 0) {
        text.push_str(&format!(", {count} {words}"));
    }
    if report.of_others > 0 {
        let count = report.of_others;
        text.push_str(&format!("\n{count} of an earlier command not captured yet: run it again"));
    }
    if report.hidden > 0 {
        let addresses = match report.hidden {
            1 => "1 address is".to_owned(),
            more => format!("{more} addresses are"),
        };
        text.push_str(&format!(
            "\n{addresses} kept whole in the library, to be fetched again, and shown without what \
             may be secret"
        ));
    }
    text
}

const MOST_PARALLEL: usize = 32;
/// As large as a file may be.
const MAX_STDIN: u64 = 32 * 1024 * 1024;
