//! Which lines are written: a level for all, and others for some topics.

use std::fmt;
use std::str::FromStr;

use tracing::level_filters::LevelFilter;

use crate::topic;

/// `info`, or `info,door=debug,model=off`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    levels: [LevelFilter; topic::ALL.len()],
}

/// Why a text is no filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FilterError {
    UnknownLevel(String),
    UnknownTopic(String),
}

impl Filter {
    pub(super) fn level_of(&self, target: &str) -> LevelFilter {
        topic::index_of(target).map_or(LevelFilter::OFF, |index| self.levels[index])
    }

    pub(super) fn most(&self) -> LevelFilter {
        self.levels.iter().max().copied().unwrap_or(LevelFilter::OFF)
    }
}

impl Default for Filter {
    fn default() -> Self {
        Self { levels: [LevelFilter::INFO; topic::ALL.len()] }
    }
}

impl FromStr for Filter {
    type Err = FilterError;

    fn from_str(text: &str) -> Result<Self, FilterError> {
        let mut filter = Self::default();
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        // A level for all holds wherever it stands; what is said of a topic is said over it.
        let (all, some): (Vec<&str>, Vec<&str>) = parts.partition(|part| !part.contains('='));
        for word in all {
            filter.levels = [level(word)?; topic::ALL.len()];
        }
        for part in some {
            let (name, word) = part.split_once('=').unwrap_or((part, ""));
            let known = topic::ALL.iter().position(|topic| topic::short(topic) == name.trim());
            let index = known.ok_or_else(|| FilterError::UnknownTopic(name.trim().to_owned()))?;
            filter.levels[index] = level(word.trim())?;
        }
        Ok(filter)
    }
}

fn level(word: &str) -> Result<LevelFilter, FilterError> {
    let levels = [
        ("off", LevelFilter::OFF),
        ("error", LevelFilter::ERROR),
        ("warn", LevelFilter::WARN),
        ("info", LevelFilter::INFO),
        ("debug", LevelFilter::DEBUG),
        ("trace", LevelFilter::TRACE),
    ];
    let known = levels.iter().find(|(name, _)| name.eq_ignore_ascii_case(word));
    known.map(|(_, level)| *level).ok_or_else(|| FilterError::UnknownLevel(word.to_owned()))
}

impl fmt::Display for FilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownLevel(word) => {
                write!(f, "{word:?} is no level: there are off, error, warn, info, debug, trace")
            }
            Self::UnknownTopic(name) => {
                let names = topic::ALL.map(topic::short).join(", ");
                write!(f, "{name:?} is no topic: there are {names}")
            }
        }
    }
}

impl std::error::Error for FilterError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_is_said_over_the_level_for_all() {
        let filter: Filter = "door=debug, WARN ,model=off".parse().unwrap();
        assert_eq!(filter.level_of(topic::DOOR), LevelFilter::DEBUG);
        assert_eq!(filter.level_of(topic::MODEL), LevelFilter::OFF);
        assert_eq!(filter.level_of(topic::TASK), LevelFilter::WARN);
        assert_eq!(filter.most(), LevelFilter::DEBUG);
        assert_eq!("".parse(), Ok(Filter::default()));
    }

    #[test]
    fn lines_of_libraries_are_never_written() {
        let filter: Filter = "trace".parse().unwrap();
        for target in ["h2", "hyper::proto", "rustls", "sabir", "sabir_net", "sabir::doors"] {
            assert_eq!(filter.level_of(target), LevelFilter::OFF, "{target}");
        }
    }

    #[test]
    fn what_is_no_filter_says_what_would_be_one() {
        let of = |text: &str| text.parse::<Filter>().unwrap_err().to_string();
        assert!(of("loud").contains("off, error, warn"), "{}", of("loud"));
        assert!(of("doors=info").contains("node, door, task"), "{}", of("doors=info"));
        assert!(of("door=").contains("is no level"));
    }
}
