//! What a patch makes of the files: for every path all that it holds before and after.

mod files;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use files::{Files, MemoryFiles, ReadFailure};

use super::MAX_FILE_BYTES;
use super::diff;
use super::error::{PlanError, PlanErrorKind};
use super::index::Budget;
use super::path::PatchPath;
use super::syntax::{Chunk, Operation, OperationKind, Patch};
use super::text::has_too_many_lines;
use super::update::update;
use crate::protocol::FileChange;

/// What to do, for all files at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// In the order in which the operations name them.
    files: Vec<FilePlan>,
    done: Vec<(Letter, PatchPath)>,
}

/// What one path holds before and after; `None` where there is no file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePlan {
    /// Links are followed.
    pub path: PatchPath,
    pub before: Option<Arc<str>>,
    pub after: Option<Arc<str>>,
    /// The file from which the content was moved, with its mode; otherwise the path itself.
    pub origin: PatchPath,
}

/// What an operation did to a path, as the summary says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Letter {
    Added,
    Modified,
    Deleted,
}

/// Works out what the patch makes of the files, without changing any.
///
/// Operations are done in order, and later ones see what earlier ones made.
pub fn plan(patch: &Patch, files: &impl Files) -> Result<Plan, PlanError> {
    let mut planner = Planner {
        files,
        plans: Vec::new(),
        places: BTreeMap::new(),
        done: Vec::new(),
        budget: Budget::new(),
        held: 0,
    };
    for operation in &patch.operations {
        planner.perform(operation)?;
    }
    planner.refuse_files_as_folders(patch)?;
    let mut done = planner.done;
    let mut seen = std::collections::BTreeSet::new();
    done.retain(|it| seen.insert(it.clone()));
    // Stable: within a letter the order of the operations stays.
    done.sort_by_key(|(letter, _)| *letter);
    Ok(Plan { files: planner.plans, done })
}

impl Plan {
    pub fn files(&self) -> &[FilePlan] {
        &self.files
    }

    /// Every path that is read or written, once, in order.
    pub fn paths(&self) -> impl Iterator<Item = &PatchPath> {
        self.files.iter().map(|file| &file.path)
    }

    /// What a person is shown before it is done.
    pub fn changes(&self) -> BTreeMap<String, FileChange> {
        diff::changes(&self.files)
    }

    /// The same as one unified diff, with file names.
    pub fn unified_diff(&self) -> String {
        diff::unified(&self.files)
    }

    /// What is said when it has been done.
    pub fn summary(&self) -> String {
        let mut text = "Success. Updated the following files:\n".to_owned();
        for (letter, path) in &self.done {
            text.push_str(match letter {
                Letter::Added => "A ",
                Letter::Modified => "M ",
                Letter::Deleted => "D ",
            });
            text.push_str(path.as_str());
            text.push('\n');
        }
        text
    }
}

struct Planner<'f, F> {
    files: &'f F,
    plans: Vec<FilePlan>,
    /// Where each path is in `plans`.
    places: BTreeMap<PatchPath, usize>,
    done: Vec<(Letter, PatchPath)>,
    budget: Budget,
    /// The bytes in `plans`.
    held: usize,
}

