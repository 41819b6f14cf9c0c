//! `sabir delegates`: whom this node knows.

use std::collections::BTreeSet;
use std::io::Write as _;

use anyhow::Context as _;
use clap::{Args, Subcommand};
use futures_util::StreamExt as _;
use sabir_base::text::one_line;
use sabir_host::written;
use sabir_ldp::{ErrorCategory, IdentityCard, LdpError};
use sabir_net::{Address, Delegation, NewPin, PlainHttp};
use sabir_store::peers::{KnownDelegate, Peers, Probed};
use serde_json::{Value, json};

use super::me::{Me, MeArgs};
use super::shown::{first_meeting, json_text, settle};
use crate::agent_args::runtime;
use crate::exit::Exit;
use crate::output::{Notes, Output};
use crate::research::collection::now_ms;

/// Keep a list of delegates, from which `sabir delegate` chooses
#[derive(Debug, Subcommand)]
pub(crate) enum DelegatesCommand {
    Add(AddArgs),
    List(ListArgs),
    Remove(RemoveArgs),
    Probe(ProbeArgs),
}

/// Look at delegates and remember them
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir delegates add ldp://127.0.0.1:7420
  sabir delegates add a2a://agents.example mcp://127.0.0.1:8000/mcp
  sabir delegates add 'mcp+stdio:python3 -m my_server'

One that does not answer is remembered, too, and asked again by `sabir delegates probe`. One that
is not who its card says, as far as keys are known here, is not.

Exit codes:
  0  all answer
  1  some do not
  2  the command line or the configuration is wrong")]
pub(crate) struct AddArgs {
    /// Where they are: ldp://, https://, a2a://, mcp:// or mcp+stdio:COMMAND
    #[arg(required = true, value_name = "URL")]
    urls: Vec<String>,
    #[command(flatten)]
    common: CommonArgs,
}

/// List the delegates that are known
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir delegates list
  sabir delegates list --json | jq -r '.[].url'")]
pub(crate) struct ListArgs {
    #[command(flatten)]
    common: CommonArgs,
}

/// Forget delegates
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir delegates remove ldp://127.0.0.1:7420
  sabir delegates remove ldp:delegate:harbor

Their pinned keys stay: `sabir keys forget ID` is for those.

Exit codes:
  0  they are forgotten
  1  some were not known
  2  the command line is wrong")]
pub(crate) struct RemoveArgs {
    /// Their addresses or ids
    #[arg(required = true, value_name = "URL|ID")]
    which: Vec<String>,
    #[command(flatten)]
    me: MeArgs,
}

/// Look at the cards of known delegates again
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir delegates probe
  sabir delegates probe ldp://127.0.0.1:7420 --json

Exit codes:
  0  all answer
  1  some do not
  2  the command line or the configuration is wrong")]
pub(crate) struct ProbeArgs {
    /// Which ones [default: all]
    #[arg(value_name = "URL")]
    urls: Vec<String>,
    #[command(flatten)]
    common: CommonArgs,
}

#[derive(Debug, Args)]
struct CommonArgs {
    /// Speak plain HTTP with other machines, where ldp:// means https
    #[arg(long)]
    plain: bool,
    /// Print a JSON array
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    me: MeArgs,
}

impl CommonArgs {
    fn plain(&self) -> PlainHttp {
        if self.plain { PlainHttp::Anywhere } else { PlainHttp::LoopbackOnly }
    }
}

impl DelegatesCommand {
    pub(crate) fn run(self, output: &mut Output, notes: &mut Notes) -> anyhow::Result<Exit> {
        let ran = match self {
            Self::Add(args) => args.run(output, notes),
            Self::List(args) => args.run(output, notes),
            Self::Remove(args) => args.run(notes),
            Self::Probe(args) => args.run(output, notes),
        };
        settle(ran, notes)
    }
}

impl AddArgs {
    fn run(self, output: &mut Output, notes: &mut Notes) -> anyhow::Result<Exit> {
        let plain = self.common.plain();
        let addresses = parse_all(&self.urls, plain)?;
        let me = Me::open(&self.common.me)?;
        let mut new = BTreeSet::new();
        for address in addresses.iter().map(ToString::to_string) {
            if me.peers.add_delegate(&address, now_ms())?.probed_at_ms.is_none() {
                new.insert(address);
            }
        }
        look_at(&me, (addresses, &new), self.common.json, output, notes)
    }
}

impl ListArgs {
    fn run(self, output: &mut Output, notes: &mut Notes) -> anyhow::Result<Exit> {
        let known = Me::open(&self.common.me)?.peers.delegates()?;
        if known.is_empty() && !self.common.json {
            notes.line("no delegate is known yet: `sabir delegates add ldp://HOST:7420` adds one");
        }
        write_all(output, &known, self.common.json)?;
        Ok(Exit::Done)
    }
}

