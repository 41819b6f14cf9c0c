//! A title for a session that was given none: the first words of its user.

use sabir_base::text::one_line;
use serde::Deserialize;

/// The first text of a submission whose op is `user_input`, on one line and shortened.
pub(crate) fn first_input(submission: &str) -> Option<String> {
    // Most submissions are approvals and interrupts; looking for the word is cheaper than parsing.
    if !submission.contains(USER_INPUT) {
        return None;
    }
    // Some keep the envelope, some only what is in it.
    let op = serde_json::from_str(submission)
        .map(|Submission { op }| op)
        .or_else(|_| serde_json::from_str::<Op>(submission))
        .ok()?;
    if op.kind != USER_INPUT {
        return None;
    }
    op.items.iter().filter_map(|item| shorten(item.text.as_deref()?)).next()
}

fn shorten(text: &str) -> Option<String> {
    let title = one_line(text, LENGTH);
    (!title.is_empty()).then_some(title)
}

#[derive(Deserialize)]
struct Submission {
    op: Op,
}

#[derive(Deserialize)]
struct Op {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    items: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    text: Option<String>,
}

const USER_INPUT: &str = "user_input";

/// Characters: what a list of sessions has room for beside the other columns.
const LENGTH: usize = 80;

#[cfg(test)]
mod tests {
    use super::*;

    fn input(text: &str) -> Option<String> {
        let op = serde_json::json!({ "type": "user_input", "items": [
            { "type": "image", "image_url": "x" }, { "type": "text", "text": text },
        ]});
        first_input(&serde_json::json!({ "id": "1", "op": op }).to_string())
    }

    #[test]
    fn the_first_text_on_one_line() {
        assert_eq!(input(" fix\n  the\ttest "), Some("fix the test".to_owned()));
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        let title = input(&"ü".repeat(500)).unwrap();
        assert_eq!(title, format!("{}…", "ü".repeat(LENGTH)));
        assert_eq!(input(&"ü".repeat(LENGTH)), Some("ü".repeat(LENGTH)));
    }

    #[test]
    fn an_op_without_its_envelope_is_read_too() {
        let op = r#"{"type":"user_input","items":[{"type":"text","text":"hello"}]}"#;
        assert_eq!(first_input(op), Some("hello".to_owned()));
    }

    #[test]
    fn other_submissions_give_none() {
        assert_eq!(input("   "), None);
        for other in [
            r#"{"id":"1","op":{"type":"interrupt"}}"#,
            r#"{"id":"user_input","op":{"type":"interrupt","items":[{"text":"x"}]}}"#,
            r#"{"op":"user_input"}"#,
            "user_input, but no JSON",
        ] {
            assert_eq!(first_input(other), None, "{other}");
        }
    }
}
