//! Why a message is not obeyed: the code that its sender is told, and the words.

use serde::{Deserialize, Serialize};

use crate::error::{LdpError, Refusal};
use crate::replay::ReplayFault;
use crate::trust::TrustFault;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Declined {
    pub refusal: Refusal,
    pub why: String,
}

impl Declined {
    pub(crate) fn error(self) -> LdpError {
        self.refusal.error(self.why)
    }
}

impl Refusal {
    pub(crate) fn because(self, why: impl Into<String>) -> Declined {
        Declined { refusal: self, why: why.into() }
    }
}

impl From<TrustFault> for Declined {
    fn from(fault: TrustFault) -> Self {
        fault.refusal().because(fault.to_string())
    }
}

impl From<ReplayFault> for Declined {
    fn from(fault: ReplayFault) -> Self {
        fault.refusal().because(fault.to_string())
    }
}
