//! How to go on after an error: never back, and never past the start of a block.

use super::Parser;

impl Parser<'_> {
    /// To the next place at which a block surely starts: at the start of a line, or after a space.
    /// Moves by at least one character.
    pub(super) fn skip_to_block(&mut self) {
        if self.at_end() {
            return;
        }
        self.at += 1;
        while let Some(&byte) = self.bytes.get(self.at) {
            let after_space = self.bytes[self.at - 1].is_ascii_whitespace();
            if after_space && (byte.is_ascii_alphabetic() || matches!(byte, b'"' | b'\'')) {
                let at_line_start = self.is_line_start();
                if at_line_start && self.head(self.at).is_some() || self.odd_head(self.at).is_some()
                {
                    break;
                }
            }
            self.at += 1;
        }
        // The white space before the block is not part of what was skipped.
        let skipped = self.text[..self.at].trim_end_matches([' ', '\t', '\r', '\n']).len();
        self.at = skipped.max(1).min(self.at);
    }

    /// Whether only blanks stand between the cursor and the start of its line.
    fn is_line_start(&self) -> bool {
        // A line is seldom indented by more; the bound keeps a text of blanks linear.
        const DEEPEST_INDENT: usize = 64;
        let from = self.at.saturating_sub(DEEPEST_INDENT);
        let before = self.bytes[from..self.at].iter().rev();
        let stop = before.copied().find(|byte| !matches!(byte, b' ' | b'\t'));
        stop.map_or(from == 0, |byte| byte == b'\n')
    }

    /// To the next comma or closing bracket, or to the next block at the start of a line. Strings
    /// are stepped over.
    pub(super) fn skip_to_delimiter(&mut self, close: u8) {
        let start = self.at;
        while !self.at_end() {
            match self.byte() {
                b',' | b'}' | b']' => break,
                b')' if close == b')' => break,
                b'"' if self.at > start => break,
                b'"' => {
                    self.string();
                    continue;
                }
                b'\n' if self.at_sure_head(self.at + 1) => break,
                _ => self.at += 1,
            }
        }
        if self.at == start {
            self.at += usize::from(!self.at_end());
        }
        self.at_char_boundary();
    }

    /// Past the bracket that matches the one under the cursor, or to the next block.
    pub(super) fn skip_brackets(&mut self) {
        let mut open = 0usize;
        while !self.at_end() {
            match self.byte() {
                b'{' | b'[' | b'(' => open += 1,
                b'}' | b']' | b')' => {
                    open -= 1;
                    if open == 0 {
                        self.at += 1;
                        return;
                    }
                }
                b'"' => {
                    self.string();
                    continue;
                }
                b'\n' if self.at_sure_head(self.at + 1) => return,
                _ => {}
            }
            self.at += 1;
        }
    }

    fn at_char_boundary(&mut self) {
        while !self.text.is_char_boundary(self.at) {
            self.at += 1;
        }
    }
}
