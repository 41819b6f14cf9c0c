//! Offers and answers, votes, and transactions.

use crate::tokens::build::*;
use crate::tokens::scenario::{Act, Family, Scenario};

pub(super) fn negotiations() -> Vec<Scenario> {
    vec![
        scenario(
            Family::Negotiation,
            "a window for a migration",
            [
                message(
                    Act::Pro,
                    "platform",
                    "dba",
                    rec([
                        ("change", sym("migrate")),
                        ("target", ent("orders-db")),
                        ("window", text("02:00-04:00")),
                    ]),
                ),
                message(
                    Act::Ctr,
                    "dba",
                    "platform",
                    rec([
                        ("change", sym("migrate")),
                        ("target", ent("orders-db")),
                        ("window", text("04:00-06:00")),
                    ])
                    .because(call("backup", [ent("orders-db"), text("02:00-03:30")])),
                ),
                message(Act::Acc, "platform", "dba", NOTHING),
            ],
        ),
        scenario(
            Family::Negotiation,
            "price of freight",
            [
                message(
                    Act::Pro,
                    "shipper",
                    "carrier",
                    tag(
                        "contract",
                        [
                            ("lane", text("Gdansk - Lyon")),
                            ("pallets", num("33")),
                            ("price", eur("2850")),
                            ("pickup", text("2025-07-02")),
                        ],
                    ),
                ),
                message(
                    Act::Ctr,
                    "carrier",
                    "shipper",
                    rec([("price", eur("3120")), ("pickup", text("2025-07-03"))])
                        .because(par([sym("driver-shortage"), name("diesel").more(eur("1.62"))])),
                ),
                message(
                    Act::Ctr,
                    "shipper",
                    "carrier",
                    rec([("price", eur("2990")), ("payment", days("14"))]),
                ),
                message(Act::Acc, "carrier", "shipper", rec([("price", eur("2990"))])),
            ],
        ),
        scenario(
            Family::Negotiation,
            "who reviews a patch",
            [
                message(
                    Act::Pro,
                    "author",
                    "reviewer",
                    call_with(
                        "review",
                        [ent("pr-1842")],
                        [
                            ("files", num("12")),
                            ("lines", about(num("640"))),
                            ("before", text("Friday noon")),
                        ],
                    ),
                ),
                message(
                    Act::Rej,
                    "reviewer",
                    "author",
                    call("away", []).because(sym("conference")),
                ),
                message(
                    Act::Pro,
                    "author",
                    "maintainer",
                    call_with("review", [ent("pr-1842")], [("before", text("Monday"))]),
                ),
                message(Act::Acc, "maintainer", "author", NOTHING),
            ],
        ),
        scenario(
            Family::Negotiation,
            "a room for a group of travellers",
            [
                message(
                    Act::Pro,
                    "hotel-pinar",
                    "trip-planner",
                    rec([
                        ("rooms", num("4")),
                        ("nights", num("3")),
                        ("rate", eur("118.50")),
                        ("breakfast", YES),
                        ("cancel_before", days("2")),
                    ]),
                ),
                message(
                    Act::Ctr,
                    "trip-planner",
                    "hotel-pinar",
                    rec([("rate", eur("105")), ("breakfast", NO)]),
                ),
                message(
                    Act::Rej,
                    "hotel-pinar",
                    "trip-planner",
                    name("occupancy").at_least(pct("96")),
                ),
            ],
        ),
    ]
}

