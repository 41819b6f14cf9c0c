//! The Python of the virtual environment that `cargo xtask test` makes, with other people's
//! programs in it.

use std::env;
use std::path::PathBuf;

/// Set by `cargo xtask test`.
const INTERPRETER: &str = "SABIR_TESTS_PYTHON";

/// Set by `cargo xtask test --without`.
const WITHOUT: &str = "SABIR_TESTS_WITHOUT";

/// The interpreter. `None`, and a notice, when somebody decided to go without.
///
/// # Panics
///
/// When it is missing and nobody decided so: a test that silently skips would pass for the wrong
/// reason.
#[expect(clippy::print_stderr, reason = "a skipped test must be visible to the person who runs it")]
pub fn python() -> Option<PathBuf> {
    if env::var(WITHOUT).is_ok_and(|without| without.split(',').any(|name| name == "python")) {
        eprintln!("skipped: no Python here");
        return None;
    }
    // A test lies in `target/PROFILE/deps`, the environment in `target/python`.
    let test = env::current_exe().unwrap_or_default();
    let beside = test.ancestors().nth(3).map(|target| target.join("python/bin/python"));
    let python = env::var_os(INTERPRETER).map(PathBuf::from).or(beside).filter(|it| it.exists());
    let Some(python) = python else {
        panic!("no Python for this test: `cargo xtask test` makes it, or goes `--without python`");
    };
    Some(python)
}
