//! What the tools must not show, and that they can be stopped.

use std::cell::Cell;
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use sabir_engine::{ReadFile, Search};

use super::{Look, read_file, search};
use crate::reading::KeyFiles;

fn read(path: &str) -> ReadFile {
    ReadFile { path: path.to_owned(), offset: None, limit: None }
}

fn find(pattern: &str) -> Search {
    Search { pattern: pattern.to_owned(), path: None, glob: None, limit: None }
}

fn look<'a>(cwd: &'a Path, key_files: &'a KeyFiles) -> Look<'a> {
    Look { cwd, key_files, is_stopped: &|| false }
}

/// Also not under another name.
#[test]
fn a_file_with_a_key_is_neither_read_nor_searched() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("my.key"), "sk-1234\n").unwrap();
    std::fs::write(at("plain"), "sk-none\n").unwrap();
    std::fs::hard_link(at("my.key"), at("hard")).unwrap();
    std::os::unix::fs::symlink("my.key", at("soft")).unwrap();
    let key_files = KeyFiles::new([at("my.key")]);
    let look = look(folder.path(), &key_files);
    for name in ["my.key", "hard", "soft", "./my.key"] {
        let words = read_file(look, &read(name)).unwrap_err();
        assert!(words.contains("hidden") && !words.contains("sk-"), "{words}");
    }
    assert_eq!(search(look, &find("sk-")).unwrap(), "plain:1:sk-none\n");
    let at_it = Search { path: Some("my.key".to_owned()), ..find("sk-") };
    assert_eq!(search(look, &at_it).unwrap(), "no line matches\n");
}

/// Also one that came after the folder was named, and under another name.
#[test]
fn a_folder_of_secrets_is_neither_read_nor_searched() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let key_files = KeyFiles::new([at("hooks")]);
    std::fs::create_dir(at("hooks")).unwrap();
    std::fs::write(at("hooks/order-1.json"), "sk-1234\n").unwrap();
    std::fs::write(at("plain"), "sk-none\n").unwrap();
    std::fs::hard_link(at("hooks/order-1.json"), at("hard")).unwrap();
    std::os::unix::fs::symlink("hooks/order-1.json", at("soft")).unwrap();
    let look = look(folder.path(), &key_files);
    for name in ["hooks/order-1.json", "hard", "soft"] {
        let words = read_file(look, &read(name)).unwrap_err();
        assert!(words.contains("hidden") && !words.contains("sk-"), "{words}");
    }
    assert_eq!(search(look, &find("sk-")).unwrap(), "plain:1:sk-none\n");
}

#[test]
fn a_pipe_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    let none = KeyFiles::default();
    let words = read_file(look(folder.path(), &none), &read("pipe")).unwrap_err();
    assert_eq!(words, "pipe is not a regular file");
}

/// A file without a line end, and far larger than any that is read to its end.
#[test]
fn reading_and_searching_a_huge_file_stops() {
    let folder = tempfile::tempdir().unwrap();
    let huge = std::fs::File::create(folder.path().join("huge")).unwrap();
    huge.set_len(1 << 42).unwrap();
    let none = KeyFiles::default();
    let asked = Cell::new(0);
    let is_stopped = || {
        asked.set(asked.get() + 1);
        asked.get() > 3
    };
    let look = Look { cwd: folder.path(), key_files: &none, is_stopped: &is_stopped };
    assert!(read_file(look, &read("huge")).unwrap_err().contains("stopped"));
    assert_eq!(asked.get(), 4);
}

/// No line matches, so that only the reader itself can end it.
#[test]
fn searching_a_long_file_without_a_match_stops() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("long"), "line\n".repeat(1 << 20)).unwrap();
    let none = KeyFiles::default();
    let asked = Cell::new(0);
    let is_stopped = || {
        asked.set(asked.get() + 1);
        asked.get() > 3
    };
    let look = Look { cwd: folder.path(), key_files: &none, is_stopped: &is_stopped };
    let _ = search(look, &find("nothing"));
    assert!(asked.get() < 10, "asked {} times", asked.get());
}
