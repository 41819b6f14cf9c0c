//! Little content in much envelope: the metadata that tiers two and three demand.

use crate::tokens::build::*;
use crate::tokens::scenario::{Act, Family, Scenario};

pub(super) fn metadata() -> Vec<Scenario> {
    vec![
        scenario(
            Family::Metadata,
            "a berth, tier 2",
            [
                message(
                    Act::Pro,
                    "vessel-anna",
                    "harbormaster",
                    rec([
                        ("berth", ent("quay-4")),
                        ("arrival", text("05:30")),
                        ("draft_m", num("7.2")),
                    ]),
                )
                .id("m1")
                .sent("1750000000", "anna-arrival")
                .ttl("3600"),
                message(
                    Act::Ctr,
                    "harbormaster",
                    "vessel-anna",
                    rec([("berth", ent("quay-6")), ("arrival", text("06:15"))])
                        .because(call("occupied", [ent("quay-4")])),
                )
                .id("m2")
                .re("m1")
                .sent("1750000042", "anna-arrival"),
                message(Act::Acc, "vessel-anna", "harbormaster", NOTHING)
                    .id("m3")
                    .re("m2")
                    .sent("1750000060", "anna-arrival"),
            ],
        ),
        scenario(
            Family::Metadata,
            "a restart, tier 3",
            [
                message(
                    Act::Cmd,
                    "admin",
                    "edge-fra-2",
                    call_with("restart", [], [("drain", YES)]),
                )
                .id("c-9001")
                .sent("1751200000", "incident-771")
                .priority("5")
                .certified(
                    "ed25519:9wVt2JkQ0cXb7LrM",
                    "role:site-admin",
                    "acme-cdn",
                    "acme.edge",
                ),
                message(Act::Ack, "edge-fra-2", "admin", NOTHING)
                    .id("c-9002")
                    .re("c-9001")
                    .sent("1751200001", "incident-771")
                    .certified(
                        "ed25519:Qm4T1xZu8fHs5DyA",
                        "role:edge-node",
                        "acme-cdn",
                        "acme.edge",
                    ),
            ],
        ),
        scenario(
            Family::Metadata,
            "balances between banks, tier 3",
            [
                message(Act::Qry, "clearing", "bank-b", call("balance", [ent("nostro-eur")]))
                    .id("q-118")
                    .sent("1749810000", "settlement-0613")
                    .ttl("30")
                    .certified(
                        "ed25519:b3Nn6UjE1oWk9CzP",
                        "scope:read-balances",
                        "interbank",
                        "interbank.clearing",
                    ),
                message(
                    Act::Rpl,
                    "bank-b",
                    "clearing",
                    rec([("available", eur("18250000")), ("blocked", eur("430000"))]),
                )
                .id("q-119")
                .re("q-118")
                .sent("1749810002", "settlement-0613")
                .certified(
                    "ed25519:Xr7Ld0GvY2mTa5Bi",
                    "scope:answer",
                    "interbank",
                    "interbank.clearing",
                ),
            ],
        ),
        scenario(
            Family::Metadata,
            "a survey by drone, tier 2",
            [
                message(
                    Act::Req,
                    "forestry",
                    "drone-5",
                    call_with(
                        "survey",
                        [ent("stand-31")],
                        [
                            ("altitude_m", num("80")),
                            ("overlap", pct("75")),
                            ("band", any([sym("rgb"), sym("nir")])),
                        ],
                    ),
                )
                .id("f1")
                .sent("1748000000", "bark-beetle")
                .priority("2"),
                message(
                    Act::Rpl,
                    "drone-5",
                    "forestry",
                    rec([
                        ("images", num("412")),
                        ("infested_trees", about(num("37"))),
                        ("battery", pct("18")),
                    ]),
                )
                .id("f2")
                .re("f1")
                .sent("1748002730", "bark-beetle"),
                message(
                    Act::Inf,
                    "forestry",
                    ["ranger-2", "mill"],
                    call_with("fell", [ent("stand-31")], [("before", text("2025-06-05"))]),
                )
                .id("f3")
                .re("f2")
                .sent("1748003100", "bark-beetle")
                .ttl("864000"),
            ],
        ),
    ]
}
