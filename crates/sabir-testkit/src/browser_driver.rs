//! The packages with which tests drive a browser, and the browser. `cargo xtask test` makes them.

use std::env;
use std::path::PathBuf;

/// Set by `cargo xtask test`.
const FOLDER: &str = "SABIR_TESTS_BROWSER_DRIVER";

/// Set by `cargo xtask test --without`.
const WITHOUT: &str = "SABIR_TESTS_WITHOUT";

/// Any of these will do.
const BROWSERS: [&str; 4] =
    ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// What a script needs that looks at a page.
#[derive(Debug, Clone)]
pub struct BrowserDriver {
    /// Where the packages lie: the folder that holds `node_modules`.
    pub packages: PathBuf,
    pub browser: PathBuf,
    /// Where cargo puts what it builds: pictures go there.
    pub target: PathBuf,
}

/// The driver. `None`, and a notice, when somebody decided to go without it or without a browser.
///
/// # Panics
///
/// When it is missing and nobody decided so: a test that silently skips would pass for the wrong
/// reason.
#[expect(clippy::print_stderr, reason = "a skipped test must be visible to the person who runs it")]
pub fn browser_driver() -> Option<BrowserDriver> {
    let without = env::var(WITHOUT).unwrap_or_default();
    if let Some(name) = without.split(',').find(|it| ["browser-driver", "chromium"].contains(it)) {
        eprintln!("skipped: no {name} here");
        return None;
    }
    // A test lies in `target/PROFILE/deps`, the packages in `target/browser-driver`.
    let test = env::current_exe().unwrap_or_default();
    let Some(target) = test.ancestors().nth(3).map(PathBuf::from) else {
        panic!("{} lies in no target folder", test.display());
    };
    let said = env::var_os(FOLDER).map(PathBuf::from);
    let packages = said.unwrap_or_else(|| target.join("browser-driver"));
    assert!(
        packages.join("node_modules/playwright-core").is_dir(),
        "no browser driver for this test: `cargo xtask test` makes it, or goes `--without \
         browser-driver`"
    );
    let path = env::var_os("PATH").unwrap_or_default();
    let mut folders = env::split_paths(&path);
    let browser = folders.find_map(|folder| {
        BROWSERS.iter().map(|name| folder.join(name)).find(|program| program.is_file())
    });
    let Some(browser) = browser else {
        panic!("no Chromium for this test; `--without chromium` leaves it out");
    };
    Some(BrowserDriver { packages, browser, target })
}
