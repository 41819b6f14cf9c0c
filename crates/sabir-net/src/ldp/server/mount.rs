//! Who answers at which path: the node's own delegate at the root, others under their names, and
//! routers that are no part of the protocol behind the same door.

use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::http::Method;
use sabir_host::{MEMBERS, Node};
use sabir_ldp::Channel;
use sabir_telemetry::TraceContext;

use super::answer::WrittenCard;
use super::refusal::Refused;
use super::route::Route;

/// What one listener serves.
#[derive(Debug, Clone)]
pub struct Served {
    pub root: Node,
    /// Further delegates and their names: `/delegates/NAME/…` is for each what `/…` is for the first.
    pub members: Vec<(String, Node)>,
    pub mounts: Vec<Mount>,
}

/// What is served beside delegates.
#[derive(Debug, Clone)]
pub struct Mount {
    /// The path from which on it answers: `/` takes what nobody else has, and of several that fit the
    /// longest has it. The paths of delegates are never a mount's.
    pub under: String,
    /// It sees whole paths. It limits the bodies that it reads.
    pub router: Router,
    pub entry: Entry,
}

/// Who lets people in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    /// The door, like for delegates: a token or certificate beyond loopback.
    Caller,
    /// The mount itself.
    Own,
}

/// Who asks. It is in the extensions of every request that a mount gets.
#[derive(Debug, Clone)]
pub struct Visitor {
    pub address: IpAddr,
    /// A program of this machine that speaks for itself.
    pub is_near: bool,
    pub is_tls: bool,
    pub channel: Channel,
    /// What the request is part of, for those who answer it in a task of their own.
    pub trace: Option<TraceContext>,
}

impl From<Node> for Served {
    fn from(root: Node) -> Self {
        Self { root, members: Vec::new(), mounts: Vec::new() }
    }
}

/// The same, looked up by path.
#[derive(Debug)]
pub(super) struct Ground {
    root: Arc<Seat>,
    members: Vec<(String, Arc<Seat>)>,
    /// The longest paths first.
    mounts: Vec<Mount>,
}

/// A delegate at its place.
#[derive(Debug)]
pub(super) struct Seat {
    pub(super) node: Node,
    pub(super) card: Mutex<Option<WrittenCard>>,
}

/// Who answers a request.
#[derive(Debug)]
pub(super) enum Found<'a> {
    Delegate(&'a Arc<Seat>, Route),
    Mount(&'a Mount),
}

impl Ground {
    pub(super) fn new(served: Served) -> Self {
        let Served { root, members, mut mounts } = served;
        let seat = |node| Arc::new(Seat { node, card: Mutex::new(None) });
        mounts.sort_by_key(|mount| std::cmp::Reverse(mount.under.len()));
        let members = members.into_iter().map(|(name, node)| (name, seat(node))).collect();
        Self { root: seat(root), members, mounts }
    }

    pub(super) fn find(&self, path: &str, method: &Method) -> Result<Found<'_>, Refused> {
        if let Some((seat, rest)) = self.member(path) {
            return Ok(Found::Delegate(seat, Route::of(rest, method)?));
        }
        match Route::of(path, method) {
            Ok(route) => Ok(Found::Delegate(&self.root, route)),
            Err(Refused::NotFound) => {
                let mount = self.mounts.iter().find(|mount| mount.has(path));
                mount.map(Found::Mount).ok_or(Refused::NotFound)
            }
            Err(refused) => Err(refused),
        }
    }

    fn member<'a>(&self, path: &'a str) -> Option<(&Arc<Seat>, &'a str)> {
        let path = path.strip_prefix(MEMBERS)?;
        let (name, rest) = path.split_at(path.find('/').unwrap_or(path.len()));
        let (_, seat) = self.members.iter().find(|(known, _)| known == name)?;
        Some((seat, rest))
    }
}

impl Mount {
    fn has(&self, path: &str) -> bool {
        let under = self.under.trim_end_matches('/');
        path.strip_prefix(under).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_has_whole_segments() {
        let at = |under: &str| Mount {
            under: under.to_owned(),
            router: Router::new(),
            entry: Entry::Own,
        };
        for path in ["/", "/mcp", "/mcp/x", "/elsewhere"] {
            assert!(at("/").has(path), "{path}");
        }
        for under in ["/mcp", "/mcp/"] {
            assert!(at(under).has("/mcp") && at(under).has("/mcp/x"));
            assert!(!at(under).has("/mcpx") && !at(under).has("/") && !at(under).has("/x/mcp"));
        }
    }
}