impl<F: Files> Planner<'_, F> {
    fn perform(&mut self, operation: &Operation) -> Result<(), PlanError> {
        match &operation.kind {
            OperationKind::Add { content } => {
                let at = self.open(operation, &operation.path)?;
                let plan = &mut self.plans[at];
                if plan.after.is_none() {
                    // Whatever was moved here before is gone.
                    plan.origin = plan.path.clone();
                }
                self.put(operation, at, Some(content.as_str().into()))?;
                self.note(Letter::Added, at);
            }
            OperationKind::Delete => {
                self.refuse_link(operation)?;
                let at = self.open(operation, &operation.path)?;
                self.content(operation, at)?;
                self.put(operation, at, None)?;
                self.note(Letter::Deleted, at);
            }
            OperationKind::Update { move_to, chunks } => {
                self.update(operation, move_to.as_ref(), chunks)?;
            }
        }
        Ok(())
    }

    fn update(
        &mut self,
        operation: &Operation,
        move_to: Option<&PatchPath>,
        chunks: &[Chunk],
    ) -> Result<(), PlanError> {
        let from = self.open(operation, &operation.path)?;
        let old = self.content(operation, from)?;
        let new: Arc<str> = match update(&old, chunks, &mut self.budget) {
            Ok(_) if chunks.is_empty() => old,
            Ok(new) => new.into(),
            Err(misfit) => {
                let path = self.plans[from].path.clone();
                let (span, line) = (misfit.span, misfit.line);
                return Err(PlanError { kind: misfit.kind, path, span, line });
            }
        };
        let to = match move_to {
            Some(target) => self.open(operation, target)?,
            None => from,
        };
        if to != from {
            self.refuse_link(operation)?;
            self.put(operation, from, None)?;
            let origin = self.plans[from].origin.clone();
            self.plans[to].origin = origin;
        }
        self.put(operation, to, Some(new))?;
        self.note(Letter::Modified, to);
        Ok(())
    }

    /// Finds the path among the plans, or reads it.
    fn open(&mut self, operation: &Operation, path: &PatchPath) -> Result<usize, PlanError> {
        let fail = |kind| error(operation, path, kind);
        let located = self.files.locate(path).map_err(|it| fail(PlanErrorKind::Read(it)))?;
        if let Some(&at) = self.places.get(&located) {
            return Ok(at);
        }
        let bytes = self.files.read(&located).map_err(|it| fail(PlanErrorKind::Read(it)))?;
        let before: Option<Arc<str>> = match bytes {
            None => None,
            Some(bytes) if bytes.len() > MAX_FILE_BYTES => {
                return Err(fail(PlanErrorKind::Read(ReadFailure::TooLarge)));
            }
            Some(bytes) if bytes.contains(&0) => return Err(fail(PlanErrorKind::Nul)),
            Some(bytes) => match String::from_utf8(bytes) {
                Ok(text) if has_too_many_lines(&text) => {
                    return Err(fail(PlanErrorKind::TooManyLines));
                }
                Ok(text) => Some(text.into()),
                Err(error) => {
                    let offset = error.utf8_error().valid_up_to();
                    return Err(fail(PlanErrorKind::NotUtf8 { offset }));
                }
            },
        };
        self.held += before.as_ref().map_or(0, |text| text.len());
        if self.held > MAX_PLAN_BYTES {
            return Err(fail(PlanErrorKind::PlanTooLarge));
        }
        let at = self.plans.len();
        self.places.insert(located.clone(), at);
        let (after, origin) = (before.clone(), located.clone());
        self.plans.push(FilePlan { path: located, before, after, origin });
        Ok(at)
    }

    fn content(&self, operation: &Operation, at: usize) -> Result<Arc<str>, PlanError> {
        let plan = &self.plans[at];
        plan.after.clone().ok_or_else(|| error(operation, &plan.path, PlanErrorKind::Missing))
    }

    fn put(
        &mut self,
        operation: &Operation,
        at: usize,
        after: Option<Arc<str>>,
    ) -> Result<(), PlanError> {
        let plan = &mut self.plans[at];
        // What a file shares with its own past is not held twice.
        let own = |text: &Option<Arc<str>>, before: &Option<Arc<str>>| match (text, before) {
            (Some(text), Some(before)) if Arc::ptr_eq(text, before) => 0,
            (Some(text), _) => text.len(),
            (None, _) => 0,
        };
        self.held -= own(&plan.after, &plan.before);
        self.held += own(&after, &plan.before);
        let is_large = after.as_ref().is_some_and(|text| text.len() > MAX_FILE_BYTES);
        let is_long = after.as_ref().is_some_and(|text| has_too_many_lines(text));
        plan.after = after;
        let kind = match () {
            () if is_large => PlanErrorKind::TooLarge,
            () if is_long => PlanErrorKind::TooManyLines,
            () if self.held > MAX_PLAN_BYTES => PlanErrorKind::PlanTooLarge,
            () => return Ok(()),
        };
        Err(error(operation, &plan.path, kind))
    }

    fn note(&mut self, letter: Letter, at: usize) {
        self.done.push((letter, self.plans[at].path.clone()));
    }

    /// Removing what a link leads to would surprise, and so would removing the link.
    fn refuse_link(&self, operation: &Operation) -> Result<(), PlanError> {
        let path = &operation.path;
        let locate = |path| {
            self.files.locate(path).map_err(|it| error(operation, path, PlanErrorKind::Read(it)))
        };
        let target = locate(path)?;
        let is_link = match path.parent() {
            None => target != *path,
            Some(parent) => {
                let parent = locate(&parent)?;
                target.name() != path.name() || target.parent() != Some(parent)
            }
        };
        if is_link {
            return Err(error(operation, path, PlanErrorKind::IsLink { target }));
        }
        Ok(())
    }

    /// A path cannot be a file and have files below it.
    fn refuse_files_as_folders(&self, patch: &Patch) -> Result<(), PlanError> {
        for plan in self.plans.iter().filter(|plan| plan.after.is_some()) {
            let mut folder = plan.path.parent();
            while let Some(path) = folder {
                let is_file =
                    self.places.get(&path).is_some_and(|&at| self.plans[at].after.is_some());
                if is_file && let Some(last) = patch.operations.last() {
                    let below = plan.path.clone();
                    let kind = PlanErrorKind::FileAndFolder { below };
                    let named = patch.operations.iter().rfind(|it| it.path == path);
                    return Err(error(named.unwrap_or(last), &path, kind));
                }
                folder = path.parent();
            }
        }
        Ok(())
    }
}

fn error(operation: &Operation, path: &PatchPath, kind: PlanErrorKind) -> PlanError {
    PlanError { kind, path: path.clone(), span: operation.span, line: operation.line }
}

/// All files of a plan are in memory, before and after.
const MAX_PLAN_BYTES: usize = 256 * 1024 * 1024;
