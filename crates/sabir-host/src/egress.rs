//! What the policy file says about hosts, handed to those who connect: no fetch, no redirect and no
//! request of a page reaches a host that it denies. What it means, the gate's own crate says.

use std::sync::{Arc, Mutex, PoisonError};

use reqwest::Url;
use sabir_capture::{Bounds, Denials, Guard, HostPort, Redirects, Rules};
use sabir_policy::{AuditRow, DeniedHosts, PolicyDoc};

use crate::clock::now_ms;

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
        self.policy.leads_on(self.tool, &[first], next)
    }
}

/// How far a page leads that a call of the browser has opened: no further than a fetch would.
#[derive(Debug)]
pub(crate) struct CallBounds {
    pub(crate) led_on: LedOn,
    /// Those that the call was allowed for.
    pub(crate) hosts: Vec<String>,
    /// What the audit says of the call.
    pub(crate) row: AuditRow,
    pub(crate) held: Held,
}

impl Bounds for CallBounds {
    fn admit(&self, url: &Url) -> bool {
        let host = url.host_str().unwrap_or_default().trim_end_matches('.');
        let hosts: Vec<&str> = self.hosts.iter().map(String::as_str).collect();
        let leads_on = self.led_on.policy.leads_on(self.led_on.tool, &hosts, host);
        if !leads_on {
            self.held.note(&self.row, url, host);
        }
        leads_on
    }
}

/// What pages tried, until it is written down. Cheap to clone; clones share everything.
#[derive(Debug, Clone, Default)]
pub(crate) struct Held(Arc<Mutex<Tried>>);

#[derive(Debug, Default)]
struct Tried {
    /// A page can try without end: for one host of one call there is one row.
    known: Vec<(String, String)>,
    rows: Vec<AuditRow>,
}

impl Held {
    fn note(&self, call: &AuditRow, url: &Url, host: &str) {
        let mut tried = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let what = (call.call_id.clone(), host.to_owned());
        let of_call = tried.known.iter().filter(|(id, _)| *id == call.call_id).count();
        if of_call >= MOST_HELD || tried.known.contains(&what) {
            return;
        }
        if tried.known.len() == MOST_KNOWN {
            tried.known.remove(0);
        }
        tried.known.push(what);
        tried.rows.push(call.led_elsewhere(url.as_str(), host, now_ms()));
    }

    /// The rows that nobody has written down yet.
    pub(crate) fn take(&self) -> Vec<AuditRow> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner).rows)
    }
}

/// Hosts that one call is held from; what a page tries beyond them is held without a row.
const MOST_HELD: usize = 16;

/// Of all calls; the oldest are forgotten.
const MOST_KNOWN: usize = 1024;
