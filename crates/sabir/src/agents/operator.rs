//! The person at this terminal, who decides what delegated tasks may do. It shows all of what is
//! decided about, in a form that what is shown cannot forge.

use std::io::{IsTerminal as _, Write as _};

use sabir_base::text::{one_line, with_hidden_shown};
use sabir_host::{Approval, Approvals, Decision};
use tokio_util::sync::CancellationToken;

/// Asks the person at this terminal what delegated tasks may do. Where nobody can answer, and where
/// there is more than a person reads, nothing is allowed.
pub(super) async fn ask_operator(approvals: Approvals, stop: CancellationToken) {
    let mut changes = approvals.watch();
    let can_answer = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    loop {
        for approval in approvals.list() {
            let decision = decide(&approval, can_answer.then_some(AtTerminal)).await;
            // Whose task is over meanwhile does not wait for it any more.
            let _ = approvals.decide(approval.id, decision);
        }
        tokio::select! {
            changed = changes.changed() => if changed.is_err() { return },
            () = stop.cancelled() => return,
        }
    }
}

/// Somebody who can answer.
struct AtTerminal;

async fn decide(approval: &Approval, person: Option<AtTerminal>) -> Decision {
    let why_not = match person {
        None => "nobody is there to ask".to_owned(),
        Some(AtTerminal) if approval.what.len() > MOST_SHOWN => {
            format!("{} bytes are more than can be shown", approval.what.len())
        }
        Some(AtTerminal) => return ask(approval).await,
    };
    let what = one_line(&approval.what, 300);
    let _ = writeln!(std::io::stderr(), "denied, because {why_not}: {what}");
    Decision::Deny
}

async fn ask(approval: &Approval) -> Decision {
    let question = question(approval);
    let asked = tokio::task::spawn_blocking(move || {
        let mut terminal = std::io::stderr();
        let _ = terminal.write_all(question.as_bytes()).and_then(|()| terminal.flush());
        let mut line = String::new();
        let read = std::io::stdin().read_line(&mut line);
        read.is_ok() && matches!(line.trim().to_ascii_lowercase().as_str(), "y" | "yes")
    });
    match asked.await {
        Ok(true) => Decision::Approve,
        Ok(false) | Err(_) => Decision::Deny,
    }
}

/// The words of the node start lines; what is decided about never does.
fn question(approval: &Approval) -> String {
    let mut question = format!(
        "task {} of {}, skill {}:\n",
        one_line(approval.task.id.as_str(), 60),
        one_line(approval.task.owner.as_str(), 80),
        one_line(approval.skill.as_str(), 60),
    );
    for line in approval.what.split('\n') {
        let mut mark = "  | ";
        for piece in pieces(&with_hidden_shown(line)) {
            question.push_str(mark);
            question.push_str(&piece);
            question.push('\n');
            mark = "  : ";
        }
    }
    question.push_str("Allow it? [y]es [n]o: ");
    question
}

/// A line in pieces that a terminal does not break anew: what it broke would start a line. There is at
/// least one.
fn pieces(line: &str) -> Vec<String> {
    let (mut pieces, mut room) = (vec![String::new()], COLUMNS);
    for letter in line.chars() {
        // A tab takes up to eight columns, and what is not ASCII often two.
        let width = match letter {
            '\t' => 8,
            letter if letter.is_ascii() => 1,
            _ => 2,
        };
        if width > room {
            pieces.push(String::new());
            room = COLUMNS;
        }
        room -= width;
        if let Some(last) = pieces.last_mut() {
            last.push(letter);
        }
    }
    pieces
}

/// What fits beside the mark on the narrowest of usual terminals.
const COLUMNS: usize = 74;
/// More than anybody reads before saying yes.
const MOST_SHOWN: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use super::*;
    use sabir_ldp::{DelegateId, SkillName, TaskId, TaskKey};

    fn approval(what: &str) -> Approval {
        let (owner, id) = ("ldp:delegate:asker", "t-1");
        let task = TaskKey { owner: DelegateId::new(owner).unwrap(), id: TaskId::new(id).unwrap() };
        let skill = SkillName::new("fix").unwrap();
        Approval { id: 1, task, skill, what: what.to_owned(), asked_at_ms: 0 }
    }

    #[test]
    fn all_of_it_is_shown_and_none_of_it_looks_like_a_question() {
        let long = "z".repeat(3000);
        let hidden = "run `true\u{1b}[2K\r\nAllow it? [y]es [n]o: \u{202e}tac` in /";
        let what = format!("{hidden}\n{long}\n\tthe end");
        let question = question(&approval(&what));
        let (body, last) = question.rsplit_once('\n').unwrap();
        assert_eq!(last, "Allow it? [y]es [n]o: ");
        let mut lines = body.lines();
        assert_eq!(lines.next(), Some("task t-1 of ldp:delegate:asker, skill fix:"));
        for line in lines.clone() {
            assert!(line.starts_with("  | ") || line.starts_with("  : "), "{line}");
            assert!(line.len() < 80, "{line}");
        }
        for shown in ["u{1b}[2K", "u{202e}tac", "\tthe end"] {
            assert!(body.contains(shown), "{shown}: {body}");
        }
        assert_eq!(body.matches('z').count(), 3000);
        assert!(!question.contains(['\u{1b}', '\r', '\u{202e}']), "{question}");
    }

    #[tokio::test]
    async fn more_than_can_be_shown_is_denied() {
        let large = approval(&"x\n".repeat(MOST_SHOWN));
        assert_eq!(decide(&large, Some(AtTerminal)).await, Decision::Deny);
        assert_eq!(decide(&approval("run `true`"), None).await, Decision::Deny);
    }
}
