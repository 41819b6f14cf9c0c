//! The canonical form of JSON (RFC 8785): one text for every way of writing the same value, so that
//! two sides can sign and check the same bytes.
//!
//! What came from a peer is taken as it was read, and what we send as the value that we made; both
//! give the same bytes. Nothing here knows what an envelope is, or a key.

mod fields;
mod sent;

use std::borrow::Cow;
use std::fmt;

use sabir_base::json::{JsonKind, JsonValue};
use serde_json::Value;

pub(crate) use self::fields::{Fields, Written};
use crate::wire::Wire;

/// How deep arrays and objects may nest in what we make canonical. Peers read no deeper.
const MAX_DEPTH: usize = 64;

/// Why a value has no canonical form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotCanonical {
    /// A JSON pointer (RFC 6901) to the value at fault.
    pub pointer: String,
    pub fault: CanonicalFault,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CanonicalFault {
    /// Two integers would share a canonical form, so a signature could not tell them apart.
    Inexact(String),
    /// No double is that large.
    OutOfRange(String),
    /// An escape names no character.
    Escape,
    TooDeep,
}

/// A canonical text that is being written, behind what stands in the buffer already.
pub(crate) struct Canonical<'o> {
    bytes: &'o mut Vec<u8>,
    /// It is read as what it was made of. Of a double it keeps the value, and not that it was one: `1.0`
    /// is `1` there.
    is_exact: bool,
    /// Somewhere in it is a value without a canonical form.
    has_fault: bool,
}

/// The canonical text of a value that was read.
pub fn canonical_text(value: JsonValue<'_>) -> Result<String, NotCanonical> {
    write_text(value, value.text().len(), None)
}

/// The canonical text of a value that we made.
pub fn canonical_value(value: &Value) -> Result<String, NotCanonical> {
    write_text(value, length_hint(value), None)
}

/// As [`canonical_text`], without the field `key` of the outermost object.
pub(crate) fn canonical_text_without(
    value: JsonValue<'_>,
    key: &str,
) -> Result<String, NotCanonical> {
    write_text(value, value.text().len(), Some(key))
}

/// Writes what [`canonical_text_without`] gives.
pub(crate) fn write_text_without(
    value: JsonValue<'_>,
    key: &str,
    out: &mut Vec<u8>,
) -> Result<(), NotCanonical> {
    write(value, 0, Some(key), &mut Canonical::after(out))
}

/// Writes what [`canonical_value`] gives.
pub(crate) fn write_value(value: &Value, out: &mut Vec<u8>) -> Result<(), NotCanonical> {
    write(value, 0, None, &mut Canonical::after(out))
}

/// Writes the canonical text of what we are about to send, without the field `key` of the outermost
/// object.
pub(crate) fn write_wire_without(
    wire: &Wire<'_>,
    key: &str,
    out: &mut Vec<u8>,
) -> Result<(), NotCanonical> {
    let write = |out: &mut Canonical<'_>| sent::write(wire, key, out);
    write_own(out, write, key, || wire.to_value()).map(drop)
}

/// Writes the canonical text of something of ours, of which `write` knows how it is written and `value`
/// what it is. Whether it is read as what it was made of is given.
pub(crate) fn write_own(
    out: &mut Vec<u8>,
    write_it: impl FnOnce(&mut Canonical<'_>),
    without: &str,
    value: impl FnOnce() -> Value,
) -> Result<bool, NotCanonical> {
    let start = out.len();
    let mut canonical = Canonical::after(out);
    write_it(&mut canonical);
    if canonical.has_fault {
        // Where the fault is, the value can say. It has none where only an object has many keys.
        out.truncate(start);
        canonical = Canonical::after(out);
        write(&value(), 0, Some(without), &mut canonical)?;
    }
    Ok(canonical.is_exact)
}

/// As [`canonical_value`], without the field `key` of the outermost object.
pub(crate) fn canonical_value_without(value: &Value, key: &str) -> Result<String, NotCanonical> {
    write_text(value, length_hint(value), Some(key))
}

/// A canonical text from its bytes.
pub(crate) fn text_of(bytes: Vec<u8>) -> String {
    // Texts were put together, and ASCII between them.
    String::from_utf8(bytes).unwrap_or_default()
}

/// What a value takes at least, mostly.
fn length_hint(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len() + 2,
        Value::Array(_) | Value::Object(_) => 256,
        Value::Null | Value::Bool(_) | Value::Number(_) => 24,
    }
}

