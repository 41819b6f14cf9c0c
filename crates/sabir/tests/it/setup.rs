//! `sabir config` and `sabir doctor`: before the first start, and when something is wrong.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use sabir_store::{Batch, Entry, SessionFacts, SessionId, Store};
use sabir_testkit::fake_model::FakeModel;
use serde_json::Value;

use crate::process::{Outcome, finish, run, sabir};

fn in_home(home: &Path, args: &[&str]) -> Outcome {
    run(&[args, &["--home", home.to_str().unwrap()]].concat(), "")
}

#[test]
fn the_example_is_right_and_whole() {
    let home = tempfile::tempdir().unwrap();
    let example = run(&["config", "example"], "");
    assert_eq!(example.code, 0, "{}", example.stderr);
    for section in
        ["[node]", "[[skills]]", "[[peers]]", "[[callers]]", "[tls]", "[providers.local]"]
    {
        assert!(example.stdout.contains(section), "{section}");
    }
    let file = home.path().join("sabir.toml");
    std::fs::write(&file, example.stdout).unwrap();
    for args in [&["config", "check"][..], &["config", "check", file.to_str().unwrap()]] {
        let checked = in_home(home.path(), args);
        assert_eq!(checked.code, 0, "{}", checked.stderr);
        assert!(checked.stdout.ends_with("sabir.toml: nothing is wrong\n"), "{}", checked.stdout);
    }
}

/// Every section of the file has its reader, and each says where and what to type.
#[test]
fn what_is_wrong_is_pointed_at() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("mine.toml");
    let text = "[node]\nnmae = \"Harbor\"\n[providers.local]\nbase_ulr = \"x\"\n\
                [mcp.files]\ncomand = [\"x\"]\n";
    std::fs::write(&file, text).unwrap();
    let checked = in_home(home.path(), &["config", "check", file.to_str().unwrap()]);
    assert_eq!((checked.code, checked.stdout.as_str()), (1, ""));
    for words in [
        "line 2, column 1",
        "write `name`",
        " 2 | nmae = …\n   | ^^^^\n",
        "line 4, column 1",
        "did you mean `base_url`?",
        " 4 | base_ulr = …\n   | ^^^^^^^^\n",
        "line 6, column 1",
        "write `command`",
    ] {
        assert!(checked.stderr.contains(words), "{words}: {}", checked.stderr);
    }
    let checked = in_home(home.path(), &["config", "check", "--json", file.to_str().unwrap()]);
    let faults: Vec<Value> = serde_json::from_str(&checked.stdout).unwrap();
    let lines: Vec<&Value> = faults.iter().map(|fault| &fault["line"]).collect();
    assert_eq!(lines, [2, 4, 6]);
    let missing = in_home(home.path(), &["config", "check", "nowhere.toml"]);
    assert_eq!(missing.code, 2, "{}", missing.stderr);
    // Without a file, nothing is wrong; with a policy that cannot be read, something is.
    assert_eq!(in_home(home.path(), &["config", "check"]).code, 0);
    std::fs::write(home.path().join("policy.toml"), "[[dney]]\ntool = \"shell\"\n").unwrap();
    let policy = in_home(home.path(), &["config", "check"]);
    assert_eq!(policy.code, 1);
    assert!(policy.stderr.contains("policy.toml"), "{}", policy.stderr);
}

/// As every other command is told, too.
#[test]
fn a_file_to_check_is_named_either_way() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("mine.toml");
    std::fs::write(&file, "[node]\nnmae = \"Harbor\"\n").unwrap();
    let file = file.to_str().unwrap();
    let [plain, option] = [&["config", "check", file][..], &["config", "check", "--config", file]]
        .map(|args| in_home(home.path(), args));
    assert_eq!((plain.code, &plain.stderr), (1, &option.stderr));
    assert_eq!(option.code, 1, "{}", option.stderr);
    let both = in_home(home.path(), &["config", "check", file, "--config", file]);
    assert_eq!(both.code, 2, "{}", both.stderr);
}

