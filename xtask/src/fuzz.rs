//! Coverage-guided fuzzing with plain cargo on the stable toolchain.
//!
//! The targets live in `fuzz/`, a workspace of its own. They are built with the compiler's
//! coverage pass switched on by flag, and linked with libFuzzer by `libfuzzer-sys`.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::{host, setup};

pub(crate) fn command(root: &Path, args: Vec<OsString>) -> Result<ExitCode> {
    let options = Options::parse(args)?;
    let targets = targets(root)?;
    if options.list {
        for target in targets {
            println!("{target}");
        }
        return Ok(ExitCode::SUCCESS);
    }
    let Some(target) = options.target else {
        bail!("which target? `cargo xtask fuzz --list` names them");
    };
    if !targets.contains(&target) {
        bail!("no target `{target}`; there are: {}", targets.join(", "));
    }
    setup::ensure(&setup::CXX)?;
    let built = build(root, &[&target])?;
    if let Some(input) = options.input {
        let replay = host::run(Command::new(built.binary(&target)).arg(input));
        return Ok(if replay.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    let report = built.run(root, &target, Until::Seconds(options.seconds), Show::Everything)?;
    println!("{report}");
    Ok(if report.crash.is_none() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

struct Options {
    target: Option<String>,
    list: bool,
    seconds: u32,
    input: Option<PathBuf>,
}

impl Options {
    fn parse(args: Vec<OsString>) -> Result<Self, lexopt::Error> {
        use lexopt::prelude::*;

        let mut options = Self { target: None, list: false, seconds: DEFAULT_SECONDS, input: None };
        let mut parser = lexopt::Parser::from_args(args);
        while let Some(arg) = parser.next()? {
            match arg {
                Long("list") => options.list = true,
                Long("seconds") => options.seconds = parser.value()?.parse()?,
                Long("input") => options.input = Some(parser.value()?.into()),
                Value(target) if options.target.is_none() => {
                    options.target = Some(target.string()?);
                }
                _ => return Err(arg.unexpected()),
            }
        }
        // libFuzzer reads zero as "for ever".
        if options.seconds == 0 {
            return Err("--seconds must be at least 1".into());
        }
        Ok(options)
    }
}

/// The targets that `fuzz/Cargo.toml` lists, in its order.
pub(crate) fn targets(root: &Path) -> Result<Vec<String>> {
    let manifest = root.join(MANIFEST);
    let text = fs::read_to_string(&manifest).with_context(|| format!("cannot read {MANIFEST}"))?;
    Ok(listed_targets(&text))
}

/// The names of the `[[bin]]` sections.
fn listed_targets(manifest: &str) -> Vec<String> {
    let mut section = "";
    let mut names = Vec::new();
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            section = line;
        } else if section == "[[bin]]"
            && let Some((key, value)) = line.split_once('=')
            && key.trim() == "name"
        {
            names.push(value.trim().trim_matches('"').to_owned());
        }
    }
    names
}

/// Targets that were built, and where they are.
pub(crate) struct Built {
    folder: PathBuf,
}

/// Builds in a folder of its own: other flags in the common one would throw away every build.
pub(crate) fn build(root: &Path, targets: &[&str]) -> Result<Built> {
    let triple = host::host_triple()?;
    let folder = host::target_dir(root).join("fuzz");
    let mut command = host::cargo(root);
    command
        .args(["build", "--release", "--manifest-path", MANIFEST])
        // With a named target, build scripts and macros are built without the flags.
        .args(["--target", &triple])
        .env("CARGO_TARGET_DIR", &folder)
        .env("RUSTFLAGS", FLAGS.join(" "))
        // Cargo would prefer this variable.
        .env_remove("CARGO_ENCODED_RUSTFLAGS");
    for target in targets {
        command.args(["--bin", target]);
    }
    host::run(&mut command)?;
    Ok(Built { folder: folder.join(triple).join("release") })
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Show {
    /// What libFuzzer says, as it says it.
    Everything,
    /// Only the end of it, and only after a crash.
    Crashes,
}

/// How far a run goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Until {
    /// From a random start.
    Seconds(u32),
    /// From the same start each time, however fast the machine is: what fails was changed.
    Executions(u32),
}

impl Until {
    fn args(self) -> Vec<String> {
        match self {
            Self::Seconds(seconds) => vec![format!("-max_total_time={seconds}")],
            Self::Executions(count) => vec![format!("-runs={count}"), format!("-seed={SEED}")],
        }
    }
}

/// One finished run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Report {
    pub target: String,
    /// As measured: a crash ends a run early.
    pub seconds: u64,
    pub executions: u64,
    pub crash: Option<Crash>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Crash {
    /// The input that did it; nothing was written when the program died in another way.
    pub artifact: Option<String>,
}

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { target, seconds, executions, crash } = self;
        write!(f, "{target}: {seconds} s, {executions} executions")?;
        match crash {
            None => f.write_str(", clean"),
            Some(Crash { artifact: None }) => f.write_str(", CRASHED without an input"),
            Some(Crash { artifact: Some(path) }) => {
                write!(f, ", CRASHED on {path}\nagain: cargo xtask fuzz {target} --input {path}")
            }
        }
    }
}

