//! What the gate says to each kind of call, with the session's own facts filled in.

use sabir_policy::{
    Action, Confinement, Facts, Outcome, Place, Request, ToolEffects, assess, decide, reach,
    writable_roots,
};

use super::Open;
use crate::tools::Shell;

/// What is to happen with a call.
#[derive(Debug)]
pub(super) struct Verdict {
    pub(super) judgement: Judgement,
    /// Whether it runs in the sandbox.
    pub(super) confined: bool,
    /// For a person, and for the model when it is refused.
    pub(super) reason: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Judgement {
    Allow,
    Ask,
    Deny,
}

impl Open {
    pub(super) fn judge_command(&self, shell: &Shell, cwd: &str) -> Verdict {
        let assessment = assess(&shell.command, Place::of(cwd, &self.settings.cwd));
        let action =
            Action::Command { assessment: assessment.verdict(), escalated: shell.escalated };
        let confinement = super::grants::confinement_of(shell);
        let request = Request::Command { argv: &shell.command, cwd, confinement };
        let mut verdict = self.decide(action, self.grants.cover(&request));
        verdict.reason = format!("{} ({})", verdict.reason, assessment.why());
        if let Some(why) = &shell.justification
            && shell.escalated
        {
            verdict.reason = format!("{}; the model says: {why}", verdict.reason);
        }
        verdict
    }

    /// The sandbox stood in the way of a command: shall it run without?
    pub(super) fn judge_retry(&self, argv: &[String], cwd: &str) -> Verdict {
        let confinement = Confinement::Unconfined;
        let granted = self.grants.cover(&Request::Command { argv, cwd, confinement });
        self.decide(Action::RetryOutsideSandbox, granted)
    }

    pub(super) fn judge_patch(&self, paths: &[String]) -> Verdict {
        let settings = &self.settings;
        let roots = writable_roots(
            &settings.sandbox_policy,
            &settings.cwd,
            settings.tmpdir.as_deref(),
            &settings.own_state,
        );
        let granted = self.grants.cover(&Request::Files { paths });
        self.decide(Action::Patch { reach: reach(paths, &roots) }, granted)
    }

    pub(super) fn judge_read(&self) -> Verdict {
        self.decide(Action::Read, false)
    }

    pub(super) fn judge_spawn(&self) -> Verdict {
        self.decide(Action::Spawn, false)
    }

    pub(super) fn judge_external(&self, name: &str) -> Verdict {
        let offered = self.external.iter().find(|tool| tool.info.name == name);
        // One that went away meanwhile is judged like one that nobody described.
        let effects = offered.map_or(ToolEffects::Unknown, |tool| tool.effects);
        let (server, tool) = super::grants::server_and_tool(name);
        let granted = self.grants.cover(&Request::Tool { server, tool });
        self.decide(Action::Tool { effects }, granted)
    }

    fn decide(&self, action: Action, granted: bool) -> Verdict {
        let decision = decide(&Facts {
            approval: self.settings.approval_policy,
            sandbox: &self.settings.sandbox_policy,
            action,
            granted,
        });
        Verdict {
            judgement: match decision.outcome {
                Outcome::Allow => Judgement::Allow,
                Outcome::Ask => Judgement::Ask,
                Outcome::Deny => Judgement::Deny,
            },
            confined: decision.confinement == Confinement::Confined,
            reason: decision.reason,
        }
    }
}
