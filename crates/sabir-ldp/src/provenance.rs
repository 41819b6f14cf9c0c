//! Who made a result, how, and who checked it. It knows the record; filling it with what was measured
//! is for whoever ran the task.

use std::sync::Arc;

use sabir_base::json::{JsonError, JsonValue};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::canonical::{Canonical, Fields as Members, Written};
use crate::id::{ContractId, DelegateId, SessionId};
use crate::mode::PayloadMode;
use crate::read::{Fields, MAX_ENTRIES, MAX_NAME_BYTES, limited_text, list, number, wire_serde};
use crate::time::Stamp;
use crate::value::Score;
use crate::wire::{Object, Wire};

#[derive(Clone, Debug, PartialEq)]
pub struct Provenance {
    pub produced_by: DelegateId,
    pub model_version: String,
    pub payload_mode_used: PayloadMode,
    /// What the producer thinks of its own result.
    pub confidence: Option<Score>,
    pub verification: VerificationStatus,
    /// Which rule, tool, delegate or person checked the result.
    pub verified_by: Option<String>,
    pub session_id: Option<SessionId>,
    pub timestamp: Option<Stamp>,
    pub tokens_used: Option<u64>,
    pub cost_usd: Option<f64>,
    pub latency_ms: Option<u64>,
    pub contract_id: Option<ContractId>,
    pub contract_satisfied: Option<bool>,
    /// The names of what was broken; see [`Violation`](crate::Violation) for ours.
    pub contract_violations: Vec<String>,
    pub evidence: Vec<Evidence>,
    /// Through whose hands the result went, the newest first.
    pub lineage: Arc<[LineageHop]>,
    /// It outlives the session.
    pub signature: Option<RecordSignature>,
}

/// The signature of a record, as it stands in it. Whether it holds is for those to say who check it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordSignature {
    pub algorithm: String,
    pub public_key: String,
    pub signature: String,
    /// How this record leads to what was signed, if it was signed with others.
    pub path: Vec<String>,
}

/// Who checked a result. A claim of the producer, unless the reader knows better.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum VerificationStatus {
    #[default]
    Unverified,
    SelfVerified,
    PeerVerified,
    ToolVerified,
    HumanVerified,
}

/// Something that speaks for a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    pub source: String,
    pub kind: String,
    pub uri: Option<String>,
    pub summary: Option<String>,
}

/// One step of a result's way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineageHop {
    pub delegate_id: DelegateId,
    pub model_version: String,
    pub step: String,
    pub timestamp: Option<Stamp>,
    pub verification: VerificationStatus,
}

impl VerificationStatus {
    pub const ALL: [VerificationStatus; 5] = [
        VerificationStatus::Unverified,
        VerificationStatus::SelfVerified,
        VerificationStatus::PeerVerified,
        VerificationStatus::ToolVerified,
        VerificationStatus::HumanVerified,
    ];

    pub fn wire_name(self) -> &'static str {
        match self {
            Self::Unverified => "unverified",
            Self::SelfVerified => "self_verified",
            Self::PeerVerified => "peer_verified",
            Self::ToolVerified => "tool_verified",
            Self::HumanVerified => "human_verified",
        }
    }

    /// Whether somebody else than the producer is said to have checked.
    pub fn is_independent(self) -> bool {
        match self {
            Self::Unverified | Self::SelfVerified => false,
            Self::PeerVerified | Self::ToolVerified | Self::HumanVerified => true,
        }
    }

    /// A status that we never heard of claims nothing that we could believe.
    fn read(fields: Fields<'_>) -> Result<Self, JsonError> {
        let name = fields.name("verification_status")?.unwrap_or_default();
        let known = Self::ALL.into_iter().find(|status| status.wire_name() == name);
        Ok(known.unwrap_or_default())
    }
}

impl Provenance {
    /// A record of which only what every record has is known.
    pub fn new(
        produced_by: DelegateId,
        model_version: impl Into<String>,
        payload_mode_used: PayloadMode,
    ) -> Self {
        Self {
            produced_by,
            model_version: model_version.into(),
            payload_mode_used,
            confidence: None,
            verification: VerificationStatus::Unverified,
            verified_by: None,
            session_id: None,
            timestamp: None,
            tokens_used: None,
            cost_usd: None,
            latency_ms: None,
            contract_id: None,
            contract_satisfied: None,
            contract_violations: Vec::new(),
            evidence: Vec::new(),
            lineage: Arc::default(),
            signature: None,
        }
    }

