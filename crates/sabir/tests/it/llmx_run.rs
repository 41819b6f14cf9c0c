//! `sabir llmx run`: actions carried out by the built program, and the replies it prints. Tests name
//! the rules of `docs/protocol/llmx-actions.md`.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use expect_test::expect_file;
use sabir_host::process::Runner;
use sabir_host::sandbox::LayerChoice;
use sabir_host::{Action, ActionSetup, Actions, Order, Progress, Providers};
use sabir_policy::{ApprovalPolicy, SandboxPolicy};
use sabir_testkit::assert_rules_are_named;
use sabir_testkit::fake_model::{FakeModel, Reply, responses};
use tempfile::TempDir;

use crate::agents::harbor::{Node, run_at};
use crate::process::{Outcome, run, run_in, sabir, wait};

/// A folder with a root and a home in it.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("root")).unwrap();
        Self { folder }
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("root")
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.root().join(name), text).unwrap();
    }

    /// Runs a message in the root.
    fn run(&self, args: &[&str], message: &str) -> Outcome {
        let home = self.folder.path().join("home");
        // Beside the root, so that it is not in the way of what is compared.
        let file = self.folder.path().join("message.llmx");
        fs::write(&file, message).unwrap();
        let given = ["llmx", "run", "--home", home.to_str().unwrap(), file.to_str().unwrap()];
        run_in(&self.root(), &[], &[&given[..], args].concat(), "")
    }
}

/// Every file below a folder.
fn tree(folder: &Path) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let mut todo = vec![folder.to_owned()];
    while let Some(next) = todo.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                todo.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
                files.insert(name, fs::read_to_string(path).unwrap());
            }
        }
    }
    files
}

fn copy(files: &BTreeMap<String, String>, to: &Path) {
    for (name, text) in files {
        let path = to.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

/// LX-A1, LX-A2, LX-A3, LX-A4, LX-A5, LX-A6, LX-A7, LX-A8, LX-A9, LX-A10, LX-A11, LX-A13, LX-A14,
/// LX-A16, LX-A17, LX-A18, LX-A19, LX-A22: each folder is named after what it shows.
#[test]
fn messages_are_carried_out_as_the_folders_say() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/llmx_run");
    let mut folders: Vec<PathBuf> =
        fs::read_dir(data).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    assert!(folders.len() >= 9);
    for folder in folders {
        let place = Place::new();
        let before = tree(&folder.join("input"));
        copy(&before, &place.root());
        let args = fs::read_to_string(folder.join("args")).unwrap_or_default();
        let args: Vec<&str> = args.split_whitespace().collect();
        let message = fs::read_to_string(folder.join("message.llmx")).unwrap();
        let outcome = place.run(&args, &message);
        expect_file![folder.join("reply.llmx")].assert_eq(&outcome.stdout);
        let failed = outcome.stdout.contains("s:ERR");
        assert_eq!(outcome.code, i32::from(failed), "{}: {}", folder.display(), outcome.stderr);
        let expected = folder.join("expected");
        let after = if expected.exists() { tree(&expected) } else { before };
        assert_eq!(tree(&place.root()), after, "{}", folder.display());
        is_strict(&outcome.stdout);
    }
}

/// The reply is valid without a warning, and in the strict form.
fn is_strict(reply: &str) {
    let checked = run(&["llmx", "check"], reply);
    assert_eq!(checked.code, 0, "{}", checked.stderr);
    assert!(checked.stderr.ends_with(": valid\n"), "{}", checked.stderr);
    let formatted = run(&["llmx", "fmt", "--check"], reply);
    assert_eq!(formatted.code, 0, "{reply}");
}

/// LX-A20.
#[test]
fn what_is_not_valid_is_refused_and_nothing_is_done() {
    let place = Place::new();
    place.write("keep.txt", "x\n");
    for message in [
        "HEADER:{f:a,t:b,s:1,b:B}\nACT:{i:A1,op:write,tgt:\"p:a\",args:{text:\"x\"}}\nREQ:{pr:1}\n",
        "HEADER:{f:a,t:b,s:1}\nACT:{i:A1,op:write,tgt:\"p:a\",args:{text:\"x\"}}\nACT:{op:read}\n",
        "HEADER:{f:a,t:b,s:1,b:B}\nACT:{i:A1,op:shell,tgt:\"touch a\"}\nACT:{i:A2,op:read,tgt:\"p:../x\"}\n",
        "HEADER:{f:a,t:b,s:1,b:B}\nACT:{i:A1,op:shell,tgt:\"touch a\"}\nACT:{i:A1,op:shell,tgt:\"touch b\"}\n",
        "HEADER:{f:a,t:b,s:1}\nRES:{o:\"ACK\"}\n",
        "",
    ] {
        let outcome = place.run(&[], message);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{message}");
        assert!(outcome.stderr.contains("error"), "{}", outcome.stderr);
        assert_eq!(tree(&place.root()).len(), 1, "{message}");
    }
}

/// LX-A12: also when a link leads out, and wherever the command line says the root is.
#[test]
fn no_path_leads_out_of_the_root() {
    let place = Place::new();
    fs::write(place.folder.path().join("secret.txt"), "secret\n").unwrap();
    std::os::unix::fs::symlink("../secret.txt", place.root().join("link")).unwrap();
    std::os::unix::fs::symlink("inside.txt", place.root().join("near")).unwrap();
    let absolute = place.root().canonicalize().unwrap().join("inside.txt");
    std::os::unix::fs::symlink(absolute, place.root().join("far")).unwrap();
    place.write("inside.txt", "inside\n");
    for operation in ["read", "search", "write", "edit"] {
        let message = format!("HEADER:{{f:a,t:b,s:1}}\nACT:{{op:{operation},tgt:\"p:link\"}}\n");
        let outcome = place.run(&[], &message);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""));
        assert!(outcome.stderr.contains("LX303"), "{}", outcome.stderr);
    }
    let message = "HEADER:{f:a,t:b,s:1,b:B}\nACT:{i:A1,op:read,tgt:\"near\"}\n\
                   ACT:{i:A2,op:edit,tgt:\"far\",args:{old:\"inside\",new:\"changed\"}}\n";
    let outcome = place.run(&[], message);
    assert_eq!(outcome.code, 0, "{}", outcome.stdout);
    assert_eq!(fs::read_to_string(place.root().join("inside.txt")).unwrap(), "changed\n");
    assert!(place.root().join("far").is_symlink());
    // A folder that is named for a command may not lead out either.
    let message = "HEADER:{f:a,t:b,s:1}\nACT:{op:shell,tgt:\"pwd\",args:{cwd:\"../..\"}}\n";
    let outcome = place.run(&[], message);
    assert_eq!(outcome.code, 1);
    assert!(outcome.stdout.contains("climbs above the root"), "{}", outcome.stdout);
}

