//! The steps of a plan.

use sabir_base::Diagnostic;

use super::Validator;
use crate::block::BlockInfo;
use crate::codes;
use crate::normal;
use crate::tree::Kind;
use crate::view::{Block, Node};

/// The ids of so few steps are compared with each other; those of more are sorted.
const FEW: usize = 16;

impl Validator {
    pub(super) fn plan(&mut self, block: Block<'_>, info: &'static BlockInfo) {
        let mut few: [Option<Node<'_>>; FEW] = [None; FEW];
        let mut many: Vec<Node<'_>> = Vec::new();
        let mut count = 0usize;
        for step in normal::items(block.body) {
            if !matches!(step.kind(), Kind::Object | Kind::Tuple) {
                self.not_a_step(step);
                // A plan with something in it is not empty, whatever it is.
                count = count.max(1);
                continue;
            }
            let seen = self.fields(info, step, step.span());
            let id = seen.get("i");
            match few.get_mut(count) {
                Some(slot) => *slot = id,
                None => {
                    if many.is_empty() {
                        many.extend(few.iter().flatten());
                    }
                    many.extend(id);
                }
            }
            count += 1;
        }
        if count == 0 {
            self.empty_plan(block);
        } else if many.is_empty() {
            for (index, id) in
                few.iter().enumerate().filter_map(|(index, id)| Some((index, (*id)?)))
            {
                let earlier = few[..index].iter().flatten().find(|other| is_same(**other, id));
                if let Some(earlier) = earlier {
                    self.duplicate_step(*earlier, id);
                }
            }
        } else {
            self.duplicates_of_many(&many);
        }
    }

    fn duplicates_of_many(&mut self, ids: &[Node<'_>]) {
        let mut sorted: Vec<_> =
            ids.iter().filter_map(|&id| Some((name(id)?, id.id(), id))).collect();
        sorted.sort_unstable_by(|(a, a_id, _), (b, b_id, _)| (a, a_id).cmp(&(b, b_id)));
        for pair in sorted.windows(2) {
            if pair[0].0 == pair[1].0 {
                self.duplicate_step(pair[0].2, pair[1].2);
            }
        }
    }

    #[cold]
    fn not_a_step(&mut self, step: Node<'_>) {
        if step.kind() == Kind::Error {
            return;
        }
        self.findings.error(|| {
            let message = "a PLAN holds steps, and this is none";
            Diagnostic::error(codes::NOT_A_STEP, step.span(), message)
                .help("write (i:1,t:\"...\",s:P)")
        });
    }

    #[cold]
    fn empty_plan(&mut self, block: Block<'_>) {
        self.findings.warning(|| {
            Diagnostic::warning(codes::EMPTY_LIST, block.body.span(), "this PLAN has no steps")
                .help("write a step, such as (i:1,t:\"...\",s:P)")
        });
    }

    #[cold]
    fn duplicate_step(&mut self, earlier: Node<'_>, id: Node<'_>) {
        self.findings.warning(|| {
            Diagnostic::warning(codes::DUPLICATE_STEP, id.span(), "another step has this id")
                .label(earlier.span(), "this one")
                .help("give every step an id of its own")
        });
    }
}

/// What an id is called: `1` and `"1"` cannot be told apart by whoever speaks of them.
fn name(id: Node<'_>) -> Option<std::borrow::Cow<'_, str>> {
    match id.kind() {
        Kind::Number => Some(std::borrow::Cow::Borrowed(id.text())),
        _ => id.as_text(),
    }
}

fn is_same(a: Node<'_>, b: Node<'_>) -> bool {
    name(a).is_some_and(|a| name(b).is_some_and(|b| a == b))
}