impl RemoveArgs {
    fn run(self, notes: &mut Notes) -> anyhow::Result<Exit> {
        let peers = Me::open(&self.me)?.peers;
        let mut exit = Exit::Done;
        for which in &self.which {
            let mut removed = peers.remove_delegate(which)?;
            if removed == 0
                && let Ok(address) = Address::parse(which, PlainHttp::LoopbackOnly)
            {
                // It may be kept in the form in which addresses are written.
                removed = peers.remove_delegate(&address.to_string())?;
            }
            if removed == 0 {
                notes.line(format_args!("{}: not known", one_line(which, 200)));
                exit = Exit::Found;
            }
        }
        Ok(exit)
    }
}

impl ProbeArgs {
    fn run(self, output: &mut Output, notes: &mut Notes) -> anyhow::Result<Exit> {
        let plain = self.common.plain();
        let me = Me::open(&self.common.me)?;
        let urls = match self.urls.is_empty() {
            true => me.peers.delegates()?.into_iter().map(|it| it.url).collect(),
            false => self.urls,
        };
        let addresses = parse_all(&urls, plain)?;
        look_at(&me, (addresses, &BTreeSet::new()), self.common.json, output, notes)
    }
}

fn parse_all(urls: &[String], plain: PlainHttp) -> anyhow::Result<Vec<Address>> {
    let parse = |url: &String| Address::parse(url, plain).with_context(|| one_line(url, 120));
    urls.iter().map(parse).collect()
}

/// Looks at them, several at once, and keeps and shows what was seen. Of those that are `new`, who is
/// not who it says is not kept.
fn look_at(
    me: &Me,
    (addresses, new): (Vec<Address>, &BTreeSet<String>),
    json: bool,
    output: &mut Output,
    notes: &mut Notes,
) -> anyhow::Result<Exit> {
    let delegation = me.delegation()?;
    let mut exit = Exit::Done;
    let urls: BTreeSet<String> = addresses.iter().map(ToString::to_string).collect();
    runtime()?.block_on(async {
        let look = |address: Address| look_once(&delegation, address);
        let mut looks = futures_util::stream::iter(addresses).map(look).buffered(AT_ONCE);
        while let Some((url, looked)) = looks.next().await {
            if let Err(error) = &looked {
                exit = Exit::Found;
                notes.line(format_args!("{url}: {}", one_line(&error.message, 400)));
                if error.category == ErrorCategory::Security && new.contains(&url) {
                    me.peers.remove_delegate(&url)?;
                    continue;
                }
            }
            if let Ok((_, Some(pin))) = &looked {
                notes.line(first_meeting(pin));
            }
            keep(&me.peers, &url, &looked.map(|(card, _)| card))?;
        }
        anyhow::Ok(())
    })?;
    let mut seen = me.peers.delegates()?;
    seen.retain(|delegate| urls.contains(&delegate.url));
    write_all(output, &seen, json)?;
    Ok(exit)
}

async fn look_once(
    delegation: &Delegation,
    address: Address,
) -> (String, Result<(IdentityCard, Option<NewPin>), LdpError>) {
    let looked = delegation.look(&address).await;
    (address.to_string(), looked)
}

/// What a look found, on disk.
fn keep(peers: &Peers, url: &str, looked: &Result<IdentityCard, LdpError>) -> anyhow::Result<()> {
    match looked {
        Ok(card) => {
            let text = card.to_value().to_string();
            let probed = Probed::Card { delegate_id: &card.delegate_id, card: &text };
            peers.record_probe(url, probed, now_ms())?;
        }
        Err(error) => {
            peers.record_probe(url, Probed::Failed { error: &error.message }, now_ms())?;
        }
    }
    Ok(())
}

fn write_all(output: &mut Output, delegates: &[KnownDelegate], json: bool) -> anyhow::Result<()> {
    if json {
        let all: Vec<Value> = delegates.iter().map(as_json).collect();
        writeln!(output, "{}", json_text(&json!(all)))?;
        return Ok(());
    }
    delegates.iter().try_for_each(|delegate| write_line(output, delegate))
}

fn write_line(output: &mut Output, delegate: &KnownDelegate) -> anyhow::Result<()> {
    let url = one_line(&delegate.url, 100);
    let card = delegate.card.as_deref().and_then(|text| IdentityCard::check(text).card);
    let state = match (&delegate.error, delegate.probed_at_ms) {
        (Some(error), _) => format!("  not reached: {}", one_line(error, 80)),
        (None, Some(at)) => format!("  seen {}", written(at)),
        (None, None) => "  never seen".to_owned(),
    };
    match card {
        Some(card) => {
            let id = one_line(card.delegate_id.as_str(), 60);
            let skills: Vec<&str> = card.capabilities.iter().map(|it| it.name.as_str()).collect();
            let skills = one_line(&skills.join(", "), 100);
            writeln!(output, "{url}  {id}  [{skills}]{state}")?;
        }
        None => writeln!(output, "{url}{state}")?,
    }
    Ok(())
}

fn as_json(delegate: &KnownDelegate) -> Value {
    let card = delegate.card.as_deref().and_then(|text| serde_json::from_str::<Value>(text).ok());
    json!({
        "url": delegate.url, "delegate_id": delegate.delegate_id, "card": card,
        "added_at": written(delegate.added_at_ms), "probed_at": delegate.probed_at_ms.map(written),
        "error": delegate.error,
    })
}

/// Enough to be quick, few enough to be polite.
const AT_ONCE: usize = 16;
