//! A request as a prompt that fits.
//!
//! The documents that a request carries may be far more than a model can read. What fits is chosen
//! by the question and stated in a note, so that the model and the person both know what was left
//! out. Tokens are counted with the vocabulary of the model. It knows no model and no store.

use std::fmt;

use sabir_lingua::tokens::Tokenizer;

use crate::context::ContextContent;
use crate::contract::Contract;
use crate::fence::{Fence, WeakNonce};
use crate::value::DocId;
use crate::{Request, ToolName};

mod entry;
mod place;
mod prompt;
mod rank;
mod summary;

use entry::Entry;
use place::Placer;
use prompt::Prompt;

/// How to pack.
#[derive(Debug, Clone, Copy)]
pub struct PackOptions<'a> {
    /// Tokens for both texts together.
    pub budget: usize,
    /// The model's vocabulary, or the nearest that there is.
    pub tokenizer: Tokenizer,
    /// At least 16 random hexadecimal digits of lower case, new for every prompt.
    pub nonce: &'a str,
    /// The tools that are offered.
    pub tools: &'a [ToolName],
    pub max_tool_calls: usize,
    /// How many sources of a collection may be given with their text.
    pub max_sources: usize,
}

/// The two texts that a model is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packed {
    pub system: String,
    pub user: String,
    /// What was left out, in words. The user's text has it, too.
    pub note: String,
    /// What became of each document, in the order of the request.
    pub included: Vec<(DocId, Inclusion)>,
    /// Of both texts.
    pub tokens: usize,
    /// What begins and ends the documents in the user's text.
    pub mark: String,
}

/// How much of a document the model is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Inclusion {
    Full,
    /// Some of its chunks, counted from 1.
    Chunks {
        shown: Vec<usize>,
        count: usize,
    },
    /// Its beginning and its headings; of an index, the first sources.
    Summary,
    Omitted,
}

/// Why there is no prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PackError {
    Nonce(WeakNonce),
    /// Even without a document there are more tokens than allowed.
    BudgetTooSmall {
        budget: usize,
        needed: usize,
    },
}

impl fmt::Display for PackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nonce(weak) => weak.fmt(f),
            Self::BudgetTooSmall { budget, needed } => {
                write!(f, "{needed} tokens are needed for the question alone, and {budget} allowed")
            }
        }
    }
}

impl std::error::Error for PackError {}

/// The request as two texts of at most `options.budget` tokens together.
pub fn pack(request: &Request, options: &PackOptions<'_>) -> Result<Packed, PackError> {
    let contract = Contract {
        format: request.format,
        task: request.task.name,
        tools: options.tools,
        max_tool_calls: options.max_tool_calls,
    };
    let system = contract.system_prompt();
    let entries: Vec<Entry<'_>> = request.documents.iter().map(Entry::of).collect();
    let texts = entries.iter().flat_map(Entry::texts).chain([request.user_message.text.as_str()]);
    let fence = Fence::around(options.nonce, texts).map_err(PackError::Nonce)?;
    let prompt = Prompt::of(request, &fence);

    let count = |text: &str| options.tokenizer.count(text);
    let system_tokens = count(&system);
    let kinds = Kinds::of(&entries);
    let longest_note = kinds.note([entries.len(); 4]);
    let needed = system_tokens + count(&prompt.render([].into_iter(), &longest_note)) + SLACK;
    let Some(room) = options.budget.checked_sub(needed) else {
        return Err(PackError::BudgetTooSmall { budget: options.budget, needed });
    };
    let question = format!("{} {}", request.user_message.text, prompt.args());
    let mut placer = Placer::new(&entries, &fence, options, room);
    placer.place_all(&question);

    let mut drop = 1;
    loop {
        let included = placer.included();
        let note = kinds.note(tally(&included));
        let user = prompt.render(placer.texts(), &note);
        let tokens = system_tokens + count(&user);
        if tokens <= options.budget {
            let ids = request.documents.iter().map(|document| document.doc_id.clone());
            let included = ids.zip(included).collect();
            let mark = fence.mark().to_owned();
            return Ok(Packed { system, user, note, included, tokens, mark });
        }
        // Tokens may join differently where texts meet. Twice as many each time, so that this ends
        // soon whatever the texts are; without any document it fits.
        placer.drop_last(drop);
        drop *= 2;
    }
}

/// In full, in part, as summaries, left out.
fn tally(included: &[Inclusion]) -> [usize; 4] {
    let mut counts = [0; 4];
    for inclusion in included {
        let place = match inclusion {
            Inclusion::Full => 0,
            Inclusion::Chunks { .. } => 1,
            Inclusion::Summary => 2,
            Inclusion::Omitted => 3,
        };
        counts[place] += 1;
    }
    counts
}

/// How many there are of each kind. Only pages and sources are documents to whoever reads the note.
#[derive(Debug, Default)]
struct Kinds {
    documents: usize,
    indexes: usize,
    results: usize,
    turns: usize,
}

impl Kinds {
    fn of(entries: &[Entry<'_>]) -> Self {
        let mut kinds = Self::default();
        for entry in entries {
            *match entry.document.content {
                ContextContent::CollectionIndex(_) => &mut kinds.indexes,
                ContextContent::ToolResult(_) => &mut kinds.results,
                ContextContent::ConversationTurn(_) => &mut kinds.turns,
                _ => &mut kinds.documents,
            } += 1;
        }
        kinds
    }

    fn note(&self, [full, part, summary, omitted]: [usize; 4]) -> String {
        let Self { documents, indexes, results, turns } = *self;
        let all = documents + indexes + results + turns;
        if all == 0 {
            return "There are no documents.".to_owned();
        }
        let counted = |count: usize, one: &str, more: &str| match count {
            0 => None,
            1 => Some(format!("1 {one}")),
            count => Some(format!("{count} {more}")),
        };
        let others: Vec<String> = [
            counted(indexes, "list of the sources", "lists of the sources"),
            counted(results, "result of a tool", "results of tools"),
            counted(turns, "earlier message", "earlier messages"),
        ]
        .into_iter()
        .flatten()
        .collect();
        let mut what = format!("Documents: {documents}");
        for (at, other) in others.iter().enumerate() {
            what.push_str(if at + 1 == others.len() { ", and " } else { ", " });
            what.push_str(other);
        }
        match full == all {
            true => format!("{what}, all in full."),
            false => format!(
                "{what}; {full} in full, {part} in part, {summary} as summaries, {omitted} left out."
            ),
        }
    }
}

/// For tokens that join differently where texts meet.
const SLACK: usize = 16;
