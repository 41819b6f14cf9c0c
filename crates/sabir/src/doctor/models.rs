//! Models: those of the configuration with their keys, by name only, keys that are in the environment,
//! and servers on this machine.

use std::path::Path;

use sabir_engine::ProviderSettings;
use sabir_host::Providers;

use super::Check;
use crate::agent_args::runtime;
use crate::run::find_local;

pub(super) fn all(home: &Path) -> Vec<Check> {
    let mut checks = providers(home);
    match runtime().and_then(|runtime| runtime.block_on(find_local())) {
        Err(error) => checks.push(Check::lacking("local", format!("{error:#}"), "docs/models.md")),
        Ok(found) if found.is_empty() => {}
        Ok(found) => {
            for server in found {
                let models = match server.models.as_slice() {
                    [] => "no model".to_owned(),
                    [one] => one.clone(),
                    [one, rest @ ..] => format!("{one} and {} more", rest.len()),
                };
                let said = format!("{} at {} has {models}", server.name, server.base_url);
                checks.push(Check::good("local", said));
            }
        }
    }
    let keys = keys_that_are_set();
    if checks.is_empty() {
        // A key says what somebody has, and not that it may be used.
        let help = match keys.first() {
            Some(key) => format!(
                "write a [providers.NAME] with `env_key = \"{key}\"` into sabir.toml; nothing is sent \
                 to anybody before that: docs/models.md"
            ),
            None => "write a [providers.NAME] section into sabir.toml, or start a local server: \
                     docs/models.md"
                .to_owned(),
        };
        let said =
            "none is configured or served here; the built-in one answers from what was collected";
        checks.push(Check::lacking("model", said, help));
    }
    if !keys.is_empty() {
        checks.push(Check::good("keys", format!("set: {}", keys.join(", "))));
    }
    checks
}

/// The names of usual keys that the environment has.
pub(crate) fn keys_that_are_set() -> Vec<&'static str> {
    let is_set = |name: &&str| sabir_host::secrets::var(name).is_some_and(|it| !it.is_empty());
    KEYS.into_iter().filter(is_set).collect()
}

/// Each provider of the configuration, and whether its key is where it says.
fn providers(home: &Path) -> Vec<Check> {
    // A file that cannot be read is told elsewhere.
    let Ok(providers) = Providers::load(&sabir_host::config_file(home)) else { return Vec::new() };
    let environment = |name: &str| sabir_host::secrets::var(name)?.into_string().ok();
    let check = |name: &str| {
        let settings =
            ProviderSettings { name: Some(name.to_owned()), ..ProviderSettings::default() };
        match providers.resolve(&[&settings], &environment) {
            Ok(provider) => {
                let key = if provider.key.is_some() { "with a key" } else { "without a key" };
                Check::good("model", format!("{name}: {}, {key}", provider.base_url))
            }
            Err(error) => Check::lacking("model", format!("{name}: {error}"), "docs/models.md"),
        }
    };
    providers.names().map(check).collect()
}

/// Variables that hold keys of common providers.
const KEYS: [&str; 8] = [
    "SABIR_API_KEY",
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "GEMINI_API_KEY",
    "MISTRAL_API_KEY",
    "OPENROUTER_API_KEY",
    "DEEPSEEK_API_KEY",
    "GROQ_API_KEY",
];