/// A home that nobody used yet: whoever looks is told that nothing is there, and what to type.
#[test]
fn an_empty_home_says_what_to_do_first() {
    let home = tempfile::tempdir().unwrap();
    for (args, code, words) in [
        (&["collection", "list"][..], 0, "`sabir collection example`"),
        (&["delegates", "list"], 0, "`sabir delegates add ldp://HOST:7420`"),
        (&["sessions"], 0, "`sabir run \"TASK\"`"),
        (&["log"], 0, "`sabir up`"),
        (&["audit", "verify"], 2, "`sabir up`"),
        (&["sessions", "export", "x"], 2, "`sabir up`"),
        (&["ask", "what?", "-c", "tides"], 2, "`sabir capture -c \"tides\" URL|FILE`"),
        (&["transform", "timeline", "-c", "tides"], 2, "`sabir collection list`"),
    ] {
        let empty = tempfile::tempdir_in(home.path()).unwrap();
        let told = in_home(empty.path(), args);
        assert_eq!((told.code, told.stdout.as_str()), (code, ""), "{args:?}: {}", told.stderr);
        assert!(told.stderr.contains(words), "{args:?}: {}", told.stderr);
    }
    for args in [&["collection", "list", "--json"][..], &["delegates", "list", "--json"]] {
        let told = in_home(home.path(), args);
        assert_eq!((told.stdout.trim(), told.stderr.as_str()), ("[]", ""), "{args:?}");
    }
    // Now there is a journal of decisions, and nothing in it.
    let log = in_home(home.path(), &["log"]);
    assert!(log.stderr.contains("nothing was written down"), "{}", log.stderr);
    let card = in_home(home.path(), &["card"]);
    assert!(card.stdout.contains("echo"), "what `sabir up` would offer: {}", card.stdout);
}

#[test]
fn a_place_that_is_taken_is_told_with_what_to_do() {
    let home = tempfile::tempdir().unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let place = taken.local_addr().unwrap().to_string();
    let refused = in_home(home.path(), &["up", "--listen", &place]);
    assert_eq!((refused.code, refused.stdout.as_str()), (2, ""), "{}", refused.stderr);
    let who = format!("`sabir card ldp://{place}`");
    for words in [place.as_str(), &who, "`sabir up --listen 127.0.0.1:0`", "--home DIR"] {
        assert!(refused.stderr.contains(words), "{words}: {}", refused.stderr);
    }
    // Whoever listens everywhere is called here.
    let all = format!("0.0.0.0:{}", taken.local_addr().unwrap().port());
    let mut command = sabir();
    let args = ["up", "--listen", &all, "--home", home.path().to_str().unwrap()];
    command.args(args).env("SABIR_TOKEN", "0123456789abcdef0123456789abcdef");
    let refused = finish(&mut command, &args, "");
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert!(refused.stderr.contains(&who), "{}", refused.stderr);
    drop(taken);
}

/// What `sabir doctor --json` says, with no model server but those on these ports.
fn doctor(home: &Path, ports: &str, envs: &[(&str, &str)]) -> (i32, Value) {
    let mut command = sabir();
    let args = ["doctor", "--json", "--home", home.to_str().unwrap()];
    for name in ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "SABIR_API_KEY"] {
        command.env_remove(name);
    }
    command.args(args).env("SABIR_LOCAL_PORTS", ports).envs(envs.iter().copied());
    let outcome = finish(&mut command, &args, "");
    (outcome.code, serde_json::from_str(&outcome.stdout).unwrap())
}

fn check<'a>(report: &'a Value, name: &str) -> &'a Value {
    let checks = report["checks"].as_array().unwrap();
    checks.iter().find(|check| check["name"] == name).unwrap_or_else(|| panic!("{name}: {report}"))
}

#[test]
fn a_new_machine_lacks_nothing_that_is_needed() {
    let home = tempfile::tempdir().unwrap();
    std::fs::set_permissions(home.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
    let (code, report) = doctor(home.path(), "", &[]);
    assert_eq!((code, &report["result"]), (0, &"good".into()), "{report}");
    for name in ["home", "disk", "clock", "config", "journal", "sandbox"] {
        assert_eq!(check(&report, name)["state"], "good", "{report}");
    }
    for name in ["browser", "port"] {
        assert_ne!(check(&report, name)["state"], "missing", "{report}");
    }
    assert_eq!(check(&report, "model")["state"], "lacking", "{report}");
    let shown = in_home(home.path(), &["doctor"]);
    assert_eq!(shown.code, 0, "{}", shown.stdout);
    assert!(
        shown.stdout.contains("ok       sandbox    commands are confined by"),
        "{}",
        shown.stdout
    );
    // Nothing was made by looking.
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0);
}

#[test]
fn models_are_found_and_keys_are_named_only() {
    let home = tempfile::tempdir().unwrap();
    let model = FakeModel::start([]);
    let secret = "sk-very-secret";
    let config =
        "[providers.work]\nbase_url = \"https://models.example/v1\"\nenv_key = \"WORK_KEY\"\n";
    std::fs::write(home.path().join("sabir.toml"), config).unwrap();
    let (code, report) = doctor(home.path(), "", &[("OPENAI_API_KEY", secret)]);
    assert_eq!(code, 0, "{report}");
    assert_eq!(check(&report, "keys")["said"], "set: OPENAI_API_KEY");
    let work = check(&report, "model");
    assert_eq!(work["state"], "lacking");
    assert!(work["said"].as_str().unwrap().contains("WORK_KEY is not set"), "{report}");
    let (_, report) = doctor(home.path(), "", &[("WORK_KEY", secret)]);
    assert_eq!(check(&report, "model")["said"], "work: https://models.example/v1, with a key");
    assert!(!report.to_string().contains(secret), "{report}");
    drop(model);
}

