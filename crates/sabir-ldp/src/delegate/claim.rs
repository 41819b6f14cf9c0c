//! Whose something is that was begun here: with what it was begun, and whether somebody who comes
//! later under the same id shows enough to get at it. It knows no session and no task.

use super::record::{Authentication, Opened, TaskEnded, TaskStarted};
use crate::trust::{Backing, Mark, Means, Origin, Standing};

/// With what something was begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Claim {
    pub(super) authentication: Authentication,
    /// Of a token or certificate that anybody may hold. It is all that tells apart those who come
    /// under an id that is nobody's.
    pub(super) shown: Option<Mark>,
}

/// What somebody has who comes now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Proof {
    pub(super) authentication: Authentication,
    backing: Backing,
    origin: Origin,
}

impl Proof {
    /// Of somebody who was not recognised.
    pub(super) const NONE: Self = Self {
        authentication: Authentication::Unsigned,
        backing: Backing::Nothing,
        origin: Origin::Remote,
    };

    pub(super) fn of(standing: &Standing) -> Self {
        let Standing { backing, origin, .. } = *standing;
        Self { authentication: authentication(standing), backing, origin }
    }

    /// To whom belongs what is begun with it.
    pub(super) fn claim(self) -> Claim {
        let shown = match (self.authentication, self.backing) {
            (Authentication::Shown, Backing::Held(mark)) => Some(mark),
            // A key or a secret tells more than a token that came along.
            (_, _) => None,
        };
        Claim { authentication: self.authentication, shown }
    }

    /// Whether what was begun under the same id is for whoever has this.
    pub(super) fn covers(self, claim: Claim) -> bool {
        let is_as_sure = self.authentication >= claim.authentication;
        is_as_sure
            && match (claim.authentication, self.backing) {
                // An id has one secret or one key, and who comes now has it.
                (Authentication::Signed | Authentication::Reference, _) => true,
                (Authentication::Unsigned | Authentication::Shown, Backing::Named) => true,
                // A key does not help: whoever holds any token can pin one for an id that has none.
                (Authentication::Shown, Backing::Held(mark)) => claim.shown == Some(mark),
                (Authentication::Shown, Backing::Nothing) => false,
                // Nothing was shown but where it came from.
                (Authentication::Unsigned, Backing::Held(_) | Backing::Nothing) => {
                    self.origin == Origin::Loopback
                }
            }
    }

    /// Whether this is, or stands above, what was shown then.
    pub(super) fn holds(self, shown: Option<Mark>) -> bool {
        match (shown, self.backing) {
            (None, _) | (Some(_), Backing::Named) => true,
            (Some(shown), Backing::Held(mark)) => shown == mark,
            (Some(_), Backing::Nothing) => false,
        }
    }
}

impl Opened {
    pub(super) fn claim(&self) -> Claim {
        Claim { authentication: self.authentication, shown: self.shown }
    }
}

impl TaskStarted {
    pub(super) fn claim(&self) -> Claim {
        Claim { authentication: self.authentication, shown: self.shown }
    }
}

impl TaskEnded {
    pub(super) fn claim(&self) -> Claim {
        Claim { authentication: self.authentication, shown: self.shown }
    }
}

pub(crate) fn authentication(standing: &Standing) -> Authentication {
    match standing.means {
        Means::UnsignedLoopback | Means::UnsignedAnswer => Authentication::Unsigned,
        Means::Credential => Authentication::Shown,
        Means::ReferenceHmac => Authentication::Reference,
        Means::PinnedKey | Means::FirstUse(_) | Means::SessionKey => Authentication::Signed,
    }
}
