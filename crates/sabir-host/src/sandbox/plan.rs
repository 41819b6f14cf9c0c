//! What is mounted over what: the one list that both layers carry out.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::placeholder::{Placeholders, is_placeholder};
use super::{Confined, Network, sockets};

/// Steps in the order in which they are done, on top of a file system that is read-only.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Plan {
    pub(super) steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Step {
    Writable(PathBuf),
    /// Stays writable, but cannot be renamed: something below must keep its path.
    Pin(PathBuf),
    ReadOnly(PathBuf),
    /// A link that must stay, and where it leads.
    Link {
        link: PathBuf,
        target: PathBuf,
    },
    /// Looks empty.
    HideFile(PathBuf),
    HideFolder(PathBuf),
}

impl Plan {
    pub(super) fn writable(&self) -> Vec<PathBuf> {
        let root = |step: &Step| match step {
            Step::Writable(root) => Some(root.clone()),
            _ => None,
        };
        self.steps.iter().filter_map(root).collect()
    }
}

/// Whether a link stands where a `.git` is guarded, which bubblewrap cannot mount over.
pub(crate) fn has_linked_git(confined: &Confined, cwd: &Path) -> bool {
    let roots: Vec<PathBuf> = confined.writable_roots.iter().filter_map(|it| real(it)).collect();
    let above = folders_above(cwd, &roots);
    roots.iter().chain(&above).any(|folder| folder.join(GIT).is_symlink())
}

/// Makes the list, for a command that starts in `cwd`. Placeholders are created on the way, and
/// warnings tell what was left out.
pub(super) fn make(
    confined: &Confined,
    cwd: &Path,
    placeholders: &mut Placeholders,
    warnings: &mut Vec<String>,
) -> io::Result<Plan> {
    let own: Vec<PathBuf> = confined.read_only.iter().filter_map(|path| real(path)).collect();
    let roots = roots(confined, &own, warnings);
    let mut guarded = BTreeSet::new();
    let mut links = Vec::new();
    let above = folders_above(cwd, &roots);
    for folder in roots.iter().chain(&above).collect::<BTreeSet<_>>() {
        guard_git(folder, placeholders, &mut guarded, &mut links)?;
    }
    guarded.extend(own);
    // Outside of every root everything is read-only as it is.
    guarded.retain(|path| roots.iter().any(|root| path.starts_with(root)));

    let hidden: Vec<PathBuf> = confined.hidden.iter().filter_map(|path| real(path)).collect();
    let mut pins = BTreeSet::new();
    // In a folder that was renamed, the next command would find what is hidden under its old name.
    for path in guarded.iter().chain(&hidden) {
        if !roots.iter().any(|root| path.starts_with(root)) {
            continue;
        }
        for parent in path.ancestors().skip(1) {
            if roots.iter().any(|root| root == parent) {
                break;
            }
            pins.insert(parent.to_path_buf());
        }
    }
    // What lies in a folder that is read-only as a whole needs no pin.
    pins.retain(|pin| !guarded.iter().any(|path| pin.starts_with(path)));

    let mut plan = Plan::default();
    plan.steps.extend(roots.iter().cloned().map(Step::Writable));
    plan.steps.extend(pins.into_iter().map(Step::Pin));
    plan.steps.extend(guarded.into_iter().map(Step::ReadOnly));
    plan.steps.extend(links);
    plan.steps.extend(hidden.into_iter().map(|path| match path.is_dir() {
        true => Step::HideFolder(path),
        false => Step::HideFile(path),
    }));
    if confined.network == Network::On {
        let is_outside = |socket: &PathBuf| !roots.iter().any(|root| socket.starts_with(root));
        let doors = sockets::outside(warnings).into_iter().filter(is_outside);
        plan.steps.extend(doors.map(Step::HideFile));
    }
    Ok(plan)
}

/// Where git, run in `cwd`, looks for a repository and a command could write: from `cwd` upwards, to
/// the first one that there is.
fn folders_above(cwd: &Path, roots: &[PathBuf]) -> Vec<PathBuf> {
    let Some(cwd) = real(cwd) else { return Vec::new() };
    let mut folders = Vec::new();
    for folder in cwd.ancestors() {
        if roots.iter().any(|root| folder.starts_with(root)) {
            folders.push(folder.to_path_buf());
        }
        let git = fs::symlink_metadata(folder.join(GIT));
        if git.is_ok_and(|found| !is_placeholder(&found)) {
            break;
        }
    }
    folders
}

