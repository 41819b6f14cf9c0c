//! Work that is planned, batched and handed on.

use crate::tokens::build::*;
use crate::tokens::scenario::{Act, Family, Scenario, To, Unit};

pub(super) fn plans() -> Vec<Scenario> {
    vec![
        scenario(
            Family::Plans,
            "a pipeline of three steps",
            [
                message(
                    Act::Req,
                    "orchestrator",
                    "etl",
                    seq([
                        call("fetch", [var("url")]),
                        call("parse", [sym("json")]),
                        call("store", [ent("lake"), var("result")]),
                    ]),
                ),
                message(
                    Act::Rpl,
                    "etl",
                    "orchestrator",
                    rec([("rows", num("48210")), ("rejected", num("17")), ("took", secs("41"))]),
                ),
            ],
        ),
        scenario(
            Family::Plans,
            "progress of a feature",
            [
                message(
                    Act::Inf,
                    "coder",
                    "lead",
                    tag(
                        "plan",
                        [(
                            "steps",
                            table(
                                ["step", "task", "status"],
                                [
                                    [num("1"), text("read the session module"), sym("completed")],
                                    [num("2"), text("add token rotation"), sym("completed")],
                                    [num("3"), text("write tests for expiry"), sym("in-progress")],
                                    [num("4"), text("update the manual"), sym("pending")],
                                ],
                            ),
                        )],
                    ),
                ),
                message(Act::Ack, "lead", "coder", NOTHING),
            ],
        ),
        scenario(
            Family::Plans,
            "a condition before the work",
            [
                message(
                    Act::Req,
                    "scheduler",
                    "batch-node",
                    call(
                        "if",
                        [
                            name("load").less(pct("80")),
                            call("run", [ent("nightly-rebuild")]),
                            call("queue", [ent("nightly-rebuild")]),
                        ],
                    ),
                ),
                message(
                    Act::Rpl,
                    "batch-node",
                    "scheduler",
                    call("queue", [ent("nightly-rebuild")]).because(name("load").equals(pct("87"))),
                ),
            ],
        ),
        scenario(
            Family::Plans,
            "a field trial",
            [
                message(
                    Act::Pro,
                    "agronomist",
                    "farm-robot",
                    seq([
                        call_with(
                            "sample",
                            [ent("field-9")],
                            [("depth_cm", num("30")), ("points", num("16"))],
                        ),
                        par([
                            call("analyse", [name("nitrogen")]),
                            call("analyse", [name("moisture")]),
                        ]),
                        call_with(
                            "spread",
                            [name("ammonium_nitrate")],
                            [
                                ("kg_per_ha", num("60").until(num("85"))),
                                ("avoid", any([sym("rain"), sym("wind")])),
                            ],
                        ),
                    ]),
                ),
                message(
                    Act::Acc,
                    "farm-robot",
                    "agronomist",
                    rec([("start", text("2025-04-11 06:00"))]),
                ),
            ],
        ),
    ]
}

