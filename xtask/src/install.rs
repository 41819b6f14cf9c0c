//! The program as a package lays it out: where `cargo install` puts it, with its manual pages, its
//! completions, an example of its configuration and its service; and whether it works from there.

use std::ffi::OsString;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::host;

pub(crate) fn stage_command(root: &Path, args: Vec<OsString>) -> Result<ExitCode> {
    use lexopt::prelude::*;

    let (mut folder, mut profile) = (None, Profile::Release);
    let mut parser = lexopt::Parser::from_args(args);
    while let Some(arg) = parser.next()? {
        match arg {
            Long("debug") => profile = Profile::Debug,
            Value(value) if folder.is_none() => folder = Some(PathBuf::from(value)),
            _ => return Err(arg.unexpected().into()),
        }
    }
    let folder = folder.context("say where: cargo xtask stage DIR")?;
    let folder = std::path::absolute(folder)?;
    stage(root, &folder, profile)?;
    println!("staged in {}", folder.display());
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn check_command(root: &Path, args: Vec<OsString>) -> Result<ExitCode> {
    if let Some(arg) = lexopt::Parser::from_args(args).next()? {
        return Err(arg.unexpected().into());
    }
    check(root)?;
    Ok(ExitCode::SUCCESS)
}

/// Stages what tests have built, and starts it with an empty home.
pub(crate) fn check(root: &Path) -> Result<()> {
    let began = Instant::now();
    let scratch = Scratch::new(&host::target_dir(root))?;
    let staged = scratch.0.join("stage");
    stage(root, &staged, Profile::Debug)?;
    let program = staged.join("usr/bin/sabir");
    let version = host::output(Command::new(&program).arg("--version"))?;
    ensure!(version.starts_with("sabir "), "`sabir --version` said {version:?}");
    for file in [
        "usr/share/man/man1/sabir.1",
        "usr/share/man/man1/sabir-up.1",
        "usr/share/bash-completion/completions/sabir",
        "usr/share/zsh/site-functions/_sabir",
        "usr/share/fish/vendor_completions.d/sabir.fish",
        "usr/share/doc/sabir/sabir.toml",
        "usr/share/doc/sabir/NOTICE.md",
        "usr/lib/systemd/system/sabir.service",
        "etc/sabir/sabir.toml",
    ] {
        let length = fs::metadata(staged.join(file)).map(|facts| facts.len());
        ensure!(length.is_ok_and(|length| length > 0), "{file} was not staged");
    }
    let home = scratch.0.join("home");
    let mut node = Node::start(&program, &home)?;
    let health = node.health()?;
    ensure!(health.contains("\"ok\""), "the node is not well: {health}");
    node.end()?;
    println!("installed, started and ended in {} s", began.elapsed().as_secs());
    Ok(())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Profile {
    Release,
    Debug,
}

/// Lays everything out under a folder, as it would stand under `/`.
fn stage(root: &Path, folder: &Path, profile: Profile) -> Result<()> {
    let built = host::target_dir(root).join("installed");
    let mut install = host::cargo(root);
    install.args(["install", "--locked", "--path", "crates/sabir", "--no-track", "--force"]);
    install.args(["--quiet", "--root"]).arg(&built);
    install.arg("--target-dir").arg(host::target_dir(root));
    if profile == Profile::Debug {
        install.arg("--debug");
    }
    host::run(&mut install)?;
    let program = folder.join("usr/bin/sabir");
    copy(&built.join("bin/sabir"), &program)?;
    let man = folder.join("usr/share/man/man1");
    host::run(Command::new(&program).arg("man").arg(&man))?;
    for (shell, file) in [
        ("bash", "bash-completion/completions/sabir"),
        ("zsh", "zsh/site-functions/_sabir"),
        ("fish", "fish/vendor_completions.d/sabir.fish"),
    ] {
        let script = host::output(Command::new(&program).args(["completions", shell]))?;
        write(&folder.join("usr/share").join(file), &script)?;
    }
    let example = host::output(Command::new(&program).args(["config", "example"]))?;
    write(&folder.join("usr/share/doc/sabir/sabir.toml"), &example)?;
    for file in ["NOTICE.md", "LICENSE-APACHE", "LICENSE-MIT"] {
        copy(&root.join(file), &folder.join("usr/share/doc/sabir").join(file))?;
    }
    let units = "usr/lib/systemd/system";
    let service = root.join("packaging/systemd/sabir.service");
    copy(&service, &folder.join(units).join("sabir.service"))?;
    copy(&root.join("packaging/systemd/sabir.toml"), &folder.join("etc/sabir/sabir.toml"))?;
    let network = root.join("packaging/systemd/network.conf");
    copy(&network, &folder.join("usr/share/doc/sabir/network.conf"))
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    make_folder(to)?;
    fs::copy(from, to).with_context(|| format!("{} to {}", from.display(), to.display()))?;
    Ok(())
}

fn write(to: &Path, text: &str) -> Result<()> {
    make_folder(to)?;
    fs::write(to, text).with_context(|| to.display().to_string())
}

fn make_folder(of: &Path) -> Result<()> {
    let folder = of.parent().context("a file is in a folder")?;
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())
}

/// A folder that is gone afterwards.
struct Scratch(PathBuf);

impl Scratch {
    fn new(target: &Path) -> Result<Self> {
        let folder = target.join(format!("install-check-{}", std::process::id()));
        fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        Ok(Self(folder))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// `sabir up`, which is killed if nobody ends it.
struct Node {
    child: Child,
    address: String,
}

impl Node {
    fn start(program: &Path, home: &Path) -> Result<Self> {
        let mut command = Command::new(program);
        command.args(["up", "--json", "--listen", "127.0.0.1:0", "--home"]).arg(home);
        // What is configured for whoever runs this is not meant.
        command.env_remove("SABIR_HOME").env_remove("SABIR_TOKEN");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().context("cannot start the installed program")?;
        let output = child.stdout.take().context("it has no output")?;
        let mut node = Self { child, address: String::new() };
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        let said: Value = serde_json::from_str(&line)
            .with_context(|| format!("`sabir up --json` said {line:?}"))?;
        let address = said["listening"][0]["address"].as_str();
        node.address = address.context("it listens nowhere")?.to_owned();
        Ok(node)
    }

    fn health(&self) -> Result<String> {
        let mut socket = TcpStream::connect(&self.address)?;
        socket.set_read_timeout(Some(PATIENCE))?;
        let address = &self.address;
        write!(socket, "GET /healthz HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n")?;
        let mut answer = String::new();
        socket.read_to_string(&mut answer)?;
        ensure!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
        Ok(answer)
    }

    /// As a service manager does it.
    fn end(&mut self) -> Result<()> {
        host::run(Command::new("kill").args(["-TERM", &self.child.id().to_string()]))?;
        let patience = Instant::now() + PATIENCE;
        let status = loop {
            match self.child.try_wait()? {
                Some(status) => break status,
                None if Instant::now() >= patience => bail!("the node does not end"),
                None => std::thread::sleep(Duration::from_millis(20)),
            }
        };
        if !status.success() {
            bail!("the node ended with {status}");
        }
        Ok(())
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // Both fail when it is gone already, which is what is wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Far more than an answer or an end needs.
const PATIENCE: Duration = Duration::from_secs(60);
