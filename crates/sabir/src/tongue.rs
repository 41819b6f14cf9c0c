//! In which tongue a file is written: as told, or else as its name or its text shows.

use std::path::Path;

use clap::ValueEnum;

use crate::input::{Origin, Source};

/// What documents are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Tongue {
    /// AXON
    Axon,
    /// The LLMX notation
    Llmx,
    /// The JSON of AXON or LLMX; each says which it is
    Json,
    /// LDP semantic frames: one JSON object, or a list of them
    Frame,
}

impl From<Tongue> for sabir_lingua::Tongue {
    fn from(tongue: Tongue) -> Self {
        match tongue {
            Tongue::Axon => Self::Axon,
            Tongue::Llmx => Self::Llmx,
            Tongue::Json => Self::Json,
            Tongue::Frame => Self::Frame,
        }
    }
}

impl From<sabir_lingua::Tongue> for Tongue {
    fn from(tongue: sabir_lingua::Tongue) -> Self {
        match tongue {
            sabir_lingua::Tongue::Axon => Self::Axon,
            sabir_lingua::Tongue::Llmx => Self::Llmx,
            sabir_lingua::Tongue::Json => Self::Json,
            sabir_lingua::Tongue::Frame => Self::Frame,
        }
    }
}

impl Tongue {
    pub(crate) const ALL: [Tongue; 4] = [Tongue::Axon, Tongue::Llmx, Tongue::Json, Tongue::Frame];

    pub(crate) fn name(self) -> &'static str {
        sabir_lingua::Tongue::from(self).name()
    }

    /// By the ending of the name; by the text if that says nothing. `None` for a text in no tongue
    /// of ours.
    pub(crate) fn guess(source: &Source) -> Option<Self> {
        let by_name = match &source.origin {
            Origin::File(path) => Self::of_path(path),
            Origin::Stdin => None,
        };
        by_name.or_else(|| sabir_lingua::guess(&source.text).map(Self::from))
    }

    fn of_path(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?;
        // An ending of JSON does not say which of the two.
        let mut told = [Self::Axon, Self::Llmx].into_iter();
        told.find(|tongue| extension.eq_ignore_ascii_case(tongue.name()))
    }
}
