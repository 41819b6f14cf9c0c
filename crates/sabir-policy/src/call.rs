//! Tool calls that a model proposes: from the call, what is known around it and the policy file to the
//! facts that the gate decides by, and on to the question, the binding and the audit row. It runs
//! nothing and reads no page.

mod address;
mod evidence;
mod facts;
mod field;
mod hosts;
mod judged;
mod leaves;
mod rules;
mod sensitive;
mod taint;

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::binding::Binding;
use crate::doc::PolicyDoc;
use crate::gate::{Action, Facts, decide};
use crate::labels::Labels;
use crate::ruling::Ruling;
use crate::settings::{ApprovalPolicy, SandboxPolicy};

pub use address::Address;
pub use evidence::{Evidence, Provenance};
pub use facts::{
    AddressKind, Budget, CallFacts, FieldKind, Limits, Offer, OriginKind, Reading, Scope,
};
pub use field::FieldHints;
pub use hosts::hosts_named;
pub use judged::{ArgumentSource, Judged, Question, ShownArgument, shown_in_full};
pub use sensitive::Sensitive;
pub use taint::Taint;

use hosts::hosts_in;
use leaves::{Leaf, leaves};

/// A call as the model proposes it.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    pub id: &'a str,
    pub tool: &'a str,
    pub arguments: &'a Map<String, Value>,
    pub labels: Labels,
}

impl<'a> Call<'a> {
    /// A call of a tool of LLMCP.
    pub fn of_tool(id: &'a str, tool: &'a str, arguments: &'a Map<String, Value>) -> Self {
        Self { id, tool, arguments, labels: Labels::of_tool(tool, arguments) }
    }
}

/// What is known around a call.
#[derive(Debug, Clone, Copy)]
pub struct Surroundings<'a> {
    pub evidence: &'a Evidence<'a>,
    /// Of everything that the model has seen, earlier turns included.
    pub taint: &'a Taint,
    pub page: Option<&'a Page>,
    /// What the page says of the field that is filled.
    pub field: Option<FieldHints<'a>>,
    pub reading: Reading,
    pub offer: Offer,
    pub scope: Scope,
    /// Other names by which a policy file may know what is called: `mcp__server__tool`.
    pub also_called: &'a [String],
    /// Hosts that are reached and stand in no argument, such as that of a source that is fetched
    /// again.
    pub hosts: &'a [String],
    /// What this turn has made and asked so far, this call not counted.
    pub calls_made: u32,
    pub asks_made: u32,
    pub approval: ApprovalPolicy,
    pub policy: &'a PolicyDoc,
}

/// Where a browser stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    /// The page that the user opened.
    pub opened: Option<Address>,
    /// The page that is acted on.
    pub current: Option<Address>,
    pub leads_to: LeadsTo,
}

/// Where the link or form leads that is acted on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum LeadsTo {
    /// It is no link, as far as is known.
    #[default]
    Nowhere,
    Address(Address),
    /// Somewhere that is no usable address, as the page spells it.
    Unusable(String),
}

impl LeadsTo {
    /// What a page says of a link. A link that cannot be read still leads somewhere.
    pub fn of_link(href: Option<&str>) -> Self {
        match href {
            None => Self::Nowhere,
            Some(href) => {
                Address::parse(href).map_or_else(|| Self::Unusable(href.to_owned()), Self::Address)
            }
        }
    }
}

/// Decides about a call. This is the dry run, too: nothing is kept.
pub fn judge_call(call: &Call<'_>, around: &Surroundings<'_>) -> Judged {
    let addresses = addresses_of(call, around.evidence);
    let facts = CallFacts {
        labels: call.labels,
        reading: around.reading,
        untrusted: !around.taint.untrusted.is_empty(),
        private: !around.taint.private.is_empty(),
        address: addresses.iter().map(|(_, kind)| *kind).max(),
        origin: origin_of(call, around, &addresses),
        field: field_of(call, around),
        sensitive: sends_text(call.tool)
            && leaves(call.arguments).any(|leaf| {
                leaf.text()
                    .is_some_and(|text| !is_address(call, &leaf) && Sensitive::find(text).is_some())
            }),
        offer: around.offer,
        scope: around.scope,
        budget: Budget::after(around.calls_made, around.asks_made, &around.policy.limits()),
    };
    let reached: Vec<String> = hosts_of(call, around, &addresses).into_iter().collect();
    let hosts: Vec<&str> = reached.iter().map(String::as_str).collect();
    let (name, ruling) = ruling_of(call, around, &hosts);
    let mut decision = decide(&Facts {
        approval: around.approval,
        // It says nothing about calls.
        sandbox: &SandboxPolicy::default(),
        action: Action::Call(facts),
        granted: false,
        ruling,
    });
    around.policy.give_reason(&mut decision, name, &hosts);
    let sources =
        leaves(call.arguments).take(MOST_SHOWN).map(|leaf| source_of(call, &leaf, around));
    Judged {
        call_id: call.id.to_owned(),
        tool: call.tool.to_owned(),
        arguments: call.arguments.clone(),
        facts,
        sources: sources.collect(),
        taint: around.taint.clone(),
        hosts: reached.clone(),
        binding: Binding::of(call.tool, call.arguments, around.taint),
        decision,
        approval_policy: around.approval,
        ruling,
    }
}

