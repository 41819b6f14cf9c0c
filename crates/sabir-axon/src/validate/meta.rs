//! Metadata: the shape of its values, and what a tier demands (section 7.1).

use sabir_base::{Diagnostic, Edit, Findings, Span, is_near};

use super::damage::Damage;
use crate::codes;
use crate::performative::Performative;
use crate::strings::quote;
use crate::tier::{MetaField, MetaValue, Presence, Tier};
use crate::tree::Kind;
use crate::unit::Unit;
use crate::view::{Expr, Field, Message, Node, Number};

/// The metadata of one message, looked at once.
pub(super) struct Header<'a> {
    pub(super) message: Message<'a>,
    pub(super) id: Option<Node<'a>>,
    pub(super) re: Option<Node<'a>>,
    pub(super) ctx: Option<Node<'a>>,
    pub(super) txn_id: Option<Node<'a>>,
    pub(super) txn_state: Option<Node<'a>>,
    /// One bit for each of `MetaField::ALL`.
    present: u16,
    /// All of the block was read, so that a field that seems to be missing is missing.
    pub(super) whole: bool,
}

/// Whether a message starts the conversation it belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Opening {
    Opens,
    Continues,
    /// It names no conversation.
    Unknown,
}

static FIELDS: [MetaField; 11] = MetaField::ALL;

impl<'a> Header<'a> {
    /// Looks at every field, and checks its value.
    pub(super) fn read(
        message: Message<'a>,
        tier: Option<Tier>,
        damage: &Damage,
        findings: &mut Findings,
    ) -> Self {
        let block = message.meta_node().unwrap_or(message.performative_node());
        let mut header = Self {
            message,
            id: None,
            re: None,
            ctx: None,
            txn_id: None,
            txn_state: None,
            present: 0,
            whole: !damage.touches(block.span()),
        };
        for node in message.meta_node().into_iter().flat_map(Node::children) {
            let Some(field) = node.as_field() else { continue };
            let key = field.key();
            // The first of two fields with one key counts; the parser reports the second.
            match &*key {
                "id" => _ = header.id.get_or_insert(field.value),
                "re" => _ = header.re.get_or_insert(field.value),
                "ctx" => _ = header.ctx.get_or_insert(field.value),
                "txn_id" => _ = header.txn_id.get_or_insert(field.value),
                "txn_state" => _ = header.txn_state.get_or_insert(field.value),
                _ => {}
            }
            let index = FIELDS.iter().position(|row| row.key == key);
            header.present |= index.map_or(0, |index| 1 << index);
            if damage.touches(node.span()) {
                continue;
            }
            match index {
                Some(index) => {
                    let MetaField { key, value, .. } = FIELDS[index];
                    Shape { message, tier, field, key }.check(value, findings);
                }
                None if key == "txn_id" => {
                    Shape { message, tier, field, key: "txn_id" }.check(MetaValue::Text, findings);
                }
                None if key == "txn_state" => {}
                None => check_unknown_key(message, field, &key, findings),
            }
        }
        header
    }

    /// Checks that everything is there that `tier` demands.
    pub(super) fn check_presence(&self, tier: Tier, opening: Opening, findings: &mut Findings) {
        let missing = |index: &usize| {
            let demanded = match FIELDS[*index].presence(tier) {
                Presence::Required => true,
                // Without a conversation nobody can say whether this opens one; the missing `ctx`
                // is the error then.
                Presence::RequiredInReply => opening == Opening::Continues,
                Presence::Optional | Presence::Unlisted => false,
            };
            demanded && self.present >> index & 1 == 0
        };
        if (0..FIELDS.len()).any(|index| missing(&index)) {
            self.report_missing(tier, (0..FIELDS.len()).filter(missing), findings);
        }
    }

