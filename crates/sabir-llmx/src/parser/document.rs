//! Blocks, and the messages they make up: a HEADER starts the next one.

use sabir_base::{Diagnostic, Edit, Span};

use super::{KEY, LETTER, Parsed, Parser, SPACE, Siblings, is};
use crate::block::BlockKind;
use crate::codes;
use crate::tree::{Kind, NodeId, Tree};

/// `TYPE:` as found in the text.
#[derive(Clone, Copy)]
pub(super) struct Head {
    pub(super) word: usize,
    pub(super) word_end: usize,
    /// Where the body starts, or should start.
    pub(super) body: usize,
}

/// The message that is being read.
struct Open {
    id: NodeId,
    blocks: Siblings,
    /// Of its HEADER's type, while no other block has come.
    lone_header: Option<Span>,
}

impl<'t> Parser<'t> {
    pub(super) fn document(mut self) -> Parsed<'t> {
        self.byte_order_mark();
        let mut messages = Siblings::NONE;
        let mut open: Option<Open> = None;
        loop {
            self.skip_space();
            if self.at_end() {
                break;
            }
            let found = self.at;
            let head = self.head(found).or_else(|| {
                let head = self.odd_head(found)?;
                self.odd_type(found, head);
                Some(head)
            });
            let Some(head) = head else {
                let junk = self.outside();
                match &mut open {
                    Some(message) => {
                        message.blocks.add(&mut self, junk);
                        self.close(message.id, message.blocks.first);
                    }
                    None => messages.add(&mut self, junk),
                }
                continue;
            };
            let start = head.word;
            let mut kind = BlockKind::from_bytes(&self.bytes[start..head.word_end]);
            if kind == BlockKind::Unknown {
                // A message starts although its HEADER is written in lower case.
                kind = BlockKind::of_any_case(&self.bytes[start..head.word_end]);
            }
            let word = Span { start: start as u32, end: head.word_end as u32 };
            if kind == BlockKind::Header || open.is_none() {
                if let Some(done) = open.take() {
                    self.end_message(done);
                }
                let id = self.push(Kind::Message, start, start, 0);
                messages.add(&mut self, id);
                let lone_header = (kind == BlockKind::Header).then_some(word);
                if lone_header.is_none() {
                    self.missing_header(word);
                }
                open = Some(Open { id, blocks: Siblings::NONE, lone_header });
            } else if let Some(message) = &mut open {
                message.lone_header = None;
            }
            let block = self.block(head, kind);
            if let Some(message) = &mut open {
                message.blocks.add(&mut self, block);
                self.close(message.id, message.blocks.first);
            }
        }
        if let Some(done) = open.take() {
            self.end_message(done);
        }
        self.nodes[0].first = messages.first;
        let tree = Tree { text: self.text, nodes: self.nodes };
        Parsed { tree, diagnostics: self.findings.into_list() }
    }

    fn byte_order_mark(&mut self) {
        const BOM: &str = "\u{feff}";
        if self.text.starts_with(BOM) {
            self.at = BOM.len();
            let span = self.since(0);
            self.report(
                Diagnostic::warning(codes::BYTE_ORDER_MARK, span, "a byte order mark")
                    .help("save the file as UTF-8 without a byte order mark")
                    .fix(Edit::delete(span)),
            );
        }
    }

    fn end_message(&mut self, message: Open) {
        self.data(message.id).first = message.blocks.first;
        if let Some(header) = message.lone_header {
            self.report(
                Diagnostic::warning(codes::NO_BLOCKS, header, "a HEADER with no block after it")
                    .help("a message says something: add a REQ, an OBS or another block"),
            );
        }
    }

    #[cold]
    fn missing_header(&mut self, word: Span) {
        self.report(
            Diagnostic::error(codes::MISSING_HEADER, word, "missing HEADER")
                .help("start every message with HEADER:{f:SENDER,t:RECEIVER,s:NUMBER}"),
        );
    }

    /// The head of a block at `at`: a word, a colon, and a bracket; a word in capitals and a colon
    /// are enough where text cannot mean anything else.
    #[inline]
    pub(super) fn head(&self, at: usize) -> Option<Head> {
        let mut end = at;
        if !is(self.byte_at(end), LETTER) {
            return None;
        }
        while is(self.byte_at(end), KEY) {
            end += 1;
        }
        let mut body = self.after_space(end);
        if self.byte_at(body) != b':' {
            return None;
        }
        body = self.after_space(body + 1);
        let opens = matches!(self.byte_at(body), b'{' | b'[');
        let kind = || BlockKind::from_bytes(&self.bytes[at..end]);
        (opens || kind() != BlockKind::Unknown).then_some(Head { word: at, word_end: end, body })
    }

    /// What people and models write for the head of a block: its type in quotes, or another sign
    /// than a colon after it, or none.
    pub(super) fn odd_head(&self, at: usize) -> Option<Head> {
        let quote = self.byte_at(at);
        let quotes = usize::from(matches!(quote, b'"' | b'\''));
        let word = at + quotes;
        let mut end = word;
        while is(self.byte_at(end), KEY) {
            end += 1;
        }
        let kind = BlockKind::from_bytes(self.bytes.get(word..end)?);
        if kind == BlockKind::Unknown || quotes == 1 && self.byte_at(end) != quote {
            return None;
        }
        let sign = self.after_space(end + quotes);
        let body = match self.byte_at(sign) {
            b':' | b'=' => self.after_space(sign + 1),
            _ => sign,
        };
        let opens = matches!(self.byte_at(body), b'{' | b'[');
        opens.then_some(Head { word, word_end: end, body })
    }

    #[cold]
    fn odd_type(&mut self, found: usize, head: Head) {
        let word = &self.text[head.word..head.word_end];
        let message = match self.byte_at(found) {
            b'"' | b'\'' => format!("the type {word} stands in quotes"),
            _ => format!("the type {word} is not followed by a colon"),
        };
        let fix = format!("{word}:");
        let span = Span::new(found as u32, head.body as u32);
        self.report(
            Diagnostic::error(codes::TYPE_FORM, span, message)
                .help(format!("write {fix}"))
                .fix(Edit::replace(span, fix)),
        );
    }

    /// Whether a block surely starts at `at`, although brackets are open: its type is one of ours
    /// or an extension, and a bracket follows.
    #[inline]
    pub(super) fn at_sure_head(&self, at: usize) -> bool {
        is(self.byte_at(at), LETTER)
            && self.head(at).is_some_and(|head| {
                matches!(self.byte_at(head.body), b'{' | b'[')
                    && BlockKind::from_bytes(&self.bytes[at..head.word_end]) != BlockKind::Unknown
            })
    }

    #[inline(always)]
    fn after_space(&self, mut at: usize) -> usize {
        while is(self.byte_at(at), SPACE) {
            at += 1;
        }
        at
    }

    fn block(&mut self, head: Head, kind: BlockKind) -> NodeId {
        let start = head.word;
        let word = &self.bytes[start..head.word_end];
        if word.iter().any(u8::is_ascii_lowercase) {
            self.lower_case_type(Span::new(start as u32, head.word_end as u32));
        }
        self.at = head.body;
        let id = self.push(Kind::Block, start, head.word_end, kind as u8);
        let is_plain = matches!(kind, BlockKind::Extension | BlockKind::Unknown);
        self.verbatim = is_plain;
        let body = match self.byte() {
            b'{' => self.object(b'}', Kind::Object),
            b'[' => self.array(kind == BlockKind::Plan),
            _ => self.no_body(head, kind),
        };
        self.verbatim = false;
        self.close(id, body);
        id
    }

    #[cold]
    fn lower_case_type(&mut self, word: Span) {
        let upper = self.text[word.range()].to_ascii_uppercase();
        let message = format!("the type of a block is written in capitals: `{upper}`");
        self.report(
            Diagnostic::error(codes::LOWER_CASE_TYPE, word, message)
                .help(format!("write {upper}"))
                .fix(Edit::replace(word, upper)),
        );
    }

    /// `REQ:` with neither brace nor bracket after it. What stands on its line is its body; what
    /// stands on the next is not.
    #[cold]
    fn no_body(&mut self, head: Head, kind: BlockKind) -> NodeId {
        let start = head.word;
        let between = &self.text[head.word_end..head.body];
        let body = if between.contains('\n') || self.at_end() || self.at_sure_head(self.at) {
            self.at = head.word_end + between.find(':').map_or(0, |colon| colon + 1);
            self.at
        } else {
            self.skip_to_block();
            head.body
        };
        let word = &self.text[start..head.word_end];
        let span = match body == self.at {
            true => Span::new(start as u32, head.word_end as u32),
            false => self.since(body),
        };
        let needed = match kind {
            BlockKind::Plan => "brackets",
            BlockKind::Extension | BlockKind::Unknown => "braces or brackets",
            _ => "braces",
        };
        let example = match kind {
            BlockKind::Plan => "[(i:1,t:\"...\",s:P),...]",
            _ => "{key:value,...}",
        };
        let message = format!("{word} needs {needed} after its colon");
        self.report(
            Diagnostic::error(codes::BLOCK_SHAPE, span, message)
                .help(format!("write {word}:{example}")),
        );
        self.leaf(Kind::Error, body, 0)
    }

    /// Text that starts no block: prose, code fences, stray brackets and commas.
    #[cold]
    fn outside(&mut self) -> NodeId {
        let start = self.at;
        let (code, message) = match self.byte() {
            b',' | b';' => (codes::EXTRA_COMMA, "nothing stands between blocks"),
            b'}' | b']' | b')' => (codes::UNMATCHED_BRACKET, "this bracket closes nothing"),
            b'{' | b'[' | b'(' => {
                (codes::TEXT_OUTSIDE_BLOCK, "blocks stand one after the other, not in brackets")
            }
            _ => (codes::TEXT_OUTSIDE_BLOCK, "this is not part of a block"),
        };
        match self.byte() {
            b',' | b';' | b'}' | b']' | b')' | b'{' | b'[' | b'(' => self.at += 1,
            _ => self.skip_to_block(),
        }
        let span = self.since(start);
        let mut found = Diagnostic::error(code, span, message);
        // Who takes out prose loses nothing; what looks like fields is worth a second look.
        found = if span.len() > 1 && self.text[span.range()].contains(['{', '[', ':']) {
            found.help("write a block as TYPE:{key:value,...}, such as REQ:{o:\"...\",pr:2}")
        } else {
            found.help("take it out, or put it into a field of a block").fix(Edit::delete(span))
        };
        self.report(found);
        self.leaf(Kind::Error, start, 0)
    }
}
