//! What packages are made of: a container, a service, manual pages and completions. There may be nothing
//! here that builds or runs them, so that what they name is looked for, and what they run is run in a
//! plain folder.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::process::{run, run_in, sabir, wait};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The instructions of a Dockerfile: a word, and what follows it on the same line.
fn instructions() -> Vec<(String, String)> {
    let text = fs::read_to_string(root().join("packaging/Dockerfile")).unwrap();
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    let text = lines.join("\n").replace("\\\n", " ");
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines
        .map(|line| {
            let (word, rest) = line.split_once(' ').unwrap();
            (word.to_owned(), rest.trim().to_owned())
        })
        .collect()
}

fn instruction(word: &str) -> String {
    let found: Vec<_> = instructions().into_iter().filter(|(it, _)| it == word).collect();
    assert_eq!(found.len(), 1, "{word}: {found:?}");
    found[0].1.clone()
}

fn words(list: &str) -> Vec<String> {
    serde_json::from_str(list).unwrap_or_else(|error| panic!("{list}: {error}"))
}

#[test]
fn what_the_container_copies_is_there() {
    let ignored = fs::read_to_string(root().join(".dockerignore")).unwrap();
    let ignored: BTreeSet<&str> = ignored.lines().collect();
    let mut count = 0;
    for (_, rest) in instructions().iter().filter(|(word, _)| word == "COPY") {
        if rest.starts_with("--from=") {
            continue;
        }
        let mut names: Vec<&str> = rest.split_whitespace().collect();
        names.pop();
        for name in names {
            assert!(root().join(name).exists(), "{name} is not there");
            assert!(!ignored.contains(name), "{name} is left out by .dockerignore");
            count += 1;
        }
    }
    assert!(count > 5, "{count}");
    // What is compiled in from elsewhere has to be copied, too.
    let copied: String = instructions()
        .into_iter()
        .filter(|(word, rest)| word == "COPY" && !rest.starts_with("--from="))
        .map(|(_, rest)| format!("{rest} "))
        .collect();
    for needed in ["examples", "docs", "spec", "crates", "packaging", "NOTICE.md"] {
        assert!(copied.split_whitespace().any(|it| it == needed), "{needed} is not copied");
    }
    assert_eq!(instruction("USER"), "sabir");
    let home = instruction("VOLUME");
    assert_eq!(instruction("ENV"), format!("SABIR_HOME={home}"));
    let mut places = instructions().into_iter().filter(|(word, _)| word == "WORKDIR");
    let (_, workspace) = places.next_back().unwrap();
    assert!(!Path::new(&workspace).starts_with(&home), "agents may not write there");
    let made = format!("install --directory --owner=sabir --group=sabir {workspace}");
    assert!(instructions().iter().any(|(word, rest)| word == "RUN" && rest.contains(&made)));
}

