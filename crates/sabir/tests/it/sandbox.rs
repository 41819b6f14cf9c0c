//! The sandbox with real processes, under every layer: what must be held back is held back, and
//! nothing is left behind.
//!
//! A machine on which a layer does not work fails these tests. Where that is known,
//! `cargo xtask test --without bubblewrap` (or `namespaces`) says so.

mod endings;
mod files;
mod output;
mod secrets;
mod user;

use std::path::{Path, PathBuf};
use std::time::Duration;

use sabir_host::process::{Exec, ExecError, Finished, OutputChunk, Runner};
use sabir_host::sandbox::{Confined, Confinement, Layer, LayerChoice, Limits};
use tempfile::TempDir;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Set by `cargo xtask test --without`.
const WITHOUT: &str = "SABIR_TESTS_WITHOUT";
/// Far more than any test needs.
const LONG: Duration = Duration::from_secs(60);

/// The layers to test.
fn layers() -> Vec<Layer> {
    let without = std::env::var(WITHOUT).unwrap_or_default();
    Layer::ALL
        .into_iter()
        .filter(|layer| !without.split(',').any(|name| name == layer.name()))
        .collect()
}

fn runner(choice: LayerChoice) -> Runner {
    Runner::new(env!("CARGO_BIN_EXE_sabir"), choice)
}

/// A folder, a root in it, and a runner.
struct Place {
    layer: Layer,
    runner: Runner,
    _base: TempDir,
    base: PathBuf,
    root: PathBuf,
}

/// The same test in a fresh place for every layer.
#[expect(clippy::print_stdout, reason = "a failure is that of the layer that was named last")]
fn in_each_layer(test: impl Fn(&Place)) {
    for layer in layers() {
        println!("layer {layer}");
        test(&Place::new(layer));
    }
}

impl Place {
    fn new(layer: Layer) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let root = base.join("root");
        std::fs::create_dir(&root).unwrap();
        Self { layer, runner: runner(LayerChoice::Only(layer)), _base: folder, base, root }
    }

    fn confined(&self) -> Confined {
        Confined { writable_roots: vec![self.root.clone()], ..Confined::default() }
    }

    fn exec(&self, script: &str) -> Exec {
        shell(script, &self.root, Confinement::Confined(self.confined()))
    }

    /// Runs a script in the root.
    fn run(&self, script: &str) -> Finished {
        run(&self.runner, self.exec(script)).unwrap()
    }

    /// Runs a script whose every line must fail.
    fn refuse(&self, confined: &Confined, lines: &[&str]) {
        for line in lines {
            let exec = shell(line, &self.root, Confinement::Confined(confined.clone()));
            let finished = run(&self.runner, exec).unwrap();
            assert_ne!(finished.exit_code, 0, "{}: `{line}` worked", self.layer);
            assert_ne!(finished.exit_code, 127, "`{line}`: {}", finished.stderr);
        }
    }
}

fn shell(script: &str, cwd: &Path, confinement: Confinement) -> Exec {
    Exec {
        argv: ["sh", "-c", script].map(str::to_owned).to_vec(),
        cwd: cwd.to_path_buf(),
        env_extra: Vec::new(),
        timeout: LONG,
        confinement,
        limits: Limits::default(),
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}

fn run(runner: &Runner, exec: Exec) -> Result<Finished, ExecError> {
    block_on(async {
        let (output, mut chunks) = mpsc::channel::<OutputChunk>(16);
        let reading = async { while chunks.recv().await.is_some() {} };
        tokio::join!(runner.run(exec, output, CancellationToken::new()), reading).0
    })
}

#[test]
fn every_layer_works_here() {
    for layer in layers() {
        let runner = runner(LayerChoice::Only(layer));
        let probe = block_on(runner.probe()).clone();
        assert_eq!(probe.best(), Some(layer), "{probe:?}");
    }
}

#[test]
fn without_a_layer_a_command_is_refused_with_advice() {
    let runner = runner(LayerChoice::None);
    let confinement = Confinement::Confined(Confined::default());
    let error = run(&runner, shell("true", Path::new("/"), confinement)).unwrap_err();
    assert!(matches!(error, ExecError::Unconfinable(_)));
    let text = error.to_string();
    for advice in ["bubblewrap: switched off", "apt install", "namespaces", "danger-full-access"] {
        assert!(text.contains(advice), "{text}");
    }
    // Full access needs no layer.
    let exec = shell("echo free", Path::new("/"), Confinement::FullAccess);
    assert_eq!(run(&runner, exec).unwrap().stdout, "free\n");
}

#[test]
fn the_command_line_tells_what_works() {
    let outcome = crate::process::run(&["sandbox", "--probe", "--json", "--layer", "none"], "");
    assert_eq!(outcome.code, 1);
    assert!(outcome.stdout.contains(r#""best":null"#), "{}", outcome.stdout);
    for layer in layers() {
        let args = ["sandbox", "--layer", layer.name(), "--", "sh", "-c", "echo $SABIR_SANDBOX"];
        let outcome = crate::process::run(&args, "");
        assert_eq!((outcome.code, outcome.stdout.trim_end()), (0, layer.name()));
    }
    let outcome = crate::process::run(&["sandbox", "--layer", "none", "--", "true"], "");
    assert_eq!(outcome.code, 2);
    assert_eq!(outcome.stderr.matches("no sandbox works here").count(), 1, "{}", outcome.stderr);
}
