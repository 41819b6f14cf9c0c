//! Drives the engine: processes, the sandbox, files, the clock, model clients and tools.

#![expect(clippy::disallowed_methods, reason = "this crate is where the world is touched")]

mod actions;
mod audit;
mod clock;
mod config_check;
mod conversations;
mod crew;
mod desk;
mod dry_run;
mod egress;
mod engine;
mod error;
mod examples;
mod feed;
mod files;
mod inbox;
mod language;
mod mcp;
mod model;
mod node;
mod policy;
pub mod process;
mod reading;
pub mod record;
pub mod sandbox;
pub mod secrets;
mod tools;
mod visits;

pub use actions::{
    Action, ActionSetup, Actions, ActionsError, Content, Failure, LinksOnDisk, Observation, Order,
    Progress, Question,
};
pub use config_check::{Around, check_around, check_config, config_keys};
pub use conversations::{Conversation, ConversationError, ConversationState, Conversations};
pub use crew::{Crew, CrewSetup, MEMBERS, Member, MemberState, OwnIds};
pub use desk::{
    Answered, Ask, CallReport, CaptureNews, CaptureOptions, CaptureReport, Change, Cited, Desk,
    DeskError, DeskModel, DeskSetup, Input, InputError, InputReader, Integrations, Kept, Made,
    Note, PDF_ARGUMENT, Petition, Reading, ShareFormat, Shared, ToolSet, USUAL_BUDGET, check_data,
    check_input, check_schema, count_changes, open_existing_library, open_library,
    open_library_to_read, show_changes, transform_kinds, write_new, written,
};
pub use dry_run::DryRun;
pub use egress::guard_under;
pub use engine::{
    Connection, Defaults, Engine, Incoming, Origin, Setup, Shown, SpawnRequest, Spawned, Spawner,
};
pub use error::HostError;
pub use examples::{EXAMPLE_COLLECTION, EXAMPLE_PAGES, EXAMPLE_QUESTION};
pub use feed::{Feed, FeedScope, FeedStream};
pub use files::{
    Applied, AppliedFile, ApplyError, BeforeFile, Recovered, Root, Undo, apply, keep, recover,
    revert,
};
pub use inbox::{Asked, Asker, Closed, Decision, Inbox, Matter, MatterKind, Undecided, Word};
pub use language::{Finding, MOST_TEXT_BYTES, TextChange, axon_changes, findings};
pub use mcp::{ExternalTool, Mcp, McpConfig, McpConfigError, McpError, McpNotice, McpOutput};
pub use model::{
    LocalServer, ModelClient, ModelStream, Provider, ProviderError, Providers, Secret,
    detect_local, probe_local,
};
pub use node::{
    Agent, AgentConfig, Broken, CallerConfig, Condition, CrewConfig, DelegateConfig, Echo,
    Evidence, Follow, IdentityConfig, Llmcp, LlmcpConfig, LlmcpTask, News, Node, NodeConfig,
    NodeConfigError, NodeCounts, NodeError, NodeSettings, PeerConfig, Program, ProgramConfig,
    ResearcherConfig, ServeConfig, Skill, SkillConfig, SkillKind, SkillKit, Surroundings,
    TelemetryConfig, TlsConfig, Told, is_host_name, node_signing_key,
};
pub use policy::{
    PolicyFault, PolicyFileError, config_file, load_policy, load_policy_with, policy_file,
};
pub use reading::{read_file_text, read_private, read_text};
pub use visits::{
    Consent, Deed, Patron, Patrons, Standing, TaskGate, Visit, VisitGate, VisitRefused,
};