impl Built {
    fn binary(&self, target: &str) -> PathBuf {
        self.folder.join(target)
    }

    pub(crate) fn run(
        &self,
        root: &Path,
        target: &str,
        until: Until,
        show: Show,
    ) -> Result<Report> {
        let corpus = format!("fuzz/corpus/{target}");
        let artifacts = format!("fuzz/artifacts/{target}/");
        fs::create_dir_all(root.join(&corpus)).with_context(|| format!("cannot make {corpus}"))?;
        fs::create_dir_all(root.join(&artifacts))
            .with_context(|| format!("cannot make {artifacts}"))?;
        for cases in seeds(target) {
            seed(&root.join(cases), &root.join(&corpus))?;
        }

        let start = Instant::now();
        let mut child = Command::new(self.binary(target))
            .current_dir(root)
            .args(until.args())
            .args([
                format!("-artifact_prefix={artifacts}"),
                format!("-timeout={TIMEOUT_SECONDS}"),
                format!("-rss_limit_mb={MEMORY_MB}"),
                "-print_final_stats=1".to_owned(),
                corpus,
            ])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start the target {target}"))?;

        let stderr = child.stderr.take().context("the target has no stderr")?;
        let mut log = Log::default();
        for line in BufReader::new(stderr).split(b'\n') {
            let line = line.context("cannot read what the target says")?;
            let line = String::from_utf8_lossy(&line).into_owned();
            if show == Show::Everything {
                eprintln!("{line}");
            }
            log.push(line);
        }
        let status = child.wait().context("cannot wait for the target")?;
        let crash = (!status.success()).then(|| Crash { artifact: log.artifact.clone() });
        if crash.is_some() && show == Show::Crashes {
            log.tail.iter().for_each(|line| eprintln!("{line}"));
        }
        let seconds = start.elapsed().as_secs();
        Ok(Report { target: target.to_owned(), seconds, executions: log.executions, crash })
    }
}

/// What libFuzzer says, as far as it matters.
#[derive(Default)]
struct Log {
    executions: u64,
    artifact: Option<String>,
    tail: VecDeque<String>,
}

impl Log {
    fn push(&mut self, line: String) {
        if let Some(count) = line.strip_prefix("stat::number_of_executed_units:") {
            self.executions = count.trim().parse().unwrap_or(0);
        }
        if let Some((_, path)) = line.split_once("Test unit written to ") {
            self.artifact = Some(path.trim().to_owned());
        }
        if self.tail.len() == TAIL_LINES {
            self.tail.pop_front();
        }
        self.tail.push_back(line);
    }
}

/// The test cases of the languages that a target reads. Names say which: those without a language
/// are AXON's, translation reads both, patches have scenarios of their own, model streams are
/// recorded, and pages are saved ones.
fn seeds(target: &str) -> &'static [&'static str] {
    const AXON: &str = "crates/sabir-axon/tests/data";
    const LLMX: &str = "crates/sabir-llmx/tests/data";
    const PATCHES: &str = "crates/sabir-engine/tests/data/patch";
    const STREAMS: &str = "crates/sabir-engine/tests/data/streams";
    const LLMCP: &str = "crates/sabir-llmcp/tests/data";
    const CITE: &str = "crates/sabir-llmcp/tests/data/cite";
    const DOCUMENTS: &str = "crates/sabir-document/tests/data";
    const PAGES: &str = "crates/sabir-capture/tests/data/pages";
    const RENDER: &str = "crates/sabir-capture/tests/data/render";
    match target.split_once('_') {
        Some(("llmx", _)) => &[LLMX],
        Some(("translate", _)) => &[AXON, LLMX],
        Some(("patch", _)) => &[PATCHES],
        Some(("sse" | "model", _)) => &[STREAMS],
        Some(("llmcp", "packet")) => &[LLMCP],
        Some(("citation", _)) => &[CITE],
        Some(("markdown", _)) => &[DOCUMENTS],
        Some(("page", _)) => &[PAGES],
        Some(("safe", _)) => &[DOCUMENTS, RENDER],
        // Their bytes are no text: a fuzzer finds its own.
        Some(("session" | "llmcp", _)) => &[],
        _ => &[AXON],
    }
}

