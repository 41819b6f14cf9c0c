//! The canonical form of JSON (RFC 8785): one text for every way of writing the same value, so that
//! two sides can sign and check the same bytes.
//!
//! What came from a peer is taken as it was read, and what we send as the value that we made; both
//! give the same bytes. Nothing here knows what an envelope is, or a key.

mod sent;

use std::borrow::Cow;
use std::fmt;

use sabir_base::json::{JsonKind, JsonValue};
use serde_json::Value;

use crate::wire::{TYPICAL_BYTES, Wire};

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

/// A canonical text.
pub(crate) struct Canonical {
    pub(crate) text: String,
    /// It is read as what it was made of. Of a double it keeps the value, and not that it was one: `1.0`
    /// is `1` there.
    pub(crate) is_exact: bool,
}

/// The canonical text of a value that was read.
pub fn canonical_text(value: JsonValue<'_>) -> Result<String, NotCanonical> {
    write_text(value, value.text().len(), None)
}

/// The canonical text of a value that we made.
pub fn canonical_value(value: &Value) -> Result<String, NotCanonical> {
    write_text(value, 0, None)
}

/// As [`canonical_text`], without the field `key` of the outermost object.
pub(crate) fn canonical_text_without(
    value: JsonValue<'_>,
    key: &str,
) -> Result<String, NotCanonical> {
    write_text(value, value.text().len(), Some(key))
}

/// The canonical text of what we are about to send, without the field `key` of the outermost object.
pub(crate) fn canonical_wire_without(
    wire: &Wire<'_>,
    key: &str,
) -> Result<Canonical, NotCanonical> {
    let mut out = Canonical { text: String::with_capacity(TYPICAL_BYTES), is_exact: true };
    match sent::write(wire, key, &mut out) {
        Ok(()) => Ok(out),
        // Where the fault is, the value can say. It has none where only an object has many keys.
        Err(_) => {
            let mut out = Canonical { text: String::new(), is_exact: true };
            write(&wire.to_value(), 0, Some(key), &mut out).map(|()| out)
        }
    }
}

/// As [`canonical_value`], without the field `key` of the outermost object.
pub(crate) fn canonical_value_without(value: &Value, key: &str) -> Result<String, NotCanonical> {
    write_text(value, 0, Some(key))
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
    /// The elements of an array, or the values of an object with their keys.
    fn members(self) -> impl Iterator<Item = (Option<&'a str>, Self)>;
    /// Where the node stands below `top`. Asked for only when there is an error to report.
    fn pointer_below(self, top: Self) -> String;
}

enum Shape<'a> {
    /// Written as it stands.
    Literal(&'static str),
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
    Close(char),
}

fn write_text<'a, N: Node<'a>>(
    top: N,
    length_hint: usize,
    without: Option<&str>,
) -> Result<String, NotCanonical> {
    let mut out = Canonical { text: String::with_capacity(length_hint), is_exact: true };
    write(top, 0, without, &mut out).map(|()| out.text)
}

/// Walks without recursion: what is still to be written waits on one stack, the next on top. The value
/// stands at a depth of `depth` in what is written.
fn write<'a, N: Node<'a>>(
    top: N,
    mut depth: usize,
    without: Option<&str>,
    out: &mut Canonical,
) -> Result<(), NotCanonical> {
    let Canonical { text: out, is_exact } = out;
    let (start, outermost) = (out.len(), depth + 1);
    let mut steps = Vec::with_capacity(TYPICAL_MEMBERS);
    steps.push(Step::Member(None, top));
    while let Some(step) = steps.pop() {
        let (key, node) = match step {
            Step::Close(bracket) => {
                depth -= 1;
                out.push(bracket);
                continue;
            }
            Step::Member(key, node) => (key, node),
        };
        // A value that is complete ends in neither bracket, because a string ends in its quote.
        if !(out.len() == start || out.ends_with(['{', '['])) {
            out.push(',');
        }
        if let Some(key) = key {
            write_string(key, out);
            out.push(':');
        }
        let refuse = |fault| NotCanonical { pointer: node.pointer_below(top), fault };
        let closing = match node.shape().map_err(refuse)? {
            Shape::Literal(text) => {
                out.push_str(text);
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
            Shape::Array => ']',
            Shape::Object => '}',
        };
        if depth == MAX_DEPTH {
            return Err(refuse(CanonicalFault::TooDeep));
        }
        depth += 1;
        out.push(if closing == ']' { '[' } else { '{' });
        steps.push(Step::Close(closing));
        let first = steps.len();
        let dropped = if depth == outermost { without } else { None };
        let kept = node.members().filter(|(key, _)| key.is_none() || *key != dropped);
        steps.extend(kept.map(|(key, member)| Step::Member(key, member)));
        let members = &mut steps[first..];
        if closing == ']' {
            members.reverse();
        // Keys are ordered by their UTF-16 units. For ASCII that is the order of the bytes.
        } else if members.iter().all(|step| key_of(step).is_ascii()) {
            members.sort_unstable_by(|a, b| key_of(b).cmp(key_of(a)));
        } else {
            members.sort_unstable_by(|a, b| key_of(b).encode_utf16().cmp(key_of(a).encode_utf16()));
        }
    }
    Ok(())
}

/// Values that wait to be written while another is.
const TYPICAL_MEMBERS: usize = 16;

fn key_of<'a, N>(step: &Step<'a, N>) -> &'a str {
    match step {
        Step::Member(Some(key), _) => key,
        Step::Member(None, _) | Step::Close(_) => "",
    }
}