/// The real paths of the roots that can be had, from outer to inner.
fn roots(confined: &Confined, own: &[PathBuf], warnings: &mut Vec<String>) -> Vec<PathBuf> {
    let mut roots = BTreeSet::new();
    for given in &confined.writable_roots {
        match usable_root(given, own) {
            Ok(root) => _ = roots.insert(root),
            Err(why) => warnings.push(format!("{} stays read-only: {why}", given.display())),
        }
    }
    // Sorted by their text, an outer folder comes before what is inside it.
    roots.into_iter().collect()
}

/// The real path of a folder that may be made writable, or why it may not.
pub(crate) fn usable_root(given: &Path, own: &[PathBuf]) -> Result<PathBuf, &'static str> {
    let Some(root) = real(given) else { return Err("it does not exist") };
    if !root.is_dir() {
        Err("it is not a folder")
    } else if KERNEL_FOLDERS.iter().any(|folder| root.starts_with(folder)) {
        Err("it belongs to the system")
    } else if root.components().any(|part| part.as_os_str() == GIT) {
        Err("it is part of a .git folder")
    } else if own.iter().any(|own| root.starts_with(own)) {
        Err("it is part of the agent's own state")
    } else {
        Ok(root)
    }
}

/// What must stay as it is so that git, run by a person later, runs nothing that a command left.
fn guard_git(
    folder: &Path,
    placeholders: &mut Placeholders,
    guarded: &mut BTreeSet<PathBuf>,
    links: &mut Vec<Step>,
) -> io::Result<()> {
    let git = folder.join(GIT);
    placeholders.hold(&git).map_err(|error| {
        io::Error::new(error.kind(), format!("cannot protect {}: {error}", git.display()))
    })?;
    let Ok(found) = fs::symlink_metadata(&git) else { return Ok(()) };
    if found.is_symlink() {
        let target = real(&git).unwrap_or_else(|| PathBuf::from("/dev/null"));
        if target.is_dir() {
            guarded.insert(target.clone());
        }
        links.push(Step::Link { link: git, target });
    } else {
        if found.is_file() {
            guarded.extend(folders_of_git_file(folder, &git));
        }
        guarded.insert(git);
    }
    Ok(())
}

/// A `.git` file names the folder that it stands for; that of a worktree names another one, which it
/// shares with the others.
fn folders_of_git_file(root: &Path, file: &Path) -> Vec<PathBuf> {
    let named = |file: &Path, base: &Path, prefix: &str| {
        let text = fs::read_to_string(file).ok()?;
        real(&base.join(text.strip_prefix(prefix)?.trim()))
    };
    let Some(folder) = named(file, root, "gitdir:") else { return Vec::new() };
    let common = named(&folder.join("commondir"), &folder, "");
    std::iter::once(folder).chain(common).collect()
}

fn real(path: &Path) -> Option<PathBuf> {
    fs::canonicalize(path).ok()
}

const GIT: &str = ".git";
const KERNEL_FOLDERS: [&str; 3] = ["/proc", "/sys", "/dev"];

#[cfg(test)]
mod tests {
    use super::*;

    /// The steps about paths below `base`, with `base` left out.
    fn shown(base: &Path, plan: &Plan) -> Vec<String> {
        let base = format!("{}/", base.display());
        let lines = plan.steps.iter().map(|step| format!("{step:?}"));
        lines.filter(|line| line.contains(&base)).map(|line| line.replace(&base, "")).collect()
    }

    fn plan(base: &Path, roots: &[&str], own: &[&str]) -> (Vec<String>, Vec<String>) {
        plan_in(base, "w", roots, own)
    }

    fn plan_in(base: &Path, cwd: &str, roots: &[&str], own: &[&str]) -> (Vec<String>, Vec<String>) {
        let confined = Confined {
            writable_roots: roots.iter().map(|root| base.join(root)).collect(),
            read_only: own.iter().map(|own| base.join(own)).collect(),
            ..Confined::default()
        };
        let mut warnings = Vec::new();
        let placeholders = &mut Placeholders::default();
        let plan = make(&confined, &base.join(cwd), placeholders, &mut warnings).unwrap();
        let base_text = format!("{}/", base.display());
        let warnings = warnings.iter().map(|line| line.replace(&base_text, "")).collect();
        (shown(base, &plan), warnings)
    }

