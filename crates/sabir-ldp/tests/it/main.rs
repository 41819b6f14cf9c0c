//! The integration tests of sabir-ldp, in one binary.

mod delegate_contracts;
mod delegate_records;
mod delegate_sessions;
mod delegate_tasks;
mod initiator;
mod machine_hostile;
mod machine_refusals;
mod machine_rules;
mod machine_transcript;
mod node;
mod sim;
