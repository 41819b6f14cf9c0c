//! What a console is made of.

use std::path::PathBuf;

use sabir_host::{Conversations, Desk, Feed, Inbox, MEMBERS, Member, MemberState};
use sabir_ldp::{DelegateId, IdentityCard};
use sabir_net::{Delegation, Orders};
use sabir_policy::PolicyDoc;
use sabir_store::peers::Peers;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use crate::door::{ConsoleToken, PlainLogin};

/// What a console shows and acts on.
#[derive(Debug)]
pub struct ConsoleSetup {
    pub home: PathBuf,
    /// The configuration that the node was started with.
    pub config_file: PathBuf,
    pub token: ConsoleToken,
    pub plain_login: PlainLogin,
    pub about: About,
    pub models: Vec<ModelState>,
    /// What a newcomer could do next.
    pub hints: Vec<Hint>,
    /// Answers questions about collections.
    pub desk: Desk,
    /// What holds since the node was started.
    pub policy: PolicyDoc,
    pub peers: Peers,
    pub delegation: Delegation,
    /// What waits for a person.
    pub inbox: Inbox,
    /// Tasks for the node's router.
    pub orders: Orders,
    pub conversations: Conversations,
    /// The delegates of this node.
    pub builtin: Vec<Builtin>,
    /// The node's own journal as it grows.
    pub feed: Feed,
    /// The node ends.
    pub stop: CancellationToken,
}

/// The node, in words.
#[derive(Debug, Clone, Serialize)]
pub struct About {
    pub delegate_id: DelegateId,
    pub name: String,
    pub version: String,
    /// In hexadecimal digits.
    pub public_key: String,
    pub started_at_ms: u64,
    pub listening: Vec<String>,
}

/// Whether a model can be asked.
#[derive(Debug, Clone, Serialize)]
pub struct ModelState {
    pub provider: String,
    pub model: String,
    pub ready: bool,
    /// What is missing, or why it is there.
    pub why: String,
}

/// Something to do, and the command that does it.
#[derive(Debug, Clone, Serialize)]
pub struct Hint {
    pub title: String,
    pub text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

/// A delegate that is part of this node.
#[derive(Debug, Clone)]
pub struct Builtin {
    /// As people call it.
    pub name: String,
    pub url: String,
    pub state: MemberState,
    /// None for one that is switched off.
    pub card: Option<IdentityCard>,
}

impl Builtin {
    /// Somebody of the crew, at the address of the node.
    pub fn of_crew(member: &Member, node_url: &str) -> Self {
        let card = member.node.as_ref().map(|node| IdentityCard::clone(&node.card()));
        let url = format!("{}{MEMBERS}{}", node_url.trim_end_matches('/'), member.name);
        Self { name: member.name.to_owned(), url, state: member.state.clone(), card }
    }
}