/// The command of the container, with an address that only this machine reaches.
#[test]
fn the_command_of_the_container_works_in_a_plain_folder() {
    let home = tempfile::tempdir().unwrap();
    let mut command = words(&instruction("ENTRYPOINT"));
    command.extend(words(&instruction("CMD")));
    assert_eq!(command.remove(0), "sabir");
    let listen = command.iter().position(|word| word == "--listen").unwrap() + 1;
    // Where others reach it, it does not start without a token, and says how to make one.
    let args: Vec<&str> = command.iter().map(String::as_str).collect();
    let envs = [("SABIR_HOME", &home.path().to_owned())];
    let refused = run_in(home.path(), &envs, &args, "");
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    for words in ["/dev/urandom", "--token-file", "SABIR_TOKEN", "[[callers]]"] {
        assert!(refused.stderr.contains(words), "{words}: {}", refused.stderr);
    }
    let exposed = instruction("EXPOSE");
    assert!(command[listen].ends_with(&format!(":{exposed}")), "{command:?}");
    command[listen] = "127.0.0.1:0".to_owned();
    let mut up = sabir();
    up.args(&command).arg("--json").env("SABIR_HOME", home.path());
    up.env("SABIR_TOKEN", "a-token-of-enough-characters").current_dir(home.path());
    let mut child = up.stdin(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let said: Value = serde_json::from_str(&line).unwrap();
    let address = said["listening"][0]["address"].as_str().unwrap();

    let health = instruction("HEALTHCHECK");
    let health = words(health.split_once("CMD").unwrap().1.trim());
    assert_eq!(health[0], "curl");
    let url = health.last().unwrap();
    let path = url.split_once(&format!("127.0.0.1:{exposed}")).unwrap().1;
    let mut socket = TcpStream::connect(address).unwrap();
    write!(socket, "GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");

    assert_eq!(instruction("STOPSIGNAL"), "SIGTERM");
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert_eq!(wait(&mut child), Some(0));
}

/// The service manager's own check, where it is there.
#[test]
fn the_service_is_understood() {
    let folder = tempfile::tempdir().unwrap();
    let units = root().join("packaging/systemd");
    let with_program = |name: &str| {
        let text = fs::read_to_string(units.join(name)).unwrap();
        assert!(text.contains("ExecStart=/usr/bin/sabir up"), "{name}");
        text.replace("/usr/bin/sabir", env!("CARGO_BIN_EXE_sabir"))
    };
    let service = folder.path().join("sabir.service");
    fs::write(&service, with_program("sabir.service")).unwrap();
    let more = folder.path().join("sabir.service.d");
    fs::create_dir(&more).unwrap();
    fs::write(more.join("network.conf"), with_program("network.conf")).unwrap();
    // Options that it names exist.
    for name in ["sabir.service", "network.conf"] {
        let text = fs::read_to_string(units.join(name)).unwrap();
        let line = text.lines().rfind(|line| line.starts_with("ExecStart=/")).unwrap();
        let help = run(&["up", "--help"], "").stdout;
        for option in line.split_whitespace().filter(|word| word.starts_with("--")) {
            assert!(help.contains(option), "{option}");
        }
    }
    let text = fs::read_to_string(units.join("sabir.service")).unwrap();
    let said = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    let (home, workspace) = (said("Environment=SABIR_HOME="), said("WorkingDirectory="));
    assert!(!Path::new(workspace).starts_with(home), "agents may not write there");
    let kept = [home, workspace].map(|place| place.strip_prefix("%S/").unwrap());
    assert_eq!(said("StateDirectory="), kept.join(" "));
    let config = units.join("sabir.toml");
    let checked = run(&["config", "check", config.to_str().unwrap()], "");
    assert_eq!(checked.code, 0, "{}", checked.stderr);
    let checked = Command::new("systemd-analyze")
        .args(["verify", "--man=no"])
        .arg(&service)
        .stdin(Stdio::null())
        .output();
    let Ok(checked) = checked else { return };
    let said = String::from_utf8_lossy(&checked.stderr);
    let about_us: Vec<&str> = said.lines().filter(|line| line.contains("sabir")).collect();
    assert!(checked.status.success() && about_us.is_empty(), "{said}");
}

/// Every command, with those above it, as `--help` lists them.
fn commands(above: &[&str]) -> Vec<Vec<String>> {
    let help = run(&[above, &["--help"]].concat(), "").stdout;
    let mut found = Vec::new();
    let Some((_, list)) = help.split_once("\nCommands:\n") else { return found };
    for line in list.lines().take_while(|line| !line.is_empty()) {
        // Words that go on below a name stand further to the right.
        let Some(name) = line.strip_prefix("  ").filter(|it| !it.starts_with(' ')) else {
            continue;
        };
        let name = name.split(' ').next().unwrap();
        if name == "help" {
            continue;
        }
        let path: Vec<&str> = above.iter().copied().chain([name]).collect();
        found.extend(commands(&path));
        found.push(path.into_iter().map(str::to_owned).collect());
    }
    found
}

#[test]
fn pages_and_completions_know_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let commands = commands(&[]);
    assert!(commands.len() > 50, "{}", commands.len());
    assert_eq!(run(&["man", folder.path().to_str().unwrap()], "").code, 0);
    for command in &commands {
        let page = folder.path().join(format!("sabir-{}.1", command.join("-")));
        let text = fs::read_to_string(&page).unwrap_or_else(|_| panic!("{}", page.display()));
        assert!(text.contains(".SH NAME"), "{}", page.display());
    }
    for shell in ["bash", "zsh", "fish"] {
        let script = run(&["completions", shell], "");
        assert_eq!(script.code, 0, "{shell}");
        for command in &commands {
            let name = command.last().unwrap();
            let is_word = |it: &str| it == name;
            let mut words =
                script.stdout.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_'));
            assert!(words.any(is_word), "{shell}: {command:?}");
        }
    }
}
