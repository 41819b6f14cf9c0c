//! One value against what its field holds.

use std::borrow::Cow;

use sabir_base::{Diagnostic, Edit};

use super::{Validator, words};
use crate::block::{BlockInfo, BlockKind, FieldInfo, FieldKind, Presence};
use crate::codes;
use crate::normal;
use crate::strings::quote;
use crate::tree::Kind;
use crate::view::Node;

/// An edit with more text than this helps nobody who reads it.
const LONGEST_FIX: usize = 1 << 10;

impl Validator {
    #[inline]
    pub(super) fn value(&mut self, info: &BlockInfo, field: &FieldInfo, value: Node<'_>) {
        let kind = value.kind();
        if kind == Kind::Error || kind == Kind::Run && is_refused(value) {
            return;
        }
        match field.kind {
            FieldKind::Text | FieldKind::Name | FieldKind::Target => match is_text(kind) {
                true => self.text(info, field, value),
                false => self.wrong_type(info, field, value),
            },
            FieldKind::Texts | FieldKind::Paths => match kind {
                Kind::Array => self.texts(info, field, value),
                _ => self.wrong_type(info, field, value),
            },
            FieldKind::Receiver => match kind {
                Kind::Array => self.receivers(info, field, value),
                _ if is_text(kind) => self.text(info, field, value),
                _ => self.wrong_type(info, field, value),
            },
            FieldKind::StepId => match kind {
                Kind::Number => {}
                _ if is_text(kind) => self.text(info, field, value),
                _ => self.wrong_type(info, field, value),
            },
            FieldKind::Integer { min, max } => match kind {
                Kind::Number if integer(value.text(), min, max).is_some() => {}
                Kind::Number => self.not_an_integer(info, field, value),
                _ => self.wrong_type(info, field, value),
            },
            FieldKind::Bool => match kind {
                Kind::True | Kind::False => {}
                _ => self.wrong_type(info, field, value),
            },
            FieldKind::Object => match kind {
                Kind::Object | Kind::Tuple => {}
                _ => self.wrong_type(info, field, value),
            },
            FieldKind::OneOf(all) => match value.as_text() {
                Some(word) if all.contains(&&*word) => {}
                Some(word) => self.unknown_status(info, field, value, &word),
                None => self.wrong_type(info, field, value),
            },
            FieldKind::Operation(all) => match value.as_text() {
                Some(word) if all.contains(&&*word) => {}
                Some(word) => self.unknown_operation(all, value, &word),
                None => self.wrong_type(info, field, value),
            },
        }
    }

    /// A text is never wrong, but it may say nothing.
    #[inline]
    fn text(&mut self, info: &BlockInfo, field: &FieldInfo, value: Node<'_>) {
        if is_empty(value) {
            self.empty_text(info, field, value);
        }
    }

    #[cold]
    fn empty_text(&mut self, info: &BlockInfo, field: &FieldInfo, value: Node<'_>) {
        let (word, key) = (info.word, field.key);
        let is_name = field.kind.is_bare();
        // An optional text may be empty; a name names something.
        if field.presence != Presence::Required && !is_name {
            return;
        }
        let make = |new: fn(_, _, String) -> Diagnostic| {
            new(codes::EMPTY_TEXT, value.span(), format!("{word}.{key} is empty"))
                .help(format!("fill it in: {}", field.summary))
        };
        if info.kind == BlockKind::Header && field.presence == Presence::Required {
            // Without these nobody can answer.
            self.findings.error(|| make(Diagnostic::error));
        } else {
            self.findings.warning(|| make(Diagnostic::warning));
        }
    }

    fn texts(&mut self, info: &BlockInfo, field: &FieldInfo, list: Node<'_>) {
        let mut count = 0usize;
        for item in normal::items(list) {
            count += 1;
            if !is_text(item.kind()) && item.kind() != Kind::Error {
                self.wrong_item(info, field, item);
            }
        }
        if count == 0 && field.presence == Presence::Required {
            self.empty_list(info, field, list);
        }
    }

    #[cold]
    fn empty_list(&mut self, info: &BlockInfo, field: &FieldInfo, list: Node<'_>) {
        self.findings.warning(|| {
            let message = format!("{}.{} is empty", info.word, field.key);
            Diagnostic::warning(codes::EMPTY_LIST, list.span(), message)
                .help(format!("fill it in: {}", field.summary))
        });
    }

    #[cold]
    fn wrong_item(&mut self, info: &BlockInfo, field: &FieldInfo, item: Node<'_>) {
        self.findings.error(|| {
            let (word, key) = (info.word, field.key);
            let found = found(item);
            let message = format!("{word}.{key} is a list of texts, and this is {found}");
            quoting(Diagnostic::error(codes::ITEM_TYPE, item.span(), message), item)
        });
    }

