//! What is measured: one operation over every message of one language.

mod axon;
mod llmx;

use crate::corpus::{Corpus, LlmxMessage, Message};

/// One row of the table.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) group: Group,
    /// The bytes that a pass reads or writes.
    pub(crate) bytes: fn(&Corpus) -> usize,
    /// Runs the operation once over every message of its language.
    pub(crate) pass: fn(&Prepared<'_>),
}

/// Which rows can be compared with each other.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Group {
    AxonRead,
    AxonWrite,
    LlmxRead,
    LlmxWrite,
}

impl Group {
    pub(crate) const ALL: [Self; 4] =
        [Self::AxonRead, Self::AxonWrite, Self::LlmxRead, Self::LlmxWrite];

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::AxonRead => "read one AXON message",
            Self::AxonWrite => "write one AXON message",
            Self::LlmxRead => "read one LLMX message",
            Self::LlmxWrite => "write one LLMX message",
        }
    }

    /// The row that ratios are taken against.
    pub(crate) fn base(self) -> &'static str {
        match self {
            Self::AxonRead => axon::BASE,
            Self::AxonWrite => axon::BASE_WRITE,
            Self::LlmxRead => llmx::BASE,
            Self::LlmxWrite => llmx::BASE_WRITE,
        }
    }

    /// How many messages a pass goes over.
    pub(crate) fn messages(self, corpus: &Corpus) -> usize {
        match self {
            Self::AxonRead | Self::AxonWrite => corpus.messages.len(),
            Self::LlmxRead | Self::LlmxWrite => corpus.llmx.len(),
        }
    }
}

/// Every row, those of a group side by side.
pub(crate) fn all() -> impl Iterator<Item = Case> {
    axon::CASES.into_iter().chain(llmx::CASES)
}

/// The messages ready to be worked on, so that writing does not measure reading.
pub(crate) struct Prepared<'c> {
    corpus: &'c Corpus,
    axon_trees: Vec<sabir_axon::Tree<'c>>,
    axon_values: Vec<serde_json::Value>,
    llmx_trees: Vec<sabir_llmx::Tree<'c>>,
    llmx_values: Vec<serde_json::Value>,
}

impl<'c> Prepared<'c> {
    pub(crate) fn new(corpus: &'c Corpus) -> Self {
        let value = |json: &str| serde_json::from_str(json).unwrap_or_default();
        let (axon, llmx) = (&corpus.messages, &corpus.llmx);
        Self {
            corpus,
            axon_trees: axon.iter().map(|it| sabir_axon::parse(&it.axon).tree).collect(),
            axon_values: axon.iter().map(|it| value(&it.plain)).collect(),
            llmx_trees: llmx.iter().map(|it| sabir_llmx::parse(&it.llmx).tree).collect(),
            llmx_values: llmx.iter().map(|it| value(&it.json)).collect(),
        }
    }

    #[inline(always)]
    fn each_axon(&self, read: fn(&Message)) {
        self.corpus.messages.iter().for_each(read);
    }

    #[inline(always)]
    fn each_llmx(&self, read: fn(&LlmxMessage)) {
        self.corpus.llmx.iter().for_each(read);
    }
}

/// A benchmark of something that fails is a benchmark of nothing: every reader must accept every
/// message before any is timed.
pub(crate) fn verify(corpus: &Corpus) -> anyhow::Result<()> {
    axon::verify(corpus)?;
    llmx::verify(corpus)
}