/// LX-A15: side by side, or this would not end well: each waits for what the other does.
#[test]
fn the_actions_of_a_batch_run_side_by_side() {
    let place = Place::new();
    let wait = |mine: &str, other: &str| {
        format!("touch {mine}; until [ -e {other} ]; do sleep 0.05; done; echo met")
    };
    let message = format!(
        "HEADER:{{f:a,t:b,s:1,b:B}}\n\
         ACT:{{i:A1,op:shell,tgt:\"{}\",args:{{timeout_ms:60000}}}}\n\
         ACT:{{i:A2,op:shell,tgt:\"{}\",args:{{timeout_ms:60000}}}}\n",
        wait("one", "two"),
        wait("two", "one"),
    );
    let outcome = place.run(&[], &message);
    assert_eq!(outcome.code, 0, "{}{}", outcome.stdout, outcome.stderr);
    assert_eq!(outcome.stdout.matches("met").count(), 2, "{}", outcome.stdout);
}

/// LX-A16: a change waits for the changes before it, and a command for all of them.
#[test]
fn changes_of_one_file_keep_their_order() {
    let place = Place::new();
    place.write("count.txt", "0\n");
    let mut message = "HEADER:{f:a,t:b,s:1,b:B}\n".to_owned();
    for step in 0..20 {
        let args = format!("args:{{old:\"{step}\",new:\"{}\"}}", step + 1);
        message.push_str(&format!("ACT:{{i:A{step},op:edit,tgt:\"count.txt\",{args}}}\n"));
    }
    message.push_str("ACT:{i:L,op:shell,tgt:\"cat count.txt\"}\n");
    let outcome = place.run(&[], &message);
    assert_eq!(outcome.code, 0, "{}", outcome.stdout);
    assert!(outcome.stdout.ends_with("OBS:{ai:L,s:OK,c:{exit:0,out:\"20\\n\"}}\n"));
}

