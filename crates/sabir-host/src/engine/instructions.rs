//! What every model is told before the thread: how to work, where, what the workspace asks for, and
//! what the person asks for.

use std::path::Path;

use sabir_engine::patch::{Files as _, PatchPath};

use crate::files::Root;

const OURS: &str = include_str!("instructions.md");

/// A workspace's own instructions, and how much of them is read.
const WORKSPACE_FILE: &str = "AGENTS.md";
const MOST_WORKSPACE_BYTES: usize = 32 * 1024;

/// Reads the workspace's file, so it may take as long as a disk does.
pub(super) fn compose(cwd: &Path, own: Option<&str>) -> String {
    let mut text = OURS.trim().to_owned();
    text.push_str(&format!("\n\nThe working directory is {}.", cwd.display()));
    if let Some(said) = of_workspace(cwd) {
        text.push_str(&format!("\n\nThe workspace's {WORKSPACE_FILE} says:\n{said}"));
    }
    if let Some(own) = own {
        text.push_str("\n\n");
        text.push_str(own);
    }
    text
}

/// A repository may hold anything under this name: only a file of the workspace itself is read.
fn of_workspace(cwd: &Path) -> Option<String> {
    let root = Root::open(cwd).ok()?;
    let path = root.locate(&PatchPath::new(WORKSPACE_FILE).ok()?).ok()?;
    let bytes = root.read_start(&path, MOST_WORKSPACE_BYTES).ok()??;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_workspace_speaks_for_itself_alone() {
        let folder = tempfile::tempdir().unwrap();
        let (work, elsewhere) = (folder.path().join("work"), folder.path().join("secret"));
        std::fs::create_dir(&work).unwrap();
        std::fs::write(&elsewhere, "hunter2").unwrap();
        let file = work.join(WORKSPACE_FILE);
        assert_eq!(of_workspace(&work), None);

        std::fs::write(work.join("NOTES.md"), "Use tabs.").unwrap();
        std::os::unix::fs::symlink("NOTES.md", &file).unwrap();
        assert_eq!(of_workspace(&work).as_deref(), Some("Use tabs."));
        let text = compose(&work, Some("Be brief."));
        assert!(text.contains("Use tabs.") && text.ends_with("\n\nBe brief."), "{text}");

        for target in ["../secret", elsewhere.to_str().unwrap(), "/dev/zero", "AGENTS.md", "."] {
            std::fs::remove_file(&file).unwrap();
            std::os::unix::fs::symlink(target, &file).unwrap();
            assert_eq!(of_workspace(&work), None, "{target}");
        }
        std::fs::remove_file(&file).unwrap();
        // Nobody writes into it, and nobody waits for that.
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &file,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RWXU,
            0,
        )
        .unwrap();
        assert_eq!(of_workspace(&work), None);
        std::fs::remove_file(&file).unwrap();
        std::fs::write(&file, "x".repeat(1_000_000)).unwrap();
        assert_eq!(of_workspace(&work).map(|it| it.len()), Some(MOST_WORKSPACE_BYTES));
    }
}
