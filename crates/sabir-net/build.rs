//! Makes the gRPC service out of its description. No compiler of another language is needed.

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let root = "../../spec/proto";
    println!("cargo:rerun-if-changed={root}");
    let described = protox::compile(["sabir/queue_pair/v1/queue_pair.proto"], [root])?;
    // Clients bring the transport they like.
    tonic_prost_build::configure().build_transport(false).compile_fds(described)?;
    Ok(())
}
