//! What the tree's shape does not show: whether blocks have the fields that they need, and whether
//! values are what their fields hold.
//!
//! One walk over a finished tree, driven by the table of blocks. A value that could not be read
//! counts as there: the parser has spoken about it. Nothing outside the document is asked.

mod fields;
mod obs;
mod plan;
mod value;
mod words;

use sabir_base::{Diagnostic, Edit, Findings, Span};

use crate::block::{BlockInfo, BlockKind, Shape};
use crate::codes;
use crate::conversation::check_conversation;
use crate::parser::{Parsed, parse};
use crate::path;
use crate::tree::{Kind, Tree};
use crate::view::{Block, Node};

use fields::Seen;

/// Reads a document and validates it: its messages, and the conversation that they are. What is
/// found comes in the order of the text.
pub fn check(text: &str) -> Parsed<'_> {
    let mut parsed = check_messages(text);
    let found = check_conversation(&parsed.tree);
    if !found.is_empty() {
        parsed.diagnostics.extend(found);
        parsed.diagnostics.sort_by_key(|found| found.span.start);
    }
    parsed
}

/// As `check`, but each message is taken by itself.
pub fn check_messages(text: &str) -> Parsed<'_> {
    let mut parsed = parse(text);
    let swallowed = match parsed.diagnostics.is_empty() {
        true => Vec::new(),
        false => swallowing(&parsed.diagnostics),
    };
    let found =
        Validator { findings: Findings::new(codes::TOO_MANY_ERRORS), swallowed }.run(&parsed.tree);
    parsed.diagnostics.extend(found);
    parsed.diagnostics.sort_by_key(|found| found.span.start);
    parsed
}

/// Everything beyond syntax that is wrong with single messages, in the order of the text. The tree may
/// come from a text with syntax errors: what was read is checked.
pub fn validate(tree: &Tree<'_>) -> Vec<Diagnostic> {
    Validator { findings: Findings::new(codes::TOO_MANY_ERRORS), swallowed: Vec::new() }.run(tree)
}

struct Validator {
    findings: Findings,
    /// Where the parser may have lost fields, in the order of the text.
    swallowed: Vec<u32>,
}

impl Validator {
    fn run(mut self, tree: &Tree<'_>) -> Vec<Diagnostic> {
        for message in tree.messages() {
            message.all_blocks().for_each(|block| self.block(block));
        }
        let mut list = self.findings.into_list();
        list.sort_by_key(|found| found.span.start);
        list
    }

    fn block(&mut self, block: Block<'_>) {
        path::check_block(block, |found| self.findings.push(found));
        let Some(info) = block.kind().info() else {
            if block.kind() == BlockKind::Unknown {
                self.unknown_type(block);
            }
            return;
        };
        match (info.shape, block.body.kind()) {
            (Shape::Object, Kind::Object) => {
                let seen = self.fields(info, block.body, block.word_span());
                self.together(block, &seen);
            }
            (Shape::Steps, Kind::Array) => self.plan(block, info),
            // The parser has said that there is no body.
            (_, Kind::Error) => {}
            _ => self.wrong_shape(block, info),
        }
    }

    /// What the fields of a block say together. Each of them has been looked at for itself.
    #[inline]
    fn together(&mut self, block: Block<'_>, seen: &Seen<'_>) {
        match block.kind() {
            BlockKind::Obs => self.observation(block, seen),
            BlockKind::Ask => self.question(seen),
            // Here the paths in `CTX.f`, `ACT.tgt` (unless `op` is `shell` or `spawn`) and
            // `END.del` belong.
            _ => {}
        }
    }

    #[cold]
    fn unknown_type(&mut self, block: Block<'_>) {
        self.findings.warning(|| {
            let word = block.word().to_ascii_uppercase();
            let message = format!("unknown message type: {word} ignored");
            let help = match words::near_type(&word) {
                Some(near) => format!("did you mean {near}? A type of your own is X_{word}"),
                None => format!("a type of your own is written X_{word}"),
            };
            Diagnostic::warning(codes::UNKNOWN_TYPE, block.word_span(), message).help(help)
        });
    }

    #[cold]
    fn wrong_shape(&mut self, block: Block<'_>, info: &BlockInfo) {
        self.findings.error(|| {
            let (word, body) = (info.word, block.body);
            let needed = match info.shape {
                Shape::Object => format!("{word}:{{key:value,...}}"),
                Shape::Steps => format!("{word}:[(i:1,t:\"...\",s:P),...]"),
            };
            let found = match body.kind() {
                Kind::Array => "brackets",
                _ => "braces",
            };
            let message = format!("{word} is not written in {found}: it needs {needed}");
            let start = body.span().start;
            let opening = Span::new(start, start + 1);
            let mut diagnostic = Diagnostic::error(codes::BLOCK_SHAPE, opening, message)
                .help(format!("write {needed}"));
            for edit in reshape(info.shape, body) {
                diagnostic = diagnostic.fix(edit);
            }
            diagnostic
        });
    }

    /// Whether the parser may have lost fields in this part of the text.
    fn lost_fields(&self, span: Span) -> bool {
        let first = self.swallowed.partition_point(|&at| at < span.start);
        self.swallowed.get(first).is_some_and(|&at| at < span.end)
    }
}

/// The edits that give a block its shape, where they are obvious: one step alone gets its brackets,
/// and one object loses them.
fn reshape(shape: Shape, body: Node<'_>) -> Vec<Edit> {
    let span = body.span();
    match (shape, body.kind()) {
        (Shape::Steps, Kind::Object) => {
            vec![Edit::insert(span.start, "["), Edit::insert(span.end, "]")]
        }
        (Shape::Object, Kind::Array) => {
            let mut items = body.children();
            match (items.next(), items.next()) {
                (Some(only), None) if only.kind() == Kind::Object => {
                    let only = only.span();
                    vec![
                        Edit::delete(Span::new(span.start, only.start)),
                        Edit::delete(Span::new(only.end, span.end)),
                    ]
                }
                _ => Vec::new(),
            }
        }
        _ => Vec::new(),
    }
}

/// The places of the errors behind which fields may have been lost: to report those as missing
/// would be to report one mistake twice.
#[cold]
fn swallowing(diagnostics: &[Diagnostic]) -> Vec<u32> {
    const SWALLOWING: [sabir_base::Code; 8] = [
        codes::UNTERMINATED_STRING,
        codes::UNCLOSED_BRACKET,
        codes::UNMATCHED_BRACKET,
        codes::UNEXPECTED_TEXT,
        codes::MISSING_KEY,
        codes::BAD_KEY,
        codes::TOO_DEEP,
        codes::WRONG_QUOTES,
    ];
    let swallowing = diagnostics.iter().filter(|found| SWALLOWING.contains(&found.code));
    let mut places: Vec<u32> = swallowing.map(|found| found.span.start).collect();
    places.sort_unstable();
    places
}
