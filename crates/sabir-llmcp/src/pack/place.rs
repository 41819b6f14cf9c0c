//! Which documents get a place in the prompt, and how much of each.
//!
//! First what the task is about, the page and the results of tools; then the index and the last
//! turns, each within a share; then the sources, from the one that matches the question best. A text
//! is counted when it has a chance to fit, and once.

use crate::chunk::{Chunk, choose_chunks, gap_mark, split_chunks};
use crate::context::{CollectionIndex, ContextContent, ContextKind};
use crate::fence::Fence;

use super::entry::{Entry, clean, index_lines};
use super::rank::{self, Candidate};
use super::summary::summary;
use super::{Inclusion, PackOptions};

#[derive(Debug)]
pub(super) struct Placer<'a> {
    entries: &'a [Entry<'a>],
    fence: &'a Fence,
    options: &'a PackOptions<'a>,
    /// Tokens.
    left: usize,
    /// In the order of their importance.
    placed: Vec<Placed>,
}

#[derive(Debug)]
struct Placed {
    entry: usize,
    inclusion: Inclusion,
    text: String,
}

impl<'a> Placer<'a> {
    pub(super) fn new(
        entries: &'a [Entry<'a>],
        fence: &'a Fence,
        options: &'a PackOptions<'a>,
        room: usize,
    ) -> Self {
        Self { entries, fence, options, left: room, placed: Vec::new() }
    }

    pub(super) fn place_all(&mut self, question: &str) {
        let room = self.left;
        self.place_chunk_documents(question);
        for entry in self.of_kind(&[ContextKind::WebSummary, ContextKind::ToolResult]) {
            let _ = self.place_in_full(entry, self.left)
                || self.place_in_part(entry, self.left, question);
        }
        self.place_index(room / SHARE);
        self.place_turns(room / SHARE);
        self.place_sources(question);
    }

    /// What became of each document.
    pub(super) fn included(&self) -> Vec<Inclusion> {
        let mut included = vec![Inclusion::Omitted; self.entries.len()];
        for placed in &self.placed {
            included[placed.entry] = placed.inclusion.clone();
        }
        included
    }

    /// As they stand in the prompt: earlier turns, the index, and then by importance.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        let mut order: Vec<&Placed> = self.placed.iter().collect();
        order.sort_by_key(|placed| match self.entries[placed.entry].document.kind() {
            ContextKind::ConversationTurn => (0, placed.entry),
            ContextKind::CollectionIndex => (1, placed.entry),
            ContextKind::WebSummary | ContextKind::WebChunk | ContextKind::ToolResult => {
                (2, placed.entry)
            }
            ContextKind::CollectionSource => (3, 0),
        });
        order.into_iter().map(|placed| placed.text.as_str())
    }

    pub(super) fn drop_last(&mut self, count: usize) {
        self.placed.truncate(self.placed.len().saturating_sub(count));
    }

    fn of_kind(&self, kinds: &[ContextKind]) -> Vec<usize> {
        let is_meant = |entry: &Entry<'_>| kinds.contains(&entry.document.kind());
        (0..self.entries.len()).filter(|index| is_meant(&self.entries[*index])).collect()
    }

    fn count(&self, text: &str) -> usize {
        self.options.tokenizer.count(text) + 1
    }

    fn put(&mut self, entry: usize, inclusion: Inclusion, text: String, tokens: usize) {
        self.left = self.left.saturating_sub(tokens);
        self.placed.push(Placed { entry, inclusion, text });
    }

    /// Whether it fitted.
    fn place_in_full(&mut self, index: usize, most: usize) -> bool {
        let entry = &self.entries[index];
        if entry.body.len() / MOST_BYTES_PER_TOKEN > most {
            return false;
        }
        let text = entry.enclose(self.fence);
        let tokens = self.count(&text);
        let fits = tokens <= most;
        if fits {
            self.put(index, Inclusion::Full, text, tokens);
        }
        fits
    }

    /// Whether some of its chunks fitted.
    fn place_in_part(&mut self, index: usize, most: usize, question: &str) -> bool {
        let entry = &self.entries[index];
        let size = (most * BYTES_PER_TOKEN / CHUNKS).clamp(MIN_CHUNK, MAX_CHUNK);
        let chunks = split_chunks(&entry.body, size);
        let bodies: Vec<&str> =
            chunks.iter().map(|chunk| &entry.body[chunk.range.clone()]).collect();
        let preferred = best_matches(question, &bodies);
        let render = |at: usize| {
            let Chunk { index, count, .. } = chunks[at];
            let part = ("chunk", format!("{index} of {count}"));
            entry.enclose_part(self.fence, Some(part), &chunks[at].markdown(&entry.body))
        };
        let series = self.series(chunks.len(), most, &preferred, render);
        if series.is_empty() {
            return false;
        }
        let shown = series.iter().map(|part| chunks[part.at].index).collect();
        let tokens = series.iter().map(|part| part.tokens).sum();
        let text = series.into_iter().map(|part| part.text).collect();
        self.put(index, Inclusion::Chunks { shown, count: chunks.len() }, text, tokens);
        true
    }

    fn place_in_short(&mut self, index: usize) -> bool {
        let entry = &self.entries[index];
        let part = ("part", "summary".to_owned());
        let text = entry.enclose_part(self.fence, Some(part), &summary(&entry.body));
        let tokens = self.count(&text);
        let fits = tokens <= self.left;
        if fits {
            self.put(index, Inclusion::Summary, text, tokens);
        }
        fits
    }

    /// A page that came in chunks.
    fn place_chunk_documents(&mut self, question: &str) {
        let chunks = self.of_kind(&[ContextKind::WebChunk]);
        let bodies: Vec<&str> = chunks.iter().map(|index| &*self.entries[*index].body).collect();
        let preferred = best_matches(question, &bodies);
        let render = |at: usize| self.entries[chunks[at]].enclose(self.fence);
        for part in self.series(chunks.len(), self.left, &preferred, render) {
            self.put(chunks[part.at], Inclusion::Full, part.text, part.tokens);
        }
    }

    fn place_index(&mut self, share: usize) {
        for index in self.of_kind(&[ContextKind::CollectionIndex]) {
            let most = share.min(self.left);
            if !self.place_in_full(index, most)
                && let ContextContent::CollectionIndex(collection) =
                    &self.entries[index].document.content
            {
                self.place_short_index(index, collection, most);
            }
        }
    }

    /// The first sources of a collection that has more than the index has room for.
    fn place_short_index(&mut self, index: usize, collection: &CollectionIndex, most: usize) {
        let entry = &self.entries[index];
        let mut tokens = self.count(&entry.enclose_part(self.fence, None, "")) + MORE_SOURCES;
        let mut body = String::new();
        let mut lines = 0;
        for line in index_lines(collection) {
            tokens += self.count(&line);
            if tokens > most {
                break;
            }
            body.push_str(&clean(line.into()));
            lines += 1;
        }
        if lines == 0 {
            return;
        }
        body.push_str(&format!("… and {} more", collection.sources.len().saturating_sub(lines)));
        let text = entry.enclose_part(self.fence, None, &body);
        self.put(index, Inclusion::Summary, text, tokens);
    }

    /// The last turns, back to the first that does not fit: a conversation with holes misleads.
    fn place_turns(&mut self, share: usize) {
        let mut most = share.min(self.left);
        for index in self.of_kind(&[ContextKind::ConversationTurn]).into_iter().rev() {
            let before = self.left;
            if !self.place_in_full(index, most) {
                break;
            }
            most = most.saturating_sub(before - self.left);
        }
    }

    fn place_sources(&mut self, question: &str) {
        let sources = self.of_kind(&[ContextKind::CollectionSource]);
        let candidates: Vec<Candidate<'_>> = sources
            .iter()
            .map(|index| &self.entries[*index])
            .map(|entry| Candidate { title: entry.title(), markdown: &entry.body })
            .collect();
        let order = rank::best_first(&rank::scores(question, &candidates));
        let order: Vec<usize> = order.into_iter().map(|place| sources[place]).collect();
        // Something is kept back, so that the sources without a place are at least summed up.
        let kept_back = if order.len() > 1 { self.left / SHARE } else { 0 };
        let top = order.len().min(self.options.max_sources);
        let mut short = Vec::new();
        for (place, &index) in order[..top].iter().enumerate() {
            let open = self.left.saturating_sub(kept_back);
            // One long source must not crowd out all others.
            let most = if order.len() == 1 { open } else { (open / 2).max(open / (top - place)) };
            let placed = most >= MIN_PART
                && (self.place_in_full(index, most) || self.place_in_part(index, most, question));
            if !placed {
                short.push(index);
            }
        }
        short.extend(&order[top..]);
        let mut misses = 0;
        for index in short {
            if misses < MAX_MISSES && !self.place_in_short(index) {
                misses += 1;
            }
        }
    }

    /// As many of `count` parts as fit, in their order, with marks where some are left out.
    fn series(
        &self,
        count: usize,
        most: usize,
        preferred: &[usize],
        render: impl Fn(usize) -> String,
    ) -> Vec<Part> {
        let gap = self.count(&gap_mark(count)) + 1;
        let mut rendered: Vec<Option<Part>> = (0..count).map(|_| None).collect();
        let chosen = choose_chunks(count, most.saturating_sub(gap), preferred, |at| {
            let text = render(at);
            let tokens = self.count(&text) + gap;
            rendered[at] = Some(Part { at, text, tokens });
            tokens
        });
        let mut parts: Vec<Part> = Vec::new();
        let mut next = 0;
        for at in chosen {
            let Some(mut part) = rendered[at].take() else { continue };
            if at > next {
                part.text.insert_str(0, &format!("{}\n\n", gap_mark(at - next)));
            }
            next = at + 1;
            parts.push(part);
        }
        if let Some(last) = parts.last_mut()
            && next < count
        {
            last.tokens += gap;
            last.text.push_str(&format!("\n{}\n", gap_mark(count - next)));
        }
        parts
    }
}

