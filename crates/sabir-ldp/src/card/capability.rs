//! What a delegate can do, and the numbers that it gives for that, in both forms in which they are
//! written: hints beside the name, and an object `quality`.

use sabir_base::json::{JsonError, JsonKind, JsonValue};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::id::SkillName;
use crate::read::{Fields, MAX_ENTRIES, free_json, list, quoted, wire_serde};
use crate::value::Score;

#[derive(Clone, Debug, PartialEq)]
pub struct Capability {
    pub name: SkillName,
    pub description: Option<String>,
    /// JSON Schemas, as the delegate gave them.
    pub input_schema: Option<Value>,
    pub output_schema: Option<Value>,
    pub quality: Quality,
    pub cost_hint: Option<CostTier>,
    pub domains: Vec<String>,
}

/// How well a delegate says to do something. What it does not say is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Quality {
    pub score: Option<Score>,
    pub latency_p50_ms: Option<u64>,
    pub latency_p99_ms: Option<u64>,
    pub cost_per_call_usd: Option<f64>,
    pub max_tokens: Option<u64>,
    pub supports_streaming: bool,
    pub claim_type: ClaimType,
}

/// Where a number comes from, the least trustworthy first.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum ClaimType {
    #[default]
    SelfClaimed,
    IssuerAttested,
    RuntimeObserved,
    ExternallyBenchmarked,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CostTier {
    Low,
    Medium,
    High,
}

impl ClaimType {
    pub const ALL: [ClaimType; 4] = [
        ClaimType::SelfClaimed,
        ClaimType::IssuerAttested,
        ClaimType::RuntimeObserved,
        ClaimType::ExternallyBenchmarked,
    ];

    pub fn wire_name(self) -> &'static str {
        match self {
            Self::SelfClaimed => "self_claimed",
            Self::IssuerAttested => "issuer_attested",
            Self::RuntimeObserved => "runtime_observed",
            Self::ExternallyBenchmarked => "externally_benchmarked",
        }
    }
}

impl CostTier {
    pub const ALL: [CostTier; 3] = [CostTier::Low, CostTier::Medium, CostTier::High];

    pub fn wire_name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }

    pub fn from_wire(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tier| tier.wire_name() == name)
    }
}

impl Capability {
    /// A capability of which only the name is known.
    pub fn named(name: SkillName) -> Self {
        Self {
            name,
            description: None,
            input_schema: None,
            output_schema: None,
            quality: Quality::default(),
            cost_hint: None,
            domains: Vec::new(),
        }
    }

    pub(crate) fn read(value: JsonValue<'_>) -> Result<Self, JsonError> {
        Self::read_with_notes(value, &mut Vec::new())
    }

    /// Reads either form, or the bare name of one dialect. Notes are what was passed over, and where.
    pub(super) fn read_with_notes(
        value: JsonValue<'_>,
        notes: &mut Vec<(String, String)>,
    ) -> Result<Self, JsonError> {
        if value.kind() == JsonKind::String {
            return crate::read::id(value).map(Self::named);
        }
        let fields = Fields::of(value)?;
        let mut quality =
            fields.read("quality", |value| Quality::read(value, notes))?.unwrap_or_default();
        // Both forms may stand side by side; the one that says more wins.
        quality.score = quality.score.or(fields.score("quality_hint")?);
        quality.latency_p50_ms = quality.latency_p50_ms.or(fields.whole("latency_hint_ms_p50")?);
        Ok(Self {
            name: fields.required_id("name")?,
            description: fields.text("description")?,
            input_schema: fields.read("input_schema", schema)?,
            output_schema: fields.read("output_schema", schema)?,
            quality,
            cost_hint: tier(fields, "cost_hint", notes)?,
            domains: fields.texts("domains")?,
        })
    }

    /// Both forms at once: each reference reads its own and passes over the other.
    pub fn to_value(&self) -> Value {
        let mut out = Map::new();
        let mut put = |key: &str, value: Value| drop(out.insert(key.to_owned(), value));
        put("name", self.name.as_str().into());
        put("description", self.description.as_deref().into());
        put("input_schema", self.input_schema.clone().into());
        put("output_schema", self.output_schema.clone().into());
        put("quality", self.quality.to_value());
        put("domains", self.domains.as_slice().into());
        let hints = [
            ("quality_hint", self.quality.score.map(|score| score.value().into())),
            ("latency_hint_ms_p50", self.quality.latency_p50_ms.map(Value::from)),
            ("cost_hint", self.cost_hint.map(|tier| tier.wire_name().into())),
        ];
        for (key, hint) in hints {
            if let Some(hint) = hint {
                put(key, hint);
            }
        }
        Value::Object(out)
    }
}

impl Quality {
    fn read(value: JsonValue<'_>, notes: &mut Vec<(String, String)>) -> Result<Self, JsonError> {
        let fields = Fields::of(value)?;
        let claim_type = match fields.optional("claim_type") {
            None => ClaimType::default(),
            Some(claim) => {
                let name = claim.string()?;
                let known = ClaimType::ALL.into_iter().find(|it| it.wire_name() == name);
                known.unwrap_or_else(|| {
                    let note =
                        format!("unknown claim type {}: read as self_claimed", quoted(&name));
                    notes.push((claim.pointer(), note));
                    ClaimType::SelfClaimed
                })
            }
        };
        Ok(Self {
            score: fields.score("quality_score")?,
            latency_p50_ms: fields.whole("latency_p50_ms")?,
            latency_p99_ms: fields.whole("latency_p99_ms")?,
            cost_per_call_usd: fields.amount("cost_per_call_usd")?,
            max_tokens: fields.whole("max_tokens")?,
            supports_streaming: fields.flag("supports_streaming")?.unwrap_or(false),
            claim_type,
        })
    }

    /// Null where nothing is known: one reference asks for every key of the object.
    fn to_value(self) -> Value {
        if self == Self::default() {
            return Value::Null;
        }
        json!({
            "quality_score": self.score.map(Score::value),
            "latency_p50_ms": self.latency_p50_ms,
            "latency_p99_ms": self.latency_p99_ms,
            "cost_per_call_usd": self.cost_per_call_usd,
            "max_tokens": self.max_tokens,
            "supports_streaming": self.supports_streaming,
            "claim_type": self.claim_type.wire_name(),
        })
    }
}

/// The capabilities of a list, each name once.
pub(crate) fn capability_list(value: JsonValue<'_>) -> Result<Vec<Capability>, JsonError> {
    let capabilities = list(value, MAX_ENTRIES, Capability::read)?;
    let mut names: Vec<&str> = capabilities.iter().map(|it| it.name.as_str()).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(value.error(format!("the capability {} stands twice", quoted(pair[0])))),
        None => Ok(capabilities),
    }
}

/// A cost tier; a word that is none is noted and passed over.
pub(super) fn tier(
    fields: Fields<'_>,
    key: &str,
    notes: &mut Vec<(String, String)>,
) -> Result<Option<CostTier>, JsonError> {
    let Some(value) = fields.optional(key) else { return Ok(None) };
    let name = value.string()?;
    let tier = CostTier::from_wire(&name);
    if tier.is_none() {
        let note = format!("unknown cost tier {}: passed over", quoted(&name));
        notes.push((value.pointer(), note));
    }
    Ok(tier)
}

fn schema(value: JsonValue<'_>) -> Result<Value, JsonError> {
    value.expect_kind(JsonKind::Object)?;
    free_json(value)
}

wire_serde!(Capability, to_value);
