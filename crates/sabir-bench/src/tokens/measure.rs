//! Counts every message in every notation with every vocabulary.

use anyhow::Result;
use sabir_lingua::tokens::Tokenizer;

use crate::tokens::encode::Notation;
use crate::tokens::scenario::{Family, Scenario};
use crate::tokens::teach;

/// The counts of one scenario.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) family: Family,
    pub(crate) messages: usize,
    /// By vocabulary, then by notation, both in the order of `ALL`.
    tokens: Vec<Vec<usize>>,
    /// By notation.
    pub(crate) bytes: Vec<usize>,
}

pub(crate) struct Counts {
    pub(crate) rows: Vec<Row>,
    /// What each notation's prompt costs: by vocabulary, then by notation.
    prompts: Vec<Vec<usize>>,
}

impl Row {
    pub(crate) fn tokens(&self, tokenizer: Tokenizer, notation: Notation) -> usize {
        self.tokens[tokenizer as usize][notation as usize]
    }
}

impl Counts {
    pub(crate) fn of(scenarios: &[Scenario]) -> Result<Self> {
        let rows = scenarios.iter().map(count).collect::<Result<_>>()?;
        let prompts = Tokenizer::ALL.iter().map(|tokenizer| {
            let prompts = Notation::ALL.iter().map(|notation| teach::prompt(*notation));
            prompts.map(|prompt| tokenizer.count(&prompt)).collect()
        });
        Ok(Self { rows, prompts: prompts.collect() })
    }

    pub(crate) fn messages(&self) -> usize {
        self.rows.iter().map(|row| row.messages).sum()
    }

    pub(crate) fn total(&self, tokenizer: Tokenizer, notation: Notation) -> usize {
        self.rows.iter().map(|row| row.tokens(tokenizer, notation)).sum()
    }

    pub(crate) fn family(&self, family: Family, tokenizer: Tokenizer, notation: Notation) -> usize {
        let rows = self.rows.iter().filter(|row| row.family == family);
        rows.map(|row| row.tokens(tokenizer, notation)).sum()
    }

    pub(crate) fn prompt(&self, tokenizer: Tokenizer, notation: Notation) -> usize {
        self.prompts[tokenizer as usize][notation as usize]
    }

    /// Tokens of `of` for each token of `base`.
    pub(crate) fn ratio(&self, tokenizer: Tokenizer, of: Notation, base: Notation) -> f64 {
        self.total(tokenizer, of) as f64 / self.total(tokenizer, base) as f64
    }

    /// The least and the greatest ratio over all vocabularies.
    pub(crate) fn ratios(&self, of: Notation, base: Notation) -> (f64, f64) {
        let ratios = Tokenizer::ALL.iter().map(|tokenizer| self.ratio(*tokenizer, of, base));
        ratios.fold((f64::INFINITY, 0.0), |(low, high), ratio| (low.min(ratio), high.max(ratio)))
    }
}

fn count(scenario: &Scenario) -> Result<Row> {
    let mut tokens = vec![vec![0; Notation::ALL.len()]; Tokenizer::ALL.len()];
    let mut bytes = vec![0; Notation::ALL.len()];
    for (index, message) in scenario.messages.iter().enumerate() {
        for notation in Notation::ALL {
            // Messages travel one by one, so they are counted one by one.
            let text = notation.encode(message, index + 1)?;
            bytes[*notation as usize] += text.len();
            for tokenizer in Tokenizer::ALL {
                tokens[*tokenizer as usize][*notation as usize] += tokenizer.count(&text);
            }
        }
    }
    Ok(Row {
        name: scenario.name,
        family: scenario.family,
        messages: scenario.messages.len(),
        tokens,
        bytes,
    })
}
