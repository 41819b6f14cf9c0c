//! Who checks a result, and what is said of it then.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use sabir_ldp::VerificationStatus;
use sabir_net::{CheckOutcome, DelegationReport, Judge, Judgement, Question, Verify};
use sabir_store::peers::Probed;
use serde_json::json;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::peer::{Manner, Peer, named};
use crate::world::{World, address, base, request, skill};

async fn checked(world: &World, url: &str, verify: Verify) -> DelegationReport {
    let mut asked = request("echo", &[url]);
    asked.verify = Some(verify);
    world.run(&asked).await.0
}

fn assert_verified(report: &DelegationReport, status: VerificationStatus, by: &str) {
    assert!(report.is_done(), "{:?}", report.error);
    let provenance = report.provenance.as_ref().unwrap();
    assert_eq!(provenance.verification, status);
    assert_eq!(provenance.verified_by.as_deref(), Some(by));
    assert_eq!(provenance.to_value()["verified"], true);
    assert!(report.checks[0].passed);
}

fn assert_refused(report: &DelegationReport, words: &str) {
    assert_unmet(report, ("VERIFICATION_FAILED", CheckOutcome::Failed), words);
}

/// It could not be checked, which is not the same as refused.
fn assert_unchecked(report: &DelegationReport, words: &str) {
    assert_unmet(report, ("NOT_VERIFIED", CheckOutcome::NotMade), words);
}

fn assert_unmet(report: &DelegationReport, (code, outcome): (&str, CheckOutcome), words: &str) {
    let error = report.error.as_ref().unwrap();
    assert_eq!((error.code.as_str(), report.checks[0].outcome), (code, outcome));
    assert!(error.message.contains(words), "{}", error.message);
    let provenance = report.provenance.as_ref().unwrap();
    assert_eq!(provenance.to_value()["verified"], false);
    assert_eq!(provenance.verified_by, None);
    // What was delivered is there to look at.
    assert!(report.output.is_some());
    assert!(!report.checks[0].passed);
}

/// LD-C26, LD-C27
#[tokio::test]
async fn a_rule_is_a_schema() {
    let world = World::new();
    let peer = Peer::start(Manner::default()).await;
    let rule = |kind: &str| Verify::Rule {
        name: "shape.json".to_owned(),
        schema: json!({ "type": "object", "properties": { "said": { "type": kind } } }),
    };
    let report = checked(&world, &peer.url, rule("string")).await;
    assert_verified(&report, VerificationStatus::ToolVerified, "rule:shape.json");
    let report = checked(&world, &peer.url, rule("number")).await;
    assert_refused(&report, "at /said");
    // A check that failed counts against who delivered, one that passed for it.
    let tally = &world.peers.tallies().unwrap()[0].tally;
    assert!(tally.tries > 1.9 && tally.successes < 1.1, "{tally:?}");
    assert!(tally.checked > 0.9);
}

/// LD-C27
#[tokio::test]
async fn a_tool_is_a_command() {
    let world = World::new();
    let peer = Peer::start(Manner::default()).await;
    let tool =
        |script: &str| Verify::Tool { command: ["sh", "-c", script].map(str::to_owned).to_vec() };
    let report = checked(&world, &peer.url, tool("grep -q '\"said\":\"say hi\"'")).await;
    assert_verified(&report, VerificationStatus::ToolVerified, "tool:sh");
    let report = checked(&world, &peer.url, tool("echo too short >&2; exit 3")).await;
    assert_refused(&report, "too short");
    let missing = Verify::Tool { command: vec!["/nonexistent/tool".to_owned()] };
    assert_unchecked(&checked(&world, &peer.url, missing).await, "cannot be run");
}

/// LD-C27
#[tokio::test]
async fn a_peer_is_another_delegate() {
    let world = World::new();
    let peer = Peer::start(Manner::default()).await;
    let second = Peer::start(named("second-opinion")).await;
    let ask = |url: &str| Verify::Peer { to: Some(address(url)), skill: skill("verify") };
    let report = checked(&world, &peer.url, ask(&second.url)).await;
    assert_verified(&report, VerificationStatus::PeerVerified, "ldp:delegate:second-opinion");
    assert_eq!(second.input(0)["task_type"], "verify");
    assert_eq!(second.input(0)["output"]["said"], "say hi");
    // Nobody vouches for itself.
    let own = [peer.url.clone(), peer.url.replace("127.0.0.1", "localhost")];
    for own in own {
        let report = checked(&world, &peer.url, ask(&own)).await;
        assert_unchecked(&report, "no second delegate");
    }
    // The same key under another name: keys of test peers hang on the length of their names.
    let alias = Peer::start(named("quayed")).await;
    assert_eq!(alias.key_hex(), peer.key_hex());
    let report = checked(&world, &peer.url, ask(&alias.url)).await;
    assert_unchecked(&report, "no second delegate");
    assert_eq!(alias.runs(), 0);
    // A skill whose answer is no verdict.
    let verify = Verify::Peer { to: Some(address(&second.url)), skill: skill("count") };
    assert_unchecked(&checked(&world, &peer.url, verify).await, "no verdict");
}

