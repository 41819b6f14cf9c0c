//! Everything that must pass, in one command: what a person runs is what the CI runs.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Result, bail};

use crate::{bench, browser_driver, fuzz, host, install, python, setup, tidy};

pub(crate) fn command(root: &Path, args: Vec<OsString>) -> Result<ExitCode> {
    let options = Options::parse(args)?;
    let tally = run(root, &STEPS, &options);
    println!("{tally}");
    Ok(if tally.failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Options {
    quick: bool,
    keep_going: bool,
    without: Vec<String>,
}

impl Options {
    fn parse(args: Vec<OsString>) -> Result<Self, lexopt::Error> {
        use lexopt::prelude::*;

        let mut options = Self::default();
        let mut parser = lexopt::Parser::from_args(args);
        while let Some(arg) = parser.next()? {
            match arg {
                Long("quick") => options.quick = true,
                Long("keep-going") => options.keep_going = true,
                Long("without") => {
                    for name in parser.value()?.string()?.split(',') {
                        if !CAN_GO_WITHOUT.contains(&name) {
                            let known = CAN_GO_WITHOUT.join(", ");
                            return Err(format!("cannot go without `{name}`, only: {known}").into());
                        }
                        options.without.push(name.to_owned());
                    }
                }
                _ => return Err(arg.unexpected()),
            }
        }
        Ok(options)
    }

    fn is_without(&self, name: &str) -> bool {
        self.without.iter().any(|it| it == name)
    }
}

enum Outcome {
    Passed,
    /// Why there was nothing to do.
    Skipped(String),
}

struct Step {
    name: &'static str,
    run: fn(&Path, &Options) -> Result<Outcome>,
}

const STEPS: [Step; 9] = [
    Step { name: "format", run: format },
    Step { name: "clippy", run: clippy },
    Step { name: "tidy", run: tidy_up },
    Step { name: "tests", run: tests },
    Step { name: "doc tests", run: doc_tests },
    Step { name: "install", run: install_check },
    Step { name: "bench smoke", run: bench_smoke },
    Step { name: "fuzz", run: fuzz_all },
    Step { name: "cargo-deny", run: deny },
];

fn format(root: &Path, _: &Options) -> Result<Outcome> {
    setup::ensure_component("rustfmt", host::cargo(root).args(["fmt", "--version"]))?;
    host::run(host::cargo(root).args(["fmt", "--all", "--check"]))?;
    // The fuzz targets are not members of the workspace.
    let fuzz = ["fmt", "--manifest-path", "fuzz/Cargo.toml", "--check"];
    host::run(host::cargo(root).args(fuzz))?;
    Ok(Outcome::Passed)
}

fn clippy(root: &Path, _: &Options) -> Result<Outcome> {
    setup::ensure_component("clippy", host::cargo(root).args(["clippy", "--version"]))?;
    let args = ["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];
    host::run(host::cargo(root).args(args))?;
    Ok(Outcome::Passed)
}

fn tidy_up(root: &Path, _: &Options) -> Result<Outcome> {
    if !tidy::run(root)? {
        bail!("`cargo xtask tidy` found something");
    }
    Ok(Outcome::Passed)
}

fn tests(root: &Path, options: &Options) -> Result<Outcome> {
    for tool in [setup::BUBBLEWRAP, setup::CHROMIUM, setup::POPPLER] {
        if !options.is_without(tool.key) {
            setup::ensure(&tool)?;
        }
    }
    let python = match options.is_without(python::KEY) {
        true => None,
        false => Some(python::ensure(root)?),
    };
    let driver = match options.is_without(browser_driver::NODE.key) {
        true => None,
        false => Some(browser_driver::ensure(root)?),
    };
    let cargo = |root: &Path| {
        let mut cargo = host::cargo(root);
        cargo.env("SABIR_TESTS_WITHOUT", options.without.join(","));
        if std::env::var_os(PROPERTY_SEED.0).is_none() {
            cargo.env(PROPERTY_SEED.0, PROPERTY_SEED.1);
        }
        cargo.envs(python.iter().map(|python| (python::VARIABLE, python)));
        cargo.envs(driver.iter().map(|driver| (browser_driver::VARIABLE, driver)));
        cargo
    };
    if host::succeeds(host::cargo(root).args(["nextest", "--version"])) {
        let args = ["nextest", "run", "--workspace", "--profile", "ci"];
        host::run(cargo(root).args(args))?;
    } else {
        println!("no cargo-nextest here: `cargo test` runs the same tests, without time limits");
        let args =
            ["test", "--workspace", "--lib", "--bins", "--tests", "--examples", "--no-fail-fast"];
        host::run(cargo(root).args(args))?;
    }
    Ok(Outcome::Passed)
}

fn doc_tests(root: &Path, _: &Options) -> Result<Outcome> {
    host::run(host::cargo(root).args(["test", "--quiet", "--workspace", "--doc"]))?;
    Ok(Outcome::Passed)
}

/// What tests have built is installed: nothing is compiled once more.
fn install_check(root: &Path, _: &Options) -> Result<Outcome> {
    install::check(root)?;
    Ok(Outcome::Passed)
}

/// A bench that nobody runs stops compiling, and then stops being true.
fn bench_smoke(root: &Path, options: &Options) -> Result<Outcome> {
    if options.quick {
        return Ok(Outcome::Skipped("--quick".to_owned()));
    }
    if !host::has_package(root, bench::PACKAGE)? {
        return Ok(Outcome::Skipped(format!("there is no package `{}`", bench::PACKAGE)));
    }
    if !options.is_without(setup::VALGRIND.key) {
        setup::ensure(&setup::VALGRIND)?;
    }
    bench::smoke(root)?;
    Ok(Outcome::Passed)
}

fn fuzz_all(root: &Path, options: &Options) -> Result<Outcome> {
    if options.quick {
        return Ok(Outcome::Skipped("--quick".to_owned()));
    }
    if options.is_without(setup::CXX.key) {
        return Ok(Outcome::Skipped(format!("--without {}", setup::CXX.key)));
    }
    setup::ensure(&setup::CXX)?;
    let targets = fuzz::targets(root)?;
    if targets.is_empty() {
        bail!("fuzz/Cargo.toml lists no target: a loop over nothing passes everything");
    }
    let names: Vec<&str> = targets.iter().map(String::as_str).collect();
    let built = fuzz::build(root, &names)?;
    let mut crashed = Vec::new();
    for target in names {
        let report = built.run(root, target, FUZZ_UNTIL, fuzz::Show::Crashes)?;
        println!("{report}");
        if report.crash.is_some() {
            crashed.push(target);
        }
    }
    if !crashed.is_empty() {
        bail!("crashed: {}", crashed.join(", "));
    }
    Ok(Outcome::Passed)
}

/// Tidy checks licences and sources already; cargo-deny adds the advisories, where it is there.
fn deny(root: &Path, options: &Options) -> Result<Outcome> {
    if options.is_without("deny") {
        return Ok(Outcome::Skipped("--without deny".to_owned()));
    }
    if !host::succeeds(host::cargo(root).args(["deny", "--version"])) {
        return Ok(Outcome::Skipped("not installed; tidy checked licences and sources".to_owned()));
    }
    host::run(host::cargo(root).args(["deny", "--all-features", "check"]))?;
    Ok(Outcome::Passed)
}

/// How many steps ended how.
#[derive(Debug, Default, PartialEq, Eq)]
struct Tally {
    passed: usize,
    skipped: Vec<&'static str>,
    failed: Vec<&'static str>,
    not_run: usize,
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "steps: {} passed, {} failed", self.passed, self.failed.len())?;
        if !self.failed.is_empty() {
            write!(f, " ({})", self.failed.join(", "))?;
        }
        if !self.skipped.is_empty() {
            write!(f, ", {} skipped ({})", self.skipped.len(), self.skipped.join(", "))?;
        }
        if self.not_run > 0 {
            write!(f, ", {} not run", self.not_run)?;
        }
        Ok(())
    }
}

fn run(root: &Path, steps: &[Step], options: &Options) -> Tally {
    let mut tally = Tally::default();
    for (index, step) in steps.iter().enumerate() {
        println!("[{}/{}] {}", index + 1, steps.len(), step.name);
        let start = Instant::now();
        let outcome = (step.run)(root, options);
        let seconds = start.elapsed().as_secs_f32();
        match outcome {
            Ok(Outcome::Passed) => {
                println!("      {} passed ({seconds:.1} s)", step.name);
                tally.passed += 1;
            }
            Ok(Outcome::Skipped(reason)) => {
                println!("      {} skipped: {reason}", step.name);
                tally.skipped.push(step.name);
            }
            Err(error) => {
                println!("      {} FAILED ({seconds:.1} s): {error:#}", step.name);
                tally.failed.push(step.name);
                if !options.keep_going {
                    tally.not_run = steps.len() - index - 1;
                    break;
                }
            }
        }
    }
    tally
}

/// What a person may decide to go without; everything else is part of passing.
///
/// `namespaces` is for machines that forbid user name spaces, where no sandbox of our own works.
const CAN_GO_WITHOUT: [&str; 9] = [
    "fuzz",
    "valgrind",
    "deny",
    "bubblewrap",
    "namespaces",
    "chromium",
    "poppler",
    python::KEY,
    browser_driver::NODE.key,
];

/// Enough to reach the seeds and a little beyond; `cargo xtask fuzz` is for the rest, and starts
/// somewhere else each time.
const FUZZ_UNTIL: fuzz::Until = fuzz::Until::Executions(20_000);

/// Where the property tests start that name no start of their own. A failure that comes and goes
/// would be blamed on whatever was changed last; who looks for new ones sets the variable.
const PROPERTY_SEED: (&str, &str) = ("PROPTEST_RNG_SEED", "23425");

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(args: &[&str]) -> Result<Options, lexopt::Error> {
        Options::parse(args.iter().map(OsString::from).collect())
    }

    #[test]
    fn options_are_checked() {
        assert_eq!(parse(&[]).unwrap(), Options::default());
        let options = parse(&["--quick", "--without", "fuzz,deny"]).unwrap();
        assert!(options.quick && options.is_without("fuzz") && options.is_without("deny"));
        assert!(!options.is_without("valgrind"));
        for bad in [&["--without", "tests"][..], &["--fast"], &["tests"]] {
            assert!(parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn everything_one_can_go_without_is_known() {
        let tools =
            [setup::CXX, setup::VALGRIND, setup::BUBBLEWRAP, setup::CHROMIUM, setup::POPPLER];
        let tools = tools.into_iter().chain([browser_driver::NODE]);
        for tool in tools {
            assert!(CAN_GO_WITHOUT.contains(&tool.key), "{}", tool.key);
        }
    }

    const SOME: [Step; 4] = [
        Step { name: "good", run: |_, _| Ok(Outcome::Passed) },
        Step { name: "absent", run: |_, _| Ok(Outcome::Skipped("not here".to_owned())) },
        Step { name: "bad", run: |_, _| bail!("broken") },
        Step { name: "late", run: |_, _| Ok(Outcome::Passed) },
    ];

    #[test]
    fn the_first_failure_stops_the_run() {
        let tally = run(Path::new("."), &SOME, &Options::default());
        assert_eq!(
            tally.to_string(),
            "steps: 1 passed, 1 failed (bad), 1 skipped (absent), 1 not run"
        );
    }

    #[test]
    fn keep_going_runs_the_rest() {
        let options = Options { keep_going: true, ..Options::default() };
        let tally = run(Path::new("."), &SOME, &options);
        assert_eq!(tally.to_string(), "steps: 2 passed, 1 failed (bad), 1 skipped (absent)");
    }

    #[test]
    fn a_good_run_says_so() {
        let tally = run(Path::new("."), &SOME[..1], &Options::default());
        assert_eq!(tally.to_string(), "steps: 1 passed, 0 failed");
    }
}
