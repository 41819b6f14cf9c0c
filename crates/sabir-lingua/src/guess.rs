//! In which tongue a text is written, as far as it shows.

use serde_json::Value;

use crate::convert::{Tongue, convert};

/// The tongue of a text. `None` for one that is in no tongue of ours.
pub fn guess(text: &str) -> Option<Tongue> {
    if text.trim_start().starts_with(['{', '[']) && serde_json::from_str::<Value>(text).is_ok() {
        let is_frame = convert(text, Tongue::Frame, Tongue::Frame).is_ok();
        return Some(if is_frame { Tongue::Frame } else { Tongue::Json });
    }
    let axon = sabir_axon::parse(text);
    if !axon.has_errors() && axon.tree.messages().next().is_some() {
        return Some(Tongue::Axon);
    }
    let llmx = sabir_llmx::parse(text);
    let is_llmx = !llmx.has_errors() && llmx.tree.messages().next().is_some();
    is_llmx.then_some(Tongue::Llmx)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_shows_its_tongue() {
        let frame = r#"{"task_type":"ask","instruction":"x"}"#;
        for (text, tongue) in [
            ("INF(@a>@b): ok", Some(Tongue::Axon)),
            ("HEADER:{f:a,t:b,s:1} RES:{o:ACK}", Some(Tongue::Llmx)),
            (frame, Some(Tongue::Frame)),
            ("[1, 2]", Some(Tongue::Json)),
            ("The tide is out.", None),
            ("{", None),
            ("", None),
        ] {
            assert_eq!(guess(text), tongue, "{text}");
        }
    }
}
