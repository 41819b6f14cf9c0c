//! What `fmt` does to files when something comes between: another process, a signal, a full disk.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::process::{run, sabir, wait};

/// A file that has to be changed, large enough that writing it takes more than one step, and what
/// it becomes.
fn untidy(path: &Path) -> (String, String) {
    let message = "HEADER: {f:a, t:b, s:1}\nREQ: {o:\"write the log\", pr:2}\n";
    let text = message.repeat(20_000);
    fs::write(path, &text).unwrap();
    let tidy = run(&["llmx", "fmt", "-"], &text).stdout;
    assert_ne!(tidy, text);
    (text, tidy)
}

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn several_at_once_leave_one_whole_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log.llmx");
    let (_, tidy) = untidy(&path);
    let mut children: Vec<_> =
        (0..6).map(|_| sabir().args(["llmx", "fmt"]).arg(&path).spawn().unwrap()).collect();
    for child in &mut children {
        drop(child.stdin.take());
        assert_eq!(wait(child), Some(0));
    }
    assert!(fs::read_to_string(&path).unwrap() == tidy, "the file is neither old nor new");
    assert_eq!(names(dir.path()), ["log.llmx"]);
}

/// Killed at any moment, it leaves the old text or the new one.
#[test]
fn killed_it_leaves_a_whole_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log.llmx");
    let (untidy, tidy) = untidy(&path);
    let mut killed = 0;
    for delay in 0..25 {
        fs::write(&path, &untidy).unwrap();
        let mut child = sabir().args(["llmx", "fmt"]).arg(&path).spawn().unwrap();
        // Every step of the work is met by some delay; which one depends on the machine.
        thread::sleep(Duration::from_millis(delay));
        child.kill().unwrap();
        killed += u32::from(child.wait().unwrap().code().is_none());
        let text = fs::read_to_string(&path).unwrap();
        assert!(text == untidy || text == tidy, "half a file after {delay} ms");
    }
    assert!(killed > 0, "it was always faster than the signal: a weak test");
}

/// The limit on the size of files stands for a disk that is full: writing fails half way.
#[test]
fn a_full_disk_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log.llmx");
    let (untidy, _) = untidy(&path);
    // Ignored, the signal becomes an error, which is what a full disk gives.
    let output = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 8; exec \"$0\" llmx fmt \"$1\""])
        .arg(env!("CARGO_BIN_EXE_sabir"))
        .arg(&path)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("log.llmx: cannot be written"), "{stderr}");
    assert!(fs::read_to_string(&path).unwrap() == untidy, "the file has changed");
    assert_eq!(names(dir.path()), ["log.llmx"]);
}
