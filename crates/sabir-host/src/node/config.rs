//! The `[node]`, `[serve]`, `[crew]`, `[[skills]]`, `[[peers]]`, `[[callers]]`, `[[delegates]]`,
//! `[tls]` and `[telemetry]` sections of a configuration text, read once into checked types. It reads no file and no
//! environment: a secret is the name of a variable here. Other sections of the text belong to others.

mod crew;
mod error;
mod people;
mod section;
mod serve;
mod skills;
mod telemetry;
mod tls;

use sabir_ldp::{Budget, DelegateId, PayloadMode};
use sabir_telemetry::OtlpSettings;
use toml::de::{DeTable, DeValue};

pub use crew::{CrewConfig, ResearcherConfig};
pub use error::NodeConfigError;
pub use people::{CallerConfig, DelegateConfig, Evidence, PeerConfig};
pub use serve::{ServeConfig, is_host_name};
pub use skills::{AgentConfig, LlmcpConfig, ProgramConfig, SkillConfig, SkillKind};
pub use telemetry::TelemetryConfig;
pub use tls::{IdentityConfig, TlsConfig};

use section::{Section, check_keys};

/// What a node is told to be and to offer.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeConfig {
    /// Without one it is named after its key.
    pub delegate_id: Option<DelegateId>,
    pub name: String,
    pub description: Option<String>,
    pub trust_domain: String,
    /// Domains whose members may open sessions, beside its own.
    pub trusted_domains: Vec<String>,
    pub require_signatures: bool,
    /// What is offered, the best first.
    pub payload_modes: Vec<PayloadMode>,
    /// Where others reach it, if that is not where it listens.
    pub endpoint: Option<String>,
    pub model_family: Option<String>,
    pub model_version: Option<String>,
    pub jurisdiction: Option<String>,
    /// Programs that run at once.
    pub programs_at_once: usize,
    /// Tasks that run at once, in all and of one peer.
    pub tasks_at_once: Option<usize>,
    pub tasks_of_one: Option<usize>,
    /// How long any task may run.
    pub longest_task_secs: Option<u64>,
    /// What the tasks of one session may use up together.
    pub session_budget: Budget,
    pub skills: Vec<SkillConfig>,
    pub serve: ServeConfig,
    pub crew: CrewConfig,
    pub peers: Vec<PeerConfig>,
    pub callers: Vec<CallerConfig>,
    /// What we show to others when we ask them.
    pub delegates: Vec<DelegateConfig>,
    pub tls: Option<TlsConfig>,
    /// Who we are to servers that ask for a certificate.
    pub identity: Option<IdentityConfig>,
    /// What those who run it are told.
    pub telemetry: TelemetryConfig,
}

impl Default for NodeConfig {
    /// What holds where nothing is said: a node for those on this machine, that offers nothing yet.
    fn default() -> Self {
        Self {
            delegate_id: None,
            name: "Sabir".to_owned(),
            description: None,
            trust_domain: "default".to_owned(),
            trusted_domains: Vec::new(),
            require_signatures: false,
            payload_modes: PayloadMode::IMPLEMENTED.to_vec(),
            endpoint: None,
            model_family: None,
            model_version: None,
            jurisdiction: None,
            programs_at_once: PROGRAMS_AT_ONCE,
            tasks_at_once: None,
            tasks_of_one: None,
            longest_task_secs: None,
            session_budget: Budget::default(),
            skills: Vec::new(),
            serve: ServeConfig::default(),
            crew: CrewConfig::default(),
            peers: Vec::new(),
            callers: Vec::new(),
            delegates: Vec::new(),
            tls: None,
            identity: None,
            telemetry: TelemetryConfig::default(),
        }
    }
}

impl NodeConfig {
    pub fn parse(text: &str) -> Result<Self, NodeConfigError> {
        let document = DeTable::parse(text);
        let document = document.map_err(|error| NodeConfigError::syntax(text, &error))?;
        let mut table = document.into_inner();
        check_keys("the configuration", &table, SECTIONS, text)?;
        let mut config = Self::default();
        if let Some(value) = table.remove("node") {
            config.read_node(Section::new("[node]", value, NODE_KEYS, text)?)?;
        }
        for (key, name) in [
            ("skills", "[[skills]]"),
            ("peers", "[[peers]]"),
            ("callers", "[[callers]]"),
            ("delegates", "[[delegates]]"),
        ] {
            let Some(value) = table.remove(key) else { continue };
            let span = value.span();
            let DeValue::Array(entries) = value.into_inner() else {
                let why = format!("write `{name}` with two brackets: there may be several");
                return Err(NodeConfigError::at(text, span, why));
            };
            for entry in entries {
                match key {
                    "skills" => {
                        let section = Section::new("[[skills]]", entry, skills::KEYS, text)?;
                        skills::read(section, &mut config.skills)?;
                    }
                    "peers" => {
                        let section = Section::new("[[peers]]", entry, people::PEER_KEYS, text)?;
                        let own = config.delegate_id.as_ref();
                        people::read_peer(section, &config.trust_domain, own, &mut config.peers)?;
                    }
                    "delegates" => {
                        let section =
                            Section::new("[[delegates]]", entry, people::DELEGATE_KEYS, text)?;
                        people::read_delegate(section, &mut config.delegates)?;
                    }
                    _ => {
                        let section =
                            Section::new("[[callers]]", entry, people::CALLER_KEYS, text)?;
                        config.callers.push(people::read_caller(section, &config.trust_domain)?);
                    }
                }
            }
        }
        if let Some(value) = table.remove("serve") {
            config.serve = serve::read(Section::new("[serve]", value, serve::KEYS, text)?)?;
        }
        if let Some(value) = table.remove("crew") {
            config.crew = crew::read(Section::new("[crew]", value, crew::KEYS, text)?)?;
        }
        if let Some(value) = table.remove("tls") {
            let section = Section::new("[tls]", value, tls::KEYS, text)?;
            (config.tls, config.identity) = tls::read(section)?;
        }
        if let Some(value) = table.remove("telemetry") {
            let section = Section::new("[telemetry]", value, telemetry::KEYS, text)?;
            config.telemetry = telemetry::read(section)?;
        }
        Ok(config)
    }

