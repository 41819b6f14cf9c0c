//! Keys that peers came with first, kept for good and shared with every process of this home.

use sabir_ldp::{DelegateId, PublicKey};
use sabir_store::StoreError;
use sabir_store::peers::{Peers, PinnedKey, Pinning};

use crate::clock::now_ms;

#[derive(Debug)]
pub(super) struct Pins {
    peers: Peers,
}

impl Pins {
    pub(super) fn new(peers: Peers) -> Self {
        Self { peers }
    }

    pub(super) async fn all(&self) -> Result<Vec<PinnedKey>, StoreError> {
        self.with(Peers::pinned_keys).await
    }

    /// The key that an id is tied to by now.
    pub(super) async fn of(&self, owner: &DelegateId) -> Result<Option<PublicKey>, StoreError> {
        let owner = owner.clone();
        Ok(self.with(move |peers| peers.pinned_key(&owner)).await?.map(|pinned| pinned.key))
    }

    /// Ties a key to an id, unless another is.
    pub(super) async fn keep(
        &self,
        owner: &DelegateId,
        key: PublicKey,
    ) -> Result<Pinning, StoreError> {
        let owner = owner.clone();
        self.with(move |peers| peers.pin(&owner, &key, ORIGIN, now_ms())).await
    }

    /// A call, where it blocks nobody.
    async fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Peers) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let peers = self.peers.clone();
        let done = tokio::task::spawn_blocking(move || work(&peers)).await;
        done.unwrap_or(Err(StoreError::Closed))
    }
}

/// Where such a key was seen.
const ORIGIN: &str = "its first HELLO to this node";
