//! What is around: what confines commands, a browser, and a port to listen on.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;

use sabir_capture::installed_browser;
use sabir_host::{NodeConfig, config_file};

use super::Check;
use crate::agent_args::{AgentArgs, runtime};

pub(super) fn sandbox() -> Check {
    let probe = AgentArgs::runner().and_then(|runner| {
        let runtime = runtime()?;
        Ok(runtime.block_on(async { runner.probe().await.clone() }))
    });
    let probe = match probe {
        Ok(probe) => probe,
        Err(error) => {
            return Check::missing("sandbox", format!("{error:#}"), "sabir sandbox --probe");
        }
    };
    match probe.best() {
        Some(layer) => Check::good("sandbox", format!("commands are confined by {layer}")),
        None => {
            let reasons: Vec<String> = probe
                .layers
                .iter()
                .map(|it| format!("{}: {}", it.layer, it.reason.as_deref().unwrap_or("not usable")))
                .collect();
            let said = format!("commands cannot be confined ({})", reasons.join("; "));
            Check::missing(
                "sandbox",
                said,
                "install bubblewrap, or enable user namespaces: docs/sandbox.md",
            )
        }
    }
}

pub(super) fn browser() -> Check {
    match installed_browser() {
        Some(path) => Check::good("browser", path.display().to_string()),
        None => Check::lacking(
            "browser",
            "no Chromium: pages that need one are captured without their scripts",
            "install it: Debian's package is `chromium`",
        ),
    }
}

/// Whether `sabir up` can listen where the configuration says, or where it usually does.
pub(super) fn ports(home: &Path) -> Vec<Check> {
    let text = std::fs::read_to_string(config_file(home)).unwrap_or_default();
    // What is wrong with the file is told elsewhere.
    let mut places = NodeConfig::parse(&text).map(|it| it.serve.listen).unwrap_or_default();
    if places.is_empty() {
        places.push(SocketAddr::from((Ipv4Addr::LOCALHOST, PORT)));
    }
    places.into_iter().map(port).collect()
}

fn port(place: SocketAddr) -> Check {
    match TcpListener::bind(place) {
        Ok(_) => Check::good("port", format!("{place} is free")),
        Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => Check::lacking(
            "port",
            format!("something listens on {place}, perhaps a node of yours"),
            format!(
                "sabir card ldp://{place} says who; `sabir up --listen 127.0.0.1:0` takes a free port"
            ),
        ),
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => Check::missing(
            "port",
            format!("{place} is for programs with special rights"),
            "take a port from 1024 on, and let a proxy or the service manager hand the other over",
        ),
        Err(error) => Check::missing(
            "port",
            format!("{place} cannot be listened on: {error}"),
            "sabir up --listen 127.0.0.1:0",
        ),
    }
}

/// Where `sabir up` listens when nobody says otherwise.
const PORT: u16 = 7420;
