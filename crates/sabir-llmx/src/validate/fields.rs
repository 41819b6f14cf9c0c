//! The fields of a block or a step: those that are there, those that are not, those that are not
//! known.

use sabir_base::{Diagnostic, Edit, Span};

use super::{Validator, value, words};
use crate::block::{BlockInfo, FieldInfo, Presence};
use crate::codes;
use crate::tree::Kind;
use crate::view::{Field, Node};

/// No row of the table has more fields.
pub(super) const MOST_FIELDS: usize = 4;

/// The values of the known fields of one block, in the order of the table. `null` is as good as
/// absent.
pub(super) struct Seen<'a> {
    info: &'static BlockInfo,
    fields: [Option<Field<'a>>; MOST_FIELDS],
    /// Which of them are written, `null` or not.
    written: [bool; MOST_FIELDS],
}

impl<'a> Seen<'a> {
    pub(super) fn field(&self, key: &str) -> Option<Field<'a>> {
        let index = self.info.fields.iter().position(|info| info.key == key)?;
        self.fields.get(index).copied().flatten()
    }

    pub(super) fn get(&self, key: &str) -> Option<Node<'a>> {
        self.field(key).map(|field| field.value)
    }
}

impl Validator {
    /// Checks what is in the braces or parentheses of a block or a step. `owner` is what is marked
    /// when a field is missing.
    #[inline]
    pub(super) fn fields<'a>(
        &mut self,
        info: &'static BlockInfo,
        body: Node<'a>,
        owner: Span,
    ) -> Seen<'a> {
        let fields = [None; MOST_FIELDS];
        let mut seen = Seen { info, fields, written: [false; MOST_FIELDS] };
        let (mut whole, mut all_known) = (true, true);
        for child in body.children() {
            let Some(field) = child.as_field() else {
                whole = false;
                continue;
            };
            let key = field.key();
            match info.fields.iter().position(|info| info.key.eq_ignore_ascii_case(key)) {
                Some(index) => {
                    seen.written[index] = true;
                    if field.value.kind() == Kind::Null {
                        continue;
                    }
                    if seen.fields[index].is_none() {
                        seen.fields[index] = Some(field);
                    }
                    self.value(info, &info.fields[index], field.value);
                }
                None => all_known &= field.is_extension(),
            }
        }
        if !all_known {
            self.unknown_fields(info, body, &seen);
        }
        for (known, field) in info.fields.iter().zip(&seen.fields) {
            if field.is_none() && is_required(known, &seen) && whole {
                self.missing_field(info, known, body, owner);
            }
        }
        seen
    }

    #[cold]
    fn missing_field(&mut self, info: &BlockInfo, field: &FieldInfo, body: Node<'_>, owner: Span) {
        if self.lost_fields(body.span()) {
            return;
        }
        self.findings.error(|| {
            let message = format!("missing required field '{}' in {}", field.key, info.word);
            let example = value::example(field.kind);
            let help = format!("add {}:{example} ({})", field.key, field.summary);
            Diagnostic::error(codes::MISSING_FIELD, owner, message).help(help)
        });
    }

    #[cold]
    fn unknown_fields(&mut self, info: &BlockInfo, body: Node<'_>, seen: &Seen<'_>) {
        for field in body.fields() {
            if info.field(field.key()).is_none() && !field.is_extension() {
                self.findings.warning(|| unknown_field(info, field, seen));
            }
        }
    }
}

fn unknown_field(info: &BlockInfo, field: Field<'_>, seen: &Seen<'_>) -> Diagnostic {
    let (key, word) = (words::shown(field.key()), info.word);
    let message = format!("{word} has no field `{key}`; it is kept");
    let found = Diagnostic::warning(codes::UNKNOWN_FIELD, field.key_span(), message);
    let own = format!("a field of your own is written x_{}", key.to_ascii_lowercase());
    let Some((index, near)) = words::near_field(info, field.key()) else { return found.help(own) };
    let found = found.help(format!("did you mean {} ({})? {own}", near.key, near.summary));
    // The edit must not make a key stand twice, nor a value stand where it does not belong.
    if !seen.written[index] && value::fits(near.kind, field.value) {
        return found.fix(Edit::replace(field.key_span(), near.key));
    }
    found
}

fn is_required(field: &FieldInfo, seen: &Seen<'_>) -> bool {
    match field.presence {
        Presence::Required => true,
        Presence::Optional => false,
        Presence::RequiredIfOk => {
            seen.get("s").and_then(Node::as_text).is_some_and(|status| status == "OK")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::BlockKind;

    #[test]
    fn every_block_has_room_for_its_fields() {
        for kind in BlockKind::STANDARD {
            assert!(kind.info().unwrap().fields.len() <= MOST_FIELDS, "{kind:?}");
        }
    }
}
