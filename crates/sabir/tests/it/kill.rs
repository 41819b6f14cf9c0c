//! Kill -9 at random points of a running task. After each: nothing that was shown is lost, nothing
//! is done twice or by halves, nothing is left running, and the session goes on.
//!
//! An ordinary run tries 25 points. `SABIR_KILL_POINTS=200` tries more, and `SABIR_KILL_SEED=N`
//! repeats the points of an earlier run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use sabir_testkit::fake_model::{FakeModel, Reply, responses};
use serde_json::{Value, json};

use crate::driven::{Driven, configure, user_input};
use crate::process::{Outcome, run};

const POINTS: u64 = 25;

/// The line that each command appends, by the call.
const LINES: [(&str, &str); 4] = [("c1", "one"), ("c3a", "two"), ("c3b", "three"), ("c4b", "four")];

/// The longest wait between a line and the kill.
const LONGEST_DELAY_US: u64 = 12_000;

#[test]
fn a_kill_at_any_point_loses_nothing_and_repeats_nothing() {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    let points = number("SABIR_KILL_POINTS").unwrap_or(POINTS);
    let seed = number("SABIR_KILL_SEED").unwrap_or_else(|| u64::from(std::process::id()));
    println!("SABIR_KILL_SEED={seed} SABIR_KILL_POINTS={points}");
    let home = tempfile::tempdir().unwrap();
    let mut random = Random(seed);

    // A whole run first: it says how many lines there are to be killed between.
    let place = Place::new(home.path(), "danger-full-access");
    let (model, mut engine) = place.start();
    let mut lines = 1;
    while engine.event().unwrap()["msg"]["type"] != "task_complete" {
        lines += 1;
    }
    engine.end();
    drop(model);
    assert_eq!(place.log(), ["one", "two", "three", "four"]);
    assert_eq!(place.files(), Some(Patch::Applied));

    let (mut interrupted, mut calls_aborted) = (0, 0);
    for point in 0..points {
        let (after, delay) =
            (random.below(lines), random.below(2) * random.below(LONGEST_DELAY_US));
        let sandbox = ["danger-full-access", "workspace-write"][(point % 2) as usize];
        println!("point {point}: after {after} lines and {delay} us, {sandbox}");
        let place = Place::new(home.path(), sandbox);
        let aborted = place.kill_and_resume(after, Duration::from_micros(delay));
        interrupted += u64::from(aborted.is_some());
        calls_aborted += aborted.unwrap_or_default();
    }
    println!("{interrupted} sessions were interrupted, {calls_aborted} calls aborted");
    assert!(interrupted > points / 2, "hardly any session had begun");
}

/// A workspace, and the home that all points share.
struct Place<'h> {
    home: &'h Path,
    sandbox: &'static str,
    _folder: tempfile::TempDir,
    cwd: PathBuf,
}

#[derive(Debug, PartialEq, Eq)]
enum Patch {
    Applied,
    Untouched,
}

impl<'h> Place<'h> {
    fn new(home: &'h Path, sandbox: &'static str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let cwd = folder.path().canonicalize().unwrap();
        std::fs::write(cwd.join("a.txt"), "old a\n").unwrap();
        std::fs::write(cwd.join("b.txt"), "old b\n").unwrap();
        std::fs::write(cwd.join("log.txt"), "").unwrap();
        Self { home, sandbox, _folder: folder, cwd }
    }

    /// An engine with the task under way.
    fn start(&self) -> (FakeModel, Driven) {
        let model = FakeModel::start(self.turns());
        let mut engine = Driven::start(self.home);
        engine.submit("c", configure(&model.base_url(), &self.cwd, self.sandbox));
        engine.submit("t", user_input("do it"));
        (model, engine)
    }

    /// What the model says: reading in parallel, commands, a patch of three files, and words.
    fn turns(&self) -> Vec<Reply> {
        let read =
            |id: &str, path: &str| responses::call(id, "read_file", &json!({ "path": path }));
        let patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-old a\n+new a\n\
                     *** Update File: b.txt\n@@\n-old b\n+new b\n\
                     *** Add File: c.txt\n+new c\n*** End Patch\n";
        let turns = [
            vec![
                responses::text_delta("I "),
                responses::text_delta("look "),
                responses::message("around"),
                read("c0a", "a.txt"),
                read("c0b", "b.txt"),
                responses::call("c0c", "list_dir", &json!({ "path": "." })),
            ],
            vec![responses::reasoning("hm"), self.append("c1", "one", "")],
            vec![responses::call("c2", "apply_patch", &json!({ "input": patch }))],
            vec![self.append("c3a", "two", "; sleep 0.02"), self.append("c3b", "three", "")],
            vec![read("c4a", "a.txt"), self.append("c4b", "four", "; echo said")],
            vec![responses::text_delta("all "), responses::message("done")],
        ];
        let reply = |(number, mut events): (usize, Vec<String>)| {
            events.insert(0, responses::created(&format!("r{number}")));
            events.push(responses::completed(&format!("r{number}")));
            Reply::sse(events)
        };
        turns.into_iter().enumerate().map(reply).collect()
    }

