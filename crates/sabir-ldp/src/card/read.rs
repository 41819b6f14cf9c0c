//! From a text to a card, with everything that is wrong with it. A person who publishes a card wants
//! to see all its faults at once, so that reading goes on after the first.

use std::collections::BTreeMap;

use sabir_base::json::{JsonError, JsonKind, JsonValue};

use super::capability::tier;
use super::{Capability, CardFinding, CardReading, Endpoint, IdentityCard, TrustDomain};
use crate::id::DelegateId;
use crate::mode::PayloadMode;
use crate::read::{
    Fields, MAX_ENTRIES, MAX_NAME_BYTES, limited_text, list, mode_list, quoted, read_json,
};

/// A card with hundreds of capabilities and their schemas is far below this.
pub const MAX_CARD_BYTES: usize = 1024 * 1024;

impl IdentityCard {
    /// Reads a card in any dialect and checks what it says.
    pub fn check(text: &str) -> CardReading {
        if text.len() > MAX_CARD_BYTES {
            let message = format!("the card is longer than {MAX_CARD_BYTES} bytes");
            return refused(CardFinding::error("", message));
        }
        match read_json(text) {
            Ok(json) => check(json.top()),
            Err(error) => refused(CardFinding::error(error.pointer, error.message)),
        }
    }

    /// Reads a card that stands in a larger text.
    pub(crate) fn read(value: JsonValue<'_>) -> Result<Self, JsonError> {
        check(value).into_card().map_err(|finding| value.error(finding.to_string()))
    }
}

fn refused(finding: CardFinding) -> CardReading {
    CardReading { card: None, findings: vec![finding] }
}

/// What was found so far.
#[derive(Default)]
struct Findings(Vec<CardFinding>);

impl Findings {
    /// The value, or a finding and nothing.
    fn take<T>(&mut self, read: Result<T, JsonError>) -> Option<T> {
        read.map_err(|error| self.0.push(CardFinding::error(error.pointer, error.message))).ok()
    }

    fn note(&mut self, value: JsonValue<'_>, message: impl Into<String>) {
        self.0.push(CardFinding::note(value.pointer(), message));
    }

    fn error(&mut self, value: JsonValue<'_>, message: impl Into<String>) {
        self.0.push(CardFinding::error(value.pointer(), message));
    }
}

fn check(top: JsonValue<'_>) -> CardReading {
    let mut findings = Findings::default();
    let card = match Fields::of(top) {
        Ok(fields) => read_card(top, fields, &mut findings),
        Err(error) => findings.take(Err(error)),
    };
    let is_bad = findings.0.iter().any(|it| it.gravity == super::Gravity::Error);
    CardReading { card: card.filter(|_| !is_bad), findings: findings.0 }
}

/// None if something is missing without which there is no card; then a finding says what.
fn read_card(
    top: JsonValue<'_>,
    fields: Fields<'_>,
    findings: &mut Findings,
) -> Option<IdentityCard> {
    let mut notes = Vec::new();
    let delegate_id = findings.take(fields.required_id("delegate_id"));
    check_form(fields, delegate_id.as_ref(), findings);
    let name = required_name(fields, "name", findings);
    let model_family = required_name(fields, "model_family", findings);
    let model_version = required_name(fields, "model_version", findings);
    let trust_domain = findings.take(fields.required("trust_domain").and_then(TrustDomain::read));
    let context_window =
        findings.take(fields.required("context_window").and_then(crate::read::whole));
    let description = findings.take(fields.text("description"));
    let weights_fingerprint = findings.take(fields.name("weights_fingerprint"));
    let reasoning_profile = findings.take(fields.name("reasoning_profile"));
    let cost_profile = findings.take(tier(fields, "cost_profile", &mut notes));
    let latency_profile = findings.take(fields.name("latency_profile"));
    let jurisdiction = findings.take(fields.name("jurisdiction"));
    let capabilities = capabilities(top, fields, findings, &mut notes);
    let supported_payload_modes = modes(top, fields, findings);
    let endpoint = endpoint(top, fields, findings);
    let metadata = metadata(fields, findings);
    let public_key = findings.take(fields.hex("public_key"));
    if fields.optional("public_key").is_none() {
        findings.note(top, "the card has no `public_key`: nothing signed by it can be checked");
    }
    findings.0.extend(notes.into_iter().map(|(place, note)| CardFinding::note(place, note)));
    Some(IdentityCard {
        delegate_id: delegate_id?,
        name: name?,
        description: description?,
        model_family: model_family?,
        model_version: model_version?,
        weights_fingerprint: weights_fingerprint?,
        trust_domain: trust_domain?,
        context_window: context_window?,
        reasoning_profile: reasoning_profile?,
        cost_profile: cost_profile?,
        latency_profile: latency_profile?,
        jurisdiction: jurisdiction?,
        capabilities,
        supported_payload_modes,
        endpoint,
        metadata,
        public_key: public_key?,
    })
}

