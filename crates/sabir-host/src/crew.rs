//! The crew: delegates that are built in, so that a node is of use before anybody configures it. Each
//! is a node of its own, with a card, a key and a journal, in a folder of the home.
//!
//! One that lacks what it needs is there all the same: it offers nothing, and says what to do.

mod coder;
mod ids;
mod linguist;
mod researcher;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::future::{join_all, select_all};
use sabir_ldp::{Capability, CostTier, Endpoint, IdentityCard, PayloadMode, Quality, SkillName};
use sabir_store::Store;
use sabir_store::peers::Peers;
use serde_json::Value;

use crate::node::{
    Node, NodeConfig, NodeError, NodeSettings, Skill, SkillKit, Surroundings, node_signing_key,
};

pub use ids::OwnIds;

/// Where the delegates of a node are, below its own address.
pub const MEMBERS: &str = "/delegates/";

/// Those of the crew that run. Cheap to clone; clones share everything.
#[derive(Debug, Clone)]
pub struct Crew {
    members: Vec<Member>,
}

#[derive(Debug, Clone)]
pub struct Member {
    /// As its address has it, behind [`MEMBERS`].
    pub name: &'static str,
    pub state: MemberState,
    /// None of one that is switched off.
    pub node: Option<Node>,
    /// The folder whose files it changes.
    pub workspace: Option<PathBuf>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemberState {
    Ready,
    /// It lacks a model, and offers nothing.
    NoModel {
        why: String,
    },
    Off,
}

/// What a crew is made of.
pub struct CrewSetup<'a> {
    pub home: &'a Path,
    /// Of the node, whose trust and limits hold for all.
    pub config: &'a NodeConfig,
    pub surroundings: &'a Surroundings<'a>,
    pub kit: &'a SkillKit,
    /// What all of the home know of others.
    pub peers: &'a Peers,
    /// Where the coder works if nothing is said.
    pub workspace: &'a Path,
    /// Looks a variable up.
    pub environment: &'a dyn Fn(&str) -> Option<String>,
}

/// What somebody of the crew can do.
pub(crate) struct Offer {
    /// For the card.
    description: String,
    model_family: Option<String>,
    model_version: Option<String>,
    skills: Vec<(Capability, Arc<dyn Skill>)>,
    state: MemberState,
    /// How many tasks it works on at once, if that is fewer than it takes.
    at_once: Option<usize>,
    /// The folder whose files it changes.
    workspace: Option<PathBuf>,
}

impl Offer {
    /// Of somebody who can do nothing, for want of a model. `would` is what it could do with one.
    fn without_model(would: &str, why: String) -> Self {
        Self {
            description: format!("Would {would}: {why}"),
            model_family: None,
            model_version: None,
            skills: Vec::new(),
            state: MemberState::NoModel { why },
            at_once: None,
            // Work of a folder is not handed to one that cannot do any.
            workspace: None,
        }
    }
}

impl Crew {
    /// Starts everybody who is not switched off. What ran when they were last stopped is reported as
    /// interrupted, or waits for [`Crew::take_up`].
    pub async fn start(setup: &CrewSetup<'_>) -> Result<Self, NodeError> {
        let crew = &setup.config.crew;
        let key = setup.surroundings.key;
        let own = OwnIds::of_home(setup.home, &setup.config.identity(&key)?, key)?;
        let researcher = crew.researcher.as_ref();
        let offers = [
            (RESEARCHER, researcher.map(|config| researcher::offer(config, setup.kit))),
            (CODER, crew.coder.as_ref().map(|it| coder::offer(it, setup.kit, setup.workspace))),
            (LINGUIST, crew.linguist.then(linguist::offer)),
        ];
        let mut members = Vec::new();
        for (name, offer) in offers {
            members.push(match offer {
                None => Member { name, state: MemberState::Off, node: None, workspace: None },
                Some(offer) => match setup.start(name, offer, &own).await {
                    Ok(member) => member,
                    Err(error) => {
                        // Those that are there already do not go on alone.
                        Self { members }.stop().await;
                        return Err(error);
                    }
                },
            });
        }
        Ok(Self { members })
    }

    /// The folders in which they keep what is theirs, each like a home.
    pub fn homes(home: &Path) -> [PathBuf; 3] {
        NAMES.map(|name| home.join(FOLDER).join(name))
    }

    /// Everybody, also who is switched off.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// Those that are served, by name.
    pub fn nodes(&self) -> impl Iterator<Item = (&'static str, &Node)> {
        self.members.iter().filter_map(|member| Some((member.name, member.node.as_ref()?)))
    }