/// LX-A21.
#[test]
fn what_goes_back_is_bounded() {
    let place = Place::new();
    place.write("long.txt", &"0123456789\n".repeat(100_000));
    let message = "HEADER:{f:a,t:b,s:1,b:B}\nACT:{i:A1,op:read,tgt:\"long.txt\"}\n\
                   ACT:{i:A2,op:shell,tgt:\"cat long.txt\"}\n\
                   ACT:{i:A3,op:search,tgt:\"long.txt\",args:{q:\"9\",limit:5000}}\n";
    let outcome = place.run(&[], message);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(outcome.stdout.len() < 1024 * 1024, "{}", outcome.stdout.len());
    assert!(
        outcome.stdout.contains("more:true,next:23832"),
        "{}",
        &outcome.stdout[290_000..290_100]
    );
    assert!(outcome.stdout.contains("omitted"));
    is_strict(&outcome.stdout);
}

/// LX-A23.
#[test]
fn json_says_the_same_with_times() {
    let place = Place::new();
    place.write("a.txt", "x\n");
    let message = "HEADER:{f:a,t:b,s:4,b:B}\nACT:{i:A1,op:read,tgt:\"a.txt\"}\n\
                   ACT:{i:A2,op:shell,tgt:\"exit 2\"}\n";
    let outcome = place.run(&["--json"], message);
    assert_eq!(outcome.code, 1);
    let report: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    let reply = &report["replies"][0];
    assert_eq!((&report["ok"], &reply["re"], &reply["b"]), (&false.into(), &4.into(), &"B".into()));
    let [first, second] = &reply["observations"].as_array().unwrap()[..] else { panic!() };
    assert_eq!((&first["ai"], &first["c"]["text"]), (&"A1".into(), &"x\n".into()));
    assert_eq!((&second["e"], &second["x_c"]["exit"]), (&"exit code 2".into(), &2.into()));
    assert!(first["duration_ms"].is_u64());
    // Without it, the times are for people.
    let outcome = place.run(&[], message);
    assert!(outcome.stderr.contains("A1 read a.txt: ok, "), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("A2 shell exit 2: failed, "), "{}", outcome.stderr);
}

/// LX-A24.
#[test]
fn an_agent_is_spawned_where_there_is_a_model() {
    let place = Place::new();
    let reply = vec![
        responses::created("r1"),
        responses::message("it is fine"),
        responses::completed("r1"),
    ];
    let model = FakeModel::start([Reply::sse(reply)]);
    let message = "HEADER:{f:a,t:b,s:1,b:B}\n\
                   ACT:{i:A1,op:spawn,tgt:\"reviewer\",args:{task:\"review it\"}}\n";
    let url = model.base_url();
    let outcome = place.run(&["--model", "m", "--base-url", &url], message);
    assert_eq!(outcome.code, 0, "{}{}", outcome.stdout, outcome.stderr);
    assert!(
        outcome.stdout.ends_with("OBS:{ai:A1,s:OK,c:{agent:\"reviewer\",text:\"it is fine\"}}\n"),
        "{}",
        outcome.stdout
    );
    assert!(model.requests()[0].body.to_string().contains("review it"));
    model.assert_done();
}

