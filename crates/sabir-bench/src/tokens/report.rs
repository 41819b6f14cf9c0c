//! The page, the numbers for programs, and the summary for the terminal.
//!
//! The page is made whole from the counts. Its conclusions are sentences with the figures filled in
//! and, where the figures decide what is true, chosen by them.

use std::fmt::Write as _;

use anyhow::Result;
use sabir_lingua::tokens::Tokenizer;
use serde_json::{Map, Value, json};

use crate::tokens::encode::Notation;
use crate::tokens::measure::Counts;
use crate::tokens::scenario::{Family, Scenario};
use crate::tokens::teach;
use crate::tokens::words::{changed, compared, listed};

/// What everything is compared with.
pub(crate) const BASE: Notation = Notation::Json;

/// Where one vocabulary has to stand for all: that of the models most used today.
const MAIN: Tokenizer = Tokenizer::O200k;

/// The message that the page shows in every notation: its scenario, and its place there.
const EXAMPLE: (&str, usize) = ("price of freight", 1);

pub(crate) fn page(scenarios: &[Scenario], counts: &Counts) -> Result<String> {
    let mut out = String::new();
    out.push_str(HEAD);
    conclusion(&mut out, counts);
    totals(&mut out, counts);
    families(&mut out, counts);
    teaching(&mut out, counts);
    method(&mut out, counts);
    example(&mut out, scenarios)?;
    every_scenario(&mut out, counts);
    Ok(out)
}

const HEAD: &str = "\
# What the notations cost in tokens

`cargo xtask bench tokens` writes this page, and `cargo xtask bench tokens --check` fails when it is out of date.
Every figure and every sentence with a figure in it is computed; edit the code, not the page.

";

fn conclusion(out: &mut String, counts: &Counts) {
    let against = |of, base| compared(counts.ratios(of, base));
    let _ = writeln!(out, "## Conclusion\n");
    let _ = writeln!(
        out,
        "{} conversations, {} messages, {} notations, {} vocabularies; ranges are over the vocabularies.\n",
        counts.rows.len(),
        counts.messages(),
        Notation::ALL.len(),
        Tokenizer::ALL.len(),
    );
    let _ = writeln!(
        out,
        "- **AXON against JSON.** AXON on the wire takes {} compact JSON with descriptive keys, and {} JSON with AXON's own short words.",
        against(Notation::AxonWire, BASE),
        against(Notation::AxonWire, Notation::JsonShort),
    );
    let saved = |notation| 1.0 - counts.ratio(MAIN, notation, BASE);
    if saved(Notation::AxonWire) > 0.0
        && saved(Notation::JsonShort) * 2.0 < saved(Notation::AxonWire)
    {
        let _ = writeln!(
            out,
            "  Short words alone take {} compact JSON, so it is the syntax that saves, not the words.",
            against(Notation::JsonShort, BASE),
        );
    }
    let _ = writeln!(
        out,
        "- **AXON against English.** AXON on the wire takes {} the same said in controlled English{}",
        against(Notation::AxonWire, Notation::English),
        match counts.ratios(Notation::AxonWire, Notation::English) {
            (low, _) if low > 1.0 && is_shortest_for_programs(counts) =>
                ": it is not the shortest way to say something, but the shortest of these that a program can read.",
            (_, high) if high < 1.0 => ", and a program can read it.",
            _ => ".",
        },
    );
    let _ = writeln!(
        out,
        "- **LLMX** takes {} compact JSON, and {} AXON on the wire.",
        against(Notation::Llmx, BASE),
        against(Notation::Llmx, Notation::AxonWire),
    );
    let tables = family_ratio(counts, Family::Tables, Notation::Toon);
    let nesting = family_ratio(counts, Family::Nesting, Notation::Toon);
    let _ = writeln!(
        out,
        "- **TOON** takes {} compact JSON. On tables of records it takes {} ({}), on deep nesting {}.",
        against(Notation::Toon, BASE),
        changed(tables),
        MAIN.name(),
        changed(nesting),
    );
    let _ = writeln!(
        out,
        "- **White space** for people costs: pretty JSON takes {} compact JSON, pretty AXON {} AXON on the wire.",
        against(Notation::JsonPretty, BASE),
        against(Notation::AxonPretty, Notation::AxonWire),
    );
    let mut by_family: Vec<(f64, &str)> = Family::ALL
        .iter()
        .map(|family| (family_ratio(counts, *family, Notation::AxonWire), family.title()))
        .collect();
    by_family.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    if let (Some((best, best_title)), Some((worst, worst_title))) =
        (by_family.first(), by_family.last())
    {
        let _ = writeln!(
            out,
            "- **It depends on what is said.** With {}, AXON does best on {best_title} ({} than compact JSON) and worst on {worst_title} ({}). Families in which it takes more than compact JSON: {}.",
            MAIN.name(),
            changed(*best),
            changed(*worst),
            listed(&titles_where(counts, Notation::AxonWire, BASE)),
        );
        let _ = writeln!(
            out,
            "  Families in which it takes more than English: {}. More than TOON: {}.",
            listed(&titles_where(counts, Notation::AxonWire, Notation::English)),
            listed(&titles_where(counts, Notation::AxonWire, Notation::Toon)),
        );
    }
    let _ = writeln!(
        out,
        "- **Teaching comes first.** A prompt that explains AXON takes {} tokens, one that explains the JSON keys {} ({}). {} {}",
        counts.prompt(MAIN, Notation::AxonWire),
        counts.prompt(MAIN, BASE),
        MAIN.name(),
        pays_off(counts, Prompted::Both),
        pays_off(counts, Prompted::AxonOnly),
    );
    let _ =
        writeln!(out, "\n![Tokens of each notation as a percentage of compact JSON](tokens.svg)\n");
}

