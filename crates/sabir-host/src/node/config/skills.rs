//! What a node offers, and who does it.

use std::path::PathBuf;

use sabir_ldp::{CostTier, SkillName};
use sabir_policy::SandboxMode;

use super::NodeConfigError;
use super::section::Section;

#[derive(Debug, Clone, PartialEq)]
pub struct SkillConfig {
    pub name: SkillName,
    pub description: Option<String>,
    pub domains: Vec<String>,
    pub cost_hint: Option<CostTier>,
    pub kind: SkillKind,
}

#[derive(Debug, Clone, PartialEq)]
pub enum SkillKind {
    Echo,
    Program(ProgramConfig),
    Agent(AgentConfig),
    Llmcp(LlmcpConfig),
}

/// A program: trusted, unless a sandbox is named.
#[derive(Debug, Clone, PartialEq)]
pub struct ProgramConfig {
    pub argv: Vec<String>,
    pub cwd: Option<PathBuf>,
    pub env: Vec<(String, String)>,
    /// Variables that are handed on although their names sound secret.
    pub pass_env: Vec<String>,
    pub sandbox: Option<SandboxMode>,
    /// Doing it twice does no harm: what a restart cut off is begun again.
    pub repeatable: bool,
}

/// An agent: a session of the engine for each task.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AgentConfig {
    pub model: Option<String>,
    pub provider: Option<String>,
    pub instructions: Option<String>,
    pub cwd: Option<PathBuf>,
    pub sandbox: Option<SandboxMode>,
}

/// A task of the desk, over what was collected.
#[derive(Debug, Clone, PartialEq)]
pub struct LlmcpConfig {
    pub task: String,
    pub collection: Option<String>,
}

pub(super) fn read(
    mut section: Section<'_>,
    skills: &mut Vec<SkillConfig>,
) -> Result<(), NodeConfigError> {
    let name = section.required_text("name")?;
    let skill = SkillName::new(name.value.clone())
        .map_err(|error| section.error_at(&name, error.to_string()))?;
    if skills.iter().any(|other| other.name == skill) {
        return Err(section.error_at(&name, "this skill stands twice"));
    }
    let description = section.text("description")?.map(|it| it.value);
    let domains = section.texts("domains")?.unwrap_or_default();
    let cost_hint = match section.text("cost_hint")? {
        None => None,
        Some(tier) => Some(
            CostTier::from_wire(&tier.value)
                .ok_or_else(|| section.error_at(&tier, "write low, medium or high"))?,
        ),
    };
    let mut kinds = Vec::new();
    if let Some(builtin) = section.text("builtin")? {
        if builtin.value != "echo" {
            return Err(section.error_at(&builtin, "the skill that is built in is `echo`"));
        }
        kinds.push(SkillKind::Echo);
    }
    if let Some(run) = section.texts("run")? {
        let argv: Vec<String> = run.into_iter().map(|word| word.value).collect();
        if argv.first().is_none_or(String::is_empty) {
            return Err(section.error("`run` names no program: write `run = [\"cat\"]`"));
        }
        kinds.push(SkillKind::Program(read_program(&mut section, argv)?));
    }
    if let Some(mut agent) = section.section("agent", "agent", AGENT_KEYS)? {
        kinds.push(SkillKind::Agent(read_agent(&mut agent)?));
    }
    if let Some(task) = section.text("llmcp")? {
        if !LLMCP_TASKS.contains(&task.value.as_str()) {
            let why = format!("the tasks are {}", LLMCP_TASKS.join(", "));
            return Err(section.error_at(&task, why));
        }
        let collection = section.text("collection")?.map(|it| it.value);
        kinds.push(SkillKind::Llmcp(LlmcpConfig { task: task.value, collection }));
    }
    match (kinds.pop(), kinds.is_empty()) {
        (Some(kind), true) => {
            let domains = domains.into_iter().map(|it| it.value).collect();
            skills.push(SkillConfig { name: skill, description, domains, cost_hint, kind });
            Ok(())
        }
        (Some(_), false) => {
            Err(section.error_at(&name, "a skill is one of builtin, run, agent and llmcp"))
        }
        (None, _) => Err(section.error_at(
            &name,
            "nothing does this skill: give it `run = [\"program\"]`, `builtin = \"echo\"`, \
             `agent = { model = \"name\" }` or `llmcp = \"web.answer\"`",
        )),
    }
}

fn read_program(
    section: &mut Section<'_>,
    argv: Vec<String>,
) -> Result<ProgramConfig, NodeConfigError> {
    let pass_env = section.texts("pass_env")?.unwrap_or_default();
    Ok(ProgramConfig {
        argv,
        cwd: section.text("cwd")?.map(|it| it.value.into()),
        env: section.map("env")?,
        pass_env: pass_env.into_iter().map(|it| it.value).collect(),
        sandbox: read_sandbox(section)?,
        repeatable: section.flag("repeatable")?.unwrap_or(false),
    })
}

pub(super) fn read_agent(section: &mut Section<'_>) -> Result<AgentConfig, NodeConfigError> {
    Ok(AgentConfig {
        model: section.text("model")?.map(|it| it.value),
        provider: section.text("provider")?.map(|it| it.value),
        instructions: section.text("instructions")?.map(|it| it.value),
        cwd: section.text("cwd")?.map(|it| it.value.into()),
        sandbox: read_sandbox(section)?,
    })
}

fn read_sandbox(section: &mut Section<'_>) -> Result<Option<SandboxMode>, NodeConfigError> {
    let Some(name) = section.text("sandbox")? else { return Ok(None) };
    let mode = match name.value.as_str() {
        "read-only" => SandboxMode::ReadOnly,
        "workspace-write" => SandboxMode::WorkspaceWrite,
        "danger-full-access" => SandboxMode::DangerFullAccess,
        _ => {
            let why = "the sandboxes are read-only, workspace-write and danger-full-access";
            return Err(section.error_at(&name, why));
        }
    };
    Ok(Some(mode))
}

pub(super) const KEYS: &[&str] = &[
    "name",
    "description",
    "domains",
    "cost_hint",
    "builtin",
    "run",
    "cwd",
    "env",
    "pass_env",
    "sandbox",
    "repeatable",
    "agent",
    "llmcp",
    "collection",
];

pub(super) const AGENT_KEYS: &[&str] = &["model", "provider", "instructions", "cwd", "sandbox"];

const LLMCP_TASKS: &[&str] = &["web.answer", "web.summarize", "web.extract"];
