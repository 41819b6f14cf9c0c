//! Reading, searching and writing below the root.

use std::sync::Arc;

use sabir_base::Span;
use sabir_engine::patch::{Files as _, Operation, OperationKind, Patch, PatchPath, Plan, plan};
use sabir_engine::{ListDir, Search as SearchCall};
use sabir_llmx::LineRange;
use sabir_policy::{Action as Deed, reach, writable_roots};
use serde_json::{Value, json};

use super::edit;
use super::gate::Wanted;
use super::place::Place;
use super::request::{Change, Search};
use super::{Content, Failure, MOST_BYTES, Turn, content};
use crate::files::Root;
use crate::sandbox::temporary_folder;
use crate::tools::{self, Look};

impl Turn<'_> {
    pub(super) async fn read(self, path: &str) -> Result<Content, Failure> {
        let wanted = Wanted::new("read", [("path", path.into())]);
        self.pass(&self.judge(Deed::Read, &wanted), format!("read {path}")).await?;
        let (root, place) = (Arc::clone(&self.actions.root), self.actions.place.clone());
        let (path, stop) = (path.to_owned(), self.stop.clone());
        let key_files = self.actions.key_files.clone();
        self.look(move || {
            let found = Place::find(&path, &place)?;
            if found.path.is_dir() {
                let list = ListDir { path: None, depth: None, limit: None };
                let is_stopped = || stop.is_cancelled();
                let cwd = &found.path;
                let look = Look { cwd, key_files: &key_files, is_stopped: &is_stopped };
                let listed = tools::list_dir(look, &list)?;
                return Ok(content([("folder", true.into()), ("text", listed.into())]));
            }
            if found.path.metadata().is_ok_and(|facts| key_files.has(&facts)) {
                return Err(format!("{path} holds a key, which is hidden"));
            }
            let (file, found) = Place::find_file(&path, &place)?;
            let text = text_of(&root, &file)?.ok_or_else(|| format!("{file}: no such file"))?;
            lines_of(&file, &text, found.lines)
        })
        .await
    }

    pub(super) async fn search(self, path: &str, search: &Search) -> Result<Content, Failure> {
        let pattern = search.pattern.as_str();
        let wanted = Wanted::new("read", [("pattern", pattern.into()), ("path", path.into())]);
        self.pass(&self.judge(Deed::Read, &wanted), format!("search {path}")).await?;
        let (root, path, stop) = (self.actions.place.clone(), path.to_owned(), self.stop.clone());
        let key_files = self.actions.key_files.clone();
        let search = SearchCall {
            pattern: search.pattern.clone(),
            path: None,
            glob: search.glob.clone(),
            limit: search.limit,
        };
        self.look(move || {
            let place = Place::find(&path, &root)?;
            let search =
                SearchCall { path: Some(place.path.to_string_lossy().into_owned()), ..search };
            let is_stopped = || stop.is_cancelled();
            let cwd = root.as_ref();
            let look = Look { cwd, key_files: &key_files, is_stopped: &is_stopped };
            let found = tools::find_lines(look, &search)?;
            let matches = found.lines.len();
            let lines = found.lines.into_iter().map(Value::from).collect::<Vec<_>>();
            let mut said = content([("matches", matches.into()), ("found", lines.into())]);
            if found.is_cut {
                said.insert("more".to_owned(), true.into());
            }
            Ok(said)
        })
        .await
    }

    pub(super) async fn write(
        self,
        path: &str,
        text: &str,
        overwrite: bool,
    ) -> Result<Content, Failure> {
        let (root, place) = (Arc::clone(&self.actions.root), self.actions.place.clone());
        let (path, text) = (path.to_owned(), text.to_owned());
        let planned = self
            .look(move || {
                let (file, place) = Place::find_file(&path, &place)?;
                if place.lines.is_some() {
                    return Err(format!(
                        "{path}: a file is written as a whole; use edit for lines"
                    ));
                }
                let plan = put(&root, &file, text)?;
                let exists = plan.files().first().is_some_and(|file| file.before.is_some());
                if exists && !overwrite {
                    return Err(format!(
                        "{file} exists: use edit, or say args:{{text:\"...\",overwrite:true}}"
                    ));
                }
                Ok((file, plan))
            })
            .await?;
        self.change(planned).await
    }

    pub(super) async fn edit(self, path: &str, change: &Change) -> Result<Content, Failure> {
        let (root, place) = (Arc::clone(&self.actions.root), self.actions.place.clone());
        let (path, change) = (path.to_owned(), change.clone());
        let planned = self
            .look(move || {
                let (file, place) = Place::find_file(&path, &place)?;
                let before = text_of(&root, &file)?
                    .ok_or_else(|| format!("{file}: no such file; use write for a new one"))?;
                let after = edit::edited(&file, &before, place.lines, &change)?;
                let plan = put(&root, &file, after)?;
                // The plan has read the file again, and will change nothing but what it read.
                let same = plan.files().first().and_then(|file| file.before.as_deref());
                if same != Some(before.as_str()) {
                    return Err(format!("{file} was changed meanwhile: try again"));
                }
                Ok((file, plan))
            })
            .await?;
        self.change(planned).await
    }

    /// Makes a change that was planned, if it is allowed.
    async fn change(self, (file, plan): (PatchPath, Plan)) -> Result<Content, Failure> {
        let actions = self.actions;
        let own: Vec<String> =
            actions.own_state().iter().map(|it| it.to_string_lossy().into_owned()).collect();
        let tmpdir = temporary_folder();
        let tmpdir = tmpdir.as_deref().and_then(std::path::Path::to_str);
        let roots = writable_roots(&actions.sandbox, &actions.place, tmpdir, &own);
        let absolute = |path: &PatchPath| format!("{}/{path}", actions.place);
        let paths: Vec<String> = plan.paths().map(absolute).collect();
        let diff = plan.unified_diff();
        let what = format!("change {file}:\n{diff}");
        let wanted = Wanted::new("apply_patch", [("paths", json!(paths)), ("patch", diff.into())]);
        let mut judged = self.judge(Deed::Patch { reach: reach(&paths, &roots) }, &wanted);
        if actions.is_read_only() {
            judged.add_reason("; the sandbox is read-only");
        }
        self.pass(&judged, what).await?;
        if self.stop.is_cancelled() {
            return Err(super::ABORTED.into());
        }
        let (added, lines) = match plan.files().first() {
            Some(it) => {
                (it.before.is_none(), it.after.as_deref().map_or(0, |it| it.lines().count()))
            }
            None => (false, 0),
        };
        let changed = plan.files().iter().any(|file| file.before != file.after);
        let _permit = actions.running.acquire().await;
        let (root, journal) =
            (Arc::clone(&actions.root), actions.home.join(crate::engine::PATCH_JOURNAL));
        // Once begun it is finished: half a change helps nobody.
        let done =
            tokio::task::spawn_blocking(move || crate::files::apply(&plan, &root, &journal)).await;
        match done {
            Ok(Ok(_)) => {
                let kind = if added { "created" } else { "modified" };
                Ok(content([("lines", lines.into()), (kind, (added || changed).into())]))
            }
            Ok(Err(error)) => Err(format!("{error}; {}", error.help()).into()),
            Err(error) => Err(format!("{file} was not changed: {error}").into()),
        }
    }
}