    fn temporary() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        (folder, path)
    }

    #[test]
    fn roots_are_ordered_and_git_is_guarded_in_each() {
        let (_folder, base) = temporary();
        fs::create_dir_all(base.join("w/inner/.git")).unwrap();
        let (steps, warnings) = plan(&base, &["w/inner", "w", "gone"], &[]);
        assert_eq!(
            steps,
            [
                r#"Writable("w")"#,
                r#"Writable("w/inner")"#,
                r#"ReadOnly("w/.git")"#,
                r#"ReadOnly("w/inner/.git")"#,
            ]
        );
        assert_eq!(warnings, ["gone stays read-only: it does not exist"]);
    }

    #[test]
    fn a_git_file_guards_where_it_leads() {
        let (_folder, base) = temporary();
        fs::create_dir_all(base.join("w/real/deep/git")).unwrap();
        fs::create_dir_all(base.join("common")).unwrap();
        fs::write(base.join("w/.git"), "gitdir: real/deep/git\n").unwrap();
        fs::write(base.join("w/real/deep/git/commondir"), "../../../../common\n").unwrap();
        let (steps, _) = plan(&base, &["w"], &[]);
        assert_eq!(
            steps,
            [
                r#"Writable("w")"#,
                r#"Pin("w/real")"#,
                r#"Pin("w/real/deep")"#,
                r#"ReadOnly("w/.git")"#,
                r#"ReadOnly("w/real/deep/git")"#,
            ]
        );
        let (steps, _) = plan(&base, &["w", "common"], &[]);
        assert!(steps.contains(&r#"Writable("common")"#.to_owned()), "{steps:?}");
    }

    #[test]
    fn the_repository_above_is_guarded_and_none_can_be_made_on_the_way() {
        let (_folder, base) = temporary();
        fs::create_dir_all(base.join("w/.git")).unwrap();
        fs::create_dir_all(base.join("w/p/.git")).unwrap();
        fs::create_dir_all(base.join("w/p/q/sub")).unwrap();
        let (steps, _) = plan_in(&base, "w/p/q/sub", &["w/p/q/sub", "w"], &[]);
        assert_eq!(
            steps,
            [
                r#"Writable("w")"#,
                r#"Writable("w/p/q/sub")"#,
                r#"Pin("w/p")"#,
                r#"Pin("w/p/q")"#,
                r#"ReadOnly("w/.git")"#,
                r#"ReadOnly("w/p/.git")"#,
                r#"ReadOnly("w/p/q/.git")"#,
                r#"ReadOnly("w/p/q/sub/.git")"#,
            ]
        );
    }

    #[test]
    fn own_state_and_git_are_no_roots() {
        let (_folder, base) = temporary();
        fs::create_dir_all(base.join("w/.git/hooks")).unwrap();
        fs::create_dir_all(base.join("w/home/x")).unwrap();
        let (steps, warnings) = plan(&base, &["w", "w/.git/hooks", "w/home/x"], &["w/home"]);
        assert_eq!(steps, [r#"Writable("w")"#, r#"ReadOnly("w/.git")"#, r#"ReadOnly("w/home")"#]);
        assert_eq!(
            warnings,
            [
                "w/.git/hooks stays read-only: it is part of a .git folder",
                "w/home/x stays read-only: it is part of the agent's own state",
            ]
        );
    }

    #[test]
    fn what_is_hidden_keeps_its_path() {
        let (_folder, base) = temporary();
        fs::create_dir_all(base.join("w/.git")).unwrap();
        fs::create_dir_all(base.join("w/a/b")).unwrap();
        fs::write(base.join("w/a/b/key"), "k").unwrap();
        fs::write(base.join("outside"), "k").unwrap();
        let confined = Confined {
            writable_roots: vec![base.join("w")],
            hidden: ["w/a/b/key", "outside", "gone"].map(|it| base.join(it)).to_vec(),
            ..Confined::default()
        };
        let (mut placeholders, mut warnings) = (Placeholders::default(), Vec::new());
        let plan = make(&confined, &base.join("w"), &mut placeholders, &mut warnings).unwrap();
        assert_eq!(
            shown(&base, &plan),
            [
                r#"Writable("w")"#,
                r#"Pin("w/a")"#,
                r#"Pin("w/a/b")"#,
                r#"ReadOnly("w/.git")"#,
                r#"HideFile("w/a/b/key")"#,
                r#"HideFile("outside")"#,
            ]
        );
    }

    #[test]
    fn a_link_for_git_is_kept_and_so_is_its_target() {
        let (_folder, base) = temporary();
        fs::create_dir_all(base.join("w/elsewhere")).unwrap();
        std::os::unix::fs::symlink("elsewhere", base.join("w/.git")).unwrap();
        let (steps, _) = plan(&base, &["w"], &[]);
        assert_eq!(
            steps,
            [
                r#"Writable("w")"#,
                r#"ReadOnly("w/elsewhere")"#,
                r#"Link { link: "w/.git", target: "w/elsewhere" }"#,
            ]
        );
    }
}
