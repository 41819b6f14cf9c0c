//! `configure_session`, with everything looked up: folders, the provider, what is stored.

use std::path::{Path, PathBuf};

use sabir_engine::{ConfigureSession, ProviderSettings, Record, Settings};
use sabir_policy::{ApprovalPolicy, SandboxPolicy};
use sabir_store::{Entry, Parent, SessionFacts, SessionId};

use super::Claim;
use super::actor::Actor;
use crate::model::{self, ModelClient};
use crate::sandbox::temporary_folder;

/// What holds where a submission says nothing.
#[derive(Debug, Clone, Default)]
pub struct Defaults {
    pub model: Option<String>,
    pub provider: ProviderSettings,
    pub approval_policy: Option<ApprovalPolicy>,
    pub sandbox_policy: Option<SandboxPolicy>,
    pub cwd: PathBuf,
}

pub(super) const NO_MODEL: &str =
    "no model is named: give configure_session a model, or the command --model";

/// A session that can begin.
pub(super) struct Configured {
    pub(super) settings: Settings,
    pub(super) stored: Option<Vec<Record>>,
    pub(super) facts: SessionFacts,
    /// Of a session that this connection does not hold yet.
    pub(super) claim: Option<Claim>,
    pub(super) client: ModelClient,
}

/// A session that follows the one that is open, and the entries that it opens with.
pub(super) struct Upcoming {
    pub(super) claim: Claim,
    pub(super) client: ModelClient,
    pub(super) settings: Settings,
    pub(super) opens: Vec<Entry>,
}

impl Actor {
    /// Changes nothing: what held before holds until everything is known to be good.
    pub(super) async fn configure(
        &mut self,
        wanted: ConfigureSession,
    ) -> Result<Configured, String> {
        let shared = std::sync::Arc::clone(&self.engine.shared);
        let last = self.upcoming.back();
        let held = last.map(|it| &it.claim).or(self.claim.as_ref());
        let held = held.map(|claim| claim.session_id.clone());
        let resumes = wanted.session_id.clone().filter(|id| held.as_ref() != Some(id));
        let claim = match (&resumes, &held) {
            (None, Some(_)) => None,
            (Some(id), _) => Some(self.engine.claim(id).ok_or_else(|| {
                format!("the session {id} is open in another connection of this process")
            })?),
            (None, None) => {
                let id = match self.standing.origin.session.take() {
                    Some(named) => named,
                    None => new_session_id()?,
                };
                Some(self.engine.claim(&id).ok_or("two sessions were given one name: try again")?)
            }
        };
        let stored = match resumes {
            Some(id) => {
                let shared = std::sync::Arc::clone(&shared);
                let read = tokio::task::spawn_blocking(move || {
                    let reader = shared.store.reader().map_err(|error| error.to_string())?;
                    let records = super::journal::records(&reader, &id)?;
                    match records.is_empty() {
                        true => Err(not_stored(&id)),
                        false => Ok(records),
                    }
                });
                Some(read.await.map_err(|error| error.to_string())??)
            }
            None => None,
        };
        let before = match &stored {
            Some(records) => records.iter().rev().find_map(|record| match record {
                Record::Settings { settings } => Some(Settings::clone(settings)),
                _ => None,
            }),
            None => {
                let last = self.upcoming.back().map(|it| &it.settings);
                last.or(self.machine.settings()).cloned()
            }
        };
        let before = before.as_ref();
        let defaults = &shared.defaults;

        let cwd = wanted
            .cwd
            .map(PathBuf::from)
            .or_else(|| before.map(|it| PathBuf::from(&it.cwd)))
            .unwrap_or_else(|| defaults.cwd.clone());
        let cwd = folder(&cwd)?;
        let provider = before.map(|it| it.provider.clone()).unwrap_or_default();
        let provider = model::changed(provider, wanted.provider.unwrap_or_default());
        let environment = |name: &str| crate::secrets::var(name)?.into_string().ok();
        let resolved = shared
            .providers
            .resolve(&[&defaults.provider, &provider], &environment)
            .map_err(|error| error.to_string())?;
        let model = wanted
            .model
            .or_else(|| before.map(|it| it.model.clone()))
            .or_else(|| defaults.model.clone())
            .or_else(|| resolved.model.clone())
            .filter(|model| !model.trim().is_empty())
            .ok_or(NO_MODEL)?;
        let (request_max_retries, stream_max_retries) =
            (resolved.request_max_retries, resolved.stream_max_retries);
        let client =
            ModelClient::sharing(&shared.clients, resolved).map_err(|error| error.to_string())?;
        let session_id = claim
            .as_ref()
            .map(|claim| claim.session_id.clone())
            .or(held)
            .ok_or("the session has no name")?;
        let own_instructions =
            wanted.instructions.or_else(|| before.and_then(|it| it.own_instructions.clone()));
        let settings = Settings {
            session_id,
            instructions: compose(cwd.clone(), own_instructions.clone()).await?,
            own_instructions,
            cwd: text_of(&cwd)?,
            model,
            provider,
            approval_policy: wanted
                .approval_policy
                .or(before.map(|it| it.approval_policy))
                .or(defaults.approval_policy)
                .unwrap_or_default(),
            sandbox_policy: wanted
                .sandbox_policy
                .or_else(|| before.map(|it| it.sandbox_policy.clone()))
                .or_else(|| defaults.sandbox_policy.clone())
                .unwrap_or_default(),
            effort: wanted.effort.or(before.and_then(|it| it.effort)),
            approval_timeout_ms: wanted
                .approval_timeout_ms
                .or(before.and_then(|it| it.approval_timeout_ms)),
            context_window: wanted.context_window.or(before.and_then(|it| it.context_window)),
            request_max_retries,
            stream_max_retries,
            tmpdir: temporary_folder().and_then(|it| it.into_os_string().into_string().ok()),
            own_state: vec![text_of(&shared.home)?],
            policy: std::sync::Arc::clone(&shared.policy),
        };
        let confinement =
            super::work::reach(&self.engine, &settings, sabir_policy::Confinement::Confined);
        shared.runner.admits(&confinement).map_err(|error| error.to_string())?;
        let facts = SessionFacts {
            cwd: settings.cwd.clone(),
            model: settings.model.clone(),
            title: None,
            parent: self.standing.works_for.as_ref().map(|session_id| Parent {
                session_id: SessionId::new(session_id.clone()),
                response_id: None,
            }),
        };
        Ok(Configured { settings, stored, facts, claim, client })
    }

