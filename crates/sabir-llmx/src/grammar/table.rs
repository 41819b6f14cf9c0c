//! The table itself: documents and messages. Blocks, values and words have files of their own.

use sabir_grammar::{Depth, Introduction, Table, lit, one_of, rule, seq, some};

use super::options::Options;
use super::{blocks, lexical, values};
use crate::block::{BlockInfo, BlockKind};

/// There is no white space in the strict form, but for one line feed behind every block.
pub(super) fn build(options: &Options) -> Table {
    let mut table = Table::new(INTRODUCTION);
    let depth = Depth::new(options.max_depth);
    let chosen = chosen(options);
    let message = rule("message");
    table.phrase("document", if options.single_message { message } else { some(message) });
    table.phrase("message", seq([rule("header"), some(rule("block"))]));
    let mut all: Vec<_> = chosen.iter().map(|info| rule(info.name)).collect();
    if options.extensions {
        all.push(rule("extension_block"));
    }
    table.phrase("block", one_of(all));
    for info in BlockKind::Header.info().into_iter().chain(chosen) {
        blocks::add(&mut table, info, options, depth);
    }
    if options.extensions {
        blocks::add_extensions(&mut table, depth);
    }
    blocks::add_agents(&mut table, &options.agents);
    values::add(&mut table, depth);
    lexical::add(&mut table);
    table.without_unreachable()
}

/// The rows of the blocks that may follow a HEADER. Where nothing else could, all of them may: a
/// message must have a way to go on.
fn chosen(options: &Options) -> Vec<&'static BlockInfo> {
    let standard = || {
        let kinds = BlockKind::STANDARD.into_iter();
        kinds.filter(|&kind| kind != BlockKind::Header).filter_map(BlockKind::info)
    };
    let wanted: Vec<_> = standard().filter(|info| options.blocks.contains(&info.kind)).collect();
    let any_foreign = options.extensions && !options.blocks.is_empty();
    if wanted.is_empty() && !any_foreign { standard().collect() } else { wanted }
}

/// A line feed ends every block, also the last.
pub(super) fn end(bracket: &str) -> sabir_grammar::Expr {
    lit(&format!("{bracket}\n"))
}

const INTRODUCTION: Introduction = Introduction {
    ebnf: "LLMX in the strict form. There is no white space but one line feed behind every block; \
           fields stand in the order of their description, and those that are optional may be left \
           out.",
    lark: "LLMX for llguidance, in the strict form. There is no white space between tokens: do not \
           add %ignore.",
    gbnf: "LLMX for llama.cpp, in the strict form.",
};
