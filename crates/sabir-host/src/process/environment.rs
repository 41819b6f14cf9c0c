//! The variables that a command gets.

use std::ffi::OsString;

use crate::sandbox::{Layer, Network};

/// What is inherited, without what smells of a secret, and with what tells a command where it is.
pub(crate) fn clean(
    inherited: impl IntoIterator<Item = (OsString, OsString)>,
    layer: Option<Layer>,
    network: Network,
) -> Vec<(OsString, OsString)> {
    let mut env: Vec<_> = inherited
        .into_iter()
        .filter(|(name, value)| {
            let (name, value) = (name.to_string_lossy(), value.to_string_lossy());
            !is_withheld(&name, &value) && name != SANDBOX && name != NETWORK_DISABLED
        })
        .collect();
    if let Some(layer) = layer {
        env.push((SANDBOX.into(), layer.name().into()));
    }
    if network == Network::Off {
        env.push((NETWORK_DISABLED.into(), "1".into()));
    }
    env
}

/// Without these.
pub(crate) fn without(
    inherited: impl IntoIterator<Item = (OsString, OsString)>,
    names: &[String],
) -> impl Iterator<Item = (OsString, OsString)> {
    inherited.into_iter().filter(|(name, _)| !names.iter().any(|it| name == it.as_str()))
}

const SANDBOX: &str = "SABIR_SANDBOX";
const NETWORK_DISABLED: &str = "SABIR_SANDBOX_NETWORK_DISABLED";

/// Whether a variable is kept from commands: by its name, or because its value is an address with a
/// password in it.
pub(crate) fn is_withheld(name: &str, value: &str) -> bool {
    names_secret(name) || has_password(value)
}

/// Whether a name of a variable sounds secret, or has a word that is for such values alone.
pub(crate) fn names_secret(name: &str) -> bool {
    let mut words = name.split(|sign: char| !sign.is_ascii_alphanumeric());
    let has_word = words.any(|word| SECRET_NAMES.iter().any(|it| word.eq_ignore_ascii_case(it)));
    // A way to the agent that holds keys, not a key: who may reach it is for the sandbox to say.
    sounds_secret(name) || (has_word && name != "SSH_AUTH_SOCK")
}

/// Whether a text is an address like `scheme://user:password@host`.
fn has_password(text: &str) -> bool {
    let Some((_, rest)) = text.split_once("://") else { return false };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let user = authority.rsplit_once('@').map(|(user, _)| user);
    user.and_then(|user| user.split_once(':')).is_some_and(|(_, password)| !password.is_empty())
}

/// Words of names whose values are secret. `PWD` is none of them: it is where a shell stands.
const SECRET_NAMES: [&str; 10] =
    ["AUTH", "BEARER", "COOKIE", "COOKIES", "DSN", "JWT", "PASS", "PASSPHRASE", "PRIVATE", "SK"];

/// Whether a name of a variable or header sounds as if its value were secret.
pub(crate) fn sounds_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    SECRET_WORDS.iter().any(|word| name.contains(word))
}

const SECRET_WORDS: [&str; 6] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_withheld_is_not_inherited() {
        let inherited = ["PATH", "OLD_FRIEND", "HOME", "OTHER"];
        let inherited = inherited.map(|name| (OsString::from(name), OsString::from("x")));
        let withheld = ["OLD_FRIEND".to_owned()];
        let left: Vec<_> = without(inherited, &withheld).map(|(name, _)| name).collect();
        assert_eq!(left, ["PATH", "HOME", "OTHER"]);
    }

    #[test]
    fn words_and_values_decide_as_well() {
        for (name, value) in [
            ("DB_PASS", "x"),
            ("STRIPE_SK", "x"),
            ("PRIVATE", "x"),
            ("NPM_CONFIG__AUTH", "x"),
            ("COOKIE", "x"),
            ("sentry_dsn", "x"),
            ("DATABASE_URL", "postgres://ann:hunter2@db.example/harbor?x=1"),
            ("https_proxy", "http://ann:p%40ss@proxy.example:3128"),
        ] {
            assert!(is_withheld(name, value), "{name}={value}");
        }
        for (name, value) in [
            ("PATH", "/usr/bin"),
            ("PWD", "/home"),
            ("COMPASS", "north"),
            ("SSH_AUTH_SOCK", "/run/agent"),
            ("XAUTHORITY", "/home/.Xauthority"),
            ("http_proxy", "http://proxy.example:3128/a:b@c"),
            ("REPO", "ssh://git@example.org/a.git"),
        ] {
            assert!(!is_withheld(name, value), "{name}={value}");
        }
    }

    #[test]
    fn names_decide() {
        let inherited = [
            "PATH",
            "OPENAI_API_KEY",
            "gh_token",
            "MySecretThing",
            "HOME",
            "DB_PASSWORD",
            "MYSQL_PASSWD",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "SABIR_SANDBOX",
        ];
        let inherited = inherited.map(|name| (OsString::from(name), OsString::from("x")));
        let names = |layer, network| {
            let env = clean(inherited.clone(), layer, network);
            env.into_iter().map(|(name, value)| format!("{name:?}={value:?}")).collect::<Vec<_>>()
        };
        assert_eq!(names(None, Network::On), [r#""PATH"="x""#, r#""HOME"="x""#]);
        assert_eq!(
            names(Some(Layer::Bubblewrap), Network::Off)[2..],
            [r#""SABIR_SANDBOX"="bubblewrap""#, r#""SABIR_SANDBOX_NETWORK_DISABLED"="1""#]
        );
    }
}
