//! Hosts that the policy file denies are reached by nothing: not by name, not by a redirect, not by
//! a person's own capture.

use sabir_testkit::fake_model::Reply;
use serde_json::{Value, json};

use super::study::{Study, TIDES, obeys};

/// A site that is called `127.0.0.1` and, by a redirect, `localhost`; and a collection.
fn led_away(policy: &str) -> Study {
    let study = Study::with_site(|request| {
        let port = request.header("host").unwrap().rsplit(':').next().unwrap().to_owned();
        Some(match request.path.as_str() {
            "/go" => Reply::body(302, "text/html", "")
                .header("location", &format!("http://localhost:{port}/there")),
            _ => Reply::body(200, "text/html", TIDES),
        })
    });
    std::fs::create_dir_all(&study.place.home).unwrap();
    std::fs::write(study.place.home.join("policy.toml"), policy).unwrap();
    assert_eq!(study.place.run(&["collection", "new", "c"]).code, 0);
    study
}

impl Study {
    fn also(&self) -> [String; 2] {
        let port = self.site.address().port();
        ["--allow-egress".to_owned(), format!("localhost:{port}")]
    }
}

/// LC-G60
#[test]
fn a_redirect_to_a_denied_host_is_not_followed() {
    let study = led_away("[[deny]]\nhost = \"localhost\"\nreason = \"mine\"\n");
    let [flag, also] = study.also();
    let (go, there) = (study.url("/go"), format!("http://{also}/there"));
    for url in [&go, &there] {
        for args in [&["capture", "-c", "c", "--json"][..], &["capture", "--print"]] {
            let outcome = study.run(&[args, &[url.as_str(), &flag, &also]].concat());
            assert_ne!(outcome.code, 0, "{url}");
            let said = outcome.stdout + &outcome.stderr;
            assert!(said.contains("your policy file denies this host"), "{said}");
        }
    }
    assert_eq!((study.visits("/there"), study.visits("/go")), (0, 2));
}

/// LC-G61: the user names the first host, and a loosening lets the call through there.
#[test]
fn a_loosening_does_not_reach_where_its_host_leads() {
    let loosen = |host: &str| {
        format!(
            "[[loosen]]\ntool = \"source.capture\"\nhost = \"{host}\"\nreason = \"x\"\n\
             when = [\"tainted_egress\", \"tainted_effect\", \"invented_url\", \"unlinked_url\"]\n"
        )
    };
    let one = loosen("127.0.0.1");
    let both = loosen("127.0.0.1") + &loosen("localhost");
    for (policy, expected) in [(one, 0), (both, 1)] {
        let study = led_away(&policy);
        study.capture(&["/tides"]);
        let [flag, also] = study.also();
        let collection = study.library().find_collection("c").unwrap().id;
        let call = json!({ "name": "source.capture",
            "arguments": { "collectionId": collection, "url": study.url("/go") } });
        let outcome =
            study.ask_model(&obeys(json!([call])), &[&flag, &also], "When are spring tides?");
        let answer: Value = serde_json::from_str(&outcome.stdout).unwrap();
        assert_eq!(answer["calls"][0]["outcome"], "allow", "{answer}");
        assert_eq!((study.visits("/go"), study.visits("/there")), (1, expected), "{answer}");
    }
}
