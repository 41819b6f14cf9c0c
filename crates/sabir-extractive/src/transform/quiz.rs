//! Questions with a hole and choices, and the answers at the end. Where the right choice stands
//! follows from the number of the question, so that the same collection gives the same quiz.

use sabir_document::{Block, Inline, ListItem};

use super::cloze::clozes;
use crate::draft::{Composer, list, one_line, strong};
use crate::source::Page;

pub(super) fn compose(pages: &[Page<'_>], count: usize, draft: &mut Composer<'_, '_>) {
    let clozes = clozes(pages, count);
    if clozes.is_empty() {
        draft.sentence("Sentences that a question could be made of are not in your sources.");
        return;
    }
    let mut questions = Vec::new();
    let mut answers = Vec::new();
    for (number, cloze) in clozes.iter().enumerate() {
        let answer = cloze.answer(pages);
        let mut choices: Vec<&str> = cloze.wrong.iter().map(String::as_str).collect();
        // 7 is prime to 2, 3 and 4, so that every place gets its turn.
        let right = (number * 7 + 3) % (choices.len() + 1);
        choices.insert(right, answer);
        let mut children = vec![Block::Paragraph {
            children: vec![Inline::text(one_line(&cloze.question(pages), 600))],
        }];
        if choices.len() > 1 {
            let lines = choices.iter().zip(LETTERS).map(|(choice, letter)| {
                vec![Inline::text(format!("{letter}) {}", one_line(choice, 120)))]
            });
            children.push(list(false, lines.collect()));
        }
        questions.push(ListItem { children });
        let mut line = match LETTERS.get(right).filter(|_| choices.len() > 1) {
            Some(letter) => vec![strong(format!("{letter}) {}", one_line(answer, 120)))],
            None => vec![strong(one_line(answer, 120))],
        };
        line.extend(draft.cite(&cloze.passage));
        answers.push(line);
    }
    draft.heading(2, "Questions");
    draft.block(Block::List { ordered: true, items: questions });
    draft.heading(2, "Answers");
    draft.numbered(answers);
}

const LETTERS: [char; 4] = ['A', 'B', 'C', 'D'];
