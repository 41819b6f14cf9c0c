//! The gate: every combination in one committed table, and what holds for all of its rows.

use std::collections::BTreeSet;
use std::fmt::Write;

use expect_test::expect_file;
use sabir_policy::{
    Action, ApprovalPolicy, Confinement, Decision, Facts, Outcome, PatchReach, RuleId, Ruling,
    SandboxMode, SandboxPolicy, ServerTrust, ToolEffects, ToolHints, Verdict, decide,
};

/// From the one that asks least to the one that asks most.
const APPROVALS: [ApprovalPolicy; 4] = [
    ApprovalPolicy::Never,
    ApprovalPolicy::OnFailure,
    ApprovalPolicy::OnRequest,
    ApprovalPolicy::Untrusted,
];
const MODES: [SandboxMode; 3] =
    [SandboxMode::ReadOnly, SandboxMode::WorkspaceWrite, SandboxMode::DangerFullAccess];

fn actions() -> Vec<(&'static str, Action)> {
    let command = |assessment, escalated| Action::Command { assessment, escalated };
    vec![
        ("command, safe", command(Verdict::Safe, false)),
        ("command, ordinary", command(Verdict::Ordinary, false)),
        ("command, dangerous", command(Verdict::Dangerous, false)),
        ("command, safe, escalated", command(Verdict::Safe, true)),
        ("command, ordinary, escalated", command(Verdict::Ordinary, true)),
        ("command, dangerous, escalated", command(Verdict::Dangerous, true)),
        ("retry outside the sandbox", Action::RetryOutsideSandbox),
        ("patch, inside", Action::Patch { reach: PatchReach::Inside }),
        ("patch, outside", Action::Patch { reach: PatchReach::Outside }),
        ("patch, protected", Action::Patch { reach: PatchReach::Protected }),
        ("read", Action::Read),
        ("tool, read-only", Action::Tool { effects: ToolEffects::ReadOnly }),
        ("tool, unknown", Action::Tool { effects: ToolEffects::Unknown }),
        ("tool, destructive", Action::Tool { effects: ToolEffects::Destructive }),
        ("spawn", Action::Spawn),
    ]
}

fn is_escalated(action: Action) -> bool {
    matches!(action, Action::Command { escalated: true, .. })
}

fn ask_gate(
    approval: ApprovalPolicy,
    mode: SandboxMode,
    action: Action,
    granted: bool,
) -> Decision {
    let sandbox = &SandboxPolicy::of(mode);
    decide(&Facts { approval, sandbox, action, granted, ruling: Ruling::default() })
}

/// Every row: what was decided without a grant, and what with one.
fn rows() -> Vec<(ApprovalPolicy, SandboxMode, Action, Decision, Decision)> {
    let mut rows = Vec::new();
    for (_, action) in actions() {
        for approval in APPROVALS {
            for mode in MODES {
                let plain = ask_gate(approval, mode, action, false);
                let granted = ask_gate(approval, mode, action, true);
                rows.push((approval, mode, action, plain, granted));
            }
        }
    }
    rows
}

/// QP-A16: the whole table, for reading.
#[test]
fn the_table_is_as_committed() {
    let mut table = String::from(
        "Every action under every approval policy and sandbox: what the gate says, where it runs, by\n\
         which rule, and what a grant for the session makes of it.\n",
    );
    for (name, action) in actions() {
        write!(table, "\n{name}\n").unwrap();
        for approval in APPROVALS {
            for mode in MODES {
                let plain = ask_gate(approval, mode, action, false);
                let granted = ask_gate(approval, mode, action, true);
                let line = format!(
                    "  {:<10} {:<19} {:<6} {:<11} {:<24} {}",
                    word(&approval),
                    word(&mode),
                    word(&plain.outcome),
                    word(&plain.confinement),
                    plain.rule.code(),
                    word(&granted.outcome),
                );
                writeln!(table, "{}", line.trim_end()).unwrap();
            }
        }
    }
    expect_file!["../data/gate.txt"].assert_eq(&table);
}

fn word(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).unwrap().as_str().unwrap().to_owned()
}

/// QP-A10: with `never` nobody is asked.
#[test]
fn never_does_not_ask() {
    for (approval, mode, action, plain, granted) in rows() {
        if approval == ApprovalPolicy::Never {
            assert_ne!(plain.outcome, Outcome::Ask, "{mode:?} {action:?}");
            assert_eq!(plain, granted);
        }
    }
}

