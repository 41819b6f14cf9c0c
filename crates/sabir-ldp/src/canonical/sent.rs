//! The canonical form of what we are about to send. It nests as our own types do, so that it is written
//! by recursion, and nothing is put aside but the order of an object's keys.

use super::{Canonical, MAX_DEPTH, Number, write as write_value, write_number, write_string};
use crate::wire::{Object, Wire};

/// Somewhere in it is a value without a canonical form, or it is too deep.
pub(super) struct Fault;

/// Writes a message without the field `key` of the outermost object.
pub(super) fn write(wire: &Wire<'_>, key: &str, out: &mut Canonical) -> Result<(), Fault> {
    match wire {
        Wire::Object(object) => write_object(object, 0, Some(key), out),
        Wire::Free(value) => write_value(&**value, 0, Some(key), out).map_err(|_| Fault),
        other => write_at(other, 0, out),
    }
}

fn write_at(wire: &Wire<'_>, depth: usize, out: &mut Canonical) -> Result<(), Fault> {
    match wire {
        Wire::Null => out.text.push_str("null"),
        Wire::Flag(true) => out.text.push_str("true"),
        Wire::Flag(false) => out.text.push_str("false"),
        Wire::Whole(number) => {
            let digits = number.to_string();
            let number = Number::Integer(digits.into());
            return write_number(&number, &mut out.text).map_err(|_| Fault);
        }
        // Of a field that holds nothing else: whoever reads it takes `1` for a double, too.
        Wire::Amount(number) => {
            return write_number(&Number::Double(*number), &mut out.text).map_err(|_| Fault);
        }
        Wire::Text(text) => write_string(text, &mut out.text),
        Wire::Free(value) => return write_value(&**value, depth, None, out).map_err(|_| Fault),
        Wire::List(items) => {
            if depth == MAX_DEPTH {
                return Err(Fault);
            }
            out.text.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.text.push(',');
                }
                write_at(item, depth + 1, out)?;
            }
            out.text.push(']');
        }
        Wire::Object(object) => return write_object(object, depth, None, out),
    }
    Ok(())
}

fn write_object(
    object: &Object<'_>,
    depth: usize,
    without: Option<&str>,
    out: &mut Canonical,
) -> Result<(), Fault> {
    if depth == MAX_DEPTH {
        return Err(Fault);
    }
    // All keys are ours, and ASCII: the order of their bytes is that of their UTF-16 units.
    let mut fields = [("", None); MOST_FIELDS];
    let mut count = 0;
    for (key, value) in object.fields().filter(|(key, _)| Some(*key) != without) {
        *fields.get_mut(count).ok_or(Fault)? = (key, Some(value));
        count += 1;
    }
    let fields = &mut fields[..count];
    fields.sort_unstable_by_key(|(key, _)| *key);
    out.text.push('{');
    for (index, (key, value)) in fields.iter().enumerate() {
        out.text.push_str(if index > 0 { ",\"" } else { "\"" });
        out.text.push_str(key);
        out.text.push_str("\":");
        if let Some(value) = value {
            write_at(value, depth + 1, out)?;
        }
    }
    out.text.push('}');
    Ok(())
}

/// More than any of our objects has. One with more would be written the slow way.
const MOST_FIELDS: usize = 32;
