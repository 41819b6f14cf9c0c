//! Byte offsets to lines and columns, and back.

/// Both count from one; a column counts characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineCol {
    pub line: u32,
    pub column: u32,
}

/// Where each line of a text starts. Built once, asked often.
#[derive(Clone, Debug)]
pub struct LineIndex {
    /// Byte offset of the first character of each line; never empty.
    starts: Vec<u32>,
}

impl LineIndex {
    pub fn new(text: &str) -> Self {
        let breaks = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n');
        let starts = std::iter::once(0).chain(breaks.map(|(at, _)| at as u32 + 1)).collect();
        Self { starts }
    }

    /// The zero-based line that holds `offset`, and the offset at which that line starts.
    pub fn line_of(&self, offset: u32) -> (u32, u32) {
        let line = self.starts.partition_point(|&start| start <= offset).saturating_sub(1);
        (line as u32, self.starts[line])
    }

    /// The byte offset at which the zero-based `line` starts, or the text's last line start.
    pub fn start_of(&self, line: u32) -> u32 {
        self.starts[(line as usize).min(self.starts.len() - 1)]
    }

    pub fn line_count(&self) -> u32 {
        self.starts.len() as u32
    }

    pub fn line_col(&self, text: &str, offset: u32) -> LineCol {
        let (line, start) = self.line_of(offset);
        let before = text.as_bytes().get(start as usize..offset as usize).unwrap_or_default();
        // A byte that continues a character is not a character of its own.
        let column = before.iter().filter(|&&byte| byte & 0xC0 != 0x80).count();
        LineCol { line: line + 1, column: column as u32 + 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_from_one_and_in_characters() {
        let text = "ab\nçd\n";
        let index = LineIndex::new(text);
        let at = |offset| {
            let LineCol { line, column } = index.line_col(text, offset);
            (line, column)
        };
        assert_eq!(at(0), (1, 1));
        assert_eq!(at(2), (1, 3));
        assert_eq!(at(3), (2, 1));
        assert_eq!(at(5), (2, 2));
        assert_eq!(at(7), (3, 1));
        assert_eq!(index.start_of(1), 3);
    }
}
