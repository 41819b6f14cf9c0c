//! Folders that tasks of other agents work in: one task at a time in each, so that two do not change the
//! same files under each other's hands. What a task hands on works beside it, because it waits for that.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sabir_ldp::TaskId;
use tokio::sync::watch;

/// Cheap to clone; clones share everything.
#[derive(Debug, Clone, Default)]
pub(crate) struct Folders(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    /// Who works in each: whoever came first, and what it handed on above it.
    held: Mutex<HashMap<PathBuf, Vec<TaskId>>>,
    /// Changes whenever somebody leaves.
    left: watch::Sender<()>,
}

/// The right to work in a folder. Dropping it makes way for the next.
#[derive(Debug)]
pub(crate) struct Place {
    folders: Folders,
    folder: PathBuf,
    task: TaskId,
}

impl Folders {
    /// Takes a folder if nobody has it, or only a task that this one was handed on by. `Err` says who
    /// works there.
    pub(crate) fn take(
        &self,
        folder: &Path,
        task: &TaskId,
        handed_on_by: Option<&TaskId>,
    ) -> Result<Place, TaskId> {
        let mut held = self.held();
        let at_work = held.entry(folder.to_owned()).or_default();
        match at_work.last() {
            Some(last) if Some(last) != handed_on_by => Err(last.clone()),
            Some(_) | None => {
                at_work.push(task.clone());
                Ok(Place { folders: self.clone(), folder: folder.to_owned(), task: task.clone() })
            }
        }
    }

    /// To be looked at before a folder is asked for, so that nobody's leaving is missed.
    pub(crate) fn leavings(&self) -> watch::Receiver<()> {
        self.0.left.subscribe()
    }

    fn held(&self) -> MutexGuard<'_, HashMap<PathBuf, Vec<TaskId>>> {
        self.0.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut held = self.folders.held();
        if let Some(at_work) = held.get_mut(&self.folder) {
            at_work.retain(|task| *task != self.task);
            if at_work.is_empty() {
                held.remove(&self.folder);
            }
        }
        drop(held);
        self.folders.0.left.send_replace(());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_task_at_a_time_and_what_it_handed_on() {
        let (folders, at) = (Folders::default(), Path::new("/w"));
        let task = |name: &str| TaskId::new(name).unwrap();
        let (first, child, other) = (task("first"), task("child"), task("other"));
        let place = folders.take(at, &first, None).unwrap();
        assert_eq!(folders.take(at, &other, None).unwrap_err(), first);
        assert!(folders.take(Path::new("/elsewhere"), &other, None).is_ok());
        let below = folders.take(at, &child, Some(&first)).unwrap();
        // Its siblings wait for it, and so does everybody else.
        assert_eq!(folders.take(at, &task("sibling"), Some(&first)).unwrap_err(), child);
        assert!(!folders.leavings().has_changed().unwrap());
        let leavings = folders.leavings();
        drop(below);
        assert!(leavings.has_changed().unwrap());
        assert!(folders.take(at, &task("sibling"), Some(&first)).is_ok());
        drop(place);
        assert!(folders.take(at, &other, None).is_ok());
    }
}
