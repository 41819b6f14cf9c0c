//! The ids that are a home's own: the node's, the one under which it speaks to itself, and those of its
//! crew. Each belongs to a key of the home, whoever came with it first.

use std::path::Path;

use sabir_ldp::{DelegateId, PublicKey, Trust};
use sabir_store::peers::Peers;

use super::{FOLDER, NAMES};
use crate::clock::now_ms;
use crate::node::{NodeError, node_signing_key};

/// Ids and their keys.
#[derive(Debug, Clone)]
pub struct OwnIds(Vec<OwnId>);

#[derive(Debug, Clone)]
struct OwnId {
    id: DelegateId,
    key: PublicKey,
    /// Where it answers, below the node's address; one that only asks is nowhere.
    path: Option<String>,
}

impl OwnIds {
    /// Those of a node with this id and key. Keys that the crew lacks are made, so that nobody comes
    /// before them.
    pub fn of_home(home: &Path, node: &DelegateId, key: PublicKey) -> Result<Self, NodeError> {
        Self::with(home, node, key, |_| true)
    }

    /// The same as far as there are keys: a program that only asks makes no crew.
    pub fn known(home: &Path, node: &DelegateId, key: PublicKey) -> Result<Self, NodeError> {
        Self::with(home, node, key, sabir_store::has_node_key)
    }

    fn with(
        home: &Path,
        node: &DelegateId,
        key: PublicKey,
        is_wanted: impl Fn(&Path) -> bool,
    ) -> Result<Self, NodeError> {
        let root = OwnId { id: node.clone(), key, path: Some(String::new()) };
        let caller = OwnId { id: suffixed(node, ":caller")?, key, path: None };
        let mut own = vec![root, caller];
        for name in NAMES {
            let home = home.join(FOLDER).join(name);
            if is_wanted(&home) {
                let key = node_signing_key(&home)?.public_key();
                let path = Some(format!("/{FOLDER}/{name}"));
                own.push(OwnId { id: suffixed(node, &format!("-{name}"))?, key, path });
            }
        }
        Ok(Self(own))
    }

    /// Ties each to its key, before anybody else can.
    pub fn tie(&self, trust: &mut Trust) {
        for OwnId { id, key, .. } in &self.0 {
            trust.tie(id, *key);
        }
    }

    pub fn has(&self, delegate_id: &DelegateId) -> bool {
        self.0.iter().any(|own| own.id == *delegate_id)
    }

    /// Keeps them where every program of the home looks, in place of what a stranger may have left
    /// there. `at` is where the node reaches itself.
    pub fn keep(&self, peers: &Peers, at: &str) -> Result<(), NodeError> {
        for OwnId { id, key, path } in &self.0 {
            let origin = path.as_ref().map_or(HERE.to_owned(), |path| format!("{at}{path}"));
            let kept = peers.pinned_key(id)?;
            if kept.as_ref().is_some_and(|it| it.key == *key && it.origin == origin) {
                continue;
            }
            if kept.is_some() {
                peers.unpin(id)?;
            }
            peers.pin(id, key, &origin, now_ms())?;
        }
        Ok(())
    }
}

/// The id of somebody of this node.
pub(super) fn suffixed(node: &DelegateId, ending: &str) -> Result<DelegateId, NodeError> {
    let bad =
        |error: &dyn std::fmt::Display| NodeError::BadCard(format!("{node}{ending}: {error}"));
    DelegateId::new(format!("{node}{ending}")).map_err(|it| bad(&it))
}

/// Where a key was seen that is ours.
const HERE: &str = "this node";
