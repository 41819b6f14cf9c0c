//! From a configuration to a node: secrets are looked up, skills are put together with what does them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sabir_engine::{ConfigureSession, ProviderSettings};
use sabir_ldp::{
    Capability, Credential, DelegateId, Endpoint, Fingerprint, Holder, IdentityCard, Peer,
    PublicKey, Quality, SharedSecret, SignaturePolicy, Trust, TrustDomain,
};
use sabir_policy::{ApprovalPolicy, SandboxMode, SandboxPolicy};
use tokio::sync::Semaphore;

use super::config::{AgentConfig, Evidence, NodeConfig, ProgramConfig, SkillConfig, SkillKind};
use super::error::NodeError;
use super::settings::NodeSettings;
use super::skill::{Agent, Echo, Llmcp, LlmcpTask, Program, Skill};
use crate::desk::Desk;
use crate::engine::Engine;
use crate::inbox::Inbox;
use crate::process::Runner;
use crate::sandbox::{Confinement, OwnState, temporary_folder};
use crate::visits::TaskGate;

/// What skills are made of.
#[derive(Debug, Clone)]
pub struct SkillKit {
    pub runner: Arc<Runner>,
    /// Where the configuration stands: relative folders start there.
    pub folder: PathBuf,
    /// What confined programs may not write and not read.
    pub own: OwnState,
    /// Who does the work of agents, if this program was started with a model.
    pub engine: Option<Engine>,
    pub desk: Option<Desk>,
    pub inbox: Inbox,
    /// What is asked before pages are fetched for a task. Without it none are.
    pub gate: Option<TaskGate>,
}

/// What a node is set up with beside its configuration.
#[derive(Debug)]
pub struct Surroundings<'a> {
    pub key: PublicKey,
    /// Where it listens.
    pub endpoint: &'a str,
    /// What people said about trust domains.
    pub domains: &'a [TrustDomain],
}

impl NodeConfig {
    /// `environment` looks a variable up.
    pub fn settings(
        &self,
        kit: &SkillKit,
        surroundings: &Surroundings<'_>,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<NodeSettings, NodeError> {
        let trust = self.trust(surroundings.domains, environment)?;
        let card = self.card(trust.domain().clone(), surroundings)?;
        let mut settings = NodeSettings::new(card, trust);
        self.limit(&mut settings);
        let turns = Arc::new(Semaphore::new(self.programs_at_once));
        for skill in &self.skills {
            let done_by = make(skill, kit, &turns, environment)?;
            settings.skills.insert(skill.name.clone(), done_by);
        }
        Ok(settings)
    }

    /// How much is taken on.
    pub(crate) fn limit(&self, settings: &mut NodeSettings) {
        let limits = &mut settings.limits;
        limits.running = self.tasks_at_once.unwrap_or(limits.running);
        limits.running_of_one = self.tasks_of_one.unwrap_or(limits.running_of_one);
        limits.task_ms =
            self.longest_task_secs.map_or(limits.task_ms, |secs| secs.saturating_mul(1000));
        limits.session_budget = self.session_budget;
    }

