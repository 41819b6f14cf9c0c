//! Everything that is wrong with a configuration text, each with its place: what the node, the model
//! providers, the servers of tools and the gate read from the same file. It starts nothing.

mod around;

use std::ops::Range;

use sabir_base::is_near;
use sabir_engine::ProviderSettings;
use sabir_policy::PolicyDoc;
use toml::de::{DeTable, DeValue};

use crate::mcp::{McpConfig, McpConfigError};
use crate::model::{ProviderError, Providers};
use crate::node::{CONFIG_KEYS, NodeConfig, NodeConfigError, SkillKind};

pub use around::{Around, check_around};

/// What is wrong, in the order of the text. Each reader tells the first thing that it stumbles over.
pub fn check_config(text: &str) -> Vec<NodeConfigError> {
    let mut faults = Vec::new();
    let node = NodeConfig::parse(text);
    if let Err(error) = &node {
        faults.push(error.clone());
    }
    // What cannot be read at all is told once.
    let Ok(document) = DeTable::parse(text) else { return faults };
    let table = document.get_ref();
    let at = |path: &[&str], why: String| NodeConfigError::at(text, place(table, path), why);
    match Providers::parse(text, "") {
        Ok(providers) => {
            for name in providers.names() {
                let settings =
                    ProviderSettings { name: Some(name.to_owned()), ..ProviderSettings::default() };
                // Whether a variable is set is a matter of the moment.
                let found = providers.resolve(&[&settings], &|_| Some("set".to_owned()));
                let key = match &found {
                    Err(ProviderError::Url { .. } | ProviderError::PlainHttp { .. }) => "base_url",
                    Err(ProviderError::Header { .. }) => "headers",
                    _ => continue,
                };
                if let Err(error) = found {
                    faults.push(at(&["providers", name, key], error.to_string()));
                }
            }
            if let Ok(config) = &node {
                faults.extend(unknown_providers(text, table, config, &providers));
            }
        }
        Err(error) => faults.push(of_provider(&error, table, &at)),
    }
    if let Err(error) = McpConfig::parse(text) {
        faults.push(of_server(&error, &at));
    }
    if let Err(error) = PolicyDoc::parse_section(text) {
        faults.push(NodeConfigError::at(text, error.span, error.message));
    }
    faults.sort_by_key(|fault| (fault.line, fault.column));
    faults.dedup_by_key(|fault| (fault.line, fault.column));
    faults
}

/// Every key that can stand in a configuration file, by its section, as those who read it know them. The
/// parts of `policy` are told by its own reader.
pub fn config_keys() -> Vec<(&'static str, Vec<&'static str>)> {
    let mut keys: Vec<_> =
        CONFIG_KEYS.iter().map(|(section, keys)| (*section, keys.to_vec())).collect();
    keys.push(("providers.*", crate::model::PROVIDER_KEYS.to_vec()));
    keys.push(("mcp.*", crate::mcp::SERVER_KEYS.to_vec()));
    keys
}

/// Agents that are to ask a model of somebody whom the file does not know.
fn unknown_providers(
    text: &str,
    table: &DeTable<'_>,
    config: &NodeConfig,
    providers: &Providers,
) -> Vec<NodeConfigError> {
    let is_unknown = |name: &&String| !providers.names().any(|known| known == name.as_str());
    let why = |name: &str| {
        let names: Vec<&str> = providers.names().collect();
        match (names.iter().find(|known| is_near(known, name)), names.is_empty()) {
            (Some(nearest), _) => format!("there is no provider `{name}`: write `{nearest}`"),
            (None, true) => format!("there is no provider `{name}`: write `[providers.{name}]`"),
            (None, false) => {
                format!("there is no provider `{name}`: there are {}", names.join(", "))
            }
        }
    };
    let mut faults = Vec::new();
    let coder = config.crew.coder.as_ref().and_then(|coder| coder.provider.as_ref());
    if let Some(name) = coder.filter(is_unknown) {
        let span = place(table, &["crew", "coder", "provider"]);
        faults.push(NodeConfigError::at(text, span, why(name)));
    }
    let entries = match table.get("skills").map(toml::Spanned::get_ref) {
        Some(DeValue::Array(entries)) => entries.iter().collect(),
        _ => Vec::new(),
    };
    for (skill, entry) in config.skills.iter().zip(entries) {
        let SkillKind::Agent(agent) = &skill.kind else { continue };
        let (Some(name), DeValue::Table(entry)) =
            (agent.provider.as_ref().filter(is_unknown), entry.get_ref())
        else {
            continue;
        };
        let span = place(entry, &["agent", "provider"]);
        faults.push(NodeConfigError::at(text, span, why(name)));
    }
    faults
}

/// Where a key stands; where the last of those before it does, if it is not there.
fn place(table: &DeTable<'_>, path: &[&str]) -> Range<usize> {
    let mut span = 0..0;
    let mut table = Some(table);
    for name in path {
        let Some(inside) = table else { break };
        let Some((key, value)) = inside.iter().find(|(key, _)| key.get_ref() == name) else {
            break;
        };
        span = key.span();
        table = match value.get_ref() {
            DeValue::Table(table) => Some(table),
            _ => None,
        };
    }
    span
}