pub(super) fn votes() -> Vec<Scenario> {
    vec![
        scenario(
            Family::Voting,
            "approval of a release",
            [
                message(
                    Act::Req,
                    "release-captain",
                    ["qa", "security", "ops"],
                    rec([
                        ("vote_id", text("rel-7.4")),
                        ("question", sym("approve-release")),
                        ("threshold", num("2")),
                        ("deadline", mins("30")),
                    ]),
                ),
                message(
                    Act::Rpl,
                    "qa",
                    "release-captain",
                    rec([("vote_id", text("rel-7.4")), ("vote", sym("yes"))]),
                ),
                message(
                    Act::Rpl,
                    "security",
                    "release-captain",
                    rec([("vote_id", text("rel-7.4")), ("vote", sym("no"))])
                        .because(call("open", [ent("CVE-2025-3112")])),
                ),
                message(
                    Act::Rpl,
                    "ops",
                    "release-captain",
                    rec([("vote_id", text("rel-7.4")), ("vote", sym("yes"))]),
                ),
                message(
                    Act::Inf,
                    "release-captain",
                    ["qa", "security", "ops"],
                    rec([
                        ("vote_id", text("rel-7.4")),
                        ("result", sym("approved")),
                        ("tally", rec([("yes", num("2")), ("no", num("1"))])),
                        ("threshold_met", YES),
                    ]),
                ),
            ],
        ),
        scenario(
            Family::Voting,
            "shards of a data set",
            [
                message(
                    Act::Req,
                    "planner",
                    ["worker-1", "worker-2", "worker-3"],
                    rec([
                        ("task", sym("deduplicate")),
                        (
                            "split",
                            list([
                                num("0").until(num("49999")),
                                num("50000").until(num("99999")),
                                num("100000").until(num("149999")),
                            ]),
                        ),
                        ("merge", ent("planner")),
                        ("deadline", secs("300")),
                    ]),
                ),
                message(Act::Ack, "worker-1", "planner", NOTHING),
                message(Act::Ack, "worker-2", "planner", NOTHING),
                message(
                    Act::Nak,
                    "worker-3",
                    "planner",
                    rec([("reason", sym("busy")), ("retry_after", secs("45"))]),
                ),
            ],
        ),
        scenario(
            Family::Voting,
            "state of two ledgers",
            [
                message(
                    Act::Syn,
                    "ledger-eu",
                    "ledger-us",
                    rec([
                        ("head", text("9f3c11e0")),
                        ("height", num("884120")),
                        ("pending", list([ent("tx-901"), ent("tx-907")])),
                    ]),
                ),
                message(
                    Act::Syn,
                    "ledger-us",
                    "ledger-eu",
                    rec([
                        ("head", text("41b7aa52")),
                        ("height", num("884118")),
                        ("pending", list([])),
                    ]),
                ),
                message(
                    Act::Req,
                    "ledger-us",
                    "ledger-eu",
                    call("send_blocks", [num("884119").until(num("884120"))]),
                ),
            ],
        ),
    ]
}

pub(super) fn transactions() -> Vec<Scenario> {
    vec![
        scenario(
            Family::Transactions,
            "a payment that is committed",
            [
                message(
                    Act::Pro,
                    "coordinator",
                    "bank-a",
                    rec([
                        ("operation", sym("debit")),
                        ("amount", usd("249.90")),
                        ("account", ent("acct-5518")),
                    ]),
                )
                .id("t1")
                .transaction("tx-42", "proposed"),
                message(Act::Acc, "bank-a", "coordinator", NOTHING)
                    .id("t2")
                    .re("t1")
                    .transaction("tx-42", "accepted"),
                message(Act::Cmd, "coordinator", "bank-a", call("commit", [text("tx-42")]))
                    .id("t3")
                    .transaction("tx-42", "committed"),
            ],
        ),
        scenario(
            Family::Transactions,
            "a booking that is aborted",
            [
                message(
                    Act::Pro,
                    "travel-agent",
                    "airline",
                    rec([
                        ("flight", text("TK 1862")),
                        ("seats", num("2")),
                        ("fare", eur("318.40")),
                        ("hold", mins("20")),
                    ]),
                )
                .id("b1")
                .transaction("trip-310", "proposed"),
                message(Act::Acc, "airline", "travel-agent", rec([("locator", text("QX7PLM"))]))
                    .id("b2")
                    .re("b1")
                    .transaction("trip-310", "accepted"),
                message(
                    Act::Can,
                    "travel-agent",
                    "airline",
                    call("booking", [text("QX7PLM")]).because(call("timeout", [mins("20")])),
                )
                .id("b3")
                .transaction("trip-310", "aborted"),
            ],
        ),
        scenario(
            Family::Transactions,
            "stock moved between warehouses",
            [
                message(
                    Act::Pro,
                    "inventory",
                    ["wh-leipzig", "wh-porto"],
                    seq([
                        call_with(
                            "reserve",
                            [ent("wh-leipzig")],
                            [("sku", text("BRK-220-S")), ("quantity", num("480"))],
                        ),
                        call_with(
                            "receive",
                            [ent("wh-porto")],
                            [("sku", text("BRK-220-S")), ("quantity", num("480"))],
                        ),
                    ]),
                )
                .id("w1")
                .transaction("mv-7", "proposed"),
                message(Act::Rej, "wh-leipzig", "inventory", name("stock").less(num("480")))
                    .id("w2")
                    .re("w1")
                    .transaction("mv-7", "aborted"),
            ],
        ),
    ]
}
