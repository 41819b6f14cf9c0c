//! A task that is split: what an agent hands on is an order of its own, for a delegate here or for a node
//! elsewhere in another trust domain, within what is left of depth, budget and time.

use std::fs;
use std::path::Path;
use std::process::Command;

use sabir_testkit::browser_driver;
use sabir_testkit::fake_model::{FakeModel, Reply, Request, responses};
use serde_json::{Value, json};

use super::super::Script;
use super::stage::Stage;
use crate::agents::harbor::{NODE, logged, run_at};

const FAR: &str = "ldp:delegate:far";

/// The node elsewhere: it takes three tasks at once, writes each down, and ends when it is told to.
fn far(log: &Path, fifo: &Path) -> String {
    let script =
        format!("x=$(cat); echo \"$x\" >> '{}'; head -n 1 '{}'", log.display(), fifo.display());
    format!(
        "trust_domain = \"elsewhere\"\ntrusted_domains = [\"default\"]\ntasks_at_once = 3\n\
         [crew]\nresearcher = false\ncoder = false\nlinguist = false\n\
         [[skills]]\nname = \"slow\"\nrun = [\"sh\", \"-c\", {}]\n",
        Value::from(script)
    )
}

fn make_fifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

fn hands_on(call: &str, arguments: &Value) -> String {
    responses::call(call, "spawn_agent", arguments)
}

/// The orchestrator: splits what is to be split, and digs as deep as it is let.
fn orchestrates(request: &Request) -> Reply {
    let input = request.body["input"].as_array().unwrap();
    let brought = input.iter().filter(|item| item["type"] == "function_call_output");
    let brought: Vec<&str> = brought.map(|item| item["output"].as_str().unwrap()).collect();
    let asked = request.body["input"].to_string();
    let ends = responses::completed_with_usage("r", 1200, 80);
    if !brought.is_empty() {
        let words = format!("It came back: {}", brought.join(" and "));
        return Reply::sse([responses::message(&words), ends]);
    }
    if let Some((_, depth)) = asked.split_once("dig at depth ") {
        let depth = depth.chars().next().and_then(|digit| digit.to_digit(10)).unwrap();
        let deeper = json!({ "task": format!("dig at depth {}", depth + 1), "skill": "code" });
        return Reply::sse([hands_on("c-1", &deeper), ends]);
    }
    let near = json!({ "task": "INF(@a>@b): ok", "skill": "language.check", "budget_tokens": 100 });
    let greedy = json!({
        "task": "work far away", "skill": "slow", "to": FAR, "budget_tokens": 900_000,
        "deadline_secs": 90_000,
    });
    Reply::sse([hands_on("c-1", &near), hands_on("c-2", &greedy), ends])
}

#[test]
fn joint_2_what_is_split_is_delegated_here_and_elsewhere() {
    let Some(driver) = browser_driver() else { return };
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for name in ["near", "far", "work"] {
        fs::create_dir(at(name)).unwrap();
    }
    let (log, fifo) = (at("log"), at("fifo"));
    make_fifo(&fifo);
    let model = FakeModel::answering(|request, _| Some(orchestrates(request)));
    let mut far = Stage::open(&at("far"), FAR, &far(&log, &fifo), &[]);
    let near = format!("trusted_domains = [\"elsewhere\"]\n[crew.coder]\ncwd = {:?}\n", at("work"));
    let args = ["--base-url", &model.base_url(), "--model", "m"];
    let mut near = Stage::open(&at("near"), NODE, &near, &args);
    let script = Script::start_with(&driver, "split.mjs", &near.link(), far.url());
    let steps = script.attend(|wish, more| match wish {
        "kill far" => far.does("kill", more),
        "start far" => far.does("start", more),
        "sabir far" => far.does("sabir", more),
        // It waits for this.
        "release" => json!(fs::write(&fifo, "the far work is done\n").is_ok()),
        "ran" => json!(logged(&log).len()),
        // Until it was begun so often.
        "runs" => {
            while json!(logged(&log).len()) != more[0] {
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
            Value::Null
        }
        wish => near.does(wish, more),
    });
    assert_eq!(
        steps,
        ["meet", "split", "tooDeep", "nearKilled", "farKilled"],
        "{:?}",
        model.unexpected()
    );
    near.end();
    far.end();
}

/// `ACT{op:spawn}` of a message in LLMX, as a person or a script runs it, with no node in that home; the
/// next node shows what came of it.
#[test]
fn joint_2_an_action_of_the_notation_is_an_order() {
    let Some(driver) = browser_driver() else { return };
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for name in ["near", "far", "own", "work"] {
        fs::create_dir(at(name)).unwrap();
    }
    let (log, fifo) = (at("log"), at("fifo"));
    make_fifo(&fifo);
    let far = Stage::open(&at("far"), FAR, &far(&log, &fifo), &[]);
    let near = Stage::open(&at("near"), NODE, "", &[]);
    let own = "[node]\ndelegate_id = \"ldp:delegate:own\"\ntrusted_domains = [\"elsewhere\"]\n";
    fs::write(at("own").join("sabir.toml"), own).unwrap();
    for url in [format!("{}/delegates/linguist", near.url()), far.url()] {
        let added = run_at(&at("own"), &["delegates", "add", &url]);
        assert_eq!(added.code, 0, "{}", added.stderr);
    }
    let message = at("work").join("split.llmx");
    fs::write(&message, ACTIONS).unwrap();
    let releasing = std::thread::spawn({
        let fifo = fifo.clone();
        move || fs::write(fifo, "the far work is done\n").unwrap()
    });
    let (root, message) = (at("work"), message.to_str().unwrap().to_owned());
    let args = ["llmx", "run", "--root", root.to_str().unwrap(), &message];
    let ran = run_at(&at("own"), &args);
    // Two are done, and nobody flies.
    assert_eq!(ran.code, 1, "{}\n{}", ran.stdout, ran.stderr);
    for said in ["the far work is done", "OBS:{ai:A3,s:ERR"] {
        assert!(ran.stdout.contains(said), "{}", ran.stdout);
    }
    releasing.join().unwrap();
    let own = Stage::open(&at("own"), "ldp:delegate:own", "", &[]);
    assert_eq!(Script::start(&driver, "spawned.mjs", &own.link()).steps(), ["spawned"]);
    assert_eq!(logged(&log).len(), 1);
    own.end();
    near.end();
    far.end();
}

/// For a delegate of another node, for a node in another trust domain, and for nobody.
const ACTIONS: &str = "HEADER:{f:Lead,t:ALL,s:1,b:B1}
ACT:{i:A1,op:spawn,tgt:\"ldp:delegate:harbor-linguist\",args:{task:\"INF(@a>@b): ok\",skill:\"language.check\"}}
ACT:{i:A2,op:spawn,tgt:\"ldp:delegate:far\",args:{task:\"work far away\",skill:slow,budget_tokens:700}}
ACT:{i:A3,op:spawn,tgt:\"anyone\",args:{task:\"fly\",skill:flight}}
";