/// QP-A11: what is known to be safe is never asked for, nor is reading.
#[test]
fn what_only_reads_is_not_asked_for() {
    for (approval, mode, action, plain, _) in rows() {
        let reads = matches!(
            action,
            Action::Read
                | Action::Tool { effects: ToolEffects::ReadOnly }
                | Action::Command { assessment: Verdict::Safe, escalated: false }
        );
        if reads {
            assert_eq!(plain.outcome, Outcome::Allow, "{approval:?} {mode:?} {action:?}");
        }
    }
}

/// QP-A12: nothing leaves the sandbox unless a person said so, now, for the session or in the
/// settings.
#[test]
fn nothing_is_unconfined_on_its_own() {
    for (approval, mode, action, plain, _) in rows() {
        if plain.outcome == Outcome::Allow && mode != SandboxMode::DangerFullAccess {
            assert_eq!(
                plain.confinement,
                Confinement::Confined,
                "{approval:?} {mode:?} {action:?}"
            );
        }
    }
}

/// QP-A13: a policy that asks more never lets through what one that asks less does not.
#[test]
fn a_tighter_policy_is_tighter() {
    for (_, action) in actions() {
        // Only on-request lets a command ask for more, so there a looser policy is the stricter.
        if is_escalated(action) {
            continue;
        }
        for mode in MODES {
            for pair in APPROVALS.windows(2) {
                let looser = ask_gate(pair[0], mode, action, false).outcome;
                let tighter = ask_gate(pair[1], mode, action, false).outcome;
                assert!(
                    looser == Outcome::Allow || tighter != Outcome::Allow,
                    "{mode:?} {action:?}: {:?} {looser:?}, {:?} {tighter:?}",
                    pair[0],
                    pair[1]
                );
            }
        }
    }
}

/// QP-A14: a tighter sandbox never lets through what a looser one does not, except that there is
/// no retry where there is no sandbox.
#[test]
fn a_tighter_sandbox_is_tighter() {
    for (_, action) in actions() {
        for approval in APPROVALS {
            for pair in MODES.windows(2) {
                let tighter = ask_gate(approval, pair[0], action, false).outcome;
                let looser = ask_gate(approval, pair[1], action, false).outcome;
                assert!(
                    looser == Outcome::Allow || tighter != Outcome::Allow,
                    "{approval:?} {action:?}"
                );
            }
        }
    }
}

/// QP-A15: a grant answers a question and nothing else.
#[test]
fn a_grant_turns_ask_into_allow() {
    for (approval, mode, action, plain, granted) in rows() {
        match plain.outcome {
            Outcome::Ask => {
                assert_eq!(granted.outcome, Outcome::Allow, "{approval:?} {mode:?} {action:?}");
                assert!(granted.reason.ends_with("; approved for this session"));
                let unchanged = (granted.rule, granted.confinement);
                assert_eq!(unchanged, (plain.rule, plain.confinement));
            }
            Outcome::Allow | Outcome::Deny => assert_eq!(plain, granted),
        }
    }
}

/// QP-A16: each decision names its rule by a stable code and says why in words.
#[test]
fn each_decision_names_its_rule() {
    let mut codes = BTreeSet::new();
    for (approval, _, _, plain, _) in rows() {
        assert_eq!(word(&plain.rule), plain.rule.code());
        let back: RuleId = serde_json::from_value(plain.rule.code().into()).unwrap();
        assert_eq!(back, plain.rule);
        assert!(plain.reason.len() > 10 && !plain.reason.ends_with('.'), "{}", plain.reason);
        if plain.outcome == Outcome::Deny && approval == ApprovalPolicy::Never {
            assert!(plain.reason.contains("never"), "{}", plain.reason);
        }
        codes.insert(plain.rule.code());
    }
    assert_eq!(codes.len(), 21, "each rule decides something: {codes:?}");
}

