//! What is left of an agent's rights where it works for another one: every pair in one committed
//! table, and what holds for all of them.

use std::fmt::Write;

use expect_test::expect_file;
use sabir_policy::{
    Action, ApprovalPolicy, Bounds, Facts, Outcome, PatchReach, Ruling, SandboxMode, SandboxPolicy,
    UnreadableBounds, Verdict, decide,
};

const APPROVALS: [ApprovalPolicy; 4] = [
    ApprovalPolicy::Never,
    ApprovalPolicy::OnFailure,
    ApprovalPolicy::OnRequest,
    ApprovalPolicy::Untrusted,
];
const MODES: [SandboxMode; 3] =
    [SandboxMode::ReadOnly, SandboxMode::WorkspaceWrite, SandboxMode::DangerFullAccess];
/// Where the one works that asks; and those who are asked: there, below, beside, above.
const ASKER: &str = "/desk/site";
const FOLDERS: [&str; 4] = ["/desk/site", "/desk/site/api", "/desk/site2", "/desk"];

fn word(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).unwrap().as_str().unwrap().to_owned()
}

fn bounds(approval: ApprovalPolicy, mode: SandboxMode, cwd: &str) -> Bounds {
    let sandbox = SandboxPolicy { exclude_slash_tmp: true, ..SandboxPolicy::of(mode) };
    Bounds::new(approval, sandbox, cwd.to_owned())
}

fn pairs() -> impl Iterator<Item = (Bounds, Bounds)> {
    let each = |folders: &'static [&'static str]| {
        APPROVALS.into_iter().flat_map(move |approval| {
            MODES
                .into_iter()
                .flat_map(move |mode| folders.iter().map(move |cwd| bounds(approval, mode, cwd)))
        })
    };
    each(&[ASKER]).flat_map(move |asker| each(&FOLDERS).map(move |own| (asker.clone(), own)))
}

/// QP-A37: the whole table, for reading.
#[test]
fn the_table_of_pairs_is_as_committed() {
    let mut table = String::from(
        "Who asks, and who does it: what is left for the second. First by sandbox, where the one that\n\
         asks works in /desk/site; then by approval policy.\n\n",
    );
    for asker in MODES {
        for mode in MODES {
            for cwd in FOLDERS {
                let asker = bounds(ApprovalPolicy::OnRequest, asker, ASKER);
                let own = bounds(ApprovalPolicy::OnRequest, mode, cwd);
                let left = own.within(&asker).sandbox.mode;
                let (asker, own, left) = (word(&asker.sandbox.mode), word(&mode), word(&left));
                writeln!(table, "{asker:<19} {own:<19} {cwd:<15} {left}").unwrap();
            }
        }
    }
    table.push('\n');
    for asker in APPROVALS {
        for own in APPROVALS {
            let asks = bounds(asker, SandboxMode::ReadOnly, ASKER);
            let left = bounds(own, SandboxMode::ReadOnly, ASKER).within(&asks);
            let who = if left.is_attended { "a person is asked" } else { "nobody is asked" };
            let (asker, own, left) = (word(&asker), word(&own), word(&left.approval));
            writeln!(table, "{asker:<11} {own:<11} {left:<11} {who}").unwrap();
        }
    }
    expect_file!["../data/bounds.txt"].assert_eq(&table);
}

/// What happens without a person: where nobody is asked, a question is a refusal.
fn is_done(bounds: &Bounds, action: Action) -> bool {
    let facts = Facts {
        approval: bounds.approval,
        sandbox: &bounds.sandbox,
        action,
        granted: false,
        ruling: Ruling::default(),
    };
    decide(&facts).outcome == Outcome::Allow
}

/// QP-A37: what neither of the two may do without a question, the second does not do for the first.
#[test]
fn nothing_is_gained_by_handing_work_on() {
    for (asker, own) in pairs() {
        let left = own.within(&asker);
        assert!(left.reaches_no_further_than(&asker), "{asker:?} {own:?}");
        assert!(left.reaches_no_further_than(&own), "{asker:?} {own:?}");
        assert!(!left.is_attended || (own.is_attended && asker.is_attended));
        assert_eq!(left.within(&asker), left, "{asker:?} {own:?}");
        let command = |assessment| Action::Command { assessment, escalated: false };
        for action in [
            command(Verdict::Safe),
            command(Verdict::Ordinary),
            command(Verdict::Dangerous),
            Action::Command { assessment: Verdict::Dangerous, escalated: true },
            Action::RetryOutsideSandbox,
            Action::Patch { reach: PatchReach::Inside },
            Action::Patch { reach: PatchReach::Outside },
            Action::Patch { reach: PatchReach::Protected },
            Action::Spawn,
        ] {
            if is_done(&left, action) {
                assert!(is_done(&own, action), "{own:?} {action:?}");
                assert!(is_done(&asker, action), "{asker:?} {action:?}");
            }
        }
    }
}

/// QP-A37
#[test]
fn folders_network_and_temporary_folders_are_those_of_both() {
    let with = |roots: &[&str], network_access, exclude_slash_tmp, cwd: &str| {
        let sandbox = SandboxPolicy {
            writable_roots: roots.iter().map(|root| (*root).to_owned()).collect(),
            network_access,
            exclude_slash_tmp,
            ..SandboxPolicy::of(SandboxMode::WorkspaceWrite)
        };
        Bounds::new(ApprovalPolicy::OnRequest, sandbox, cwd.to_owned())
    };
    let asker = with(&["/data"], false, true, "/desk/site");
    let own = with(&["/data/a", "/else"], true, false, "/desk/site/api");
    let left = own.within(&asker).sandbox;
    assert_eq!(left.writable_roots, ["/data/a"]);
    assert!(!left.network_access && left.exclude_slash_tmp);
    // A folder of git is nobody's, and neither is one whose name only begins alike.
    for cwd in ["/desk/site/.git", "/database", "/desk/site/../other"] {
        let left = with(&[], false, true, cwd).within(&asker).sandbox;
        assert_eq!(left.mode, SandboxMode::ReadOnly, "{cwd}");
    }
}

/// QP-A37: what travels with a task is read back, and what cannot be read is no permission.
#[test]
fn bounds_travel_as_constraints() {
    let bounds = bounds(ApprovalPolicy::Never, SandboxMode::WorkspaceWrite, "/a \"b\"");
    let said = vec!["be kind".to_owned(), bounds.to_constraint()];
    assert_eq!(Bounds::of_constraints(&said), Ok(vec![bounds.clone()]));
    assert_eq!(Bounds::of_constraints(&said[..1]), Ok(vec![]));
    let cut = bounds.to_constraint()[..20].to_owned();
    assert_eq!(Bounds::of_constraints(&[cut]), Err(UnreadableBounds));
}