    #[cold]
    fn report_missing(
        &self,
        tier: Tier,
        missing: impl Iterator<Item = usize>,
        findings: &mut Findings,
    ) {
        let span = self.message.meta_node().unwrap_or(self.message.performative_node()).span();
        let mut names = Vec::new();
        for key in missing.map(|index| FIELDS[index].key) {
            if key == "%%" {
                self.report_missing_version(tier, span, findings);
            } else {
                names.push(format!("`{key}`"));
            }
        }
        if names.is_empty() {
            return;
        }
        let (names, number) = (names.join(", "), tier.number());
        findings.error(|| {
            let message = format!("tier {number} needs {names}");
            Diagnostic::error(codes::MISSING_METADATA, span, message)
                .help(format!("add {names} to the metadata in front of the performative"))
        });
    }

    fn report_missing_version(&self, tier: Tier, span: Span, findings: &mut Findings) {
        let id = self.message.meta().find(|field| field.key() == "id");
        let edit = match (self.message.meta_node(), id) {
            (Some(_), Some(id)) => Edit::insert(id.node.span().end, ",%%:1"),
            (Some(meta), None) => Edit::insert(meta.span().start + 1, "%%:1,"),
            (None, _) => Edit::insert(span.start, "[%%:1]\n"),
        };
        findings.error(|| {
            let message = format!("tier {} needs `%%`, the protocol version", tier.number());
            Diagnostic::error(codes::MISSING_VERSION, span, message)
                .help("this is version 1: add `%%:1`")
                .fix(edit)
        });
    }
}

/// Any key may be used, but one that is almost a core key was hardly meant as another.
#[cold]
fn check_unknown_key(message: Message<'_>, field: Field<'_>, key: &str, findings: &mut Findings) {
    let spelled = |&&(alias, _): &&(&str, &str)| is_near(key, alias);
    let near = FIELDS
        .iter()
        // Two letters are near to too many other words.
        .find(|row| key.eq_ignore_ascii_case(row.key) || row.key.len() > 2 && is_near(key, row.key))
        .map(|row| row.key)
        .or_else(|| ALIASES.iter().find(spelled).map(|&(_, core)| core));
    let Some(core) = near else { return };
    findings.info(|| {
        let shape = FIELDS.iter().find(|row| row.key == core).map(|row| row.value);
        let fits = shape.is_some_and(|shape| fits(shape, field.value));
        let taken = message.meta().any(|other| other.key() == core);
        let text = format!("`{key}` is not a key of the protocol");
        let found = Diagnostic::info(codes::MISSPELT_KEY, field.key_span(), text)
            .help(format!("did you mean `{core}`?"));
        // A fix that only leads to the next finding is none.
        if fits && !taken { found.fix(Edit::replace(field.key_span(), core)) } else { found }
    });
}

/// What people write for the core keys.
const ALIASES: [(&str, &str); 16] = [
    ("timestamp", "ts"),
    ("time", "ts"),
    ("prio", "^"),
    ("priority", "^"),
    ("context", "ctx"),
    ("conversation", "ctx"),
    ("version", "%%"),
    ("reply_to", "re"),
    ("in_reply_to", "re"),
    ("message_id", "id"),
    ("msg_id", "id"),
    ("signature", "sig"),
    ("authorization", "authz"),
    ("auth", "authz"),
    ("error_ns", "err_ns"),
    ("expires", "ttl"),
];

fn fits(shape: MetaValue, value: Node<'_>) -> bool {
    match (shape, value.expr()) {
        (MetaValue::Text, Expr::String(string)) => !string.value().is_empty(),
        (MetaValue::PositiveInteger, Expr::Number(number)) => is_positive_integer(number),
        (MetaValue::Priority, Expr::Number(number)) => is_priority(number),
        _ => false,
    }
}

fn is_positive_integer(number: Number<'_>) -> bool {
    // Bytes, because a number may be longer than any integer type.
    let digits = number.lexeme.as_bytes();
    number.unit.is_none()
        && digits.iter().all(u8::is_ascii_digit)
        && digits.iter().any(|&digit| digit != b'0')
}

