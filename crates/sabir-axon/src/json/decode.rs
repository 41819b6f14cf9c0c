//! JSON to AXON.
//!
//! The decoder builds the tree that a parser would have read and hands it to the printer, so there
//! is one place that knows how AXON is written.

use sabir_base::json::{Json, JsonError, JsonKind, JsonValue};

use super::{MAX_APPROX, VERSION};
use crate::lexer::{is_extension, is_identifier};
use crate::print::print_built;
use crate::strings::quote_into;
use crate::token::STRING_ESCAPES;
use crate::tree::{EXTENSION, Kind, NodeData, NodeId, Tree};
use crate::unit::Unit;
use crate::view::{Comparison, is_bare_key};
use crate::{MAX_DEPTH, Performative, parse};

/// Reads a document, a list of messages or one message, and gives AXON on the wire.
pub fn decode(json: &str) -> Result<String, JsonError> {
    let json = Json::read(json, MAX_JSON_DEPTH)?;
    let mut builder = Builder::new();
    builder.document(json.top())?;
    let too_deep = || JsonError::new(too_deep_message());
    let text = print_built(&builder.tree()).ok_or_else(too_deep)?;
    // The laws say that this finds nothing. A peer must not get wrong AXON if they do not hold.
    match parse(&text).diagnostics.into_iter().find(|found| found.is_error()) {
        Some(found) => Err(JsonError::new(found.message)),
        None => Ok(text),
    }
}

/// A document of AXON's own greatest depth stays below: sixteen levels of JSON for each of its
/// levels (six operators and `approx`, then a call with a named argument), and the document itself.
const MAX_JSON_DEPTH: usize = 16 * MAX_DEPTH as usize + 16;

const FORMS: &str = "an expression is a string, true, false, null, an array, or an object with one \
                     of: num, record, ref, var, name, tag, call, approx, op, performative";

type Built = Result<NodeId, JsonError>;

/// A tree in the making. Its text holds the lexemes one after the other.
struct Builder {
    text: String,
    nodes: Vec<NodeData>,
    depth: u8,
    /// How many `~` there may still be.
    approx_left: u32,
}

/// How keys are written.
#[derive(Clone, Copy)]
enum Keys {
    /// As they are: metadata and arguments, where the caller has looked at them.
    Bare,
    /// In quotes where they need them.
    Any,
}

/// Children while they are being built.
#[derive(Clone, Copy)]
struct Siblings {
    first: NodeId,
    last: NodeId,
}

impl Builder {
    fn new() -> Self {
        let mut builder =
            Self { text: String::new(), nodes: Vec::new(), depth: 0, approx_left: MAX_APPROX };
        builder.branch(Kind::Document, NodeId::NONE);
        builder
    }