/// QP-A24: a server's hints tighten; they loosen only if the server is trusted.
#[test]
fn hints_tighten_unless_trusted() {
    let hints = |read_only, destructive| ToolHints { read_only, destructive };
    for (read_only, destructive, untrusted, trusted) in [
        (None, None, ToolEffects::Unknown, ToolEffects::Unknown),
        (Some(true), None, ToolEffects::Unknown, ToolEffects::ReadOnly),
        (Some(true), Some(false), ToolEffects::Unknown, ToolEffects::ReadOnly),
        (Some(false), Some(false), ToolEffects::Unknown, ToolEffects::Unknown),
        (None, Some(true), ToolEffects::Destructive, ToolEffects::Destructive),
        (Some(true), Some(true), ToolEffects::Destructive, ToolEffects::Destructive),
    ] {
        let hints = hints(read_only, destructive);
        assert_eq!(ToolEffects::from_hints(hints, ServerTrust::Untrusted), untrusted, "{hints:?}");
        assert_eq!(ToolEffects::from_hints(hints, ServerTrust::Trusted), trusted, "{hints:?}");
    }
}

#[track_caller]
fn check(action: &str, expected: &[(&str, &[SandboxMode], [Outcome; 4])]) {
    let (_, action) = actions().into_iter().find(|(name, _)| *name == action).unwrap();
    for (why, modes, outcomes) in expected {
        for mode in *modes {
            let found = APPROVALS.map(|approval| ask_gate(approval, *mode, action, false).outcome);
            assert_eq!(found, *outcomes, "{why}: {action:?} {mode:?}");
        }
    }
}

const SANDBOXED: &[SandboxMode] = &[SandboxMode::ReadOnly, SandboxMode::WorkspaceWrite];
const FULL: &[SandboxMode] = &[SandboxMode::DangerFullAccess];

/// QP-A17, QP-A18, QP-A20: who is asked before a command. The outcomes stand in the order never,
/// on-failure, on-request, untrusted.
#[test]
fn commands_ask_by_policy() {
    use Outcome::{Allow, Ask};
    check("command, ordinary", &[("any mode", &MODES, [Allow, Allow, Allow, Ask])]);
    check("command, dangerous", &[("any mode", &MODES, [Allow, Allow, Ask, Ask])]);
}

/// QP-A19: only with on-request does the model ask to leave the sandbox.
#[test]
fn escalation_is_for_on_request() {
    use Outcome::{Allow, Ask, Deny};
    check(
        "command, ordinary, escalated",
        &[
            ("a sandbox to leave", SANDBOXED, [Deny, Deny, Ask, Deny]),
            ("nothing to leave", FULL, [Deny, Deny, Allow, Deny]),
        ],
    );
    check("command, dangerous, escalated", &[("any mode", &MODES, [Deny, Deny, Ask, Deny])]);
    check("command, safe, escalated", &[("any mode", &MODES, [Deny, Deny, Allow, Deny])]);
    let refused = ask_gate(
        ApprovalPolicy::Never,
        SandboxMode::ReadOnly,
        Action::Command { assessment: Verdict::Ordinary, escalated: true },
        false,
    );
    assert!(refused.reason.contains("without with_escalated_permissions"), "{}", refused.reason);
}

/// QP-A21: who is asked after the sandbox refused.
#[test]
fn a_refusal_is_asked_about() {
    use Outcome::{Ask, Deny};
    check(
        "retry outside the sandbox",
        &[
            ("refused", SANDBOXED, [Deny, Ask, Deny, Ask]),
            ("no sandbox", FULL, [Deny, Deny, Deny, Deny]),
        ],
    );
}

/// QP-A22, QP-A23: patches, by where they write.
#[test]
fn patches_ask_by_reach() {
    use Outcome::{Allow, Ask, Deny};
    check("patch, inside", &[("any mode", &MODES, [Allow, Allow, Allow, Ask])]);
    check(
        "patch, outside",
        &[
            ("a sandbox", SANDBOXED, [Deny, Ask, Ask, Ask]),
            ("everything is writable", FULL, [Allow, Allow, Allow, Ask]),
        ],
    );
    check("patch, protected", &[("any mode", &MODES, [Deny, Ask, Ask, Ask])]);
}

/// QP-A25, QP-A26: tools of others, and other agents.
#[test]
fn tools_and_agents() {
    use Outcome::{Allow, Ask, Deny};
    check("tool, unknown", &[("any mode", &MODES, [Deny, Ask, Ask, Ask])]);
    check("tool, destructive", &[("any mode", &MODES, [Deny, Ask, Ask, Ask])]);
    check("spawn", &[("any mode", &MODES, [Allow, Allow, Allow, Ask])]);
}
