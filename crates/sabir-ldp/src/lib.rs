//! The protocol between agents: who they are, how they agree on terms, what they say.
//!
//! This crate computes. Time, ids and random bytes come in as arguments; it names no transport, no
//! clock, no file and no random source. What a peer sends is read once into checked types, whatever
//! dialect it is written in, and refused with a place and a reason if it cannot be.

mod canonical;
mod card;
mod contract;
mod delegate;
mod envelope;
mod error;
mod hex;
mod id;
mod initiator;
mod mode;
mod moment;
mod payload;
mod provenance;
mod read;
mod replay;
mod route;
mod schema;
mod seal;
mod sign;
mod time;
mod trust;
mod value;
mod wire;

pub use canonical::{CanonicalFault, NotCanonical, canonical_text, canonical_value};
pub use card::{
    Capability, CardFinding, CardReading, ClaimType, CostTier, Endpoint, EndpointError, Gravity,
    IdentityCard, LabelError, MAX_CARD_BYTES, Quality, TrustDomain,
};
pub use contract::{Budget, Contract, ContractPolicy, FailurePolicy, Violation};
pub use delegate::{
    Attested, Authentication, Declined, Delegate, DelegateLimits, DelegateSettings, Ending,
    Finished, HowEnded, Input as DelegateInput, KeptKeys, Opened, Output as DelegateOutput, Record,
    Refused, RequestId, Seen, StopReason, TaskDigest, TaskEnded, TaskEvent, TaskKey, TaskOrder,
    TaskStart, TaskStarted, TaskUpdated, Usage, read_records, read_seen, spell_out_records,
    write_records,
};
pub use envelope::{
    Acceptance, Attestation, Body, Cancellation, Closing, DEFAULT_TTL_SECS, Envelope, Failure,
    Fault, Hello, MAX_DEPTH, Malformed, Manifest, MessageType, Outcome, Proposal, Received,
    Recipient, Rejection, STATUS_QUERY, Submission, TaskState, Update, Weighed,
};
pub use error::{ErrorCategory, LdpError, Refusal, Severity};
pub use id::{
    ContractId, DelegateId, IdError, MAX_ID_BYTES, MessageId, SessionId, SkillName, TaskId,
};
pub use initiator::{
    Arrival, ExchangeId, Initiator, InitiatorSettings, Input as InitiatorInput,
    Output as InitiatorOutput, Patience, Report, Signing, TaskRequest, UpdateOf,
};
pub use mode::{Negotiated, PayloadMode, negotiate};
pub use moment::Moment;
pub use payload::{
    Edge, Frame, Graph, Hint, Hints, MAX_DIMENSION, MAX_EDGES, MAX_HINTS, MAX_NODES, Node, Payload,
    PayloadError,
};
pub use provenance::{Evidence, LineageHop, Provenance, RecordSignature, VerificationStatus};
pub use replay::{ReplayFault, ReplayLimits, ReplayRecord, ReplayWindow};
pub use route::{
    Attempt, AttemptState, Breaker, BreakerGate, BreakerRecord, BreakerSettings, CallBudget,
    Choice, Claims, Estimate, EvidenceError, Exploration, FailureKind, Filter, GivenUp, Listing,
    PassedOver, PathError, PathLimits, Plan, PlanInput, PlanOutput, PlanSettings, Ranked, Request,
    RouteError, Router, RouterSettings, Strategy, Tally, TallyRecord, TaskOutcome, Verdict, Why,
    check_path, extend_path, tier_cost_usd,
};
pub use schema::{card_schema, envelope_schema};
pub use seal::{Seal, SealError};
pub use sign::{
    Algorithm, Handshake, Nonce, PublicKey, PublicKeyError, RecordFault, SessionKey, SessionKeys,
    ShareError, ShareSecret, SharedSecret, SignatureFault, SignedMessage, Signer, SigningBytes,
    SigningKey, UnsignedRecord, Verifier, sign_attestation, sign_envelope, sign_fields,
    sign_provenance, sign_records, verify_attestation, verify_provenance,
};
pub use time::{Stamp, TimeError, Timestamp};
pub use trust::{
    Admission, Backing, Basis, Channel, Credential, Fingerprint, Holder, Mark, Means, Origin, Peer,
    SignaturePolicy, Standing, Trust, TrustFault,
};
pub use value::{HexBytes, KeyBytes, Score};
