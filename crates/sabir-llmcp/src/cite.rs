//! Whether a quote stands in the source that it names: on the source's plain text, with the place in
//! the stored Markdown. "Verified" means that the words are there, and nothing more. Neither the
//! address nor the confidence that a model gives is known here.

mod denial;
mod edges;
mod edited;
mod ellipsis;
mod fragment;
mod near;
mod quantity;
mod sentence;
mod source;
mod tokens;
mod words;

use sabir_document::PlainText;

use self::edges::Seam;
use self::tokens::{Kind, Token};

pub use source::SourceText;

/// A stored version of a source that may be cited.
#[derive(Debug, Clone, Copy)]
pub struct CitableSource<'a> {
    pub id: &'a str,
    /// The hash of exactly the Markdown in `text`.
    pub hash: &'a str,
    /// Where it was captured, if that is an address.
    pub url: Option<&'a str>,
    pub text: &'a SourceText,
}

/// What became of a citation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    pub status: CitationStatus,
    /// How the quote was found; `None` if it was not.
    pub how: Option<MatchKind>,
    /// Why it is not simply verified.
    pub reason: Option<Reason>,
    /// The source that was looked at, and its version; `None` when there is no such source.
    pub source_id: Option<String>,
    pub source_hash: Option<String>,
    /// Of the source, never of the model.
    pub url: Option<String>,
    /// Bytes of the stored Markdown; 0 and 0 if the quote was not found.
    pub start: usize,
    pub end: usize,
    /// The words to show: the source's own if they were found, or else the model's.
    pub quote: String,
    /// The heading that the passage stands under.
    pub section: Option<String>,
    /// `:~:text=…`, to put behind the `#` of an address.
    pub text_fragment: Option<String>,
    /// The address of the passage.
    pub link: Option<String>,
    /// Another source that has the quote, when the named one has not.
    pub found_in: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CitationStatus {
    /// The words stand in the source.
    Verified,
    /// Nearly: the source's own words were put in.
    Repaired,
    /// The words stand in several places, and which is meant matters.
    Ambiguous,
    Unverified,
    /// No such source was given to the model.
    UnknownSource,
}

/// What had to be looked over to find a quote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MatchKind {
    /// Nothing.
    Exact,
    /// Case, white space, quotes, dashes, marks of Markdown, and what Unicode calls compatible.
    Normalised,
    /// Punctuation.
    Punctuation,
    /// Something was left out and marked as such.
    Elided,
    /// A slip in a word, or an article.
    Edited,
}

/// Why a quote is not simply verified, by a code that does not change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    UnknownSource,
    /// Nothing is said in it.
    EmptyQuote,
    QuoteTooLong,
    NotFound,
    /// It stands in another source than the one that is named.
    OtherSource,
    SeveralPlaces,
    /// It joins two blocks, items or rows at a number or a negation, as if they were one sentence.
    JoinsBlocks,
    /// It begins or ends within a word, like `profit` in `non-profit`.
    CutsWord,
    /// It parts a number from its sign, its bound, its currency or its unit.
    CutsNumber,
    /// What stands outside denies it, makes it a condition or takes some of it back.
    CutsNegation,
    EllipsisSwallowsNegation,
    EllipsisSwallowsNumber,
    EllipsisTooWide,
    EllipsisOutOfOrder,
    /// The source's punctuation was put in.
    Punctuation,
    /// What was left out was put in.
    Elided,
    /// The source's words were put in.
    Edited,
}

