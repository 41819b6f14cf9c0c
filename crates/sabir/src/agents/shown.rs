//! What other agents say about themselves, for a terminal: in lines that they cannot forge.

use std::fmt::Write as _;
use std::io::Write as _;

use sabir_base::text::{is_hidden, one_line};
use sabir_ldp::{CardFinding, IdentityCard};
use sabir_net::{DelegationError, NewPin};
use sabir_store::StoreError;
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::output::{Notes, Output};

/// A card, in words.
pub(super) fn write_card(output: &mut Output, card: &IdentityCard) -> anyhow::Result<()> {
    let mut line =
        |name: &str, value: &str| writeln!(output, "{name:<12} {}", one_line(value, 200));
    line("delegate", card.delegate_id.as_str())?;
    line("name", &card.name)?;
    if let Some(description) = &card.description {
        line("about", description)?;
    }
    line("model", &format!("{} {}", card.model_family, card.model_version))?;
    line("domain", &card.trust_domain.name)?;
    if let Some(endpoint) = &card.endpoint {
        line("address", endpoint.as_str())?;
    }
    if let Some(key) = &card.public_key {
        line("key", &key.to_hex())?;
    }
    let modes: Vec<&str> = card.supported_payload_modes.iter().map(|it| it.wire_name()).collect();
    line("modes", &modes.join(", "))?;
    for capability in &card.capabilities {
        let mut said = capability.name.as_str().to_owned();
        let quality = &capability.quality;
        if let Some(description) = &capability.description {
            let _ = write!(said, ": {description}");
        }
        let mut claims = Vec::new();
        claims.extend(quality.score.map(|score| format!("quality {:.2}", score.value())));
        claims.extend(quality.latency_p50_ms.map(|ms| format!("{ms} ms")));
        claims.extend(quality.cost_per_call_usd.map(|usd| format!("${usd} a call")));
        if !claims.is_empty() {
            let _ = write!(said, " ({}: {})", quality.claim_type.wire_name(), claims.join(", "));
        }
        line("skill", &said)?;
    }
    Ok(())
}

/// How a command ends that could not be carried out: wrong usage is one thing, a full disk another.
pub(super) fn exit_of(error: &anyhow::Error) -> Exit {
    let is_local = |cause: &(dyn std::error::Error + 'static)| {
        let ours = cause.downcast_ref::<DelegationError>();
        let is_ours = ours.is_some_and(|it| match it {
            DelegationError::Store(_) | DelegationError::NoRandomNumbers => true,
            DelegationError::NobodyKnown
            | DelegationError::SkillNeeded { .. }
            | DelegationError::Task(_)
            | DelegationError::Verify(_) => false,
        });
        let store = cause.downcast_ref::<StoreError>();
        is_ours
            || store.is_some_and(|it| match it {
                StoreError::Failed { .. } | StoreError::Busy { .. } | StoreError::Io { .. } => true,
                StoreError::Closed | StoreError::Damaged { .. } | StoreError::Tampered(_) => true,
                StoreError::InUse { .. } | StoreError::Missing { .. } => false,
                StoreError::NewerSchema { .. } | StoreError::UnknownSession { .. } => false,
                StoreError::BadBatch { .. } | StoreError::TooLarge { .. } => false,
                StoreError::TooMany { .. } | StoreError::Invalid { .. } => false,
                StoreError::KeyExposed { .. } => false,
            })
    };
    if error.chain().any(is_local) { Exit::Found } else { Exit::Unusable }
}

/// A command's end, where trouble of this machine is told apart from wrong usage.
pub(super) fn settle(ran: anyhow::Result<Exit>, notes: &mut Notes) -> anyhow::Result<Exit> {
    match ran {
        Err(error) if exit_of(&error) == Exit::Found => {
            notes.error(error);
            Ok(Exit::Found)
        }
        ran => ran,
    }
}

/// JSON over several lines. What a terminal would obey or hide is written as JSON escapes, which say
/// the same.
pub(super) fn json_text(value: &Value) -> String {
    let text = format!("{value:#}");
    if !text.contains(is_hidden) {
        return text;
    }
    // Outside of strings there is nothing to hide.
    let mut shown = String::with_capacity(text.len() + 64);
    for letter in text.chars() {
        match is_hidden(letter) {
            true => {
                for unit in letter.encode_utf16(&mut [0; 2]) {
                    let _ = write!(shown, "\\u{unit:04x}");
                }
            }
            false => shown.push(letter),
        }
    }
    shown
}

/// Whose key was tied to its id just now.
pub(super) fn first_meeting(pin: &NewPin) -> String {
    let id = one_line(pin.delegate.as_str(), 80);
    format!("first meeting with {id}: its key is {}", pin.key.to_hex())
}

/// What was found wrong with a card, or worth a word.
pub(super) fn findings_json(findings: &[CardFinding]) -> Value {
    findings
        .iter()
        .map(|it| json!({ "gravity": it.gravity, "pointer": it.pointer, "message": it.message }))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_on_a_terminal_is_the_same_json() {
        let said =
            json!({ "a\u{9b}b": "\u{1b}[31m\u{202e}x\u{200b}\u{e0041}\n", "é": ["ü\u{7f}", 1] });
        let text = json_text(&said);
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), said);
        assert!(!text.contains(is_hidden), "{text:?}");
        for escape in ["\\u009b", "\\u001b", "\\u202e", "\\u200b", "\\udb40\\udc41", "\\u007f"] {
            assert!(text.contains(escape), "{escape} in {text}");
        }
    }
}
