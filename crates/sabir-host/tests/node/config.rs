//! Configurations: the example is right, and what is wrong is pointed at.

use expect_test::{Expect, expect};
use sabir_host::process::Runner;
use sabir_host::sandbox::{LayerChoice, OwnState};
use sabir_host::{Approvals, NodeConfig, NodeError, SkillKind, SkillKit, Surroundings};
use sabir_ldp::{Channel, Origin};
use serde_json::json;

use crate::world::{World, echo, key, settings};

fn check(text: &str, expected: Expect) {
    let error = NodeConfig::parse(text).unwrap_err();
    expected.assert_eq(&error.to_string());
}

fn kit() -> SkillKit {
    SkillKit {
        runner: std::sync::Arc::new(Runner::new("/nonexistent", LayerChoice::None)),
        folder: "/".into(),
        own: OwnState::default(),
        engine: None,
        desk: None,
        approvals: Approvals::default(),
    }
}

fn surroundings() -> Surroundings<'static> {
    Surroundings { key: key().public_key(), endpoint: "http://127.0.0.1:7420", domains: &[] }
}

#[test]
fn the_example_is_right_also_where_it_is_a_comment() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/sabir.toml");
    let text = std::fs::read_to_string(path).unwrap();
    let config = NodeConfig::parse(&text).unwrap();
    assert_eq!(config.skills.len(), 2);
    assert!(
        matches!(&config.skills[1].kind, SkillKind::Program(program) if program.argv == ["wc", "-w"])
    );
    let all: String = text
        .lines()
        .map(|line| match line.strip_prefix("# ") {
            Some(code) if code.starts_with('[') || code.contains(" = ") => format!("{code}\n"),
            _ => format!("{line}\n"),
        })
        .collect();
    let config = NodeConfig::parse(&all).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((config.skills.len(), config.peers.len(), config.callers.len()), (4, 2, 1));
    assert!(config.tls.is_some() && config.identity.is_some());
    assert_eq!(config.delegates.len(), 1);
}

