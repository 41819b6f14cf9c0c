//! What the gate says to each kind of call, with the session's own facts filled in.

use sabir_policy::{
    Action, Confinement, Decision, Facts, Place, Request, Ruling, ToolEffects, assess, decide,
    reach, writable_roots,
};

use super::{Open, Settings};
use crate::tools::Shell;

impl Open {
    pub(super) fn judge_command(&self, shell: &Shell, cwd: &str) -> Decision {
        let assessment = assess(&shell.command, Place::of(cwd, &self.turn_settings().cwd));
        let action =
            Action::Command { assessment: assessment.verdict(), escalated: shell.escalated };
        let confinement = super::grants::confinement_of(shell);
        let request = Request::Command { argv: &shell.command, cwd, confinement };
        let mut decision = self.decide(action, self.grants.cover(&request));
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
        self.decide(Action::RetryOutsideSandbox, granted)
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
        self.decide(Action::Patch { reach: reach(paths, &roots) }, granted)
    }

    pub(super) fn judge_read(&self) -> Decision {
        self.decide(Action::Read, false)
    }

    pub(super) fn judge_spawn(&self) -> Decision {
        self.decide(Action::Spawn, false)
    }

    pub(super) fn judge_external(&self, name: &str) -> Decision {
        let offered = self.external.iter().find(|tool| tool.info.name == name);
        // One that went away meanwhile is judged like one that nobody described.
        let effects = offered.map_or(ToolEffects::Unknown, |tool| tool.effects);
        let (server, tool) = super::grants::server_and_tool(name);
        let granted = self.grants.cover(&Request::Tool { server, tool });
        self.decide(Action::Tool { effects }, granted)
    }

    fn decide(&self, action: Action, granted: bool) -> Decision {
        let settings = self.turn_settings();
        decide(&Facts {
            approval: settings.approval_policy,
            sandbox: &settings.sandbox_policy,
            action,
            granted,
            ruling: Ruling::default(),
        })
    }

    /// The settings that the turn was begun with: a change holds from the next one on.
    pub(super) fn turn_settings(&self) -> &Settings {
        self.task.as_ref().map_or(&self.settings, |task| &task.turn.settings)
    }
}
