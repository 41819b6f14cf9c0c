//! Much text, many rows, and much depth.

use crate::tokens::build::*;
use crate::tokens::scenario::{Act, Family, Scenario, Term, To};

pub(super) fn long_texts() -> Vec<Scenario> {
    vec![
        scenario(
            Family::LongText,
            "a review comment",
            [
                message(
                    Act::Inf,
                    "reviewer",
                    "author",
                    tag(
                        "comment",
                        [
                            ("file", text("src/cache/evict.rs")),
                            ("line", num("88")),
                            ("severity", sym("must-fix")),
                            (
                                "body",
                                text(
                                    "The lock is held across the callback. If the callback evicts another \
                             entry, it takes the same lock and the thread waits for itself. Copy \
                             the keys out first, drop the guard, and call back without it; the \
                             entry may be gone by then, which the callback has to expect anyway.",
                                ),
                            ),
                        ],
                    ),
                ),
                message(
                    Act::Rpl,
                    "author",
                    "reviewer",
                    text(
                        "Agreed. I copy the keys now and look each one up again before the call, so \
                     that an entry that went away in between is skipped.",
                    ),
                ),
            ],
        ),
        scenario(
            Family::LongText,
            "a note at the end of a shift",
            [
                message(
                    Act::Inf,
                    "night-nurse",
                    ["day-nurse", "ward-doctor"],
                    rec([
                        ("patient", ent("bed-4")),
                        ("temperature_celsius", num("38.6")),
                        ("pulse", num("104")),
                        (
                            "note",
                            text(
                                "Restless until two, then slept. Pain four of ten at the wound, no \
                             redness. Drank half a litre. Said \"I can't feel my left foot\" at \
                             five; warm, pulse palpable, full strength at six. Please look again \
                             before the round.",
                            ),
                        ),
                    ]),
                ),
                message(Act::Ack, "day-nurse", "night-nurse", NOTHING),
            ],
        ),
        scenario(
            Family::LongText,
            "a patch in a message",
            [
                message(
                    Act::Req,
                    "lead",
                    "coder",
                    call_with(
                        "apply",
                        [text("p/retry.patch")],
                        [
                            (
                                "patch",
                                text(
                                    "--- a/retry.go\n+++ b/retry.go\n@@ -14,4 +14,6 @@\n \
                             func wait(n int) time.Duration {\n-\treturn time.Second\n\
                             +\tif n > 6 {\n+\t\tn = 6\n+\t}\n+\treturn time.Second << n\n }\n",
                                ),
                            ),
                            (
                                "reason",
                                text("retries hammer the server when it is \"almost\" back"),
                            ),
                        ],
                    ),
                ),
                message(
                    Act::Rpl,
                    "coder",
                    "lead",
                    rec([("applied", YES), ("hunks", num("1")), ("commit", text("c4d1e77"))]),
                ),
            ],
        ),
    ]
}

pub(super) fn tables() -> Vec<Scenario> {
    vec![
        scenario(
            Family::Tables,
            "lines of an order",
            [
                message(
                    Act::Req,
                    "shop",
                    "warehouse",
                    call_with(
                        "pick",
                        [ent("order-55190")],
                        [(
                            "lines",
                            table(
                                ["sku", "quantity", "bin", "fragile"],
                                [
                                    [text("MUG-11-BLU"), num("6"), text("A-04-2"), YES],
                                    [text("TEE-M-BLK"), num("2"), text("C-17-1"), NO],
                                    [text("LMP-DSK-3"), num("1"), text("B-09-4"), YES],
                                    [text("PEN-GEL-12"), num("24"), text("A-01-1"), NO],
                                    [text("NTB-A5-DOT"), num("3"), text("A-02-6"), NO],
                                ],
                            ),
                        )],
                    ),
                ),
                message(Act::Ack, "warehouse", "shop", NOTHING),
            ],
        ),
        scenario(
            Family::Tables,
            "readings of sensors",
            [
                message(
                    Act::Qry,
                    "analyst",
                    "plant-historian",
                    call_with("readings", [ent("line-3")], [("last", mins("5"))]),
                ),
                message(
                    Act::Rpl,
                    "plant-historian",
                    "analyst",
                    table(
                        ["sensor", "minute", "celsius", "bar", "quality"],
                        [
                            [ent("TT-301"), num("0"), num("182.4"), num("6.1"), sym("good")],
                            [ent("TT-301"), num("1"), num("183.1"), num("6.1"), sym("good")],
                            [ent("TT-301"), num("2"), num("185.9"), num("6.3"), sym("good")],
                            [ent("TT-302"), num("0"), num("179.8"), num("6"), sym("good")],
                            [ent("TT-302"), num("1"), num("180.2"), num("6"), sym("uncertain")],
                            [ent("TT-302"), num("2"), num("181"), num("6.2"), sym("good")],
                        ],
                    ),
                ),
            ],
        ),
        scenario(
            Family::Tables,
            "a portfolio",
            [
                message(Act::Qry, "risk", "custody", call("positions", [ent("fund-alpha")])),
                message(
                    Act::Rpl,
                    "custody",
                    "risk",
                    rec([
                        ("as_of", text("2025-06-30")),
                        (
                            "positions",
                            table(
                                ["isin", "units", "price", "weight", "currency_hedged"],
                                [
                                    [
                                        text("US0378331005"),
                                        num("1200"),
                                        usd("205.17"),
                                        pct("24.1"),
                                        NO,
                                    ],
                                    [
                                        text("DE0007164600"),
                                        num("850"),
                                        eur("258.15"),
                                        pct("21.5"),
                                        NO,
                                    ],
                                    [
                                        text("NL0010273215"),
                                        num("310"),
                                        eur("677.60"),
                                        pct("20.6"),
                                        YES,
                                    ],
                                    [
                                        text("IE00B4L5Y983"),
                                        num("3400"),
                                        eur("101.22"),
                                        pct("33.8"),
                                        YES,
                                    ],
                                ],
                            ),
                        ),
                        ("total", eur("1018210")),
                    ]),
                ),
            ],
        ),
        scenario(
            Family::Tables,
            "departures",
            [message(
                Act::Pub,
                "station",
                To::Anyone,
                table(
                    ["train", "destination", "departs", "platform", "delay"],
                    [
                        [text("ICE 274"), text("Basel SBB"), text("09:14"), num("7"), mins("0")],
                        [text("RE 7"), text("Halle (Saale)"), text("09:21"), num("2"), mins("12")],
                        [text("IC 2046"), text("Dresden Hbf"), text("09:33"), num("11"), mins("5")],
                        [text("RB 51"), text("Dessau"), text("09:36"), num("4"), mins("0")],
                    ],
                ),
            )],
        ),
    ]
}