    pub(crate) fn read(value: JsonValue<'_>) -> Result<Self, JsonError> {
        let fields = Fields::of(value)?;
        // The status is what counts. A bare `verified: true` is the producer speaking for itself.
        let verification = match VerificationStatus::read(fields)? {
            VerificationStatus::Unverified if fields.flag("verified")? == Some(true) => {
                VerificationStatus::SelfVerified
            }
            status => status,
        };
        let evidence = fields.read("evidence", |it| list(it, MAX_ENTRIES, Evidence::read))?;
        let lineage = fields.read("lineage", |it| list(it, MAX_ENTRIES, LineageHop::read))?;
        fields.required("payload_mode_used")?;
        Ok(Self {
            produced_by: fields.required_id("produced_by")?,
            model_version: fields.name("model_version")?.unwrap_or_default(),
            payload_mode_used: fields.mode("payload_mode_used")?.unwrap_or(PayloadMode::Text),
            // One that is out of range says nothing; the rest is worth as much as before.
            confidence: fields.read("confidence", number)?.and_then(Score::new),
            verification,
            verified_by: fields.name("verified_by")?,
            session_id: fields.id_or_empty("session_id")?,
            timestamp: fields.stamp("timestamp")?,
            tokens_used: fields.whole("tokens_used")?,
            cost_usd: fields.amount("cost_usd")?,
            latency_ms: fields.whole("latency_ms")?,
            contract_id: fields.id_or_empty("contract_id")?,
            contract_satisfied: fields.flag("contract_satisfied")?,
            contract_violations: fields.texts("contract_violations")?,
            evidence: evidence.unwrap_or_default(),
            lineage: lineage.map(Arc::from).unwrap_or_default(),
            signature: fields.read("signature", RecordSignature::read)?,
        })
    }

    pub fn to_value(&self) -> Value {
        self.to_wire().to_value()
    }

    pub(crate) fn to_wire(&self) -> Wire<'_> {
        let mut out = Object::with_room(18);
        out.put("produced_by", self.produced_by.as_str());
        out.put("model_version", self.model_version.as_str());
        out.put("payload_mode_used", self.payload_mode_used.wire_name());
        out.put("confidence", self.confidence.map(Score::value));
        out.put("verified", self.verification != VerificationStatus::Unverified);
        out.put("session_id", self.session_id.as_ref().map(SessionId::as_str));
        out.put("timestamp", self.timestamp.as_ref().map(|stamp| stamp.text.as_str()));
        out.put("tokens_used", self.tokens_used);
        out.put("cost_usd", self.cost_usd);
        out.put("contract_id", self.contract_id.as_ref().map(ContractId::as_str));
        out.put("contract_satisfied", self.contract_satisfied);
        out.put("contract_violations", self.contract_violations.as_slice());
        out.put("verification_status", self.verification.wire_name());
        out.put("evidence", Wire::list(self.evidence.iter().map(Evidence::to_wire)));
        out.put("lineage", Wire::list(self.lineage.iter().map(LineageHop::to_wire)));
        out.put_some("verified_by", self.verified_by.as_deref());
        out.put_some("latency_ms", self.latency_ms);
        out.put_some("signature", self.signature.as_ref().map(RecordSignature::to_wire));
        out.into()
    }
}

impl Provenance {
    /// Writes what [`to_wire`](Self::to_wire) says in its canonical form, without the signature.
    pub(crate) fn write_unsigned(&self, out: &mut Canonical<'_>) {
        self.write_with(None, 0, out);
    }

    fn write_with(
        &self,
        signature: Option<&RecordSignature>,
        depth: usize,
        out: &mut Canonical<'_>,
    ) {
        let mut out = Members::of(depth, out);
        out.put("confidence", &self.confidence.map(Score::value));
        out.put("contract_id", &self.contract_id.as_ref().map(ContractId::as_str));
        out.put("contract_satisfied", &self.contract_satisfied);
        out.put("contract_violations", self.contract_violations.as_slice());
        out.put("cost_usd", &self.cost_usd);
        out.put("evidence", self.evidence.as_slice());
        out.put_some("latency_ms", self.latency_ms.as_ref());
        out.put("lineage", &*self.lineage);
        out.put("model_version", &self.model_version);
        out.put("payload_mode_used", self.payload_mode_used.wire_name());
        out.put("produced_by", self.produced_by.as_str());
        out.put("session_id", &self.session_id.as_ref().map(SessionId::as_str));
        out.put_some("signature", signature);
        out.put("timestamp", &self.timestamp.as_ref().map(|stamp| stamp.text.as_str()));
        out.put("tokens_used", &self.tokens_used);
        out.put("verification_status", self.verification.wire_name());
        out.put("verified", &(self.verification != VerificationStatus::Unverified));
        out.put_some("verified_by", self.verified_by.as_ref());
        out.end();
    }
}