    /// A command with the workspace's name in it, by which its processes are found.
    fn append(&self, call_id: &str, line: &str, then: &str) -> String {
        let script = format!("echo {line} >> {}/log.txt{then}", self.cwd.display());
        responses::call(call_id, "shell", &json!({ "command": ["sh", "-c", script] }))
    }

    fn log(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.cwd.join("log.txt")).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    /// Whether the patch is there, or nothing when it is there in part.
    fn files(&self) -> Option<Patch> {
        let read = |name: &str| std::fs::read_to_string(self.cwd.join(name)).ok();
        let files = ["a.txt", "b.txt", "c.txt"].map(read);
        match files.each_ref().map(Option::as_deref) {
            [Some("old a\n"), Some("old b\n"), None] => Some(Patch::Untouched),
            [Some("new a\n"), Some("new b\n"), Some("new c\n")] => Some(Patch::Applied),
            _ => None,
        }
    }

    fn sabir(&self, args: &[&str]) -> Outcome {
        let home = self.home.to_str().unwrap();
        run(&[args, &["--home", home]].concat(), "")
    }

    /// Returns how many calls were open, or nothing if there was no session yet.
    fn kill_and_resume(&self, after: u64, delay: Duration) -> Option<u64> {
        let (model, mut engine) = self.start();
        let mut printed: Vec<String> = Vec::new();
        for _ in 0..after {
            printed.extend(engine.line());
        }
        std::thread::sleep(delay);
        printed.extend(engine.kill());
        drop(model);
        self.wait_until_nothing_runs();

        let listed = self.sabir(&["sessions", "--json"]);
        assert_eq!(listed.code, 0, "{}", listed.stderr);
        let sessions: Vec<Value> = serde_json::from_str(&listed.stdout).unwrap();
        let mine = sessions.iter().find(|session| session["cwd"] == json!(self.cwd));
        self.verify();
        let Some(mine) = mine else {
            assert_eq!(printed, [""; 0], "shown, and not stored");
            assert_eq!(self.log(), [""; 0]);
            return None;
        };
        let id = mine["id"].as_str().unwrap();
        let stored = Stored::export(self, id);
        stored.holds(&printed);
        self.check_effects(&stored);
        let open = stored.open_calls();
        self.resume(id, &open);
        // Resuming has not done anything again, and what it was to do it did once.
        let log = self.log();
        let unique: BTreeSet<&String> = log.iter().collect();
        assert_eq!(unique.len(), log.len(), "{log:?}");
        assert_eq!(log.last().map(String::as_str), Some("five"));
        self.check_effects(&stored);
        self.verify();
        Some(open.len() as u64)
    }

    fn verify(&self) {
        let verified = self.sabir(&["audit", "verify", "--json"]);
        assert_eq!(verified.code, 0, "{}{}", verified.stdout, verified.stderr);
    }

    /// What was begun was stored before, and what was stored as done is done.
    fn check_effects(&self, stored: &Stored) {
        let log = self.log();
        for (call, line) in LINES {
            let count = log.iter().filter(|it| *it == line).count();
            let begun = stored.event("exec_command_begin", call).is_some();
            let end = stored.event("exec_command_end", call);
            assert!(count <= usize::from(begun), "{line} {count} times, begun: {begun}");
            if end.is_some_and(|it| it["msg"]["exit_code"] == 0) {
                assert_eq!(count, 1, "{line} was done and is not there");
            }
        }
        let begun = stored.event("patch_apply_begin", "c2").is_some();
        let ended = stored.event("patch_apply_end", "c2").is_some();
        // Before the home is opened again, a patch may be there in part; `resume` looks after that.
        match self.files() {
            Some(Patch::Applied) => assert!(begun, "a patch was applied before it was stored"),
            Some(Patch::Untouched) => assert!(!ended, "a patch was done and is not there"),
            None => assert!(begun && !ended, "half a patch"),
        }
    }

