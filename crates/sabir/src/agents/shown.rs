//! What other agents say about themselves, for a terminal: in lines that they cannot forge.

use std::fmt::Write as _;
use std::io::Write as _;

use sabir_base::text::one_line;
use sabir_ldp::{CardFinding, IdentityCard};
use sabir_net::NewPin;
use serde_json::{Value, json};

use crate::output::Output;

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
