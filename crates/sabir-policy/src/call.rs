//! Tool calls that a model proposes: from the call, what is known around it and the policy file to the
//! facts that the gate decides by, and on to the question, the binding and the audit row. It runs
//! nothing and reads no page.

mod facts;
mod rules;

pub use facts::{AddressKind, Budget, CallFacts, FieldKind, Limits, OriginKind, Reading};