fn is_priority(number: Number<'_>) -> bool {
    number.unit.is_none() && matches!(whole(number.lexeme), Some("0" | "1" | "2" | "3" | "4" | "5"))
}

/// The digits of a whole number that is not negative, without leading zeros.
fn whole(lexeme: &str) -> Option<&str> {
    if lexeme.is_empty() || !lexeme.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let digits = lexeme.trim_start_matches('0');
    Some(if digits.is_empty() { "0" } else { digits })
}

/// One field whose shape is known.
struct Shape<'a> {
    message: Message<'a>,
    tier: Option<Tier>,
    field: Field<'a>,
    key: &'static str,
}

impl Shape<'_> {
    fn check(&self, shape: MetaValue, findings: &mut Findings) {
        let value = self.field.value.expr();
        if matches!(value, Expr::Error) {
            return;
        }
        match shape {
            MetaValue::Text => self.check_text(value, findings),
            MetaValue::PositiveInteger => match value {
                Expr::Number(number) if is_positive_integer(number) => {
                    if self.key == "%%" && whole(number.lexeme) != Some("1") {
                        self.unsupported_version(number, findings);
                    }
                }
                _ => self.not_integer(shape, value, findings),
            },
            MetaValue::Priority => match value {
                Expr::Number(number) if is_priority(number) => {}
                _ => self.not_integer(shape, value, findings),
            },
        }
    }

    fn span(&self) -> Span {
        self.field.value.span()
    }

    fn check_text(&self, value: Expr<'_>, findings: &mut Findings) {
        let key = self.key;
        let inner = match value {
            Expr::String(string) if string.value().is_empty() => {
                return findings.error(|| {
                    Diagnostic::error(codes::EMPTY_TEXT, self.span(), format!("`{key}` is empty"))
                        .help("give it at least one character, or leave the field out")
                });
            }
            Expr::String(_) => return,
            Expr::Name(name) | Expr::Ref(name) | Expr::Tag { name, record: None } => Some(name),
            Expr::Number(_) | Expr::Bool(_) => Some(self.field.value.peeled().text()),
            _ => None,
        };
        findings.error(|| {
            let found =
                Diagnostic::error(codes::NOT_TEXT, self.span(), format!("`{key}` is a string"));
            match inner {
                Some(inner) => {
                    let quoted = quote(inner);
                    found
                        .help(format!("write `{key}:{quoted}`"))
                        .fix(Edit::replace(self.span(), quoted))
                }
                None => self.or_leave_out(found.help(format!("write `{key}:\"...\"`"))),
            }
        });
    }

    fn unsupported_version(&self, number: Number<'_>, findings: &mut Findings) {
        findings.warning(|| {
            let message = format!("version {} of the protocol is not supported", number.lexeme);
            Diagnostic::warning(codes::UNSUPPORTED_VERSION, self.span(), message).help(
                "this is version 1; a receiver must refuse others with \
                 `NAK(...): {reason:#unsupported}`",
            )
        });
    }

    #[cold]
    fn not_integer(&self, shape: MetaValue, value: Expr<'_>, findings: &mut Findings) {
        let key = self.key;
        let code = match (shape, &value) {
            (_, Expr::Number(Number { unit: Some(_), .. })) => codes::UNIT_IN_METADATA,
            (MetaValue::Priority, _) => codes::BAD_PRIORITY,
            _ => codes::NOT_POSITIVE_INTEGER,
        };
        let wanted = match shape {
            MetaValue::Priority => "a whole number from 0 to 5",
            _ => "a whole number above zero",
        };
        let meant = meant_integer(key, &value);
        let meant = meant.filter(|digits| {
            let number = Number { lexeme: digits, unit: None };
            if shape == MetaValue::Priority {
                is_priority(number)
            } else {
                is_positive_integer(number)
            }
        });
        findings.error(|| {
            let message = if code == codes::UNIT_IN_METADATA {
                format!("`{key}` is a number without a unit")
            } else {
                format!("`{key}` is {wanted}")
            };
            let found = Diagnostic::error(code, self.span(), message);
            match meant {
                Some(digits) => found
                    .help(format!("write `{key}:{digits}`"))
                    .fix(Edit::replace(self.span(), digits)),
                None => {
                    let help = match key {
                        "ts" => "write the seconds since 1970, as in `ts:1707600000`".to_owned(),
                        "ttl" => "write whole seconds, as in `ttl:30`".to_owned(),
                        _ => format!("write {wanted}, as in `{key}:1`"),
                    };
                    self.or_leave_out(found.help(help))
                }
            }
        });
    }

    /// `re:_` says that there is nothing to say; leaving the field out says the same. The fix keeps it
    /// as a comment, because a fix drops nothing that somebody wrote.
    fn or_leave_out(&self, found: Diagnostic) -> Diagnostic {
        let demanded = self.tier.is_some_and(|tier| {
            let row = MetaField::from_key(self.key);
            row.is_some_and(|row| {
                matches!(row.presence(tier), Presence::Required | Presence::RequiredInReply)
            })
        });
        if demanded || self.field.value.peeled().kind() != Kind::Null {
            return found;
        }
        let own = self.field.node.span();
        let others = || self.message.meta().map(|field| field.node.span());
        let after = others().find(|other| other.start >= own.end);
        let before = others().take_while(|other| other.end <= own.start).last();
        let span = match (after, before, self.message.meta_node()) {
            (Some(after), _, _) => Span::new(own.start, after.start),
            (None, Some(before), _) => Span::new(before.end, own.end),
            (None, None, Some(meta)) => meta.span(),
            (None, None, None) => own,
        };
        let written = self.field.node.source(span).trim_matches([',', ' ', '\t', '\r', '\n']);
        let gap = if after.is_none() && before.is_some() { " " } else { "" };
        let comment = format!("{gap}(* {written} *)");
        found.help(format!("leave `{}` out", self.key)).fix(Edit::replace(span, comment))
    }
}