/// Judges a quote that names the source `cited`.
pub fn verify_citation(quote: &str, cited: &str, sources: &[CitableSource<'_>]) -> Verdict {
    let Some(source) = sources.iter().find(|source| source.id == cited) else {
        return Verdict {
            status: CitationStatus::UnknownSource,
            ..unverified(quote, Reason::UnknownSource)
        };
    };
    let mut verdict = verify_quote(quote, source.text);
    verdict.source_id = Some(source.id.to_owned());
    verdict.source_hash = Some(source.hash.to_owned());
    verdict.url = source.url.map(str::to_owned);
    if let (Some(url), Some(fragment)) = (source.url, &verdict.text_fragment) {
        verdict.link = fragment::link(url, fragment);
    }
    if verdict.reason == Some(Reason::NotFound) {
        let words = tokens::tokens(quote);
        let has_it = |other: &&CitableSource<'_>| {
            let found = find_words(other.text, quote, &words);
            other.id != cited && found.is_ok_and(|found| found.how <= MatchKind::Normalised)
        };
        if let Some(other) = sources.iter().find(has_it) {
            verdict.found_in = Some(other.id.to_owned());
            verdict.reason = Some(Reason::OtherSource);
        }
    }
    verdict
}

/// Judges a quote against one source.
pub fn verify_quote(quote: &str, source: &SourceText) -> Verdict {
    let quote = quote.trim();
    if quote.len() > MAX_QUOTE {
        let kept = &quote[..quote.floor_char_boundary(MAX_QUOTE)];
        return unverified(kept, Reason::QuoteTooLong);
    }
    let raw = tokens::tokens(quote);
    if raw.is_empty() {
        return unverified(quote, Reason::EmptyQuote);
    }
    let outcome = find_words(source, quote, &raw)
        .or_else(|reason| find_stripped(source, quote, &raw).ok_or(reason))
        .or_else(|reason| find_elided(source, quote, reason))
        .or_else(|reason| find_edited(source, &raw, reason));
    match outcome {
        Ok(found) => found.verdict(source),
        Err(reason) => unverified(quote, reason),
    }
}

fn unverified(quote: &str, reason: Reason) -> Verdict {
    Verdict {
        status: CitationStatus::Unverified,
        how: None,
        reason: Some(reason),
        source_id: None,
        source_hash: None,
        url: None,
        start: 0,
        end: 0,
        quote: quote.to_owned(),
        section: None,
        text_fragment: None,
        link: None,
        found_in: None,
    }
}

/// The places of a quote, all found in the same way.
struct Found {
    how: MatchKind,
    /// The tokens from and to, of each place. At least one.
    places: Vec<(usize, usize)>,
    /// How many words the quote has, and how many letters.
    words: usize,
    letters: usize,
}

impl Found {
    fn new(how: MatchKind, places: Vec<(usize, usize)>, quote: &[Token]) -> Self {
        let letters = quote.iter().map(|token| token.word.chars().count()).sum();
        Self { how, places, words: quote.len(), letters }
    }

    fn verdict(&self, source: &SourceText) -> Verdict {
        let ranges: Vec<(usize, usize)> =
            self.places.iter().filter_map(|(from, to)| passage(source, *from, *to)).collect();
        let Some(&(start, end)) = ranges.first() else { return unverified("", Reason::NotFound) };
        let text = source.plain.text();
        let is_ambiguous = ranges.len() > 1 && !self.is_in_one_section(source, &ranges);
        let (status, reason) = match self.how {
            _ if is_ambiguous => (CitationStatus::Ambiguous, Some(Reason::SeveralPlaces)),
            MatchKind::Exact | MatchKind::Normalised => (CitationStatus::Verified, None),
            MatchKind::Punctuation => (CitationStatus::Repaired, Some(Reason::Punctuation)),
            MatchKind::Elided => (CitationStatus::Repaired, Some(Reason::Elided)),
            MatchKind::Edited => (CitationStatus::Repaired, Some(Reason::Edited)),
        };
        let place = source.plain.source_range(start..end);
        let section = source.plain.section_at(start).map(|it| text[it.heading.clone()].to_owned());
        let text_fragment = match is_ambiguous {
            true => None,
            false => fragment::directive(source, start..end),
        };
        Verdict {
            status,
            how: Some(self.how),
            start: place.start,
            end: place.end,
            quote: text[start..end].to_owned(),
            section,
            text_fragment,
            reason,
            ..unverified("", Reason::NotFound)
        }
    }