/// Whether AXON on the wire is below every other notation that has a parser, in every vocabulary.
fn is_shortest_for_programs(counts: &Counts) -> bool {
    Notation::ALL
        .iter()
        .filter(|notation| !matches!(notation, Notation::AxonWire | Notation::English))
        .all(|notation| counts.ratios(Notation::AxonWire, *notation).1 < 1.0)
}

fn titles_where(counts: &Counts, of: Notation, base: Notation) -> Vec<&'static str> {
    let dearer =
        |family: &&Family| counts.family(**family, MAIN, of) > counts.family(**family, MAIN, base);
    Family::ALL.iter().filter(dearer).map(|family| family.title()).collect()
}

fn family_ratio(counts: &Counts, family: Family, notation: Notation) -> f64 {
    counts.family(family, MAIN, notation) as f64 / counts.family(family, MAIN, BASE) as f64
}

/// Who needs a prompt.
#[derive(Clone, Copy)]
enum Prompted {
    Both,
    /// The model is trusted to guess the keys of JSON.
    AxonOnly,
}

/// After how many messages the prompt for AXON has paid for itself, over all vocabularies.
fn pays_off(counts: &Counts, prompted: Prompted) -> String {
    let whom = match prompted {
        Prompted::Both => "Against JSON with its own prompt",
        Prompted::AxonOnly => "Against JSON without any prompt",
    };
    let after = Tokenizer::ALL.iter().map(|tokenizer| {
        let axon = counts.prompt(*tokenizer, Notation::AxonWire) as f64;
        let json = counts.prompt(*tokenizer, BASE) as f64;
        let extra = match prompted {
            Prompted::Both => axon - json,
            Prompted::AxonOnly => axon,
        };
        let saved = counts.total(*tokenizer, BASE) as f64
            - counts.total(*tokenizer, Notation::AxonWire) as f64;
        (saved > 0.0).then(|| (extra * counts.messages() as f64 / saved).ceil().max(0.0) as u64)
    });
    let Some(after) = after.collect::<Option<Vec<u64>>>() else {
        return format!(
            "{whom}, the prompt for AXON does not pay for itself with every vocabulary."
        );
    };
    let (low, high) =
        after.iter().fold((u64::MAX, 0), |(low, high), n| (low.min(*n), high.max(*n)));
    let range = if low == high { low.to_string() } else { format!("{low} to {high}") };
    format!("{whom}, AXON is ahead after {range} messages of average length.")
}

