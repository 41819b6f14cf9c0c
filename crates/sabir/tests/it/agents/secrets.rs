//! What is secret: shown to those whom it is for, and out of reach of what runs for others.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::harbor::{Node, fresh, message, open_for_text, run_at, submit};
use crate::process::{Outcome, finish, sabir};

const TOKEN: &str = "0123456789abcdef0123456789abcdef0123456789abcdef";
const ECHO: &str = "[[skills]]\nname = \"echo\"\nbuiltin = \"echo\"\n";

fn delegate(home: &Path, url: &str, envs: &[(&str, &str)]) -> Outcome {
    let args = ["delegate", "hello", "--to", url, "--skill", "echo"];
    let mut command = sabir();
    command.env("SABIR_HOME", home).args(args).envs(envs.iter().copied());
    finish(&mut command, &args, "")
}

#[test]
fn a_token_of_the_configuration_is_shown_to_whom_it_is_for() {
    let folder = tempfile::tempdir().unwrap();
    let (theirs, ours) = (folder.path().join("theirs"), folder.path().join("ours"));
    fs::create_dir(&theirs).unwrap();
    fs::create_dir(&ours).unwrap();
    let node = Node::start_told(&theirs, ECHO, &["--token-for-all"], &[("SABIR_TOKEN", TOKEN)]);
    let url = node.url();
    let without = delegate(&ours, &url, &[]);
    assert_eq!(without.code, 1, "{}", without.stderr);
    assert!(without.stderr.contains("token"), "{}", without.stderr);
    let config = |url: &str| {
        let text = format!("[[delegates]]\nurl = {url:?}\ntoken_env = \"HARBOR_PASS\"\n");
        fs::write(ours.join("sabir.toml"), text).unwrap();
    };
    config(&url);
    let shown = delegate(&ours, &url, &[("HARBOR_PASS", TOKEN)]);
    assert_eq!(shown.code, 0, "{}", shown.stderr);
    assert!(shown.stdout.contains("hello"), "{}", shown.stdout);
    let wrong = delegate(&ours, &url, &[("HARBOR_PASS", "another-token-which-is-not-theirs")]);
    assert_eq!(wrong.code, 1, "{}", wrong.stderr);
    let unset = delegate(&ours, &url, &[]);
    assert_eq!(unset.code, 2, "{}", unset.stderr);
    assert!(unset.stderr.contains("HARBOR_PASS is not set"), "{}", unset.stderr);
    // Where others can read on the way, and to somebody else, it is not shown.
    config("http://agents.example");
    let readable = delegate(&ours, &url, &[("HARBOR_PASS", TOKEN)]);
    assert_eq!(readable.code, 2, "{}", readable.stderr);
    config("https://agents.example");
    assert_eq!(delegate(&ours, &url, &[("HARBOR_PASS", TOKEN)]).code, 1);
    node.end();
}

