//! The console of a node, in a real browser: the scripts in `tests/console` walk through it.
//!
//! A machine without a browser or its driver fails these tests. Where that is known,
//! `cargo xtask test --without browser-driver` says so.

mod joints;

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use sabir_testkit::fake_model::{FakeModel, Reply, responses};
use sabir_testkit::{BrowserDriver, browser_driver};
use serde_json::{Value, json};

use crate::agents::harbor::{NODE, Node};
use crate::process::wait;
use joints::stage::Stage;

/// A script that looks at the console of a node. A test that fails leaves none behind.
struct Script(Child);

impl Script {
    fn start(driver: &BrowserDriver, name: &str, link: &str) -> Self {
        Self::start_with(driver, name, link, "")
    }

    /// With something that it has to know.
    fn start_with(
        driver: &BrowserDriver,
        name: &str,
        link: &str,
        told: impl AsRef<std::ffi::OsStr>,
    ) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/console");
        let mut node = Command::new("node");
        node.arg(folder.join(name)).arg(link).arg(told);
        node.env("SABIR_TESTS_BROWSER_DRIVER", &driver.packages);
        node.env("SABIR_TESTS_BROWSER", &driver.browser);
        node.env("SABIR_TESTS_PICTURES", driver.target.join("console"));
        node.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        Self(node.spawn().unwrap())
    }

    /// Collects what the script says that it has done, until it ends; it must end well. What it wishes
    /// for meanwhile, an array with a word and more, is done and answered.
    fn attend(mut self, mut wish: impl FnMut(&str, &[Value]) -> Value) -> Vec<String> {
        let mut input = self.0.stdin.take().unwrap();
        let output = BufReader::new(self.0.stdout.take().unwrap());
        let mut steps = Vec::new();
        for line in output.lines() {
            let line = line.unwrap();
            match serde_json::from_str::<Vec<Value>>(&line) {
                Ok(wished) => {
                    let answer = wish(wished[0].as_str().unwrap(), &wished[1..]);
                    writeln!(input, "{answer}").unwrap();
                }
                Err(_) => steps.push(line),
            }
        }
        assert_eq!(wait(&mut self.0), Some(0), "see above what it found; it did {steps:#?}");
        steps
    }

    /// Of one that wishes for nothing.
    fn steps(self) -> Vec<String> {
        self.attend(|wish, _| panic!("nobody does {wish}"))
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What an agent says that only a person can help.
const BLOCKED: &str = "HEADER:{f:Coder,t:Person,s:1}\n\
    BLK:{w:\"there are two printers\",a:[\"take the first\"],esc:true}";

/// The link that signs a person in, as the node has said it.
fn link(node: &Node) -> String {
    node.said["console"].as_str().unwrap_or_else(|| panic!("no link: {}", node.said)).to_owned()
}

#[test]
fn every_view_can_be_used_and_is_accessible() {
    let Some(driver) = browser_driver() else { return };
    let home = tempfile::tempdir().unwrap();
    let node = Node::start(home.path(), "");
    let steps = Script::start(&driver, "walk.mjs", &link(&node)).steps();
    assert!(steps.last().is_some_and(|last| last == "leave"), "{steps:#?}");
    node.end();
}

/// Double clicks, the way back, a page loaded anew, a session that ends, two tabs.
#[test]
fn what_people_do_without_thinking_costs_nothing() {
    let Some(driver) = browser_driver() else { return };
    let home = tempfile::tempdir().unwrap();
    let node = Node::start(home.path(), "");
    let steps = Script::start(&driver, "habits.mjs", &link(&node)).steps();
    assert!(steps.last().is_some_and(|last| last == "strange"), "{steps:#?}");
    node.end();
}

/// A conversation and a delegated task each ask before they change a file; both are answered where
/// they are shown, and what they took is drawn.
#[test]
fn what_waits_is_approved_where_it_is_shown() {
    let Some(driver) = browser_driver() else { return };
    let home = tempfile::tempdir().unwrap();
    let workspace = tempfile::tempdir().unwrap();
    fs::write(home.path().join("policy.toml"), "[[ask]]\ntool = \"apply_patch\"\n").unwrap();
    let adds = |call: &str, name: &str| {
        let patch = format!("*** Begin Patch\n*** Add File: {name}\n+hello\n*** End Patch");
        responses::call(call, "apply_patch", &json!({ "input": patch }))
    };
    let lists = responses::call("call-2", "shell", &json!({ "command": ["ls"] }));
    let ends = |id: &str| responses::completed_with_usage(id, 1200, 80);
    let model = FakeModel::start([
        Reply::sse([
            responses::reasoning("A file is missing."),
            adds("call-1", "talked.txt"),
            ends("r-1"),
        ]),
        Reply::sse([lists, ends("r-2")]),
        Reply::sse([responses::message("There is **one** file now."), ends("r-3")]),
        Reply::sse([adds("call-4", "delegated.txt"), ends("r-4")]),
        Reply::sse([responses::message("The file is there."), ends("r-5")]),
        Reply::sse([responses::message(BLOCKED), ends("r-6")]),
        Reply::sse([responses::message("It is printed."), ends("r-7")]),
    ]);
    let coder = format!("[crew.coder]\ncwd = {:?}\n", workspace.path());
    let args = ["--base-url", &model.base_url(), "--model", "m"];
    let node = Node::start_told(home.path(), &coder, &args, &[]);
    let script = Script::start_with(&driver, "approvals.mjs", &link(&node), workspace.path());
    assert_eq!(script.steps(), ["conversation", "task", "blocker", "usage"]);
    assert!(model.requests()[6].body.to_string().contains("Take the one in the hall."));
    for name in ["talked.txt", "delegated.txt"] {
        assert_eq!(fs::read_to_string(workspace.path().join(name)).unwrap(), "hello\n", "{name}");
    }
    model.assert_done();
    node.end();
}

#[test]
fn a_page_that_stays_open_finds_the_node_again() {
    let Some(driver) = browser_driver() else { return };
    let home = tempfile::tempdir().unwrap();
    let mut stage = Stage::open(home.path(), NODE, "", &[]);
    let script = Script::start(&driver, "lost.mjs", &stage.link());
    assert_eq!(script.attend(|wish, more| stage.does(wish, more)), ["kept"]);
    stage.end();
}

#[test]
fn results_of_every_shape_and_length_are_shown() {
    let Some(driver) = browser_driver() else { return };
    let home = tempfile::tempdir().unwrap();
    let sections = "[[skills]]\nname = \"say\"\nrun = [\"cat\"]\n\
        [[skills]]\nname = \"count\"\nrun = [\"seq\", \"--format=- %.0f\", \"200000\"]\n";
    let node = Node::start(home.path(), sections);
    let script = Script::start(&driver, "results.mjs", &link(&node));
    assert_eq!(script.steps(), ["odd", "long", "hidden"]);
    node.end();
}

/// What the page carries of others is what they published; [NOTICE.md](../../../../NOTICE.md) names
/// the one difference.
#[test]
fn vendored_files_are_those_of_the_packages() {
    let Some(driver) = browser_driver() else { return };
    let vendored = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sabir-console/assets/vendor");
    let packages = driver.packages.join("node_modules");
    let files = [
        ("preact.js", "preact/dist/preact.mjs"),
        ("hooks.js", "preact/hooks/dist/hooks.mjs"),
        ("htm.js", "htm/dist/htm.mjs"),
        ("uplot.js", "uplot/dist/uPlot.esm.js"),
        ("uplot.css", "uplot/dist/uPlot.min.css"),
        ("preact.LICENSE.txt", "preact/LICENSE"),
        ("htm.LICENSE.txt", "htm/LICENSE"),
        ("uplot.LICENSE.txt", "uplot/LICENSE"),
    ];
    let names = fs::read_dir(&vendored).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(names.count(), files.len(), "every file in the folder is one of these");
    for (ours, theirs) in files {
        let read = |path: PathBuf| fs::read_to_string(path).unwrap();
        let published =
            read(packages.join(theirs)).replace("from\"preact\"", "from\"./preact.js\"");
        assert!(read(vendored.join(ours)) == published, "{ours} differs from {theirs}");
    }
}
