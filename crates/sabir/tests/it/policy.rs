//! `sabir policy`: what the file says, and what would be decided; and actions of messages under it.

use std::path::Path;

use expect_test::expect;
use serde_json::Value;
use tempfile::TempDir;

use crate::process::{Outcome, run_in};

struct Place {
    folder: TempDir,
}

impl Place {
    fn new(policy: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("home")).unwrap();
        std::fs::create_dir(folder.path().join("work")).unwrap();
        if !policy.is_empty() {
            std::fs::write(folder.path().join("home/policy.toml"), policy).unwrap();
        }
        Self { folder }
    }

    fn home(&self) -> std::path::PathBuf {
        self.folder.path().join("home")
    }

    fn run(&self, args: &[&str]) -> Outcome {
        let envs = [("SABIR_HOME", &self.home())];
        run_in(&self.folder.path().join("work"), &envs, args, "")
    }

    /// The outcome and the reason code, and whether the exit code says the same.
    fn check(&self, args: &[&str]) -> (String, String) {
        let outcome = self.run(&[&["policy", "check", "--json"], args].concat());
        let row: Value = serde_json::from_str(&outcome.stdout)
            .unwrap_or_else(|error| panic!("{args:?}: {error}: {}", outcome.stderr));
        let text = |key: &str| row[key].as_str().unwrap().to_owned();
        assert_eq!(outcome.code, i32::from(text("outcome") != "allow"), "{args:?}");
        (text("outcome"), text("reason_code"))
    }
}

fn exists(path: &Path) -> bool {
    path.try_exists().unwrap()
}

