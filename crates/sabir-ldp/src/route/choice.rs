//! What the router answers: who, and why; who not, and why not. As data, and in words for people.
//!
//! It computes nothing: every figure in it was reckoned elsewhere.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::claim::Claims;
use super::estimate::Estimate;
use super::request::Strategy;
use crate::id::{DelegateId, SkillName};

/// The answer to a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    pub skill: SkillName,
    pub strategy: Strategy,
    /// How many cards are known.
    pub cards: usize,
    /// The best first; at most as many as were asked for.
    pub ranked: Vec<Ranked>,
    /// How many passed every filter.
    pub eligible: usize,
    /// Who was passed over, by the first filter that each did not pass. Filters that stopped nobody
    /// are left out.
    pub passed_over: Vec<PassedOver>,
}

/// One candidate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ranked {
    pub delegate: DelegateId,
    /// Greater is better; its unit is the strategy's, so that it compares within one choice only.
    pub score: f64,
    pub why: Why,
}

/// What a score was made of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Why {
    pub claims: Claims,
    pub estimate: Estimate,
    /// It failed several times in a row, and this would be the attempt that shows whether it is back.
    pub probe: bool,
}

/// The candidates that a filter stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassedOver {
    pub filter: Filter,
    pub count: usize,
    /// A few of them. None for the skill: those are all the others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<DelegateId>,
}

/// The filters, in the order in which they are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Filter {
    Skill,
    Available,
    Domain,
    Jurisdiction,
    Context,
    Mode,
    Excluded,
    Resting,
    Cost,
    Latency,
}

impl Filter {
    pub(super) const COUNT: usize = 10;

    pub(super) const ALL: [Self; Self::COUNT] = [
        Self::Skill,
        Self::Available,
        Self::Domain,
        Self::Jurisdiction,
        Self::Context,
        Self::Mode,
        Self::Excluded,
        Self::Resting,
        Self::Cost,
        Self::Latency,
    ];

    /// What is wrong with those whom it stopped.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            Self::Skill => "without the skill",
            Self::Available => "not available at present",
            Self::Domain => "outside of the trust domains asked for",
            Self::Jurisdiction => "outside of the jurisdiction asked for",
            Self::Context => "with too small a context window",
            Self::Mode => "without the payload mode",
            Self::Excluded => "excluded by the request",
            Self::Resting => "resting after failures",
            Self::Cost => "expected to cost more than the budget",
            Self::Latency => "expected to take longer than the budget",
        }
    }
}

impl Choice {
    /// The one to give the task to.
    #[must_use]
    pub fn best(&self) -> Option<&DelegateId> {
        self.ranked.first().map(|it| &it.delegate)
    }

    /// The choice in words: a line for each candidate, then one for each filter.
    #[must_use]
    pub fn explain(&self) -> String {
        let mut out = String::new();
        let (skill, strategy) = (self.skill.as_str(), self.strategy.word());
        let _ = match self.ranked.first() {
            Some(best) => writeln!(out, "{} for {skill}, by {strategy}", best.delegate.as_str()),
            None => writeln!(out, "nobody for {skill}"),
        };
        for (at, ranked) in self.ranked.iter().enumerate() {
            let _ = writeln!(out, "{:>3}. {}", at + 1, ranked.line());
        }
        let _ = writeln!(out, "{} of {} cards were eligible", self.eligible, self.cards);
        for PassedOver { filter, count, samples } in &self.passed_over {
            let _ = write!(out, "  {count} {}", filter.reason());
            for (at, sample) in samples.iter().enumerate() {
                let _ = write!(out, "{}{}", if at == 0 { ": " } else { ", " }, sample.as_str());
            }
            out.push_str(if samples.is_empty() || samples.len() == *count {
                "\n"
            } else {
                ", …\n"
            });
        }
        out
    }
}

impl Ranked {
    fn line(&self) -> String {
        let Why { claims, estimate, probe } = &self.why;
        let mut out = format!("{} scores {:.4}: ", self.delegate.as_str(), self.score);
        let _ = write!(
            out,
            "quality {:.2} (counted as {:.2}), succeeds in {:.0} %, {:.1} s, ${:.4}",
            estimate.quality,
            estimate.quality_bound,
            estimate.reliability * 100.0,
            estimate.latency_ms / 1_000.0,
            estimate.cost_usd,
        );
        let _ = match claims.quality {
            Some(quality) => {
                write!(out, "; claims quality {quality:.2}, {}", claims.basis.wire_name())
            }
            None => write!(out, "; claims no quality"),
        };
        let _ = match estimate.outcomes {
            none if none < 0.005 => write!(out, "; no outcomes"),
            outcomes => write!(out, "; {outcomes:.2} outcomes"),
        };
        if *probe {
            out.push_str("; one attempt after failures");
        }
        out
    }
}
