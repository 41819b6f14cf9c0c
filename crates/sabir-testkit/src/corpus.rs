//! Large data that is not part of the repository: tests use it where it is and say so where not.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// The text of `../shared/data/NAME`, seen from the workspace root.
/// `None`, and a notice on stderr, when the file is not there: a plain clone has no such folder.
///
/// # Panics
///
/// When the file is there but cannot be read: a test that silently skips a broken corpus would
/// pass for the wrong reason.
pub fn shared_corpus(name: &str) -> Option<String> {
    // This crate sits two levels below the workspace root.
    corpus_beside(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."), name)
}

#[expect(clippy::print_stderr, reason = "a skipped test must be visible to the person who runs it")]
fn corpus_beside(workspace_root: &Path, name: &str) -> Option<String> {
    let path = workspace_root.join("../shared/data").join(name);
    match fs::read_to_string(&path) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            eprintln!("skipped: no ../shared/data/{name}");
            None
        }
        Err(error) => panic!("cannot read {}: {error}", path.display()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_corpus_is_looked_for_beside_the_workspace() {
        let dir = tempfile::tempdir().unwrap();
        let workspace = dir.path().join("workspace");
        let data = dir.path().join("shared/data");
        fs::create_dir_all(&workspace).unwrap();
        fs::create_dir_all(&data).unwrap();
        fs::write(data.join("some.jsonl"), "{}\n").unwrap();

        assert_eq!(corpus_beside(&workspace, "some.jsonl").as_deref(), Some("{}\n"));
        assert_eq!(corpus_beside(&workspace, "other.jsonl"), None);
    }

    #[test]
    #[should_panic(expected = "cannot read")]
    fn a_corpus_that_is_not_text_panics() {
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path().join("shared/data");
        fs::create_dir_all(dir.path().join("workspace")).unwrap();
        fs::create_dir_all(&data).unwrap();
        fs::write(data.join("raw"), [0xFF, 0xFE]).unwrap();
        corpus_beside(&dir.path().join("workspace"), "raw");
    }
}
