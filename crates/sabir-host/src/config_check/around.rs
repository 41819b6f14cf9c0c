//! Whether what a configuration names is there: variables, files, folders, programs, and rights. None of
//! it is wrong in the text, and all of it may be mended without touching the text.

use std::ffi::OsString;
use std::net::{IpAddr, SocketAddr};
use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::node::build::{unfit_secret, unfit_token};
use crate::node::{NodeConfig, NodeConfigError};

/// Where a configuration would be used.
pub struct Around<'a> {
    /// Where the file stands: relative paths start there.
    pub folder: &'a Path,
    /// Looks a variable up.
    pub environment: &'a dyn Fn(&str) -> Option<OsString>,
    /// Whether ports below 1024 can be listened on.
    pub may_use_low_ports: bool,
}

/// What is amiss around a text in which nothing is wrong, in the order of the text.
pub fn check_around(text: &str, around: &Around<'_>) -> Vec<NodeConfigError> {
    let (Ok(document), Ok(config)) = (DeTable::parse(text), NodeConfig::parse(text)) else {
        return Vec::new();
    };
    let mut look = Look { text, around, found: Vec::new() };
    let table = document.get_ref();
    look.serve(table, &config);
    for (section, value) in table {
        match (section.get_ref().as_ref(), value.get_ref()) {
            ("providers" | "mcp", DeValue::Table(named)) => {
                for entry in named.values() {
                    look.entry(entry.get_ref());
                }
            }
            (_, DeValue::Array(entries)) => {
                for entry in entries {
                    look.entry(entry.get_ref());
                }
            }
            ("crew", DeValue::Table(members)) => {
                for member in members.values() {
                    look.entry(member.get_ref());
                }
            }
            (_, value) => look.entry(value),
        }
    }
    let mut found = look.found;
    found.sort_by_key(|fault| (fault.line, fault.column));
    found
}

impl std::fmt::Debug for Around<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Around").field("folder", &self.folder).finish_non_exhaustive()
    }
}

struct Look<'a> {
    text: &'a str,
    around: &'a Around<'a>,
    found: Vec<NodeConfigError>,
}

