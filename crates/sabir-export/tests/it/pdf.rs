//! PDF files as another program reads them.

#![expect(clippy::unwrap_used, reason = "a test that cannot start its tools fails")]
#![expect(clippy::disallowed_methods, reason = "how tests are told what is missing here")]

use std::path::Path;
use std::process::Command;

use sabir_export::{Artifact, Format, export, export_pdf};

use crate::generate::artifact;

/// Set by `cargo xtask test --without`.
const WITHOUT: &str = "SABIR_TESTS_WITHOUT";

/// What a program of poppler-utils says about a file, or nothing if the tests go without it.
///
/// # Panics
///
/// When it is missing and nobody said so.
fn poppler(program: &str, args: &[&str], pdf: &[u8]) -> Option<String> {
    let without = std::env::var(WITHOUT).unwrap_or_default();
    if without.split(',').any(|name| name == "poppler") {
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("artifact.pdf");
    std::fs::write(&file, pdf).unwrap();
    let mut command = Command::new(program);
    command.args(args).arg(&file);
    if program == "pdftotext" {
        command.arg("-");
    }
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => panic!("{program} of poppler-utils does not start: {error}"),
    };
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.is_empty(), "{program}: {errors}");
    Some(String::from_utf8(output.stdout).unwrap())
}

fn text(pdf: &[u8]) -> Option<String> {
    poppler("pdftotext", &["-enc", "UTF-8"], pdf)
}

/// The words in order, without those at the foot of pages.
fn words(pdf: &[u8], title: &str) -> Option<Vec<String>> {
    let text = text(pdf)?;
    let is_foot = |line: &str| line == title || line.starts_with("Page ");
    let lines = text.lines().filter(|line| !is_foot(line));
    Some(lines.flat_map(str::split_whitespace).map(str::to_owned).collect())
}

fn pages(pdf: &[u8]) -> Option<usize> {
    let info = poppler("pdfinfo", &[], pdf)?;
    let line = info.lines().find_map(|line| line.strip_prefix("Pages:")).unwrap();
    Some(line.trim().parse().unwrap())
}

fn bare(title: &str, markdown: &str) -> Artifact {
    Artifact { references: vec![], ..artifact(title, markdown) }
}

/// LC-O12.
#[test]
fn words_come_back_in_order() {
    let markdown = "Größe, naïve façade, Łódź, Dvořák, ﬁne affluent office.\n\n\
        Καλημέρα κόσμε, ἄνθρωπος.\n\nПривет, мир, Київ.\n\n- one\n- two\n  1. three\n\n> four **five** *six* `seven`\n\n\
        | eight | nine |\n|---|---|\n| ten | eleven |\n\n```\ntwelve\n```\n\n→ ≤ ✓ € ½ “quoted” – done";
    let pdf = export(&bare("Words", markdown), Format::Pdf).unwrap();
    let Some(words) = words(&pdf, "Words") else { return };
    let wanted = "2026-11-16 09:30 UTC · art_1 Größe, naïve façade, Łódź, Dvořák, ﬁne affluent office. \
        Καλημέρα κόσμε, ἄνθρωπος. Привет, мир, Київ. • one • two 1. three four five six seven \
        eight nine ten eleven twelve → ≤ ✓ € ½ “quoted” – done";
    assert_eq!(words.join(" "), wanted);
}

/// LC-O1, LC-O12, LC-O13.
#[test]
fn the_file_says_what_it_is_and_where_its_links_lead() {
    let markdown = "# First\n\nWords [1] and [a link](https://example.org/ü?a=b).\n\n## Second\n\nMore.\n\n# Third\n\nEnd.";
    let pdf = export(&artifact("Größe: a title", markdown), Format::Pdf).unwrap();
    let Some(info) = poppler("pdfinfo", &[], &pdf) else { return };
    assert!(info.contains("Title:           Größe: a title\n"), "{info}");
    assert!(info.contains("Pages:           1\n") && info.contains("(A4)"), "{info}");
    let urls = poppler("pdfinfo", &["-url"], &pdf).unwrap();
    for url in [
        "https://example.org/%C3%BC?a=b",
        "https://example.org/t#:~:text=The%20harbour",
        "https://example.com/r",
    ] {
        assert!(urls.contains(url), "{urls}");
    }
    assert!(!urls.contains("javascript"), "{urls}");
    let html = poppler("pdftohtml", &["-xml", "-stdout", "-i"], &pdf).unwrap();
    let outline: Vec<&str> = html.lines().skip_while(|line| *line != "<outline>").collect();
    assert_eq!(
        outline.join("").trim_end_matches("</pdf2xml>"),
        "<outline><item page=\"1\">First</item><outline><item page=\"1\">Second</item></outline>\
         <item page=\"1\">Third</item><item page=\"1\">References</item></outline>"
    );
    let text = text(&pdf).unwrap();
    assert!(text.contains("“62 million tonnes” Report (repaired)"), "{text}");
    assert!(text.contains("Unknown source: nothing was collected"), "{text}");
    assert!(text.contains("Page 1 of 1"), "{text}");
}

