//! One test case per file: `tests/data/ok/0001_name.msg` and the like.

use std::fs;
use std::path::{Path, PathBuf};

/// One file of a case folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The file name without its extension: `0001_name`.
    pub name: String,
    pub path: PathBuf,
    pub text: String,
}

impl Case {
    /// Where the expected output stands: beside the input, with the extension `out`.
    pub fn out_path(&self) -> PathBuf {
        self.path.with_extension(EXPECTED)
    }
}

/// The cases of one folder, sorted by file name; expected outputs and hidden files are not cases.
/// A relative `dir` starts at the package whose test runs, because cargo starts tests there.
///
/// # Panics
///
/// When the folder is missing, holds no case, or holds one that is not UTF-8: a loop over nothing
/// passes every test.
pub fn cases(dir: impl AsRef<Path>) -> Vec<Case> {
    let dir = dir.as_ref();
    let entries = fs::read_dir(dir)
        .unwrap_or_else(|error| panic!("cannot list the cases in {}: {error}", dir.display()));
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| match entry {
            Ok(entry) => entry.path(),
            Err(error) => panic!("cannot list the cases in {}: {error}", dir.display()),
        })
        .filter(|path| is_case(path))
        .collect();
    assert!(!paths.is_empty(), "no cases in {}", dir.display());
    paths.sort();
    paths.into_iter().map(read).collect()
}

fn is_case(path: &Path) -> bool {
    let hidden = path.file_name().is_none_or(|name| name.as_encoded_bytes().starts_with(b"."));
    let expected = path.extension().is_some_and(|extension| extension == EXPECTED);
    path.is_file() && !hidden && !expected
}

fn read(path: PathBuf) -> Case {
    let text = fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("cannot read the case {}: {error}", path.display()));
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Case { name, path, text }
}

const EXPECTED: &str = "out";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_come_sorted_and_without_expected_outputs() {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in
            [("0002_b.msg", "two"), ("0001_a.msg", "one"), ("0001_a.out", "-"), (".swp", "-")]
        {
            fs::write(dir.path().join(name), text).unwrap();
        }
        fs::create_dir(dir.path().join("deeper")).unwrap();

        let found = cases(dir.path());

        let seen: Vec<_> =
            found.iter().map(|case| (case.name.as_str(), case.text.as_str())).collect();
        assert_eq!(seen, [("0001_a", "one"), ("0002_b", "two")]);
        assert_eq!(found[0].out_path(), dir.path().join("0001_a.out"));
    }

    #[test]
    #[should_panic(expected = "no cases in")]
    fn a_folder_without_cases_panics() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("0001_a.out"), "-").unwrap();
        cases(dir.path());
    }

    #[test]
    #[should_panic(expected = "cannot list the cases in")]
    fn a_missing_folder_panics() {
        cases("no/such/folder");
    }
}