fn text_of(root: &Root, file: &PatchPath) -> Result<Option<String>, String> {
    let bytes = root.read(file).map_err(|failure| format!("{file} {failure}"))?;
    let Some(bytes) = bytes else { return Ok(None) };
    if bytes.contains(&0) {
        return Err(format!("{file} is not a text file"));
    }
    String::from_utf8(bytes).map(Some).map_err(|_| format!("{file} is not UTF-8"))
}

/// What becomes of the files when this one holds that text.
fn put(root: &Root, file: &PatchPath, text: String) -> Result<Plan, String> {
    let kind = OperationKind::Add { content: text };
    let operation =
        Operation { path: file.clone(), kind, span: Span { start: 0, end: 0 }, line: 1 };
    plan(&Patch { operations: vec![operation] }, root)
        .map_err(|error| format!("{error}; {}", error.help()))
}

fn lines_of(file: &PatchPath, text: &str, range: Option<LineRange>) -> Result<Content, String> {
    let all = text.lines().count();
    let (first, last) = match range {
        None => (1, all),
        Some(LineRange { start, end }) => (start as usize, (end as usize).min(all)),
    };
    if range.is_some() && first > all {
        return Err(format!("{file} has only {all} lines"));
    }
    let mut shown = String::new();
    let mut count = 0;
    let wanted = (last + 1).saturating_sub(first);
    for line in text.split_inclusive('\n').skip(first - 1).take(wanted) {
        if shown.len() + line.len() > MOST_BYTES {
            break;
        }
        shown.push_str(line);
        count += 1;
    }
    let mut said = content([("lines", count.into()), ("text", shown.into())]);
    if count < wanted {
        // A line that alone is too long cannot be read on from.
        let next = first + count;
        said.insert("more".to_owned(), true.into());
        said.insert("next".to_owned(), next.into());
    }
    Ok(said)
}
