//! Delegates for the tests of the router: made in a line, or read from a script.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeMap;

use sabir_ldp::{
    CallBudget, ClaimType, DelegateId, IdentityCard, Listing, PayloadMode, Request, Router,
    RouterSettings, SkillName, Strategy, TaskOutcome, Timestamp, Verdict,
};
use serde_json::{Map, Value, json};

pub(crate) const HOUR: u64 = 3_600_000;
pub(crate) const DAY: u64 = 24 * HOUR;

/// Noon of some day.
pub(crate) const START: Timestamp = Timestamp::from_millis(1_794_830_400_000);

pub(crate) fn delegate(name: &str) -> DelegateId {
    DelegateId::new(format!("ldp:delegate:{name}")).unwrap()
}

pub(crate) fn skill(name: &str) -> SkillName {
    SkillName::new(name).unwrap()
}

pub(crate) fn request(name: &str, strategy: Strategy) -> Request {
    Request { strategy, ..Request::new(skill(name)) }
}

/// A card in the making. What is `None` is not on it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Offer {
    pub(crate) name: String,
    pub(crate) skills: Vec<String>,
    pub(crate) quality: Option<f64>,
    pub(crate) basis: Option<ClaimType>,
    pub(crate) latency_ms: Option<u64>,
    pub(crate) cost_usd: Option<f64>,
    pub(crate) cost_tier: Option<String>,
    pub(crate) latency_profile: Option<String>,
    pub(crate) cost_profile: Option<String>,
    pub(crate) place: Option<String>,
    pub(crate) context: Option<u64>,
    pub(crate) modes: Vec<String>,
    pub(crate) available: Option<String>,
}

impl Offer {
    pub(crate) fn new(name: &str, skill: &str) -> Self {
        let (name, skills) = (name.to_owned(), vec![skill.to_owned()]);
        Self { name, skills, ..Self::default() }
    }

    pub(crate) fn claiming(mut self, quality: f64, basis: ClaimType) -> Self {
        (self.quality, self.basis) = (Some(quality), Some(basis));
        self
    }

    pub(crate) fn card(&self) -> IdentityCard {
        let mut quality = Map::new();
        let mut put = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                quality.insert(key.to_owned(), value);
            }
        };
        put("quality_score", self.quality.map(Value::from));
        put("latency_p50_ms", self.latency_ms.map(Value::from));
        put("cost_per_call_usd", self.cost_usd.map(Value::from));
        put("claim_type", self.basis.map(|basis| json!(basis)));
        put("supports_streaming", Some(json!(false)));
        let capabilities: Vec<Value> = self
            .skills
            .iter()
            .map(|name| {
                let mut capability = json!({ "name": name, "quality": quality });
                if let Some(tier) = &self.cost_tier {
                    capability["cost_hint"] = json!(tier);
                }
                capability
            })
            .collect();
        let modes: Vec<&str> = self.modes.iter().map(String::as_str).chain(["text"]).collect();
        let mut card = json!({
            "delegate_id": delegate(&self.name), "name": self.name, "model_family": "m",
            "model_version": "1", "trust_domain": { "name": "whatever", "allow_cross_domain": false,
            "trusted_peers": [] }, "context_window": self.context.unwrap_or(8_000),
            "capabilities": capabilities, "supported_payload_modes": modes,
            "endpoint": "http://127.0.0.1:7420",
        });
        for (key, value) in [
            ("jurisdiction", &self.place),
            ("latency_profile", &self.latency_profile),
            ("cost_profile", &self.cost_profile),
        ] {
            if let Some(value) = value {
                card[key] = json!(value);
            }
        }
        if let Some(available) = &self.available {
            card["metadata"] = json!({ "available": available });
        }
        IdentityCard::check(&card.to_string()).into_card().unwrap()
    }
}

/// Believed in everything, bound to no domain.
pub(crate) fn believed() -> Listing {
    Listing { trust_domain: None, credence: ClaimType::ExternallyBenchmarked }
}

pub(crate) fn router(offers: &[Offer]) -> Router {
    let mut router = Router::new(RouterSettings::default());
    for offer in offers {
        router.put(&offer.card(), &believed()).unwrap();
    }
    router
}

pub(crate) fn outcome(name: &str, of: &str, at: Timestamp, verdict: Verdict) -> TaskOutcome {
    let (delegate, skill) = (delegate(name), skill(of));
    TaskOutcome { delegate, skill, at, verdict, latency_ms: None, cost_usd: None }
}

/// Who is named, the best first, without the common part of their ids.
pub(crate) fn names(router: &Router, request: &Request, now: Timestamp) -> Vec<String> {
    let ranked = router.choose(request, now).ranked;
    ranked.iter().map(|it| it.delegate.as_str()["ldp:delegate:".len()..].to_owned()).collect()
}

