//! The delegates of this node: what they are made of, how they are started, and where the node itself
//! reaches them. Whoever serves a node, to agents or to a program that uses tools, has the same ones.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use sabir_host::{
    CallerConfig, Crew, CrewSetup, Engine, Evidence, MEMBERS, Node, NodeConfig, SkillConfig,
    SkillKind, SkillKit, Surroundings,
};
use sabir_ldp::SkillName;
use sabir_net::{
    Address, Base, Delegation, Demand, LdpOptions, LdpServer, Listening, OwnDelegate, PlainHttp,
    Served, Token,
};
use tokio_util::sync::CancellationToken;

use super::me::{self, Me};
use crate::agent_args::AgentArgs;
use crate::model_args::ModelArgs;
use crate::research::desk::EXTRACTIVE;

/// Below the home: the webhooks of A2A, with tokens and credentials of others.
pub(crate) const WEBHOOKS: &str = "webhooks";

/// A node that is told nothing offers this.
pub(super) fn offer_something(config: &mut NodeConfig) -> anyhow::Result<()> {
    if config.skills.is_empty() {
        config.skills.push(SkillConfig {
            name: SkillName::new("echo")?,
            description: Some("Gives back what it is given.".to_owned()),
            domains: Vec::new(),
            cost_hint: None,
            kind: SkillKind::Echo,
        });
    }
    Ok(())
}

/// The agent that works for a node.
pub(super) fn agent(model: &ModelArgs) -> AgentArgs {
    let mut model = model.clone();
    // That one is no agent.
    model.model = model.model.filter(|name| name != EXTRACTIVE);
    AgentArgs { model, approval: None, sandbox: None }
}

/// What neither confined programs nor agents may read: keys, databases that hold some, and webhooks. `folder` is
/// where the configuration stands.
pub(super) fn key_files(
    home: &Path,
    config: &NodeConfig,
    folder: &Path,
    model: &ModelArgs,
) -> anyhow::Result<Vec<PathBuf>> {
    let configured = config.tls.iter().map(|tls| &tls.key);
    let configured = configured.chain(config.identity.iter().map(|own| &own.key));
    let configured = configured.map(|key| folder.join(key));
    let homes = std::iter::once(home.to_owned()).chain(Crew::homes(home));
    let own = homes.flat_map(|home| {
        let databases = ["sabir.db", "peers.db"].into_iter().flat_map(|name| {
            // Also what is not in the main file yet.
            ["", "-wal", "-shm", "-journal"].map(|ending| format!("{name}{ending}"))
        });
        let names = databases.chain(["node.key".to_owned(), "console.token".to_owned()]);
        names.map(|name| home.join(name)).collect::<Vec<_>>()
    });
    let providers = model.providers()?;
    // What others told us so that we can tell them.
    let hooks = std::iter::once(home.join(WEBHOOKS));
    let all = configured.chain(own).chain(hooks).chain(providers.key_files());
    // Commands start in folders of their own.
    Ok(all.map(|path| std::path::absolute(&path).unwrap_or(path)).collect())
}

/// Starts the node's own delegate and the crew, which say that they are reached at `endpoint`.
pub(super) async fn start(
    home: &Path,
    me: &Me,
    engine: &Engine,
    kit: &SkillKit,
    endpoint: &str,
    workspace: &Path,
) -> anyhow::Result<(Node, Crew)> {
    let surroundings = Surroundings { key: me.key.public_key(), endpoint, domains: &me.domains };
    let mut settings = me.config.settings(kit, &surroundings, &me::environment)?;
    me.own.tie(&mut settings.trust);
    let (store, peers) = (engine.store().clone(), me.peers.clone());
    let node = Node::start(settings, store, peers, me.key.clone()).await?;
    let crew = CrewSetup {
        home,
        config: &me.config,
        surroundings: &surroundings,
        kit,
        peers: &me.peers,
        workspace,
        environment: &me::environment,
    };
    match Crew::start(&crew).await {
        Ok(crew) => Ok((node, crew)),
        Err(error) => {
            node.stop().await;
            Err(error).context("the crew cannot start")
        }
    }
}

/// Where the node reaches its own delegates.
pub(super) struct Inside {
    base: Base,
    /// Its own listener, where the ones for others demand too much.
    private: Option<(LdpServer, String)>,
}

impl Inside {
    /// A listener that takes everybody of this machine will do. Otherwise there is one more, on a port
    /// of its own, for whoever knows a word that nobody else is told.
    pub(super) async fn open(
        listening: &[Listening],
        demand: Demand,
        config: &mut NodeConfig,
    ) -> anyhow::Result<Self> {
        let is_open = |place: &&Listening| {
            let address = place.address.parse::<SocketAddr>();
            place.transport == "http" && address.is_ok_and(|it| it.ip().is_loopback())
        };
        let near = listening.iter().find(is_open).filter(|_| demand == Demand::Elsewhere);
        if let Some(place) = near {
            let base = Base::parse(&format!("http://{}", place.address), PlainHttp::LoopbackOnly)?;
            return Ok(Self { base, private: None });
        }
        let mut word = [0; 32];
        getrandom::fill(&mut word).context("there is no source of random numbers")?;
        let word: String = word.iter().map(|byte| format!("{byte:02x}")).collect();
        let fingerprint = Token::new(&word)?.fingerprint();
        let trust_domain = config.trust_domain.clone();
        config.callers.push(CallerConfig { trust_domain, shows: Evidence::Token(fingerprint) });
        let options = LdpOptions {
            tokens: vec![fingerprint],
            demand: Demand::Everyone,
            ..LdpOptions::default()
        };
        let here = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let server = LdpServer::bind(vec![here], options).await?;
        let place = server.listening().into_iter().next().context("it listens nowhere")?;
        let base = Base::parse(&format!("http://{}", place.address), PlainHttp::LoopbackOnly)?;
        Ok(Self { base, private: Some((server, word)) })
    }

    pub(super) fn delegation(&self, me: &Me) -> anyhow::Result<Delegation> {
        let shown = self.private.as_ref().map(|(_, word)| (&self.base, word.clone()));
        me.delegation_showing(shown)
    }

    /// Those whom the router may choose without having been told of them.
    pub(super) fn own_delegates(
        &self,
        node: &Node,
        crew: &Crew,
    ) -> anyhow::Result<Vec<OwnDelegate>> {
        let at = |path: &str| {
            let url = format!("{}{path}", self.base.to_string().trim_end_matches('/'));
            Address::parse(&url, PlainHttp::LoopbackOnly)
        };
        let mut own = vec![OwnDelegate {
            name: "node".to_owned(),
            delegate_id: node.card().delegate_id.clone(),
            address: at("")?,
            repeats: false,
            workspace: None,
        }];
        for member in crew.members() {
            let Some(node) = &member.node else { continue };
            let changes_files = member.name == "coder";
            own.push(OwnDelegate {
                name: member.name.to_owned(),
                delegate_id: node.card().delegate_id.clone(),
                address: at(&format!("{MEMBERS}{}", member.name))?,
                // What changes files is not begun twice.
                repeats: !changes_files,
                workspace: member.workspace.clone(),
            });
        }
        Ok(own)
    }

    /// Where its delegates say that they are.
    pub(super) fn url(&self) -> String {
        self.base.to_string().trim_end_matches('/').to_owned()
    }

    /// Serves the delegates, if the other listeners do not.
    pub(super) async fn serve(self, served: Served, stop: CancellationToken) {
        if let Some((server, _)) = self.private {
            server.serve(Served { mounts: Vec::new(), ..served }, stop).await;
        }
    }
}