    /// Whom we know, and who has to sign.
    pub fn trust(
        &self,
        domains: &[TrustDomain],
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Trust, NodeError> {
        let policy = match self.require_signatures {
            true => SignaturePolicy::Everyone,
            false => SignaturePolicy::WhereKnown,
        };
        let mut trust = Trust::new(self.domain(domains), policy);
        self.add_people(&mut trust, environment)?;
        Ok(trust)
    }

    /// The tokens that open the door, whoever holds them.
    pub fn tokens(
        &self,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Vec<Fingerprint>, NodeError> {
        let callers = self.callers.iter().map(|caller| &caller.shows);
        let shown = self.peers.iter().flat_map(|peer| &peer.shows).chain(callers);
        let mut tokens = Vec::new();
        for evidence in shown {
            if let Credential::Token(token) = credential(evidence, environment)? {
                tokens.push(token);
            }
        }
        Ok(tokens)
    }

    /// Who we are: two nodes that nobody named are not each other.
    pub fn identity(&self, key: &PublicKey) -> Result<DelegateId, NodeError> {
        if let Some(id) = &self.delegate_id {
            return Ok(id.clone());
        }
        let key = key.to_hex();
        let name = key.get(..16).unwrap_or_default();
        DelegateId::new(format!("ldp:delegate:sabir-{name}"))
            .map_err(|error| NodeError::BadCard(error.to_string()))
    }

    /// What the configuration says of our domain, and what people added to it.
    fn domain(&self, said: &[TrustDomain]) -> TrustDomain {
        let mut domain = TrustDomain::closed(self.trust_domain.clone());
        domain.trusted_peers.clone_from(&self.trusted_domains);
        if let Some(said) = said.iter().find(|it| it.name == domain.name) {
            domain.allow_cross_domain = said.allow_cross_domain;
            domain.trusted_peers.extend(said.trusted_peers.iter().cloned());
        }
        domain.allow_cross_domain |= !self.trusted_domains.is_empty();
        domain
    }

    fn add_people(
        &self,
        trust: &mut Trust,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<(), NodeError> {
        for peer in &self.peers {
            let secret = peer.hmac_secret_env.as_deref();
            let secret = secret.map(|name| shared_secret(name, environment)).transpose()?;
            let shown = peer.shows.iter().map(|it| credential(it, environment));
            let credentials: Result<_, NodeError> = shown.collect();
            let known = Peer {
                domain: peer.trust_domain.clone(),
                keys: peer.public_keys.clone(),
                secret: secret.map(SharedSecret::new),
                credentials: credentials?,
            };
            trust.add_peer(peer.delegate_id.clone(), known);
        }
        for caller in &self.callers {
            let credential = credential(&caller.shows, environment)?;
            trust.add_holder(Holder { domain: caller.trust_domain.clone(), credential });
        }
        Ok(())
    }

    /// What the node publishes about itself, but for its key.
    pub fn card(
        &self,
        trust_domain: TrustDomain,
        surroundings: &Surroundings<'_>,
    ) -> Result<IdentityCard, NodeError> {
        let delegate_id = self.identity(&surroundings.key)?;
        let endpoint = self.endpoint.as_deref().unwrap_or(surroundings.endpoint);
        let endpoint = Endpoint::new(endpoint)
            .map_err(|error| NodeError::BadCard(format!("its address {endpoint}: {error}")))?;
        Ok(IdentityCard {
            description: self.description.clone(),
            model_family: self.model_family.clone().unwrap_or_else(|| "sabir".to_owned()),
            model_version: self
                .model_version
                .clone()
                .unwrap_or_else(|| format!("sabir-{}", env!("CARGO_PKG_VERSION"))),
            context_window: CONTEXT_WINDOW,
            jurisdiction: self.jurisdiction.clone(),
            capabilities: self.skills.iter().map(capability).collect(),
            supported_payload_modes: self.payload_modes.clone(),
            endpoint: Some(endpoint),
            ..IdentityCard::named(delegate_id, &self.name, trust_domain)
        })
    }
}

fn variable(name: &str, environment: &dyn Fn(&str) -> Option<String>) -> Result<String, NodeError> {
    let value = environment(name).filter(|value| !value.is_empty());
    value.ok_or_else(|| NodeError::NoVariable(name.to_owned()))
}

fn shared_secret(
    name: &str,
    environment: &dyn Fn(&str) -> Option<String>,
) -> Result<String, NodeError> {
    let secret = variable(name, environment)?;
    match unfit_secret(&secret) {
        Some(why) => Err(NodeError::BadVariable { name: name.to_owned(), why }),
        None => Ok(secret),
    }
}

fn credential(
    evidence: &Evidence,
    environment: &dyn Fn(&str) -> Option<String>,
) -> Result<Credential, NodeError> {
    Ok(match evidence {
        Evidence::TokenEnv(name) => {
            let token = variable(name, environment)?;
            match unfit_token(&token) {
                Some(why) => return Err(NodeError::BadVariable { name: name.clone(), why }),
                None => Credential::Token(Fingerprint::of(token.trim().as_bytes())),
            }
        }
        Evidence::Token(hash) => Credential::Token(*hash),
        Evidence::Certificate(hash) => Credential::Certificate(*hash),
    })
}

/// Why a text is no token that a caller could send in a header. White space around it is not part of it.
pub(crate) fn unfit_token(text: &str) -> Option<&'static str> {
    let is_fit = text.trim().bytes().all(|byte| byte.is_ascii_graphic());
    (!is_fit).then_some("holds a line break, a space or a sign that cannot be sent in a header")
}

/// Why a text is no secret that two sides could share: one of them would read it without the rest.
pub(crate) fn unfit_secret(text: &str) -> Option<&'static str> {
    let is_fit = text.trim() == text && !text.chars().any(char::is_control);
    (!is_fit).then_some("begins or ends with white space, or holds a line break")
}

fn capability(skill: &SkillConfig) -> Capability {
    Capability {
        description: skill.description.clone(),
        domains: skill.domains.clone(),
        cost_hint: skill.cost_hint,
        quality: Quality { supports_streaming: true, ..Quality::default() },
        ..Capability::named(skill.name.clone())
    }
}

fn make(
    skill: &SkillConfig,
    kit: &SkillKit,
    turns: &Arc<Semaphore>,
    environment: &dyn Fn(&str) -> Option<String>,
) -> Result<Arc<dyn Skill>, NodeError> {
    let missing = |what| NodeError::Missing { skill: skill.name.clone(), what };
    Ok(match &skill.kind {
        SkillKind::Echo => Arc::new(Echo),
        SkillKind::Program(config) => {
            let program = program(config, kit, turns, environment)?;
            check_folder(skill, &program.cwd)?;
            Arc::new(program)
        }
        SkillKind::Agent(config) => {
            let engine = kit.engine.clone().ok_or_else(|| missing("a model: name a provider"))?;
            check_folder(skill, &folder(config.cwd.as_deref(), kit))?;
            let (configure, inbox) = (configure(config, kit), kit.inbox.clone());
            Arc::new(Agent { engine, configure, inbox, delegate: String::new() })
        }
        SkillKind::Llmcp(config) => {
            let desk = kit.desk.clone().ok_or_else(|| missing("a desk"))?;
            let task = match (config.task.as_str(), &config.collection) {
                ("web.summarize", _) => LlmcpTask::Summarize,
                ("web.extract", _) => LlmcpTask::Extract,
                (_, Some(collection)) => LlmcpTask::Answer { collection: collection.clone() },
                (_, None) => return Err(missing("a `collection` to answer from")),
            };
            Arc::new(Llmcp { desk, task })
        }
    })
}

fn program(
    config: &ProgramConfig,
    kit: &SkillKit,
    turns: &Arc<Semaphore>,
    environment: &dyn Fn(&str) -> Option<String>,
) -> Result<Program, NodeError> {
    let mut env = config.env.clone();
    for name in &config.pass_env {
        let value = environment(name).ok_or_else(|| NodeError::NoVariable(name.clone()))?;
        env.push((name.clone(), value));
    }
    let cwd = folder(config.cwd.as_deref(), kit);
    let sandbox = SandboxPolicy::of(config.sandbox.unwrap_or(SandboxMode::DangerFullAccess));
    let confinement = match config.sandbox {
        None => Confinement::FullAccess,
        Some(_) => Confinement::of(&sandbox, &cwd, temporary_folder().as_deref(), &kit.own),
    };
    Ok(Program {
        argv: config.argv.clone(),
        cwd,
        env,
        confinement,
        sandbox,
        runner: Arc::clone(&kit.runner),
        turns: Arc::clone(turns),
        repeatable: config.repeatable,
    })
}

/// Without a word about it an agent may look at its folder and asks for everything else.
fn configure(config: &AgentConfig, kit: &SkillKit) -> ConfigureSession {
    let mode = config.sandbox.unwrap_or(SandboxMode::ReadOnly);
    configure_in(config, folder(config.cwd.as_deref(), kit), mode)
}

/// What each session of an agent begins with, that works in a folder.
pub(crate) fn configure_in(
    config: &AgentConfig,
    cwd: PathBuf,
    mode: SandboxMode,
) -> ConfigureSession {
    ConfigureSession {
        model: config.model.clone(),
        provider: config
            .provider
            .clone()
            .map(|name| ProviderSettings { name: Some(name), ..ProviderSettings::default() }),
        cwd: cwd.into_os_string().into_string().ok(),
        approval_policy: Some(ApprovalPolicy::OnRequest),
        sandbox_policy: Some(SandboxPolicy { mode, ..SandboxPolicy::default() }),
        instructions: config.instructions.clone(),
        ..ConfigureSession::default()
    }
}

/// Every task would fail there.
fn check_folder(skill: &SkillConfig, folder: &Path) -> Result<(), NodeError> {
    match folder.is_dir() {
        true => Ok(()),
        false => Err(NodeError::NoFolder { skill: skill.name.clone(), folder: folder.to_owned() }),
    }
}

fn folder(named: Option<&Path>, kit: &SkillKit) -> PathBuf {
    named.map_or_else(|| kit.folder.clone(), |named| kit.folder.join(named))
}

/// In tokens: what the smallest of today's models hold.
const CONTEXT_WINDOW: u64 = 8_192;
