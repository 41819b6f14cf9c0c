//! Pages in a real browser lead no further than the call that opened them, and what they show is
//! private only where somebody can have signed in.

use sabir_policy::AuditRow;
use sabir_testkit::fake_model::{FakeModel, Reply};
use serde_json::{Value, json};

use super::study::{Study, TIDES, asked, fill, obeys};

/// A site that is called `127.0.0.1` and leads to itself as `localhost`; and a collection.
fn leading(policy: &str) -> Study {
    let study = Study::with_site(|request| {
        let port = request.header("host").unwrap().rsplit(':').next().unwrap().to_owned();
        let there = format!("http://localhost:{port}/there");
        Some(match request.path.as_str() {
            "/go" => Reply::body(302, "text/html", "").header("location", &there),
            "/leaves" => Reply::body(
                200,
                "text/html",
                format!("<title>Here</title><p>Words.</p><script>location = '{there}'</script>"),
            ),
            "/push" => Reply::body(
                200,
                "text/html",
                "<title>Push</title><button onclick=\"this.textContent = 'pushed'\">push</button>",
            ),
            _ => Reply::body(200, "text/html", TIDES),
        })
    });
    std::fs::create_dir_all(&study.place.home).unwrap();
    std::fs::write(study.place.home.join("policy.toml"), policy).unwrap();
    assert_eq!(study.place.run(&["collection", "new", "c"]).code, 0);
    study
}

fn loosen(tool: &str, host: &str, when: &str) -> String {
    format!("[[loosen]]\ntool = \"{tool}\"\nhost = \"{host}\"\nreason = \"x\"\nwhen = [{when}]\n")
}

/// LC-G63: the user typed the address, or a loosening names its host; neither holds for where it leads.
#[test]
fn a_page_in_the_browser_is_held_where_a_fetch_would_be() {
    let navigate = |host: &str| loosen("browser.navigate", host, "\"tainted_egress\"");
    let asked_for = "[[ask]]\nhost = \"localhost\"\n".to_owned();
    let one = navigate("127.0.0.1");
    let both = navigate("127.0.0.1") + &navigate("localhost");
    for (policy, is_tainted, is_held) in
        [(asked_for, false, true), (one, true, true), (both, true, false)]
    {
        // The one is led away before it has loaded, the other afterwards.
        for (path, held) in [("/go", "OPEN_TAB_FAILED"), ("/leaves", "ok")] {
            let study = leading(&policy);
            if is_tainted {
                study.capture(&["/tides"]);
            }
            let also = format!("localhost:{}", study.site.address().port());
            let url = study.url(path);
            let model = obeys(json!([
                { "name": "browser.navigate", "arguments": { "url": url } },
            ]));
            let more = ["--tools", "browser", "--allow-egress", &also];
            let outcome = study.ask_model(&model, &more, &format!("What does {url} say?"));
            let answer: Value = serde_json::from_str(&outcome.stdout).unwrap();
            assert_eq!(answer["calls"][0]["outcome"], "allow", "{policy}: {answer}");
            let result = if is_held { held } else { "ok" };
            assert_eq!(answer["calls"][0]["result"], result, "{policy}: {answer}");
            assert_eq!(study.visits("/there") == 0, is_held, "{policy}: {answer}");
            let told = asked(&model.requests()[1]).user;
            assert!(!is_held || told.contains("localhost"), "{policy}: {told}");
            let rows = study.library().audit(0, 100).unwrap();
            let rows = rows.iter().map(|row| serde_json::from_str::<AuditRow>(&row.body).unwrap());
            let held: Vec<_> = rows.filter(|row| row.reason_code == "led_elsewhere").collect();
            assert_eq!(held.len(), usize::from(is_held), "{policy}: {held:?}");
            assert!(held.iter().all(|row| row.reason.ends_with(": localhost")), "{held:?}");
        }
    }
}

/// LC-G62: what a browser without a window shows is not private, so that a loosening of what comes
/// after a look holds.
#[test]
fn a_look_does_not_undo_a_loosening() {
    let when = "\"cannot_be_undone\", \"tainted_egress\", \"tainted_effect\"";
    let study = leading(&loosen("browser.click", "127.0.0.1", when));
    let url = study.url("/push");
    let go = url.clone();
    let model = FakeModel::answering(move |request, number| {
        let calls = match number {
            0 => json!([
                { "name": "browser.navigate", "arguments": { "url": go } },
                { "name": "browser.observe_dom", "arguments": {} },
            ]),
            1 => {
                let user = asked(request).user;
                let before = &user[..user.rfind("push\"").unwrap_or(user.len())];
                let handle = before.rsplit("handle_id").next().unwrap_or_default();
                let handle = handle.trim_start_matches(|c: char| c != 'h');
                let handle: String =
                    handle.chars().take_while(char::is_ascii_alphanumeric).collect();
                json!([{ "name": "browser.click", "arguments": { "handleId": handle } }])
            }
            _ => json!([]),
        };
        Some(fill(request, "Done.", &json!([]), &calls))
    });
    let question = format!("Push the button of {url} !");
    let outcome = study.ask_model(&model, &["--tools", "browser"], &question);
    let answer: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let click = &answer["calls"][2];
    assert_eq!(
        (&click["outcome"], &click["reason_code"]),
        (&json!("allow"), &json!("waived_by_policy")),
        "{answer}"
    );
    assert_eq!(click["result"], "ok", "{answer}");
}
