//! Which layer works here: found out by confining a real process and looking at what it managed.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::check::Achieved;
use super::wire::{Command, How, Task};
use super::{Confined, HELPER_ARGUMENT, Layer, LayerChoice, Limits, Network, bubblewrap};
use crate::process::{Ports, Speech, carry_out, environment};

/// What was found out about every layer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Probe {
    pub layers: Vec<LayerReport>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LayerReport {
    pub layer: Layer,
    pub works: bool,
    /// Why it is not taken.
    pub reason: Option<String>,
}

impl Probe {
    /// The layer that confines commands here.
    pub fn best(&self) -> Option<Layer> {
        self.layers.iter().find(|it| it.works).map(|it| it.layer)
    }

    pub fn works(&self, layer: Layer) -> bool {
        self.layers.iter().any(|it| it.layer == layer && it.works)
    }

    pub(crate) fn refusal(&self) -> Unconfinable {
        Unconfinable { layers: self.layers.clone() }
    }
}

/// No layer works, so that a confined command is not run at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unconfinable {
    pub layers: Vec<LayerReport>,
}

impl fmt::Display for Unconfinable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no sandbox works here")?;
        for it in &self.layers {
            let reason = it.reason.as_deref().unwrap_or("not usable for this command");
            write!(f, "; {}: {reason}", it.layer)?;
        }
        write!(
            f,
            "; install bubblewrap (`apt install bubblewrap`), enable user namespaces \
             (`sysctl -w user.max_user_namespaces=10000 kernel.unprivileged_userns_clone=1 \
             kernel.apparmor_restrict_unprivileged_userns=0`, those of them that exist), \
             or choose the sandbox mode danger-full-access"
        )
    }
}

impl std::error::Error for Unconfinable {}

pub(crate) async fn probe(helper: &Path, choice: LayerChoice) -> Probe {
    let mut layers = Vec::new();
    for layer in Layer::ALL {
        let tried = if choice.permits(layer) {
            try_layer(helper, layer).await
        } else {
            Err("switched off by the caller".to_owned())
        };
        let reason = tried.err();
        layers.push(LayerReport { layer, works: reason.is_none(), reason });
    }
    Probe { layers }
}

async fn try_layer(helper: &Path, layer: Layer) -> Result<(), String> {
    let base = tempfile::tempdir().map_err(|error| format!("no temporary folder: {error}"))?;
    let root = base.path().join("root");
    std::fs::create_dir(&root).map_err(|error| format!("no temporary folder: {error}"))?;
    let confined = Confined { writable_roots: vec![root.clone()], ..Confined::default() };
    let how = how(layer, confined).ok_or("the program bwrap is not installed")?;
    debug_assert_eq!(how.layer(), Some(layer));
    let places = [root.join("inside"), base.path().join("outside"), root.join(".git")];
    let mut argv: Vec<String> =
        ["/proc/self/exe", HELPER_ARGUMENT, "check"].map(str::to_owned).to_vec();
    argv.extend(places.iter().map(|place| place.to_string_lossy().into_owned()));
    let env = environment::clean(std::env::vars_os(), Some(layer), Network::Off);
    let command = Command { argv, cwd: root.clone(), env, limits: Limits::default() };
    let (output, _) = mpsc::channel(1);
    let task = Task { command, how };
    let cancel = CancellationToken::new();
    let ports = Ports { speech: &Speech::default(), output, cancel };
    let finished =
        carry_out(helper, &task, PATIENCE, ports).await.map_err(|error| error.to_string())?;
    let achieved: Achieved = serde_json::from_str(&finished.stdout).map_err(|_| {
        format!("it ended with {}: {}", finished.exit_code, finished.stderr.trim_end())
    })?;
    let [inside, outside, git] = &places;
    if !achieved.inside || !inside.exists() {
        Err("the root cannot be written")
    } else if achieved.outside || outside.exists() {
        Err("it does not keep files outside of the root from being written")
    } else if achieved.git || git.exists() {
        Err("it does not keep .git from being written")
    } else if achieved.socket {
        Err("it does not keep the network off")
    } else if achieved.others {
        Err("it shows the processes of the machine")
    } else {
        Ok(())
    }
    .map_err(str::to_owned)
}

/// How a layer is asked for; none if its program is missing.
pub(crate) fn how(layer: Layer, confined: Confined) -> Option<How> {
    match layer {
        Layer::Bubblewrap => {
            bubblewrap::find().map(|program| How::Bubblewrap { program, confined })
        }
        Layer::Namespaces => Some(How::Namespaces { confined }),
    }
}

/// It takes milliseconds; a machine may be busy.
const PATIENCE: Duration = Duration::from_secs(20);
