//! `sabir log`: what was written down, as messages, in the language that is asked for.

mod time;

use std::collections::BTreeMap;
use std::io::{IsTerminal as _, Write as _};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::{Args, ValueEnum};
use sabir_base::text::{one_line, with_hidden_shown};
use sabir_host::record::{self, Journal, RecordError, journal_names};
use sabir_host::written;
use sabir_lingua::tokens::Tokenizer;
use sabir_lingua::{Form, utter};
use sabir_store::{Line, LineFilter, SessionId};
use serde_json::{Map, Value};

use crate::exit::Exit;
use crate::home::HomeArgs;
use crate::output::{Notes, Output};
use crate::research::collection::now_ms;
use crate::tokens::tokenizer_parser;

/// Show what was written down: who said what to whom
///
/// Every row of every journal of the home is a message: of the node, of its delegates, and of the gate
/// (the journal `audit`). A row is shown in short, a line each, or with --as in one of four languages;
/// one that is named is shown in all of them, with what it costs in tokens.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir log                                  the last messages of every journal
  sabir log --as axon --session ID -n 5
  sabir log --journal audit --tag deny --since 2h
  sabir log --grep 'no model' --kind event --json
  sabir log --follow --as english            beside a running node, until Ctrl-C
  sabir log node/12                          one row, in four languages

Times are 2026-11-16, 2026-11-16T12:00:00Z, or how long ago: 90s, 10m, 2h, 3d.

Exit codes:
  0  done
  1  there is no such row
  2  the command line is wrong, or a journal cannot be read")]
pub(crate) struct LogArgs {
    /// One row: the name of its journal and its number
    #[arg(value_name = "JOURNAL/ROW", conflicts_with_all = ["journal", "session", "kind", "tag",
        "since", "until", "grep", "follow", "limit"])]
    row: Option<String>,
    /// Only this journal: node, audit or a delegate's name; can be given several times
    #[arg(long, value_name = "NAME")]
    journal: Vec<String>,
    /// Only this session or order
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Only rows of this kind; can be given several times
    #[arg(long, value_enum, value_name = "KIND")]
    kind: Vec<Kind>,
    /// Only rows with this tag, such as task_complete or deny; can be given several times
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    /// Only what was written from this time on
    #[arg(long, value_name = "TIME", value_parser = time::parse)]
    since: Option<time::When>,
    /// Only what was written before this time
    #[arg(long, value_name = "TIME", value_parser = time::parse)]
    until: Option<time::When>,
    /// Only rows that hold this text, whatever its case
    #[arg(long, value_name = "TEXT")]
    grep: Option<String>,
    /// In which language; without it, a line each
    #[arg(long = "as", value_enum, value_name = "FORM")]
    form: Option<FormArg>,
    /// Whose tokens are counted
    #[arg(long, value_name = "NAME", value_parser = tokenizer_parser(), default_value = "o200k")]
    tokenizer: Tokenizer,
    /// Go on with what is written from now on
    #[arg(long, short)]
    follow: bool,
    /// Print a JSON object for each row, one a line
    #[arg(long)]
    json: bool,
    /// The last so many [default: 20]
    #[arg(short = 'n', long = "limit", value_name = "N")]
    limit: Option<usize>,
    #[command(flatten)]
    home: HomeArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormArg {
    Json,
    Axon,
    Llmx,
    English,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    Session,
    Submission,
    Event,
    Item,
    Turn,
    Approval,
    Note,
    Peer,
    Decision,
}

impl FormArg {
    pub(crate) fn form(self) -> Form {
        match self {
            Self::Json => Form::Json,
            Self::Axon => Form::Axon,
            Self::Llmx => Form::Llmx,
            Self::English => Form::English,
        }
    }
}

impl LogArgs {
    pub(crate) fn run(self, output: &mut Output, notes: &mut Notes) -> anyhow::Result<Exit> {
        let home = self.home.resolve()?;
        if let Some(row) = &self.row {
            return self.show_row(&home, row, output, notes);
        }
        let names = self.names(&home)?;
        let mut filter = self.filter();
        let mut found = Vec::new();
        let mut ends = BTreeMap::new();
        for name in &names {
            let journal = Journal::open(&home, name)?;
            // Looked at first: what comes in between is shown when it is followed.
            ends.insert(name.clone(), journal.last_seq()?);
            filter.before = Some(ends[name].saturating_add(1));
            for line in last(&journal, &filter, self.limit.unwrap_or(USUAL))? {
                found.push((name.clone(), line));
            }
        }
        found.sort_by(|(a, x), (b, y)| (x.at_ms, a, x.seq).cmp(&(y.at_ms, b, y.seq)));
        let is_empty = found.is_empty() && self.limit != Some(0);
        let first = found.len().saturating_sub(self.limit.unwrap_or(USUAL));
        for (name, line) in found.drain(first..) {
            self.show(&name, &line, output)?;
        }
        if names.is_empty() || is_empty && !self.is_filtered() {
            notes
                .line("nothing was written down here yet: `sabir run \"TASK\"` or `sabir up` does");
        } else if is_empty && !self.follow {
            notes.line("no row fits what was asked for");
        }
        if self.follow {
            filter.before = None;
            self.follow(&home, &filter, ends, output)?;
        }
        Ok(Exit::Done)
    }

