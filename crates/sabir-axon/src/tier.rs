//! The compliance tiers and the metadata fields that each of them asks for (section 7.1).
//!
//! This table says which fields belong where and what shape their values have. It refuses to know
//! how a message is parsed: the validator and the grammar export both read it.

/// How much metadata a message must carry. A higher tier includes the lower ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// The minimum that can be told apart: who said it (`id`) and in which version (`%%`).
    One,
    /// What agents of different makers need to hold a conversation.
    Two,
    /// What a deployment needs to hold somebody to account.
    Three,
}

/// Whether a tier asks for a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    Required,
    /// Required, except on the message that opens its conversation: it has nothing to answer.
    RequiredInReply,
    Optional,
    /// The tier does not name the field. It may still be written; nobody has to read it.
    Unlisted,
}

/// The shape of a metadata value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetaValue {
    /// A string with at least one character.
    Text,
    /// A whole number above zero, without a unit.
    PositiveInteger,
    /// A whole number from 0 (low) to 5 (critical), without a unit.
    Priority,
}

/// One row of the table in section 7.1.
#[derive(Clone, Copy, Debug)]
pub struct MetaField {
    pub key: &'static str,
    pub value: MetaValue,
    /// Indexed by tier.
    presence: [Presence; 3],
}

impl Tier {
    pub const ALL: [Tier; 3] = [Tier::One, Tier::Two, Tier::Three];

    pub fn from_number(number: u8) -> Option<Self> {
        match number {
            1 => Some(Tier::One),
            2 => Some(Tier::Two),
            3 => Some(Tier::Three),
            _ => None,
        }
    }

    pub fn number(self) -> u8 {
        match self {
            Tier::One => 1,
            Tier::Two => 2,
            Tier::Three => 3,
        }
    }
}

impl MetaField {
    /// The core fields in canonical order: the order in which a printer or a template writes them.
    pub const ALL: [MetaField; 11] = {
        use MetaValue::{PositiveInteger, Priority, Text};
        use Presence::{Optional, Required, RequiredInReply, Unlisted};
        [
            field("id", Text, [Required, Required, Required]),
            field("%%", PositiveInteger, [Required, Required, Required]),
            field("re", Text, [Optional, RequiredInReply, RequiredInReply]),
            field("ts", PositiveInteger, [Optional, Required, Required]),
            field("ctx", Text, [Optional, Required, Required]),
            field("ttl", PositiveInteger, [Optional, Optional, Optional]),
            field("^", Priority, [Optional, Optional, Optional]),
            field("sig", Text, [Unlisted, Optional, Required]),
            field("authz", Text, [Unlisted, Optional, Required]),
            field("tenant", Text, [Unlisted, Unlisted, Required]),
            field("err_ns", Text, [Unlisted, Unlisted, Required]),
        ]
    };

    pub fn from_key(key: &str) -> Option<&'static Self> {
        static FIELDS: [MetaField; 11] = MetaField::ALL;
        FIELDS.iter().find(|field| field.key == key)
    }

    pub fn presence(&self, tier: Tier) -> Presence {
        self.presence[tier as usize]
    }
}

const fn field(key: &'static str, value: MetaValue, presence: [Presence; 3]) -> MetaField {
    MetaField { key, value, presence }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_higher_tier_never_asks_for_less() {
        let weight = |presence| match presence {
            Presence::Unlisted => 0,
            Presence::Optional => 1,
            Presence::RequiredInReply => 2,
            Presence::Required => 3,
        };
        for field in MetaField::ALL {
            let weights = Tier::ALL.map(|tier| weight(field.presence(tier)));
            assert!(weights.is_sorted(), "{}: {weights:?}", field.key);
        }
    }

    #[test]
    fn numbers_and_keys_are_found_again() {
        for tier in Tier::ALL {
            assert_eq!(Tier::from_number(tier.number()), Some(tier));
        }
        assert_eq!(Tier::from_number(0), None);
        assert_eq!(MetaField::from_key("^").map(|field| field.value), Some(MetaValue::Priority));
        assert!(MetaField::from_key("txn_id").is_none());
    }
}
