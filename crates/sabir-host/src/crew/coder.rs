//! The coder: an agent in a folder, which changes files there and asks a person for everything else.

use std::path::Path;
use std::sync::Arc;

use sabir_policy::SandboxMode;
use serde_json::json;

use super::{CODER, MemberState, Offer, capability};
use crate::node::build::configure_in;
use crate::node::{Agent, AgentConfig, Skill, SkillKit};

/// A relative `cwd` starts where the configuration stands.
pub(super) fn offer(config: &AgentConfig, kit: &SkillKit, workspace: &Path) -> Offer {
    let cwd = match &config.cwd {
        Some(named) => kit.folder.join(named),
        None => workspace.to_owned(),
    };
    let mode = config.sandbox.unwrap_or(SandboxMode::WorkspaceWrite);
    // As sessions name it, so that work of this folder is known for what it is.
    let workspace = std::fs::canonicalize(&cwd).unwrap_or_else(|_| cwd.clone());
    let mut configure = configure_in(config, cwd, mode);
    configure.instructions.get_or_insert_with(|| INSTRUCTIONS.to_owned());
    let engine = kit.engine.clone().ok_or_else(|| "there is no engine".to_owned());
    let model = engine.and_then(|engine| Ok((engine.model_for(&configure)?, engine)));
    let (model, engine) = match model {
        Ok(found) => found,
        Err(why) => {
            let why = format!("{why}. {WHAT_TO_DO}");
            return Offer::without_model("read, change and test code, but has no model", why);
        }
    };
    let agent = Agent { engine, configure, inbox: kit.inbox.clone(), delegate: CODER.to_owned() };
    let schema = json!({
        "type": "object",
        "properties": { "instruction": { "type": "string", "description": "What is to be done." } },
        "required": ["instruction"],
    });
    let description = "Does a task in a folder of code: reads, changes, runs, tests.";
    let skill = capability("code", description, "code", schema);
    let skills = skill.map(|it| (it, Arc::new(agent) as Arc<dyn Skill>));
    Offer {
        description: "Reads, changes and tests code in a folder of this machine.".to_owned(),
        model_family: None,
        model_version: Some(model),
        skills: skills.into_iter().collect(),
        state: MemberState::Ready,
        // Two would change the same files under each other's hands.
        at_once: Some(1),
        workspace: Some(workspace),
    }
}

/// For whoever runs the node.
const WHAT_TO_DO: &str = "For example: `sabir up --base-url http://127.0.0.1:11434/v1 --wire chat \
                          --model NAME`";

const INSTRUCTIONS: &str = "\
You work on tasks that other agents hand to you, in the folder that you were started in.
Look before you change anything, change no more than the task needs, and test what you changed.
End with a short report: what you did, in which files, how you know that it works, what is left.
Nobody reads along while you work: when something cannot be done, say so in the report.
When only a person can lift what blocks you, end with these two lines instead, and you will be told what they say:
HEADER:{f:Coder,t:Person,s:1}
BLK:{w:\"why you cannot go on\",a:[\"what you would do instead\"],esc:true}";