/// Escapes what must be escaped and nothing else; control characters in their short form where they
/// have one.
fn write_string(text: &str, out: &mut String) {
    out.push('"');
    let mut rest = text;
    while let Some(at) = first_escaped(rest.as_bytes()) {
        let (plain, from) = rest.split_at(at);
        out.push_str(plain);
        match from.as_bytes()[0] {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            0x08 => out.push_str("\\b"),
            b'\t' => out.push_str("\\t"),
            b'\n' => out.push_str("\\n"),
            0x0c => out.push_str("\\f"),
            b'\r' => out.push_str("\\r"),
            byte => out.push_str(&format!("\\u{byte:04x}")),
        }
        rest = &from[1..];
    }
    out.push_str(rest);
    out.push('"');
}

/// Where the first byte is that must be escaped. Eight are looked at together: most texts have none.
fn first_escaped(bytes: &[u8]) -> Option<usize> {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGH: u64 = ONES << 7;
    // Whether some byte is below a bound of at most 128. Bytes from 128 on are none.
    let has_below = |word: u64, bound: u64| word.wrapping_sub(ONES * bound) & !word & HIGH != 0;
    let has = |word: u64, byte: u8| has_below(word ^ (ONES * u64::from(byte)), 1);
    let (words, _) = bytes.as_chunks::<8>();
    let plain = words.iter().take_while(|word| {
        let word = u64::from_ne_bytes(**word);
        !(has_below(word, u64::from(b' ')) || has(word, b'"') || has(word, b'\\'))
    });
    let skipped = plain.count() * 8;
    let is_escaped = |byte: &u8| *byte < b' ' || matches!(byte, b'"' | b'\\');
    bytes[skipped..].iter().position(is_escaped).map(|at| skipped + at)
}

/// Numbers are doubles, printed as ECMAScript prints them.
fn write_number(number: &Number<'_>, out: &mut String) -> Result<(), CanonicalFault> {
    let mut buffer = ryu_js::Buffer::new();
    match number {
        // Any integer of fifteen digits is a double and is printed as its digits.
        Number::Integer(digits) if digits.len() <= 15 && &**digits != "-0" => out.push_str(digits),
        Number::Integer(digits) => {
            let double = finite(digits)?;
            let printed = buffer.format_finite(double);
            if double != 0.0 && printed != &**digits {
                return Err(CanonicalFault::Inexact(shortened(digits)));
            }
            out.push_str(printed);
        }
        Number::Double(double) => out.push_str(buffer.format_finite(*double)),
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
            JsonKind::String => Shape::String(self.string().map_err(|_| CanonicalFault::Escape)?),
            JsonKind::Array => Shape::Array,
            JsonKind::Object => Shape::Object,
        })
    }

    fn members(self) -> impl Iterator<Item = (Option<&'a str>, Self)> {
        // An array has no fields, and an object is asked for nothing else.
        let is_array = self.kind() == JsonKind::Array;
        let elements = is_array.then(|| self.children().map(|it| (None, it)));
        let fields = (!is_array).then(|| self.fields().map(|(key, it)| (Some(key), it)));
        elements.into_iter().flatten().chain(fields.into_iter().flatten())
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

    fn members(self) -> impl Iterator<Item = (Option<&'a str>, Self)> {
        let elements = self.as_array().into_iter().flatten().map(|it| (None, it));
        let fields = self.as_object().into_iter().flatten();
        elements.chain(fields.map(|(key, it)| (Some(key.as_str()), it)))
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
            let named = value.members().enumerate().map(|(index, (key, member))| {
                let name = match key {
                    Some(key) => key.replace('~', "~0").replace('/', "~1"),
                    None => index.to_string(),
                };
                (depth + 1, format!("/{name}"), member)
            });
            rest.extend(named);
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
