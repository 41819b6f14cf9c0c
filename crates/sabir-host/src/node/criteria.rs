//! The success criteria of a contract, held against an output. What is written for people only is
//! left to people: it is neither met nor broken here.

use sabir_base::text::one_line;
use serde_json::Value;

use crate::desk::check_data;

/// What of the criteria was checked and does not hold. A criterion that is a JSON object is a JSON
/// Schema; a few words are understood; all others are for people.
pub(super) fn unmet(criteria: &[String], output: &Value) -> Vec<String> {
    let mut ours = criteria.iter().filter_map(|criterion| Criterion::read(criterion));
    let mut unmet: Vec<String> =
        ours.by_ref().take(MOST).filter_map(|it| it.check(output)).collect();
    if ours.next().is_some() {
        // Those that nobody looked at do not count as met.
        unmet.push(format!("more than {MOST} criteria are not checked"));
    }
    unmet
}

/// A criterion that can be checked, as it was written.
enum Criterion<'a> {
    Schema(&'a str),
    NotEmpty(&'a str),
    Json(&'a str),
}

impl<'a> Criterion<'a> {
    fn read(criterion: &'a str) -> Option<Self> {
        let text = criterion.trim();
        if text.starts_with('{') {
            return Some(Self::Schema(text));
        }
        let words = text.trim_end_matches('.').to_ascii_lowercase();
        match words.as_str() {
            "not empty" | "output is not empty" | "the output is not empty" => {
                Some(Self::NotEmpty(text))
            }
            "valid json" | "output is valid json" | "the output is valid json" => {
                Some(Self::Json(text))
            }
            _ => None,
        }
    }

    /// What is said if it does not hold.
    fn check(&self, output: &Value) -> Option<String> {
        match self {
            Self::Schema(text) => check_schema(text, output),
            Self::NotEmpty(text) => is_empty(output).then(|| (*text).to_owned()),
            Self::Json(text) => (!is_json(output)).then(|| (*text).to_owned()),
        }
    }
}

/// A text is if it can be read as JSON; every other value is JSON already.
fn is_json(output: &Value) -> bool {
    match output {
        Value::String(text) => serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok(),
        _ => true,
    }
}

fn check_schema(text: &str, output: &Value) -> Option<String> {
    if text.len() > LONGEST_SCHEMA {
        return Some(format!("a schema of {} bytes is too long to be checked", text.len()));
    }
    // Read without recursion limits elsewhere; here the depth is bounded by what reads it.
    let Ok(schema) = read_shallow(text) else {
        return Some(format!("{}: this is no JSON Schema", one_line(text, 80)));
    };
    // One place is enough to say that it does not hold.
    let fault = check_data(&schema, output).into_iter().next()?;
    let place = if fault.pointer.is_empty() { "the output" } else { fault.pointer.as_str() };
    Some(format!("{place}: {}", fault.message))
}

/// A schema that is deeper than this is no description of anything.
fn read_shallow(text: &str) -> Result<Value, serde_json::Error> {
    let deepest = text.bytes().fold((0_usize, 0_usize), |(open, most), byte| match byte {
        b'{' | b'[' => (open + 1, most.max(open + 1)),
        b'}' | b']' => (open.saturating_sub(1), most),
        _ => (open, most),
    });
    match deepest.1 <= DEEPEST_SCHEMA {
        true => serde_json::from_str(text),
        false => Err(serde::de::Error::custom("too deep")),
    }
}

fn is_empty(output: &Value) -> bool {
    match output {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

const MOST: usize = 64;
const LONGEST_SCHEMA: usize = 64 << 10;
const DEEPEST_SCHEMA: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(criterion: &str, output: &Value) -> Vec<String> {
        unmet(&[criterion.to_owned()], output)
    }

    #[test]
    fn schemas_and_a_few_words_are_checked_and_others_are_for_people() {
        let schema = r#"{"type":"object","required":["sum"]}"#;
        assert!(of(schema, &json!({ "sum": 3 })).is_empty());
        assert_eq!(of(schema, &json!({})).len(), 1);
        assert_eq!(of("Output is not empty.", &json!("  ")), ["Output is not empty."]);
        assert!(of("output is not empty", &json!(0)).is_empty());
        assert_eq!(of("valid JSON", &json!("{")), ["valid JSON"]);
        assert!(of("reads well", &json!("")).is_empty());
    }

    /// LD-N20: what is judged is the output as it is delivered.
    #[test]
    fn texts_and_values_are_told_apart() {
        let (empty, valid) = ("output is not empty", "output is valid JSON");
        let object = r#"{"type":"object"}"#;
        for (output, is_filled, is_valid, is_object) in [
            (json!(null), false, true, false),
            (json!({}), false, true, true),
            (json!([]), false, true, false),
            (json!(""), false, false, false),
            (json!(" \n\t"), false, false, false),
            (json!(0), true, true, false),
            (json!(false), true, true, false),
            (json!([null]), true, true, false),
            // Texts that say a value: they are no such value, and say JSON.
            (json!("{}"), true, true, false),
            (json!(" [1] \n"), true, true, false),
            (json!("\"said\""), true, true, false),
            (json!("null"), true, true, false),
            // And texts that only look like it.
            (json!("said"), true, false, false),
            (json!("{} and more"), true, false, false),
            (json!("{'a': 1}"), true, false, false),
            (json!("```json\n{}\n```"), true, false, false),
            (json!("[1,]"), true, false, false),
        ] {
            let held = [empty, valid, object].map(|criterion| of(criterion, &output).is_empty());
            assert_eq!(held, [is_filled, is_valid, is_object], "{output}");
        }
    }

    #[test]
    fn no_criterion_is_passed_over_in_silence() {
        let mut criteria = vec!["reads well".to_owned(); 1000];
        criteria.extend(vec!["not empty".to_owned(); MOST]);
        assert!(unmet(&criteria, &json!(1)).is_empty());
        criteria.push(r#"{"type":"string"}"#.to_owned());
        assert_eq!(unmet(&criteria, &json!(1)), ["more than 64 criteria are not checked"]);
    }

    #[test]
    fn what_cannot_be_checked_is_not_met() {
        assert_eq!(of("{ this is not JSON", &json!(1)).len(), 1);
        assert_eq!(of(r#"{"type":"nonsense"}"#, &json!(1)).len(), 1);
        let deep = format!("{}1{}", r#"{"not":"#.repeat(1000), "}".repeat(1000));
        assert_eq!(of(&deep, &json!(1)).len(), 1);
        let long = format!(r#"{{"title":"{}"}}"#, "x".repeat(LONGEST_SCHEMA));
        assert_eq!(of(&long, &json!(1)).len(), 1);
        assert_eq!(of(r##"{"$ref":"#"}"##, &json!(1)).len(), 1);
    }
}