/// LC-G42, LC-G35: a dry run says what would be decided and why, and keeps nothing.
#[test]
fn a_dry_run_says_why_and_stores_nothing() {
    let place = Place::new("");
    let navigate =
        ["policy", "check", "browser.navigate", "--arguments", r#"{"url":"https://a.example/x"}"#];
    let outcome = place.run(&navigate);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (1, ""));
    expect![[r#"
        browser.navigate would be asked for
          wanted: url=https://a.example/x
          can at worst: egress, open_world
          the model had read: nothing that is known to be private or a stranger's
          url was made up by the model
          decided by call.invented-url (invented_url): nobody typed this address and no source links it: the model made it up
          what would change it: a person's yes, or an address that the user typed or a source links
    "#]].assert_eq(&outcome.stdout);
    let typed = place.run(&[&navigate[..], &["--typed", "open https://a.example/x"]].concat());
    assert_eq!(typed.code, 0, "{}", typed.stdout);
    assert!(typed.stdout.starts_with("browser.navigate would be allowed\n"), "{}", typed.stdout);
    // Nothing was there, and nothing is.
    assert_eq!(std::fs::read_dir(place.home()).unwrap().count(), 0);
}

/// LC-G42: what holds of a context can be said.
#[test]
fn taint_and_settings_can_be_said() {
    let place = Place::new("");
    let url = r#"{"url":"https://a.example"}"#;
    let typed = ["source.capture", "--arguments", url, "--typed", "get https://a.example"];
    let with = |more: &[&str]| place.check(&[&typed[..], more].concat());
    assert_eq!(with(&[]).0, "allow");
    assert_eq!(with(&["--untrusted", "page"]), ("ask".into(), "tainted_egress".into()));
    assert_eq!(with(&["--untrusted", "page", "--private", "note"]).0, "deny");
    assert_eq!(with(&["--untrusted", "page", "--approval", "never"]).0, "deny");
    let shell = |line: &str, more: &[&str]| {
        let arguments = serde_json::json!({ "command": ["bash", "-c", line] }).to_string();
        place.check(&[&["shell", "--arguments", &arguments], more].concat())
    };
    assert_eq!(shell("ls", &[]), ("allow".into(), "known_safe_command".into()));
    assert_eq!(shell("rm -rf x", &[]), ("ask".into(), "dangerous_command".into()));
    assert_eq!(shell("touch x", &["--approval", "untrusted"]).0, "ask");
    let patch = |path: &str, more: &[&str]| {
        let arguments = serde_json::json!({ "paths": [path] }).to_string();
        place.check(&[&["apply_patch", "--arguments", &arguments], more].concat()).0
    };
    assert_eq!(patch("a.txt", &[]), "allow");
    assert_eq!(patch("a.txt", &["--sandbox", "read-only"]), "ask");
    assert_eq!(patch(".git/config", &[]), "ask");
    assert_eq!(place.check(&["read"]).0, "allow");
    assert_eq!(place.check(&["spawn", "--approval", "untrusted"]).0, "ask");
    assert_eq!(place.check(&["mcp__server__tool"]).0, "ask");
}

/// LC-G27, LC-G39: the file is what the dry run decides under, too.
#[test]
fn a_dry_run_is_held_by_the_policy_file() {
    let place = Place::new(
        "[[deny]]\ntool = \"shell\"\n[[deny]]\nhost = \"*.evil.example\"\nreason = \"known for it\"\n",
    );
    let denied = ("deny".to_owned(), "policy_denied".to_owned());
    assert_eq!(place.check(&["shell", "--arguments", r#"{"command":["ls"]}"#]), denied);
    let there = r#"{"where":"ftp://me@a.evil.example:21/x"}"#;
    assert_eq!(place.check(&["mcp__s__t", "--arguments", there]), denied);
    let url = r#"{"url":"https://a.evil.example"}"#;
    let outcome = place.run(&["policy", "check", "source.capture", "--arguments", url]);
    assert!(outcome.stdout.contains("the policy file forbids this: known for it"), "{outcome:?}");
}

/// LC-G45: the search engine counts as named, the usual one as any other.
#[test]
fn a_dry_run_knows_the_search_engine() {
    let place =
        Place::new("[[deny]]\nhost = \"*.duckduckgo.com\"\n[[ask]]\nhost = \"www.mojeek.com\"\n");
    for (arguments, reason) in [
        (r#"{"query":"x"}"#, "policy_denied"),
        (r#"{"query":"x","engine":"DuckDuckGo"}"#, "policy_denied"),
        (r#"{"query":"x","engine":"mojeek"}"#, "policy_asks"),
        (r#"{"query":"x","engine":"wikipedia"}"#, "on_request"),
    ] {
        assert_eq!(place.check(&["search", "--arguments", arguments]).1, reason, "{arguments}");
    }
}

#[test]
fn what_makes_no_sense_is_said() {
    let place = Place::new("");
    for args in [
        &["policy", "check", "browser.fly"][..],
        &["policy", "check", "shell"],
        &["policy", "check", "shell", "--arguments", "[]"],
        &["policy", "check", "apply_patch"],
        &["policy", "check"],
    ] {
        let outcome = place.run(args);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{args:?}");
        assert_ne!(outcome.stderr, "", "{args:?}");
    }
    // The gate would judge it, but no packet that is read strictly holds it.
    let misfit =
        ["policy", "check", "app.calculate", "--arguments", r#"{"expression":"1","more":2}"#];
    let outcome = place.run(&misfit);
    assert_eq!(outcome.code, 0);
    assert!(outcome.stderr.contains("would not come so far"), "{}", outcome.stderr);
}

/// LC-G31: what holds is shown, and where it stands.
#[test]
fn the_policy_is_shown() {
    let place = Place::new("[[ask]]\ntool = \"shell\"\nreason = \"we like to see it\"\n");
    let file = place.home().join("policy.toml");
    let shown = place.run(&["policy", "show"]);
    assert_eq!(shown.code, 0, "{}", shown.stderr);
    let words = "a turn makes at most 32 calls and asks 8 times\n  shell is asked for (we like to see it)\n";
    assert_eq!(shown.stdout, format!("{}\n  {words}", file.display()));
    let json: Value =
        serde_json::from_str(&place.run(&["policy", "show", "--json"]).stdout).unwrap();
    assert_eq!(
        (&json["is_there"], json["says"].as_array().unwrap().len()),
        (&Value::Bool(true), 2)
    );
    let none = Place::new("").run(&["policy", "show"]);
    assert!(none.stdout.contains("(not there)\n"), "{}", none.stdout);
    assert!(none.stdout.contains("nothing is added to the rules of the gate"), "{}", none.stdout);
}

/// LC-G27, LC-G37: actions of messages pass the same gate under the same file, and have rows.
#[test]
fn actions_of_messages_are_held_and_stored() {
    let place = Place::new("[[deny]]\ntool = \"shell\"\nreason = \"no commands\"\n");
    let message = "HEADER:{f:a,t:b,s:1}\n\
        ACT:{i:one,op:shell,tgt:\"touch made\"}\n\
        ACT:{op:write,tgt:\"new.txt\",args:{text:\"x\"}}\n";
    let file = place.folder.path().join("message.llmx");
    std::fs::write(&file, message).unwrap();
    let outcome = place.run(&["llmx", "run", file.to_str().unwrap()]);
    assert_eq!(outcome.code, 1, "{}", outcome.stderr);
    let words = "denied: the policy file forbids this: no commands";
    assert!(outcome.stdout.contains(words), "{}", outcome.stdout);
    let work = place.folder.path().join("work");
    assert!(!exists(&work.join("made")) && exists(&work.join("new.txt")));
    let explained = place.run(&["explain", "one"]);
    assert!(explained.stdout.starts_with("shell was refused (call one of llmx-"), "{explained:?}");
    let all: Vec<Value> =
        serde_json::from_str(&place.run(&["audit", "list", "--json"]).stdout).unwrap();
    let of =
        |key: &str| -> Vec<&str> { all.iter().map(|row| row[key].as_str().unwrap()).collect() };
    assert_eq!(of("call_id"), ["one", "act-1"]);
    assert_eq!(of("subject"), ["shell", "apply_patch"]);
    assert_eq!(of("outcome"), ["deny", "allow"]);
    // What cannot be written down is not done.
    std::fs::write(place.home().join("library.db"), "this is no library".repeat(100)).unwrap();
    std::fs::remove_file(work.join("new.txt")).unwrap();
    let outcome = place.run(&["llmx", "run", file.to_str().unwrap()]);
    assert!(outcome.stdout.contains("cannot be written down"), "{}", outcome.stdout);
    assert!(!exists(&work.join("new.txt")));
    // A file that is not understood lets nothing happen.
    std::fs::write(place.home().join("policy.toml"), "deny = 1").unwrap();
    let outcome = place.run(&["llmx", "run", file.to_str().unwrap()]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""));
    assert!(outcome.stderr.contains("policy.toml: line 1: "), "{}", outcome.stderr);
}

/// LC-G40: a link that leads nowhere was meant to lead somewhere, and a pipe is not waited for.
#[test]
fn whatever_is_no_file_is_no_policy() {
    let place = Place::new("");
    let file = place.home().join("policy.toml");
    std::os::unix::fs::symlink(place.home().join("nowhere"), &file).unwrap();
    for command in [&["policy", "show"][..], &["policy", "check", "read"]] {
        let outcome = place.run(command);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{command:?}");
        assert!(outcome.stderr.contains("policy.toml"), "{}", outcome.stderr);
    }
    std::fs::remove_file(&file).unwrap();
    let made = std::process::Command::new("mkfifo").arg(&file).status().unwrap();
    assert!(made.success());
    let outcome = place.run(&["policy", "show"]);
    assert_eq!(outcome.code, 2);
    assert!(outcome.stderr.contains("it is not a file"), "{}", outcome.stderr);
}
