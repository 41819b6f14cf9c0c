//! The comments of a document, in order, each with the place it is printed at.

use crate::lexer::is_performative;
use crate::token::{SPACE, TokenKind, is};
use crate::tree::Tree;

pub(super) struct Comments<'t> {
    /// Where each is due: before the first token that stands there or later.
    list: Vec<(u32, &'t str)>,
    next: usize,
    next_at: u32,
}

impl<'t> Comments<'t> {
    pub(super) const NONE_LEFT: u32 = u32::MAX;

    pub(super) fn none() -> Self {
        Self { list: Vec::new(), next: 0, next_at: Self::NONE_LEFT }
    }

    pub(super) fn of(tree: &Tree<'t>) -> Self {
        let text = tree.text();
        if !text.contains("(*") {
            return Self::none();
        }
        let mut list: Vec<(u32, &'t str)> = Vec::new();
        // The last token that would turn a `(*>` behind it into routing, if nothing but closing
        // parentheses came since. Those may be redundant, and the printer drops them.
        let mut word: Option<u32> = None;
        for token in tree.tokens() {
            match token.kind {
                TokenKind::Whitespace | TokenKind::RParen => {}
                TokenKind::Comment => {
                    let comment = &text[token.span().range()];
                    match word {
                        // It goes before the word instead, and takes along, to keep the order, the
                        // comments between the two.
                        Some(word) if looks_like_wildcard(comment) => {
                            let between = list.iter_mut().rev();
                            for (at, _) in between.take_while(|(at, _)| *at > word) {
                                *at = word;
                            }
                            list.push((word, comment));
                        }
                        _ => list.push((token.span().start, comment)),
                    }
                }
                TokenKind::Name => {
                    let name = &text.as_bytes()[token.span().range()];
                    word = is_performative(name).then_some(token.span().start);
                }
                _ => word = None,
            }
        }
        let next_at = list.first().map_or(Self::NONE_LEFT, |&(at, _)| at);
        Self { list, next: 0, next_at }
    }

    /// Where the next comment is due, or `NONE_LEFT`.
    #[inline(always)]
    pub(super) fn next_at(&self) -> u32 {
        self.next_at
    }

    /// The next comment, which must exist; otherwise nothing.
    #[cold]
    pub(super) fn take(&mut self) -> &'t str {
        let comment = self.list.get(self.next).map_or("", |&(_, text)| text);
        self.rewind(self.next + 1);
        comment
    }

    pub(super) fn position(&self) -> usize {
        self.next
    }

    pub(super) fn rewind(&mut self, position: usize) {
        self.next = position;
        self.next_at = self.list.get(position).map_or(Self::NONE_LEFT, |&(at, _)| at);
    }
}

/// `(*>` or `(* >`: behind a performative that is no comment but routing from anyone.
fn looks_like_wildcard(comment: &str) -> bool {
    let mut inner = comment.bytes().skip("(*".len());
    inner.find(|&byte| !is(byte, SPACE)) == Some(b'>')
}
