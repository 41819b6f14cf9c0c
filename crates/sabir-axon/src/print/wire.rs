//! The narrow layout: no white space but what reading back needs.

use super::Layout;
use crate::strings::quote_into;

pub(super) struct Wire {
    out: String,
}

impl Wire {
    pub(super) fn new(size: usize) -> Self {
        Self { out: String::with_capacity(size + 16) }
    }
}

/// Whether `next` directly behind `last` would be read as one token.
pub(super) fn merges(last: Option<u8>, next: &str) -> bool {
    match next.as_bytes().first() {
        Some(b'-') => last == Some(b'<'),
        Some(b'>') => last == Some(b'-'),
        Some(b'~') => last == Some(b'~'),
        _ => false,
    }
}

impl Layout for Wire {
    type Mark = usize;

    #[inline(always)]
    fn token(&mut self, text: &str) {
        self.out.push_str(text);
    }

    #[inline]
    fn guarded(&mut self, text: &str) {
        if merges(self.out.as_bytes().last().copied(), text) {
            self.out.push(' ');
        }
        self.out.push_str(text);
    }

    fn string(&mut self, value: &str) {
        quote_into(&mut self.out, value);
    }

    fn space(&mut self) {}

    fn gap(&mut self) {
        self.out.push(' ');
    }

    fn open(&mut self) {}

    fn close(&mut self) {}

    fn indent(&mut self) {}

    fn dedent(&mut self) {}

    fn line(&mut self) {}

    fn line_or_space(&mut self) {}

    fn end_of_meta(&mut self) {}

    fn inline_comment(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn own_line_comment(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn begin_message(&mut self) {}

    fn end_message(&mut self) {
        self.out.push('\n');
    }

    fn mark(&self) -> usize {
        self.out.len()
    }

    fn rewind(&mut self, mark: usize) {
        self.out.truncate(mark);
    }

    fn finish(self) -> String {
        self.out
    }
}