/// The integer that a value almost is: quoted, with a fraction of zero, or in another unit of time.
fn meant_integer(key: &str, value: &Expr<'_>) -> Option<String> {
    match value {
        Expr::String(string) => whole(&string.value()).map(str::to_owned),
        Expr::Number(Number { lexeme, unit }) => {
            let (digits, fraction) = lexeme.split_once('.').unwrap_or((lexeme, "0"));
            let digits = whole(digits)?;
            if fraction.bytes().any(|digit| digit != b'0') {
                return None;
            }
            match unit {
                None => Some(digits.to_owned()),
                Some(unit) if matches!(key, "ts" | "ttl") => seconds(digits, *unit),
                Some(_) => None,
            }
        }
        _ => None,
    }
}

/// Exact seconds, or nothing.
fn seconds(digits: &str, unit: Unit) -> Option<String> {
    let factor = match unit {
        Unit::Milliseconds => {
            let whole = digits.strip_suffix("000").filter(|rest| !rest.is_empty())?;
            return Some(whole.to_owned());
        }
        Unit::Seconds => return Some(digits.to_owned()),
        Unit::Minutes => 60u64,
        Unit::Hours => 3_600,
        Unit::Days => 86_400,
        Unit::Percent
        | Unit::Bytes
        | Unit::Kilobytes
        | Unit::Megabytes
        | Unit::Gigabytes
        | Unit::Tokens
        | Unit::Dollars
        | Unit::Euros => return None,
    };
    Some(digits.parse::<u64>().ok()?.checked_mul(factor)?.to_string())
}

/// The performatives that cannot start anything: each of them says what it thinks of another
/// message.
pub(super) fn is_reply(performative: Performative) -> bool {
    use Performative as P;
    matches!(performative, P::Rpl | P::Cfm | P::Dny | P::Acc | P::Rej | P::Ctr)
}
