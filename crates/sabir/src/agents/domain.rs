//! `sabir domain`: whose agents may work with whose.

use std::collections::BTreeSet;
use std::io::Write as _;

use anyhow::ensure;
use clap::{Args, Subcommand};
use sabir_base::text::{one_line, unseen};
use serde_json::json;

use super::me::{Me, MeArgs};
use super::shown::{json_text, settle};
use crate::exit::Exit;
use crate::output::{Notes, Output};

/// Set up trust domains
///
/// A node is in one domain, `default` unless the configuration says another. It opens sessions with
/// its own domain, and with those that it was told to trust.
#[derive(Debug, Subcommand)]
pub(crate) enum DomainCommand {
    Add(AddArgs),
    Trust(TrustArgs),
    List(ListArgs),
    Remove(RemoveArgs),
}

/// Note a domain that trusts nobody but itself
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir domain add harbor.example")]
pub(crate) struct AddArgs {
    name: String,
    #[command(flatten)]
    me: MeArgs,
}

/// Let the agents of another domain work with ours
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir domain trust harbor.example
  sabir domain trust harbor.example --in lab
  sabir domain trust harbor.example --revoke

Trust is one-sided: the other domain has to trust ours, too. A running node reads it when it is
started again.")]
pub(crate) struct TrustArgs {
    /// The domain that is trusted
    other: String,
    /// The domain that trusts [default: this node's]
    #[arg(long = "in", value_name = "NAME")]
    ours: Option<String>,
    /// Take the trust back
    #[arg(long)]
    revoke: bool,
    #[command(flatten)]
    me: MeArgs,
}

/// List the domains, and whom each trusts
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir domain list
  sabir domain list --json | jq -r '.[].name'")]
pub(crate) struct ListArgs {
    /// Print a JSON array
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    me: MeArgs,
}

/// Forget a domain and whom it trusts
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir domain remove harbor.example")]
pub(crate) struct RemoveArgs {
    name: String,
    #[command(flatten)]
    me: MeArgs,
}

impl DomainCommand {
    pub(crate) fn run(self, output: &mut Output, notes: &mut Notes) -> anyhow::Result<Exit> {
        let ran = self.carry_out(output, notes);
        settle(ran, notes)
    }

    fn carry_out(self, output: &mut Output, notes: &mut Notes) -> anyhow::Result<Exit> {
        match self {
            Self::Add(AddArgs { name, me }) => {
                check_name(&name)?;
                Me::open(&me)?.peers.change_domain(&name, |_| {})?;
                Ok(Exit::Done)
            }
            Self::Trust(args) => args.run(notes),
            Self::List(args) => args.run(output),
            Self::Remove(RemoveArgs { name, me }) => {
                if Me::open(&me)?.peers.remove_domain(&name)? {
                    return Ok(Exit::Done);
                }
                notes.line(format_args!("no domain is called {name:?}"));
                Ok(Exit::Found)
            }
        }
    }
}

impl TrustArgs {
    fn run(self, notes: &mut Notes) -> anyhow::Result<Exit> {
        // What was noted once can be taken back, whatever it looks like.
        if !self.revoke {
            check_name(&self.other)?;
        }
        if let Some(ours) = &self.ours {
            check_name(ours)?;
        }
        let me = Me::open(&self.me)?;
        let ours = self.ours.unwrap_or_else(|| me.trust.domain().name.clone());
        let (other, revoke) = (self.other, self.revoke);
        if ours == other {
            anyhow::bail!("a domain trusts itself");
        }
        let domain = me.peers.change_domain(&ours, |domain| {
            domain.trusted_peers.retain(|it| *it != other);
            if !revoke {
                domain.trusted_peers.push(other.clone());
            }
            domain.allow_cross_domain = !domain.trusted_peers.is_empty();
        })?;
        let is_ours = ours == me.trust.domain().name;
        let configured = if is_ours { me.config.trusted_domains.as_slice() } else { &[] };
        if revoke && configured.contains(&other) {
            let other = one_line(&other, 80);
            notes.line(format_args!(
                "{other} is still trusted: the configuration names it in trusted_domains"
            ));
        }
        let trusted = configured.iter().chain(&domain.trusted_peers);
        let trusted: BTreeSet<String> = trusted.map(|it| one_line(it, 80)).collect();
        let trusted = Vec::from_iter(trusted).join(", ");
        match trusted.is_empty() {
            true => notes.line(format_args!("{ours} trusts nobody but itself")),
            false => notes.line(format_args!("{ours} trusts {trusted}")),
        }
        Ok(Exit::Done)
    }
}

/// A name is written where people read it, and compared letter by letter.
fn check_name(name: &str) -> anyhow::Result<()> {
    ensure!(!name.trim().is_empty(), "the name of a domain is empty");
    ensure!(name.trim() == name, "the name of a domain begins or ends with a space");
    let is_unseen = |c: char| c == '\n' || c == '\t' || unseen(c).is_some();
    let shown = one_line(name, 80);
    ensure!(
        !name.contains(is_unseen),
        "the name of a domain has letters that are not seen: {shown}"
    );
    Ok(())
}

impl ListArgs {
    fn run(self, output: &mut Output) -> anyhow::Result<Exit> {
        let me = Me::open(&self.me)?;
        let mut domains = me.peers.domains()?;
        let own = me.trust.domain();
        // What the configuration says of ours is not in the list.
        match domains.iter_mut().find(|it| it.name == own.name) {
            Some(ours) => *ours = own.clone(),
            None => domains.insert(0, own.clone()),
        }
        for domain in &mut domains {
            let mut seen = BTreeSet::new();
            domain.trusted_peers.retain(|it| seen.insert(it.clone()));
        }
        if self.json {
            let all: Vec<_> = domains
                .iter()
                .map(|it| {
                    json!({
                        "name": it.name, "allow_cross_domain": it.allow_cross_domain,
                        "trusted_peers": it.trusted_peers, "is_ours": it.name == own.name,
                    })
                })
                .collect();
            writeln!(output, "{}", json_text(&json!(all)))?;
            return Ok(Exit::Done);
        }
        for domain in &domains {
            let name = one_line(&domain.name, 80);
            let ours = if domain.name == own.name { "  (this node's)" } else { "" };
            match domain.allow_cross_domain {
                true => {
                    let trusted = domain.trusted_peers.iter().map(|it| one_line(it, 80));
                    let trusted = Vec::from_iter(trusted).join(", ");
                    writeln!(output, "{name}{ours}  trusts {trusted}")?
                }
                false => writeln!(output, "{name}{ours}  trusts nobody but itself")?,
            }
        }
        Ok(Exit::Done)
    }
}