#[test]
fn what_is_wrong_is_pointed_at() {
    check(
        "[node]\ndelegateid = \"ldp:delegate:a\"\n",
        expect![[r#"
            line 2, column 1: there is no key `delegateid` in `[node]`: write `delegate_id`
             2 | delegateid = "ldp:delegate:a"
               | ^^^^^^^^^^"#]],
    );
    check(
        "[node]\npayload_modes = [\"text\", \"telepathy\"]\n",
        expect![[r#"
            line 2, column 26: the modes that can be offered are semantic_graph, embedding_hints, semantic_frame, text
             2 | payload_modes = ["text", "telepathy"]
               |                          ^^^^^^^^^^^"#]],
    );
    check(
        "[[skills]]\nname = \"a\"\nrun = \"cat\"\n",
        expect![[r#"
            line 3, column 7: this does not fit: write `run = ["text", "text"]`
             3 | run = "cat"
               |       ^^^^^"#]],
    );
    check(
        "[[skills]]\nname = \"a\"\n",
        expect![[r#"
            line 2, column 8: nothing does this skill: give it `run = ["program"]`, `builtin = "echo"`, `agent = { model = "name" }` or `llmcp = "web.answer"`
             2 | name = "a"
               |        ^^^"#]],
    );
    check(
        "[[peers]]\ndelegate_id = \"ldp:delegate:a\"\nhmac_secret_env = \"not a name!\"\n",
        expect![[r#"
            line 3, column 19: write the name of a variable, not its value
             3 | hmac_secret_env = "not a name!"
               |                   ^^^^^^^^^^^^^"#]],
    );
    check(
        "[skills]\nname = \"a\"\n",
        expect![[r#"
            line 1, column 1: write `[[skills]]` with two brackets: there may be several
             1 | [skills]
               | ^^^^^^^^"#]],
    );
    check(
        "[skill]\nname = \"a\"\n",
        expect![[r#"
            line 1, column 2: there is no key `skill` in `the configuration`: write `skills`
             1 | [skill]
               |  ^^^^^"#]],
    );
}

#[test]
fn what_is_wrong_about_those_we_ask_is_pointed_at() {
    check(
        "[[delegates]]\nurl = \"agents.example\"\n",
        expect![[r#"
        line 2, column 7: an address starts with ldp://, https:// or http://
         2 | url = "agents.example"
           |       ^^^^^^^^^^^^^^^^"#]],
    );
    check(
        "[[delegates]]\nurl = \"https://a.example\"\n",
        expect![[r#"
        line 2, column 7: nothing is said of it: give it token_env or ca
         2 | url = "https://a.example"
           |       ^^^^^^^^^^^^^^^^^^^"#]],
    );
    check(
        "[[delegates]]\nurl = \"https://a.example\"\ntoken_env = \"s3cr3t value\"\n",
        expect![[r#"
            line 3, column 13: write the name of a variable, not its value
             3 | token_env = "s3cr3t value"
               |             ^^^^^^^^^^^^^^"#]],
    );
    check(
        "[[delegates]]\nurl = \"ldp://a\"\nca = \"a\"\n[[delegates]]\nurl = \"ldp://a\"\nca = \"a\"\n",
        expect![[r#"
            line 5, column 7: this delegate stands twice
             5 | url = "ldp://a"
               |       ^^^^^^^^^"#]],
    );
    check(
        "[tls]\nclient_certificate = \"us.pem\"\n",
        expect![[r#"
        line 2, column 22: it goes with a `client_key`
         2 | client_certificate = "us.pem"
           |                      ^^^^^^^^"#]],
    );
    check(
        "[tls]\nkey = \"us.key\"\n",
        expect![[r#"
        line 2, column 7: it goes with a `certificate`
         2 | key = "us.key"
           |       ^^^^^^^^"#]],
    );
    check(
        "[tls]\nclient_ca = \"ca.pem\"\nclient_certificate = \"a\"\nclient_key = \"b\"\n",
        expect![[r#"
            line 1, column 1: `[tls]` has no `certificate`
             1 | [tls]
               | ^^^^^"#]],
    );
}

/// What a variable is for makes it secret, whatever it is called.
#[test]
fn variables_with_secrets_are_known() {
    let text = "[[peers]]\ndelegate_id = \"ldp:delegate:a\"\nhmac_secret_env = \"FRIEND\"\n\
                [[callers]]\ntoken_env = \"CALLER\"\n\
                [[delegates]]\nurl = \"https://a.example\"\ntoken_env = \"ASKED\"\n\
                [[skills]]\nname = \"a\"\nrun = [\"cat\"]\npass_env = [\"DATABASE\", \"PATH\"]\n";
    let mut names = NodeConfig::parse(text).unwrap().secret_variables();
    names.sort_unstable();
    assert_eq!(names, ["ASKED", "CALLER", "DATABASE", "FRIEND"]);
}

#[test]
fn a_secret_that_is_missing_is_named_and_a_token_is_proof() {
    let text = "[[skills]]\nname = \"echo\"\nbuiltin = \"echo\"\n\
                [[callers]]\ntoken_env = \"HARBOR_TOKEN\"\n";
    let config = NodeConfig::parse(text).unwrap();
    let missing = config.settings(&kit(), &surroundings(), &|_| None);
    assert!(matches!(missing, Err(NodeError::NoVariable(name)) if name == "HARBOR_TOKEN"));
    let settings = config
        .settings(&kit(), &surroundings(), &|name| {
            (name == "HARBOR_TOKEN").then(|| "open sesame".to_owned())
        })
        .unwrap();
    assert!(settings.card.delegate_id.is_well_formed());
    assert!(settings.card.capability("echo").is_some());
    let agent = "[[skills]]\nname = \"a\"\nagent = { model = \"m\" }\n";
    let agent = NodeConfig::parse(agent).unwrap().settings(&kit(), &surroundings(), &|_| None);
    assert!(matches!(agent, Err(NodeError::Missing { .. })));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_comes_from_elsewhere_with_nothing_is_refused() {
    let home = std::sync::Arc::new(tempfile::tempdir().unwrap());
    let world = World::at(home, settings(&[echo()])).await;
    let body = json!({ "type": "SESSION_PROPOSE", "config": {} });
    let message = crate::world::message("ldp:delegate:far", "s-9", body);
    let remote = Channel { origin: Origin::Remote, credential: None };
    let answer = world.node.ask(&message.to_string(), remote).await;
    let answer = crate::world::body(&answer);
    assert_eq!(answer["type"], "SESSION_REJECT");
    assert_eq!(crate::world::code(&answer), "SIGNATURE_REQUIRED");
}
