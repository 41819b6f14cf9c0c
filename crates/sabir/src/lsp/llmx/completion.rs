//! What could stand at the cursor of an LLMX text. The place is told from the characters before the
//! cursor, because a block that is being typed is not closed yet; what is already there, from the
//! tree.

use std::collections::BTreeSet;

use sabir_base::Span;
use sabir_llmx::{
    BlockInfo, BlockKind, FieldInfo, FieldKind, Kind, Node, Presence, Shape, Tree, is_word, quote,
};

use crate::lsp::completion::item;
use crate::lsp::navigation::touches;
use crate::lsp::server::View;
use crate::lsp::types::{CompletionItem, Markdown, SNIPPET, item_kind};

use super::{hover, navigation};

/// What makes an editor ask.
pub(in crate::lsp) const TRIGGERS: &[&str] = &["{", "(", ",", ":"];

/// What fits at the cursor, and which bytes it would replace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// A block may start.
    Type(Span),
    Key(BlockKind, Span),
    /// The value of the field whose key stands at the first span.
    Value(BlockKind, Span, Span),
}

pub(in crate::lsp) fn complete(view: &View<'_>, offset: u32) -> Vec<CompletionItem> {
    match place(view.text, offset) {
        Some(Place::Type(span)) => types(view, span),
        Some(Place::Key(kind, span)) => match kind.info() {
            Some(info) => keys(view, info, span),
            None => Vec::new(),
        },
        Some(Place::Value(kind, key, span)) => {
            let key = view.text[key.range()].trim_matches('"');
            match kind.info().and_then(|info| Some((info, info.field(key)?))) {
                Some((info, field)) => values(view, info, field, span),
                None => Vec::new(),
            }
        }
        None => Vec::new(),
    }
}

fn place(text: &str, offset: u32) -> Option<Place> {
    let mut scan = Scan { text, at: 0, open: Vec::new(), block: None, before: Before::Start };
    let offset = offset as usize;
    while scan.at < offset {
        let start = scan.at;
        match text.as_bytes()[start] {
            b'\n' => {
                scan.at += 1;
                scan.end_line();
            }
            b' ' | b'\t' | b'\r' => scan.at += 1,
            b'"' => {
                scan.skip_string();
                if scan.at >= offset {
                    // In the string, or right behind it, where nothing but a delimiter fits.
                    return None;
                }
            }
            byte if is_word_byte(byte) => {
                let word = scan.read_word();
                if scan.at >= offset {
                    return scan.place(word);
                }
                scan.before = Before::Word(word);
            }
            _ => scan.read_sign(),
        }
    }
    scan.place(Span::at(offset as u32))
}

/// How far the text before the cursor has been read.
struct Scan<'t> {
    text: &'t str,
    at: usize,
    /// The brackets that are open, outermost first.
    open: Vec<u8>,
    /// The block that the outermost of them belongs to.
    block: Option<BlockKind>,
    before: Before,
}

/// What stands before the cursor, white space aside.
#[derive(Clone, Copy)]
enum Before {
    /// The start of the text, of a line outside of brackets, or the end of a block.
    Start,
    /// An opening bracket or a comma.
    Gap,
    Word(Span),
    /// The colon behind a word.
    Colon(Span),
    Other,
}

