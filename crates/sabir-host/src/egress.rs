//! What the policy file says about hosts, handed to those who connect: no fetch, no redirect and no
//! request of a page reaches a host that it denies. What it means, the gate's own crate says.

use std::sync::Arc;

use sabir_capture::{Denials, Guard, HostPort, Redirects, Rules};
use sabir_policy::{DeniedHosts, PolicyDoc};

/// A guard that lets through what is public or allowed here, and not denied: to anybody, or to one
/// of these tools.
pub fn guard_under(policy: &PolicyDoc, allow: Vec<HostPort>, tools: &[&str]) -> Guard {
    Guard::new(Rules { allow }).denying(Arc::new(Denied(policy.denied_hosts(tools))))
}

#[derive(Debug)]
struct Denied(DeniedHosts);

impl Denials for Denied {
    fn denies(&self, host: &str) -> bool {
        self.0.contains(host)
    }
}

/// Where a call may be led that was allowed for the host that it names.
#[derive(Debug)]
pub(crate) struct LedOn {
    pub(crate) policy: PolicyDoc,
    pub(crate) tool: &'static str,
}

impl Redirects for LedOn {
    fn follows(&self, first: &str, next: &str) -> bool {
        self.policy.leads_on(self.tool, first, next)
    }
}
