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
        .filter(|(name, _)| {
            !sounds_secret(&name.to_string_lossy()) && name != SANDBOX && name != NETWORK_DISABLED
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
