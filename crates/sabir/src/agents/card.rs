//! `sabir card`: who a delegate says to be, or who we say to be.

use std::io::Write as _;

use clap::Args;
use sabir_base::text::one_line;
use sabir_net::{Base, DiscoverError, PlainHttp};
use serde_json::json;

use super::me::{Me, MeArgs};
use super::{own, shown};
use crate::agent_args::runtime;
use crate::exit::Exit;
use crate::output::{Notes, Output};

/// Show an identity card, checked
///
/// Without an address, the card that `sabir up` would publish.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir card
  sabir card ldp://127.0.0.1:7420
  sabir card https://agents.example --json | jq .card.capabilities

Nothing is pinned or remembered.

Exit codes:
  0  the card is good
  1  nobody answers there, or the card is not good
  2  the command line or the configuration is wrong")]
pub(crate) struct CardArgs {
    /// Where the delegate is: ldp://, https:// or http://
    url: Option<String>,
    /// Speak plain HTTP with other machines, where ldp:// means https
    #[arg(long)]
    plain: bool,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    me: MeArgs,
}

impl CardArgs {
    pub(crate) fn run(self, output: &mut Output, notes: &mut Notes) -> anyhow::Result<Exit> {
        let mut me = Me::open(&self.me)?;
        let Some(url) = &self.url else {
            own::offer_something(&mut me.config)?;
            let card = me.card()?;
            match self.json {
                true => {
                    writeln!(output, "{}", shown::json_text(&json!({ "card": card.to_value() })))?;
                }
                false => shown::write_card(output, &card)?,
            }
            return Ok(Exit::Done);
        };
        let plain = if self.plain { PlainHttp::Anywhere } else { PlainHttp::LoopbackOnly };
        let base = Base::parse(url, plain)?;
        let client = me.client()?;
        match runtime()?.block_on(client.discover(&base)) {
            Ok(found) => {
                if self.json {
                    let findings = shown::findings_json(&found.notes);
                    let all = json!({ "card": found.card.to_value(), "findings": findings });
                    writeln!(output, "{}", shown::json_text(&all))?;
                } else {
                    shown::write_card(output, &found.card)?;
                    for finding in &found.notes {
                        notes.line(one_line(&finding.to_string(), 400));
                    }
                }
                Ok(Exit::Done)
            }
            Err(error) => {
                if self.json {
                    let findings = match &error {
                        DiscoverError::BadCard { findings, .. } => shown::findings_json(findings),
                        DiscoverError::Unreached { .. } => json!([]),
                    };
                    let all = json!({ "error": error.to_string(), "findings": findings });
                    writeln!(output, "{}", shown::json_text(&all))?;
                }
                notes.line(format_args!("error: {}", one_line(&error.to_string(), 1000)));
                Ok(Exit::Found)
            }
        }
    }
}