/// Runs a script and prints what was chosen. A line is a word, names, and `key=value`.
pub(crate) fn run(script: &str) -> String {
    let mut router = Router::new(RouterSettings::default());
    let mut now = START;
    let mut out = String::new();
    for line in script.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let mut words = line.split(' ').filter(|word| !word.is_empty());
        let verb = words.next().unwrap();
        let (with, names): (Vec<&str>, Vec<&str>) = words.partition(|word| word.contains('='));
        let mut with: BTreeMap<&str, &str> =
            with.into_iter().map(|word| word.split_once('=').unwrap()).collect();
        match verb {
            "card" => {
                let (offer, listing) = read_offer(&names, &mut with);
                router.put(&offer.card(), &listing).unwrap();
            }
            "remove" => router.remove(&delegate(names[0])),
            "started" => router.started(&delegate(names[0]), now),
            "outcome" => {
                let times = with.remove("times").map_or(1, |it| it.parse().unwrap());
                let outcome = read_outcome(&names, &mut with, now);
                for _ in 0..times {
                    router.record(&outcome);
                }
            }
            "later" => {
                let (number, unit) = names[0].split_at(names[0].len() - 1);
                let unit = match unit {
                    "s" => 1_000,
                    "h" => HOUR,
                    "d" => DAY,
                    other => panic!("no unit {other}"),
                };
                now = now.plus_millis(number.parse::<u64>().unwrap() * unit);
            }
            "choose" => {
                let request = read_request(&names, &mut with);
                let explained = router.choose(&request, now).explain();
                out.push_str(&format!("> {line}\n{explained}\n"));
            }
            other => panic!("no verb {other}"),
        }
        assert!(with.is_empty(), "{line}: what is {with:?}?");
    }
    out
}

fn read_offer(names: &[&str], with: &mut BTreeMap<&str, &str>) -> (Offer, Listing) {
    let mut text = |key| with.remove(key).map(str::to_owned);
    let offer = Offer {
        name: names[0].to_owned(),
        skills: names[1..].iter().map(|name| (*name).to_owned()).collect(),
        quality: text("quality").map(|it| it.parse().unwrap()),
        basis: text("basis").map(|it| basis(&it)),
        latency_ms: text("latency").map(|it| it.parse().unwrap()),
        cost_usd: text("cost").map(|it| it.parse().unwrap()),
        cost_tier: text("tier"),
        latency_profile: text("latency_profile"),
        cost_profile: text("cost_profile"),
        place: text("place"),
        context: text("context").map(|it| it.parse().unwrap()),
        modes: text("modes")
            .map(|it| it.split(',').map(str::to_owned).collect())
            .unwrap_or_default(),
        available: text("available"),
    };
    let credence = text("believed").map_or(ClaimType::ExternallyBenchmarked, |it| basis(&it));
    (offer, Listing { trust_domain: text("domain"), credence })
}

fn read_outcome(names: &[&str], with: &mut BTreeMap<&str, &str>, now: Timestamp) -> TaskOutcome {
    let verdict = match (names[2], with.remove("quality")) {
        ("finished", None) => Verdict::Finished,
        ("checked", Some(quality)) => Verdict::Checked { quality: quality.parse().unwrap() },
        ("failed", None) => Verdict::Failed,
        ("refused", None) => Verdict::Refused,
        other => panic!("no verdict {other:?}"),
    };
    TaskOutcome {
        latency_ms: with.remove("latency").map(|it| it.parse().unwrap()),
        cost_usd: with.remove("cost").map(|it| it.parse().unwrap()),
        ..outcome(names[0], names[1], now, verdict)
    }
}

fn read_request(names: &[&str], with: &mut BTreeMap<&str, &str>) -> Request {
    let mut text = |key| with.remove(key).map(str::to_owned);
    let list = |it: Option<String>| -> Vec<String> {
        it.map(|it| it.split(',').map(str::to_owned).collect()).unwrap_or_default()
    };
    Request {
        strategy: text("by").map_or(Strategy::Balanced, |it| Strategy::from_word(&it).unwrap()),
        domains: list(text("domains")),
        jurisdiction: text("place"),
        context_tokens: text("context").map(|it| it.parse().unwrap()),
        mode: text("mode").map(|it| PayloadMode::from_wire(&it).unwrap()),
        exclude: list(text("exclude")).iter().map(|it| delegate(it)).collect(),
        budget: CallBudget {
            cost_usd: text("cost").map(|it| it.parse().unwrap()),
            latency_ms: text("latency").map(|it| it.parse().unwrap()),
        },
        limit: text("limit").map_or(5, |it| it.parse().unwrap()),
        ..Request::new(skill(names[0]))
    }
}

fn basis(word: &str) -> ClaimType {
    serde_json::from_value(json!(word)).unwrap()
}