impl Look<'_> {
    fn tell(&mut self, span: Range<usize>, why: String) {
        self.found.push(NodeConfigError::at(self.text, span, why));
    }

    /// One section. Keys of a name mean the same wherever they stand.
    fn entry(&mut self, entry: &DeValue<'_>) {
        let DeValue::Table(table) = entry else { return };
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "hmac_secret_env" => self.secret(value, unfit_secret),
                "token_env" => self.secret(value, unfit_token),
                "env_key" => drop(self.variable(value)),
                "pass_env" => each(value, |value| drop(self.variable(value))),
                "env_headers" => {
                    if let DeValue::Table(headers) = value.get_ref() {
                        headers.values().for_each(|value| drop(self.variable(value)));
                    }
                }
                "token_file" | "key_file" | "certificate" | "key" | "client_ca"
                | "client_certificate" | "client_key" | "ca" => self.file(value),
                "cwd" => self.folder(value),
                "run" | "command" => self.program(value),
                "agent" => self.entry(value.get_ref()),
                _ => {}
            }
        }
    }

    fn variable(&mut self, name: &Spanned<DeValue<'_>>) -> Option<OsString> {
        let DeValue::String(text) = name.get_ref() else { return None };
        let value = (self.around.environment)(text).filter(|value| !value.is_empty());
        if value.is_none() {
            self.tell(name.span(), format!("the variable {text} is not set: export {text}=…"));
        }
        value
    }

    /// A variable that holds what somebody has to know. What it holds is not said.
    fn secret(&mut self, name: &Spanned<DeValue<'_>>, unfit: fn(&str) -> Option<&'static str>) {
        let Some(value) = self.variable(name) else { return };
        let DeValue::String(variable) = name.get_ref() else { return };
        let why = match value.to_str() {
            None => Some("holds no text".to_owned()),
            Some(text) => match (unfit(text), text.trim().len()) {
                (Some(why), _) => Some(why.to_owned()),
                (None, ..SHORT) => Some(format!(
                    "holds fewer than {SHORT} characters, which somebody may guess: \
                     `head -c 32 /dev/urandom | base64` makes a good one"
                )),
                (None, _) => None,
            },
        };
        if let Some(why) = why {
            self.tell(name.span(), format!("the variable {variable} {why}"));
        }
    }

    fn file(&mut self, name: &Spanned<DeValue<'_>>) {
        let DeValue::String(text) = name.get_ref() else { return };
        let path = self.around.folder.join(text.as_ref());
        match std::fs::File::open(&path) {
            Ok(_) => {}
            Err(error) => {
                let why = format!("{} cannot be read: {}", path.display(), error.kind());
                self.tell(name.span(), why);
            }
        }
    }

    fn folder(&mut self, name: &Spanned<DeValue<'_>>) {
        let DeValue::String(text) = name.get_ref() else { return };
        let path = self.around.folder.join(text.as_ref());
        if !path.is_dir() {
            self.tell(name.span(), format!("{} is no folder", path.display()));
        }
    }

    /// The first word of a command; those after it are nobody's business.
    fn program(&mut self, words: &Spanned<DeValue<'_>>) {
        let DeValue::Array(array) = words.get_ref() else { return };
        let Some(first) = array.iter().next() else { return };
        let DeValue::String(name) = first.get_ref() else { return };
        let is_there = match name.contains('/') {
            true => self.around.folder.join(name.as_ref()).is_file(),
            false => {
                let path = (self.around.environment)("PATH").unwrap_or_default();
                std::env::split_paths(&path)
                    .any(|folder: PathBuf| folder.join(name.as_ref()).is_file())
            }
        };
        if !is_there {
            self.tell(first.span(), format!("there is no program `{name}` here"));
        }
    }

    /// Where it listens, and who could come.
    fn serve(&mut self, table: &DeTable<'_>, config: &NodeConfig) {
        let serve = &config.serve;
        let span = |key: &str| super::place(table, &["serve", key]);
        let is_far = |address: &&SocketAddr| !is_near(address.ip());
        let far = serve.listen.iter().find(is_far);
        for address in &serve.listen {
            if (1..1024).contains(&address.port()) && !self.around.may_use_low_ports {
                let why = format!(
                    "port {} is for programs with special rights: take one from 1024 on, and let a \
                     proxy or the service manager hand it over",
                    address.port()
                );
                self.tell(span("listen"), why);
            }
        }
        let shows_token =
            |it: &crate::node::Evidence| !matches!(it, crate::node::Evidence::Certificate(_));
        let proves = serve.token_file.is_some()
            || config.callers.iter().any(|caller| shows_token(&caller.shows))
            || config.peers.iter().any(|peer| peer.shows.iter().any(shows_token))
            || config.tls.as_ref().is_some_and(|tls| tls.client_ca.is_some());
        if let Some(far) = far.filter(|_| !proves) {
            let why = format!(
                "{far} can be reached from other machines, and nobody proves who they are: write \
                 `token_file`, a `[[callers]]` with `token_env`, or set SABIR_TOKEN"
            );
            self.tell(span("listen"), why);
        }
        if serve.plain_login && config.tls.is_none() && far.is_some() {
            let why = "whoever is on the way can read the token with which people sign in: have \
                       something in front of the node speak TLS"
                .to_owned();
            self.tell(span("plain_login"), why);
        }
    }
}

/// What is shorter than this is a word rather than a secret.
const SHORT: usize = 16;

fn each(value: &Spanned<DeValue<'_>>, look: impl FnMut(&Spanned<DeValue<'_>>)) {
    if let DeValue::Array(values) = value.get_ref() {
        values.iter().for_each(look);
    }
}

