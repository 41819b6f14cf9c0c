//! The tools that a model is offered, and what it asked of them. Arguments come from a model: they
//! are read leniently where the meaning is plain, and refused with words that the model can use.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::protocol::{PlanStep, ToolInfo};

/// A call, understood.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolCall {
    Shell(Shell),
    ApplyPatch {
        input: String,
    },
    ReadFile(ReadFile),
    Search(Search),
    ListDir(ListDir),
    UpdatePlan(UpdatePlan),
    SpawnAgent(SpawnAgent),
    /// A tool that another server offers.
    External {
        name: String,
        arguments: Value,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shell {
    pub command: Vec<String>,
    pub workdir: Option<String>,
    pub timeout: Duration,
    /// The model asks to run without the sandbox.
    pub escalated: bool,
    pub justification: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ReadFile {
    pub path: String,
    /// The first line, from 1.
    #[serde(default)]
    pub offset: Option<u64>,
    /// How many lines.
    #[serde(default)]
    pub limit: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Search {
    /// A regular expression.
    pub pattern: String,
    #[serde(default)]
    pub path: Option<String>,
    /// Which files, like `*.rs`.
    #[serde(default)]
    pub glob: Option<String>,
    #[serde(default)]
    pub limit: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ListDir {
    #[serde(default)]
    pub path: Option<String>,
    #[serde(default)]
    pub depth: Option<u64>,
    #[serde(default)]
    pub limit: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct UpdatePlan {
    #[serde(default)]
    pub explanation: Option<String>,
    pub plan: Vec<PlanStep>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct SpawnAgent {
    /// All that the other agent is told.
    pub task: String,
    /// What it has to know how to do.
    #[serde(default)]
    pub skill: Option<String>,
    /// Who is meant, by name, id or address.
    #[serde(default)]
    pub to: Option<String>,
    #[serde(default)]
    pub budget_tokens: Option<u64>,
    #[serde(default)]
    pub deadline_secs: Option<u64>,
}

/// Long enough for a compiler, short enough that a hanging command does not look like a dead agent.
pub(crate) const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

/// What a model may ask for at most.
pub(crate) const LONGEST_TIMEOUT: Duration = Duration::from_secs(60 * 60);

impl ToolCall {
    /// Reads a call. `external` says whether another server offers a tool of that name.
    pub fn read(
        name: &str,
        arguments: &str,
        external: impl Fn(&str) -> bool,
    ) -> Result<Self, String> {
        // Models leave the arguments empty when there are none.
        let text = if arguments.trim().is_empty() { "{}" } else { arguments };
        let value: Value = serde_json::from_str(text)
            .map_err(|error| format!("the arguments of {name} are not JSON: {error}"))?;
        match name {
            "shell" => Shell::read(&value).map(Self::Shell),
            "apply_patch" => {
                let input = match &value {
                    Value::String(text) => Some(text),
                    value => match &value["input"] {
                        Value::String(text) => Some(text),
                        _ => None,
                    },
                };
                let input = input.ok_or("apply_patch wants {\"input\": \"*** Begin Patch...\"}")?;
                Ok(Self::ApplyPatch { input: input.clone() })
            }
            "read_file" => typed(name, value).map(Self::ReadFile),
            "search" => typed(name, value).map(Self::Search),
            "list_dir" => typed(name, value).map(Self::ListDir),
            "update_plan" => typed(name, value).map(Self::UpdatePlan),
            "spawn_agent" => typed(name, value).map(Self::SpawnAgent),
            _ if external(name) => Ok(Self::External { name: name.to_owned(), arguments: value }),
            _ => Err(format!("there is no tool named {name:?}; use one of those that are offered")),
        }
    }

    /// Whether the call leaves everything as it is, so that others may run beside it.
    pub fn only_reads(&self) -> bool {
        match self {
            Self::ReadFile(_) | Self::Search(_) | Self::ListDir(_) | Self::UpdatePlan(_) => true,
            // Another agent works in a session of its own; it is what parallel calls are for.
            Self::SpawnAgent(_) => true,
            Self::Shell(_) | Self::ApplyPatch { .. } | Self::External { .. } => false,
        }
    }
}

impl Shell {
    fn read(value: &Value) -> Result<Self, String> {
        let command = match &value["command"] {
            Value::Array(words) => words
                .iter()
                .map(|word| word.as_str().map(str::to_owned))
                .collect::<Option<Vec<_>>>()
                .ok_or("shell: every word of command must be a string")?,
            // A line instead of words: what a shell would make of it.
            Value::String(line) => vec!["bash".to_owned(), "-lc".to_owned(), line.clone()],
            _ => return Err("shell wants {\"command\": [\"program\", \"argument\"]}".to_owned()),
        };
        if command.first().is_none_or(String::is_empty) {
            return Err("shell: command is empty".to_owned());
        }
        if command.iter().any(|word| word.contains('\0')) {
            return Err("shell: a word holds a NUL, which no program can be given".to_owned());
        }
        let timeout = match &value["timeout_ms"] {
            Value::Null => DEFAULT_TIMEOUT,
            number => Duration::from_millis(
                number
                    .as_u64()
                    .filter(|ms| *ms > 0)
                    .ok_or("shell: timeout_ms must be a positive number")?,
            )
            .min(LONGEST_TIMEOUT),
        };
        let text = |key: &str| value[key].as_str().map(str::to_owned);
        Ok(Self {
            command,
            workdir: text("workdir").filter(|it| !it.is_empty()),
            timeout,
            escalated: value["with_escalated_permissions"].as_bool().unwrap_or(false),
            justification: text("justification").filter(|it| !it.is_empty()),
        })
    }
}

fn typed<T: serde::de::DeserializeOwned>(name: &str, value: Value) -> Result<T, String> {
    serde_json::from_value(value)
        .map_err(|error| format!("the arguments of {name} do not fit: {error}"))
}

/// The tools that every session has.
pub fn built_in() -> Vec<ToolInfo> {
    let tool = |name: &str, description: &str, required: &[&str], properties: Value| ToolInfo {
        name: name.to_owned(),
        description: description.to_owned(),
        parameters: json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        }),
    };
    vec![
        tool(
            "shell",
            "Runs a program and returns its output. The words are given to the program as they are; for pipes and the like use [\"bash\", \"-lc\", SCRIPT].",
            &["command"],
            json!({
                "command": { "type": "array", "items": { "type": "string" } },
                "workdir": { "type": "string", "description": "Where to run it; the working directory if absent." },
                "timeout_ms": { "type": "integer", "description": "Ends the command after this time; 10000 if absent." },
                "with_escalated_permissions": { "type": "boolean", "description": "Ask the person to run it outside the sandbox." },
                "justification": { "type": "string", "description": "For the person: one sentence on why that is needed." },
            }),
        ),
        tool(
            "apply_patch",
            "Changes files: all of the patch or nothing. Paths are relative to the working directory.",
            &["input"],
            json!({
                "input": { "type": "string", "description": "From `*** Begin Patch` to `*** End Patch`, with sections `*** Add File: P`, `*** Delete File: P`, `*** Update File: P` (optionally `*** Move to: P`); in updates, `@@` begins a place, and lines begin with a space, `-` or `+`." },
            }),
        ),
        tool(
            "read_file",
            "Reads a text file, with line numbers.",
            &["path"],
            json!({
                "path": { "type": "string" },
                "offset": { "type": "integer", "description": "The first line, from 1." },
                "limit": { "type": "integer", "description": "How many lines; 2000 if absent." },
            }),
        ),
        tool(
            "search",
            "Finds lines that match a regular expression, passing over what .gitignore names.",
            &["pattern"],
            json!({
                "pattern": { "type": "string" },
                "path": { "type": "string", "description": "A file or folder; the working directory if absent." },
                "glob": { "type": "string", "description": "Which files, like *.rs." },
                "limit": { "type": "integer", "description": "How many lines at most; 200 if absent." },
            }),
        ),
        tool(
            "list_dir",
            "Lists a folder.",
            &[],
            json!({
                "path": { "type": "string" },
                "depth": { "type": "integer", "description": "How deep; 1 if absent." },
                "limit": { "type": "integer", "description": "How many entries at most; 500 if absent." },
            }),
        ),
        tool(
            "update_plan",
            "Shows the person the plan and how far it is. At most one step is in progress.",
            &["plan"],
            json!({
                "explanation": { "type": "string" },
                "plan": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "step": { "type": "string" },
                            "status": { "type": "string", "enum": ["pending", "in_progress", "completed"] },
                        },
                        "required": ["step", "status"],
                        "additionalProperties": false,
                    },
                },
            }),
        ),
        tool(
            "spawn_agent",
            "Gives a self-contained task to another agent and returns its answer. It knows nothing but the task. Without skill and to, it is an agent with the same tools.",
            &["task"],
            json!({
                "task": { "type": "string" },
                "skill": { "type": "string", "description": "What the agent has to know how to do; one that offers it is chosen." },
                "to": { "type": "string", "description": "Which agent, by name, id or address." },
                "budget_tokens": { "type": "integer", "minimum": 1 },
                "deadline_secs": { "type": "integer", "minimum": 1 },
            }),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, arguments: &str) -> Result<ToolCall, String> {
        ToolCall::read(name, arguments, |name| name == "mcp__clock__now")
    }

    #[test]
    fn a_shell_call_is_read_with_its_defaults() {
        let Ok(ToolCall::Shell(shell)) = read("shell", r#"{"command":["ls","-l"]}"#) else {
            panic!()
        };
        assert_eq!(shell.command, ["ls", "-l"]);
        assert_eq!((shell.timeout, shell.escalated), (DEFAULT_TIMEOUT, false));
    }

    #[test]
    fn a_line_is_given_to_a_shell() {
        let Ok(ToolCall::Shell(shell)) = read("shell", r#"{"command":"ls | wc"}"#) else {
            panic!()
        };
        assert_eq!(shell.command, ["bash", "-lc", "ls | wc"]);
    }

    #[test]
    fn what_cannot_be_run_is_refused_in_words() {
        for (name, arguments, words) in [
            ("shell", "{", "not JSON"),
            ("shell", "{}", "wants"),
            ("shell", r#"{"command":[]}"#, "empty"),
            ("shell", r#"{"command":[1]}"#, "string"),
            ("shell", r#"{"command":["a\u0000b"]}"#, "NUL"),
            ("shell", r#"{"command":["a"],"timeout_ms":-1}"#, "positive"),
            ("read_file", "{}", "path"),
            ("update_plan", r#"{"plan":[{"step":"a","status":"maybe"}]}"#, "maybe"),
            ("fly", "{}", "no tool named \"fly\""),
        ] {
            let said = read(name, arguments).unwrap_err();
            assert!(said.contains(words), "{said}");
        }
    }

    #[test]
    fn tools_of_other_servers_are_known_by_name() {
        let call = read("mcp__clock__now", "").unwrap();
        assert_eq!(
            call,
            ToolCall::External { name: "mcp__clock__now".into(), arguments: json!({}) }
        );
    }
}