    /// Whether some rows are left out, besides those of long ago.
    fn is_filtered(&self) -> bool {
        let Self { journal, session, kind, tag, since, until, grep, .. } = self;
        let is_narrowed = since.is_some() || until.is_some() || grep.is_some();
        is_narrowed
            || session.is_some()
            || !(journal.is_empty() && kind.is_empty() && tag.is_empty())
    }

    /// The journals that are meant.
    fn names(&self, home: &Path) -> Result<Vec<String>, RecordError> {
        let names = journal_names(home)?;
        match self.journal.iter().find(|name| !names.contains(name)) {
            // One that is followed may come.
            Some(_) if self.follow => {}
            Some(name) => return Err(RecordError::Unknown { name: name.clone(), names }),
            None => {}
        }
        let is_meant = |name: &String| self.journal.is_empty() || self.journal.contains(name);
        Ok(names.into_iter().filter(is_meant).collect())
    }

    fn filter(&self) -> LineFilter {
        let now = now_ms();
        let kinds = self
            .kind
            .iter()
            .filter_map(|kind| Some(kind.to_possible_value()?.get_name().to_owned()));
        LineFilter {
            session: self.session.as_deref().map(SessionId::new),
            kinds: kinds.collect(),
            tags: self.tag.clone(),
            since_ms: self.since.map(|when| when.millis(now)),
            until_ms: self.until.map(|when| when.millis(now)),
            contains: self.grep.clone(),
            ..LineFilter::default()
        }
    }

    fn show_row(
        &self,
        home: &Path,
        row: &str,
        output: &mut Output,
        notes: &mut Notes,
    ) -> anyhow::Result<Exit> {
        let named = row.rsplit_once('/').and_then(|(name, seq)| Some((name, seq.parse().ok()?)));
        let Some((name, seq)) = named else {
            bail!("`{}` names no row: write JOURNAL/NUMBER, as in node/12", one_line(row, 80));
        };
        let Some(line) = Journal::open(home, name)?.line(seq)? else {
            notes.line(format_args!("error: the journal {name} has no row {seq}"));
            return Ok(Exit::Found);
        };
        match self.form {
            Some(_) => self.show(name, &line, output)?,
            None => print_row(name, &line, self.tokenizer, self.json, output)?,
        }
        Ok(Exit::Done)
    }

    fn show(&self, journal: &str, line: &Line, output: &mut Output) -> anyhow::Result<()> {
        let form = self.form.map(FormArg::form);
        let text = match form {
            Some(form) => Some(utter(&record::messages(journal, line), form)?),
            None => None,
        };
        if self.json {
            let mut all = as_json(journal, line);
            if let (Some(form), Some(text)) = (form, &text) {
                let tokens = self.tokenizer.count(text.trim_end());
                all.insert("form".to_owned(), form.name().into());
                all.insert("text".to_owned(), text.trim_end().into());
                all.insert("tokens".to_owned(), tokens.into());
                all.insert("vocabulary".to_owned(), self.tokenizer.name().into());
            }
            serde_json::to_writer(&mut *output, &all)?;
            writeln!(output)?;
            return Ok(());
        }
        match text {
            Some(text) => writeln!(output, "{}", for_a_reader(text.trim_end()))?,
            None => writeln!(output, "{}", in_one_line(journal, line))?,
        }
        Ok(())
    }

