//! Another process: this test binary again, told by the environment what to do. Reaped in any case.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{ChildStdout, Command, Stdio};
use std::{env, process, thread};

use sabir_store::Store;

use crate::sample::{batch, event, facts, item};

pub(crate) struct Child {
    process: process::Child,
    output: BufReader<ChildStdout>,
}

impl Child {
    pub(crate) fn start(role: &str, home: &Path) -> Self {
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["--exact", "child::runs_only_as_a_child", "--nocapture"]);
        Self::run(command, role, home)
    }

    /// With a limit, in blocks of 512 bytes, on the size of every file that it writes; writing beyond
    /// is an error, as on a full disk, and not a signal.
    pub(crate) fn start_limited(role: &str, home: &Path, blocks: u32) -> Self {
        let mut command = Command::new("sh");
        let script = format!(
            "trap '' XFSZ; ulimit -f {blocks}; \
             exec \"$0\" --exact child::runs_only_as_a_child --nocapture"
        );
        command.args(["-c", &script]).arg(env::current_exe().unwrap());
        Self::run(command, role, home)
    }

    fn run(mut command: Command, role: &str, home: &Path) -> Self {
        let mut process = command
            .env(ROLE, role)
            .env(HOME, home)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        Self { process, output }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.process.id()
    }

    /// The next line of its report; `None` at the end.
    pub(crate) fn line(&mut self) -> Option<String> {
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line).unwrap() == 0 || !line.ends_with('\n') {
                return None;
            }
            // The test harness prints lines of its own.
            if let Some(report) = line.strip_prefix(MARK) {
                return Some(report.trim_end().to_owned());
            }
        }
    }

    pub(crate) fn wait_for(&mut self, report: &str) {
        while self.line().unwrap() != report {}
    }

    /// The rest of its report, after kill -9.
    pub(crate) fn kill(mut self) -> Vec<String> {
        self.process.kill().unwrap();
        let rest = std::iter::from_fn(|| self.line()).collect();
        self.process.wait().unwrap();
        rest
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // Both fail when it is already gone.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn runs_only_as_a_child() {
    let Some(role) = env::var_os(ROLE) else { return };
    let home = env::var_os(HOME).unwrap();
    if let Some(role) = role.to_str().unwrap().strip_prefix("library ") {
        return crate::library::child::run(role, Path::new(&home));
    }
    match role.to_str().unwrap() {
        "delegate" => return crate::delegate_crash::run(Path::new(&home)),
        "peers" => return crate::peers::run(Path::new(&home)),
        _ => {}
    }
    let store = Store::open(Path::new(&home)).unwrap();
    match role.to_str().unwrap() {
        "hold" => {
            store.append_and_wait(batch("s", 0, vec![facts()])).unwrap();
            report("held");
            loop {
                thread::park();
            }
        }
        "append" => append_for_ever(&store),
        "append-until-it-fails" => append_until_it_fails(&store),
        other => panic!("no role {other}"),
    }
}

/// Three sessions from three threads, in groups of differing size; each acknowledged batch is
/// reported after it was acknowledged.
fn append_for_ever(store: &Store) {
    thread::scope(|scope| {
        for number in 0..3_u64 {
            scope.spawn(move || {
                let id = format!("s{number}");
                store.append_and_wait(batch(&id, 0, vec![facts()])).unwrap();
                for index in 0.. {
                    let size = 1 + (index * 7 + number) % 5;
                    let body = format!("{id} {index} {}", "x".repeat((index % 50 * 97) as usize));
                    let mut entries = vec![item(&body)];
                    entries.extend((0..size).map(|_| event("1", "agent_message_delta")));
                    let receipt = store.append_and_wait(batch(&id, index, entries)).unwrap();
                    report(&format!("ack {id} {index} {}", receipt.last_seq));
                }
            });
        }
    });
}

fn append_until_it_fails(store: &Store) {
    store.append_and_wait(batch("s", 0, vec![facts()])).unwrap();
    for at in 1.. {
        let entries = (0..10).map(|_| item(&"x".repeat(5000))).collect();
        match store.append_and_wait(batch("s", at, entries)) {
            Ok(receipt) => report(&format!("ack {}", receipt.last_seq)),
            Err(error) => {
                report(&format!("error {error}"));
                let again = store.append_and_wait(batch("s", at, vec![item("small")])).unwrap_err();
                return report(&format!("again {again}"));
            }
        }
    }
}

#[expect(clippy::print_stdout, reason = "the parent reads it")]
pub(crate) fn report(text: &str) {
    // The harness leaves its own line open.
    println!("\n{MARK}{text}");
}

const ROLE: &str = "SABIR_STORE_TEST_ROLE";
const HOME: &str = "SABIR_STORE_TEST_HOME";
const MARK: &str = "report: ";
