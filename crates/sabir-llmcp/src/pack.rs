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
    let is_turn =
        |it: &&Entry<'_>| matches!(it.document.content, ContextContent::ConversationTurn(_));
    let turns = entries.iter().filter(is_turn).count();
    let longest_note = note(entries.len(), turns, [entries.len(); 4]);
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
        let note = note(entries.len(), turns, tally(&included));
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

/// `turns` of all documents are what was said before.
fn note(all: usize, turns: usize, [full, part, summary, omitted]: [usize; 4]) -> String {
    let documents = all - turns;
    let what = match turns {
        0 => format!("Documents: {documents}"),
        1 => format!("Documents: {documents}, and 1 earlier message"),
        _ => format!("Documents: {documents}, and {turns} earlier messages"),
    };
    match (all, full == all) {
        (0, _) => "There are no documents.".to_owned(),
        (_, true) => format!("{what}, all in full."),
        (_, false) => format!(
            "{what}; {full} in full, {part} in part, {summary} as summaries, {omitted} left out."
        ),
    }
}

/// For tokens that join differently where texts meet.
const SLACK: usize = 16;