    /// Until somebody ends the program, or nobody reads any more.
    fn follow(
        &self,
        home: &Path,
        filter: &LineFilter,
        mut ends: BTreeMap<String, u64>,
        output: &mut Output,
    ) -> anyhow::Result<()> {
        let mut open: BTreeMap<String, Journal> = BTreeMap::new();
        loop {
            for name in self.names(home)? {
                if !open.contains_key(&name) {
                    open.insert(name.clone(), Journal::open(home, &name)?);
                }
            }
            for (name, journal) in &open {
                let end = ends.entry(name.clone()).or_default();
                let last = journal.last_seq()?;
                while *end < last {
                    let filter = LineFilter {
                        after: Some(*end),
                        before: Some(last.saturating_add(1)),
                        ..filter.clone()
                    };
                    let lines = journal.first_lines(&filter, STEP)?;
                    *end = lines.last().map_or(last, |line| line.seq);
                    for line in &lines {
                        self.show(name, line, output)?;
                    }
                }
            }
            output.flush()?;
            if output.is_closed() {
                return Ok(());
            }
            std::thread::sleep(PAUSE);
        }
    }
}

/// The last rows of a journal, however large they are together.
fn last(journal: &Journal, filter: &LineFilter, limit: usize) -> anyhow::Result<Vec<Line>> {
    let mut filter = filter.clone();
    let mut found: Vec<Line> = Vec::new();
    while found.len() < limit {
        let mut lines = journal.last_lines(&filter, limit - found.len())?;
        let Some(first) = lines.first() else { break };
        filter.before = Some(first.seq);
        lines.append(&mut found);
        found = lines;
    }
    Ok(found)
}

/// One row in every language, as the console shows it.
pub(crate) fn print_row(
    journal: &str,
    line: &Line,
    vocabulary: Tokenizer,
    json: bool,
    output: &mut Output,
) -> anyhow::Result<()> {
    let said = record::utterance(journal, line, vocabulary)?;
    if json {
        let mut all = as_json(journal, line);
        if let Value::Object(forms) = said.to_value() {
            all.extend(forms);
        }
        all.insert("body".to_owned(), line.body.as_str().into());
        serde_json::to_writer_pretty(&mut *output, &all)?;
        writeln!(output)?;
        return Ok(());
    }
    writeln!(output, "{}", in_one_line(journal, line))?;
    for form in Form::ALL {
        let (name, tokens) = (form.name(), said.tokens.of(form));
        writeln!(output, "\n{name} ({tokens} tokens of {})", vocabulary.name())?;
        writeln!(output, "{}", for_a_reader(said.form(form).trim_end()))?;
    }
    writeln!(output, "\nhash {}", line.hash)?;
    Ok(())
}

/// A row as programs get it. The shape is a contract: fields may be added.
pub(crate) fn as_json(journal: &str, line: &Line) -> Map<String, Value> {
    let mut all = Map::new();
    let mut put = |key: &str, value: Value| all.insert(key.to_owned(), value);
    put("journal", journal.into());
    put("seq", line.seq.into());
    put("at_ms", line.at_ms.into());
    put("session_id", line.session_id.as_str().into());
    put("kind", line.kind.as_str().into());
    put("tag", line.tag.as_str().into());
    put("key", line.key.as_str().into());
    put("summary", record::summary(journal, line).into());
    put("hash", line.hash.to_string().into());
    all
}

pub(crate) fn in_one_line(journal: &str, line: &Line) -> String {
    let place = format!("{journal}/{}", line.seq);
    let at = written(line.at_ms);
    let kind = match line.tag.as_str() {
        "" => line.kind.clone(),
        tag => format!("{} {tag}", line.kind),
    };
    let summary = record::summary(journal, line);
    let text = format!("{place:<12} {at}  {kind:<24} {summary}");
    one_line_kept(&text)
}

/// As it is for another program; for a terminal, with what it would obey spelled out.
pub(crate) fn for_a_reader(text: &str) -> std::borrow::Cow<'_, str> {
    match std::io::stdout().is_terminal() {
        true => with_hidden_shown(text),
        false => text.into(),
    }
}

/// Columns keep their spaces; nothing in it ends the line.
fn one_line_kept(text: &str) -> String {
    with_hidden_shown(text).replace('\n', " ")
}

/// A session of the node's journals, for those who name one.
pub(crate) fn journal_of(home: &Path, session: &SessionId) -> anyhow::Result<Journal> {
    for journal in Journal::open_all(home)? {
        let Some(reader) = journal.reader() else { continue };
        if reader.session(session)?.is_some() {
            return Ok(journal);
        }
    }
    None.with_context(|| {
        let id = one_line(session.as_str(), 80);
        format!("no session {id} is stored here: `sabir sessions` lists those that are")
    })
}

/// What is shown where nobody says how much.
const USUAL: usize = 20;
/// Rows that are read at once.
const STEP: usize = 256;
/// Short enough to seem at once, long enough to cost nothing.
const PAUSE: Duration = Duration::from_millis(200);
