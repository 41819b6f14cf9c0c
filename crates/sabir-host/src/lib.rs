//! Drives the engine: processes, the sandbox, files, the clock, model clients and tools.

mod mcp;

pub use mcp::{
    ExternalTool, Mcp, McpConfig, McpConfigError, McpError, McpNotice, McpOutput, ToolEffects,
};
