//! Wakes the machine when it wants to be woken. It ends with the node.

use std::sync::Weak;
use std::time::Duration;

use sabir_ldp::{DelegateInput, Timestamp};
use tokio::time::timeout;

use super::core::Core;
use crate::clock::now_ms;

pub(super) async fn run(core: Weak<Core>) {
    loop {
        let Some(strong) = core.upgrade() else { return };
        let now = Timestamp::from_millis(now_ms());
        let wanted = {
            let mut machine = strong.machine();
            machine.wakes_at = machine.delegate.next_wake();
            machine.wakes_at
        };
        if wanted.is_some_and(|wanted| wanted <= now) {
            let room = strong.room_for(0).await;
            strong.turn(room, DelegateInput::Tick);
            continue;
        }
        let left = wanted.map_or(LONGEST, |wanted| {
            Duration::from_millis(wanted.distance_millis(now)).min(LONGEST)
        });
        // Holds the node only while it sleeps, and never long.
        let _ = timeout(left, strong.wake.notified()).await;
    }
}

/// The clock may be set, and a node that nobody holds any more is to go.
const LONGEST: Duration = Duration::from_secs(1);