fn is_near(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(text: &str, expected: Expect) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("notes")).unwrap();
        std::fs::write(folder.path().join("here"), "").unwrap();
        let environment = |name: &str| match name {
            "SET" => Some(OsString::from("a word of many letters")),
            "TOKEN" => Some(OsString::from("b2s4kdh2lsdk3lsdfl\n")),
            "SHORT" => Some(OsString::from("word")),
            "BROKEN" => Some(OsString::from("b2s4kdh2lsdk3l\nsdflks")),
            "EMPTY" => Some(OsString::new()),
            "PATH" => Some(folder.path().as_os_str().to_owned()),
            _ => None,
        };
        let around =
            Around { folder: folder.path(), environment: &environment, may_use_low_ports: false };
        assert_eq!(super::super::check_config(text), [], "{text}");
        let found: Vec<String> =
            check_around(text, &around).iter().map(|fault| format!("{fault}\n")).collect();
        let found = found.concat().replace(folder.path().to_str().unwrap(), "FOLDER");
        expected.assert_eq(&found);
    }

    #[test]
    fn what_is_named_is_looked_for() {
        check(
            "[[skills]]\nname = \"a\"\nrun = [\"here\"]\ncwd = \"notes\"\npass_env = [\"SET\"]\n\
             [[callers]]\ntoken_env = \"TOKEN\"\n[mcp.x]\ncommand = [\"./here\"]\n",
            expect![[""]],
        );
        check(
            "[[skills]]\nname = \"a\"\nrun = [\"gone\", \"secret-word\"]\ncwd = \"elsewhere\"\n\
             pass_env = [\"EMPTY\"]\n[[callers]]\ntoken_env = \"UNSET\"\n\
             [mcp.x]\nurl = \"https://x.example\"\nenv_headers = { a = \"UNSET\" }\n\
             [providers.p]\nbase_url = \"https://x.example\"\nenv_key = \"UNSET\"\n\
             [crew.coder]\ncwd = \"here\"\n",
            expect![[r#"
                line 3, column 8: there is no program `gone` here
                 3 | run = …
                   |       ^
                line 4, column 7: FOLDER/elsewhere is no folder
                 4 | cwd = "elsewhere"
                   |       ^^^^^^^^^^^
                line 5, column 13: the variable EMPTY is not set: export EMPTY=…
                 5 | pass_env = …
                   |            ^
                line 7, column 13: the variable UNSET is not set: export UNSET=…
                 7 | token_env = …
                   |             ^
                line 10, column 21: the variable UNSET is not set: export UNSET=…
                 10 | env_headers = …
                    |               ^
                line 13, column 11: the variable UNSET is not set: export UNSET=…
                 13 | env_key = …
                    |           ^
                line 15, column 7: FOLDER/here is no folder
                 15 | cwd = "here"
                    |       ^^^^^^
            "#]],
        );
    }

    #[test]
    fn secrets_that_are_none_are_told_and_not_shown() {
        check(
            "[[callers]]\ntoken_env = \"BROKEN\"\n[[callers]]\ntoken_env = \"SHORT\"\n\
             [[peers]]\ndelegate_id = \"ldp:delegate:a\"\nhmac_secret_env = \"TOKEN\"\n\
             [[delegates]]\nurl = \"https://x.example\"\ntoken_env = \"BROKEN\"\n",
            expect![[r#"
                line 2, column 13: the variable BROKEN holds a line break, a space or a sign that cannot be sent in a header
                 2 | token_env = …
                   |             ^
                line 4, column 13: the variable SHORT holds fewer than 16 characters, which somebody may guess: `head -c 32 /dev/urandom | base64` makes a good one
                 4 | token_env = …
                   |             ^
                line 7, column 19: the variable TOKEN begins or ends with white space, or holds a line break
                 7 | hmac_secret_env = …
                   |                   ^
                line 10, column 13: the variable BROKEN holds a line break, a space or a sign that cannot be sent in a header
                 10 | token_env = …
                    |             ^
            "#]],
        );
    }

    #[test]
    fn who_could_come_is_told() {
        check(
            "[serve]\nlisten = [\"127.0.0.1:7420\", \"localhost:0\"]\nplain_login = true\n",
            expect![[""]],
        );
        check(
            "[serve]\nlisten = [\"0.0.0.0:80\"]\nplain_login = true\ntoken_file = \"none\"\n",
            expect![[r#"
                line 2, column 1: port 80 is for programs with special rights: take one from 1024 on, and let a proxy or the service manager hand it over
                 2 | listen = ["0.0.0.0:80"]
                   | ^^^^^^
                line 3, column 1: whoever is on the way can read the token with which people sign in: have something in front of the node speak TLS
                 3 | plain_login = true
                   | ^^^^^^^^^^^
                line 4, column 14: FOLDER/none cannot be read: entity not found
                 4 | token_file = …
                   |              ^
            "#]],
        );
        check(
            "[serve]\nlisten = [\"[::]:7420\"]\n",
            expect![[r#"
                line 2, column 1: [::]:7420 can be reached from other machines, and nobody proves who they are: write `token_file`, a `[[callers]]` with `token_env`, or set SABIR_TOKEN
                 2 | listen = ["[::]:7420"]
                   | ^^^^^^
            "#]],
        );
    }
}