pub(super) fn batches() -> Vec<Scenario> {
    vec![
        scenario(
            Family::Batches,
            "three files to read",
            [
                message(
                    Act::Req,
                    "lead",
                    "coder",
                    par([
                        call_with("read", [text("src/auth/session.ts")], [("id", sym("A1"))]),
                        call_with("read", [text("src/auth/token.ts")], [("id", sym("A2"))]),
                        call_with(
                            "search",
                            [text("src/")],
                            [("id", sym("A3")), ("query", text("TODO rotate"))],
                        ),
                    ]),
                ),
                message(
                    Act::Rpl,
                    "coder",
                    "lead",
                    list([
                        tag("observation", [("action", sym("A1")), ("lines", num("214"))]),
                        tag("observation", [("action", sym("A3")), ("matches", num("5"))]),
                        tag(
                            "observation",
                            [
                                ("action", sym("A2")),
                                ("error", text("file not found: src/auth/token.ts")),
                            ],
                        ),
                    ]),
                ),
            ],
        ),
        scenario(
            Family::Batches,
            "tests and lints",
            [
                message(
                    Act::Req,
                    "coder",
                    "runner",
                    par([
                        call_with(
                            "shell",
                            [text("cargo test --workspace")],
                            [("id", sym("T1")), ("timeout", mins("15"))],
                        ),
                        call_with(
                            "shell",
                            [text("cargo clippy -- -D warnings")],
                            [("id", sym("T2"))],
                        ),
                    ]),
                ),
                message(
                    Act::Rpl,
                    "runner",
                    "coder",
                    list([
                        tag(
                            "observation",
                            [
                                ("action", sym("T1")),
                                ("passed", num("412")),
                                ("failed", num("0")),
                                ("took", secs("188")),
                            ],
                        ),
                        tag(
                            "observation",
                            [
                                ("action", sym("T2")),
                                ("error", text("unused import: `std::fmt` at src/lib.rs:7")),
                                ("exit_code", num("101")),
                            ],
                        ),
                    ]),
                ),
                message(
                    Act::Req,
                    "coder",
                    "runner",
                    call_with(
                        "edit",
                        [text("src/lib.rs")],
                        [("line", num("7")), ("change", text("remove the import"))],
                    ),
                ),
            ],
        ),
        scenario(
            Family::Batches,
            "backups of a night",
            [
                message(
                    Act::Cmd,
                    "ops",
                    "backup",
                    par([
                        call_with("snapshot", [ent("orders-db")], [("keep", days("30"))]),
                        call_with("snapshot", [ent("users-db")], [("keep", days("90"))]),
                        call_with(
                            "copy",
                            [ent("media-bucket"), ent("glacier-vault")],
                            [("limit", qty("200", Unit::Gigabytes))],
                        ),
                    ]),
                ),
                message(
                    Act::Rpl,
                    "backup",
                    "ops",
                    list([
                        rec([("target", ent("orders-db")), ("size", qty("41.7", Unit::Gigabytes))]),
                        rec([("target", ent("users-db")), ("size", qty("8.2", Unit::Gigabytes))]),
                        rec([
                            ("target", ent("media-bucket")),
                            ("size", qty("193", Unit::Gigabytes)),
                        ]),
                    ]),
                ),
            ],
        ),
        scenario(
            Family::Batches,
            "sub-agents for a literature search",
            [
                message(
                    Act::Req,
                    "researcher",
                    "runtime",
                    par([
                        call_with(
                            "spawn",
                            [text("reader")],
                            [
                                ("id", sym("R1")),
                                ("topic", text("sodium-ion cathodes since 2022")),
                                ("budget", qty("40000", Unit::Tokens)),
                            ],
                        ),
                        call_with(
                            "spawn",
                            [text("reader")],
                            [
                                ("id", sym("R2")),
                                ("topic", text("degradation of layered oxides")),
                                ("budget", qty("25000", Unit::Tokens)),
                            ],
                        ),
                    ]),
                ),
                message(
                    Act::Rpl,
                    "runtime",
                    "researcher",
                    list([
                        tag(
                            "observation",
                            [
                                ("action", sym("R1")),
                                ("papers", num("31")),
                                ("spent", qty("37412", Unit::Tokens)),
                            ],
                        ),
                        tag(
                            "observation",
                            [
                                ("action", sym("R2")),
                                ("papers", num("12")),
                                ("spent", qty("19880", Unit::Tokens)),
                            ],
                        ),
                    ]),
                ),
            ],
        ),
    ]
}

pub(super) fn delegations() -> Vec<Scenario> {
    vec![
        scenario(
            Family::Delegation,
            "a project for a team",
            [
                message(
                    Act::Del,
                    "head-of-data",
                    "team-lead",
                    nested(message(
                        Act::Req,
                        "team-lead",
                        To::Anyone,
                        call("complete", [ent("customer-360")])
                            .because(call("deadline", [text("2025-09-30")])),
                    )),
                ),
                message(Act::Ack, "team-lead", "head-of-data", NOTHING),
            ],
        ),
        scenario(
            Family::Delegation,
            "a claim that is handed on",
            [
                message(
                    Act::Del,
                    "claims-intake",
                    "fraud-desk",
                    tag(
                        "claim",
                        [
                            ("number", text("KFZ-2025-118834")),
                            ("amount", eur("12780")),
                            ("score", num("0.83")),
                            ("documents", num("9")),
                        ],
                    )
                    .because(par([sym("third-claim-this-year"), sym("photo-reused")])),
                ),
                message(
                    Act::Req,
                    "fraud-desk",
                    "surveyor",
                    call_with(
                        "inspect",
                        [ent("vehicle-HB-KL-449")],
                        [("within", days("5")), ("photos", YES)],
                    ),
                ),
                message(
                    Act::Inf,
                    "surveyor",
                    ["fraud-desk", "claims-intake"],
                    rec([
                        ("finding", sym("damage-older-than-claim")),
                        ("certainty", pct("90")),
                        ("report", ent("doc-5513")),
                    ]),
                ),
            ],
        ),
        scenario(
            Family::Delegation,
            "a finished change",
            [
                message(
                    Act::Del,
                    "lead",
                    "coder",
                    call_with(
                        "implement",
                        [text("rate limit for the login endpoint")],
                        [("requests", num("5")), ("per", mins("1"))],
                    ),
                )
                .priority("4"),
                message(
                    Act::Inf,
                    "coder",
                    "lead",
                    tag(
                        "handoff",
                        [
                            ("next", text("security review")),
                            ("tests", list([text("npm test"), text("npm run lint")])),
                            ("risks", list([text("not tried under load")])),
                            (
                                "deliverables",
                                list([text("src/limits.ts"), text("src/limits.test.ts")]),
                            ),
                        ],
                    ),
                ),
            ],
        ),
    ]
}