fn totals(out: &mut String, counts: &Counts) {
    let _ = writeln!(out, "## Totals\n\nTokens of all messages together.\n");
    table_head(out, "vocabulary");
    for tokenizer in Tokenizer::ALL {
        row(out, tokenizer.name(), |notation| counts.total(*tokenizer, notation).to_string());
    }
    let _ = writeln!(out, "\nThe same as a percentage of compact JSON.\n");
    table_head(out, "vocabulary");
    for tokenizer in Tokenizer::ALL {
        row(out, tokenizer.name(), |it| share(counts.ratio(*tokenizer, it, BASE)));
    }
    let _ = writeln!(out, "\nThe vocabularies:\n");
    for tokenizer in Tokenizer::ALL {
        let _ = writeln!(out, "- `{}`: {}", tokenizer.name(), tokenizer.description());
    }
    let _ = writeln!(out, "\nThe notations:\n");
    for notation in Notation::ALL {
        let _ = writeln!(out, "- {}: {}", notation.title(), notation.description());
    }
}

fn families(out: &mut String, counts: &Counts) {
    let _ = writeln!(
        out,
        "\n## By family\n\nPercentages of compact JSON with `{}`; in brackets, how many conversations.\n",
        MAIN.name()
    );
    table_head(out, "family");
    for family in Family::ALL {
        let size = counts.rows.iter().filter(|row| row.family == *family).count();
        row(out, &format!("{} ({size})", family.title()), |notation| {
            share(family_ratio(counts, *family, notation))
        });
    }
}

fn teaching(out: &mut String, counts: &Counts) {
    let _ = writeln!(out, "\n## What teaching costs\n");
    let _ = writeln!(
        out,
        "A model that is to write a notation has to be told its rules.
The prompts are in [crates/sabir-bench/src/tokens/teach](../../crates/sabir-bench/src/tokens/teach): each explains, as briefly as we could, the intents, the metadata and the shapes of content; for English the pattern of the sentence is enough.
The figures are tokens a message with `{}`, the prompt spread over so many messages of average length.
Models have seen more JSON and English than anything else, and far less TOON, AXON or LLMX: they may need no prompt for the former, and a longer one, examples or a grammar for the latter.
A provider that caches prompts charges less for them than this table does.\n",
        MAIN.name()
    );
    let _ = writeln!(out, "| notation | prompt | a message | over 1 | over 10 | over 100 |");
    let _ = writeln!(out, "|---|--:|--:|--:|--:|--:|");
    for notation in Notation::ALL {
        let prompt = counts.prompt(MAIN, *notation) as f64;
        let mean = counts.total(MAIN, *notation) as f64 / counts.messages() as f64;
        let _ = writeln!(
            out,
            "| {} | {prompt:.0} | {mean:.1} | {:.1} | {:.1} | {:.1} |",
            notation.title(),
            prompt + mean,
            prompt / 10.0 + mean,
            prompt / 100.0 + mean,
        );
    }
}

fn method(out: &mut String, counts: &Counts) {
    let _ = writeln!(out, "\n## How it was measured, and what it does not say\n");
    let shortest = counts.rows.iter().map(|row| row.messages).min().unwrap_or_default();
    let longest = counts.rows.iter().map(|row| row.messages).max().unwrap_or_default();
    let _ = writeln!(
        out,
        "- A conversation is a typed record of {shortest} to {longest} messages; the data is in [crates/sabir-bench/src/tokens/scenarios](../../crates/sabir-bench/src/tokens/scenarios). One encoder a notation writes them all; no conversation has a text of its own.
- Tests hold that every name, number and text of a record stands in each of its encodings, that AXON and LLMX are valid for our validators, that TOON decodes to the value it was made from, and that both kinds of JSON hold the same values.
- Messages are counted one by one, as plain text, without what a chat template adds.
- AXON says with a sigil whether a word is a thing, a category or a variable; the other notations leave that to the reader. A number with a unit is one word in AXON and a string in JSON, LLMX and TOON, which is a common way to write it there.
- A table is a list of records in AXON, JSON and LLMX. Any of them could name the columns once and send rows; none has a native way to.
- The English is a template's: complete but stilted, and a program cannot read it back. A person would be shorter here and longer there, and would leave things out.
- The conversations are ours. Other traffic has another mix, so look at its family rather than at the total.
- The page says what a text costs. It does not say whether a model writes it without mistakes, nor whether one understands it."
    );
}

fn example(out: &mut String, scenarios: &[Scenario]) -> Result<()> {
    let (name, index) = EXAMPLE;
    let Some(message) = scenarios
        .iter()
        .find(|scenario| scenario.name == name)
        .and_then(|scenario| scenario.messages.get(index))
    else {
        anyhow::bail!("the example `{name}` is gone");
    };
    let _ = writeln!(out, "\n## One message in every notation\n\nFrom \"{name}\".");
    for notation in Notation::ALL {
        let text = notation.encode(message, index + 1)?;
        let tokens = MAIN.count(&text);
        let _ = writeln!(out, "\n{}, {tokens} tokens with `{}`:\n", notation.title(), MAIN.name());
        let _ = writeln!(out, "```text\n{text}\n```");
    }
    Ok(())
}

