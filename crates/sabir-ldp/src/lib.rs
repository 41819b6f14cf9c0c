//! The protocol between agents: who they are, how they agree on terms, what they say.
//!
//! This crate computes. Time, ids and random bytes come in as arguments; it names no transport, no
//! clock, no file and no random source. What a peer sends is read once into checked types, whatever
//! dialect it is written in, and refused with a place and a reason if it cannot be.

mod card;
mod contract;
mod envelope;
mod error;
mod id;
mod mode;
mod payload;
mod provenance;
mod read;
mod route;
mod schema;
mod time;
mod value;

pub use card::{
    Capability, CardFinding, CardReading, ClaimType, CostTier, Endpoint, EndpointError, Gravity,
    IdentityCard, LabelError, MAX_CARD_BYTES, Quality, TrustDomain,
};
pub use contract::{Budget, Contract, ContractPolicy, FailurePolicy, Violation};
pub use envelope::{
    Acceptance, Attestation, Body, Cancellation, Closing, DEFAULT_TTL_SECS, Envelope, Failure,
    Fault, Hello, MAX_DEPTH, Malformed, Manifest, MessageType, Outcome, Proposal, Received,
    Recipient, Rejection, STATUS_QUERY, Submission, TaskState, Update,
};
pub use error::{ErrorCategory, LdpError, Refusal, Severity};
pub use id::{
    ContractId, DelegateId, IdError, MAX_ID_BYTES, MessageId, SessionId, SkillName, TaskId,
};
pub use mode::{Negotiated, PayloadMode, negotiate};
pub use payload::{
    Edge, Frame, Graph, Hint, Hints, MAX_DIMENSION, MAX_EDGES, MAX_HINTS, MAX_NODES, Node, Payload,
    PayloadError,
};
pub use provenance::{Evidence, LineageHop, Provenance, VerificationStatus};
pub use route::{
    Admission, Attempt, AttemptState, Breaker, BreakerSettings, CallBudget, Choice, Claims,
    Estimate, EvidenceError, Exploration, FailureKind, Filter, GivenUp, Listing, PassedOver,
    PathError, PathLimits, Plan, PlanInput, PlanOutput, PlanSettings, Ranked, Request, RouteError,
    Router, RouterSettings, Strategy, Tally, TallyRecord, TaskOutcome, Verdict, Why, check_path,
    extend_path, tier_cost_usd,
};
pub use schema::{card_schema, envelope_schema};
pub use time::{Stamp, TimeError, Timestamp};
pub use value::{HexBytes, KeyBytes, Score, SignatureBytes};