    fn tree(&self) -> Tree<'_> {
        Tree { text: &self.text, nodes: self.nodes.clone() }
    }

    fn push(&mut self, kind: Kind, start: usize, extra: u8, first: NodeId) -> NodeId {
        let id = NodeId(self.nodes.len() as u32);
        let (start, end) = (start as u32, self.text.len() as u32);
        self.nodes.push(NodeData { start, end, mid: end, first, next: NodeId::NONE, kind, extra });
        id
    }

    /// A node that has no lexeme of its own.
    fn branch(&mut self, kind: Kind, first: NodeId) -> NodeId {
        self.push(kind, self.text.len(), 0, first)
    }

    fn leaf(&mut self, kind: Kind, sigil: &str, name: &str) -> NodeId {
        let start = self.text.len();
        self.text.push_str(sigil);
        self.text.push_str(name);
        self.push(kind, start, 0, NodeId::NONE)
    }

    fn add(&mut self, siblings: &mut Siblings, id: NodeId) {
        if siblings.last.is_some() {
            self.nodes[siblings.last.0 as usize].next = id;
        } else {
            siblings.first = id;
        }
        siblings.last = id;
    }

    fn set_children(&mut self, id: NodeId, siblings: Siblings) {
        self.nodes[id.0 as usize].first = siblings.first;
    }

    fn enter(&mut self, value: JsonValue<'_>) -> Result<(), JsonError> {
        if self.depth == MAX_DEPTH {
            return Err(value.error(too_deep_message()));
        }
        self.depth += 1;
        Ok(())
    }

    fn document(&mut self, value: JsonValue<'_>) -> Result<(), JsonError> {
        let mut messages = Siblings::NONE;
        let many = match value.kind() {
            JsonKind::Array => Some(value),
            JsonKind::Object if value.get("performative").is_some() => None,
            JsonKind::Object => {
                value.only_keys(&["axon", "messages"])?;
                let version = value.required("axon", "a document")?;
                if version.text() != VERSION.to_string() {
                    return Err(version
                        .error(format!("this version of the encoding is {VERSION}"))
                        .help(format!("write \"axon\":{VERSION}")));
                }
                let list = value.required("messages", "a document")?;
                list.expect_kind(JsonKind::Array)?;
                Some(list)
            }
            kind => {
                return Err(value
                    .error(format!("expected a document, found {}", kind.name()))
                    .help(
                        "write {\"axon\":1,\"messages\":[...]}, a list of messages or one message",
                    ));
            }
        };
        match many {
            Some(list) => {
                for message in list.children() {
                    let message = self.message(message, &MESSAGE)?;
                    self.add(&mut messages, message);
                }
            }
            None => {
                let message = self.message(value, &MESSAGE)?;
                self.add(&mut messages, message);
            }
        }
        self.set_children(NodeId::ROOT, messages);
        Ok(())
    }

    /// A message with the `keys` that it may have where it stands.
    fn message(&mut self, value: JsonValue<'_>, keys: &[&str]) -> Built {
        value.expect_kind(JsonKind::Object)?;
        value.only_keys(keys)?;
        let mut parts = Siblings::NONE;
        if let Some(meta) = value.get("meta") {
            let meta = self.meta(meta)?;
            self.add(&mut parts, meta);
        }
        let performative = self.performative(value.required("performative", "a message")?)?;
        self.add(&mut parts, performative);
        for side in ["from", "to"] {
            let endpoint = self.endpoint(value.required(side, "a message")?)?;
            self.add(&mut parts, endpoint);
        }
        let content = self.expr(value.required("content", "a message")?)?;
        self.add(&mut parts, content);
        Ok(self.branch(Kind::Message, parts.first))
    }

    fn meta(&mut self, value: JsonValue<'_>) -> Built {
        let is_key = |key: &str| is_bare_key(key) || key == "^" || key == "%%";
        value.expect_kind(JsonKind::Object)?;
        if let Some((key, wrong)) = value.fields().find(|(key, _)| !is_key(key)) {
            return Err(wrong
                .error(format!("{key:?} cannot be a key of metadata"))
                .help("keys of metadata are identifiers, `^` and `%%`"));
        }
        if value.children().next().is_none() {
            return Err(value.error("metadata is empty").help("leave `meta` out"));
        }
        let fields = self.fields(value, Keys::Bare)?;
        Ok(self.branch(Kind::Meta, fields))
    }

    fn performative(&mut self, value: JsonValue<'_>) -> Built {
        let word = value.string()?;
        let extra = match Performative::from_word(&word) {
            Some(performative) => performative as u8,
            None if is_extension(word.as_bytes()) && is_path(&word) => EXTENSION,
            None => {
                return Err(value
                    .error(format!("{:?} is not a performative", &*word))
                    .help("write INF, QRY, REQ or another core word, or X.domain.NAME"));
            }
        };
        let node = self.leaf(Kind::Performative, "", &word);
        self.nodes[node.0 as usize].extra = extra;
        Ok(node)
    }

    fn endpoint(&mut self, value: JsonValue<'_>) -> Built {
        match value.kind() {
            JsonKind::Array => {
                self.enter(value)?;
                let mut agents = Siblings::NONE;
                for agent in value.children() {
                    let agent = self.agent(agent)?;
                    self.add(&mut agents, agent);
                }
                self.depth -= 1;
                if !agents.first.is_some() {
                    return Err(value
                        .error("a list of agents is empty")
                        .help("name at least one agent, or write \"*\" for anyone"));
                }
                Ok(self.branch(Kind::Agents, agents.first))
            }
            JsonKind::String if value.text() == "\"*\"" => Ok(self.leaf(Kind::Anyone, "", "*")),
            JsonKind::String => self.agent(value),
            kind => Err(value
                .error(format!("expected an agent, found {}", kind.name()))
                .help("write \"@name\", \"*\" or [\"@a\",\"@b\"]")),
        }
    }

    fn agent(&mut self, value: JsonValue<'_>) -> Built {
        let text = value.string()?;
        let name = text.strip_prefix('@').unwrap_or(&text);
        if !is_sigil_name(name) {
            return Err(value
                .error(format!("{:?} is not an agent", &*text))
                .help("write \"@name\""));
        }
        Ok(self.leaf(Kind::Agent, "@", name))
    }

    /// The fields of a record or of metadata, linked; the first of them.
    fn fields(&mut self, value: JsonValue<'_>, keys: Keys) -> Built {
        value.expect_kind(JsonKind::Object)?;
        self.enter(value)?;
        let mut fields = Siblings::NONE;
        for (key, value) in value.fields() {
            let field = self.field(key, value, keys)?;
            self.add(&mut fields, field);
        }
        self.depth -= 1;
        Ok(fields.first)
    }

    fn field(&mut self, key: &str, value: JsonValue<'_>, keys: Keys) -> Built {
        let start = self.text.len();
        match keys {
            Keys::Any if !is_bare_key(key) => quote_into(&mut self.text, key),
            Keys::Any | Keys::Bare => self.text.push_str(key),
        }
        let field = self.push(Kind::Field, start, 0, NodeId::NONE);
        let value = self.expr(value)?;
        self.nodes[field.0 as usize].first = value;
        Ok(field)
    }

    fn expr(&mut self, value: JsonValue<'_>) -> Built {
        match value.kind() {
            JsonKind::Null => Ok(self.leaf(Kind::Null, "", "_")),
            JsonKind::True => Ok(self.leaf(Kind::True, "", "T")),
            JsonKind::False => Ok(self.leaf(Kind::False, "", "F")),
            JsonKind::Number => self.plain_number(value),
            JsonKind::String => self.string(value),
            JsonKind::Array => {
                let elements = self.list(value, Self::expr)?;
                Ok(self.branch(Kind::List, elements))
            }
            JsonKind::Object => self.object(value),
        }
    }

    /// The elements of an array, linked; the first of them.
    fn list(
        &mut self,
        value: JsonValue<'_>,
        element: fn(&mut Self, JsonValue<'_>) -> Built,
    ) -> Built {
        value.expect_kind(JsonKind::Array)?;
        self.enter(value)?;
        let mut elements = Siblings::NONE;
        for child in value.children() {
            let child = element(self, child)?;
            self.add(&mut elements, child);
        }
        self.depth -= 1;
        Ok(elements.first)
    }

    fn plain_number(&mut self, value: JsonValue<'_>) -> Built {
        if !is_number(value.text()) {
            return Err(value
                .error(format!("AXON has no exponents: {}", value.text()))
                .help("write {\"num\":\"...\"} with all digits"));
        }
        Ok(self.leaf(Kind::Number, "", value.text()))
    }

    fn string(&mut self, value: JsonValue<'_>) -> Built {
        let string = value.string()?;
        let start = self.text.len();
        quote_into(&mut self.text, &string);
        let escapes = self.text[start..].contains('\\');
        Ok(self.push(Kind::String, start, if escapes { STRING_ESCAPES } else { 0 }, NodeId::NONE))
    }

    /// An object is what its first known key says.
    fn object(&mut self, value: JsonValue<'_>) -> Built {
        let says = |key: &str| value.get(key);
        if says("performative").is_some() {
            self.enter(value)?;
            let message = self.message(value, &NESTED)?;
            self.depth -= 1;
            Ok(message)
        } else if let Some(op) = says("op") {
            self.operation(value, op)
        } else if let Some(name) = says("call") {
            self.call(value, name)
        } else if let Some(of) = says("approx") {
            self.approx(value, of)
        } else if let Some(digits) = says("num") {
            self.number(value, digits)
        } else if let Some(name) = says("tag") {
            self.tag(value, name)
        } else if let Some(fields) = says("record") {
            value.only_keys(&["record"])?;
            let fields = self.fields(fields, Keys::Any)?;
            Ok(self.branch(Kind::Record, fields))
        } else if let Some(name) = says("ref") {
            value.only_keys(&["ref"])?;
            self.named(Kind::Ref, "@", name)
        } else if let Some(name) = says("var") {
            value.only_keys(&["var"])?;
            self.named(Kind::Var, "$", name)
        } else if let Some(name) = says("name") {
            value.only_keys(&["name"])?;
            self.name(name)
        } else {
            let help = format!("{FORMS}; key-value pairs are written {{\"record\":{{...}}}}");
            Err(value.error("this object says nothing that AXON knows").help(help))
        }
    }

    fn named(&mut self, kind: Kind, sigil: &str, value: JsonValue<'_>) -> Built {
        let name = value.string()?;
        if !is_sigil_name(&name) {
            return Err(
                bad_name(value, &name).help(format!("leave out the `{sigil}`; {NAME_HELP}"))
            );
        }
        Ok(self.leaf(kind, sigil, &name))
    }

    fn name(&mut self, value: JsonValue<'_>) -> Built {
        let name = value.string()?;
        match &*name {
            "T" => Err(bad_name(value, "T").help("write true")),
            "F" => Err(bad_name(value, "F").help("write false")),
            "_" => Err(bad_name(value, "_").help("write null")),
            name if !is_path(name) => Err(bad_name(value, name).help(NAME_HELP)),
            name => Ok(self.leaf(Kind::Name, "", name)),
        }
    }

    fn tag(&mut self, value: JsonValue<'_>, name: JsonValue<'_>) -> Built {
        value.only_keys(&["tag", "record"])?;
        let tag = self.named(Kind::Tag, "#", name)?;
        if let Some(fields) = value.get("record") {
            let fields = self.fields(fields, Keys::Any)?;
            let record = self.branch(Kind::Record, fields);
            self.nodes[tag.0 as usize].first = record;
        }
        Ok(tag)
    }

    fn number(&mut self, value: JsonValue<'_>, digits: JsonValue<'_>) -> Built {
        value.only_keys(&["num", "unit"])?;
        let lexeme = digits.string()?;
        if !is_number(&lexeme) {
            return Err(digits
                .error(format!("{:?} is not a number", &*lexeme))
                .help("digits, with `-` before and a fraction behind if need be: \"-1.50\""));
        }
        let unit = match value.get("unit") {
            None => None,
            Some(unit) => {
                let text = unit.string()?;
                Some(Unit::from_text(&text).ok_or_else(|| {
                    let known = Unit::ALL.map(Unit::text).join(" ");
                    unit.error(format!("{:?} is not a unit", &*text))
                        .help(format!("units: {known}"))
                })?)
            }
        };
        let number = self.leaf(Kind::Number, &lexeme, unit.map_or("", Unit::text));
        self.nodes[number.0 as usize].extra = unit.map_or(0, |unit| unit as u8);
        Ok(number)
    }

    fn call(&mut self, value: JsonValue<'_>, name: JsonValue<'_>) -> Built {
        value.only_keys(&["call", "args"])?;
        let text = name.string()?;
        if !is_path(&text) {
            return Err(bad_name(name, &text).help(NAME_HELP));
        }
        let call = self.leaf(Kind::Call, "", &text);
        let args = value.required("args", "a call")?;
        let first = self.list(args, Self::argument)?;
        refuse_duplicate_names(args)?;
        self.nodes[call.0 as usize].first = first;
        Ok(call)
    }

    fn argument(&mut self, value: JsonValue<'_>) -> Built {
        let Some(name) = value.get("arg").filter(|_| value.kind() == JsonKind::Object) else {
            return self.expr(value);
        };
        value.only_keys(&["arg", "value"])?;
        let key = name.string()?;
        if !is_bare_key(&key) {
            return Err(bad_name(name, &key).help("the name of an argument is one identifier"));
        }
        self.field(&key, value.required("value", "a named argument")?, Keys::Bare)
    }

    fn approx(&mut self, value: JsonValue<'_>, of: JsonValue<'_>) -> Built {
        value.only_keys(&["approx", "times"])?;
        let times = match value.get("times") {
            None => 1,
            Some(times) => {
                let count = times.text().parse::<u32>().ok();
                count.filter(|count| (1..=MAX_APPROX).contains(count)).ok_or_else(|| {
                    times.error(format!("`times` is a whole number from 1 to {MAX_APPROX}"))
                })?
            }
        };
        self.approx_left = self.approx_left.checked_sub(times).ok_or_else(|| {
            value.error(format!("the document holds more than {MAX_APPROX} approximations"))
        })?;
        let of = self.expr(of)?;
        let node = self.branch(Kind::Approx, of);
        self.nodes[node.0 as usize].mid = times;
        Ok(node)
    }

    fn operation(&mut self, value: JsonValue<'_>, op: JsonValue<'_>) -> Built {
        value.only_keys(&["op", "args"])?;
        let symbol = op.string()?;
        let comparison = Comparison::ALL.into_iter().find(|known| known.symbol() == symbol);
        let (kind, extra) = match (&*symbol, comparison) {
            (_, Some(comparison)) => (Kind::Compare, comparison as u8),
            ("..", _) => (Kind::Range, 0),
            ("->", _) => (Kind::Then, 0),
            ("<-", _) => (Kind::Cause, 0),
            ("&", _) => (Kind::All, 0),
            ("|", _) => (Kind::Any, 0),
            _ => {
                return Err(op
                    .error(format!("AXON has no operator {:?}", &*symbol))
                    .help("operators: -> <- & | < > <= >= != = .."));
            }
        };
        let args = value.required("args", "an operation")?;
        args.expect_kind(JsonKind::Array)?;
        let count = args.children().take(3).count();
        let pair = matches!(kind, Kind::Compare | Kind::Range);
        if count < 2 || pair && count > 2 {
            let wants = if pair { "exactly two" } else { "two or more" };
            return Err(args.error(format!("`{symbol}` takes {wants} operands")));
        }
        let mut operands = Siblings::NONE;
        for operand in args.children() {
            let operand = self.expr(operand)?;
            self.add(&mut operands, operand);
        }
        let node = self.branch(kind, operands.first);
        self.nodes[node.0 as usize].extra = extra;
        Ok(node)
    }
}

