//! What an approval for the session covers.

use expect_test::expect;
use sabir_policy::{Confinement, Grant, Request};

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

fn prefix(text: &str) -> Grant {
    Grant::Prefix {
        argv_prefix: words(text),
        cwd: Some("/w".to_owned()),
        confinement: Confinement::Confined,
    }
}

fn covers(grant: &Grant, argv: &[&str]) -> bool {
    let argv: Vec<String> = argv.iter().map(|word| (*word).to_owned()).collect();
    grant.covers(&Request::Command { argv: &argv, cwd: "/w", confinement: Confinement::Confined })
}

/// QP-A31: a command is covered word for word, in its folder and in its sandbox.
#[test]
fn a_command_is_covered_exactly() {
    let (argv, longer, shorter) = (words("cargo test"), words("cargo test -q"), words("cargo"));
    let grant =
        |confinement| Grant::Command { argv: argv.clone(), cwd: "/w".to_owned(), confinement };
    let asked = |argv, cwd, confinement| Request::Command { argv, cwd, confinement };
    let confined = grant(Confinement::Confined);
    assert!(confined.covers(&asked(&argv, "/w", Confinement::Confined)));
    assert!(!confined.covers(&asked(&argv, "/x", Confinement::Confined)));
    assert!(!confined.covers(&asked(&argv, "/w", Confinement::Unconfined)));
    assert!(!confined.covers(&asked(&longer, "/w", Confinement::Confined)));
    assert!(!confined.covers(&asked(&shorter, "/w", Confinement::Confined)));
    let unconfined = grant(Confinement::Unconfined);
    assert!(unconfined.covers(&asked(&argv, "/w", Confinement::Unconfined)));
    assert!(unconfined.covers(&asked(&argv, "/w", Confinement::Confined)));
}

/// QP-A32: a prefix covers no script, nothing destructive, and nothing when it is empty.
#[test]
fn a_prefix_has_limits() {
    assert!(covers(&prefix("cargo test"), &["cargo", "test"]));
    assert!(covers(&prefix("cargo test"), &["cargo", "test", "-q"]));
    assert!(!covers(&prefix("cargo test"), &["cargo", "testing"]));
    assert!(!covers(&prefix("cargo test"), &["cargo", "build"]));
    assert!(!covers(&prefix("cargo test"), &["cargo"]));
    assert!(!covers(&prefix(""), &["ls"]));
    assert!(!covers(&prefix(""), &[]));
    assert!(!covers(&prefix("bash -c"), &["bash", "-c", "ls"]));
    assert!(!covers(&prefix("/bin/sh"), &["/bin/sh", "-c", "ls"]));
    assert!(!covers(&prefix("env"), &["env", "bash", "-c", "ls"]));
    assert!(!covers(&prefix("sudo"), &["sudo", "-u", "x", "sh", "x.sh"]));
    assert!(!covers(&prefix("rm"), &["rm", "-rf", "x"]));
    assert!(covers(&prefix("rm"), &["rm", "x"]));
    assert!(!covers(&prefix("git"), &["git", "-C", "x", "reset"]));
    let anywhere = Grant::Prefix {
        argv_prefix: words("cargo test"),
        cwd: None,
        confinement: Confinement::Confined,
    };
    let argv = words("cargo test");
    let asked = |cwd, confinement| Request::Command { argv: &argv, cwd, confinement };
    assert!(anywhere.covers(&asked("/elsewhere", Confinement::Confined)));
    assert!(!anywhere.covers(&asked("/elsewhere", Confinement::Unconfined)));
    assert!(!prefix("cargo test").covers(&asked("/elsewhere", Confinement::Confined)));
}

/// QP-A33: files and tools are covered by name, and nothing of one kind covers another.
#[test]
fn files_and_tools_are_covered_by_name() {
    let files = Grant::Files { paths: words("/w/a /w/b") };
    assert!(files.covers(&Request::Files { paths: &words("/w/a") }));
    assert!(files.covers(&Request::Files { paths: &words("/w/b /w/a") }));
    assert!(!files.covers(&Request::Files { paths: &words("/w/a /w/c") }));
    assert!(!files.covers(&Request::Files { paths: &words("/w/a/x") }));
    assert!(!files.covers(&Request::Files { paths: &[] }));
    let tool = Grant::Tool { server: "s".to_owned(), tool: "t".to_owned() };
    assert!(tool.covers(&Request::Tool { server: "s", tool: "t" }));
    assert!(!tool.covers(&Request::Tool { server: "s", tool: "u" }));
    assert!(!tool.covers(&Request::Tool { server: "r", tool: "t" }));
    assert!(!tool.covers(&Request::Files { paths: &words("s t") }));
    assert!(!covers(&files, &["/w/a"]));
}

/// QP-A34: what a grant covers is said in words, and kept as data.
#[test]
fn a_grant_says_what_it_covers() {
    let grants = [
        Grant::Command {
            argv: words("cargo test"),
            cwd: "/w".to_owned(),
            confinement: Confinement::Confined,
        },
        Grant::Command {
            argv: vec!["echo".to_owned(), "it's\u{1b}[2J".to_owned(), String::new()],
            cwd: "/w".to_owned(),
            confinement: Confinement::Unconfined,
        },
        prefix("cargo test"),
        prefix(""),
        Grant::Files { paths: words("/w/a /w/b") },
        Grant::Tool { server: "tracker".to_owned(), tool: "close".to_owned() },
    ];
    let mut text = String::new();
    for grant in grants {
        let json = serde_json::to_string(&grant).unwrap();
        assert_eq!(serde_json::from_str::<Grant>(&json).unwrap(), grant);
        text += &format!("{}\n  {json}\n", grant.describe());
    }
    expect![[r#"
        exactly `cargo test` in /w
          {"type":"command","argv":["cargo","test"],"cwd":"/w","confinement":"confined"}
        exactly `echo 'it'\''s\u{1b}[2J' ''` in /w, outside of the sandbox
          {"type":"command","argv":["echo","it's\u001b[2J",""],"cwd":"/w","confinement":"unconfined"}
        every command that begins with `cargo test` in /w, but no scripts and nothing destructive
          {"type":"prefix","argv_prefix":["cargo","test"],"cwd":"/w","confinement":"confined"}
        nothing
          {"type":"prefix","argv_prefix":[],"cwd":"/w","confinement":"confined"}
        changes to /w/a, /w/b
          {"type":"files","paths":["/w/a","/w/b"]}
        every call of the tool `close` of the server `tracker`
          {"type":"tool","server":"tracker","tool":"close"}
    "#]].assert_eq(&text);
}
