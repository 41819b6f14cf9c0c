//! The keys of open sessions, for whoever reads a message: beside the machine, so that nobody waits for
//! it to have a signature checked. It knows sessions, and no message.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use sabir_ldp::{Delegate, DelegateId, Record, SessionId, SessionKeys};

/// Cheap to clone; clones share everything.
#[derive(Debug, Clone, Default)]
pub(super) struct Keys(Arc<RwLock<HashMap<SessionId, Arc<Kept>>>>);

/// A session's.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) owner: DelegateId,
    pub(super) keys: SessionKeys,
}

impl Keys {
    pub(super) fn of_all(delegate: &Delegate) -> Self {
        let keys = Self::default();
        delegate.session_ids().for_each(|id| keys.renew(delegate, id));
        keys
    }

    pub(super) fn find(&self, id: &SessionId) -> Option<Arc<Kept>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(id).cloned()
    }

    /// To be called with every record that the delegate puts out.
    pub(super) fn follow(&self, delegate: &Delegate, record: &Record) {
        match record {
            Record::Opened(opened) => self.renew(delegate, &opened.session),
            Record::Resumed { session, .. } | Record::SessionEnded { session, .. } => {
                self.renew(delegate, session);
            }
            _ => {}
        }
    }

    fn renew(&self, delegate: &Delegate, id: &SessionId) {
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        match delegate.keys_of(id) {
            Some((owner, keys)) => {
                let kept = Kept { owner: owner.clone(), keys: keys.clone() };
                all.insert(id.clone(), Arc::new(kept));
            }
            None => drop(all.remove(id)),
        }
    }
}
