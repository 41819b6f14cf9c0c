//! JSON to LLMX.
//!
//! The decoder writes LLMX as plainly as it can and hands it to the parser and the printer, so there
//! is one place that knows how the strict form is written.

use sabir_base::json::{Json, JsonError, JsonKind, JsonValue};

use super::lexeme::{Within, is_any_key, is_run};
use super::{VERSION, form};
use crate::block::BlockKind;
use crate::strings::{is_word, quote_into};
use crate::view::is_extension;
use crate::{MAX_DEPTH, parse, print};

/// Reads a document, a list of messages or one message, and gives LLMX in the strict form.
///
/// What a block needs is not asked here: `check` the text that comes back.
pub fn decode(json: &str) -> Result<String, JsonError> {
    let json = Json::read(json, MAX_JSON_DEPTH)?;
    let mut writer = Writer { out: String::new(), depth: 0 };
    writer.document(json.top())?;
    let parsed = parse(&writer.out);
    // The laws say that this finds nothing. A peer must not get wrong LLMX if they do not hold.
    match parsed.diagnostics.iter().find(|found| found.is_error()) {
        Some(found) => Err(JsonError::new(found.message.clone())),
        None => Ok(print(&parsed.tree)),
    }
}

/// A document of LLMX's own greatest depth stays below: two levels of JSON for each of its levels
/// (a tuple is an object in an object), a word in the innermost, and the document around it.
const MAX_JSON_DEPTH: usize = 2 * MAX_DEPTH as usize + 8;

type Written = Result<(), JsonError>;

struct Writer {
    out: String,
    depth: u8,
}

/// How what stands in a block is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Text is a string, and `null` is as good as absent.
    Strict,
    /// In an extension, which is kept as it is.
    Verbatim,
}

impl Writer {
    fn document(&mut self, value: JsonValue<'_>) -> Written {
        match value.kind() {
            JsonKind::Array => value.children().try_for_each(|message| self.message(message)),
            JsonKind::Object if value.get("llmx").is_some() || value.get("messages").is_some() => {
                value.only_keys(&["llmx", "messages"])?;
                let version = value.required("llmx", "a document")?;
                if version.text() != VERSION.to_string() {
                    return Err(version
                        .error(format!("this version of the encoding is {VERSION}"))
                        .help(format!("write \"llmx\":{VERSION}")));
                }
                let list = value.required("messages", "a document")?;
                list.expect_kind(JsonKind::Array)?;
                list.children().try_for_each(|message| self.message(message))
            }
            JsonKind::Object => self.message(value),
            kind => Err(value
                .error(format!("expected a document, found {}", kind.name()))
                .help("write {\"llmx\":1,\"messages\":[...]}, a list of messages or one message")),
        }
    }

    fn message(&mut self, value: JsonValue<'_>) -> Written {
        value.expect_kind(JsonKind::Object)?;
        value.only_keys(&["header", "blocks"])?;
        let header = value.required("header", "a message").map_err(|error| {
            error.help("write \"header\":{\"f\":SENDER,\"t\":RECEIVER,\"s\":1}")
        })?;
        self.block("HEADER", BlockKind::Header, header)?;
        let Some(blocks) = value.get("blocks") else { return Ok(()) };
        blocks.expect_kind(JsonKind::Array)?;
        blocks.children().try_for_each(|block| self.tagged_block(block))
    }

    /// `{"REQ":{...}}`, or `{"type":"REQ",...}` as many models write it.
    fn tagged_block(&mut self, value: JsonValue<'_>) -> Written {
        value.expect_kind(JsonKind::Object)?;
        if let Some(tag) = value.get(TYPE) {
            let word = tag.string()?;
            let kind = block_kind(&word, tag)?;
            if kind == BlockKind::Plan {
                return Err(tag
                    .error("the steps of a PLAN are a list, which has no keys")
                    .help("write {\"PLAN\":[{\"i\":1,\"t\":TASK,\"s\":\"P\"}]}"));
            }
            self.open(&word);
            self.object(value, Bracket::Brace, mode(kind), Some(TYPE))?;
            self.out.push('\n');
            return Ok(());
        }
        let mut fields = value.fields();
        match (fields.next(), fields.next()) {
            (Some((word, body)), None) => {
                let kind = block_kind(word, body)?;
                self.block(word, kind, body)
            }
            (None, _) => Err(value.error("a block has no type").help(BLOCKS)),
            (Some(_), Some((word, second))) => {
                Err(second.error(format!("{word:?} is a second type of one block")).help(BLOCKS))
            }
        }
    }

    fn open(&mut self, word: &str) {
        self.out.push_str(word);
        self.out.push(':');
    }

    fn block(&mut self, word: &str, kind: BlockKind, body: JsonValue<'_>) -> Written {
        self.open(word);
        match body.kind() {
            JsonKind::Object => self.object(body, Bracket::Brace, mode(kind), None)?,
            JsonKind::Array => self.array(body, mode(kind))?,
            found => {
                return Err(body
                    .error(format!("expected the fields of {word}, found {}", found.name()))
                    .help("a block holds an object, and a PLAN an array of objects"));
            }
        }
        self.out.push('\n');
        Ok(())
    }

    fn enter(&mut self, value: JsonValue<'_>) -> Written {
        if self.depth == MAX_DEPTH {
            return Err(value.error(format!("brackets go deeper than {MAX_DEPTH} levels")));
        }
        self.depth += 1;
        Ok(())
    }

