//! What goes wrong, and what somebody else has to decide.

use crate::tokens::build::*;
use crate::tokens::scenario::{Act, Family, Scenario};

pub(super) fn errors() -> Vec<Scenario> {
    vec![
        scenario(
            Family::Errors,
            "a resource that is not there",
            [
                message(Act::Req, "reporting", "warehouse", call("export", [ent("sales-2024-q5")])),
                message(
                    Act::Err,
                    "warehouse",
                    "reporting",
                    rec([
                        ("code", num("404")),
                        ("what", text("no such partition")),
                        ("reference", ent("sales-2024-q5")),
                        ("retry", NO),
                        (
                            "suggest",
                            nested(message(
                                Act::Qry,
                                "reporting",
                                "catalog",
                                call("partitions", [name("sales")]),
                            )),
                        ),
                    ]),
                ),
            ],
        ),
        scenario(
            Family::Errors,
            "a message that is not understood",
            [
                message(
                    Act::Nak,
                    "legacy-erp",
                    "orders-bot",
                    rec([
                        ("reason", sym("unsupported")),
                        ("detail", text("field delivery_slots is not known before release 9")),
                    ]),
                ),
                message(
                    Act::Req,
                    "orders-bot",
                    "legacy-erp",
                    call_with(
                        "create_order",
                        [ent("order-77120")],
                        [("delivery", text("2025-06-20"))],
                    ),
                ),
            ],
        ),
        scenario(
            Family::Errors,
            "a pump that trips",
            [
                message(
                    Act::Err,
                    "pump-station-2",
                    ["control-room", "maintenance"],
                    tag(
                        "trip",
                        [
                            ("what", text("motor protection opened")),
                            ("pump", ent("P-204")),
                            ("current_ampere", num("187")),
                            ("restart_allowed", NO),
                        ],
                    )
                    .because(
                        name("bearing_celsius").more(num("95")).because(sym("lubrication-failure")),
                    ),
                ),
                message(Act::Ack, "control-room", "pump-station-2", NOTHING),
                message(
                    Act::Cmd,
                    "control-room",
                    "pump-station-2",
                    par([call("isolate", [ent("P-204")]), call("start", [ent("P-205")])]),
                ),
            ],
        ),
        scenario(
            Family::Errors,
            "an action that may not be done",
            [
                message(
                    Act::Cmd,
                    "intern-bot",
                    "cluster-admin",
                    call_with("delete", [ent("namespace-billing")], [("force", YES)]),
                ),
                message(
                    Act::Nak,
                    "cluster-admin",
                    "intern-bot",
                    rec([
                        ("reason", sym("unauthorized")),
                        ("detail", text("namespaces are deleted by their owner")),
                    ])
                    .because(name("role").differs(sym("cluster-owner"))),
                ),
                message(
                    Act::Inf,
                    "cluster-admin",
                    "security",
                    tag(
                        "denied",
                        [
                            ("who", ent("intern-bot")),
                            ("wanted", call("delete", [ent("namespace-billing")])),
                            ("attempts", num("3")),
                            ("within", mins("2")),
                        ],
                    ),
                ),
            ],
        ),
    ]
}

pub(super) fn blockers() -> Vec<Scenario> {
    vec![
        scenario(
            Family::Blockers,
            "credentials that are missing",
            [
                message(
                    Act::Inf,
                    "coder",
                    "lead",
                    tag(
                        "blocked",
                        [
                            ("why", text("no credentials for the payment sandbox")),
                            (
                                "alternatives",
                                list([
                                    text("use the recorded responses"),
                                    text("wait for the vault ticket"),
                                    text("skip the refund tests"),
                                ]),
                            ),
                            ("escalate", YES),
                        ],
                    ),
                ),
                message(Act::Rpl, "lead", "coder", text("use the recorded responses")),
            ],
        ),
        scenario(
            Family::Blockers,
            "which database to use",
            [
                message(
                    Act::Qry,
                    "architect",
                    "owner",
                    call_with(
                        "decide",
                        [text("which store for the event log?")],
                        [
                            ("options", list([text("PostgreSQL"), text("SQLite"), text("Kafka")])),
                            ("default", text("SQLite")),
                        ],
                    )
                    .because(name("events_per_day").at_most(num("20000"))),
                ),
                message(Act::Rpl, "owner", "architect", text("SQLite")),
            ],
        ),
        scenario(
            Family::Blockers,
            "a dose that needs a second opinion",
            [
                message(
                    Act::Qry,
                    "icu-agent",
                    "physician",
                    call_with(
                        "decide",
                        [text("continue noradrenaline at the present rate?")],
                        [
                            ("options", list([text("continue"), text("taper"), text("stop")])),
                            ("patient", ent("bed-12")),
                            ("mean_pressure_mmhg", num("58")),
                            ("within", mins("10")),
                        ],
                    ),
                ),
                message(
                    Act::Rpl,
                    "physician",
                    "icu-agent",
                    rec([
                        ("choice", sym("taper")),
                        ("step_ug_per_min", num("2")),
                        ("every", mins("15")),
                    ]),
                ),
            ],
        ),
        scenario(
            Family::Blockers,
            "a customs form nobody can read",
            [
                message(
                    Act::Inf,
                    "customs-bot",
                    "broker",
                    tag(
                        "blocked",
                        [
                            ("why", text("page 2 of the bill of lading is illegible")),
                            (
                                "alternatives",
                                list([
                                    text("ask the shipper for a new scan"),
                                    text("release without the gross weight"),
                                ]),
                            ),
                            ("escalate", NO),
                            ("consignment", ent("MSKU-7719340")),
                        ],
                    ),
                ),
                message(
                    Act::Req,
                    "broker",
                    "shipper",
                    call_with(
                        "send",
                        [text("bill of lading, page 2")],
                        [("resolution_dpi", num("300")), ("before", text("16:00"))],
                    ),
                ),
            ],
        ),
    ]
}
