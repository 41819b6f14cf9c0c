//! The variables that hold keys, out of the environment in which everybody looks for them.
//!
//! The kernel shows the environment that a program was started with for as long as it runs, to root
//! at least. So a program that is going to run commands starts itself once more without its secrets
//! and hands them on in memory that only it has.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use rustix::fs::MemfdFlags;

use crate::process::environment::names_secret;

/// Under which number the secrets were handed on.
pub(crate) const HANDED_ON: &str = "SABIR_SECRETS_AT";

const NAME: &str = "sabir-secrets";

static WITHDRAWN: OnceLock<Vec<(OsString, OsString)>> = OnceLock::new();

/// Takes what was handed on. The program calls it before anything else.
pub fn receive() {
    let Some(number) = std::env::var_os(HANDED_ON) else { return };
    let Some(number) = number.to_str().and_then(|number| number.parse::<i32>().ok()) else {
        return;
    };
    let path = Path::new("/proc/self/fd").join(number.to_string());
    // The variable may come from anywhere; memory of this name does not.
    let is_ours = fs::read_link(&path)
        .is_ok_and(|it| it.as_os_str().as_bytes().starts_with(format!("/memfd:{NAME}").as_bytes()));
    if !is_ours {
        return;
    }
    let read = fs::read(&path);
    let _ = nix::unistd::close(number);
    if let Ok(bytes) = read {
        let _ = WITHDRAWN.set(decode(&bytes));
    }
    // It was started by a number, and would be called so.
    let _ = rustix::thread::set_name(c"sabir");
}

/// Starts the program once more, without the variables that sound secret. Returns if there are none
/// or if that fails: without it the program works as well, only less secretly.
///
/// It must be called before any thread is started.
pub fn withdraw() -> io::Result<()> {
    let secrets: Vec<_> = std::env::vars_os()
        .filter(|(name, _)| names_secret(&name.to_string_lossy()) && name != HANDED_ON)
        .collect();
    if secrets.is_empty() || WITHDRAWN.get().is_some() {
        return Ok(());
    }
    let mut memory = File::from(rustix::fs::memfd_create(NAME, MemfdFlags::empty())?);
    memory.write_all(&encode(&secrets))?;
    let mut words = std::env::args_os();
    // The program itself, even if another stands under its name by now.
    let mut command = Command::new("/proc/self/exe");
    command.arg0(words.next().unwrap_or_else(|| "sabir".into())).args(words);
    for (name, _) in &secrets {
        command.env_remove(name);
    }
    command.env(HANDED_ON, memory.as_raw_fd().to_string());
    Err(command.exec())
}

/// A variable, wherever it is.
pub fn var(name: impl AsRef<OsStr>) -> Option<OsString> {
    let name = name.as_ref();
    let withdrawn = WITHDRAWN.get().into_iter().flatten().find(|(it, _)| it == name);
    withdrawn.map(|(_, value)| value.clone()).or_else(|| std::env::var_os(name))
}

/// All of them.
pub fn vars() -> impl Iterator<Item = (OsString, OsString)> {
    let withdrawn = WITHDRAWN.get().into_iter().flatten().cloned();
    std::env::vars_os().filter(|(name, _)| name != HANDED_ON).chain(withdrawn)
}

/// What the variables hold that sound secret, wherever they are.
pub fn values() -> Vec<String> {
    let secret = |(name, _): &(OsString, OsString)| names_secret(&name.to_string_lossy());
    vars().filter(secret).filter_map(|(_, value)| value.into_string().ok()).collect()
}

/// As the kernel has it: neither names nor values hold a NUL, and names hold no `=`, except as
/// their first character.
fn encode(variables: &[(OsString, OsString)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (name, value) in variables {
        bytes.extend_from_slice(name.as_bytes());
        bytes.push(b'=');
        bytes.extend_from_slice(value.as_bytes());
        bytes.push(0);
    }
    bytes
}

fn decode(bytes: &[u8]) -> Vec<(OsString, OsString)> {
    let text = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
    let entries = bytes.split(|byte| *byte == 0).filter_map(|entry| {
        let at = 1 + entry.iter().skip(1).position(|byte| *byte == b'=')?;
        Some((text(&entry[..at]), text(&entry[at + 1..])))
    });
    entries.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_handed_on_comes_back() {
        let pairs = [("A_KEY", "v"), ("TOKEN", ""), ("KEYS", "a=b\nc"), ("=KEY", "x")];
        let pairs: Vec<(OsString, OsString)> =
            pairs.iter().map(|(name, value)| (name.into(), value.into())).collect();
        assert_eq!(decode(&encode(&pairs)), pairs);
        assert_eq!(decode(b""), []);
    }
}
