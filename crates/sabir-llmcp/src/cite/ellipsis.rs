//! Quotes with something left out. Their parts must stand in the source in order and close together,
//! and what is left out may not turn what is said.

use super::Reason;
use super::edges::{self, Seam};
use super::source::SourceText;
use super::tokens::{Kind, Token, tokens};
use super::words::is_turn;

/// The parts of a quote between its ellipses, where something is said; one part if there is none.
pub(super) fn parts(quote: &str) -> Vec<Vec<Token>> {
    let quote =
        quote.replace("[…]", "…").replace("[...]", "…").replace("(...)", "…").replace("(…)", "…");
    let quote = quote.replace(". . .", "…").replace("....", "…").replace("...", "…");
    quote.split('…').map(tokens).filter(|part| !part.is_empty()).collect()
}

/// Where the parts stand: the tokens from the first to the last.
pub(super) fn find(
    source: &SourceText,
    parts: &[Vec<Token>],
) -> Result<Vec<(usize, usize)>, Reason> {
    if parts.len() > MAX_PARTS || parts.iter().any(|part| part.len() < MIN_PART) {
        return Err(Reason::EllipsisTooWide);
    }
    let mut places: Vec<Vec<usize>> = parts.iter().map(|part| source.find(part)).collect();
    if places.iter().any(Vec::is_empty) {
        return Err(Reason::NotFound);
    }
    for (places, part) in places.iter_mut().zip(parts) {
        places.retain(|from| edges::seam(source, *from, part) != Some(Seam::Hard));
    }
    if places.iter().any(Vec::is_empty) {
        return Err(Reason::JoinsBlocks);
    }
    let mut found = Vec::new();
    let mut reason = Reason::EllipsisOutOfOrder;
    for from in &places[0] {
        match follow(source, parts, &places, *from) {
            Ok(to) => found.push((*from, to)),
            Err(why) => reason = why,
        }
    }
    if found.is_empty() { Err(reason) } else { Ok(found) }
}

/// The end of the last part when the first stands at `from`. Of every part the nearest place is
/// taken: a farther one leaves out more.
fn follow(
    source: &SourceText,
    parts: &[Vec<Token>],
    places: &[Vec<usize>],
    from: usize,
) -> Result<usize, Reason> {
    let mut end = from + parts[0].len();
    for (part, places) in parts.iter().zip(places).skip(1) {
        let next =
            places.iter().copied().find(|place| *place >= end).ok_or(Reason::EllipsisOutOfOrder)?;
        check_gap(source, end, next)?;
        end = next + part.len();
    }
    Ok(end)
}

fn check_gap(source: &SourceText, from: usize, to: usize) -> Result<(), Reason> {
    let (Some(last), Some(first)) =
        (from.checked_sub(1).and_then(|at| source.tokens.get(at)), source.tokens.get(to))
    else {
        return Err(Reason::NotFound);
    };
    let gap = source.plain.text().get(last.end..first.start).unwrap_or_default();
    if gap.len() > MAX_GAP || gap.matches("\n\n").count() > 1 {
        return Err(Reason::EllipsisTooWide);
    }
    let Some(left_out) = source.tokens.get(from..to) else { return Err(Reason::NotFound) };
    // A sign or a unit may have stood with the number before.
    for token in left_out {
        match token.kind {
            Kind::Negation => return Err(Reason::EllipsisSwallowsNegation),
            Kind::Number | Kind::Sign => return Err(Reason::EllipsisSwallowsNumber),
            Kind::Word if is_turn(&token.word) => return Err(Reason::EllipsisSwallowsNegation),
            Kind::Word => {}
        }
    }
    Ok(())
}

const MAX_PARTS: usize = 4;

/// A single word can be found anywhere.
const MIN_PART: usize = 2;

/// In bytes: about three lines.
const MAX_GAP: usize = 240;
