//! Questions with answers, and streams of updates.

use crate::tokens::build::*;
use crate::tokens::scenario::{Act, Family, Scenario, Unit};

pub(super) fn queries() -> Vec<Scenario> {
    vec![
        scenario(
            Family::Query,
            "health of a service",
            [
                message(Act::Qry, "oncall", "payments-api", call("status", [ent("checkout-db")])),
                message(
                    Act::Rpl,
                    "payments-api",
                    "oncall",
                    rec([
                        ("status", sym("degraded")),
                        ("uptime", pct("99.2")),
                        ("latency", ms("840")),
                        ("replicas", num("3")),
                    ]),
                ),
            ],
        ),
        scenario(
            Family::Query,
            "where a shipment is",
            [
                message(
                    Act::Qry,
                    "customer-desk",
                    "tracking",
                    call_with("locate", [ent("parcel-88213")], [("include_history", NO)]),
                ),
                message(
                    Act::Rpl,
                    "tracking",
                    "customer-desk",
                    rec([
                        ("place", text("Rotterdam Maasvlakte")),
                        ("state", sym("in-customs")),
                        ("arrival", about(text("2025-06-14"))),
                        ("delay", hours("18")),
                    ])
                    .because(sym("missing-invoice")),
                ),
            ],
        ),
        scenario(
            Family::Query,
            "is a drug safe with another",
            [
                message(
                    Act::Qry,
                    "ward-7",
                    "pharmacist",
                    call_with(
                        "interaction",
                        [name("warfarin"), name("ibuprofen")],
                        [("patient", ent("patient-4410"))],
                    ),
                ),
                message(
                    Act::Rpl,
                    "pharmacist",
                    "ward-7",
                    tag(
                        "interaction",
                        [
                            ("severity", sym("major")),
                            ("effect", text("increased risk of gastrointestinal bleeding")),
                            ("advice", text("use paracetamol instead")),
                        ],
                    ),
                ),
                message(Act::Cfm, "ward-7", "pharmacist", call("switched", [name("paracetamol")])),
            ],
        ),
        scenario(
            Family::Query,
            "capacity of a power plant",
            [
                message(
                    Act::Qry,
                    "grid-operator",
                    "hydro-3",
                    call_with(
                        "capacity",
                        [],
                        [("window", text("18:00").until(text("22:00"))), ("reserve", pct("15"))],
                    ),
                ),
                message(
                    Act::Rpl,
                    "hydro-3",
                    "grid-operator",
                    rec([
                        ("available_mw", num("212")),
                        ("ramp_mw_per_min", num("14")),
                        ("price_eur_per_mwh", num("83.4")),
                        ("confidence", pct("92")),
                    ]),
                ),
            ],
        ),
        scenario(
            Family::Query,
            "a claim that is denied",
            [
                message(
                    Act::Inf,
                    "scheduler",
                    "build-farm",
                    call("finished", [ent("job-5521")]).because(name("exit_code").equals(num("0"))),
                ),
                message(
                    Act::Dny,
                    "build-farm",
                    "scheduler",
                    call("finished", [ent("job-5521")])
                        .because(call("running", [ent("job-5521.stage-3")])),
                ),
                message(Act::Ack, "scheduler", "build-farm", NOTHING),
            ],
        ),
    ]
}

pub(super) fn subscriptions() -> Vec<Scenario> {
    vec![
        scenario(
            Family::Subscription,
            "metrics of a cluster",
            [
                message(
                    Act::Sub,
                    "dashboard",
                    "monitor",
                    tag("metrics", [("source", ent("prod-eu")), ("interval", secs("30"))]),
                ),
                message(
                    Act::Pub,
                    "monitor",
                    "dashboard",
                    rec([
                        ("cpu", pct("72")),
                        ("memory", qty("4.2", Unit::Gigabytes)),
                        ("requests", num("1250")),
                    ]),
                ),
                message(
                    Act::Pub,
                    "monitor",
                    "dashboard",
                    rec([
                        ("cpu", pct("91")),
                        ("memory", qty("6.8", Unit::Gigabytes)),
                        ("requests", num("2904")),
                    ]),
                ),
                message(
                    Act::Uns,
                    "dashboard",
                    "monitor",
                    tag("metrics", [("source", ent("prod-eu"))]),
                ),
            ],
        ),
        scenario(
            Family::Subscription,
            "prices on an exchange",
            [
                message(
                    Act::Sub,
                    "hedger",
                    "market-data",
                    call_with(
                        "quotes",
                        [list([name("BRENT"), name("TTF"), name("EUA")])],
                        [("min_change", pct("0.5")), ("max_rate", secs("5"))],
                    ),
                ),
                message(Act::Ack, "market-data", "hedger", NOTHING),
                message(
                    Act::Pub,
                    "market-data",
                    "hedger",
                    tag(
                        "quote",
                        [
                            ("symbol", name("TTF")),
                            ("bid", eur("31.15")),
                            ("ask", eur("31.22")),
                            ("change", pct("-1.8")),
                        ],
                    ),
                ),
            ],
        ),
        scenario(
            Family::Subscription,
            "alarms of a cold chain",
            [
                message(Act::Sub, "quality", "truck-17", name("cargo_celsius").more(num("8"))),
                message(
                    Act::Pub,
                    "truck-17",
                    ["quality", "dispatch"],
                    tag(
                        "alarm",
                        [
                            ("cargo_celsius", num("9.4")),
                            ("since", text("2025-06-12T03:41Z")),
                            ("position", text("A7, km 214")),
                        ],
                    )
                    .because(call("open", [ent("rear-door")])),
                ),
                message(
                    Act::Cmd,
                    "dispatch",
                    "truck-17",
                    seq([
                        call("stop", [text("next lay-by")]),
                        call("close", [ent("rear-door")]),
                        call("report", [name("cargo_celsius")]),
                    ]),
                ),
            ],
        ),
    ]
}
