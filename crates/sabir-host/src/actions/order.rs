//! Which actions wait for which: what looks goes side by side, and what changes a file goes in the
//! order in which it was asked for.

use std::path::{Path, PathBuf};

use super::place::Place;
use super::request::{Action, Work};

/// How the actions of one message are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// As a batch: side by side.
    Together,
    /// One after the other.
    InTurn,
}

/// What an action touches.
enum Touch {
    Nothing,
    Looks(PathBuf),
    Changes(PathBuf),
    /// Nobody knows what a command or an agent touches.
    Anything,
}

/// For every action, the earlier ones that have to end before it begins.
pub(super) fn waits(actions: &[Action], order: Order, root: &str) -> Vec<Vec<usize>> {
    if order == Order::InTurn {
        return (0..actions.len())
            .map(|index| index.checked_sub(1).into_iter().collect())
            .collect();
    }
    let touches: Vec<Touch> = actions.iter().map(|action| touch(action, root)).collect();
    let before = |index: usize| {
        (0..index).filter(|&earlier| clash(&touches[earlier], &touches[index])).collect()
    };
    (0..actions.len()).map(before).collect()
}

fn touch(action: &Action, root: &str) -> Touch {
    // A path that leads nowhere is refused when its turn comes.
    let place = |path: &str| Place::find(path, root).ok().map(|place| place.path);
    let touch = match &action.work {
        Ok(Work::Read { path } | Work::Search { path, .. }) => place(path).map(Touch::Looks),
        Ok(Work::Write { path, .. } | Work::Edit { path, .. }) => place(path).map(Touch::Changes),
        Ok(Work::Shell(_) | Work::Spawn(_)) => Some(Touch::Anything),
        Err(_) => None,
    };
    touch.unwrap_or(Touch::Nothing)
}

/// Commands go beside commands and beside what looks: that is what a batch is for. Beside a change
/// they might see half of what was asked for.
fn clash(earlier: &Touch, later: &Touch) -> bool {
    let overlap = |a: &Path, b: &Path| a.starts_with(b) || b.starts_with(a);
    match (earlier, later) {
        (Touch::Changes(a), Touch::Changes(b) | Touch::Looks(b))
        | (Touch::Looks(a), Touch::Changes(b)) => overlap(a, b),
        (Touch::Changes(_), Touch::Anything) | (Touch::Anything, Touch::Changes(_)) => true,
        (Touch::Nothing | Touch::Looks(_) | Touch::Anything, _) | (_, Touch::Nothing) => false,
    }
}
