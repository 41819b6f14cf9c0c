//! TOON: what the reference library for Rust makes of the baseline's value.

use anyhow::Result;
use serde_json::Value;

pub(super) fn of(value: &Value) -> Result<String> {
    Ok(toon_format::encode_default(value)?)
}