    /// The variables that are secret by what they are for, whatever they are called.
    pub fn secret_variables(&self) -> Vec<String> {
        let mut names = Vec::new();
        let callers = self.callers.iter().map(|caller| &caller.shows);
        for shows in self.peers.iter().flat_map(|peer| &peer.shows).chain(callers) {
            if let Evidence::TokenEnv(name) = shows {
                names.push(name.clone());
            }
        }
        names.extend(self.peers.iter().filter_map(|peer| peer.hmac_secret_env.clone()));
        names.extend(self.delegates.iter().filter_map(|delegate| delegate.token_env.clone()));
        names.extend(self.telemetry.metrics_token_env.clone());
        names.extend(OtlpSettings::secret_variables(&self.telemetry.traced));
        for skill in &self.skills {
            // What is handed to one program is not for the others.
            if let SkillKind::Program(program) = &skill.kind {
                let secret = |name: &&String| !ORDINARY.contains(&name.as_str());
                names.extend(program.pass_env.iter().filter(secret).cloned());
            }
        }
        names
    }

    fn read_node(&mut self, mut section: Section<'_>) -> Result<(), NodeConfigError> {
        if let Some(id) = section.text("delegate_id")? {
            let read = DelegateId::new(id.value.clone()).ok().filter(DelegateId::is_well_formed);
            self.delegate_id = Some(read.ok_or_else(|| {
                section.error_at(&id, "an id is `ldp:delegate:` and a name without spaces")
            })?);
        }
        let text = |it: section::Placed<String>| it.value;
        if let Some(name) = section.text("name")? {
            self.name = name.value;
        }
        self.description = section.text("description")?.map(text);
        if let Some(domain) = section.text("trust_domain")? {
            if domain.value.is_empty() {
                return Err(section.error_at(&domain, "a trust domain has a name"));
            }
            self.trust_domain = domain.value;
        }
        let trusted = section.texts("trusted_domains")?.unwrap_or_default();
        self.trusted_domains = trusted.into_iter().map(text).collect();
        self.require_signatures = section.flag("require_signatures")?.unwrap_or(false);
        if let Some(modes) = section.texts("payload_modes")? {
            self.payload_modes = Vec::new();
            for mode in modes {
                let known = PayloadMode::from_wire(&mode.value).filter(|it| it.is_implemented());
                let known = known.ok_or_else(|| {
                    let names = PayloadMode::IMPLEMENTED.map(PayloadMode::wire_name).join(", ");
                    section.error_at(&mode, format!("the modes that can be offered are {names}"))
                })?;
                self.payload_modes.push(known);
            }
            if self.payload_modes.is_empty() {
                return Err(section.error("`payload_modes` is empty: text is offered always"));
            }
        }
        self.endpoint = section.text("endpoint")?.map(text);
        self.model_family = section.text("model_family")?.map(text);
        self.model_version = section.text("model_version")?.map(text);
        self.jurisdiction = section.text("jurisdiction")?.map(text);
        let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        if let Some(number) = section.count("programs_at_once")? {
            self.programs_at_once = count(number).min(MOST_PROGRAMS);
        }
        self.tasks_at_once = section.count("tasks_at_once")?.map(count);
        self.tasks_of_one = section.count("tasks_of_one")?.map(count);
        self.longest_task_secs = section.count("longest_task_secs")?;
        self.session_budget = Budget {
            max_tokens: section.count("session_max_tokens")?,
            max_cost_usd: section.amount("session_max_cost_usd")?,
        };
        Ok(())
    }
}

/// The keys of each section that is read here, by the name that people write.
pub(crate) const KEYS: &[(&str, &[&str])] = &[
    ("", SECTIONS),
    ("node", NODE_KEYS),
    ("serve", serve::KEYS),
    ("skills", skills::KEYS),
    ("skills.agent", skills::AGENT_KEYS),
    ("crew", crew::KEYS),
    ("crew.researcher", crew::RESEARCHER_KEYS),
    ("crew.coder", skills::AGENT_KEYS),
    ("peers", people::PEER_KEYS),
    ("callers", people::CALLER_KEYS),
    ("delegates", people::DELEGATE_KEYS),
    ("tls", tls::KEYS),
    ("telemetry", telemetry::KEYS),
];

/// Also those that others read from the same file.
const SECTIONS: &[&str] = &[
    "node",
    "serve",
    "crew",
    "skills",
    "peers",
    "callers",
    "delegates",
    "tls",
    "telemetry",
    "default_provider",
    "providers",
    "mcp",
    "policy",
];

/// What says where one is and who. Whoever hands one of them on by name means no secret.
const ORDINARY: [&str; 9] =
    ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TERM", "TZ", "TMPDIR"];

const NODE_KEYS: &[&str] = &[
    "delegate_id",
    "name",
    "description",
    "trust_domain",
    "trusted_domains",
    "require_signatures",
    "payload_modes",
    "endpoint",
    "model_family",
    "model_version",
    "jurisdiction",
    "programs_at_once",
    "tasks_at_once",
    "tasks_of_one",
    "longest_task_secs",
    "session_max_tokens",
    "session_max_cost_usd",
];

/// Each is two processes; a machine has room for a thousand, and hardly for more.
const PROGRAMS_AT_ONCE: usize = 1_000;
const MOST_PROGRAMS: usize = 16_384;