    /// The thread that led to a response of another session.
    pub(super) async fn find_elsewhere(&mut self, response_id: &str) -> Option<Vec<Record>> {
        let shared = std::sync::Arc::clone(&self.engine.shared);
        let response_id = response_id.to_owned();
        let found = tokio::task::spawn_blocking(move || {
            let reader = shared.store.reader().ok()?;
            super::journal::thread_of(&reader, &response_id).ok()?
        });
        found.await.ok()?
    }
}

/// What the model is told before the thread.
pub(super) async fn compose(cwd: PathBuf, own: Option<String>) -> Result<String, String> {
    let composed =
        tokio::task::spawn_blocking(move || super::instructions::compose(&cwd, own.as_deref()));
    composed.await.map_err(|error| error.to_string())
}

pub(super) fn not_stored(session_id: &str) -> String {
    format!("no session {session_id} is stored here: `sabir sessions` lists those that are")
}

/// Sortable by time, and unguessable.
pub(super) fn new_session_id() -> Result<String, String> {
    let mut random = [0u8; 8];
    getrandom::fill(&mut random).map_err(|error| format!("no random numbers: {error}"))?;
    let random = u64::from_be_bytes(random);
    Ok(format!("{:011x}-{random:016x}", crate::clock::now_ms()))
}

/// A folder that can be worked in, by its real name.
pub(super) fn real_folder(path: &str) -> Result<String, String> {
    text_of(&folder(Path::new(path))?)
}

fn folder(path: &Path) -> Result<PathBuf, String> {
    if !path.is_absolute() {
        return Err(format!("cwd must be absolute, and {} is not", path.display()));
    }
    let real = std::fs::canonicalize(path)
        .map_err(|error| format!("cwd {} cannot be used: {error}", path.display()))?;
    match real.is_dir() {
        true => Ok(real),
        false => Err(format!("cwd {} is not a folder", path.display())),
    }
}

fn text_of(path: &Path) -> Result<String, String> {
    path.to_str()
        .map(str::to_owned)
        .ok_or_else(|| format!("the name of {} is not UTF-8", path.display()))
}
