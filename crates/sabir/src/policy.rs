//! `sabir policy`: what the policy file says, and what the gate would decide under it.

mod check;
mod show;

use clap::Subcommand;

use crate::exit::Exit;
use crate::output::{Notes, Output};

#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    Show(show::ShowArgs),
    Check(Box<check::CheckArgs>),
}

impl PolicyCommand {
    pub(crate) fn run(self, output: &mut Output, notes: &mut Notes) -> anyhow::Result<Exit> {
        match self {
            Self::Show(args) => args.run(output),
            Self::Check(args) => args.run(output, notes),
        }
    }
}
