//! What a task says in words, for those who read and do not parse.

use serde_json::Value;

/// The instruction of a frame, with what stands beside it; a text as it is; all else as JSON.
pub(crate) fn in_words(input: &Value) -> String {
    match input {
        Value::String(text) => text.clone(),
        Value::Object(fields) => {
            let Some(Value::String(instruction)) = fields.get("instruction") else {
                return input.to_string();
            };
            let beside: serde_json::Map<String, Value> = fields
                .iter()
                .filter(|(key, _)| !matches!(key.as_str(), "instruction" | "task_type"))
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect();
            match beside.is_empty() {
                true => instruction.clone(),
                false => format!("{instruction}\n\n{}", Value::Object(beside)),
            }
        }
        _ => input.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_frame_is_its_instruction_and_what_is_beside_it() {
        assert_eq!(in_words(&json!("do it")), "do it");
        assert_eq!(in_words(&json!({ "task_type": "x", "instruction": "do it" })), "do it");
        assert_eq!(
            in_words(&json!({ "instruction": "do it", "file": "a" })),
            "do it\n\n{\"file\":\"a\"}"
        );
        assert_eq!(in_words(&json!([1])), "[1]");
    }
}
