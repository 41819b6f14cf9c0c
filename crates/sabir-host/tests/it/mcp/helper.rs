//! The helper that supervises servers: this program again, behind a script that makes one of it.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::LazyLock;

use tempfile::TempDir;

/// The variable that makes a helper of this program, and holds its arguments.
const WORDS: &str = "SABIR_TEST_HELPER";

/// What the helper has to be told comes as arguments, which the harness would take for its own.
static SCRIPT: LazyLock<(TempDir, PathBuf)> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("helper");
    let program = std::env::current_exe().unwrap();
    // The name of the test below, wherever this file is part of.
    let (_, here) = module_path!().split_once("::").unwrap();
    let text = format!(
        "#!/bin/sh\n{WORDS}=\"$*\" exec {:?} --exact {here}::help --nocapture\n",
        program.to_str().unwrap()
    );
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
    (folder, path)
});

pub(super) fn path() -> PathBuf {
    SCRIPT.1.clone()
}

/// A test that does nothing, unless the variable tells it to help.
#[test]
fn help() {
    let Ok(words) = std::env::var(WORDS) else { return };
    let _ = sabir_host::sandbox::main(words.split(' ').skip(1).map(Into::into));
    std::process::exit(0);
}
