//! The helper that supervises programs: this program again, behind a script that makes one of it.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::LazyLock;

use tempfile::TempDir;

/// The variable that makes a helper of this program, and holds its arguments.
const WORDS: &str = "SABIR_TEST_HELPER";
/// The variable that says under which number the helper finds its standard output.
const OUTPUT: &str = "SABIR_TEST_OUTPUT";

/// What the helper has to be told comes as arguments, which the harness would take for its own; and
/// what the harness says would be taken for the program's words, so that it says it to nobody.
static SCRIPT: LazyLock<(TempDir, PathBuf)> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("helper");
    let program = std::env::current_exe().unwrap();
    let program = program.to_str().unwrap();
    // The name of the test below, whatever this file is part of.
    let (_, here) = module_path!().split_once("::").unwrap();
    let text = format!(
        "#!/bin/sh\n\
         for n in 9 8 7 6 5 4 3; do [ -e /proc/$$/fd/$n ] || break; done\n\
         eval \"exec $n>&1\"\n\
         {WORDS}=\"$*\" {OUTPUT}=$n exec {program:?} --exact {here}::help --nocapture >/dev/null\n",
    );
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
    (folder, path)
});

pub(crate) fn path() -> PathBuf {
    SCRIPT.1.clone()
}

/// A test that does nothing, unless the variable tells it to help.
#[test]
fn help() {
    let Ok(words) = std::env::var(WORDS) else { return };
    let number = std::env::var(OUTPUT).unwrap();
    let output =
        std::fs::File::options().write(true).open(format!("/proc/self/fd/{number}")).unwrap();
    nix::unistd::dup2_stdout(&output).unwrap();
    drop(output);
    let _ = sabir_host::sandbox::main(words.split(' ').skip(1).map(Into::into));
    std::process::exit(0);
}
