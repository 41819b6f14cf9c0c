//! Policy files: what they say, what they cannot say, and where they are wrong.

use expect_test::{Expect, expect};
use proptest::prelude::*;
use sabir_policy::{Outcome, PolicyDoc, RuleId, Ruling, Stance, Waivable};
use serde_json::json;

use super::judging::Turn;

fn read(text: &str) -> PolicyDoc {
    PolicyDoc::parse(text).unwrap()
}

const EXAMPLE: &str = r#"
[limits]
calls_per_turn = 10

[[deny]]
tool = "browser.*"

[[deny]]
host = "*.evil.example"
reason = "known for it"

[[ask]]
tool = "shell"

[[ask]]
tool = "artifact.save"
reason = "we like to see it"

[[loosen]]
tool = "source.capture"
when = ["tainted_egress", "tainted_effect", "invented_url"]
host = "docs.example"
reason = "we collect documentation all day"
"#;

/// LC-G31: the section of a configuration file says the same, and two texts hold together.
#[test]
fn a_section_is_a_file_and_two_hold_together() {
    let section: String = EXAMPLE
        .lines()
        .map(|line| match line.trim_start_matches('[') {
            name if name.len() + 1 == line.len() => format!("[policy.{name}\n"),
            name if name.len() + 2 == line.len() => format!("[[policy.{name}\n"),
            line => format!("{line}\n"),
        })
        .collect();
    let whole = format!("[node]\nname = \"x\"\n{section}[mcp.a]\nurl = 3\n");
    assert_eq!(PolicyDoc::parse_section(&whole), Ok(read(EXAMPLE)));
    assert_eq!(PolicyDoc::parse_section("[node]\nname = 1\n"), Ok(PolicyDoc::default()));
    let wrong = PolicyDoc::parse_section("[node]\n[[policy.deny]]\ntool = \"shel\"\n").unwrap_err();
    assert_eq!((wrong.line, wrong.span), (3, 30..36));
    assert!(wrong.message.contains("\"shell\""), "{}", wrong.message);
    assert!(PolicyDoc::parse_section("[policy]\nlimit = 1\n").is_err());

    let both = read("[limits]\nasks_per_turn = 1\n[[deny]]\ntool = \"read\"\n").and(read(EXAMPLE));
    assert_eq!((both.limits().calls_per_turn, both.limits().asks_per_turn), (10, 1));
    assert_eq!(both.ruling("read", &[]).stance, Stance::Deny);
    assert_eq!(both.ruling("shell", &[]).stance, Stance::Ask);
    assert_eq!(read(EXAMPLE).and(PolicyDoc::default()), read(EXAMPLE));
}

