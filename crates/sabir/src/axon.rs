//! `sabir axon …`: one file per command.

pub(crate) mod ast;
pub(crate) mod check;
pub(crate) mod fmt;
pub(crate) mod grammar;
pub(crate) mod json;
pub(crate) mod repair;

use sabir_axon::Tier;

/// For clap: `1`, `2` or `3`.
fn parse_tier(text: &str) -> Result<Tier, String> {
    let tier = text.parse().ok().and_then(Tier::from_number);
    tier.ok_or_else(|| "tiers are 1, 2 and 3".to_owned())
}
