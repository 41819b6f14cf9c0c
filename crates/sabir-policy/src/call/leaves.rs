//! The single values inside of arguments, each with its place, without recursion.

use serde_json::{Map, Value};

/// A value that holds no other.
#[derive(Debug)]
pub(super) struct Leaf<'a> {
    /// A JSON pointer.
    pub(super) pointer: String,
    /// The name that it stands under, or that the list it is in stands under.
    pub(super) key: &'a str,
    pub(super) value: &'a Value,
}

impl<'a> Leaf<'a> {
    pub(super) fn text(&self) -> Option<&'a str> {
        self.value.as_str()
    }
}

/// All of them in the order in which they are written.
pub(super) fn leaves(arguments: &Map<String, Value>) -> impl Iterator<Item = Leaf<'_>> {
    let mut waiting: Vec<Leaf<'_>> = members("", arguments).rev().collect();
    std::iter::from_fn(move || {
        while let Some(leaf) = waiting.pop() {
            match leaf.value {
                Value::Object(object) if !object.is_empty() => {
                    waiting.extend(members(&leaf.pointer, object).rev());
                }
                Value::Array(items) if !items.is_empty() => {
                    let items = items.iter().enumerate().rev();
                    waiting.extend(items.map(|(place, value)| Leaf {
                        pointer: extended(&leaf.pointer, &place.to_string()),
                        key: leaf.key,
                        value,
                    }));
                }
                _ => return Some(leaf),
            }
        }
        None
    })
}

fn members<'a>(
    pointer: &str,
    object: &'a Map<String, Value>,
) -> impl DoubleEndedIterator<Item = Leaf<'a>> {
    object.iter().map(move |(key, value)| {
        let name = key.replace('~', "~0").replace('/', "~1");
        Leaf { pointer: extended(pointer, &name), key, value }
    })
}

/// A place so deep or so oddly named that nobody reads it is cut, or every level of a deep value
/// would cost as much as all above it.
fn extended(pointer: &str, name: &str) -> String {
    if pointer.len() > MAX_POINTER_BYTES {
        return pointer.to_owned();
    }
    let name = &name[..name.floor_char_boundary(MAX_POINTER_BYTES)];
    format!("{pointer}/{name}")
}

const MAX_POINTER_BYTES: usize = 256;