    #[cold]
    fn receivers(&mut self, info: &BlockInfo, field: &FieldInfo, list: Node<'_>) {
        let mut items = normal::items(list);
        let (first, second) = (items.next(), items.next());
        let Some(first) = first else {
            self.findings.error(|| {
                let message = format!("{}.{} is empty", info.word, field.key);
                Diagnostic::error(codes::EMPTY_TEXT, list.span(), message)
                    .help("name a receiver, or write ALL")
            });
            return;
        };
        self.findings.warning(|| {
            let message = "a HEADER has one receiver, or ALL";
            let found = Diagnostic::warning(codes::SEVERAL_RECEIVERS, list.span(), message);
            if second.is_none() && is_text(first.kind()) {
                return found
                    .help("leave out the brackets")
                    .fix(Edit::replace(list.span(), first.text()));
            }
            found.help("send a message to each of them, or to ALL")
        });
        for item in normal::items(list) {
            match item.kind() {
                Kind::Error => {}
                kind if is_text(kind) => self.text(info, field, item),
                _ => self.wrong_item(info, field, item),
            }
        }
    }

    #[cold]
    fn not_an_integer(&mut self, info: &BlockInfo, field: &FieldInfo, value: Node<'_>) {
        self.findings.error(|| {
            let (word, key) = (info.word, field.key);
            let (number, expected) = (words::shown(value.text()), expected(field.kind));
            let message = format!("{word}.{key} is {number}, and has to be {expected}");
            let found = Diagnostic::error(codes::NOT_AN_INTEGER, value.span(), message);
            // `2.0` is whole, only not written so.
            let whole = value.text().split_once('.').filter(|(_, fraction)| {
                !fraction.is_empty() && fraction.bytes().all(|byte| byte == b'0')
            });
            match (whole, field.kind) {
                (Some((whole, _)), FieldKind::Integer { min, max })
                    if integer(whole, min, max).is_some() =>
                {
                    found.help(format!("write {whole}")).fix(Edit::replace(value.span(), whole))
                }
                _ => found.help(format!("write {expected}")),
            }
        });
    }

    #[cold]
    fn unknown_status(&mut self, info: &BlockInfo, field: &FieldInfo, value: Node<'_>, word: &str) {
        self.findings.error(|| {
            let (block, key) = (info.word, field.key);
            let (shown, expected) = (words::shown(word), expected(field.kind));
            let message = format!("{block}.{key} is `{shown}`, and has to be {expected}");
            let found = Diagnostic::error(codes::UNKNOWN_STATUS, value.span(), message);
            match words::near_status(info.kind, word) {
                Some(near) => {
                    found.help(format!("write {near}")).fix(Edit::replace(value.span(), near))
                }
                None => found.help(format!("write {expected}")),
            }
        });
    }

    #[cold]
    fn unknown_operation(&mut self, all: &[&'static str], value: Node<'_>, word: &str) {
        self.findings.warning(|| {
            let message = format!("the operation `{}` is not known", words::shown(word));
            let found = Diagnostic::warning(codes::UNKNOWN_OPERATION, value.span(), message);
            match words::near_operation(all, word) {
                Some((near, true)) => {
                    found.help(format!("write {near}")).fix(Edit::replace(value.span(), near))
                }
                Some((near, false)) => found.help(format!("did you mean {near}?")),
                None => found.help(format!("the operations are {}", all.join(", "))),
            }
        });
    }

    #[cold]
    fn wrong_type(&mut self, info: &BlockInfo, field: &FieldInfo, value: Node<'_>) {
        self.findings.error(|| {
            let (word, key) = (info.word, field.key);
            let (found, expected) = (found(value), expected(field.kind));
            let message = format!("{word}.{key} is {found}, and has to be {expected}");
            let diagnostic = Diagnostic::error(codes::FIELD_TYPE, value.span(), message);
            match retype(field.kind, value) {
                Some(text) if text.len() <= LONGEST_FIX => diagnostic
                    .help(format!("write {}", words::shown(&text)))
                    .fix(Edit::replace(value.span(), text)),
                _ => diagnostic.help(format!("write {key}:{}", example(field.kind))),
            }
        });
    }
}

/// Whether a value is of the type of a field; nothing is said about it.
pub(super) fn fits(kind: FieldKind, value: Node<'_>) -> bool {
    let found = value.kind();
    match kind {
        FieldKind::Name | FieldKind::Text | FieldKind::Target => is_text(found),
        FieldKind::Receiver => is_text(found),
        FieldKind::StepId => found == Kind::Number || is_text(found),
        FieldKind::Texts | FieldKind::Paths => {
            found == Kind::Array && normal::items(value).all(|item| is_text(item.kind()))
        }
        FieldKind::Integer { min, max } => {
            found == Kind::Number && integer(value.text(), min, max).is_some()
        }
        FieldKind::Bool => matches!(found, Kind::True | Kind::False),
        FieldKind::Object => matches!(found, Kind::Object | Kind::Tuple),
        FieldKind::OneOf(all) => value.as_text().is_some_and(|word| all.contains(&&*word)),
        FieldKind::Operation(_) => is_text(found),
    }
}

/// What a field may look like.
pub(super) fn example(kind: FieldKind) -> Cow<'static, str> {
    Cow::Borrowed(match kind {
        FieldKind::Name | FieldKind::Receiver => "NAME",
        FieldKind::StepId => "1",
        FieldKind::Text | FieldKind::Target => "\"...\"",
        FieldKind::Texts | FieldKind::Paths => "[\"...\"]",
        FieldKind::Integer { min, .. } => return Cow::Owned(min.max(1).to_string()),
        FieldKind::Bool => "true",
        FieldKind::Object => "{key:value}",
        FieldKind::OneOf(all) | FieldKind::Operation(all) => {
            all.first().copied().unwrap_or_default()
        }
    })
}