/// A program in a sandbox reads no key of the node, and nobody inherits what the configuration names
/// as a secret.
#[test]
fn what_runs_for_others_finds_no_keys() {
    let home = tempfile::tempdir().unwrap();
    let work = tempfile::tempdir().unwrap();
    let at = |name: &str| home.path().join(name).display().to_string();
    let files = [
        "node.key",
        "sabir.db",
        "sabir.db-wal",
        "peers.db",
        "us.key",
        "token",
        "model.key",
        "webhooks/order-1.kept",
    ];
    fs::create_dir(at("webhooks")).unwrap();
    fs::write(at("webhooks/order-1.kept"), TOKEN).unwrap();
    let names: Vec<String> = files.iter().map(|name| at(name)).collect();
    let key = rcgen::KeyPair::generate().unwrap();
    let params = rcgen::CertificateParams::new(vec!["us.example".to_owned()]).unwrap();
    fs::write(at("us.pem"), params.self_signed(&key).unwrap().pem()).unwrap();
    let key = key.serialize_pem();
    for (name, text) in [("us.key", key.as_str()), ("token", TOKEN), ("model.key", TOKEN)] {
        fs::write(at(name), text).unwrap();
        fs::set_permissions(at(name), fs::Permissions::from_mode(0o600)).unwrap();
    }
    let script = format!(
        "cat >/dev/null; for file in {}; do if [ -s $file ] && cat $file >/dev/null 2>&1; \
         then echo read $file; fi; done; echo friend is $OLD_FRIEND.",
        names.join(" ")
    );
    let sections = format!(
        "[[skills]]\nname = \"look\"\nrun = [\"sh\", \"-c\", {script:?}]\nsandbox = \"read-only\"\n\
         cwd = {:?}\n\
         [[skills]]\nname = \"free\"\nrun = [\"sh\", \"-c\", \"echo friend is $OLD_FRIEND.\"]\n\
         [[skills]]\nname = \"given\"\nrun = [\"sh\", \"-c\", \"echo friend is $OLD_FRIEND.\"]\n\
         pass_env = [\"OLD_FRIEND\"]\n\
         [[peers]]\ndelegate_id = \"ldp:delegate:friend\"\nhmac_secret_env = \"OLD_FRIEND\"\n\
         [tls]\nclient_certificate = \"us.pem\"\nclient_key = \"us.key\"\n\
         [providers.local]\nbase_url = \"http://127.0.0.1:9/v1\"\nmodel = \"m\"\nkey_file = {:?}\n",
        work.path(),
        at("model.key")
    );
    let token = at("token");
    let args = ["--token-file", token.as_str()];
    let node = Node::start_told(home.path(), &sections, &args, &[("OLD_FRIEND", "both-know")]);
    let asker = "ldp:delegate:asker";
    let session = open_for_text(&node, asker);
    let ask = |skill: &str| {
        node.send(&message(asker, &session, submit(&fresh("t"), skill, "x")))["body"].clone()
    };
    assert_eq!(ask("free")["output"], "friend is .\n");
    assert_eq!(ask("given")["output"], "friend is both-know.\n");
    let looked = ask("look");
    assert_eq!(looked["output"], "friend is .\n", "{looked}");
    node.end();
}

#[test]
fn a_first_meeting_is_told_and_trust_is_shown_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let (theirs, ours) = (folder.path().join("theirs"), folder.path().join("ours"));
    fs::create_dir(&theirs).unwrap();
    fs::create_dir(&ours).unwrap();
    let node = Node::start(&theirs, ECHO);
    let key = node.said["public_key"].as_str().unwrap();
    let added = run_at(&ours, &["delegates", "add", &node.url()]);
    assert_eq!(added.code, 0, "{}", added.stderr);
    let met = format!("first meeting with ldp:delegate:harbor: its key is {key}");
    assert!(added.stderr.contains(&met), "{}", added.stderr);
    let again = run_at(&ours, &["delegates", "probe"]);
    assert!(!again.stderr.contains("first meeting"), "{}", again.stderr);
    node.end();

    let config = "[node]\ntrust_domain = \"lab\"\ntrusted_domains = [\"harbor.example\"]\n";
    fs::write(ours.join("sabir.toml"), config).unwrap();
    run_at(&ours, &["domain", "trust", "other.example"]);
    let listed = run_at(&ours, &["domain", "list"]);
    for name in ["harbor.example", "other.example"] {
        assert!(listed.stdout.contains(name), "{}", listed.stdout);
    }
    let revoked = run_at(&ours, &["domain", "trust", "harbor.example", "--revoke"]);
    assert!(revoked.stderr.contains("still trusted"), "{}", revoked.stderr);
    assert!(revoked.stderr.contains("lab trusts harbor.example"), "{}", revoked.stderr);
    let revoked = run_at(&ours, &["domain", "trust", "other.example", "--revoke"]);
    assert!(!revoked.stderr.contains("still trusted"), "{}", revoked.stderr);
}
