//! A person's yes to one call: for that call alone, once, and not for ever. Who keeps it, and sees to
//! it that two do not use it at the same time, is not known here.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::binding::Binding;

/// A yes to the call with this binding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approval {
    pub binding: Binding,
    /// Milliseconds since 1970; from then on it is void.
    pub expires_at: u64,
    pub used: bool,
}

/// Why an approval does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApprovalError {
    /// It was given for another call, other arguments or another context.
    OtherCall,
    Expired,
    Used,
}

impl Approval {
    pub fn new(binding: Binding, now: u64) -> Self {
        Self { binding, expires_at: now.saturating_add(LIFETIME_MS), used: false }
    }

    /// Uses it up for the call with this binding.
    pub fn redeem(&mut self, binding: &Binding, now: u64) -> Result<(), ApprovalError> {
        if self.binding != *binding {
            return Err(ApprovalError::OtherCall);
        }
        if self.used {
            return Err(ApprovalError::Used);
        }
        if self.expires_at <= now {
            return Err(ApprovalError::Expired);
        }
        self.used = true;
        Ok(())
    }
}

impl fmt::Display for ApprovalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OtherCall => "the approval was given for another call",
            Self::Expired => "the approval has expired",
            Self::Used => "the approval was used already",
        })
    }
}

impl std::error::Error for ApprovalError {}

/// A person still knows what they said yes to, and a slow page can be waited for.
const LIFETIME_MS: u64 = 10 * 60 * 1000;
