//! The delegates that are built in: which of them there are, and what they work with.

use super::NodeConfigError;
use super::section::{Section, Switch};
use super::skills::{AGENT_KEYS, AgentConfig, read_agent};

/// Who of the crew is there. Nothing needs to be said for all of them.
#[derive(Debug, Clone, PartialEq)]
pub struct CrewConfig {
    pub researcher: Option<ResearcherConfig>,
    pub coder: Option<AgentConfig>,
    pub linguist: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResearcherConfig {
    /// The only collections that it reads and fills, by title or id; all, if there are none here.
    pub collections: Vec<String>,
}

impl Default for CrewConfig {
    fn default() -> Self {
        let researcher = Some(ResearcherConfig::default());
        Self { researcher, coder: Some(AgentConfig::default()), linguist: true }
    }
}

impl CrewConfig {
    /// Nobody.
    pub fn none() -> Self {
        Self { researcher: None, coder: None, linguist: false }
    }
}

pub(super) fn read(mut section: Section<'_>) -> Result<CrewConfig, NodeConfigError> {
    let mut crew = CrewConfig::default();
    match section.switch("researcher", "[crew.researcher]", RESEARCHER_KEYS)? {
        None | Some(Switch::On) => {}
        Some(Switch::Off) => crew.researcher = None,
        Some(Switch::Section(mut section)) => {
            let collections = section.texts("collections")?.unwrap_or_default();
            let collections = collections.into_iter().map(|it| it.value).collect();
            crew.researcher = Some(ResearcherConfig { collections });
        }
    }
    match section.switch("coder", "[crew.coder]", AGENT_KEYS)? {
        None | Some(Switch::On) => {}
        Some(Switch::Off) => crew.coder = None,
        Some(Switch::Section(mut section)) => crew.coder = Some(read_agent(&mut section)?),
    }
    crew.linguist = section.flag("linguist")?.unwrap_or(true);
    Ok(crew)
}

pub(super) const KEYS: &[&str] = &["researcher", "coder", "linguist"];

pub(super) const RESEARCHER_KEYS: &[&str] = &["collections"];