/// Copies every test case into the corpus, so that the fuzzer starts from real messages.
fn seed(cases: &Path, corpus: &Path) -> Result<()> {
    if !cases.is_dir() {
        return Ok(());
    }
    let mut folders = vec![cases.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let entries =
            fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))?;
        for entry in entries {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let inside = path.strip_prefix(cases)?;
            let name = inside.to_string_lossy().replace(['/', '\\'], "__");
            if path.metadata()?.len() <= LARGEST_SEED {
                fs::copy(&path, corpus.join(format!("case__{name}")))
                    .with_context(|| format!("cannot copy {} into the corpus", path.display()))?;
            }
        }
    }
    Ok(())
}

const MANIFEST: &str = "fuzz/Cargo.toml";

/// A minute finds the shallow bugs and is short enough to wait for.
const DEFAULT_SECONDS: u32 = 60;

/// Any number will do, as long as it stays; libFuzzer reads zero as "a random one".
const SEED: u32 = 1;

/// Linear code takes microseconds for what the fuzzer invents: ten seconds is a hang.
const TIMEOUT_SECONDS: u32 = 10;

/// Inputs are a few kilobytes: two gigabytes for one of them is growth without bound.
const MEMORY_MB: u32 = 2048;

/// The fuzzer takes the largest seed as its limit, and long inputs make every run slow.
const LARGEST_SEED: u64 = 16 * 1024;

/// A panic message, its backtrace and libFuzzer's summary fit.
const TAIL_LINES: usize = 60;

/// `cargo fuzz` passes the same, without a sanitizer: our own code has no unsafe block.
const FLAGS: [&str; 8] = [
    "--cfg fuzzing",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Ccodegen-units=1",
    "-Cdebug-assertions",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_read_from_the_manifest() {
        let manifest = "[package]\nname = \"fuzz\"\n[[bin]]\nname = \"a\"\npath = \"a.rs\"\n\n\
                        [[bin]]\nname=\"b\"\n[lib]\nname = \"c\"\n";
        assert_eq!(listed_targets(manifest), ["a", "b"]);
    }

    #[test]
    fn every_listed_target_has_its_file() {
        let root = host::workspace_root().unwrap();
        let targets = targets(&root).unwrap();
        assert!(!targets.is_empty());
        for target in targets {
            assert!(root.join(format!("fuzz/fuzz_targets/{target}.rs")).is_file(), "{target}");
        }
    }

    #[test]
    fn the_log_yields_executions_and_artifact() {
        let mut log = Log::default();
        for line in [
            "#2\tINITED cov: 5",
            "artifact_prefix='x/'; Test unit written to x/crash-1",
            "stat::number_of_executed_units: 4711",
        ] {
            log.push(line.to_owned());
        }
        assert_eq!(log.executions, 4711);
        assert_eq!(log.artifact.as_deref(), Some("x/crash-1"));
        (0..100).for_each(|it| log.push(it.to_string()));
        assert_eq!(log.tail.len(), TAIL_LINES);
        assert_eq!(log.tail.back().map(String::as_str), Some("99"));
    }

    #[test]
    fn a_report_says_how_to_see_the_crash_again() {
        let mut report = Report { target: "t".to_owned(), seconds: 3, executions: 9, crash: None };
        assert_eq!(report.to_string(), "t: 3 s, 9 executions, clean");
        report.crash = Some(Crash { artifact: Some("x/crash-1".to_owned()) });
        assert_eq!(
            report.to_string(),
            "t: 3 s, 9 executions, CRASHED on x/crash-1\n\
             again: cargo xtask fuzz t --input x/crash-1"
        );
    }

    #[test]
    fn a_run_of_so_many_executions_can_be_repeated() {
        assert_eq!(Until::Seconds(5).args(), ["-max_total_time=5"]);
        assert_eq!(Until::Executions(9).args(), ["-runs=9", "-seed=1"]);
    }

    #[test]
    fn small_cases_become_seeds() {
        let dir = tempfile::tempdir().unwrap();
        let (cases, corpus) = (dir.path().join("data"), dir.path().join("corpus"));
        fs::create_dir_all(cases.join("ok")).unwrap();
        fs::create_dir_all(&corpus).unwrap();
        fs::write(cases.join("ok/0001_a.axon"), "x").unwrap();
        fs::write(cases.join("large"), vec![b'x'; 20_000]).unwrap();
        seed(&cases, &corpus).unwrap();
        let names: Vec<_> =
            fs::read_dir(&corpus).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["case__ok__0001_a.axon"]);
        seed(&dir.path().join("missing"), &corpus).unwrap();
    }

    #[test]
    fn options_are_checked() {
        let parse = |args: &[&str]| Options::parse(args.iter().map(OsString::from).collect());
        assert_eq!(parse(&["t", "--seconds", "5"]).unwrap().seconds, 5);
        assert_eq!(parse(&["t"]).unwrap().target.as_deref(), Some("t"));
        for bad in [&["t", "--seconds", "0"][..], &["t", "u"], &["--seconds", "x"], &["--fast"]] {
            assert!(parse(bad).is_err(), "{bad:?}");
        }
    }
}