/// LD-C27: who is known and answers as somebody else does not vouch for anything.
#[tokio::test]
async fn a_peer_is_who_it_is_known_as() {
    let world = World::new();
    let peer = Peer::start(Manner::default()).await;
    let (known, impostor) =
        (Peer::start(named("known-one")).await, Peer::start(named("impostors")).await);
    let card = world.client().discover(&base(&known.url)).await.unwrap().card;
    let text = serde_json::to_string(&card).unwrap();
    let probed = Probed::Card { delegate_id: &card.delegate_id, card: &text };
    for (url, expected) in [(&impostor.url, "was expected there"), (&known.url, "")] {
        world.peers.add_delegate(url, 1).unwrap();
        world.peers.record_probe(url, probed, 2).unwrap();
        let verify = Verify::Peer { to: None, skill: skill("verify") };
        let report = checked(&world, &peer.url, verify).await;
        match expected {
            "" => {
                let by = "ldp:delegate:known-one";
                assert_verified(&report, VerificationStatus::PeerVerified, by);
                let pins: Vec<&str> =
                    report.pinned_keys.iter().map(|it| it.delegate.as_str()).collect();
                assert!(pins.contains(&by), "{pins:?}");
            }
            words => assert_unchecked(&report, words),
        }
        world.peers.remove_delegate(url).unwrap();
    }
    assert_eq!(impostor.runs(), 0);
}

/// LD-C39
#[tokio::test]
async fn who_could_not_be_checked_is_not_blamed() {
    let world = World::new();
    let peer = Peer::start(Manner::default()).await;
    let silent = Verify::Peer { to: Some(address("http://127.0.0.1:1")), skill: skill("verify") };
    let unclear = Peer::start(named("second-opinion")).await;
    let unclear = Verify::Peer { to: Some(address(&unclear.url)), skill: skill("count") };
    let missing = Verify::Tool { command: vec!["/nonexistent/tool".to_owned()] };
    let killed = Verify::Tool { command: ["sh", "-c", "kill -9 $$"].map(str::to_owned).to_vec() };
    for verify in [silent, unclear, missing, killed] {
        assert_unchecked(&checked(&world, &peer.url, verify).await, "");
    }
    let tally = &world.peers.tallies().unwrap()[0].tally;
    assert!(tally.successes > 3.9 && tally.checked < 0.1, "{tally:?}");
}

/// LD-C27: what a tool leaves running holds nobody up.
#[tokio::test]
async fn a_tool_is_done_when_it_has_ended() {
    let world = World::new();
    let peer = Peer::start(Manner::default()).await;
    for script in ["sleep 200 & exit 0", "sleep 200 & echo said >&2; exit 1"] {
        let command = ["sh", "-c", script].map(str::to_owned).to_vec();
        let check = checked(&world, &peer.url, Verify::Tool { command });
        let report = tokio::time::timeout(Duration::from_secs(60), check).await.unwrap();
        match script.contains("exit 0") {
            true => assert_verified(&report, VerificationStatus::ToolVerified, "tool:sh"),
            false => assert_refused(&report, "said"),
        }
    }
}

/// LD-C27: a tool that is cut off leaves nothing behind, in no session of its own either.
#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "the system knows which processes there are")]
async fn a_tool_that_is_cut_off_takes_its_children_along() {
    let world = World::new();
    let peer = Peer::start(Manner::default()).await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    let script = format!("setsid sleep 600 & echo $! > '{}'; wait", file.display());
    let command = vec!["sh".to_owned(), "-c".to_owned(), script];
    let mut request = request("echo", &[&peer.url]);
    request.verify = Some(Verify::Tool { command });
    let stop = CancellationToken::new();
    let (events, _told) = mpsc::channel(100);
    let delegation = world.delegation();
    let cut_off = async {
        loop {
            let text = std::fs::read_to_string(&file).unwrap_or_default();
            if let Some(pid) = text.strip_suffix('\n') {
                stop.cancel();
                return pid.to_owned();
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let (report, pid) = tokio::join!(delegation.run(&request, &events, &stop), cut_off);
    assert_unchecked(&report.unwrap(), "cancelled");
    let is_gone = || match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => stat.contains(") Z "),
        Err(_) => true,
    };
    let gone = async {
        while !is_gone() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), gone).await.unwrap();
}

struct Person(Judgement);

impl Judge for Person {
    fn name(&self) -> String {
        "ada".to_owned()
    }

    fn judge<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Judgement> {
        assert_eq!(question.task, "say hi");
        assert_eq!(question.output["said"], "say hi");
        Box::pin(std::future::ready(self.0.clone()))
    }
}

/// LD-C27
#[tokio::test]
async fn a_person_is_asked() {
    let world = World::new();
    let peer = Peer::start(Manner::default()).await;
    let ask = |said: Judgement| Verify::Human(Arc::new(Person(said)));
    let words = || Some("I looked".to_owned());
    let report = checked(&world, &peer.url, ask(Judgement::Right(words()))).await;
    assert_verified(&report, VerificationStatus::HumanVerified, "human:ada");
    let report = checked(&world, &peer.url, ask(Judgement::Wrong(words()))).await;
    assert_refused(&report, "I looked");
}

/// LD-C41: the result is there, nobody has said that it is wrong, and who made it is not blamed.
#[tokio::test]
async fn a_person_who_does_not_answer_has_not_refused() {
    let world = World::new();
    let peer = Peer::start(Manner::default()).await;
    let silent = Person(Judgement::Unanswered("nobody was there".to_owned()));
    let report = checked(&world, &peer.url, Verify::Human(Arc::new(silent))).await;
    assert_unchecked(&report, "human:ada: nobody was there");
    assert_eq!(report.output.as_ref().unwrap()["said"], "say hi");
    let value = serde_json::to_value(&report).unwrap();
    assert_eq!(value["checks"][0]["outcome"], "not_made");
    assert_eq!(value["provenance"]["verified"], false);
    let tally = &world.peers.tallies().unwrap()[0].tally;
    assert!(tally.successes > 0.9 && tally.checked < 0.1, "{tally:?}");
}
