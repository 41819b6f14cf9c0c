//! Cards with a front and a back: terms and what the sources say they are, then sentences with a hole.

use sabir_document::Inline;

use super::cloze::clozes;
use super::definition::definitions;
use crate::draft::{Composer, one_line};
use crate::source::Page;

pub(super) fn compose(pages: &[Page<'_>], count: usize, draft: &mut Composer<'_, '_>) {
    let mut rows = Vec::new();
    let defined = definitions(pages, count);
    for known in &defined {
        rows.push(vec![vec![Inline::text(known.term.clone())], draft.say(&known.passage)]);
    }
    let more = clozes(pages, count);
    let more =
        more.iter().filter(|cloze| !defined.iter().any(|known| known.passage == cloze.passage));
    for cloze in more.take(count - rows.len()) {
        let mut back = vec![Inline::text(one_line(cloze.answer(pages), 120))];
        back.extend(draft.cite(&cloze.passage));
        rows.push(vec![vec![Inline::text(one_line(&cloze.question(pages), 600))], back]);
    }
    if rows.is_empty() {
        draft.sentence("Terms that a card could be made of are not in your sources.");
    }
    draft.table(vec![vec![Inline::text("Front")], vec![Inline::text("Back")]], rows);
}