/// LX-A24: a delegate that is known gets it as an order, and no model is needed.
#[test]
fn an_action_is_handed_to_a_delegate() {
    let place = Place::new();
    let far = tempfile::tempdir().unwrap();
    let node = Node::start(far.path(), "");
    let home = place.folder.path().join("home");
    let added = run_at(&home, &["delegates", "add", &node.url()]);
    assert_eq!(added.code, 0, "{}{}", added.stdout, added.stderr);
    let message = "HEADER:{f:a,t:b,s:1,b:B}\n\
                   ACT:{i:A1,op:spawn,tgt:\"ldp:delegate:harbor\",args:{task:\"say hi\",skill:echo}}\n\
                   ACT:{i:A2,op:spawn,tgt:\"anyone\",args:{task:\"fly\",skill:flight}}\n";
    let outcome = place.run(&[], message);
    assert_eq!(outcome.code, 1, "{}{}", outcome.stdout, outcome.stderr);
    assert!(outcome.stdout.contains("OBS:{ai:A1,s:OK"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("say hi"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("NO_DELEGATE"), "{}", outcome.stdout);
    node.end();
}

/// LX-A25.
#[test]
fn an_interrupt_stops_everything_and_says_so() {
    let place = Place::new();
    let message = "HEADER:{f:a,t:b,s:1,b:B}\n\
                   ACT:{i:A1,op:shell,tgt:\"echo begun > begun.txt; sleep 600\",args:{timeout_ms:600000}}\n\
                   ACT:{i:A2,op:write,tgt:\"later.txt\",args:{text:\"x\"}}\n\
                   HEADER:{f:a,t:b,s:2}\nACT:{i:A3,op:shell,tgt:\"touch never.txt\"}\n";
    let file = place.folder.path().join("message.llmx");
    fs::write(&file, message).unwrap();
    let mut child = sabir()
        .current_dir(place.root())
        .args(["llmx", "run", "--home"])
        .arg(place.folder.path().join("home"))
        .arg(&file)
        .spawn()
        .unwrap();
    let begun = place.root().join("begun.txt");
    for _ in 0..6000 {
        if begun.exists() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert!(begun.exists(), "the command never began");
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(wait(&mut child), Some(1));
    let mut reply = String::new();
    child.stdout.take().unwrap().read_to_string(&mut reply).unwrap();
    assert_eq!(reply.matches("s:ERR,e:\"aborted\"").count(), 3, "{reply}");
    assert!(reply.contains("HEADER:{f:b,t:a,s:2,x_re:2}"), "{reply}");
    assert!(!place.root().join("later.txt").exists());
    assert!(!place.root().join("never.txt").exists());
    is_strict(&reply);
}

/// LX-A13: whoever carries actions out is asked, once for each, and what they say is done.
#[test]
fn a_person_decides() {
    for (answer, code) in
        [(Some(true), "OK"), (Some(false), "denied by the user"), (None, "nobody")]
    {
        let place = Place::new();
        let said = asked(&place, answer);
        assert!(said.contains(code), "{said}");
        assert_eq!(place.root().join("new.txt").exists(), answer == Some(true), "{said}");
    }
}

/// What comes of a change that must be asked for when it is answered so.
fn asked(place: &Place, answer: Option<bool>) -> String {
    let actions = Actions::open(ActionSetup {
        root: place.root().canonicalize().unwrap(),
        home: place.folder.path().join("home"),
        runner: Runner::new(env!("CARGO_BIN_EXE_sabir"), LayerChoice::Any),
        providers: Providers::none(),
        approval_policy: ApprovalPolicy::Untrusted,
        sandbox_policy: SandboxPolicy::default(),
        agents: None,
        spawner: None,
    })
    .unwrap();
    let text = "HEADER:{f:a,t:b,s:1} ACT:{op:write,tgt:\"new.txt\",args:{text:\"x\"}}";
    let parsed = sabir_llmx::parse(text);
    let block = parsed.tree.messages().next().unwrap().blocks().next().unwrap();
    let action = Action::new(&sabir_llmx::Act::read(block).unwrap());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let observed = runtime.block_on(async {
        let (tell, mut told) = tokio::sync::mpsc::channel(8);
        let answering = async {
            let Some(Progress::Asks(question)) = told.recv().await else { panic!("nobody asked") };
            assert!(question.what.contains("+x"), "{}", question.what);
            if let Some(answer) = answer {
                question.answer.send(answer).unwrap();
            }
        };
        let stop = tokio_util::sync::CancellationToken::new();
        let batch = [action];
        let running = actions.run(&batch, Order::Together, &tell, &stop);
        tokio::join!(running, answering).0
    });
    format!("{:?}", observed[0].outcome).replace("Ok(", "OK(")
}

#[test]
fn the_example_runs() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/llmx/actions.llmx");
    let place = Place::new();
    let outcome = place.run(&[], &fs::read_to_string(example).unwrap());
    assert_eq!(outcome.code, 0, "{}{}", outcome.stdout, outcome.stderr);
    is_strict(&outcome.stdout);
}

#[test]
fn every_rule_is_named_by_a_test() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = here.join("../../docs/protocol/llmx-actions.md");
    assert_rules_are_named(&page, &here.join("tests/it"), "LX-A", 25);
}