impl Siblings {
    const NONE: Siblings = Siblings { first: NodeId::NONE, last: NodeId::NONE };
}

const MESSAGE: [&str; 5] = ["meta", "performative", "from", "to", "content"];
/// A nested message has no metadata.
const NESTED: [&str; 4] = ["performative", "from", "to", "content"];

const NAME_HELP: &str = "a name is ASCII letters, digits, `-` and `_`, starts with a letter, and may \
                         have parts divided by dots";

fn too_deep_message() -> String {
    format!("brackets and nested messages go deeper than {MAX_DEPTH} levels")
}

fn bad_name(value: JsonValue<'_>, name: &str) -> JsonError {
    value.error(format!("{name:?} is not a name"))
}

fn refuse_duplicate_names(args: JsonValue<'_>) -> Result<(), JsonError> {
    let named = args.children().filter(|arg| arg.kind() == JsonKind::Object);
    let named = named.filter_map(|arg| arg.get("arg"));
    let mut names = Vec::new();
    for name in named {
        names.push((name.string()?, name));
    }
    names.sort_by(|(a, _), (b, _)| a.cmp(b));
    match names.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        Some([_, (name, again)]) => {
            Err(again.error(format!("two arguments have the name {:?}", &**name)))
        }
        _ => Ok(()),
    }
}

/// A path, which starts with a letter: the rest of its parts may be `_`.
fn is_path(text: &str) -> bool {
    text.split('.').next().is_some_and(is_identifier) && is_sigil_name(text)
}

/// What may stand behind `@`, `$` and `#`.
fn is_sigil_name(text: &str) -> bool {
    text.split('.').all(is_bare_key)
}

/// `[ "-" ] digit { digit } [ "." digit { digit } ]`.
fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let all_digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    all_digits(whole) && all_digits(fraction)
}
