//! Who should do a task: cards and outcomes in, a ranked and explained choice out; and what to do when
//! the chosen one fails.
//!
//! Claims are where an opinion starts, outcomes are what changes it. It fetches nothing, starts nothing
//! and knows no clock.

mod breaker;
mod choice;
mod claim;
mod estimate;
mod evidence;
mod index;
mod path;
mod plan;
mod request;
mod router;
mod symbols;
mod top;

pub use breaker::{Breaker, BreakerGate, BreakerRecord, BreakerSettings};
pub use choice::{Choice, Filter, PassedOver, Ranked, Why};
pub use claim::{Claims, tier_cost_usd};
pub use estimate::{Estimate, Exploration};
pub use evidence::{EvidenceError, Tally, TallyRecord, TaskOutcome, Verdict};
pub use path::{PathError, PathLimits, check_path, extend_path};
pub use plan::{
    Attempt, AttemptState, FailureKind, GivenUp, Plan, PlanInput, PlanOutput, PlanSettings,
};
pub use request::{CallBudget, Request, Strategy};
pub use router::{Listing, RouteError, Router, RouterSettings};