/// LC-O13: the mark of a citation leads inside of the file, if the reference is there.
#[test]
fn marks_lead_to_references() {
    let count = |markdown: &str| {
        let pdf = export(&artifact("T", markdown), Format::Pdf).unwrap();
        let needle = b"/Subtype/Link";
        pdf.windows(needle.len()).filter(|window| window == needle).count()
    };
    // Two of the references link to their sources.
    assert_eq!(count("No marks."), 2);
    assert_eq!(count("One mark [1], and another [3]."), 4);
}

/// LC-O12.
#[test]
fn a_hundred_pages_are_numbered_and_complete() {
    let sentence = "The harbour was enlarged, and ships came from everywhere. ".repeat(8);
    let mut markdown = String::new();
    for number in 1..=900 {
        if number % 10 == 1 {
            markdown.push_str(&format!("## Section {number}\n\n"));
        }
        markdown.push_str(&format!("Paragraph number{number} begins. {sentence}\n\n"));
    }
    let pdf = export(&bare("Hundred", &markdown), Format::Pdf).unwrap();
    let Some(pages) = pages(&pdf) else { return };
    assert!((100..140).contains(&pages), "{pages}");
    let text = text(&pdf).unwrap();
    for page in 1..=pages {
        assert!(text.contains(&format!("Page {page} of {pages}\n")), "{page}");
    }
    let words = words(&pdf, "Hundred").unwrap();
    let numbers: Vec<_> = words.iter().filter(|word| word.starts_with("number")).collect();
    let wanted: Vec<_> = (1..=900).map(|number| format!("number{number}")).collect();
    assert!(numbers.into_iter().eq(&wanted));
    assert_eq!(words.iter().filter(|word| *word == "everywhere.").count(), 7_200);
}

/// LC-O14.
#[test]
fn headers_stand_on_every_page_of_a_table() {
    let rows: String = (1..=200)
        .map(|row| format!("| row{row} | words that make this cell as long as two lines of its column, or longer, or nearly as long |\n"))
        .collect();
    let markdown = format!("| Namecolumn | Words |\n|---|---|\n{rows}");
    let pdf = export(&bare("Rows", &markdown), Format::Pdf).unwrap();
    let Some(text) = text(&pdf) else { return };
    let sheets: Vec<&str> = text.split('\u{c}').filter(|page| !page.trim().is_empty()).collect();
    assert!(sheets.len() > 3, "{}", sheets.len());
    for sheet in &sheets {
        assert_eq!(sheet.matches("Namecolumn").count(), 1, "{sheet}");
    }
    let rows: Vec<&str> = text.split_whitespace().filter(|word| word.starts_with("row")).collect();
    assert_eq!(rows.len(), 200);
}

/// LC-O12, LC-O14: a word and a row that are larger than what holds them are cut, not lost.
#[test]
fn what_is_too_large_goes_on() {
    let word = "Donaudampfschiff".repeat(40);
    let cell = (1..=2_000).map(|number| format!("w{number}")).collect::<Vec<_>>().join(" ");
    let markdown = format!("{word}\n\n| a | b |\n|---|---|\n| {cell} | x |\n");
    let pdf = export(&bare("Large", &markdown), Format::Pdf).unwrap();
    let Some(words) = words(&pdf, "Large") else { return };
    assert!(words.concat().contains(&word));
    let found = words.iter().filter(|word| word.starts_with('w')).count();
    assert_eq!(found, 2_000);
    assert!(pages(&pdf).unwrap() > 2);
}

/// LC-O15.
#[test]
fn characters_without_a_shape_are_noted_and_kept() {
    let artifact = bare("T", "Text 漢字 and 😀 and ไทย.");
    let pdf = export(&artifact, Format::Pdf).unwrap();
    let Some(text_without) = text(&pdf) else { return };
    assert!(text_without.contains("漢字 and 😀 and ไทย."), "{text_without}");
    assert!(text_without.contains("no shape for 6 of the characters"), "{text_without}");
    assert!(text_without.contains("U+6F22") && text_without.contains("U+1F600"), "{text_without}");
    let font = std::fs::read(Path::new("tests/data/fonts/NotoSansThai-Regular.ttf")).unwrap();
    let pdf = export_pdf(&artifact, &[b"no font".to_vec(), font]).unwrap();
    let text_with = text(&pdf).unwrap();
    assert!(text_with.contains("no shape for 3 of the characters"), "{text_with}");
    assert!(text_with.contains("ไทย."), "{text_with}");
}

/// LC-O12: what is read from the right stands from the right.
#[test]
fn right_to_left_words_come_back() {
    let pdf =
        export(&bare("T", "שלום עולם\n\nمرحبا بالعالم\n\nabc שלום עולם def"), Format::Pdf).unwrap();
    let Some(text) = text(&pdf) else { return };
    for word in ["שלום", "עולם", "مرحبا", "بالعالم", "abc", "def"] {
        assert!(text.contains(word), "{word}: {text}");
    }
}
