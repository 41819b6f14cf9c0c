//! `sabir llmx …`: one file per command.

pub(crate) mod check;
pub(crate) mod fmt;
pub(crate) mod grammar;
pub(crate) mod json;
pub(crate) mod reply;
mod root;
pub(crate) mod run;

/// For clap: a name that a HEADER can hold.
fn parse_name(text: &str) -> Result<String, String> {
    match text {
        "" => Err("a name is not empty".to_owned()),
        name => Ok(name.to_owned()),
    }
}
