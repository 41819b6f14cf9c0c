//! Running the program, never for ever.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

/// Far more than any test needs, even on a machine that is busy with something else.
const PATIENCE: Duration = Duration::from_secs(120);
const STEP: Duration = Duration::from_millis(5);

#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

pub(crate) fn sabir() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sabir"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs `sabir ARGS` with `stdin`, and fails the test on a panic, a signal or a hang.
pub(crate) fn run(args: &[&str], stdin: impl AsRef<[u8]>) -> Outcome {
    finish(sabir().args(args), args, stdin)
}

/// The same in a folder, and with nothing in the environment that says where files are kept but
/// what is given.
pub(crate) fn run_in(
    folder: &Path,
    envs: &[(&str, &PathBuf)],
    args: &[&str],
    stdin: impl AsRef<[u8]>,
) -> Outcome {
    let mut command = sabir();
    command.current_dir(folder).args(args);
    for name in ["SABIR_HOME", "XDG_DATA_HOME"] {
        command.env_remove(name);
    }
    finish(command.envs(envs.iter().copied()), args, stdin)
}

pub(crate) fn finish(command: &mut Command, args: &[&str], stdin: impl AsRef<[u8]>) -> Outcome {
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let stdin = stdin.as_ref().to_vec();
    // A program that stops reading early closes the pipe; that is its right.
    let writer = thread::spawn(move || drop(input.write_all(&stdin)));
    let stdout = collect(child.stdout.take().unwrap());
    let stderr = collect(child.stderr.take().unwrap());
    let code = wait(&mut child).unwrap_or_else(|| panic!("sabir {args:?} was ended by a signal"));
    writer.join().unwrap();
    let outcome = Outcome { code, stdout: stdout.join().unwrap(), stderr: stderr.join().unwrap() };
    assert!(!outcome.stderr.contains("panicked at"), "sabir {args:?}: {}", outcome.stderr);
    outcome
}

/// The exit code, or `None` after a signal. A child that does not end is killed and fails the test.
pub(crate) fn wait(child: &mut Child) -> Option<i32> {
    for _ in 0..PATIENCE.as_millis() / STEP.as_millis() {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        thread::sleep(STEP);
    }
    child.kill().unwrap();
    child.wait().unwrap();
    panic!("the program did not end within {PATIENCE:?}");
}

fn collect(mut from: impl Read + Send + 'static) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    })
}
