//! Commands, in the sandbox that the policy says.

use sabir_policy::{Action as Deed, Confinement as Where, Place as Ground, assess};
use serde_json::json;
use tokio::sync::mpsc;

use super::gate::Wanted;
use super::place::Place;
use super::request::Shell;
use super::{ABORTED, Content, Failure, Turn, content};
use crate::process::{Bound, Exec, Finished, shorten};
use crate::sandbox::{Confinement, Limits, OwnState, temporary_folder};

/// How much of a command's output goes back.
const BOUND: Bound = Bound { bytes: 64 * 1024, lines: 1024 };

impl Turn<'_> {
    pub(super) async fn shell(self, shell: &Shell) -> Result<Content, Failure> {
        let folder = match &shell.folder {
            None => self.actions.root_path().to_owned(),
            Some(text) => Place::find(text, &self.actions.place)?.path,
        };
        // The whole line is one word, so nothing can be added to it from elsewhere. It is no login
        // shell: what a message does must not depend on somebody's profile.
        let argv: Vec<String> = ["bash", "-c", &shell.line].map(str::to_owned).to_vec();
        let root = self.actions.root_path().to_string_lossy();
        let assessment = assess(&argv, Ground::of(&folder.to_string_lossy(), &root));
        let cwd = folder.to_string_lossy();
        let wanted = Wanted::new("shell", [("command", json!(argv)), ("cwd", cwd.as_ref().into())]);
        let deed = Deed::Command { assessment: assessment.verdict(), escalated: shell.escalated };
        let mut judged = self.judge(deed, &wanted);
        judged.add_reason(&format!(" ({})", assessment.why()));
        if let Some(said) = &shell.why {
            judged.add_reason(&format!("; the sender says: {said}"));
        }
        let what = format!("run in {}:\n$ {}", folder.display(), shell.line);
        self.pass(&judged, what.clone()).await?;
        let confinement = judged.decision.confinement;
        let finished = self.execute(shell, &argv, &folder, confinement).await?;
        if finished.sandbox_denied && confinement == Where::Confined && !self.stop.is_cancelled() {
            let again = self.judge(Deed::RetryOutsideSandbox, &wanted);
            let what = format!("{what}\nthe sandbox refused something; run it again without");
            if self.pass(&again, what).await.is_ok() {
                let confinement = again.decision.confinement;
                let finished = self.execute(shell, &argv, &folder, confinement).await?;
                return observe(finished);
            }
        }
        observe(finished)
    }

    async fn execute(
        self,
        shell: &Shell,
        argv: &[String],
        folder: &std::path::Path,
        place: Where,
    ) -> Result<Finished, Failure> {
        let actions = self.actions;
        let tmpdir = temporary_folder();
        let own = OwnState {
            folders: actions.own_state(),
            key_files: actions.key_files.paths().to_vec(),
        };
        let confinement = match place {
            Where::Unconfined => Confinement::FullAccess,
            Where::Confined => {
                Confinement::of(&actions.sandbox, actions.root_path(), tmpdir.as_deref(), &own)
            }
        };
        let exec = Exec {
            argv: argv.to_vec(),
            cwd: folder.to_owned(),
            env_extra: Vec::new(),
            timeout: shell.timeout,
            confinement,
            limits: Limits::default(),
        };
        let _permit = actions.running.acquire().await;
        let (chunks, mut output) = mpsc::channel(16);
        let running = actions.runner.run(exec, chunks, self.stop.clone());
        let reading = async { while output.recv().await.is_some() {} };
        let (finished, ()) = tokio::join!(running, reading);
        finished.map_err(|error| error.to_string().into())
    }
}

fn observe(finished: Finished) -> Result<Content, Failure> {
    let output = shorten(&finished.aggregated, BOUND);
    let said = content([("exit", finished.exit_code.into()), ("out", output.into())]);
    let message = match finished.exit_code {
        _ if finished.cancelled => ABORTED.to_owned(),
        _ if finished.timed_out => {
            format!("timed out after {} ms", finished.timeout.as_millis())
        }
        0 => return Ok(said),
        code if finished.sandbox_denied => {
            format!("exit code {code}; the sandbox seems to have refused something")
        }
        code => format!("exit code {code}"),
    };
    Err(Failure { message, content: Some(said) })
}