impl Scan<'_> {
    fn place(&self, span: Span) -> Option<Place> {
        match (self.open.as_slice(), self.before) {
            ([], Before::Start) => Some(Place::Type(span)),
            ([], _) => None,
            (open, before) => {
                let block = self.block?;
                let holds_fields = match block.info()?.shape {
                    Shape::Object => open == b"{",
                    Shape::Steps => matches!(open, [b'[', b'(' | b'{']),
                };
                match before {
                    Before::Gap if holds_fields => Some(Place::Key(block, span)),
                    Before::Colon(key) if holds_fields => Some(Place::Value(block, key, span)),
                    _ => None,
                }
            }
        }
    }

    /// A block that starts a line starts, whatever was left open before it.
    fn end_line(&mut self) {
        if self.open.is_empty() || starts_block(&self.text.as_bytes()[self.at..]) {
            self.open.clear();
            self.before = Before::Start;
        }
    }

    /// Past the closing quote, or to the line that starts the next block.
    fn skip_string(&mut self) {
        let start = self.at;
        self.at += 1;
        let bytes = self.text.as_bytes();
        while let Some(&byte) = bytes.get(self.at) {
            match byte {
                b'"' => {
                    self.at += 1;
                    break;
                }
                b'\n' if starts_block(&bytes[self.at + 1..]) => break,
                // What is escaped is no quote; the first byte of a character never looks like one.
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        self.at = self.at.min(bytes.len());
        self.before = Before::Word(Span::new(start as u32, self.at as u32));
    }

    fn read_word(&mut self) -> Span {
        let start = self.at;
        let rest = &self.text.as_bytes()[start..];
        self.at += rest.iter().take_while(|&&byte| is_word_byte(byte)).count();
        Span::new(start as u32, self.at as u32)
    }

    fn read_sign(&mut self) {
        let sign = self.text.as_bytes()[self.at];
        self.at += 1;
        self.before = match (sign, self.before) {
            (b'{' | b'[' | b'(', before) => {
                if self.open.is_empty() {
                    self.block = match before {
                        Before::Colon(word) => {
                            let word = self.text[word.range()].to_ascii_uppercase();
                            Some(BlockKind::from_word(&word))
                        }
                        _ => None,
                    };
                }
                self.open.push(sign);
                Before::Gap
            }
            (b'}' | b']' | b')', _) => {
                self.open.pop();
                if self.open.is_empty() { Before::Start } else { Before::Other }
            }
            (b',', _) => Before::Gap,
            (b':', Before::Word(word)) => Before::Colon(word),
            _ => Before::Other,
        };
    }
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// Whether a type that we know stands here, with its colon and bracket.
fn starts_block(bytes: &[u8]) -> bool {
    let length = bytes.iter().take_while(|&&byte| is_word_byte(byte)).count();
    let (word, rest) = bytes.split_at(length);
    let opens = matches!(rest, [b':', b'{' | b'[', ..]);
    opens
        && std::str::from_utf8(word)
            .is_ok_and(|word| BlockKind::from_word(word) != BlockKind::Unknown)
}

fn types(view: &View<'_>, span: Span) -> Vec<CompletionItem> {
    let infos = BlockKind::STANDARD.into_iter().filter_map(BlockKind::info);
    let items = infos.enumerate().map(|(order, info)| {
        // In front of a body that is there already, the word is all that is missing.
        let snippet = view.client.snippets && !view.text[span.end as usize..].starts_with(':');
        let text = if snippet { block_snippet(info) } else { info.word.to_owned() };
        let mut item = item(view, span, info.word, item_kind::KEYWORD, text);
        item.detail = Some(info.name.to_owned());
        item.documentation = Some(Markdown::new(hover::describe_block(info)));
        item.sort_text = Some(format!("{order:02}"));
        item.insert_text_format = snippet.then_some(SNIPPET);
        item
    });
    items.collect()
}

/// The block with the fields that it must have.
fn block_snippet(info: &BlockInfo) -> String {
    let required = info.fields.iter().filter(|field| field.presence != Presence::Optional);
    let fields: Vec<String> = required
        .enumerate()
        .map(|(index, field)| format!("{}:{}", field.key, value_snippet(index + 1, field)))
        .collect();
    let fields = fields.join(",");
    match info.shape {
        // A closing brace ends a placeholder, and nothing else here is special.
        Shape::Object => format!("{}:{{{fields}}}$0", info.word),
        Shape::Steps => format!("{}:[({fields})]$0", info.word),
    }
}

fn value_snippet(number: usize, field: &FieldInfo) -> String {
    let name = field.name;
    match field.kind {
        FieldKind::Name | FieldKind::Receiver => format!("${{{number}:{name}}}"),
        FieldKind::StepId => format!("${{{number}:1}}"),
        FieldKind::Text | FieldKind::Target => format!("\"${{{number}:{name}}}\""),
        FieldKind::Texts | FieldKind::Paths => format!("[\"${{{number}:{name}}}\"]"),
        FieldKind::Integer { min, .. } => format!("${{{number}:{}}}", min.max(1)),
        FieldKind::Bool => format!("${{{number}|true,false|}}"),
        FieldKind::Object => format!("{{${number}}}"),
        FieldKind::OneOf(words) | FieldKind::Operation(words) => {
            format!("${{{number}|{}|}}", words.join(","))
        }
    }
}

/// The keys that are not there yet.
fn keys(view: &View<'_>, info: &'static BlockInfo, span: Span) -> Vec<CompletionItem> {
    let parsed = sabir_llmx::parse(view.text);
    let there = keys_there(&parsed.tree, span);
    let colon = if view.text[span.end as usize..].starts_with(':') { "" } else { ":" };
    let missing = info.fields.iter().enumerate().filter(|(_, field)| !there.contains(field.key));
    let items = missing.map(|(order, field)| {
        let text = format!("{}{colon}", field.key);
        let mut item = item(view, span, field.key, item_kind::PROPERTY, text);
        item.detail = Some(field.name.to_owned());
        item.documentation = Some(Markdown::new(hover::describe_field(info, field)));
        item.sort_text = Some(format!("{order:02}"));
        item
    });
    items.collect()
}

/// The keys beside the one at the cursor.
fn keys_there(tree: &Tree<'_>, span: Span) -> BTreeSet<String> {
    let block = navigation::block_at(tree, span.start);
    let holder = block.and_then(|block| navigation::holder_at(block, span.start));
    let fields = holder.into_iter().flat_map(Node::fields);
    let others = fields.filter(|field| field.key_span() != span);
    others.map(|field| field.key().to_ascii_lowercase()).collect()
}

fn values(
    view: &View<'_>,
    block: &'static BlockInfo,
    field: &'static FieldInfo,
    span: Span,
) -> Vec<CompletionItem> {
    let parsed = sabir_llmx::parse(view.text);
    let (kind, words): (u32, Vec<String>) = match field.kind {
        FieldKind::OneOf(words) | FieldKind::Operation(words) => {
            (item_kind::ENUM_MEMBER, words.iter().map(|&word| word.to_owned()).collect())
        }
        FieldKind::Bool => (item_kind::VALUE, ["true", "false"].map(str::to_owned).into()),
        FieldKind::Name | FieldKind::Receiver => {
            let mut names = names(&parsed.tree, block.kind, field.key, span);
            if field.kind == FieldKind::Receiver {
                names.insert("ALL".to_owned());
            }
            (item_kind::CLASS, names.into_iter().collect())
        }
        FieldKind::StepId
        | FieldKind::Text
        | FieldKind::Target
        | FieldKind::Texts
        | FieldKind::Paths
        | FieldKind::Integer { .. }
        | FieldKind::Object => return Vec::new(),
    };
    let items = words.into_iter().enumerate().map(|(order, word)| {
        let mut item = item(view, span, &word, kind, word.clone());
        item.detail = Some(field.name.to_owned());
        item.documentation = Some(Markdown::new(hover::describe_field(block, field)));
        item.sort_text = Some(format!("{order:04}"));
        item
    });
    items.collect()
}

/// Names that stand elsewhere in the text in fields that name the same kind of thing.
fn names(tree: &Tree<'_>, block: BlockKind, key: &str, span: Span) -> BTreeSet<String> {
    let sources: &[(BlockKind, &str)] = match (block, key) {
        (BlockKind::Header, "f" | "t") => &[(BlockKind::Header, "f"), (BlockKind::Header, "t")],
        (BlockKind::Header, _) => &[(BlockKind::Header, "b")],
        (BlockKind::Ctx, _) => &[(BlockKind::Ctx, "p")],
        // An observation names an action; an action's own id is new.
        (BlockKind::Obs, _) => &[(BlockKind::Act, "i")],
        _ => &[],
    };
    let mut found = BTreeSet::new();
    for block in navigation::blocks(tree) {
        let keys = sources.iter().filter(|(kind, _)| *kind == block.kind()).map(|(_, key)| key);
        for value in keys.filter_map(|key| block.get(key)) {
            let listed = (value.kind() == Kind::Array).then(|| value.children());
            let nodes = std::iter::once(value).chain(listed.into_iter().flatten());
            let others = nodes.filter(|node| !touches(node.span(), span.start));
            let texts = others.filter_map(Node::as_text).filter(|text| !text.is_empty());
            found.extend(texts.map(|text| match is_word(&text) {
                true => text.into_owned(),
                false => quote(&text),
            }));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `|` in `text` is the cursor; `expected` names the place and what would be replaced.
    fn check(text: &str, expected: &str) {
        let offset = text.find('|').unwrap();
        let text = text.replacen('|', "", 1);
        let found = match place(&text, offset as u32) {
            None => "nothing".to_owned(),
            Some(Place::Type(span)) => format!("type {:?}", &text[span.range()]),
            Some(Place::Key(kind, span)) => format!("{kind:?} key {:?}", &text[span.range()]),
            Some(Place::Value(kind, key, span)) => {
                format!("{kind:?} {} {:?}", &text[key.range()], &text[span.range()])
            }
        };
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn the_place_is_told_from_what_stands_before() {
        check("|", "type \"\"");
        check("HE|AD", "type \"HEAD\"");
        check("HEADER:{f:a}\n|", "type \"\"");
        check("HEADER:{f:a} R|", "type \"R\"");
        check("some prose\n|", "type \"\"");
        check("some |", "nothing");
        check("REQ|:{}", "type \"REQ\"");
        check("REQ:|", "nothing");
        check("REQ:{|", "Req key \"\"");
        check("req:{ p|r:1}", "Req key \"pr\"");
        check("REQ:{o:\"a{\\\"b\",|", "Req key \"\"");
        check("REQ:{o:\"a |\"}", "nothing");
        check("REQ:{o:\"a\"|}", "nothing");
        check("REQ:{o|", "Req key \"o\"");
        check("REQ:{pr:|", "Req pr \"\"");
        check("ACT:{\"op\":r|ead}", "Act \"op\" \"read\"");
        check("ACT:{op:read,args:{|", "nothing");
        check("ACT:{args:{a:[1,(2)]},|}", "Act key \"\"");
        check("PLAN:[|", "nothing");
        check("PLAN:[(|", "Plan key \"\"");
        check("PLAN:[(i:1),{s:|}]", "Plan s \"\"");
        check("X_A:{|", "nothing");
        check("HEADER:{f:a,\nREQ:{|", "Req key \"\"");
        check("REQ:{o:\"never closed\nACT:{|", "Act key \"\"");
        check("REQ:{o:\"é𝄞\",|", "Req key \"\"");
        check("REQ:{o:\"\\|", "nothing");
        check("}}}|", "type \"\"");
    }
}
