//! What a layer is tried with: a command that attempts what must fail, and says what it managed.

use std::fs;
use std::io::Write;
use std::net::{TcpListener, UdpSocket};
use std::path::Path;
use std::process::ExitCode;

use serde::{Deserialize, Serialize};

/// What the attempt achieved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Achieved {
    pub(super) inside: bool,
    pub(super) outside: bool,
    pub(super) git: bool,
    pub(super) socket: bool,
    /// Saw processes of the machine.
    pub(super) others: bool,
}

/// The places: a file in a root, one outside of it, and the `.git` of the root.
pub(super) fn run(places: &[&str]) -> ExitCode {
    let [inside, outside, git] = places else { return ExitCode::from(2) };
    let achieved = Achieved {
        inside: fs::write(inside, "x").is_ok(),
        outside: fs::write(outside, "x").is_ok(),
        git: fs::create_dir(git).is_ok() || fs::write(Path::new(git).join("config"), "x").is_ok(),
        socket: UdpSocket::bind("127.0.0.1:0").is_ok() || TcpListener::bind("127.0.0.1:0").is_ok(),
        others: sees_others(),
    };
    let said = serde_json::to_string(&achieved)
        .map_err(std::io::Error::from)
        .and_then(|text| std::io::stdout().write_all(text.as_bytes()));
    if said.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Inside there are the first process and this one.
fn sees_others() -> bool {
    let is_process = |entry: &fs::DirEntry| {
        entry.file_name().to_str().is_some_and(|name| name.bytes().all(|it| it.is_ascii_digit()))
    };
    fs::read_dir("/proc").map_or(true, |all| all.flatten().filter(is_process).count() > 2)
}
