//! What an address begins with says which protocol is spoken there.

use crate::delegating::{a2a, mcp};
use crate::peer::{Manner, Peer};
use crate::world::{World, request};

/// LD-T5: the same task, delegated in the same way, in three protocols.
#[tokio::test]
async fn a_task_goes_to_the_adapter_of_its_address() {
    let world = World::new();
    let (peer, agent, tools) = (
        Peer::start(Manner::default()).await,
        a2a::Agent::start(false, false).await,
        mcp::serve().await,
    );
    let over_ldp = peer.url.replace("http://", "ldp://");
    let (report, _) = world.run(&request("echo", &[&over_ldp])).await;
    assert_eq!(report.output.unwrap()["said"], "say hi");
    assert_eq!(report.address.unwrap(), format!("{}/", peer.url));
    assert_eq!(peer.runs(), 1);
    assert!(agent.address().starts_with("a2a://"));
    let (report, _) = world.run(&request("write", &[&agent.address()])).await;
    assert_eq!(report.output.unwrap(), "Dear reader");
    assert_eq!(agent.calls()[0], "SendMessage");
    assert!(tools.starts_with("mcp://"));
    let (report, _) = world.run(&request("shout", &[&tools])).await;
    assert_eq!(report.output.unwrap(), "SAY HI");
    // What is asked in another protocol than its own is not understood.
    let (report, _) = world.run(&request("write", &[&agent.address().replace("a2a", "ldp")])).await;
    assert_eq!(report.error.unwrap().code, "UNREACHABLE");
}