    /// Whether it matters little which place is meant: they stand under one heading, and the quote is
    /// long enough to be no mere word.
    fn is_in_one_section(&self, source: &SourceText, ranges: &[(usize, usize)]) -> bool {
        let section = |(start, _): &(usize, usize)| source.plain.section_at(*start);
        let first = ranges.first().and_then(section);
        self.words >= MIN_WORDS
            && self.letters >= MIN_LETTERS
            && ranges.iter().all(|range| section(range) == first)
    }
}

/// The range of the plain text that the tokens `from..to` stand in, with the punctuation that belongs
/// to them: what closes a sentence, or a bracket that was opened inside.
fn passage(source: &SourceText, from: usize, to: usize) -> Option<(usize, usize)> {
    let start = source.tokens.get(from)?.start;
    let mut end = source.tokens.get(to.checked_sub(1)?)?.end;
    let text = source.plain.text();
    let mut depth = text[start..end]
        .matches(['(', '['])
        .count()
        .saturating_sub(text[start..end].matches([')', ']']).count());
    for c in text[end..].chars() {
        match c {
            '.' | '!' | '?' | '…' | '。' | '！' | '？' => {}
            ')' | ']' if depth > 0 => depth -= 1,
            _ => break,
        }
        end += c.len_utf8();
    }
    end += question_mark(&text[end..]).unwrap_or_default();
    Some((start, end))
}

/// The quote word by word.
fn find_words(source: &SourceText, quote: &str, words: &[Token]) -> Result<Found, Reason> {
    let mut reason = Reason::NotFound;
    let mut places = Vec::new();
    for from in source.find(words) {
        let to = from + words.len();
        let seam = edges::seam(source, from, words);
        match edges::cut(source, from, to) {
            _ if seam == Some(Seam::Hard) => reason = Reason::JoinsBlocks,
            Some(why) => reason = why,
            None if seam == Some(Seam::Soft) => places.push((MatchKind::Punctuation, (from, to))),
            None => places.push((kind_of(source, quote, words, (from, to)), (from, to))),
        }
    }
    let Some(best) = places.iter().map(|(how, _)| *how).min() else { return Err(reason) };
    // Of places that differ in how well they fit, only the best are meant.
    let places =
        places.into_iter().filter(|(how, _)| *how == best).map(|(_, place)| place).collect();
    Ok(Found::new(best, places, words))
}

/// How the quote differs from a place that has the same words.
fn kind_of(source: &SourceText, quote: &str, words: &[Token], place: (usize, usize)) -> MatchKind {
    let (Some(first), Some(last)) =
        (source.tokens.get(place.0), place.1.checked_sub(1).and_then(|at| source.tokens.get(at)))
    else {
        return MatchKind::Punctuation;
    };
    let (Some(start), Some(end)) =
        (words.first().map(|it| it.start), words.last().map(|it| it.end))
    else {
        return MatchKind::Punctuation;
    };
    let text = source.plain.text();
    let (ours, theirs) = (&text[first.start..last.end], &quote[start..end]);
    // A question is no statement.
    if question_mark(&text[last.end..]).is_some() != question_mark(&quote[end..]).is_some() {
        return MatchKind::Punctuation;
    }
    match () {
        () if ours == theirs => MatchKind::Exact,
        () if tokens::shape(ours) == tokens::shape(theirs) => MatchKind::Normalised,
        () => MatchKind::Punctuation,
    }
}

/// Where the question mark ends that comes next, if one does. French puts a space before it.
fn question_mark(rest: &str) -> Option<usize> {
    let mark = rest.trim_start_matches([' ', '\u{A0}', '\u{202F}']);
    let length = rest.len() - mark.len();
    mark.chars().next().filter(|c| matches!(c, '?' | '？')).map(|c| length + c.len_utf8())
}