    /// The fields of an object, but for the one that is named `left_out`.
    fn object(
        &mut self,
        value: JsonValue<'_>,
        bracket: Bracket,
        mode: Mode,
        left_out: Option<&str>,
    ) -> Written {
        value.expect_kind(JsonKind::Object)?;
        self.enter(value)?;
        if mode == Mode::Strict {
            refuse_duplicates(value)?;
        }
        let (open, close, within) = match bracket {
            Bracket::Brace => ('{', '}', Within::Object),
            Bracket::Parenthesis => ('(', ')', Within::Tuple),
        };
        self.out.push(open);
        let fields = value.fields().filter(|(key, _)| Some(*key) != left_out);
        for (index, (key, field)) in fields.enumerate() {
            if index > 0 {
                self.out.push(',');
            }
            check_key(key, field, mode)?;
            self.open(key);
            let mode = if is_extension(key) { Mode::Verbatim } else { mode };
            self.value(field, mode, within)?;
        }
        self.out.push(close);
        self.depth -= 1;
        Ok(())
    }

    fn array(&mut self, value: JsonValue<'_>, mode: Mode) -> Written {
        self.enter(value)?;
        self.out.push('[');
        for (index, item) in value.children().enumerate() {
            if index > 0 {
                self.out.push(',');
            }
            self.value(item, mode, Within::Array)?;
        }
        self.out.push(']');
        self.depth -= 1;
        Ok(())
    }

    fn value(&mut self, value: JsonValue<'_>, mode: Mode, within: Within) -> Written {
        match value.kind() {
            JsonKind::Null | JsonKind::True | JsonKind::False | JsonKind::Number => {
                // The lexeme is LLMX's as well. The printer drops `null` where it has to.
                self.out.push_str(value.text());
                Ok(())
            }
            JsonKind::String => {
                quote_into(&mut self.out, &value.string()?);
                Ok(())
            }
            JsonKind::Array => self.array(value, mode),
            JsonKind::Object => {
                let mut fields = value.fields();
                match (mode, fields.next(), fields.next()) {
                    (Mode::Verbatim, Some((form::WORD, word)), None) => self.word(word),
                    (Mode::Verbatim, Some((form::RUN, run)), None) => self.run(run, within),
                    (Mode::Verbatim, Some((form::TUPLE, tuple)), None) => {
                        self.object(tuple, Bracket::Parenthesis, mode, None)
                    }
                    _ => self.object(value, Bracket::Brace, mode, None),
                }
            }
        }
    }

    fn word(&mut self, value: JsonValue<'_>) -> Written {
        let word = value.string()?;
        if !is_word(&word) {
            return Err(value
                .error(format!("{:?} is not a word", &*word))
                .help("write the text itself as a string"));
        }
        self.out.push_str(&word);
        Ok(())
    }

    fn run(&mut self, value: JsonValue<'_>, within: Within) -> Written {
        let run = value.string()?;
        if !is_run(&run, within) {
            return Err(value
                .error(format!("{:?} cannot stand without quotes here", &*run))
                .help("write the text itself as a string"));
        }
        self.out.push_str(&run);
        Ok(())
    }
}

#[derive(Clone, Copy)]
enum Bracket {
    Brace,
    Parenthesis,
}

/// The key that names the type of a block in the other way of writing one.
const TYPE: &str = "type";

const BLOCKS: &str = "write {\"REQ\":{...}}, with one type for each block";

fn mode(kind: BlockKind) -> Mode {
    match kind {
        BlockKind::Extension | BlockKind::Unknown => Mode::Verbatim,
        _ => Mode::Strict,
    }
}

/// The kind of the block that `word` names; `value` is what an error points at.
fn block_kind(word: &str, value: JsonValue<'_>) -> Result<BlockKind, JsonError> {
    let upper = word.to_ascii_uppercase();
    if !is_any_key(word) || !word.starts_with(|first: char| first.is_ascii_alphabetic()) {
        return Err(value
            .error(format!("{word:?} is not a type of block"))
            .help("a type is capital letters, digits and `_`: REQ, OBS, X_MINE"));
    }
    if upper != word {
        return Err(value
            .error(format!("{word:?} is not a type of block"))
            .help(format!("write {upper:?}: types are written in capitals")));
    }
    match BlockKind::from_word(word) {
        BlockKind::Header => Err(value
            .error("a HEADER starts a message, and is none of its blocks")
            .help("write it under \"header\"; the next HEADER starts the next message")),
        kind => Ok(kind),
    }
}

fn check_key(key: &str, value: JsonValue<'_>, mode: Mode) -> Written {
    if is_any_key(key) {
        return Ok(());
    }
    let error = value.error(format!("{key:?} is not a key"));
    Err(match (key.starts_with('$'), mode) {
        (true, Mode::Strict) => {
            error.help("forms with `$` belong to extensions; write the text itself as a string")
        }
        (true, Mode::Verbatim) => error.help(format!(
            "an object with one of {}, {} or {} has no other key",
            form::WORD,
            form::RUN,
            form::TUPLE
        )),
        (false, _) => error.help("a key is letters, digits and `_`"),
    })
}

/// Keys that are written in capitals are those in lower case. What stands twice as it is written
/// was refused when the text was read.
fn refuse_duplicates(value: JsonValue<'_>) -> Written {
    let has_capitals = |key: &str| key.bytes().any(|byte| byte.is_ascii_uppercase());
    if !value.fields().any(|(key, _)| has_capitals(key)) {
        return Ok(());
    }
    let mut keys: Vec<(String, usize, JsonValue<'_>)> = value
        .fields()
        .enumerate()
        .map(|(index, (key, field))| (key.to_ascii_lowercase(), index, field))
        .collect();
    keys.sort_unstable_by(|(a, a_at, _), (b, b_at, _)| (a, a_at).cmp(&(b, b_at)));
    match keys.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        Some([_, (key, _, again)]) => Err(again
            .error(format!("the key {key:?} stands twice, in capitals and not"))
            .help("give every key once")),
        _ => Ok(()),
    }
}