    /// Goes on with the session, and looks at what the model is told.
    fn resume(&self, id: &str, open: &BTreeSet<String>) {
        let next = vec![self.append("c5", "five", ""), responses::completed("r10")];
        let last = vec![responses::message("good"), responses::completed("r11")];
        let model = FakeModel::start([Reply::sse(next), Reply::sse(last)]);
        let mut engine = Driven::start(self.home);
        let mut op = configure(&model.base_url(), &self.cwd, self.sandbox);
        op["session_id"] = json!(id);
        engine.submit("c2", op);
        let configured = engine.until("c2", "session_configured");
        assert_eq!(configured.last().unwrap()["msg"]["session_id"], id);
        assert!(self.files().is_some(), "half a patch, after the home was opened again");
        engine.submit("t2", user_input("go on"));
        engine.until("t2", "task_complete");
        engine.end();
        model.assert_done();

        let request = model.requests().remove(0);
        let mut outputs: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let input = request.body["input"].as_array().unwrap();
        for item in input.iter().filter(|item| item["type"] == "function_call_output") {
            let call = item["call_id"].as_str().unwrap();
            outputs.entry(call).or_default().push(item["output"].as_str().unwrap());
        }
        let calls = input.iter().filter(|item| item["type"] == "function_call");
        let calls: BTreeSet<&str> = calls.map(|item| item["call_id"].as_str().unwrap()).collect();
        assert_eq!(calls, outputs.keys().copied().collect::<BTreeSet<_>>());
        for (call, outputs) in &outputs {
            assert_eq!(outputs.len(), 1, "{call} has {outputs:?}");
            assert_eq!(outputs[0] == "aborted", open.contains(*call), "{call}: {outputs:?}");
        }
        assert!(open.iter().all(|call| calls.contains(call.as_str())));
    }

    fn wait_until_nothing_runs(&self) {
        let mark = self.cwd.to_str().unwrap();
        let runs = || {
            let processes = std::fs::read_dir("/proc").unwrap().flatten();
            let commands = processes.filter_map(|it| std::fs::read(it.path().join("cmdline")).ok());
            commands
                .map(|it| String::from_utf8_lossy(&it).into_owned())
                .find(|it| it.contains(mark))
        };
        for _ in 0..6_000 {
            if runs().is_none() {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("it outlives the engine: {:?}", runs());
    }
}

/// What the journal holds of a session.
struct Stored {
    lines: Vec<Value>,
}

impl Stored {
    fn export(place: &Place<'_>, id: &str) -> Self {
        let exported = place.sabir(&["sessions", "export", id]);
        assert_eq!(exported.code, 0, "{}", exported.stderr);
        let lines = exported.stdout.lines().map(|line| serde_json::from_str(line).unwrap());
        Self { lines: lines.collect() }
    }

    fn bodies(&self, kind: &str) -> impl Iterator<Item = &str> {
        self.lines
            .iter()
            .filter(move |line| line["kind"] == kind)
            .map(|line| line["body"].as_str().unwrap())
    }

    /// Every line that was shown is there, in its order, and so is every submission that was
    /// answered.
    fn holds(&self, printed: &[String]) {
        let events: Vec<&str> = self.bodies("event").take(printed.len()).collect();
        assert_eq!(events, printed);
        let submissions = self.lines.iter().filter(|line| line["kind"] == "submission");
        let ids: BTreeSet<&str> = submissions.map(|line| line["key"].as_str().unwrap()).collect();
        for line in printed {
            let event: Value = serde_json::from_str(line).unwrap();
            assert!(ids.contains(event["id"].as_str().unwrap()), "{line} answers nothing stored");
        }
    }

    fn event(&self, kind: &str, call_id: &str) -> Option<Value> {
        let events = self.bodies("event").map(|body| serde_json::from_str::<Value>(body).unwrap());
        let mut events =
            events.filter(|it| it["msg"]["type"] == kind && it["msg"]["call_id"] == call_id);
        events.next()
    }

    fn open_calls(&self) -> BTreeSet<String> {
        let mut open = BTreeSet::new();
        for body in self.bodies("item") {
            let record: Value = serde_json::from_str(body).unwrap();
            let call_id = || record["item"]["call_id"].as_str().unwrap().to_owned();
            match record["item"]["type"].as_str() {
                Some("function_call") => _ = open.insert(call_id()),
                Some("function_call_output") => _ = open.remove(&call_id()),
                _ => {}
            }
        }
        open
    }
}

/// SplitMix64: a seed gives the same numbers everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound.max(1)
    }
}
