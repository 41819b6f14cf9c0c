//! What the gate says to each kind of call, with the session's own facts filled in.

use sabir_policy::{
    Action, Confinement, Decision, Facts, Place, Request, ToolEffects, assess, decide, hosts_named,
    reach, writable_roots,
};
use serde_json::{Map, Value, json};

use super::{Open, Settings};
use crate::tools::Shell;

/// An action as policy files know it.
#[derive(Clone, Copy)]
struct Named<'a> {
    name: &'a str,
    /// What it was called with, where that can name hosts that it reaches.
    arguments: Option<&'a Map<String, Value>>,
}

impl<'a> Named<'a> {
    fn only(name: &'a str) -> Self {
        Self { name, arguments: None }
    }
}

impl Open {
    pub(super) fn judge_command(&self, shell: &Shell, cwd: &str) -> Decision {
        let assessment = assess(&shell.command, Place::of(cwd, &self.turn_settings().cwd));
        let action =
            Action::Command { assessment: assessment.verdict(), escalated: shell.escalated };
        let confinement = super::grants::confinement_of(shell);
        let request = Request::Command { argv: &shell.command, cwd, confinement };
        let words = words_of(&shell.command);
        let named = Named { name: "shell", arguments: Some(&words) };
        let mut decision = self.decide(action, named, self.grants.cover(&request));
        decision.reason = format!("{} ({})", decision.reason, assessment.why());
        if let Some(why) = &shell.justification
            && shell.escalated
        {
            decision.reason = format!("{}; the model says: {why}", decision.reason);
        }
        decision
    }

    /// The sandbox stood in the way of a command: shall it run without?
    pub(super) fn judge_retry(&self, argv: &[String], cwd: &str) -> Decision {
        let confinement = Confinement::Unconfined;
        let granted = self.grants.cover(&Request::Command { argv, cwd, confinement });
        let words = words_of(argv);
        let named = Named { name: "shell", arguments: Some(&words) };
        self.decide(Action::RetryOutsideSandbox, named, granted)
    }

    pub(super) fn judge_patch(&self, paths: &[String]) -> Decision {
        let settings = self.turn_settings();
        let roots = writable_roots(
            &settings.sandbox_policy,
            &settings.cwd,
            settings.tmpdir.as_deref(),
            &settings.own_state,
        );
        let granted = self.grants.cover(&Request::Files { paths });
        let action = Action::Patch { reach: reach(paths, &roots) };
        self.decide(action, Named::only("apply_patch"), granted)
    }

    pub(super) fn judge_read(&self) -> Decision {
        self.decide(Action::Read, Named::only("read"), false)
    }

    pub(super) fn judge_spawn(&self) -> Decision {
        self.decide(Action::Spawn, Named::only("spawn"), false)
    }

    pub(super) fn judge_external(&self, name: &str, arguments: &Value) -> Decision {
        let offered = self.external.iter().find(|tool| tool.info.name == name);
        // One that went away meanwhile is judged like one that nobody described.
        let effects = offered.map_or(ToolEffects::Unknown, |tool| tool.effects);
        let (server, tool) = super::grants::server_and_tool(name);
        let granted = self.grants.cover(&Request::Tool { server, tool });
        let named = Named { name, arguments: arguments.as_object() };
        self.decide(Action::Tool { effects }, named, granted)
    }

    fn decide(&self, action: Action, named: Named<'_>, granted: bool) -> Decision {
        let settings = self.turn_settings();
        let hosts = named.arguments.map(hosts_named).unwrap_or_default();
        let hosts: Vec<&str> = hosts.iter().map(String::as_str).collect();
        let mut decision = decide(&Facts {
            approval: settings.approval_policy,
            sandbox: &settings.sandbox_policy,
            action,
            granted,
            ruling: settings.policy.ruling(named.name, &hosts),
        });
        settings.policy.give_reason(&mut decision, named.name, &hosts);
        decision
    }

    /// The settings that the turn was begun with: a change holds from the next one on.
    pub(super) fn turn_settings(&self) -> &Settings {
        self.task.as_ref().map_or(&self.settings, |task| &task.turn.settings)
    }
}

fn words_of(argv: &[String]) -> Map<String, Value> {
    Map::from_iter([("command".to_owned(), json!(argv))])
}
