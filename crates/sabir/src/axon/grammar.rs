//! `sabir axon grammar`: the grammar, for people and for decoders that must emit nothing else.

use std::io::Write;

use clap::Args;
use sabir_axon::grammar::{self, AgentName};
use sabir_axon::{Performative, Tier};

use crate::axon::parse_tier;
use crate::cli::Dialect;
use crate::exit::Exit;
use crate::output::Output;

/// Print AXON's grammar, whole or narrowed to what an agent may say
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir axon grammar --format ebnf
  sabir axon grammar --format lark --performatives INF,QRY --no-extensions
  sabir axon grammar --format gbnf --agents @planner,@worker --tier 1 --depth 4

Exit codes:
  0  the grammar is on standard output
  2  wrong usage")]
pub(crate) struct GrammarArgs {
    /// ebnf for people, lark for llguidance, gbnf for llama.cpp
    #[arg(long, value_enum)]
    format: Dialect,
    /// The performatives that may open a message; all if not given
    #[arg(long, value_name = "WORDS", value_delimiter = ',', value_parser = parse_performative)]
    performatives: Vec<Performative>,
    /// Leave out extension performatives (X.domain.VERB)
    #[arg(long)]
    no_extensions: bool,
    /// The agents that may send and receive; any if not given
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = parse_agent)]
    agents: Vec<AgentName>,
    /// Demand exactly the metadata of this tier
    #[arg(long, value_name = "1|2|3", value_parser = parse_tier)]
    tier: Option<Tier>,
    /// How deep brackets, calls and nested messages may nest; without bound if not given
    #[arg(long, value_name = "N")]
    depth: Option<u8>,
}

impl GrammarArgs {
    pub(crate) fn run(self, output: &mut Output) -> anyhow::Result<Exit> {
        let options = grammar::Options {
            performatives: self.performatives,
            extensions: !self.no_extensions,
            agents: self.agents,
            tier: self.tier,
            max_depth: self.depth,
        };
        output.write_all(grammar::export(self.format.into(), &options).as_bytes())?;
        Ok(Exit::Done)
    }
}

fn parse_performative(word: &str) -> Result<Performative, String> {
    Performative::from_word(word).ok_or_else(|| {
        let words = Performative::ALL.map(Performative::word);
        format!("the performatives are {}", words.join(", "))
    })
}

/// With or without its `@`.
fn parse_agent(text: &str) -> Result<AgentName, grammar::BadAgentName> {
    AgentName::new(text.strip_prefix('@').unwrap_or(text))
}
