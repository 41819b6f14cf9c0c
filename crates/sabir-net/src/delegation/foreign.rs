//! What is made for those who have no cards and no provenance of this protocol: a card of what they
//! offer, and a record of what we measured.

use sabir_base::text::one_line;
use sabir_ldp::{
    Capability, DelegateId, ErrorCategory, IdentityCard, LdpError, MAX_ID_BYTES, PayloadMode,
    Provenance, Refusal, Severity, SkillName, TrustDomain,
};
use serde_json::Value;

use super::remote::Product;
use crate::ldp::client::now;

/// Something that can be asked for.
pub(super) struct Offer {
    pub(super) name: String,
    pub(super) description: Option<String>,
    pub(super) input_schema: Option<Value>,
}

/// A card for who is known by an address. It claims nothing; its id is made of the address.
pub(super) fn foreign_card(
    address: &str,
    name: &str,
    version: &str,
    offers: Vec<Offer>,
) -> Result<IdentityCard, String> {
    let delegate_id = DelegateId::new(id_of(address))
        .map_err(|error| format!("its address names nobody: {error}"))?;
    let capabilities = offers.into_iter().filter_map(|offer| {
        let mut capability = Capability::named(SkillName::new(offer.name).ok()?);
        capability.description = offer.description;
        capability.input_schema = offer.input_schema;
        Some(capability)
    });
    // Nobody vouches for it.
    let domain = TrustDomain::closed("unknown");
    Ok(IdentityCard {
        model_version: named_or(version, "unknown"),
        capabilities: capabilities.collect(),
        ..IdentityCard::named(delegate_id, named_or(name, address), domain)
    })
}

/// A card says a name; who has none is called otherwise.
fn named_or(name: &str, otherwise: &str) -> String {
    let name = if name.trim().is_empty() { otherwise } else { name };
    one_line(name, 200)
}

/// An address in the form that ids on cards have, each in one of its own.
fn id_of(address: &str) -> String {
    let mut id = "ldp:delegate:".to_owned();
    for byte in address.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => id.push(char::from(byte)),
            b':' | b'/' | b'.' | b'-' | b'_' | b'+' | b'[' | b']' => id.push(char::from(byte)),
            other => id.push_str(&format!("%{other:02X}")),
        }
    }
    if id.len() > MAX_ID_BYTES {
        // FNV-1a of the whole: commands and paths are long, and begin alike.
        let step = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        let hash = address.bytes().fold(0xcbf2_9ce4_8422_2325, step);
        id.truncate(MAX_ID_BYTES - 17);
        id.push_str(&format!("~{hash:016x}"));
    }
    id
}

/// A result with what we know of its making.
pub(super) fn measured(
    delegate: &DelegateId,
    version: &str,
    output: Value,
    mode: PayloadMode,
) -> Product {
    let mut provenance = Provenance::new(delegate.clone(), one_line(version, 200), mode);
    provenance.timestamp = Some(now().into());
    Product { output, provenance, mode, signed_record: None }
}

/// Nobody is there, or nobody who can be spoken to. Somebody else may be.
pub(super) fn unreachable(address: &str, why: &str) -> LdpError {
    LdpError {
        code: "UNREACHABLE".to_owned(),
        category: ErrorCategory::Transport,
        message: format!("{}: {}", one_line(address, 200), one_line(why, 500)),
        severity: Severity::Error,
        retryable: true,
        partial_output: None,
    }
}

/// It said no, in its own words.
pub(super) fn said_no(refusal: Refusal, words: &str) -> LdpError {
    refusal.error(sabir_base::text::clip(words, 4000).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// LD-C23: what is kept of a card is read again as every card is.
    #[test]
    fn a_card_that_we_made_is_a_good_card() {
        let mut ids = Vec::new();
        for address in
            ["a2a://127.0.0.1:9/x", "mcp://[::1]:9/mcp", "mcp+stdio:a 'b c'", "mcp+stdio:é%"]
        {
            let offer = || Offer {
                name: "write".to_owned(),
                description: Some("writes".to_owned()),
                input_schema: Some(serde_json::json!({ "type": "object" })),
            };
            for offers in [vec![offer()], vec![]] {
                let card = foreign_card(address, "", "", offers).unwrap();
                let read = IdentityCard::check(&serde_json::to_string(&card).unwrap());
                assert_eq!(read.card.as_ref(), Some(&card), "{address}: {:?}", read.findings);
            }
            ids.push(foreign_card(address, "", "", vec![]).unwrap().delegate_id.to_string());
        }
        assert_eq!(
            ids,
            [
                "ldp:delegate:a2a://127.0.0.1:9/x",
                "ldp:delegate:mcp://[::1]:9/mcp",
                "ldp:delegate:mcp+stdio:a%20%27b%20c%27",
                "ldp:delegate:mcp+stdio:%C3%A9%25",
            ]
        );
        let long =
            |end: &str| foreign_card(&format!("a2a://{}{end}", "x".repeat(400)), "", "", vec![]);
        let (one, other) = (long("1").unwrap().delegate_id, long("2").unwrap().delegate_id);
        assert!(one != other && one.is_well_formed());
    }
}
