//! `sabir llmx grammar`: the grammar, for people and for decoders that must emit nothing else.

use std::io::Write;

use clap::Args;
use sabir_llmx::{BlockKind, grammar};

use crate::cli::Dialect;
use crate::exit::Exit;
use crate::output::Output;

use super::parse_name;

/// Print LLMX's grammar, whole or narrowed to what an agent may say
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir llmx grammar --format ebnf
  sabir llmx grammar --format lark --blocks OBS,BLK --no-extensions
  sabir llmx grammar --format gbnf --agents Lead,Worker --single --depth 4

Exit codes:
  0  the grammar is on standard output
  2  wrong usage")]
pub(crate) struct GrammarArgs {
    /// ebnf for people, lark for llguidance, gbnf for llama.cpp
    #[arg(long, value_enum)]
    format: Dialect,
    /// The types of block that may follow a HEADER; all if not given
    #[arg(long, value_name = "TYPES", value_delimiter = ',', value_parser = parse_block)]
    blocks: Vec<BlockKind>,
    /// Leave out extensions (X_ blocks, x_ fields)
    #[arg(long)]
    no_extensions: bool,
    /// The agents that may send and receive; any if not given
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = parse_name)]
    agents: Vec<String>,
    /// Allow one message and no more
    #[arg(long)]
    single: bool,
    /// How deep brackets may nest inside an object that a field holds; without bound if not given
    #[arg(long, value_name = "N")]
    depth: Option<u8>,
}

impl GrammarArgs {
    pub(crate) fn run(self, output: &mut Output) -> anyhow::Result<Exit> {
        let options = grammar::Options {
            blocks: self.blocks,
            agents: self.agents,
            extensions: !self.no_extensions,
            max_depth: self.depth,
            single_message: self.single,
        };
        output.write_all(grammar::export(self.format.into(), &options).as_bytes())?;
        Ok(Exit::Done)
    }
}

/// For clap: one of the types that follow a HEADER.
fn parse_block(word: &str) -> Result<BlockKind, String> {
    let blocks = BlockKind::STANDARD.into_iter().filter(|kind| *kind != BlockKind::Header);
    blocks.clone().find(|kind| *kind == BlockKind::from_word(word)).ok_or_else(|| {
        let words: Vec<&str> = blocks.filter_map(|kind| Some(kind.info()?.word)).collect();
        format!("the types are {}", words.join(", "))
    })
}
