//! `sabir keys`: the key of this node, and the keys that others were first met with.

use std::io::Write as _;

use clap::{Args, Subcommand};
use sabir_base::text::one_line;
use sabir_host::written;
use sabir_ldp::{DelegateId, PublicKey};
use sabir_store::peers::Pinning;
use serde_json::json;

use super::me::{Me, MeArgs};
use super::shown::json_text;
use crate::exit::Exit;
use crate::output::{Notes, Output};
use crate::research::collection::now_ms;

/// Show this node's key and the keys that are pinned
///
/// A key is pinned when a delegate is met for the first time; from then on nobody else speaks for it.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "\
Examples:
  sabir keys
  sabir keys --json | jq -r .public_key
  sabir keys pin ldp:delegate:harbor 1f0c…e9
  sabir keys forget ldp:delegate:harbor")]
pub(crate) struct KeysArgs {
    #[command(subcommand)]
    command: Option<KeysCommand>,
    #[command(flatten)]
    list: ListArgs,
}

#[derive(Debug, Subcommand)]
enum KeysCommand {
    Pin(PinArgs),
    Forget(ForgetArgs),
}

#[derive(Debug, Args)]
struct ListArgs {
    /// Print a JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    me: MeArgs,
}

/// Pin a key that was learnt another way, before the delegate is met
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir keys pin ldp:delegate:harbor \\
      3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29

Exit codes:
  0  it is pinned
  1  the delegate has another key already
  2  the command line is wrong")]
struct PinArgs {
    /// Whose key it is
    delegate_id: String,
    /// Ed25519, 64 hexadecimal digits
    key: String,
    #[command(flatten)]
    me: MeArgs,
}

/// Forget the key of a delegate, which is then pinned anew when it is met
///
/// A node that runs takes the key with which the delegate comes next. Sessions that are open go on.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir keys forget ldp:delegate:harbor

Exit codes:
  0  it is forgotten
  1  no key of that delegate was pinned, or it is one of this node
  2  the command line is wrong")]
struct ForgetArgs {
    /// Whose key it is
    delegate_id: String,
    #[command(flatten)]
    me: MeArgs,
}

impl KeysArgs {
    pub(crate) fn run(self, output: &mut Output, notes: &mut Notes) -> anyhow::Result<Exit> {
        match self.command {
            None => self.list.run(output),
            Some(KeysCommand::Pin(args)) => args.run(notes),
            Some(KeysCommand::Forget(args)) => args.run(notes),
        }
    }
}

impl ListArgs {
    fn run(self, output: &mut Output) -> anyhow::Result<Exit> {
        let me = Me::open(&self.me)?;
        let (key, pinned) = (me.key.public_key().to_hex(), me.peers.pinned_keys()?);
        if self.json {
            let pinned: Vec<_> = pinned
                .iter()
                .map(|pin| {
                    json!({
                        "delegate_id": pin.delegate_id, "public_key": pin.key.to_hex(),
                        "origin": pin.origin, "pinned_at": written(pin.pinned_at_ms),
                    })
                })
                .collect();
            let all = json!({ "delegate_id": me.delegate_id, "public_key": key, "pinned": pinned });
            writeln!(output, "{}", json_text(&all))?;
            return Ok(Exit::Done);
        }
        writeln!(output, "{}  {key}  (this node)", me.delegate_id)?;
        for pin in pinned {
            let (id, key) = (one_line(pin.delegate_id.as_str(), 80), pin.key.to_hex());
            let origin = one_line(&pin.origin, 80);
            writeln!(output, "{id}  {key}  {} from {origin}", written(pin.pinned_at_ms))?;
        }
        Ok(Exit::Done)
    }
}

impl PinArgs {
    fn run(self, notes: &mut Notes) -> anyhow::Result<Exit> {
        let delegate_id = DelegateId::new(self.delegate_id)?;
        let key = PublicKey::from_hex(&self.key.to_ascii_lowercase())?;
        let me = Me::open(&self.me)?;
        match me.peers.pin(&delegate_id, &key, "the command line", now_ms())? {
            Pinning::Pinned | Pinning::Same => Ok(Exit::Done),
            Pinning::Other(known) => {
                let known = known.key.to_hex();
                notes.line(format_args!(
                    "{delegate_id} has the key {known}: `sabir keys forget {delegate_id}` first"
                ));
                Ok(Exit::Found)
            }
        }
    }
}

impl ForgetArgs {
    fn run(self, notes: &mut Notes) -> anyhow::Result<Exit> {
        let delegate_id = DelegateId::new(self.delegate_id)?;
        let me = Me::open(&self.me)?;
        if me.own.has(&delegate_id) {
            notes.line(format_args!("{delegate_id} is this node's own, and keeps its key"));
            return Ok(Exit::Found);
        }
        if me.peers.unpin(&delegate_id)? {
            return Ok(Exit::Done);
        }
        notes.line(format_args!("no key of {delegate_id} is pinned"));
        Ok(Exit::Found)
    }
}