pub(super) fn nestings() -> Vec<Scenario> {
    vec![
        scenario(
            Family::Nesting,
            "settings of a service",
            [
                message(
                    Act::Cmd,
                    "platform",
                    "gateway",
                    call(
                        "configure",
                        [rec([
                            ("listen", rec([("host", text("0.0.0.0")), ("port", num("8443"))])),
                            (
                                "tls",
                                rec([
                                    ("min_version", text("1.3")),
                                    (
                                        "certificates",
                                        list([rec([
                                            ("host", text("api.example.org")),
                                            ("renew_before", days("21")),
                                            (
                                                "issuer",
                                                rec([
                                                    ("kind", sym("acme")),
                                                    ("account", ent("ops-ca")),
                                                ]),
                                            ),
                                        ])]),
                                    ),
                                ]),
                            ),
                            (
                                "limits",
                                rec([
                                    (
                                        "per_client",
                                        rec([("requests", num("100")), ("window", secs("10"))]),
                                    ),
                                    (
                                        "retry",
                                        rec([
                                            ("attempts", num("3")),
                                            (
                                                "backoff",
                                                rec([("first", ms("200")), ("factor", num("2"))]),
                                            ),
                                        ]),
                                    ),
                                ]),
                            ),
                        ])],
                    ),
                ),
                message(Act::Ack, "gateway", "platform", NOTHING),
            ],
        ),
        scenario(
            Family::Nesting,
            "why a line stands still",
            [
                message(
                    Act::Inf,
                    "line-supervisor",
                    "plant-manager",
                    tag("downtime", [("line", ent("filler-2")), ("lasted", mins("37"))]).because(
                        call("jammed", [ent("capper")]).because(
                            tag("misfeed", [("rate", pct("4")), ("part", text("cap 28 mm"))])
                                .because(
                                    call("replaced", [ent("supplier-b")])
                                        .because(name("stock_days").less(days("2"))),
                                ),
                        ),
                    ),
                ),
                message(
                    Act::Req,
                    "plant-manager",
                    ["line-supervisor", "purchasing"],
                    par([
                        seq([
                            call_with("measure", [text("cap 28 mm")], [("samples", num("50"))]),
                            call("send", [ent("quality-lab"), var("measurements")]),
                        ]),
                        call(
                            "if",
                            [
                                name("defects").more(pct("1")),
                                call("return_batch", [ent("supplier-b")]),
                                call("release_batch", [ent("supplier-b")]),
                            ],
                        ),
                    ]),
                ),
            ],
        ),
        scenario(
            Family::Nesting,
            "an itinerary",
            [
                message(
                    Act::Pro,
                    "trip-planner",
                    "traveller",
                    tag(
                        "itinerary",
                        [
                            ("for", list([text("Ana Duarte"), text("Luis Duarte")])),
                            (
                                "days",
                                list([
                                    rec([
                                        ("date", text("2025-10-03")),
                                        (
                                            "legs",
                                            list([
                                                leg(
                                                    "train",
                                                    "AVE 03081",
                                                    "Madrid",
                                                    "Sevilla",
                                                    "08:00",
                                                ),
                                                leg(
                                                    "taxi",
                                                    "any",
                                                    "Sevilla SJ",
                                                    "Hotel Murillo",
                                                    "10:45",
                                                ),
                                            ]),
                                        ),
                                        (
                                            "stay",
                                            rec([
                                                ("hotel", text("Hotel Murillo")),
                                                (
                                                    "room",
                                                    rec([
                                                        ("beds", num("2")),
                                                        ("view", sym("patio")),
                                                    ]),
                                                ),
                                                ("rate", eur("96")),
                                            ]),
                                        ),
                                    ]),
                                    rec([
                                        ("date", text("2025-10-04")),
                                        (
                                            "legs",
                                            list([leg(
                                                "bus", "M-170", "Sevilla", "Aracena", "09:15",
                                            )]),
                                        ),
                                        (
                                            "visit",
                                            any([
                                                call("cave", [text("Gruta de las Maravillas")]),
                                                call("walk", [text("Linares de la Sierra")]),
                                            ]),
                                        ),
                                    ]),
                                ]),
                            ),
                            ("total", about(eur("412"))),
                        ],
                    ),
                ),
                message(Act::Acc, "traveller", "trip-planner", NOTHING),
            ],
        ),
    ]
}

fn leg(
    by: &'static str,
    number: &'static str,
    from: &'static str,
    to: &'static str,
    at: &'static str,
) -> Term {
    tag(
        by,
        [
            ("number", text(number)),
            ("origin", text(from)),
            ("goal", text(to)),
            ("departs", text(at)),
        ],
    )
}
