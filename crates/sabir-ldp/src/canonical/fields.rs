//! The canonical form of the messages that are sent most often, written field by field from our own
//! types: there is no tree to be built before, and no keys to be put into their order.

use std::io::Write as _;

use serde_json::Value;

use super::{Canonical, Number, sent, write, write_number, write_string};
use crate::wire::Wire;

/// Something of ours that is written in its canonical form.
pub(crate) trait Written {
    /// `depth` is how many objects and lists it stands in. A fault is noted in `out`.
    fn write(&self, depth: usize, out: &mut Canonical<'_>);
}

/// The fields of an object, which are put in in the order of their keys.
pub(crate) struct Fields<'c, 'o> {
    out: &'c mut Canonical<'o>,
    /// Of the fields.
    depth: usize,
    /// The last key that was put in; empty before the first.
    last: &'static str,
}

impl<'c, 'o> Fields<'c, 'o> {
    /// Of an object that stands at a depth of `depth`.
    pub(crate) fn of(depth: usize, out: &'c mut Canonical<'o>) -> Self {
        out.bytes.push(b'{');
        Self { out, depth: depth + 1, last: "" }
    }

    pub(crate) fn put(&mut self, key: &'static str, value: &(impl Written + ?Sized)) {
        debug_assert!(self.last < key, "{key} stands behind {}", self.last);
        let bytes = &mut self.out.bytes;
        bytes.extend_from_slice(if self.last.is_empty() { b"\"" } else { b",\"" });
        bytes.extend_from_slice(key.as_bytes());
        bytes.extend_from_slice(b"\":");
        self.last = key;
        value.write(self.depth, self.out);
    }

    /// Leaves the key out where there is nothing; [`put`](Self::put) writes a null.
    pub(crate) fn put_some(&mut self, key: &'static str, value: Option<&(impl Written + ?Sized)>) {
        if let Some(value) = value {
            self.put(key, value);
        }
    }

    pub(crate) fn end(self) {
        self.out.bytes.push(b'}');
    }
}

impl Written for str {
    fn write(&self, _: usize, out: &mut Canonical<'_>) {
        write_string(self, out.bytes);
    }
}

impl Written for String {
    fn write(&self, _: usize, out: &mut Canonical<'_>) {
        write_string(self, out.bytes);
    }
}

impl Written for bool {
    fn write(&self, _: usize, out: &mut Canonical<'_>) {
        out.bytes.extend_from_slice(if *self { b"true" } else { b"false" });
    }
}

impl Written for u64 {
    fn write(&self, _: usize, out: &mut Canonical<'_>) {
        if *self < EXACT {
            // Memory does not fail.
            out.has_fault |= write!(out.bytes, "{self}").is_err();
        } else {
            let number = Number::Integer(self.to_string().into());
            out.has_fault |= write_number(&number, out.bytes).is_err();
        }
    }
}

impl Written for f64 {
    /// JSON has no infinity. Of a field that holds nothing else, so that it stays exact: whoever reads it
    /// takes `1` for a double, too.
    fn write(&self, depth: usize, out: &mut Canonical<'_>) {
        if self.is_finite() {
            out.has_fault |= write_number(&Number::Double(*self), out.bytes).is_err();
        } else {
            None::<bool>.write(depth, out);
        }
    }
}

impl<T: Written> Written for Option<T> {
    fn write(&self, depth: usize, out: &mut Canonical<'_>) {
        match self {
            Some(value) => value.write(depth, out),
            None => out.bytes.extend_from_slice(b"null"),
        }
    }
}

impl<T: Written + ?Sized> Written for &T {
    fn write(&self, depth: usize, out: &mut Canonical<'_>) {
        (**self).write(depth, out);
    }
}

impl<T: Written> Written for [T] {
    fn write(&self, depth: usize, out: &mut Canonical<'_>) {
        out.bytes.push(b'[');
        for (index, item) in self.iter().enumerate() {
            if index > 0 {
                out.bytes.push(b',');
            }
            item.write(depth + 1, out);
        }
        out.bytes.push(b']');
    }
}

impl Written for Value {
    fn write(&self, depth: usize, out: &mut Canonical<'_>) {
        out.has_fault |= write(self, depth, None, out).is_err();
    }
}

impl Written for Wire<'_> {
    fn write(&self, depth: usize, out: &mut Canonical<'_>) {
        sent::write_at(self, depth, out);
    }
}

/// Any number below it is a double, and printed as its digits.
const EXACT: u64 = 1_000_000_000_000_000;
