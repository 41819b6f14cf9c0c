//! JSON read faithfully, for the languages that can be written as JSON.
//!
//! A decoder of a notation needs what a tree of maps loses: the order of keys, a key that stands
//! twice, the digits of `1.50`, and the place of a value, so that an error can point at it. Here a
//! text becomes a flat list of values that borrow from it.
//!
//! ```
//! use sabir_base::json::{Json, JsonError};
//!
//! let json = Json::read(r#"{"retry": 1.50, "to": ["@a", 7]}"#, 16)?;
//! let to = json.top().required("to", "a message")?;
//! assert_eq!(json.top().required("retry", "a message")?.text(), "1.50");
//!
//! let error = to.children().try_for_each(|name| name.string().map(drop)).unwrap_err();
//! assert_eq!(error.to_string(), "at /to/1: expected a string, found a number");
//! # Ok::<(), JsonError>(())
//! ```
//!
//! This module knows JSON and no notation. It refuses what no notation can mean: duplicate keys, and
//! escapes that name no character.

mod digits;
mod error;
mod read;
mod scan;
mod value;

pub use digits::{is_long_integer, long_integer};
pub use error::{JsonError, JsonFault};
pub use read::{Json, MAX_BYTES};
pub use scan::{depth, string_end};
pub use value::{JsonKind, JsonValue};
