//! What a policy file says to one action, as the gate takes it: a stance that makes it stricter, and
//! the questions that it waives. How a file comes to that is not known here.

use serde::{Deserialize, Serialize};

use crate::rule::RuleId;

/// What the policy file says to one action. The default says nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Ruling {
    pub stance: Stance,
    pub waived: Waivers,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stance {
    #[default]
    Silent,
    /// It is asked for, whatever else holds.
    Ask,
    Deny,
}

/// A question that a policy file may answer in advance. The others are always put.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Waivable {
    InventedUrl,
    UnlinkedUrl,
    SensitiveText,
    OtherOrigin,
    Destructive,
    TaintedEgress,
    TaintedEffect,
}

impl Waivable {
    pub const ALL: [Self; 7] = [
        Self::InventedUrl,
        Self::UnlinkedUrl,
        Self::SensitiveText,
        Self::OtherOrigin,
        Self::Destructive,
        Self::TaintedEgress,
        Self::TaintedEffect,
    ];

    /// Whether it is waived for named hosts only: to any host it would let anything be sent anywhere.
    pub(crate) fn needs_host(self) -> bool {
        match self {
            Self::InventedUrl | Self::UnlinkedUrl | Self::OtherOrigin => true,
            Self::SensitiveText | Self::Destructive | Self::TaintedEgress | Self::TaintedEffect => {
                false
            }
        }
    }

    /// The rule that puts the question.
    pub fn rule(self) -> RuleId {
        match self {
            Self::InventedUrl => RuleId::CallInventedUrl,
            Self::UnlinkedUrl => RuleId::CallUnlinkedUrl,
            Self::SensitiveText => RuleId::CallSensitiveText,
            Self::OtherOrigin => RuleId::CallOtherOrigin,
            Self::Destructive => RuleId::CallDestructive,
            Self::TaintedEgress => RuleId::CallTaintedEgress,
            Self::TaintedEffect => RuleId::CallTaintedEffect,
        }
    }
}

/// A set of questions that are not put.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Waivers(u8);

impl Waivers {
    pub fn add(&mut self, waivable: Waivable) {
        self.0 |= 1 << waivable as u8;
        // Otherwise an address that was made up would be let through, and one from a source not.
        if waivable == Waivable::InventedUrl {
            self.add(Waivable::UnlinkedUrl);
        }
    }

    pub fn contains(self, waivable: Waivable) -> bool {
        self.0 & (1 << waivable as u8) != 0
    }

    /// Whether all that the others leave out is left out here as well.
    pub fn includes(self, others: Self) -> bool {
        others.0 & !self.0 == 0
    }
}

impl FromIterator<Waivable> for Waivers {
    fn from_iter<T: IntoIterator<Item = Waivable>>(all: T) -> Self {
        let mut waivers = Self::default();
        all.into_iter().for_each(|waivable| waivers.add(waivable));
        waivers
    }
}
