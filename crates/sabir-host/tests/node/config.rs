//! Configurations: the example is right, and what is wrong is pointed at.

use expect_test::{Expect, expect};
use sabir_host::process::Runner;
use sabir_host::sandbox::{LayerChoice, OwnState};
use sabir_host::{
    CrewConfig, Inbox, NodeConfig, NodeError, ServeConfig, SkillKind, SkillKit, Surroundings,
    check_config, config_keys,
};
use sabir_ldp::{Channel, Origin};
use sabir_policy::PolicyDoc;
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
        inbox: Inbox::default(),
        gate: None,
    }
}

fn surroundings() -> Surroundings<'static> {
    Surroundings { key: key().public_key(), endpoint: "http://127.0.0.1:7420", domains: &[] }
}

/// The example with every line that shows what else can be said.
fn whole_example(text: &str) -> String {
    let is_code = |line: &str| line.starts_with('[') || line.contains(" = ");
    let line = |line: &str| match line.strip_prefix("# ") {
        Some(code) if is_code(code) => format!("{code}\n"),
        _ => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

const EXAMPLE: &str = include_str!("../../../../examples/sabir.toml");

#[test]
fn the_example_is_right_also_where_it_is_a_comment() {
    let config = NodeConfig::parse(EXAMPLE).unwrap();
    assert_eq!(config.skills.len(), 2);
    assert!(
        matches!(&config.skills[1].kind, SkillKind::Program(program) if program.argv == ["wc", "-w"])
    );
    assert_eq!(config.serve.listen, ["127.0.0.1:7420".parse().unwrap()]);
    let usual = ServeConfig { listen: config.serve.listen.clone(), ..ServeConfig::default() };
    assert_eq!(config.serve, usual, "what is not commented out says what holds anyway");
    let all = whole_example(EXAMPLE);
    for text in [EXAMPLE, &all] {
        let faults: Vec<String> = check_config(text).iter().map(ToString::to_string).collect();
        assert_eq!(faults, [""; 0]);
    }
    let config = NodeConfig::parse(&all).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((config.skills.len(), config.peers.len(), config.callers.len()), (4, 3, 3));
    assert!(config.tls.is_some() && config.identity.is_some());
    assert_eq!(config.delegates.len(), 1);
    let traced = &config.telemetry.traced;
    assert_eq!(traced.endpoint.as_deref(), Some("http://127.0.0.1:4318"));
    let secret = config.secret_variables();
    for name in ["HARBOR_METRICS_TOKEN", "HARBOR_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS"] {
        assert!(secret.iter().any(|it| it == name), "{name} is inherited by programs");
    }
    let crew = config.crew;
    assert_eq!(crew.researcher.unwrap().collections, ["harbour"]);
    assert_eq!(crew.coder.unwrap().model.as_deref(), Some("qwen3-coder"));
}

/// Whether a key stands in a section; `*` is any name, and of several tables one is enough.
fn stands(value: &toml::Value, section: &[&str], key: &str) -> bool {
    match (value, section) {
        (toml::Value::Array(entries), _) => entries.iter().any(|it| stands(it, section, key)),
        (toml::Value::Table(table), []) => table.contains_key(key),
        (toml::Value::Table(table), ["*", rest @ ..]) => {
            table.values().any(|it| stands(it, rest, key))
        }
        (toml::Value::Table(table), [name, rest @ ..]) => {
            table.get(*name).is_some_and(|it| stands(it, rest, key))
        }
        _ => false,
    }
}

/// What the reader of a policy says can stand in one of its sections.
fn policy_keys(section: &str) -> Vec<String> {
    let error = PolicyDoc::parse_section(&format!("{section}\nzzz = 1\n")).unwrap_err();
    let (_, expected) = error.message.split_once("expected").unwrap();
    let keys: Vec<String> = expected.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    assert!(!keys.is_empty(), "{}", error.message);
    keys
}

/// A key that somebody reads and the example does not show is one that nobody finds.
#[test]
fn the_example_has_every_key() {
    let whole: toml::Value = whole_example(EXAMPLE).parse::<toml::Table>().unwrap().into();
    let mut count = 0;
    let mut check = |section: &str, key: &str| {
        let path: Vec<&str> = section.split('.').filter(|part| !part.is_empty()).collect();
        assert!(stands(&whole, &path, key), "the example has no `{key}` in `[{section}]`");
        count += 1;
    };
    for (section, keys) in config_keys() {
        keys.into_iter().for_each(|key| check(section, key));
    }
    for (text, section) in [
        ("[policy]", "policy"),
        ("[policy.limits]", "policy.limits"),
        ("[[policy.deny]]", "policy.deny"),
        ("[[policy.ask]]", "policy.ask"),
        ("[[policy.loosen]]", "policy.loosen"),
    ] {
        policy_keys(text).iter().for_each(|key| check(section, key));
    }
    assert!(count > 100, "{count}");
    // And the list is what the readers go by: a key beside it is refused in every section.
    for (section, _) in config_keys() {
        let (name, rest) = section.split_once('.').unwrap_or((section, ""));
        let text = match (name, rest) {
            ("", _) => "zzz = 1\n".to_owned(),
            ("skills", "agent") => "[[skills]]\nname = \"a\"\nagent = { zzz = 1 }\n".to_owned(),
            ("skills" | "peers" | "callers" | "delegates", _) => {
                let required = "name = \"a\"\ndelegate_id = \"ldp:delegate:a\"\n";
                format!("[[{name}]]\n{required}zzz = 1\n")
            }
            (_, "*") => format!("[{name}.x]\nzzz = 1\n"),
            _ => format!("[{section}]\nzzz = 1\n"),
        };
        assert!(!check_config(&text).is_empty(), "{text}");
    }
}

#[test]
fn what_is_wrong_with_telemetry_is_pointed_at() {
    for (line, words) in [
        ("log = \"loud\"", "off, error, warn, info, debug, trace"),
        ("log = \"doors=info\"", "node, door, task"),
        ("log_format = \"xml\"", "`text` or `json`"),
        ("otlp_endpoint = \"ann:hunter2@x\"", "otlp_endpoint"),
        ("otlp_endpont = \"http://127.0.0.1\"", "otlp_endpoint"),
    ] {
        let error = NodeConfig::parse(&format!("[telemetry]\n{line}\n")).unwrap_err();
        assert_eq!(error.line, 2, "{error}");
        let said = error.to_string();
        // An address may hold a password, and is not shown.
        assert!(said.contains(words) && !said.contains("hunter2"), "{said}");
    }
}

#[test]
fn the_crew_is_there_unless_it_is_switched_off() {
    let crew = |text: &str| NodeConfig::parse(text).unwrap().crew;
    assert_eq!(crew(""), CrewConfig::default());
    assert_eq!(crew("[crew]\nresearcher = true\ncoder = true\n"), CrewConfig::default());
    let off = "[crew]\nresearcher = false\ncoder = false\nlinguist = false\n";
    assert_eq!(crew(off), CrewConfig::none());
    let coder = crew("[crew.coder]\nmodel = \"m\"\ncwd = \"work\"\n").coder.unwrap();
    assert_eq!((coder.model.as_deref(), coder.cwd), (Some("m"), Some("work".into())));
    check(
        "[crew]\nlingust = false\n",
        expect![[r#"
            line 2, column 1: there is no key `lingust` in `[crew]`: write `linguist`
             2 | lingust = false
               | ^^^^^^^"#]],
    );
    check(
        "[crew]\ncoder = \"no\"\n",
        expect![[r#"
            line 2, column 9: this does not fit: write `coder = true`
             2 | coder = "no"
               |         ^^^^"#]],
    );
    check(
        "[crew.coder]\nmodle = \"m\"\n",
        expect![[r#"
            line 2, column 1: there is no key `modle` in `[crew.coder]`: write `model`
             2 | modle = …
               | ^^^^^"#]],
    );
}

#[test]
fn what_is_wrong_is_pointed_at() {
    check(
        "[node]\ndelegateid = \"ldp:delegate:a\"\n",
        expect![[r#"
            line 2, column 1: there is no key `delegateid` in `[node]`: write `delegate_id`
             2 | delegateid = …
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
             3 | run = …
               |       ^"#]],
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
             3 | hmac_secret_env = …
               |                   ^"#]],
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
         2 | url = …
           |       ^"#]],
    );
    check(
        "[[delegates]]\nurl = \"https://a.example\"\n",
        expect![[r#"
        line 2, column 7: nothing is said of it: give it token_env or ca
         2 | url = …
           |       ^"#]],
    );
    check(
        "[[delegates]]\nurl = \"https://a.example\"\ntoken_env = \"s3cr3t value\"\n",
        expect![[r#"
            line 3, column 13: write the name of a variable, not its value
             3 | token_env = …
               |             ^"#]],
    );
    check(
        "[[delegates]]\nurl = \"ldp://a\"\nca = \"a\"\n[[delegates]]\nurl = \"ldp://a\"\nca = \"a\"\n",
        expect![[r#"
            line 5, column 7: this delegate stands twice
             5 | url = …
               |       ^"#]],
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
         2 | key = …
           |       ^"#]],
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
    // Those of a collector are read by a name that is not ours to choose.
    let collector = ["OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"];
    assert_eq!(names, [&["ASKED", "CALLER", "DATABASE", "FRIEND"][..], &collector].concat());
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
            (name == "HARBOR_TOKEN").then(|| "open-sesame".to_owned())
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