fn every_scenario(out: &mut String, counts: &Counts) {
    let _ = writeln!(
        out,
        "\n## Every conversation\n\nTokens with `{}`; in brackets, how many messages.
`cargo xtask bench tokens` writes the counts of all vocabularies, and every text that was counted, to `target/tokens.json`.\n",
        MAIN.name()
    );
    table_head(out, "conversation");
    for scenario in &counts.rows {
        row(out, &format!("{} ({})", scenario.name, scenario.messages), |notation| {
            scenario.tokens(MAIN, notation).to_string()
        });
    }
}

fn table_head(out: &mut String, first: &str) {
    let titles: Vec<_> = Notation::ALL.iter().map(|notation| notation.title()).collect();
    let _ = writeln!(out, "| {first} | {} |", titles.join(" | "));
    let _ = writeln!(out, "|---|{}", "--:|".repeat(titles.len()));
}

fn row(out: &mut String, first: &str, cell: impl Fn(Notation) -> String) {
    let cells: Vec<_> = Notation::ALL.iter().map(|notation| cell(*notation)).collect();
    let _ = writeln!(out, "| {first} | {} |", cells.join(" | "));
}

fn share(ratio: f64) -> String {
    format!("{:.1}%", ratio * 100.0)
}

/// Every count for programs, and every text that was counted for whoever doubts one.
pub(crate) fn numbers(scenarios: &[Scenario], counts: &Counts) -> Result<Value> {
    let by_notation = |count: &dyn Fn(Notation) -> usize| -> Value {
        let counts = Notation::ALL.iter();
        counts.map(|it| (it.key().to_owned(), count(*it).into())).collect::<Map<_, _>>().into()
    };
    let by_both = |count: &dyn Fn(Tokenizer, Notation) -> usize| -> Value {
        let tokenizers = Tokenizer::ALL.iter();
        tokenizers
            .map(|it| (it.name().to_owned(), by_notation(&|notation| count(*it, notation))))
            .collect::<Map<_, _>>()
            .into()
    };
    let texts = |scenario: &Scenario, notation: Notation| -> Result<Value> {
        let messages = scenario.messages.iter().enumerate();
        let texts = messages.map(|(index, message)| notation.encode(message, index + 1));
        Ok(texts.collect::<Result<Vec<String>>>()?.into())
    };
    let mut rows = Vec::new();
    for (scenario, row) in scenarios.iter().zip(&counts.rows) {
        let texts: Map<String, Value> = Notation::ALL
            .iter()
            .map(|it| Ok((it.key().to_owned(), texts(scenario, *it)?)))
            .collect::<Result<_>>()?;
        rows.push(json!({
            "name": row.name,
            "family": row.family.title(),
            "messages": row.messages,
            "bytes": by_notation(&|notation| row.bytes[notation as usize]),
            "tokens": by_both(&|tokenizer, notation| row.tokens(tokenizer, notation)),
            "texts": texts,
        }));
    }
    let prompts: Map<String, Value> =
        Notation::ALL.iter().map(|it| (it.key().to_owned(), teach::prompt(*it).into())).collect();
    Ok(json!({
        "messages": counts.messages(),
        "totals": by_both(&|tokenizer, notation| counts.total(tokenizer, notation)),
        "prompt_tokens": by_both(&|tokenizer, notation| counts.prompt(tokenizer, notation)),
        "prompts": prompts,
        "scenarios": rows,
    }))
}

/// For the terminal: the shares of compact JSON.
pub(crate) fn summary(counts: &Counts) -> String {
    let mut out = format!("{:<12}", "% of JSON");
    for notation in Notation::ALL {
        let _ = write!(out, "{:>18}", notation.title());
    }
    out.push('\n');
    for tokenizer in Tokenizer::ALL {
        let _ = write!(out, "{:<12}", tokenizer.name());
        for notation in Notation::ALL {
            let _ = write!(out, "{:>18}", share(counts.ratio(*tokenizer, *notation, BASE)));
        }
        out.push('\n');
    }
    out
}
