//! Where a key comes from: the environment, or a file that only its owner can read.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use super::file::Entry;
use super::{ProviderError, Secret};

/// The variable that the settings name, then that of the file's section, then its key file. The
/// variable for everyone comes last: a provider that has its own key must not get another one's.
pub(super) fn find(
    env_key: Option<&str>,
    entry: &Entry,
    environment: &dyn Fn(&str) -> Option<String>,
) -> Result<Option<Secret>, ProviderError> {
    let read = |variable: &str| {
        environment(variable).map(|text| Secret::new(&text)).filter(|secret| !secret.is_empty())
    };
    if let Some(variable) = env_key.or(entry.env_key.as_deref()) {
        return match read(variable) {
            Some(secret) => Ok(Some(secret)),
            None => Err(ProviderError::NoVariable { variable: variable.to_owned() }),
        };
    }
    if let Some(path) = &entry.key_file {
        return read_file(path).map(Some);
    }
    Ok(read(COMMON_VARIABLE))
}

fn read_file(path: &Path) -> Result<Secret, ProviderError> {
    use std::io::Read as _;

    let refused = |reason: String| ProviderError::KeyFile { path: path.to_owned(), reason };
    let told = |error: std::io::Error| refused(error.kind().to_string());
    // Questions about the open file are answered about that file, whatever the name means by now.
    let file = std::fs::File::open(path).map_err(told)?;
    let metadata = file.metadata().map_err(told)?;
    if !metadata.is_file() {
        return Err(refused("it is not a file".to_owned()));
    }
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(refused("it belongs to another user".to_owned()));
    }
    let mode = metadata.mode() & 0o777;
    if !matches!(mode, 0o600 | 0o400) {
        let path = path.display();
        return Err(refused(format!(
            "its mode is {mode:o}, so others may read it: chmod 600 {path}"
        )));
    }
    let mut bytes = Vec::new();
    file.take(LARGEST_KEY + 1).read_to_end(&mut bytes).map_err(told)?;
    let text = String::from_utf8(bytes).map_err(|_| refused("it is not text".to_owned()))?;
    let secret = Secret::new(&text);
    if secret.is_empty() {
        return Err(refused("it is empty".to_owned()));
    }
    if text.len() as u64 > LARGEST_KEY || text.trim().contains(char::is_whitespace) {
        return Err(refused("it holds more than one key".to_owned()));
    }
    Ok(secret)
}

const COMMON_VARIABLE: &str = "SABIR_API_KEY";

/// Signed tokens are a few kilobytes long.
const LARGEST_KEY: u64 = 64 * 1024;
