//! Orders of a command that ends when they have: what an agent hands on reaches the delegates that
//! people made known, also when no node is up.

use std::path::Path;

use sabir_host::Feed;
use sabir_net::{Absence, OrderLimits, Orders, OrdersSetup};
use sabir_store::Store;

use super::me::{Me, folder_of, read_config};

/// Orders in a home, with the delegates that are known there. What a node left open is its own.
pub(crate) async fn orders(home: &Path, store: Store) -> anyhow::Result<Orders> {
    let path = home.join("sabir.toml");
    let me = Me::with(home, read_config(&path)?, folder_of(&path)?)?;
    let feed = Feed::new(&store);
    let delegation = me.delegation()?;
    let setup = OrdersSetup {
        delegation,
        store,
        feed,
        own: Vec::new(),
        people: None,
        absence: Absence::default(),
        limits: OrderLimits::default(),
    };
    Ok(Orders::open(setup).await?)
}