/// LC-G31: what holds, in words.
#[test]
fn a_policy_is_described() {
    expect![[r#"
        a turn makes at most 10 calls and asks 8 times
        browser.* is refused
        everything at *.evil.example is refused (known for it)
        shell is asked for
        artifact.save is asked for (we like to see it)
        source.capture at docs.example is not asked for because of tainted_egress, tainted_effect, invented_url (we collect documentation all day)
        nothing of that counts for a call that sends something out once the model has read both what is private and what strangers wrote: your notes, files and artifacts, and pages in a browser with --visible, where you can sign in (private_data_exposed)"#]].assert_eq(&read(EXAMPLE).describe());
    expect![[r#"
        a turn makes at most 32 calls and asks 8 times
        nothing is added to the rules of the gate"#]]
    .assert_eq(&PolicyDoc::default().describe());
}

/// LC-G27, LC-G30: what is meant by a name.
#[test]
fn names_and_hosts_are_matched() {
    let doc = read(EXAMPLE);
    let stance = |tool, hosts: &[&str]| doc.ruling(tool, hosts).stance;
    assert_eq!(stance("browser.click", &[]), Stance::Deny);
    assert_eq!(stance("browserx.click", &[]), Stance::Silent);
    assert_eq!(stance("shell", &[]), Stance::Ask);
    assert_eq!(stance("source.capture", &["a.evil.example"]), Stance::Deny);
    assert_eq!(stance("source.capture", &["good.example", "a.b.evil.example"]), Stance::Deny);
    assert_eq!(stance("source.capture", &["evil.example"]), Stance::Silent);
    assert_eq!(stance("source.capture", &["notevil.example"]), Stance::Silent);
    assert_eq!(stance("source.capture", &["a.evil.example.org"]), Stance::Silent);
    let waived = |hosts: &[&str]| doc.ruling("source.capture", hosts).waived;
    assert!(waived(&["docs.example"]).contains(Waivable::InventedUrl));
    assert!(!waived(&["docs.example"]).contains(Waivable::OtherOrigin));
    for hosts in [&[][..], &["x.docs.example"], &["docs.example", "x.example"]] {
        assert_eq!(waived(hosts), Ruling::default().waived, "{hosts:?}");
    }
    let all = read("[[ask]]\ntool = \"*\"\n[[deny]]\ntool = \"mcp__files__*\"");
    assert_eq!(all.ruling("app.calculate", &[]).stance, Stance::Ask);
    assert_eq!(all.ruling("mcp__files__rm", &[]).stance, Stance::Deny);
    let idn = read("[[deny]]\nhost = \"MÜNCHEN.example.\"");
    assert_eq!(idn.ruling("search", &["xn--mnchen-3ya.example"]).stance, Stance::Deny);
}

/// LC-G29, LC-G30: a star stands alone or before a dot. Anywhere else it would match nothing, and
/// what was meant to be forbidden would not be.
#[test]
fn a_star_anywhere_else_in_a_host_is_an_error() {
    for section in ["deny", "ask"] {
        let every = read(&format!("[[{section}]]\nhost = \"*\""));
        assert_ne!(every.ruling("browser.click", &["any.example"]).stance, Stance::Silent);
        assert_eq!(every.ruling("app.calculate", &[]).stance, Stance::Silent);
        for host in [
            "a.*.com",
            "docs.*",
            "*.*.rs",
            "*rs",
            "**",
            "*.*",
            "*.",
            "%2a",
            "%2A.example",
            "a..b",
            ".example.com",
            "example.com..",
            "*..example.com",
            "127.0.0.*",
            "[*]",
            "＊.example",
            "example.com:443",
            "https://example.com",
            "example.com/",
            "",
            ".",
        ] {
            let text = format!("\n[[{section}]]\nhost = \"{host}\"");
            let error = PolicyDoc::parse(&text).expect_err(host);
            assert_eq!(error.line, 3, "{host}");
        }
    }
    expect![[r#"
        a turn makes at most 32 calls and asks 8 times
        everything at every host is refused"#]]
    .assert_eq(&read("[[deny]]\nhost = \"*\"").describe());
    let wide =
        "[[loosen]]\ntool = \"search\"\nreason = \"x\"\nwhen = [\"tainted_egress\"]\nhost = \"*\"";
    assert_eq!(
        PolicyDoc::parse(wide).unwrap_err().to_string(),
        "line 5: every host is too wide for a loosening"
    );
}

/// LC-G61: what is waived for one host is not waived for another.
#[test]
fn a_loosening_leads_nowhere_else() {
    let doc = read(EXAMPLE);
    let leads = |tool, from, to| doc.leads_on(tool, &[from], to);
    assert!(leads("source.capture", "docs.example", "docs.example"));
    assert!(!leads("source.capture", "docs.example", "other.example"));
    assert!(leads("source.capture", "plain.example", "docs.example"), "it is waived there as well");
    assert!(leads("source.refresh", "docs.example", "other.example"), "nothing is waived");
    assert!(!leads("source.refresh", "docs.example", "a.evil.example"));
    let wider = format!(
        "{EXAMPLE}[[loosen]]\ntool = \"source.capture\"\nreason = \"mirror\"\nhost = \"mirror.example\"\n\
         when = [\"tainted_egress\", \"tainted_effect\", \"invented_url\", \"other_origin\"]\n\
         [[loosen]]\ntool = \"source.capture\"\nreason = \"less\"\nhost = \"less.example\"\n\
         when = [\"tainted_egress\"]\n[[ask]]\nhost = \"ask.example\"\n"
    );
    let wider = read(&wider);
    assert!(wider.leads_on("source.capture", &["docs.example"], "mirror.example"));
    assert!(!wider.leads_on("source.capture", &["docs.example"], "less.example"));
    assert!(!wider.leads_on("search", &["other.example"], "ask.example"), "nobody was asked");
    assert!(wider.leads_on("search", &["ask.example"], "ask.example"), "somebody was");
    let several = |to| wider.leads_on("source.capture", &["docs.example", "less.example"], to);
    assert!(several("docs.example") && several("less.example"));
    assert!(several("other.example"), "nothing is waived for both, so somebody was asked");
    assert!(!several("ask.example"));
}

/// LC-G60: what is forbidden to everyone, and what to some tools.
#[test]
fn the_hosts_that_are_not_reached_are_told() {
    let doc = read(
        "[[deny]]\nhost = \"*.evil.example\"\n[[deny]]\ntool = \"*\"\nhost = \"127.0.0.1\"\n\
         [[deny]]\ntool = \"browser.*\"\nhost = \"slow.example\"\n[[deny]]\ntool = \"search\"\n\
         [[ask]]\nhost = \"ask.example\"",
    );
    let everyone = doc.denied_hosts(&[]);
    let browser = doc.denied_hosts(&["browser.navigate", "search"]);
    for host in ["a.evil.example", "127.0.0.1"] {
        assert!(everyone.contains(host) && browser.contains(host), "{host}");
    }
    assert!(browser.contains("slow.example") && !everyone.contains("slow.example"));
    for host in ["evil.example", "ask.example", "other.example"] {
        assert!(!everyone.contains(host) && !browser.contains(host), "{host}");
    }
}

/// LC-G28: a loosening holds for what it names, and nothing else.
#[test]
fn a_loosening_is_narrow() {
    let mut turn = Turn::tainted();
    turn.policy = read(EXAMPLE);
    let capture = |url: &str| json!({ "collectionId": "col_1", "url": url });
    let decide = |turn: &Turn, url: &str| turn.judge("source.capture", &capture(url)).decision;
    let loosened = decide(&turn, "https://docs.example/a");
    assert_eq!((loosened.outcome, loosened.rule), (Outcome::Allow, RuleId::CallWaived));
    assert_eq!(decide(&turn, "https://x.docs.example/a").outcome, Outcome::Ask);
    assert_eq!(decide(&turn, "https://a.evil.example/").rule, RuleId::PolicyDenied);
    turn.taint.private.insert("note_1".to_owned());
    assert_eq!(decide(&turn, "https://docs.example/a").rule, RuleId::CallExfiltration);
    turn.policy = read("[limits]\ncalls_per_turn = 0");
    assert_eq!(decide(&turn, "https://docs.example/a").rule, RuleId::CallTooMany);
    turn = Turn::clean();
    turn.policy = read("[[ask]]\ntool = \"app.calculate\"");
    let asked = turn.judge("app.calculate", &json!({ "expression": "1" })).decision;
    assert_eq!((asked.outcome, asked.rule), (Outcome::Ask, RuleId::PolicyAsks));
}

/// LC-G28, LC-G29: what is wrong is said with its line.
#[test]
fn what_is_not_understood_is_an_error() {
    let check = |text: &str, expect: Expect| {
        expect.assert_eq(&PolicyDoc::parse(text).unwrap_err().to_string());
    };
    check(
        "[[deny]]\ntool = \"search\"\nhosts = \"x\"",
        expect!["line 3: unknown field `hosts`, expected one of `tool`, `host`, `reason`"],
    );
    check(
        "[defaults]\n",
        expect![
            "line 1: unknown field `defaults`, expected one of `limits`, `deny`, `ask`, `loosen`"
        ],
    );
    check(
        "\n[[deny]]\ntool = \"browser.clik\"",
        expect![[r#"line 3: no tool is called "browser.clik"; did you mean "browser.click"?"#]],
    );
    check(
        "[[deny]]\nreason = \"x\"",
        expect![[r#"line 1: say which `tool` or which `host` is meant; all tools are "*""#]],
    );
    check(
        "[[deny]]\ntool = \"brow*\"",
        expect![[r#"line 2: "brow*" is no tool, no `name.*` and no `*`"#]],
    );
    check(
        "[[ask]]\nhost = \"a b\"",
        expect![[r#"line 2: "a b" is no host, no `*.host` and no `*`"#]],
    );
    check(
        "[[ask]]\nhost = \"*.127.0.0.1\"",
        expect![[r#"line 2: "*.127.0.0.1" is no host, no `*.host` and no `*`"#]],
    );
    check(
        "[limits]\ncalls_per_turn = 1000",
        expect!["line 2: the limit is 32; a policy file can only lower it"],
    );
    check(
        "[limits]\nasks_per_turn = -1",
        expect!["line 2: invalid value: integer `-1`, expected u32"],
    );
    check(
        "[[loosen]]\ntool = \"search\"\nwhen = [\"tainted_egress\"]",
        expect!["line 1: missing field `reason`"],
    );
    check(
        "[[loosen]]\ntool = \"search\"\nwhen = [\"tainted_egress\"]\nreason = \" \"",
        expect!["line 4: a loosening says why, in `reason`"],
    );
    check(
        "[[loosen]]\ntool = \"browser.*\"\nwhen = [\"tainted_egress\"]\nreason = \"x\"",
        expect!["line 2: a loosening names one tool, without a star"],
    );
    check(
        "[[loosen]]\ntool = \"shell\"\nwhen = [\"tainted_egress\"]\nreason = \"x\"",
        expect![[r#"line 2: "shell" cannot be loosened, only denied or asked for"#]],
    );
    check(
        "[[loosen]]\ntool = \"search\"\nwhen = []\nreason = \"x\"",
        expect!["line 3: name the questions that are not put"],
    );
    check(
        "[[loosen]]\ntool = \"search\"\nreason = \"x\"\nwhen = [\n  \"not_strict\"\n]",
        expect![[
            r#"line 5: "not_strict" is nothing that can be loosened; there are invented_url, unlinked_url, sensitive_text, other_origin, cannot_be_undone, tainted_egress, tainted_effect"#
        ]],
    );
    check(
        "[[loosen]]\ntool = \"search\"\nreason = \"x\"\nwhen = [\"invented_url\"]",
        expect!["line 4: to loosen invented_url a `host` must be named"],
    );
    check(
        "[[loosen]]\ntool = \"browser.navigate\"\nreason = \"x\"\nwhen = [\"invented_url\"]\nhost = \"*.com\"",
        expect!["line 5: *.com is too wide for a loosening"],
    );
    check("[[deny]\n", expect!["line 1: unclosed array table, expected `]`"]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// LC-G29: no text breaks the reader.
    #[test]
    fn any_text_is_read(text in "(\\[\\[?(deny|ask|loosen|limits)\\]?\\]|tool|host|when|=|\"|\\*|\n|.){0,40}") {
        if let Err(error) = PolicyDoc::parse(&text) {
            prop_assert!(error.line >= 1 && error.line <= text.lines().count() + 1);
            prop_assert!(!error.message.contains('\n'));
        }
    }

    /// LC-G27: rules that are added to a file never make a decision milder.
    #[test]
    fn a_longer_file_is_stricter(
        picks in prop::collection::vec(prop::sample::select(vec![
            "[[deny]]\ntool = \"search\"", "[[ask]]\ntool = \"*\"", "[[ask]]\nhost = \"typed.example\"",
            "[[deny]]\nhost = \"*.example\"", "[[deny]]\ntool = \"browser.*\"",
        ]), 0..4),
        (tool, arguments) in prop::sample::select(vec![
            ("search", json!({ "query": "x" })),
            ("browser.navigate", json!({ "url": "https://typed.example/a" })),
            ("app.calculate", json!({ "expression": "1" })),
        ]),
    ) {
        let rank = |outcome| match outcome {
            Outcome::Allow => 0,
            Outcome::Ask => 1,
            Outcome::Deny => 2,
        };
        let mut turn = Turn::clean();
        let mut before = rank(turn.judge(tool, &arguments).decision.outcome);
        for end in 1..=picks.len() {
            turn.policy = read(&picks[..end].join("\n"));
            let now = rank(turn.judge(tool, &arguments).decision.outcome);
            prop_assert!(now >= before);
            before = now;
        }
    }
}