/// A model may quote the Markdown that it was given, with its marks. Then the quote is stripped like
/// the source. Numbers that this drops (of ordered lists) must stand in the Markdown, too.
fn find_stripped(source: &SourceText, quote: &str, raw: &[Token]) -> Option<Found> {
    let plain = PlainText::of_markdown(quote);
    let words = tokens::tokens(plain.text());
    if words.is_empty() || plain.text() == quote {
        return None;
    }
    let numbers = |tokens: &[Token]| tokens.iter().filter(|it| it.kind != Kind::Word).count();
    let found = find_words(source, plain.text(), &words).ok()?;
    let keeps_all = numbers(raw) == numbers(&words);
    (keeps_all || source.markdown.contains(quote))
        .then(|| Found { how: found.how.max(MatchKind::Normalised), ..found })
}

fn find_elided(source: &SourceText, quote: &str, reason: Reason) -> Result<Found, Reason> {
    let parts = ellipsis::parts(quote);
    if parts.len() < 2 {
        return Err(reason);
    }
    let places = ellipsis::find(source, &parts)?;
    let words: Vec<Token> = parts.concat();
    uncut(source, places).map(|places| Found::new(MatchKind::Elided, places, &words))
}

fn find_edited(source: &SourceText, words: &[Token], reason: Reason) -> Result<Found, Reason> {
    if reason != Reason::NotFound {
        return Err(reason);
    }
    let line_ends = |tokens: &[Token]| tokens.iter().skip(1).filter(|it| it.begins_line).count();
    let is_one_block = |(from, to): &(usize, usize)| {
        line_ends(source.tokens.get(*from..*to).unwrap_or_default()) <= line_ends(words)
    };
    let runs: Vec<(usize, usize)> = edited::nearest(source, words)
        .into_iter()
        .map(|run| (run.from, run.to))
        .filter(is_one_block)
        .collect();
    if runs.is_empty() {
        return Err(reason);
    }
    uncut(source, runs).map(|runs| Found::new(MatchKind::Edited, runs, words))
}

/// The places that can be taken out of the source, or why none can.
fn uncut(source: &SourceText, places: Vec<(usize, usize)>) -> Result<Vec<(usize, usize)>, Reason> {
    let mut reason = Reason::NotFound;
    let mut kept = places;
    kept.retain(|(from, to)| match edges::cut(source, *from, *to) {
        Some(why) => {
            reason = why;
            false
        }
        None => true,
    });
    if kept.is_empty() { Err(reason) } else { Ok(kept) }
}

impl CitationStatus {
    /// As it is stored and printed.
    pub fn word(self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::Repaired => "repaired",
            Self::Ambiguous => "ambiguous",
            Self::Unverified => "unverified",
            Self::UnknownSource => "unknown_source",
        }
    }
}

impl MatchKind {
    pub fn word(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Normalised => "normalised",
            Self::Punctuation => "punctuation",
            Self::Elided => "elided",
            Self::Edited => "edited",
        }
    }
}

impl Reason {
    pub fn code(self) -> &'static str {
        match self {
            Self::UnknownSource => "unknown_source",
            Self::EmptyQuote => "empty_quote",
            Self::QuoteTooLong => "quote_too_long",
            Self::NotFound => "not_found",
            Self::OtherSource => "other_source",
            Self::SeveralPlaces => "several_places",
            Self::JoinsBlocks => "joins_blocks",
            Self::CutsWord => "cuts_word",
            Self::CutsNumber => "cuts_number",
            Self::CutsNegation => "cuts_negation",
            Self::EllipsisSwallowsNegation => "ellipsis_swallows_negation",
            Self::EllipsisSwallowsNumber => "ellipsis_swallows_number",
            Self::EllipsisTooWide => "ellipsis_too_wide",
            Self::EllipsisOutOfOrder => "ellipsis_out_of_order",
            Self::Punctuation => "punctuation",
            Self::Elided => "elided",
            Self::Edited => "edited",
        }
    }
}

/// In bytes. A quote is a short excerpt; what is longer is a copy.
const MAX_QUOTE: usize = 16 * 1024;

/// A quote of fewer words or letters than these says little about where it stands.
const MIN_WORDS: usize = 3;
const MIN_LETTERS: usize = 12;
