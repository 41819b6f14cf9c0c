//! The canonical form of what we are about to send. It nests as our own types do, so that it is written
//! by recursion, and nothing is put aside but the order of an object's keys.

use serde_json::Value;

use super::{Canonical, Fields, MAX_DEPTH, Written, write as write_value};
use crate::wire::{Object, Wire};

/// Writes a message without the field `key` of the outermost object.
pub(super) fn write(wire: &Wire<'_>, key: &str, out: &mut Canonical<'_>) {
    match wire {
        Wire::Object(object) => write_object(object, 0, Some(key), out),
        Wire::Free(value) => out.has_fault |= write_value(&**value, 0, Some(key), out).is_err(),
        other => write_at(other, 0, out),
    }
}

pub(super) fn write_at(wire: &Wire<'_>, depth: usize, out: &mut Canonical<'_>) {
    match wire {
        Wire::Null => None::<bool>.write(depth, out),
        Wire::Flag(flag) => flag.write(depth, out),
        Wire::Whole(number) => number.write(depth, out),
        Wire::Amount(number) => number.write(depth, out),
        Wire::Text(text) => <str as Written>::write(text, depth, out),
        Wire::Free(value) => <Value as Written>::write(value, depth, out),
        // What we send nests far less deep, but for what is not ours.
        Wire::List(_) | Wire::Object(_) if depth == MAX_DEPTH => out.has_fault = true,
        Wire::List(items) => items.as_slice().write(depth, out),
        Wire::Object(object) => write_object(object, depth, None, out),
    }
}

fn write_object(object: &Object<'_>, depth: usize, without: Option<&str>, out: &mut Canonical<'_>) {
    // All keys are ours, and ASCII: the order of their bytes is that of their UTF-16 units.
    let mut sorted = [("", None); MOST_FIELDS];
    let mut count = 0;
    for (key, value) in object.fields().filter(|(key, _)| Some(*key) != without) {
        let Some(place) = sorted.get_mut(count) else {
            out.has_fault = true;
            return;
        };
        *place = (key, Some(value));
        count += 1;
    }
    let sorted = &mut sorted[..count];
    sorted.sort_unstable_by_key(|(key, _)| *key);
    let mut fields = Fields::of(depth, out);
    for (key, value) in sorted {
        fields.put_some(key, *value);
    }
    fields.end();
}

/// More than any of our objects has. One with more would be written the slow way.
const MOST_FIELDS: usize = 32;
