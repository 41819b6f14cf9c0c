//! What an initiator is set to: who asks whom, how both prove who they are, and how patient it is.

use crate::delegate::Authentication;
use crate::envelope::{DEFAULT_TTL_SECS, Recipient};
use crate::id::DelegateId;
use crate::mode::PayloadMode;
use crate::value::KeyBytes;

#[derive(Debug, Clone)]
pub struct InitiatorSettings {
    pub delegate_id: DelegateId,
    pub public_key: Option<KeyBytes>,
    /// How the other side is addressed until it has said its name.
    pub to: Recipient,
    /// Whose answers count. Without one, whoever answers first.
    pub expected: Option<DelegateId>,
    pub signing: Signing,
    /// How sure it must be who answers.
    pub required: Authentication,
    /// What is offered, the best first.
    pub modes: Vec<PayloadMode>,
    pub ttl_secs: u64,
    pub trust_domain: Option<String>,
    pub required_trust_domain: Option<String>,
    pub patience: Patience,
    /// Whether the delegate does a task once that comes twice under the same id. Others are sent a
    /// task again only if it surely did not arrive.
    pub resubmits: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signing {
    Unsigned,
    /// With the identity key, and with keys of the session once there are some.
    Native,
    /// With the secret that both share, as the reference does.
    Reference,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patience {
    /// How long an answer may take. A delegate waits up to 30 seconds for a task before it says that
    /// the task still runs.
    pub answer_ms: u64,
    /// How often a step is tried.
    pub attempts: u32,
    /// The pause before the second attempt; it doubles.
    pub pause_ms: u64,
    pub longest_pause_ms: u64,
    /// The pause before the first question after a running task; it doubles, too.
    pub poll_ms: u64,
    pub longest_poll_ms: u64,
    /// How long after a contract's deadline the delegate's own word about it is awaited.
    pub deadline_ms: u64,
    /// Tasks at once.
    pub tasks: usize,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            answer_ms: 40_000,
            attempts: 5,
            pause_ms: 200,
            longest_pause_ms: 10_000,
            poll_ms: 250,
            longest_poll_ms: 5_000,
            deadline_ms: 10_000,
            tasks: 4_096,
        }
    }
}

impl InitiatorSettings {
    /// Somebody who signs natively and offers every mode.
    pub fn new(delegate_id: DelegateId, to: Recipient) -> Self {
        Self {
            delegate_id,
            public_key: None,
            to,
            expected: None,
            signing: Signing::Native,
            required: Authentication::Signed,
            modes: PayloadMode::IMPLEMENTED.to_vec(),
            ttl_secs: DEFAULT_TTL_SECS,
            trust_domain: None,
            required_trust_domain: None,
            patience: Patience::default(),
            resubmits: true,
        }
    }
}