#[test]
fn what_is_broken_is_told_and_what_to_do() {
    let home = tempfile::tempdir().unwrap();
    let said = |name: &str| {
        let (code, report) = doctor(home.path(), "", &[]);
        let found = check(&report, name);
        assert_eq!((code, &found["state"]), (1, &"missing".into()), "{report}");
        assert!(!found["help"].as_str().unwrap().is_empty());
        found["said"].as_str().unwrap().to_owned()
    };
    let modes = |mode| {
        std::fs::set_permissions(home.path(), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    modes(0o777);
    assert!(said("home").contains("others can write"));
    modes(0o700);
    let hooks = home.path().join("webhooks");
    std::fs::create_dir(&hooks).unwrap();
    std::fs::set_permissions(&hooks, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert!(said("home").contains("webhooks"));
    std::fs::remove_dir(&hooks).unwrap();
    std::fs::write(home.path().join("sabir.toml"), "[nod]\n").unwrap();
    assert!(said("config").contains("line 1"));
    let (_, report) = doctor(home.path(), "", &[]);
    let next = format!("sabir config check --home {}", home.path().display());
    assert_eq!(check(&report, "config")["help"], next.as_str());
    std::fs::remove_file(home.path().join("sabir.toml")).unwrap();

    let facts =
        SessionFacts { cwd: "/w".to_owned(), model: "m".to_owned(), title: None, parent: None };
    let words = "a piece of the thread";
    let entries = vec![Entry::Session(facts), Entry::Item { body: words.to_owned() }];
    let store = Store::open(home.path()).unwrap();
    let (_, report) = doctor(home.path(), "", &[]);
    assert_eq!(check(&report, "journal")["said"], "node: nothing was written down yet");
    let batch = Batch { session_id: SessionId::new("s"), at_ms: 1, entries };
    store.append_and_wait(batch.clone()).unwrap();
    drop(store);
    assert_eq!(doctor(home.path(), "", &[]).0, 0);
    let path = home.path().join("sabir.db");
    let whole = std::fs::read(&path).unwrap();
    let mut bytes = whole.clone();
    let at = bytes.windows(words.len()).position(|it| it == words.as_bytes()).unwrap();
    bytes[at] = b'A';
    std::fs::write(&path, bytes).unwrap();
    assert!(said("journal").contains("node: row 2 was changed"));
    std::fs::write(&path, whole).unwrap();

    // Something was written in a time that has not come.
    let store = Store::open(home.path()).unwrap();
    store.append_and_wait(Batch { at_ms: 4_000_000_000_000, ..batch }).unwrap();
    drop(store);
    assert!(said("clock").contains("2096-10-02"), "{}", said("clock"));
}

#[test]
fn what_is_not_there_is_told_with_what_to_do() {
    let home = tempfile::tempdir().unwrap();
    let empty = tempfile::tempdir().unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let place = taken.local_addr().unwrap();
    let config = format!("[serve]\nlisten = [\"{place}\"]\n");
    std::fs::write(home.path().join("sabir.toml"), config).unwrap();
    std::fs::set_permissions(home.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
    let secret = "sk-very-secret";
    let envs = [
        ("PATH", empty.path().to_str().unwrap()),
        ("SABIR_SANDBOX_LAYER", "none"),
        ("OPENAI_API_KEY", secret),
    ];
    let (code, report) = doctor(home.path(), "", &envs);
    assert_eq!(code, 1, "{report}");
    let told = |name: &str, state: &str, said: &str, help: &str| {
        let found = check(&report, name);
        assert_eq!(found["state"], state, "{report}");
        assert!(found["said"].as_str().unwrap().contains(said), "{found}");
        assert!(found["help"].as_str().unwrap().contains(help), "{found}");
    };
    told("sandbox", "missing", "cannot be confined", "bubblewrap");
    told("browser", "lacking", "no Chromium", "chromium");
    told("port", "lacking", &place.to_string(), "--listen 127.0.0.1:0");
    told("model", "lacking", "none is configured", "env_key = \"OPENAI_API_KEY\"");
    assert_eq!(check(&report, "keys")["said"], "set: OPENAI_API_KEY");
    assert!(!report.to_string().contains(secret), "{report}");
    drop(taken);
}

/// What is named and not there is a warning, and what is wrong in any section an error.
#[test]
fn a_file_is_checked_for_what_it_means() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("sabir.toml");
    let write = |text: &str| std::fs::write(&file, text).unwrap();
    write("[[callers]]\ntoken_env = \"SABIR_TEST_UNSET\"\n[serve]\nlisten = [\"0.0.0.0:7420\"]\n");
    let checked = in_home(home.path(), &["config", "check"]);
    assert_eq!(checked.code, 0, "{}", checked.stderr);
    let words = "warning: ";
    assert!(checked.stderr.starts_with(words), "{}", checked.stderr);
    assert!(checked.stderr.contains("SABIR_TEST_UNSET is not set"), "{}", checked.stderr);
    let json = in_home(home.path(), &["config", "check", "--json"]);
    let found: Vec<Value> = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!((json.code, &found[0]["severity"]), (0, &"warning".into()), "{found:?}");
    let (code, report) = doctor(home.path(), "", &[]);
    assert_eq!(check(&report, "config")["state"], "lacking", "{report}");
    assert_eq!(code, 0, "{report}");

    write(
        "[crew.coder]\nprovider = \"locl\"\n[providers.local]\nbase_url = \"http://127.0.0.1:1/v1\"\n",
    );
    let checked = in_home(home.path(), &["config", "check"]);
    assert_eq!(checked.code, 1);
    assert!(checked.stderr.contains("no provider `locl`: write `local`"), "{}", checked.stderr);

    write("[[policy.deny]]\ntool = \"shel\"\n");
    let checked = in_home(home.path(), &["config", "check"]);
    assert_eq!(checked.code, 1);
    for words in ["line 2, column 8", "did you mean \"shell\"?", " 2 | tool = \"shel\""] {
        assert!(checked.stderr.contains(words), "{words}: {}", checked.stderr);
    }
    // Rules that cannot be read stop what would run under them.
    let args = ["policy", "check", "shell", "--arguments", r#"{"command":["ls"]}"#, "--json"];
    let refused = in_home(home.path(), &args);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert!(refused.stderr.contains("sabir.toml"), "{}", refused.stderr);
    write("[[policy.deny]]\ntool = \"shell\"\nreason = \"this machine is for reading\"\n");
    let denied = in_home(home.path(), &args);
    assert_eq!(denied.code, 1, "{}", denied.stderr);
    assert!(denied.stdout.contains("this machine is for reading"), "{}", denied.stdout);
    let shown = in_home(home.path(), &["policy", "show"]);
    assert!(shown.stdout.contains("sabir.toml, [policy]\n"), "{}", shown.stdout);
}

/// Whatever is wrong where, a secret that somebody pasted is not shown.
#[test]
fn no_error_shows_a_secret() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("sabir.toml");
    let secret = "hunter2-hunter2";
    for text in [
        format!("[[callers]]\ntoken = \"{secret}\"\n"),
        format!("[[callers]]\ntoken_env = \"{secret}!\"\n"),
        format!("[[callers]]\ntoken_sha256 = \"{secret}\"\n"),
        format!("[node]\napi_key = \"{secret}\n"),
        format!("[node]\nendpoint = [\"{secret}\"]\n"),
        format!("[providers.a]\napi_key = \"{secret}\"\n"),
        format!("[providers.a]\nrequest_max_retries = \"{secret}\"\n"),
        format!("[providers.a]\nheaders = \"{secret}\"\n"),
        format!("[providers.a]\nbase_url = \"ftp://me:{secret}@x.example\"\n"),
        format!("[providers.a]\nbase_url = \"ftp://x.example/?key={secret}\"\n"),
        format!("[mcp.a]\nurl = \"https://me:{secret}@x.example\"\n"),
        format!("[mcp.a]\ncommand = [\"x\", \"{secret}\", 3]\n"),
        format!(
            "[mcp.a]\nurl = \"https://x.example\"\nheaders = {{ Authorization = \"{secret}\" }}\n"
        ),
        format!("[[skills]]\nname = \"a\"\nrun = [\"x\"]\nenv = {{ A = \"{secret}\", B = 3 }}\n"),
        format!("[serve]\ntoken = \"{secret}\"\n"),
        format!("[[delegates]]\nurl = \"https://me:{secret}@x.example\"\n"),
        format!("{secret}\n"),
    ] {
        std::fs::write(&file, &text).unwrap();
        for args in [
            &["config", "check"][..],
            &["config", "check", "--json"],
            &["up", "--listen", "127.0.0.1:0"],
            &["doctor"],
        ] {
            let told = in_home(home.path(), args);
            assert_ne!(told.code, 0, "{args:?}: {text}");
            let said = format!("{}{}", told.stdout, told.stderr);
            assert!(!said.contains(secret), "{args:?}: {text}: {said}");
        }
    }
}