impl Written for Provenance {
    fn write(&self, depth: usize, out: &mut Canonical<'_>) {
        self.write_with(self.signature.as_ref(), depth, out);
    }
}

impl Written for RecordSignature {
    fn write(&self, depth: usize, out: &mut Canonical<'_>) {
        let mut out = Members::of(depth, out);
        out.put("algorithm", &self.algorithm);
        out.put_some("path", (!self.path.is_empty()).then_some(self.path.as_slice()));
        out.put("public_key", &self.public_key);
        out.put("signature", &self.signature);
        out.end();
    }
}

impl Written for Evidence {
    fn write(&self, depth: usize, out: &mut Canonical<'_>) {
        let mut out = Members::of(depth, out);
        out.put("kind", &self.kind);
        out.put("source", &self.source);
        out.put("summary", &self.summary);
        out.put("uri", &self.uri);
        out.end();
    }
}

impl Written for LineageHop {
    fn write(&self, depth: usize, out: &mut Canonical<'_>) {
        let mut out = Members::of(depth, out);
        out.put("delegate_id", self.delegate_id.as_str());
        out.put("model_version", &self.model_version);
        out.put("step", &self.step);
        out.put("timestamp", &self.timestamp.as_ref().map(|stamp| stamp.text.as_str()));
        out.put("verification_status", self.verification.wire_name());
        out.end();
    }
}

impl RecordSignature {
    pub(crate) fn read(value: JsonValue<'_>) -> Result<Self, JsonError> {
        let fields = Fields::of(value)?;
        let step = |it| limited_text(it, MAX_NAME_BYTES);
        let path = fields.read("path", |it| list(it, MAX_PATH, step))?;
        Ok(Self {
            algorithm: fields.name("algorithm")?.unwrap_or_default(),
            public_key: fields.name("public_key")?.unwrap_or_default(),
            signature: fields.name("signature")?.unwrap_or_default(),
            path: path.unwrap_or_default(),
        })
    }

    pub fn to_value(&self) -> Value {
        self.to_wire().to_value()
    }

    fn to_wire(&self) -> Wire<'_> {
        let mut out = Object::with_room(4);
        out.put("algorithm", self.algorithm.as_str());
        out.put("public_key", self.public_key.as_str());
        out.put("signature", self.signature.as_str());
        if !self.path.is_empty() {
            out.put("path", self.path.as_slice());
        }
        out.into()
    }
}

impl Evidence {
    fn read(value: JsonValue<'_>) -> Result<Self, JsonError> {
        let fields = Fields::of(value)?;
        Ok(Self {
            source: fields.name("source")?.unwrap_or_default(),
            kind: fields.name("kind")?.unwrap_or_default(),
            uri: fields.text("uri")?,
            summary: fields.text("summary")?,
        })
    }

    fn to_wire(&self) -> Wire<'_> {
        let mut out = Object::with_room(4);
        out.put("source", self.source.as_str());
        out.put("kind", self.kind.as_str());
        out.put("uri", self.uri.as_deref());
        out.put("summary", self.summary.as_deref());
        out.into()
    }
}

impl LineageHop {
    fn read(value: JsonValue<'_>) -> Result<Self, JsonError> {
        let fields = Fields::of(value)?;
        Ok(Self {
            delegate_id: fields.required_id("delegate_id")?,
            model_version: fields.name("model_version")?.unwrap_or_default(),
            step: fields.name("step")?.unwrap_or_default(),
            timestamp: fields.stamp("timestamp")?,
            verification: VerificationStatus::read(fields)?,
        })
    }

    fn to_wire(&self) -> Wire<'_> {
        let mut out = Object::with_room(5);
        out.put("delegate_id", self.delegate_id.as_str());
        out.put("model_version", self.model_version.as_str());
        out.put("step", self.step.as_str());
        out.put("timestamp", self.timestamp.as_ref().map(|stamp| stamp.text.as_str()));
        out.put("verification_status", self.verification.wire_name());
        out.into()
    }
}

/// More records than anybody signs at once have shorter paths.
const MAX_PATH: usize = 64;

wire_serde!(Provenance);
wire_serde!(LineageHop);
