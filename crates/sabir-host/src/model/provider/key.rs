//! Where a key comes from: the environment, or a file that only its owner can read.

use std::path::Path;

use super::file::Entry;
use super::{ProviderError, Secret};
use crate::reading;

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
    let refused = |reason: String| ProviderError::KeyFile { path: path.to_owned(), reason };
    let text = reading::read_private(path, LARGEST_KEY).map_err(refused)?;
    let secret = Secret::new(&text);
    if secret.is_empty() {
        return Err(refused("it is empty".to_owned()));
    }
    if text.trim().contains(char::is_whitespace) {
        return Err(refused("it holds more than one key".to_owned()));
    }
    Ok(secret)
}

const COMMON_VARIABLE: &str = "SABIR_API_KEY";

/// Signed tokens are a few kilobytes long.
const LARGEST_KEY: u64 = 64 * 1024;
