//! Integration tests, one module for each concern.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![expect(clippy::disallowed_methods, reason = "the cases are files")]

mod audit;
mod external;
mod machine;
mod model_request;
mod model_stream;
mod patch_errors;
mod patch_hostile;
mod patch_plans;
mod patch_properties;
mod patch_rules;
mod patch_scenarios;
mod properties;
mod repeating;
mod replacing;
mod script;
mod session_ops;
mod settings;
mod wire;
