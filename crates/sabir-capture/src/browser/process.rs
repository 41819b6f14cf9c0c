//! The browser as a process: found, started with a fresh profile and our proxy, ended with all of
//! its children. It does not speak to it.

use std::ffi::{OsStr, OsString};
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, geteuid, kill_process_group};
use tempfile::TempDir;
use tokio::process::{ChildStdin, ChildStdout};

use super::Window;
use super::error::BrowserError;

/// A running browser. Dropped, it is killed with its children, and reaped.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    profile: Option<TempDir>,
}

/// Both ends of the pipe to it.
#[derive(Debug)]
pub(super) struct Pipe {
    pub input: ChildStdout,
    pub output: ChildStdin,
}

impl Process {
    pub(super) fn start(
        program: Option<&Path>,
        window: Window,
        proxy: SocketAddr,
    ) -> Result<(Self, Pipe), BrowserError> {
        let program = match program {
            Some(program) => program.to_owned(),
            None => installed_browser().ok_or(BrowserError::NotInstalled)?,
        };
        Self::spawn(&program, window, proxy)
            .map_err(|error| BrowserError::NotStarted { reason: error.to_string() })
    }

    fn spawn(program: &Path, window: Window, proxy: SocketAddr) -> io::Result<(Self, Pipe)> {
        let profile = tempfile::Builder::new().prefix("sabir-browser-").tempdir()?;
        let mut child = Command::new("/bin/sh")
            // The browser reads file 3 and writes file 4. Only a shell can put them there safely.
            .args(["-c", "exec \"$@\" 3<&0 4>&1 0</dev/null 1>/dev/null", "sh"])
            .arg(program)
            .args(arguments(profile.path(), window, proxy))
            .env_clear()
            .envs(environment(profile.path(), window))
            .current_dir(profile.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        // From here on, whatever fails kills it.
        let process = Self { child, profile: Some(profile) };
        let (Some(stdin), Some(stdout)) = (stdin, stdout) else {
            return Err(io::Error::other("no pipe"));
        };
        let pipe =
            Pipe { input: ChildStdout::from_std(stdout)?, output: ChildStdin::from_std(stdin)? };
        Ok((process, pipe))
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let group = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        if let Some(group) = group {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
        let Some(profile) = self.profile.take() else { return };
        // Its children die with it, but not in the same moment, and until then they write.
        for _ in 0..ENDING_STEPS {
            let removed = std::fs::remove_dir_all(profile.path());
            if removed.is_ok() || !profile.path().exists() {
                break;
            }
            std::thread::sleep(ENDING_STEP);
        }
    }
}

/// The browser that would be started: the first of the names that one goes by, on the search path.
pub fn installed_browser() -> Option<PathBuf> {
    let path = inherited("PATH")?;
    NAMES.iter().find_map(|name| {
        std::env::split_paths(&path).map(|folder| folder.join(name)).find(|it| is_program(it))
    })
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}

fn arguments(profile: &Path, window: Window, proxy: SocketAddr) -> Vec<OsString> {
    let mut all: Vec<OsString> = FIXED.iter().map(OsString::from).collect();
    let mut folder = OsString::from("--user-data-dir=");
    folder.push(profile);
    all.push(folder);
    all.push(format!("--proxy-server=http://{proxy}").into());
    // No name is looked up but by the proxy; only the proxy itself is reached directly.
    all.push(format!("--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE {}", proxy.ip()).into());
    if window == Window::Hidden {
        all.push("--headless=new".into());
    }
    if geteuid().is_root() {
        // Its sandbox refuses to work for root, and the browser to start without saying so.
        all.push("--no-sandbox".into());
    }
    all.push("about:blank".into());
    all
}

/// What a window needs, and nothing that may be secret.
fn environment(profile: &Path, window: Window) -> Vec<(OsString, OsString)> {
    let mut all: Vec<(OsString, OsString)> = Vec::new();
    let shown: &[&str] = if window == Window::Shown { &OF_WINDOWS } else { &[] };
    for name in OF_PROGRAMS.iter().chain(shown) {
        if let Some(value) = inherited(name) {
            all.push((name.into(), value));
        }
    }
    // Whatever it wants to keep in a home goes with the profile.
    all.push(("HOME".into(), profile.into()));
    all
}

#[expect(
    clippy::disallowed_methods,
    reason = "where programs and displays are is a fact of the surroundings, not a setting of ours"
)]
fn inherited(name: impl AsRef<OsStr>) -> Option<OsString> {
    std::env::var_os(name)
}

/// Debian's name comes first.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

const OF_PROGRAMS: [&str; 5] = ["PATH", "LANG", "LC_ALL", "TZ", "TMPDIR"];

const OF_WINDOWS: [&str; 5] =
    ["DISPLAY", "XAUTHORITY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"];

const FIXED: [&str; 33] = [
    "--remote-debugging-pipe",
    // Loopback goes through the proxy, too.
    "--proxy-bypass-list=<-loopback>",
    // What would not go through the proxy.
    "--disable-quic",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--dns-prefetch-disable",
    // What nobody asked for.
    "--disable-background-networking",
    "--disable-client-side-phishing-detection",
    "--disable-component-extensions-with-background-pages",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-sync",
    "--disable-breakpad",
    "--disable-crash-reporter",
    "--metrics-recording-only",
    "--no-pings",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-service-autorun",
    // What would wait for a person, or reach for what is the person's.
    "--deny-permission-prompts",
    "--noerrdialogs",
    "--disable-search-engine-choice-screen",
    "--password-store=basic",
    "--use-mock-keychain",
    "--mute-audio",
    // What makes pages behave the same whether or not anybody looks.
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-dev-shm-usage",
    "--window-size=1280,900",
    // Among them what shows documents that no tab has asked for.
    "--disable-features=BackForwardCache,Prerender2,SignedHTTPExchange,Translate,MediaRouter,OptimizationHints,\
     AutofillServerCommunication,DialMediaRouteProvider,GlobalMediaControls,\
     InterestFeedContentSuggestions,CertificateTransparencyComponentUpdater,\
     PreconnectToSearch,LoadingPredictorUseOptimizationGuide,NavigationPredictor",
];

/// Two seconds in all, and hardly ever more than two steps.
const ENDING_STEPS: u32 = 100;
const ENDING_STEP: Duration = Duration::from_millis(20);