fn check_form(fields: Fields<'_>, id: Option<&DelegateId>, findings: &mut Findings) {
    let (Some(id), Some(value)) = (id, fields.optional("delegate_id")) else { return };
    if !id.is_well_formed() {
        findings.error(value, "expected the form ldp:delegate:NAME");
    }
}

fn required_name(fields: Fields<'_>, key: &str, findings: &mut Findings) -> Option<String> {
    let read = fields.required(key).and_then(|value| {
        let name = limited_text(value, MAX_NAME_BYTES)?;
        match name.trim().is_empty() {
            true => Err(value.error(format!("`{key}` is empty"))),
            false => Ok(name),
        }
    });
    findings.take(read)
}

impl TrustDomain {
    fn read(value: JsonValue<'_>) -> Result<Self, JsonError> {
        let fields = Fields::of(value)?;
        let name = fields.required("name")?;
        let domain = Self {
            name: limited_text(name, MAX_NAME_BYTES)?,
            allow_cross_domain: fields.flag("allow_cross_domain")?.unwrap_or(false),
            trusted_peers: fields.texts("trusted_peers")?,
        };
        match domain.name.is_empty() {
            true => Err(name.error("the name of a trust domain is not empty")),
            false => Ok(domain),
        }
    }
}

fn capabilities(
    top: JsonValue<'_>,
    fields: Fields<'_>,
    findings: &mut Findings,
    notes: &mut Vec<(String, String)>,
) -> Vec<Capability> {
    let Some(value) = fields.optional("capabilities") else {
        findings.note(top, "the card lists no capabilities");
        return Vec::new();
    };
    let Some(values) = findings.take(list(value, MAX_ENTRIES, Ok)) else { return Vec::new() };
    let mut capabilities: Vec<Capability> = Vec::new();
    // Names in a set of their own keep a card of many capabilities quick.
    let mut names = std::collections::BTreeSet::new();
    for value in values {
        let read = Capability::read_with_notes(value, notes);
        let Some(capability) = findings.take(read) else { continue };
        if names.insert(capability.name.clone()) {
            capabilities.push(capability);
        } else {
            let name = quoted(capability.name.as_str());
            findings.error(value, format!("the capability {name} stands twice"));
        }
    }
    capabilities
}

fn modes(top: JsonValue<'_>, fields: Fields<'_>, findings: &mut Findings) -> Vec<PayloadMode> {
    let Some(value) = fields.optional("supported_payload_modes") else {
        findings.note(top, "the card lists no payload modes: it is taken to speak text");
        return vec![PayloadMode::Text];
    };
    let Some((modes, unknown)) = findings.take(mode_list(value)) else { return Vec::new() };
    for name in unknown {
        findings.note(value, format!("unknown payload mode {}: passed over", quoted(&name)));
    }
    if !modes.contains(&PayloadMode::Text) {
        findings.error(value, "the mode \"text\" is missing: every delegate speaks it");
    }
    modes
}

fn endpoint(top: JsonValue<'_>, fields: Fields<'_>, findings: &mut Findings) -> Option<Endpoint> {
    let found = fields.optional("endpoint").filter(|value| value.text() != "\"\"");
    let Some(value) = found else {
        findings.note(top, "the card has no endpoint: it is taken to be where the card came from");
        return None;
    };
    let read = value.string().and_then(|text| {
        Endpoint::new(text.into_owned()).map_err(|error| value.error(error.to_string()))
    });
    findings.take(read)
}

fn metadata(fields: Fields<'_>, findings: &mut Findings) -> BTreeMap<String, String> {
    let mut metadata = BTreeMap::new();
    let Some(value) = fields.optional("metadata") else { return metadata };
    if value.kind() != JsonKind::Object {
        findings.take(value.expect_kind(JsonKind::Object));
        return metadata;
    }
    if value.children().count() > MAX_ENTRIES {
        findings.error(value, format!("expected at most {MAX_ENTRIES} entries"));
        return metadata;
    }
    for (key, value) in value.fields() {
        if key.len() > MAX_NAME_BYTES {
            findings.error(value, format!("expected a key of at most {MAX_NAME_BYTES} bytes"));
        } else if let Some(text) = findings.take(limited_text(value, MAX_NAME_BYTES)) {
            metadata.insert(key.to_owned(), text);
        }
    }
    metadata
}
