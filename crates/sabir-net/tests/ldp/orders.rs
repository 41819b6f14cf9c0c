//! Orders, carried out by real nodes behind real servers.

mod crowded;
mod cut_short;
mod family;
mod gone;
mod placing;
mod rights;
mod spawning;

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use sabir_host::Feed;
use sabir_ldp::{DelegateId, SignaturePolicy, SigningKey, Trust, TrustDomain};
use sabir_net::{
    Absence, Address, Client, ClientSettings, Delegation, HttpSettings, LocalGround, OrderId,
    OrderLimits, OrderRequest, Orders, OrdersSetup, OwnDelegate, Pace, People, PlainHttp,
};
use sabir_store::peers::Peers;
use sabir_store::{Line, Store, StoreError};
use serde_json::json;
use tempfile::TempDir;

use crate::world::{World, until};

/// A node that places orders: its home, and how often it was opened.
pub(crate) struct Buyer {
    pub(crate) home: TempDir,
    /// How long it waits for delegates that are away.
    absence: Absence,
    limits: OrderLimits,
}

impl Buyer {
    pub(crate) fn new() -> Self {
        let moment = Duration::from_millis(20);
        let absence = Absence { first_pause: moment, longest_pause: moment, at_most: moment };
        Self { home: tempfile::tempdir().unwrap(), absence, limits: OrderLimits::default() }
    }

    /// One that waits for delegates for as long as any test takes.
    pub(crate) fn patient() -> Self {
        let mut buyer = Self::new();
        buyer.absence.at_most = Duration::from_secs(600);
        buyer
    }

    /// One that takes on no more than this.
    fn with_limits(limits: OrderLimits) -> Self {
        Self { limits, ..Self::new() }
    }

    /// With these as its own delegates.
    pub(crate) async fn orders(&self, own: Vec<OwnDelegate>) -> Orders {
        self.orders_in(self.store().await, own).await
    }

    /// In a journal that others write, too.
    pub(crate) async fn orders_in(&self, store: Store, own: Vec<OwnDelegate>) -> Orders {
        self.orders_with(store, own, None).await
    }

    /// With people who can be asked.
    async fn orders_with(
        &self,
        store: Store,
        own: Vec<OwnDelegate>,
        people: Option<Arc<dyn People>>,
    ) -> Orders {
        let delegation = self.delegation();
        let feed = Feed::new(&store);
        let Self { absence, limits, .. } = *self;
        let setup = OrdersSetup { delegation, store, feed, own, people, absence, limits };
        Orders::open(setup).await.unwrap()
    }

    fn delegation(&self) -> Delegation {
        let peers = Peers::open(self.home.path()).unwrap();
        let domain = TrustDomain {
            allow_cross_domain: true,
            trusted_peers: vec!["elsewhere".to_owned()],
            ..TrustDomain::closed("default")
        };
        let client = Client::new(ClientSettings {
            delegate_id: DelegateId::new("ldp:delegate:buyer").unwrap(),
            key: SigningKey::from_seed(&[9; 32]),
            trust: Trust::new(domain, SignaturePolicy::WhereKnown),
            peers,
            http: HttpSettings::default(),
            pace: Pace::default(),
        });
        let ground = LocalGround {
            environment: Vec::new(),
            directory: self.home.path().to_owned(),
            helper: "/nonexistent".into(),
        };
        Delegation::new(client.unwrap(), ground)
    }

    /// One that was there before may still be letting go of it.
    pub(crate) async fn store(&self) -> Store {
        let mut opened = None;
        until(async || match Store::open(self.home.path()) {
            Err(StoreError::InUse { .. }) => false,
            store => opened.insert(store).is_ok(),
        })
        .await;
        opened.unwrap().unwrap()
    }
}

pub(crate) fn own(name: &str, world: &World) -> OwnDelegate {
    let url = format!("http://{}", world.address);
    let address = Address::parse(&url, PlainHttp::LoopbackOnly).unwrap();
    let delegate_id = world.node.card().delegate_id.clone();
    OwnDelegate { name: name.to_owned(), delegate_id, address, repeats: false, workspace: None }
}

fn ask(skill: &str, task: &str) -> OrderRequest {
    OrderRequest { skill: Some(skill.to_owned()), ..OrderRequest::new(task) }
}

/// A task that takes so many steps.
fn steps(count: u64) -> OrderRequest {
    OrderRequest { input: Some(json!({ "steps": count })), ..ask("steps", "walk") }
}

/// All rows of an order that has ended, by their tags.
async fn rows(orders: &Orders, id: &OrderId) -> Vec<Arc<Line>> {
    let mut rows = Vec::new();
    let mut events = orders.events(id, 0);
    while let Some(row) = events.next().await {
        let row = row.unwrap();
        let is_last = row.tag == "report";
        rows.push(row);
        if is_last {
            break;
        }
    }
    rows
}

fn tags(rows: &[Arc<Line>]) -> Vec<&str> {
    rows.iter().map(|row| if row.kind == "event" { &row.tag } else { &row.kind }.as_str()).collect()
}
