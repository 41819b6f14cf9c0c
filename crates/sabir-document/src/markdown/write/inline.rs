//! The inlines of one block as Markdown. Strong is always `**` and emphasis always `_`, so that marks
//! side by side are never read as one.

use super::super::escape::{self, Holder, Line, Place};
use crate::Inline;

/// The inlines of a block. Line breaks are line feeds behind a backslash.
pub(super) fn line(inlines: &[Inline], holder: Holder) -> String {
    let mut tokens = Vec::new();
    tokenize(inlines, &mut tokens);
    let line = match holder {
        Holder::Paragraph => Line::First,
        // Here no block can begin.
        Holder::Heading | Holder::Cell => Line::Within,
    };
    let mut writer = Writer { out: String::new(), holder, line, spelled_out: false };
    for (index, token) in tokens.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|index| tokens.get(index));
        writer.token(token, before, tokens.get(index + 1));
    }
    writer.out
}

enum Token<'a> {
    Text(&'a str),
    Code(&'a str),
    Cite(u32),
    Open(Delimiter),
    Close(Delimiter),
    OpenLink,
    CloseLink(&'a str),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Delimiter {
    Strong,
    Em,
}

/// A tree in normal form has each mark once on the way down, so that this recursion ends soon.
fn tokenize<'a>(inlines: &'a [Inline], tokens: &mut Vec<Token<'a>>) {
    for inline in inlines {
        match inline {
            Inline::Text { text } => tokens.push(Token::Text(text)),
            Inline::Code { text } => tokens.push(Token::Code(text)),
            Inline::Cite { reference } => tokens.push(Token::Cite(*reference)),
            Inline::Strong { children } => {
                tokens.push(Token::Open(Delimiter::Strong));
                tokenize(children, tokens);
                tokens.push(Token::Close(Delimiter::Strong));
            }
            Inline::Em { children } => {
                tokens.push(Token::Open(Delimiter::Em));
                tokenize(children, tokens);
                tokens.push(Token::Close(Delimiter::Em));
            }
            Inline::Link { href, children } => {
                tokens.push(Token::OpenLink);
                tokenize(children, tokens);
                tokens.push(Token::CloseLink(href));
            }
        }
    }
}

struct Writer {
    out: String,
    holder: Holder,
    line: Line,
    /// Whether the first letter that comes is written by its number.
    spelled_out: bool,
}

impl Writer {
    fn token(&mut self, token: &Token<'_>, before: Option<&Token<'_>>, after: Option<&Token<'_>>) {
        match token {
            Token::Text(text) => self.text(text, before, after),
            Token::Code(text) => escape::push_code(&mut self.out, text, self.holder),
            Token::Cite(reference) => self.out.push_str(&format!("[{reference}]")),
            Token::Open(delimiter) => self.open(*delimiter, after),
            Token::Close(delimiter) => self.close(*delimiter, after),
            Token::OpenLink => self.out.push('['),
            Token::CloseLink(href) => {
                self.out.push_str("](");
                escape::push_target(&mut self.out, href);
                self.out.push(')');
            }
        }
        self.line = Line::Within;
    }

    fn text(&mut self, text: &str, before: Option<&Token<'_>>, after: Option<&Token<'_>>) {
        let mut text = text;
        if std::mem::take(&mut self.spelled_out)
            && let Some(first) = text.chars().next()
        {
            self.push_number(first);
            text = &text[first.len_utf8()..];
            self.line = Line::Within;
        }
        let mut after_cite = matches!(before, Some(Token::Cite(_)));
        let before_bracket = matches!(after, Some(Token::Cite(_) | Token::OpenLink));
        for (index, line) in text.split('\n').enumerate() {
            if index > 0 {
                self.out.push_str("\\\n");
                self.line = Line::Next;
                after_cite = false;
            }
            let place = Place { line: self.line, holder: self.holder, after_cite, before_bracket };
            escape::push_text(&mut self.out, line, place);
            self.line = Line::Within;
        }
    }

    /// A mark opens where a word begins. Where it stands within one, the letter before is written by
    /// its number, which ends with a semicolon: behind punctuation a mark may open, too.
    fn open(&mut self, delimiter: Delimiter, after: Option<&Token<'_>>) {
        let opens =
            delimiter == Delimiter::Strong && after.is_some_and(|token| starts_with_letter(token));
        if let Some(last) = self.out.chars().next_back().filter(|last| !is_border(*last) && !opens)
        {
            self.out.truncate(self.out.len() - last.len_utf8());
            self.push_number(last);
        }
        self.out.push_str(delimiter.mark());
    }

    fn close(&mut self, delimiter: Delimiter, after: Option<&Token<'_>>) {
        let ends_word = self.out.chars().next_back().is_some_and(char::is_alphanumeric);
        let closes = delimiter == Delimiter::Strong && ends_word;
        self.out.push_str(delimiter.mark());
        self.spelled_out = match after {
            Some(Token::Text(text)) => {
                text.chars().next().is_some_and(|c| !is_border(c) && !closes)
            }
            _ => false,
        };
    }

    fn push_number(&mut self, c: char) {
        self.out.push_str(&format!("&#{};", u32::from(c)));
    }
}

impl Delimiter {
    fn mark(self) -> &'static str {
        match self {
            Delimiter::Strong => "**",
            Delimiter::Em => "_",
        }
    }
}

fn starts_with_letter(token: &Token<'_>) -> bool {
    matches!(token, Token::Text(text) if text.chars().next().is_some_and(char::is_alphanumeric))
}

/// What every reader of Markdown takes for white space or punctuation. Newer ones know more signs,
/// older ones fewer.
fn is_border(c: char) -> bool {
    c.is_ascii_punctuation()
        || c.is_whitespace()
        || matches!(c, '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{203E}' | '«' | '»' | '¡' | '¿' | '、' | '。')
}
