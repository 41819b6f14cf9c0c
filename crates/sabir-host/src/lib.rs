//! Drives the engine: processes, the sandbox, files, the clock, model clients and tools.

#![expect(clippy::disallowed_methods, reason = "this crate is where the world is touched")]

mod actions;
mod audit;
mod clock;
mod desk;
mod egress;
mod engine;
mod error;
mod files;
mod mcp;
mod model;
mod node;
mod policy;
pub mod process;
mod reading;
pub mod sandbox;
pub mod secrets;
mod tools;

pub use actions::{
    Action, ActionSetup, Actions, ActionsError, Content, Failure, LinksOnDisk, Observation, Order,
    Progress, Question,
};
pub use desk::{
    Answered, Ask, CallReport, CaptureNews, CaptureOptions, CaptureReport, Change, Cited, Desk,
    DeskError, DeskModel, DeskSetup, Input, InputError, InputReader, Integrations, Kept, Made,
    Note, PDF_ARGUMENT, Petition, Reading, ShareFormat, Shared, ToolSet, USUAL_BUDGET, check_data,
    check_input, check_schema, count_changes, open_existing_library, open_library,
    open_library_to_read, search_host, show_changes, transform_kinds, write_new, written,
};
pub use egress::guard_under;
pub use engine::{Connection, Defaults, Engine, Incoming, Setup, Shown};
pub use error::HostError;
pub use files::{
    Applied, AppliedFile, ApplyError, BeforeFile, Recovered, Root, Undo, apply, keep, recover,
    revert,
};
pub use mcp::{
    ExternalTool, Mcp, McpConfig, McpConfigError, McpError, McpNotice, McpOutput, possible_names,
};
pub use model::{
    LocalServer, ModelClient, ModelStream, Provider, ProviderError, Providers, Secret,
    detect_local, probe_local,
};
pub use node::{
    Agent, AgentConfig, Approval, Approvals, Broken, CallerConfig, Condition, Decision,
    DelegateConfig, Echo, Evidence, Follow, IdentityConfig, Llmcp, LlmcpConfig, LlmcpTask, News,
    Node, NodeConfig, NodeConfigError, NodeCounts, NodeError, NodeSettings, NotWaiting, PeerConfig,
    Program, ProgramConfig, Skill, SkillConfig, SkillKind, SkillKit, Surroundings, TlsConfig, Told,
    node_signing_key,
};
pub use policy::{PolicyFault, PolicyFileError, load_policy, policy_file};
pub use reading::{read_file_text, read_private, read_text};
