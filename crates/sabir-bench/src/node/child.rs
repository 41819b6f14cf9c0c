//! The node in a process of its own, and what the kernel says about it.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use serde_json::Value;

/// `sabir up` in a home of its own. It ends with this value, whatever happens.
pub(super) struct NodeChild {
    child: Child,
    pub(super) home: PathBuf,
    /// Without a slash at the end.
    pub(super) url: String,
    pub(super) delegate_id: String,
    /// What opens the console.
    pub(super) token: String,
}

/// What a process holds at one moment.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sample {
    pub(super) resident_bytes: u64,
    /// Of all threads, in the kernel and outside of it.
    pub(super) cpu: Duration,
}

impl NodeChild {
    /// Starts the program and waits until it says where it listens.
    pub(super) fn start(program: &Path, home: &Path, model_url: &str) -> anyhow::Result<Self> {
        let config = home.join("sabir.toml");
        std::fs::write(&config, CONFIG)?;
        let log = std::fs::File::create(home.join("node.log"))?;
        let mut command = Command::new(program);
        command.args(["up", "--json", "--listen", "127.0.0.1:0", "--home"]).arg(home);
        command.arg("--config").arg(&config).args(["--base-url", model_url, "--model", "bench"]);
        command.env_remove("SABIR_TOKEN").current_dir(home);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log);
        let mut child = command.spawn().with_context(|| {
            format!("cannot start {}: `cargo xtask bench node` builds it", program.display())
        })?;
        let output = child.stdout.take().context("the node has no output")?;
        let mut line = String::new();
        let said = BufReader::new(output).read_line(&mut line).map_err(anyhow::Error::from);
        let home = home.to_owned();
        let (url, delegate_id, token) = (String::new(), String::new(), String::new());
        let mut node = Self { child, home, url, delegate_id, token };
        said.and_then(|_| node.hear(&line)).with_context(|| node.log())?;
        Ok(node)
    }

    fn hear(&mut self, line: &str) -> anyhow::Result<()> {
        let said: Value = serde_json::from_str(line).context("the node did not start")?;
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let address = text(&said["listening"][0]["address"]).context("it listens nowhere")?;
        self.url = format!("http://{address}");
        self.delegate_id = text(&said["delegate_id"]).context("it has no id")?;
        let link = text(&said["console"]).context("it has no console")?;
        let (_, token) = link.split_once("#token=").context("a link without a token")?;
        self.token = token.to_owned();
        Ok(())
    }

    /// The end of what it wrote down for people.
    pub(super) fn log(&self) -> String {
        let text = std::fs::read_to_string(self.home.join("node.log")).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        format!("the node said:\n{}", lines[lines.len().saturating_sub(20)..].join("\n"))
    }

    pub(super) fn probe(&self) -> Probe {
        Probe(PathBuf::from(format!("/proc/{}", self.child.id())))
    }

    /// Tells it to end, in good order.
    pub(super) fn end(mut self) -> anyhow::Result<()> {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM)?;
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            if let Some(status) = self.child.try_wait()? {
                ensure!(status.success(), "the node ended with {status}; {}", self.log());
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        bail!("the node did not end; {}", self.log())
    }
}

impl Drop for NodeChild {
    fn drop(&mut self) {
        // Both fail when it is gone already, which is what is wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Where the kernel tells of a process.
#[derive(Debug, Clone)]
pub(super) struct Probe(PathBuf);

impl Probe {
    pub(super) fn sample(&self) -> anyhow::Result<Sample> {
        let status = std::fs::read_to_string(self.0.join("status")).context("the node is gone")?;
        let kib = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = kib.and_then(|line| line.trim().strip_suffix(" kB"));
        let kib: u64 = kib.context("nobody says how much memory it has")?.parse()?;
        let stat = std::fs::read_to_string(self.0.join("stat"))?;
        // The name of the program stands in brackets and may hold anything.
        let (_, fields) = stat.rsplit_once(") ").context("a line without a name")?;
        let ticks = fields.split(' ').skip(11).take(2).map(str::parse::<u64>);
        let ticks: u64 = ticks.collect::<Result<Vec<_>, _>>()?.iter().sum();
        let cpu = Duration::from_millis(ticks * 1000 / TICKS_A_SECOND);
        Ok(Sample { resident_bytes: kib * 1024, cpu })
    }

    /// Descriptors that are open.
    pub(super) fn descriptors(&self) -> anyhow::Result<usize> {
        Ok(std::fs::read_dir(self.0.join("fd")).context("the node is gone")?.count())
    }
}

/// A coder would ask the model for tasks that fit nobody else.
const CONFIG: &str = "\
[node]
delegate_id = \"ldp:delegate:bench-node\"

[[skills]]
name = \"echo\"
builtin = \"echo\"
";

/// What Linux counts in, on every machine.
const TICKS_A_SECOND: u64 = 100;
/// Longer than a node takes to leave what it does.
const PATIENCE: Duration = Duration::from_secs(20);