struct Part {
    at: usize,
    text: String,
    tokens: usize,
}

/// The few parts that the question is about, if it is about some more than about others.
fn best_matches(question: &str, bodies: &[&str]) -> Vec<usize> {
    let candidates: Vec<Candidate<'_>> =
        bodies.iter().map(|markdown| Candidate { title: "", markdown }).collect();
    let scores = rank::scores(question, &candidates);
    let mut best = rank::best_first(&scores);
    best.retain(|place| scores[*place] > 0.0);
    best.truncate(PREFERRED);
    best
}

/// A fifth each for the index, for earlier turns, and for summaries.
const SHARE: usize = 5;

/// No text is thriftier than this over a length that matters; what cannot fit is not counted.
const MOST_BYTES_PER_TOKEN: usize = 8;

/// Of ordinary prose.
const BYTES_PER_TOKEN: usize = 4;

/// Into so many chunks goes what there is room for: few enough to keep their context, enough to show
/// the beginning, the end and what was asked for.
const CHUNKS: usize = 6;
const MIN_CHUNK: usize = 800;
const MAX_CHUNK: usize = 8000;
const PREFERRED: usize = 3;

/// Below this a source is better summed up.
const MIN_PART: usize = 200;

/// Tokens of the line that says how many more there are.
const MORE_SOURCES: usize = 16;

/// Summaries are of about one size: if so many do not fit, none will.
const MAX_MISSES: usize = 8;
