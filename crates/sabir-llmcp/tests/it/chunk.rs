//! Markdown in chunks: what each looks like, and that together they are the text.

use expect_test::expect_file;
use proptest::prelude::*;
use sabir_llmcp::{choose_chunks, gap_mark, split_chunks};
use sabir_testkit::cases;

/// LC-K10, LC-K11, LC-K12: each chunk as it is shown, at the smallest size.
#[test]
fn chunks_as_they_are_shown() {
    for case in cases("tests/data/chunk") {
        let mut shown = String::new();
        for chunk in split_chunks(&case.text, 256) {
            let markdown = chunk.markdown(&case.text);
            shown.push_str(&format!("=== {} of {}\n{markdown}", chunk.index, chunk.count));
            if !markdown.ends_with('\n') {
                shown.push('\n');
            }
        }
        expect_file![std::path::absolute(case.out_path()).unwrap()].assert_eq(&shown);
    }
}

/// LC-K12
#[test]
fn a_table_that_is_cut_keeps_its_header_and_its_rows() {
    let header = "| a | b |\n|---|---|\n";
    let rows: String = (0..200).map(|n| format!("| {n} | row {n} |\n")).collect();
    let text = format!("{header}{rows}");
    let chunks = split_chunks(&text, 500);
    assert!(chunks.len() > 5);
    for chunk in &chunks {
        let markdown = chunk.markdown(&text);
        assert!(markdown.starts_with(header));
        assert!(markdown.lines().all(|line| line.starts_with("| ") != line.starts_with("|--")));
        assert!(markdown.len() <= 500);
    }
}

fn choose(costs: &[usize], budget: usize, preferred: &[usize]) -> Vec<usize> {
    choose_chunks(costs.len(), budget, preferred, |at| costs[at])
}

/// LC-K13
#[test]
fn the_first_the_last_and_the_middles_are_shown() {
    let costs = [10; 9];
    assert_eq!(choose(&costs, 90, &[]), (0..9).collect::<Vec<_>>());
    assert_eq!(choose(&costs, 50, &[]), [0, 2, 4, 6, 8]);
    assert_eq!(choose(&costs, 39, &[]), [0, 4, 8]);
    assert_eq!(choose(&costs, 39, &[5]), [0, 5, 8]);
    assert_eq!(choose(&costs, 10, &[5]), [0]);
    assert_eq!(choose(&costs, 9, &[]), [0; 0]);
    assert_eq!(choose(&[], 9, &[1]), [0; 0]);
    assert_eq!(choose(&[50, 10, 10], 20, &[7]), [1, 2]);
    assert_eq!(gap_mark(1), "[… 1 chunk left out …]");
    assert_eq!(gap_mark(2), "[… 2 chunks left out …]");
}

/// LC-K14: each takes a moment, and minutes when time grows with the square.
#[test]
fn hostile_texts_take_linear_time() {
    for unit in [
        "# a\n",
        "###### a\n",
        "```\n",
        "~~~\n\n",
        "|",
        "|-\n",
        "a|b\n-|-\n",
        "\n",
        " ",
        "a",
        "é ",
        "`",
        "#",
        "- a\n",
        "    a\n",
        "```a\n```\n",
        "\u{3000}",
        "\r\n",
    ] {
        let text = unit.repeat(1_000_000 / unit.len());
        let chunks = split_chunks(&text, 8000);
        let shown: usize = chunks.iter().map(|chunk| chunk.markdown(&text).len()).sum();
        assert!(shown <= text.len() * 2, "{unit:?}");
    }
}

const PIECES: &[&str] = &[
    "# One\n",
    "## Two\n",
    "### Three\n",
    "a",
    "word ",
    "sentence. ",
    "\n",
    "\n\n",
    "```\n",
    "````\n",
    "```rust\n",
    "~~~\n",
    "| a | b |\n",
    "|---|---|\n",
    "| 1 | 2 |\n",
    "- item\n",
    "> quote\n",
    "é",
    "漢字。",
    "`",
    "#",
    "    code\n",
    "\r\n",
    "a very long line that goes on for a while without an end ",
    "averyveryverylongwordthatgoesonandonandonandonandonandonandonandonandonandonandonandonandonandon",
];

fn markdown() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES), 0..120).prop_map(|pieces| pieces.concat())
}

proptest! {
    /// LC-K10: what the chunks cover is the text, byte for byte and in order.
    #[test]
    fn chunks_cover_the_text(text in markdown(), size in 0..2000_usize) {
        let chunks = split_chunks(&text, size);
        let covered: String = chunks.iter().map(|chunk| &text[chunk.range.clone()]).collect();
        prop_assert_eq!(&covered, &text);
        for (index, chunk) in chunks.iter().enumerate() {
            prop_assert_eq!(chunk.index, index + 1);
            prop_assert_eq!(chunk.count, chunks.len());
            prop_assert!(!chunk.range.is_empty());
            prop_assert!(chunk.range.len() <= size.max(256));
            prop_assert!(chunk.markdown(&text).contains(&text[chunk.range.clone()]));
        }
    }

    #[test]
    fn any_text_at_all(text in any::<String>()) {
        let covered: String =
            split_chunks(&text, 1).iter().map(|chunk| &text[chunk.range.clone()]).collect();
        prop_assert_eq!(covered, text);
    }

    /// LC-K12: code that was fenced is fenced in every chunk, and what was not is not.
    #[test]
    fn fences_are_balanced_in_every_chunk(lines in prop::collection::vec("[a-z ]{1,60}", 1..60)) {
        let text = format!("intro\n\n```text\n{}\n```\n\nend\n", lines.join("\n"));
        for chunk in split_chunks(&text, 300) {
            let markdown = chunk.markdown(&text);
            let fences = markdown.lines().filter(|line| line.starts_with("```")).count();
            prop_assert_eq!(fences % 2, 0, "{}", markdown);
        }
    }

    /// LC-K13
    #[test]
    fn what_is_chosen_fits(costs in prop::collection::vec(0..100_usize, 0..60), budget in 0..2000_usize) {
        let chosen = choose(&costs, budget, &[]);
        prop_assert!(chosen.iter().map(|index| costs[*index]).sum::<usize>() <= budget);
        prop_assert!(chosen.is_sorted_by(|a, b| a < b));
        if costs.iter().sum::<usize>() <= budget {
            prop_assert_eq!(chosen.len(), costs.len());
        }
    }
}