impl<'o> Canonical<'o> {
    fn after(bytes: &'o mut Vec<u8>) -> Self {
        Self { bytes, is_exact: true, has_fault: false }
    }
}

impl fmt::Display for NotCanonical {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.pointer.is_empty() {
            write!(f, "at {}: ", self.pointer)?;
        }
        match &self.fault {
            CanonicalFault::Inexact(digits) => {
                write!(f, "the integer {digits} is not exact as a double; send it as a string")
            }
            CanonicalFault::OutOfRange(number) => write!(f, "{number} is larger than any double"),
            CanonicalFault::Escape => f.write_str("an escape names no character"),
            CanonicalFault::TooDeep => write!(f, "deeper than {MAX_DEPTH} levels of JSON"),
        }
    }
}

impl std::error::Error for NotCanonical {}

/// A JSON value, wherever it is kept.
trait Node<'a>: Copy {
    fn shape(self) -> Result<Shape<'a>, CanonicalFault>;
    /// Gives the elements of an array, or the values of an object with their keys.
    fn each_member(self, take: impl FnMut(Option<&'a str>, Self));
    /// Where the node stands below `top`. Asked for only when there is an error to report.
    fn pointer_below(self, top: Self) -> String;
}

enum Shape<'a> {
    /// Written as it stands.
    Literal(&'a str),
    Number(Number<'a>),
    String(Cow<'a, str>),
    Array,
    Object,
}

enum Number<'a> {
    /// The digits of an integer, with its sign.
    Integer(Cow<'a, str>),
    Double(f64),
}

enum Step<'a, N> {
    Member(Option<&'a str>, N),
    Close(u8),
}

fn write_text<'a, N: Node<'a>>(
    top: N,
    length_hint: usize,
    without: Option<&str>,
) -> Result<String, NotCanonical> {
    let mut bytes = Vec::with_capacity(length_hint);
    write(top, 0, without, &mut Canonical::after(&mut bytes)).map(|()| text_of(bytes))
}

/// Walks without recursion: what is still to be written waits on one stack, the next on top. The value
/// stands at a depth of `depth` in what is written.
fn write<'a, N: Node<'a>>(
    top: N,
    mut depth: usize,
    without: Option<&str>,
    out: &mut Canonical<'_>,
) -> Result<(), NotCanonical> {
    let Canonical { bytes: out, is_exact, .. } = out;
    let (start, outermost) = (out.len(), depth + 1);
    // Most values are texts, for which nothing waits.
    let mut steps = Vec::new();
    let mut next = Some(Step::Member(None, top));
    while let Some(step) = next.take().or_else(|| steps.pop()) {
        let (key, node) = match step {
            Step::Close(bracket) => {
                depth -= 1;
                out.push(bracket);
                continue;
            }
            Step::Member(key, node) => (key, node),
        };
        // A value that is complete ends in neither bracket, because a string ends in its quote.
        if out.len() > start && !matches!(out.last(), Some(b'{' | b'[')) {
            out.push(b',');
        }
        if let Some(key) = key {
            write_string(key, out);
            out.push(b':');
        }
        let refuse = |fault| NotCanonical { pointer: node.pointer_below(top), fault };
        let closing = match node.shape().map_err(refuse)? {
            Shape::Literal(text) => {
                out.extend_from_slice(text.as_bytes());
                continue;
            }
            Shape::Number(number) => {
                *is_exact &= !matches!(number, Number::Double(_));
                write_number(&number, out).map_err(refuse)?;
                continue;
            }
            Shape::String(text) => {
                write_string(&text, out);
                continue;
            }
            Shape::Array => b']',
            Shape::Object => b'}',
        };
        if depth == MAX_DEPTH {
            return Err(refuse(CanonicalFault::TooDeep));
        }
        depth += 1;
        out.push(if closing == b']' { b'[' } else { b'{' });
        if steps.capacity() == 0 {
            steps.reserve(TYPICAL_MEMBERS);
        }
        steps.push(Step::Close(closing));
        let first = steps.len();
        let dropped = if depth == outermost { without } else { None };
        node.each_member(|key, member| {
            if key.is_none() || key != dropped {
                steps.push(Step::Member(key, member));
            }
        });
        let members = &mut steps[first..];
        if closing == b'}' {
            sort_members(members);
        }
        // The first is to be on top.
        members.reverse();
    }
    Ok(())
}

/// Values that wait to be written while another is.
const TYPICAL_MEMBERS: usize = 16;

/// Keys are ordered by their UTF-16 units. For ASCII that is the order of the bytes.
fn sort_members<N>(members: &mut [Step<'_, N>]) {
    if members.iter().all(|step| key_of(step).is_ascii()) {
        members.sort_unstable_by(|a, b| key_of(a).cmp(key_of(b)));
    } else {
        members.sort_unstable_by(|a, b| key_of(a).encode_utf16().cmp(key_of(b).encode_utf16()));
    }
}

fn key_of<'a, N>(step: &Step<'a, N>) -> &'a str {
    match step {
        Step::Member(Some(key), _) => key,
        Step::Member(None, _) | Step::Close(_) => "",
    }
}

/// Escapes what must be escaped and nothing else; control characters in their short form where they
/// have one.
fn write_string(text: &str, out: &mut Vec<u8>) {
    out.reserve(text.len() + 2);
    out.push(b'"');
    let mut rest = text.as_bytes();
    while let Some(at) = first_escaped(rest) {
        let (plain, from) = rest.split_at(at);
        out.extend_from_slice(plain);
        let short = match from[0] {
            b'"' => b'"',
            b'\\' => b'\\',
            0x08 => b'b',
            b'\t' => b't',
            b'\n' => b'n',
            0x0c => b'f',
            b'\r' => b'r',
            _ => b'u',
        };
        out.extend_from_slice(&[b'\\', short]);
        if short == b'u' {
            out.extend_from_slice(format!("{:04x}", from[0]).as_bytes());
        }
        rest = &from[1..];
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

/// Where the first byte is that must be escaped. Many are looked at together: most texts have none.
fn first_escaped(bytes: &[u8]) -> Option<usize> {
    let (blocks, rest) = bytes.as_chunks::<16>();
    let plain = blocks.iter().take_while(|block| is_plain(block)).count();
    let is_short = blocks.is_empty();
    // The last ones may be looked at twice, so that an end is not looked at one by one.
    if plain == blocks.len() && bytes.last_chunk::<16>().is_some_and(is_plain)
        || is_short
            && rest.first_chunk::<8>().is_some_and(is_plain)
            && rest.last_chunk::<8>().is_some_and(is_plain)
    {
        return None;
    }
    let skipped = plain * 16;
    bytes[skipped..].iter().position(|byte| is_escaped(*byte)).map(|at| skipped + at)
}

/// Whether nothing is to be escaped. It does not stop at what is, so that the bytes are looked at at once.
fn is_plain<const N: usize>(bytes: &[u8; N]) -> bool {
    bytes.iter().fold(true, |is_plain, byte| is_plain & !is_escaped(*byte))
}

fn is_escaped(byte: u8) -> bool {
    (byte < b' ') | (byte == b'"') | (byte == b'\\')
}

/// Whether a text between quotes is written as it stands.
fn is_plain_in_quotes(text: &str) -> bool {
    let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    inner.is_some_and(|inner| first_escaped(inner.as_bytes()).is_none())
}

/// Numbers are doubles, printed as ECMAScript prints them.
fn write_number(number: &Number<'_>, out: &mut Vec<u8>) -> Result<(), CanonicalFault> {
    let mut buffer = ryu_js::Buffer::new();
    match number {
        // Any integer of fifteen digits is a double and is printed as its digits.
        Number::Integer(digits) if digits.len() <= 15 && &**digits != "-0" => {
            out.extend_from_slice(digits.as_bytes());
        }
        Number::Integer(digits) => {
            let double = finite(digits)?;
            let printed = buffer.format_finite(double);
            if double != 0.0 && printed != &**digits {
                return Err(CanonicalFault::Inexact(shortened(digits)));
            }
            out.extend_from_slice(printed.as_bytes());
        }
        Number::Double(double) => {
            out.extend_from_slice(buffer.format_finite(*double).as_bytes());
        }
    }
    Ok(())
}

fn finite(number: &str) -> Result<f64, CanonicalFault> {
    let out_of_range = || CanonicalFault::OutOfRange(shortened(number));
    number.parse().ok().filter(|it: &f64| it.is_finite()).ok_or_else(out_of_range)
}

/// A number may be as long as a message; an error about it need not be.
fn shortened(number: &str) -> String {
    match number.get(..40) {
        Some(start) if number.len() > 40 => format!("{start}…"),
        _ => number.to_owned(),
    }
}

impl<'a> Node<'a> for JsonValue<'a> {
    fn shape(self) -> Result<Shape<'a>, CanonicalFault> {
        Ok(match self.kind() {
            JsonKind::Null => Shape::Literal("null"),
            JsonKind::True => Shape::Literal("true"),
            JsonKind::False => Shape::Literal("false"),
            JsonKind::Number => Shape::Number(if self.text().contains(['.', 'e', 'E']) {
                Number::Double(finite(self.text())?)
            } else {
                Number::Integer(Cow::Borrowed(self.text()))
            }),
            // Most strings have no escape and need none: in their quotes they are canonical.
            JsonKind::String if is_plain_in_quotes(self.text()) => Shape::Literal(self.text()),
            JsonKind::String => Shape::String(self.string().map_err(|_| CanonicalFault::Escape)?),
            JsonKind::Array => Shape::Array,
            JsonKind::Object => Shape::Object,
        })
    }

    fn each_member(self, mut take: impl FnMut(Option<&'a str>, Self)) {
        // An array has no fields, and an object is asked for nothing else.
        if self.kind() == JsonKind::Array {
            self.children().for_each(|it| take(None, it));
        } else {
            self.fields().for_each(|(key, it)| take(Some(key), it));
        }
    }

    fn pointer_below(self, top: Self) -> String {
        let (pointer, above) = (self.pointer(), top.pointer());
        pointer.strip_prefix(&above).unwrap_or(&pointer).to_owned()
    }
}

impl<'a> Node<'a> for &'a Value {
    fn shape(self) -> Result<Shape<'a>, CanonicalFault> {
        Ok(match self {
            Value::Null => Shape::Literal("null"),
            Value::Bool(true) => Shape::Literal("true"),
            Value::Bool(false) => Shape::Literal("false"),
            Value::Number(number) if number.is_f64() => {
                // A value holds no infinity.
                Shape::Number(Number::Double(number.as_f64().unwrap_or_default()))
            }
            Value::Number(number) => Shape::Number(Number::Integer(Cow::Owned(number.to_string()))),
            Value::String(text) => Shape::String(Cow::Borrowed(text)),
            Value::Array(_) => Shape::Array,
            Value::Object(_) => Shape::Object,
        })
    }

    fn each_member(self, mut take: impl FnMut(Option<&'a str>, Self)) {
        match self {
            Value::Array(elements) => elements.iter().for_each(|it| take(None, it)),
            Value::Object(fields) => fields.iter().for_each(|(key, it)| take(Some(key), it)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn pointer_below(self, top: Self) -> String {
        // The way down to the value being looked at, and what is still to be looked at.
        let mut way: Vec<String> = Vec::new();
        let mut rest = vec![(0, String::new(), top)];
        while let Some((depth, name, value)) = rest.pop() {
            way.truncate(depth);
            way.push(name);
            if std::ptr::eq(value, self) {
                return way.concat();
            }
            let mut index = 0;
            value.each_member(|key, member| {
                let name = match key {
                    Some(key) => key.replace('~', "~0").replace('/', "~1"),
                    None => index.to_string(),
                };
                rest.push((depth + 1, format!("/{name}"), member));
                index += 1;
            });
        }
        String::new()
    }
}

#[cfg(test)]
mod tests {
    use sabir_base::json::Json;

    use super::*;

    fn check(text: &str, expected: &str) {
        let json = Json::read(text, 100).unwrap();
        assert_eq!(canonical_text(json.top()).unwrap(), expected, "{text}");
        let value: Value = serde_json::from_str(text).unwrap();
        assert_eq!(canonical_value(&value).unwrap(), expected, "{text}");
    }

    fn check_error(text: &str, expected: &str) {
        let json = Json::read(text, 100).unwrap();
        assert_eq!(canonical_text(json.top()).unwrap_err().to_string(), expected, "{text}");
        let value: Value = serde_json::from_str(text).unwrap();
        assert_eq!(canonical_value(&value).unwrap_err().to_string(), expected, "{text}");
    }

    /// The example of RFC 8785, section 3.2.2 (LD-S1).
    #[test]
    fn the_example_of_the_rfc() {
        check(
            r#"{
              "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
              "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
              "literals": [null, true, false]
            }"#,
            "{\"literals\":[null,true,false],\
             \"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],\
             \"string\":\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}",
        );
    }

    /// The keys of RFC 8785, section 3.2.3 (LD-S1).
    #[test]
    fn keys_are_ordered_by_their_utf16_units() {
        check(
            r#"{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh",
                "1":"One","\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control",
                "\u00f6":"Latin Small Letter O With Diaeresis"}"#,
            "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u{80}\":\"Control\",\
             \"ö\":\"Latin Small Letter O With Diaeresis\",\"€\":\"Euro Sign\",\
             \"😀\":\"Emoji: Grinning Face\",\"\u{fb33}\":\"Hebrew Letter Dalet With Dagesh\"}",
        );
    }

    /// The numbers of RFC 8785, appendix B (LD-S1).
    #[test]
    fn numbers_are_printed_as_ecmascript_prints_them() {
        for (bits, expected) in [
            (0x0000_0000_0000_0000, "0"),
            (0x8000_0000_0000_0000, "0"),
            (0x0000_0000_0000_0001, "5e-324"),
            (0x8000_0000_0000_0001, "-5e-324"),
            (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
            (0xffef_ffff_ffff_ffff, "-1.7976931348623157e+308"),
            (0x4340_0000_0000_0000, "9007199254740992"),
            (0xc340_0000_0000_0000, "-9007199254740992"),
            (0x4430_0000_0000_0000, "295147905179352830000"),
            (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
            (0x44b5_2d02_c7e1_4af6, "1e+23"),
            (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
            (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
            (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
            (0x444b_1ae4_d6e2_ef50, "1e+21"),
            (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
            (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
            (0x41b3_de43_5555_5553, "333333333.3333332"),
            (0x41b3_de43_5555_5554, "333333333.33333325"),
            (0x41b3_de43_5555_5555, "333333333.3333333"),
            (0x41b3_de43_5555_5556, "333333333.3333334"),
            (0x41b3_de43_5555_5557, "333333333.33333343"),
            (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
            (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
        ] {
            let value = Value::from(f64::from_bits(bits));
            assert_eq!(canonical_value(&value).unwrap(), expected);
            let written = value.to_string();
            let json = Json::read(&written, 1).unwrap();
            assert_eq!(canonical_text(json.top()).unwrap(), expected);
        }
    }

    /// LD-S2
    #[test]
    fn an_integer_that_a_double_would_change_is_refused() {
        check(
            "[9007199254740992,-9007199254740992,-0,0,-7]",
            "[9007199254740992,-9007199254740992,0,0,-7]",
        );
        check("[100000000000000000000]", "[100000000000000000000]");
        check_error(
            r#"{"a":[0,{"b/c":9007199254740993}]}"#,
            "at /a/1/b~1c: the integer 9007199254740993 is not exact as a double; send it as a string",
        );
        check_error(
            "-9223372036854775808",
            "the integer -9223372036854775808 is not exact as a double; send it as a string",
        );
        let json = Json::read("[1e400]", 2).unwrap();
        let error = canonical_text(json.top()).unwrap_err();
        assert_eq!(error.to_string(), "at /0: 1e400 is larger than any double");
        let long = "7".repeat(400);
        let json = Json::read(&long, 2).unwrap();
        let error = canonical_text(json.top()).unwrap_err();
        assert_eq!(error.fault, CanonicalFault::OutOfRange("7".repeat(40) + "…"));
    }

    /// Eight bytes are looked at together, and the last eight of them perhaps twice.
    #[test]
    fn what_must_be_escaped_is_found_wherever_it_is() {
        for length in 0..40 {
            let plain = "é/\u{7f}~ ".repeat(length).into_bytes()[..length].to_vec();
            assert_eq!(first_escaped(&plain), None, "{length}");
            for at in 0..length {
                for byte in [0, 0x1f, b'"', b'\\'] {
                    let mut bytes = plain.clone();
                    (bytes[at], bytes[length - 1]) = (byte, byte);
                    assert_eq!(first_escaped(&bytes), Some(at), "{byte} at {at} of {length}");
                }
            }
        }
    }

    #[test]
    fn depth_is_bounded() {
        let nested = |depth| "[".repeat(depth) + &"]".repeat(depth);
        check(&nested(64), &nested(64));
        let pointer = "/0".repeat(64);
        check_error(&nested(65), &format!("at {pointer}: deeper than 64 levels of JSON"));
    }

    #[test]
    fn a_lone_surrogate_is_refused() {
        let json = Json::read(r#"["\ud800"]"#, 2).unwrap();
        let error = canonical_text(json.top()).unwrap_err();
        assert_eq!(error.to_string(), "at /0: an escape names no character");
    }

    #[test]
    fn a_key_is_left_out_at_the_top_only() {
        let text = r#"{"z":{"signature":1},"signature":2,"a":[]}"#;
        let json = Json::read(text, 4).unwrap();
        let expected = r#"{"a":[],"z":{"signature":1}}"#;
        assert_eq!(canonical_text_without(json.top(), "signature").unwrap(), expected);
        let value: Value = serde_json::from_str(text).unwrap();
        assert_eq!(canonical_value_without(&value, "signature").unwrap(), expected);
    }
}