fn of_provider(
    error: &ProviderError,
    table: &DeTable<'_>,
    at: &impl Fn(&[&str], String) -> NodeConfigError,
) -> NodeConfigError {
    // The errors name the file first, which is not known here.
    let why = error.to_string().trim_start_matches(": ").to_owned();
    match error {
        ProviderError::UnknownKey { place, key, .. } => match section(place) {
            Some(name) => at(&["providers", name, key], why),
            None => at(&[key], why),
        },
        ProviderError::KeyInFile { place, .. } => {
            let name = section(place).unwrap_or_default();
            let keys = ["key", "api_key", "apikey", "token", "secret"];
            let section = self::place(table, &["providers", name]);
            let is_there = |key: &&str| self::place(table, &["providers", name, key]) != section;
            let key = keys.into_iter().find(is_there);
            at(&["providers", name, key.unwrap_or_default()], why)
        }
        ProviderError::Malformed { reason, .. } => {
            let key = reason.split('`').nth(1).unwrap_or_default();
            match section(reason) {
                Some(name) => at(&["providers", name, key], why),
                None => at(&[reason.split(' ').next().unwrap_or_default()], why),
            }
        }
        ProviderError::UnknownProvider { .. } => at(&["default_provider"], why),
        _ => at(&["providers"], why),
    }
}

/// The name in `[providers.NAME]`, wherever that stands in the words.
fn section(words: &str) -> Option<&str> {
    let (_, rest) = words.split_once("[providers.")?;
    rest.split_once(']').map(|(name, _)| name)
}

fn of_server(
    error: &McpConfigError,
    at: &impl Fn(&[&str], String) -> NodeConfigError,
) -> NodeConfigError {
    use McpConfigError as E;
    let why = format!("{error}: {}", error.help());
    match error {
        E::Syntax { .. } | E::NotATable { .. } => at(&["mcp"], why),
        E::UnknownKey { server, key, .. } => at(&["mcp", server, key], why),
        E::WrongType { server, key, .. } => at(&["mcp", server, key], why),
        E::MixedTransports { server, key, .. } => at(&["mcp", server, key], why),
        E::BadUrl { server, .. } => at(&["mcp", server, "url"], why),
        E::BadHeader { server, header, .. } => at(&["mcp", server, "headers", header], why),
        E::BadName { server } | E::NoTransport { server } | E::BadVariable { server } => {
            at(&["mcp", server], why)
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(text: &str, expected: Expect) {
        let faults: Vec<String> =
            check_config(text).iter().map(|fault| format!("{fault}\n")).collect();
        expected.assert_eq(&faults.concat());
    }

    #[test]
    fn every_fault_has_its_place() {
        check("[node]\nname = \"x\"\n", expect![[""]]);
        check(
            "default_provider = \"b\"\n[nod]\n[providers.a]\nbase_url = \"http://127.0.0.1/v1\"\n",
            expect![[r#"
                line 1, column 1: no provider `b`; there are: a
                 1 | default_provider = "b"
                   | ^^^^^^^^^^^^^^^^
                line 2, column 2: there is no key `nod` in `the configuration`: write `node`
                 2 | [nod]
                   |  ^^^
            "#]],
        );
        check(
            "[providers.a]\nbase_ulr = \"x\"\n[mcp.files]\ncomand = [\"x\"]\n[node]\nnmae = \"x\"\n",
            expect![[r#"
                line 2, column 1: unknown key `base_ulr` in [providers.a]; did you mean `base_url`?
                 2 | base_ulr = …
                   | ^^^^^^^^
                line 4, column 1: unknown key `comand` in `[mcp.files]`: write `command`
                 4 | comand = …
                   | ^^^^^^
                line 6, column 1: there is no key `nmae` in `[node]`: write `name`
                 6 | nmae = …
                   | ^^^^
            "#]],
        );
        check(
            "[providers.a]\nbase_url = \"ftp://x\"\n[providers.b]\nbase_url = \"http://x.example/v1\"\nenv_key = \"K\"\n",
            expect![[r#"
                line 2, column 1: bad base_url ftp://x: it must begin with http:// or https://
                 2 | base_url = …
                   | ^^^^^^^^
                line 4, column 1: the key would travel unencrypted to http://x.example/v1; use https, or write `allow_plain_http = true` for this provider
                 4 | base_url = …
                   | ^^^^^^^^
            "#]],
        );
        check(
            "[providers.a]\napi_key = \"secret\"\n",
            expect![[r#"
                line 2, column 1: a key cannot stand in [providers.a]; name the variable that holds it with `env_key`, or the file with `key_file`
                 2 | api_key = …
                   | ^^^^^^^
            "#]],
        );
        check(
            "[providers.a]\nwire_api = 7\n[mcp.x]\nurl = 3\n",
            expect![[r#"
                line 2, column 1: `wire_api` in [providers.a]: invalid type: unit variant, expected string only
                 2 | wire_api = 7
                   | ^^^^^^^^
                line 4, column 1: `url` in `[mcp.x]` has a value that does not fit: write `url = "text"`
                 4 | url = 3
                   | ^^^
            "#]],
        );
        check(
            "[node\n",
            expect![[r#"
            line 1, column 6: unclosed table, expected `]`
             1 | [node
               |      ^
        "#]],
        );
    }
}