/// Every host that the call reaches, as far as is known.
fn hosts_of(
    call: &Call<'_>,
    around: &Surroundings<'_>,
    addresses: &[(Option<Address>, AddressKind)],
) -> BTreeSet<String> {
    let named = addresses.iter().filter_map(|(address, _)| address.as_ref());
    let mut hosts: BTreeSet<String> = named.map(|it| it.host().to_owned()).collect();
    let page = around.page.filter(|_| addresses.is_empty() && acts_on_page(call.tool));
    if let Some(page) = page {
        hosts.extend(page.current.as_ref().map(|it| it.host().to_owned()));
        match &page.leads_to {
            LeadsTo::Nowhere => {}
            LeadsTo::Address(address) => _ = hosts.insert(address.host().to_owned()),
            LeadsTo::Unusable(href) => hosts.extend(hosts_in(href)),
        }
    }
    if call.tool == INTEGRATION {
        hosts.extend(hosts_named(call.arguments));
    }
    hosts.extend(around.hosts.iter().cloned());
    hosts
}

/// What the policy file says to the call under the name that it is strictest to, and that name.
/// Questions are waived by the tool's own name only.
fn ruling_of<'a>(call: &Call<'a>, around: &Surroundings<'a>, hosts: &[&str]) -> (&'a str, Ruling) {
    let own = around.policy.ruling(call.tool, hosts);
    let mut strictest = (call.tool, own.stance);
    for name in around.also_called {
        let stance = around.policy.ruling(name, hosts).stance;
        if stance > strictest.1 {
            strictest = (name, stance);
        }
    }
    let (name, stance) = strictest;
    (name, Ruling { stance, waived: own.waived })
}

/// Every address among the arguments, and where it came from. `None` is one that is not usable.
fn addresses_of(call: &Call<'_>, evidence: &Evidence<'_>) -> Vec<(Option<Address>, AddressKind)> {
    let leaves = leaves(call.arguments).filter(|leaf| is_address(call, leaf));
    let addresses = leaves.map(|leaf| match leaf.text().and_then(Address::parse) {
        Some(address) => {
            let kind = evidence.of_address(&address).address_kind();
            (Some(address), kind)
        }
        None => (None, AddressKind::Unusable),
    });
    addresses.collect()
}

/// An argument by the name `url`, and whatever begins like an address where something leaves. A
/// browser takes a backslash for a slash.
fn is_address(call: &Call<'_>, leaf: &Leaf<'_>) -> bool {
    let begins_like_one = |text: &str| {
        let start: String = text.trim_start().chars().take(8).collect();
        let start = start.to_ascii_lowercase().replace('\\', "/");
        start.starts_with("http://") || start.starts_with("https://")
    };
    leaf.key == "url"
        || call.labels.egress && !types_text(call.tool) && leaf.text().is_some_and(begins_like_one)
}

fn source_of(call: &Call<'_>, leaf: &Leaf<'_>, around: &Surroundings<'_>) -> ArgumentSource {
    let provenance = match (leaf.text(), is_address(call, leaf)) {
        (Some(text), true) => Address::parse(text)
            .map_or(Provenance::Invented, |address| around.evidence.of_address(&address)),
        (Some(text), false) => around.evidence.of_text(text),
        (None, _) => Provenance::Invented,
    };
    ArgumentSource { argument: leaf.pointer.clone(), provenance }
}

fn origin_of(
    call: &Call<'_>,
    around: &Surroundings<'_>,
    addresses: &[(Option<Address>, AddressKind)],
) -> OriginKind {
    let Some(page) = around.page else { return OriginKind::NoPage };
    let opened = page.opened.as_ref().map(Address::origin);
    let is_own = |address: &Address, kind: AddressKind| {
        kind == AddressKind::Typed || opened == Some(address.origin())
    };
    let by_evidence =
        |address: &Address| is_own(address, around.evidence.of_address(address).address_kind());
    let goes = if !addresses.is_empty() {
        addresses.iter().all(|(it, kind)| it.as_ref().is_some_and(|it| is_own(it, *kind)))
    } else if acts_on_page(call.tool) {
        let leads_to_own = match &page.leads_to {
            LeadsTo::Nowhere => true,
            LeadsTo::Address(address) => by_evidence(address),
            LeadsTo::Unusable(_) => false,
        };
        page.current.as_ref().is_some_and(by_evidence) && leads_to_own
    } else {
        return OriginKind::NoPage;
    };
    if goes { OriginKind::Own } else { OriginKind::Other }
}

fn field_of(call: &Call<'_>, around: &Surroundings<'_>) -> Option<FieldKind> {
    let kind = around.field.map(|hints| hints.kind());
    if types_text(call.tool) { kind.or(Some(FieldKind::Unknown)) } else { kind }
}

/// Whether it puts something into a field.
fn types_text(tool: &str) -> bool {
    matches!(tool, "browser.type" | "browser.select")
}

fn acts_on_page(tool: &str) -> bool {
    tool.starts_with("browser.")
}

/// Whether its texts are what leaves. Those of the library's own tools stay in the library.
fn sends_text(tool: &str) -> bool {
    !["collection.", "source.", "artifact.", "transform."].iter().any(|it| tool.starts_with(it))
}

/// A call of another program.
const INTEGRATION: &str = "integration.invoke";
/// More than a person reads before saying yes.
const MOST_SHOWN: usize = 32;
