//! The end of a node, in order: what would be lost has a while to end, what lasts is left to the next
//! start, and whoever is at the keyboard sees what is waited for and may cut it short.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

use futures_util::future::join_all;
use sabir_base::text::one_line;
use sabir_host::{Crew, Node};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::output::Notes;
use crate::proto::exit_code;
use crate::signals::Signals;

/// The first signal is told through `leaving`; a second ends the program at once. Returns how the
/// program then ends.
pub(super) async fn leave_on(mut signals: Signals, leaving: CancellationToken) -> ExitCode {
    let code = exit_code(signals.next().await);
    leaving.cancel();
    tokio::spawn(async move {
        let code = exit_code(signals.next().await);
        // Whoever supervises what still runs sees us end, and ends it.
        std::process::exit(code.into());
    });
    code.into()
}

/// Waits for what runs, for so long and no longer.
pub(super) async fn drain(node: &Node, crew: &Crew, most: Duration, notes: &mut Notes) {
    let nodes: Vec<&Node> = std::iter::once(node).chain(crew.nodes().map(|(_, it)| it)).collect();
    let running: Vec<(String, bool)> = nodes
        .iter()
        .flat_map(|node| node.running())
        .map(|(skill, lasts)| (skill.to_string(), lasts))
        .collect();
    let lasting = running.iter().filter(|(_, lasts)| *lasts).count();
    let ending: Vec<&str> =
        running.iter().filter(|(_, lasts)| !lasts).map(|(skill, _)| skill.as_str()).collect();
    if lasting > 0 {
        notes.line(format_args!("{} with the next start", tasks(lasting, "goes on", "go on")));
    }
    if !ending.is_empty() && !most.is_zero() {
        notes.line(format_args!(
            "waiting up to {} s for {} ({}); Ctrl-C again to stop now",
            most.as_secs(),
            tasks(ending.len(), "", "").trim_end(),
            named(&ending)
        ));
    }
    let drained = timeout(most, join_all(nodes.iter().map(|node| node.drain()))).await;
    if drained.is_err() {
        let left = nodes.iter().flat_map(|node| node.running()).filter(|(_, lasts)| !lasts);
        let words = tasks(left.count(), "is", "are");
        notes.line(format_args!("{words} ended before being done: who asks is told INTERRUPTED"));
    }
}

fn tasks(count: usize, one: &str, many: &str) -> String {
    match count {
        1 => format!("1 task {one}"),
        count => format!("{count} tasks {many}"),
    }
}

/// Which skills they are of, and how many of each.
fn named(skills: &[&str]) -> String {
    let mut counts = BTreeMap::new();
    for skill in skills {
        *counts.entry(*skill).or_insert(0_usize) += 1;
    }
    let named: Vec<String> = counts
        .into_iter()
        .map(|(skill, count)| match count {
            1 => one_line(skill, 60),
            count => format!("{} × {count}", one_line(skill, 60)),
        })
        .collect();
    one_line(&named.join(", "), 200)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_waited_for_is_named() {
        assert_eq!(tasks(1, "goes on", "go on"), "1 task goes on");
        assert_eq!(tasks(3, "goes on", "go on"), "3 tasks go on");
        assert_eq!(named(&["b", "a", "b"]), "a, b × 2");
        assert!(named(&["long-name"; 3]).starts_with("long-name × 3"));
    }
}
