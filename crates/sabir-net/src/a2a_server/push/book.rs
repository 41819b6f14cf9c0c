//! Webhooks on disk: a file for each task that has some, which only the user can read. A file is
//! written whole and put in the place of the one before.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

/// One webhook.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Hook {
    pub(super) id: String,
    pub(super) url: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) token: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) scheme: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) credentials: Option<String>,
    /// It was told the end, or given up, and was not thrown away yet.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_done: bool,
    /// Tells it from one that took its place with the same words, and is never the same twice.
    #[serde(skip)]
    pub(super) number: u64,
}

pub(super) struct Book {
    folder: Arc<PathBuf>,
    kept: Mutex<BTreeMap<String, Vec<Hook>>>,
    /// One file is written at a time.
    writing: tokio::sync::Mutex<()>,
}

impl Book {
    /// Reads the folder, and makes it when it is missing. What is done is thrown away; the rest has
    /// to be told.
    pub(super) async fn open(folder: PathBuf) -> io::Result<(Self, Vec<(String, Hook)>)> {
        let folder = Arc::new(folder);
        let at = Arc::clone(&folder);
        let read = tokio::task::spawn_blocking(move || read_all(&at));
        let kept = read.await.map_err(io::Error::other)??;
        let waiting = kept
            .iter()
            .flat_map(|(task, hooks)| hooks.iter().map(|hook| (task.clone(), hook.clone())));
        let waiting = waiting.filter(|(_, hook)| !hook.is_done).collect();
        let book = Self { folder, kept: Mutex::new(kept), writing: tokio::sync::Mutex::default() };
        Ok((book, waiting))
    }

    pub(super) fn of_task(&self, task: &str) -> Vec<Hook> {
        self.lock().get(task).cloned().unwrap_or_default()
    }

    /// Keeps a webhook, in the place of one with its id.
    pub(super) async fn put(&self, task: &str, hook: Hook) -> io::Result<()> {
        self.change(task, |hooks| match hooks.iter_mut().find(|it| it.id == hook.id) {
            Some(known) => *known = hook,
            None => hooks.push(hook),
        })
        .await
    }

    pub(super) async fn remove(&self, task: &str, id: &str) -> io::Result<()> {
        self.change(task, |hooks| hooks.retain(|hook| hook.id != id)).await
    }

    /// Throws away a webhook that needs not be told any more, unless it was changed meanwhile: what it
    /// holds is secret.
    pub(super) async fn end(&self, task: &str, hook: &Hook) -> io::Result<()> {
        self.change(task, |hooks| hooks.retain(|it| it != hook)).await
    }

    async fn change(&self, task: &str, change: impl FnOnce(&mut Vec<Hook>)) -> io::Result<()> {
        let _turn = self.writing.lock().await;
        let mut hooks = self.of_task(task);
        change(&mut hooks);
        let (folder, name, written) = (Arc::clone(&self.folder), task.to_owned(), hooks.clone());
        let writing = tokio::task::spawn_blocking(move || write(&folder, &name, &written));
        writing.await.map_err(io::Error::other)??;
        match hooks.is_empty() {
            true => self.lock().remove(task),
            false => self.lock().insert(task.to_owned(), hooks),
        };
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Vec<Hook>>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[expect(clippy::disallowed_methods, reason = "webhooks are kept in files of this part alone")]
fn read_all(folder: &Path) -> io::Result<BTreeMap<String, Vec<Hook>>> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let mut kept = BTreeMap::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let Some(task) = path.file_stem().and_then(|it| it.to_str()).map(str::to_owned) else {
            continue;
        };
        match path.extension().and_then(|it| it.to_str()) {
            Some("json") => {}
            // Of somebody who was stopped in the middle of writing.
            Some("new") => {
                fs::remove_file(&path)?;
                continue;
            }
            _ => continue,
        }
        let text = fs::read_to_string(&path)?;
        let mut hooks: Vec<Hook> = serde_json::from_str(&text)
            .map_err(|error| io::Error::other(format!("{}: {error}", path.display())))?;
        hooks.retain(|hook| !hook.is_done);
        match hooks.is_empty() {
            true => fs::remove_file(&path)?,
            false => _ = kept.insert(task, hooks),
        }
    }
    Ok(kept)
}

fn write(folder: &Path, task: &str, hooks: &[Hook]) -> io::Result<()> {
    // Names of tasks are made here, of letters, digits and hyphens.
    if !task.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') || task.is_empty() {
        return Err(io::Error::other("the task has no name for a file"));
    }
    let path = folder.join(format!("{task}.json"));
    if hooks.is_empty() {
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
    } else {
        let new = folder.join(format!("{task}.new"));
        let mut options = OpenOptions::new();
        let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&new)?;
        file.write_all(&serde_json::to_vec(hooks)?)?;
        file.sync_all()?;
        fs::rename(&new, &path)?;
    }
    // The name of a file is on disk only when its folder is.
    OpenOptions::new().read(true).open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn hook(id: &str) -> Hook {
        Hook {
            id: id.to_owned(),
            url: "https://harbor.example/hook".to_owned(),
            token: Some("sesame".to_owned()),
            scheme: None,
            credentials: None,
            is_done: false,
            number: 0,
        }
    }

    /// BR-P5
    #[tokio::test]
    async fn what_is_kept_is_there_after_a_restart_and_nobody_elses() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("a2a");
        let (book, waiting) = Book::open(folder.clone()).await.unwrap();
        assert!(waiting.is_empty());
        for id in ["1", "2", "3"] {
            book.put("order-1", hook(id)).await.unwrap();
        }
        book.remove("order-1", "2").await.unwrap();
        book.remove("order-1", "none").await.unwrap();
        book.end("order-1", &hook("3")).await.unwrap();
        // It is gone at once, and one that took its place is not.
        assert_eq!(book.of_task("order-1").len(), 1);
        let again = Hook { number: 7, ..hook("1") };
        book.put("order-1", again.clone()).await.unwrap();
        book.end("order-1", &hook("1")).await.unwrap();
        assert!(book.of_task("order-1") == [again]);
        let kept = read_all(&folder).unwrap();
        assert_eq!(kept.values().map(Vec::len).collect::<Vec<_>>(), [1]);
        book.put("order-3", hook("1")).await.unwrap();
        book.end("order-3", &hook("1")).await.unwrap();
        assert!(!folder.join("order-3.json").exists());
        assert!(book.put("../order", hook("1")).await.is_err());
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&folder), 0o700);
        assert_eq!(mode(&folder.join("order-1.json")), 0o600);
        let mut half = OpenOptions::new();
        let path = folder.join("order-2.new");
        half.write(true).create_new(true).open(path).unwrap().write_all(b"{").unwrap();
        let (book, waiting) = Book::open(folder.clone()).await.unwrap();
        assert_eq!(waiting.len(), 1);
        assert_eq!(book.of_task("order-1").len(), 1);
        assert!(waiting[0].1 == hook("1") && !folder.join("order-2.new").exists());
        book.remove("order-1", "1").await.unwrap();
        assert!(!folder.join("order-1.json").exists());
        assert!(Book::open(folder).await.unwrap().1.is_empty());
    }
}