#[inline(always)]
pub(super) fn is_text(kind: Kind) -> bool {
    matches!(kind, Kind::String | Kind::Word | Kind::Run)
}

/// The number, if it is written with digits alone and lies between the two.
pub(super) fn integer(lexeme: &str, min: i64, max: i64) -> Option<i64> {
    let digits = lexeme.bytes().all(|byte| byte.is_ascii_digit());
    let number: i64 = digits.then(|| lexeme.parse().ok())??;
    (min <= number && number <= max).then_some(number)
}

/// Whether the parser has refused this text without quotes, whatever its field holds.
fn is_refused(run: Node<'_>) -> bool {
    run.text().contains(['|', '?'])
}

fn is_empty(text: Node<'_>) -> bool {
    text.kind() == Kind::String && text.text().len() <= 2 && text.text() == "\"\""
}

fn expected(kind: FieldKind) -> Cow<'static, str> {
    Cow::Borrowed(match kind {
        FieldKind::Name | FieldKind::Receiver => "a name",
        FieldKind::StepId => "a number or a name",
        FieldKind::Text | FieldKind::Target => "a text",
        FieldKind::Texts | FieldKind::Paths => "a list of texts",
        FieldKind::Integer { min, max } => {
            return Cow::Owned(format!("a whole number from {min} to {max}"));
        }
        FieldKind::Bool => "true or false",
        FieldKind::Object => "an object",
        FieldKind::OneOf(all) => return Cow::Owned(format!("one of {}", all.join(", "))),
        FieldKind::Operation(_) => "a word",
    })
}

fn found(value: Node<'_>) -> &'static str {
    match value.kind() {
        Kind::String | Kind::Word | Kind::Run => "a text",
        Kind::Number => "a number",
        Kind::True | Kind::False => "a boolean",
        Kind::Array => "a list",
        Kind::Object | Kind::Tuple => "an object",
        Kind::Null => "null",
        Kind::Document | Kind::Message | Kind::Block | Kind::Field | Kind::Error => "no value",
    }
}

/// Numbers and booleans become texts by quotes.
fn quoting(diagnostic: Diagnostic, item: Node<'_>) -> Diagnostic {
    match item.kind() {
        Kind::Number | Kind::True | Kind::False if item.text().len() <= LONGEST_FIX => {
            let quoted = quote(item.text());
            let help = format!("put it into quotes: {}", words::shown(&quoted));
            diagnostic.help(help).fix(Edit::replace(item.span(), quoted))
        }
        _ => diagnostic.help("write a text in quotes"),
    }
}

/// The value in the type of its field, where that is obvious.
fn retype(kind: FieldKind, value: Node<'_>) -> Option<String> {
    let is_scalar = matches!(value.kind(), Kind::Number | Kind::True | Kind::False);
    let text = value.as_text();
    match kind {
        FieldKind::Name | FieldKind::Receiver | FieldKind::Text | FieldKind::Target
            if is_scalar =>
        {
            Some(quote(value.text()))
        }
        FieldKind::StepId if is_scalar => Some(quote(value.text())),
        FieldKind::Texts | FieldKind::Paths => text.map(|text| format!("[{}]", quote(&text))),
        FieldKind::Integer { min, max } => {
            text.filter(|text| integer(text, min, max).is_some()).map(Cow::into_owned)
        }
        FieldKind::Bool => {
            let text = text?;
            ["true", "false"]
                .into_iter()
                .find(|&word| word.eq_ignore_ascii_case(&text))
                .map(str::to_owned)
        }
        _ => None,
    }
}