    /// Goes on with what the last end cut off: see [`Node::take_up`].
    pub fn take_up(&self) -> usize {
        self.nodes().map(|(_, node)| node.take_up()).sum()
    }

    /// Ends all of them, at one time: see [`Node::stop`].
    pub async fn stop(&self) {
        join_all(self.nodes().map(|(_, node)| node.stop())).await;
    }

    /// Waits until one of them fails, and says who and why.
    pub async fn failure(&self) -> (&'static str, String) {
        let failures: Vec<_> = self
            .nodes()
            .map(|(name, node)| Box::pin(async move { (name, node.failure().await) }))
            .collect();
        if failures.is_empty() {
            return std::future::pending().await;
        }
        select_all(failures).await.0
    }
}

impl MemberState {
    /// Stable, for programs.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::NoModel { .. } => "no_model",
            Self::Off => "off",
        }
    }

    /// What it lacks, and what to do.
    pub fn why(&self) -> Option<&str> {
        match self {
            Self::NoModel { why } => Some(why),
            Self::Ready | Self::Off => None,
        }
    }
}

impl CrewSetup<'_> {
    async fn start(
        &self,
        name: &'static str,
        offer: Offer,
        own: &OwnIds,
    ) -> Result<Member, NodeError> {
        let home = self.home.join(FOLDER).join(name);
        let workspace = offer.workspace.clone();
        let (settings, state) = self.settings(name, offer, own)?;
        let key = node_signing_key(&home)?;
        let store = Store::open(&home)?;
        let node = Node::start(settings, store, self.peers.clone(), key).await?;
        Ok(Member { name, state, node: Some(node), workspace })
    }

    fn settings(
        &self,
        name: &str,
        offer: Offer,
        own: &OwnIds,
    ) -> Result<(NodeSettings, MemberState), NodeError> {
        let mut trust = self.config.trust(self.surroundings.domains, self.environment)?;
        let mut card = self.config.card(trust.domain().clone(), self.surroundings)?;
        let bad = |error: &dyn std::fmt::Display| NodeError::BadCard(format!("{name}: {error}"));
        // Nobody else hands out work in the name of the node or of its crew.
        own.tie(&mut trust);
        card.delegate_id = ids::suffixed(&card.delegate_id, &format!("-{name}"))?;
        if let Some(endpoint) = card.endpoint.take() {
            let at = format!("{}{MEMBERS}{name}", endpoint.as_str().trim_end_matches('/'));
            card.endpoint = Some(Endpoint::new(at).map_err(|it| bad(&it))?);
        }
        card.name = format!("{} {name}", card.name);
        card.description = Some(offer.description);
        card.model_family = offer.model_family.unwrap_or(card.model_family);
        card.model_version = offer.model_version.unwrap_or(card.model_version);
        // Skills read an instruction and fields.
        card.supported_payload_modes
            .retain(|mode| matches!(mode, PayloadMode::SemanticFrame | PayloadMode::Text));
        if card.supported_payload_modes.is_empty() {
            card.supported_payload_modes.push(PayloadMode::Text);
        }
        if let Some(most) = offer.at_once {
            card.metadata.insert(IdentityCard::TASKS_AT_ONCE.to_owned(), most.to_string());
        }
        card.capabilities = offer.skills.iter().map(|(capability, _)| capability.clone()).collect();
        let mut settings = NodeSettings::new(card, trust);
        self.config.limit(&mut settings);
        for (capability, skill) in offer.skills {
            settings.skills.insert(capability.name, skill);
        }
        Ok((settings, offer.state))
    }
}

impl std::fmt::Debug for CrewSetup<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CrewSetup").field("home", &self.home).finish_non_exhaustive()
    }
}

/// A skill as the card has it. Names are ours, so that none is refused.
fn capability(
    name: &str,
    description: &str,
    domain: &str,
    input_schema: Value,
) -> Option<Capability> {
    Some(Capability {
        description: Some(description.to_owned()),
        input_schema: Some(input_schema),
        domains: vec![domain.to_owned()],
        cost_hint: Some(CostTier::Low),
        quality: Quality { supports_streaming: true, ..Quality::default() },
        ..Capability::named(SkillName::new(name).ok()?)
    })
}

pub(crate) const RESEARCHER: &str = "researcher";
pub(crate) const CODER: &str = "coder";
pub(crate) const LINGUIST: &str = "linguist";

const NAMES: [&str; 3] = [RESEARCHER, CODER, LINGUIST];

/// Below the home: a folder for each; and below the node's address.
const FOLDER: &str = "delegates";
