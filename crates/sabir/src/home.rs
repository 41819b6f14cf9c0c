//! Where Sabir keeps what it must not forget.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::Args;

/// The option that every command has which remembers something.
#[derive(Debug, Clone, Args)]
pub(crate) struct HomeArgs {
    /// Where Sabir keeps its files [default: $SABIR_HOME, else ~/.local/share/sabir]
    #[arg(long, value_name = "DIR")]
    home: Option<PathBuf>,
}

impl HomeArgs {
    /// The folder, absolute. It need not exist.
    pub(crate) fn resolve(&self) -> anyhow::Result<PathBuf> {
        let home = choose(self.home.clone(), |name| std::env::var_os(name), std::env::home_dir());
        let home = home.context("nobody says where to keep files: say --home DIR")?;
        if home.as_os_str().is_empty() {
            bail!("--home is empty: name a folder");
        }
        std::path::absolute(&home).with_context(|| format!("{}: cannot be home", home.display()))
    }

    /// The option as it was given, for a command line that has to find the same files.
    pub(crate) fn as_said(&self) -> Vec<String> {
        let home = self.home.as_ref().and_then(|_| self.resolve().ok());
        home.map(|home| vec!["--home".to_owned(), home.display().to_string()]).unwrap_or_default()
    }
}

/// What is said on the command line, else `$SABIR_HOME`, else the XDG data directory.
fn choose(
    given: Option<PathBuf>,
    variable: impl Fn(&str) -> Option<OsString>,
    user: Option<PathBuf>,
) -> Option<PathBuf> {
    let set = |name| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    // A relative data directory is invalid and has to be ignored, says the XDG specification.
    let data = || set("XDG_DATA_HOME").filter(|path| path.is_absolute());
    let user = user.filter(|path| !path.as_os_str().is_empty());
    given
        .or_else(|| set("SABIR_HOME"))
        .or_else(|| data().or_else(|| Some(user?.join(".local/share"))).map(|it| it.join("sabir")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(given: Option<&str>, variables: &[(&str, &str)], user: Option<&str>) -> String {
        let variable = |name: &str| {
            variables.iter().find(|(it, _)| *it == name).map(|(_, value)| OsString::from(value))
        };
        let home = choose(given.map(PathBuf::from), variable, user.map(PathBuf::from));
        home.map_or("nowhere".to_owned(), |home| home.display().to_string())
    }

    #[test]
    fn the_nearest_word_decides() {
        let both = [("SABIR_HOME", "/s"), ("XDG_DATA_HOME", "/d")];
        assert_eq!(chosen(Some("g"), &both, Some("/u")), "g");
        assert_eq!(chosen(None, &both, Some("/u")), "/s");
        assert_eq!(chosen(None, &both[1..], Some("/u")), "/d/sabir");
        assert_eq!(chosen(None, &[], Some("/u")), "/u/.local/share/sabir");
        assert_eq!(chosen(None, &[], None), "nowhere");
    }

    #[test]
    fn empty_and_relative_variables_do_not_count() {
        assert_eq!(chosen(None, &[("SABIR_HOME", "")], Some("/u")), "/u/.local/share/sabir");
        assert_eq!(chosen(None, &[("XDG_DATA_HOME", "d")], Some("/u")), "/u/.local/share/sabir");
        assert_eq!(chosen(None, &[], Some("")), "nowhere");
    }
}
