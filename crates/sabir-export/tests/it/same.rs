//! What holds for every form: the same bytes again, and nothing that a terminal would obey.

use proptest::prelude::*;
use sabir_export::{Format, export};

use crate::generate::{FORMATS, any_artifact, artifact};

const REPORT: &str = include_str!("../data/artifact/0001_report.md");

/// LC-O2.
#[test]
fn the_same_artifact_gives_the_same_bytes() {
    let artifact = artifact("The same", REPORT);
    for format in FORMATS {
        let first = export(&artifact, format).unwrap();
        for _ in 0..3 {
            assert!(export(&artifact, format).unwrap() == first, "{format:?}");
        }
    }
}

/// LC-O3.
#[test]
fn titles_and_quotes_stand_on_one_line() {
    let mut artifact = artifact("a\u{202e}b\r\n\u{1b}[2Jc\u{200b}d", "x");
    artifact.references[0].quote = "one\n\u{2066}two\u{7}\tthree".to_owned();
    for format in [Format::Markdown, Format::Text] {
        let text = String::from_utf8(export(&artifact, format).unwrap()).unwrap();
        assert!(text.contains("ab"), "{text}");
        assert!(text.replace('\\', "").contains("[2Jcd"), "{text}");
        assert!(text.contains("“one two three”"), "{text}");
    }
}

/// LC-O1: where a file lies is in no form.
#[test]
fn of_a_file_only_the_name_is_told() {
    for (url, name) in [("/data/papers/secret/notes.md", "notes.md"), ("C:\\me\\a.txt", "a.txt")] {
        let mut artifact = artifact("T", "words[^1]\n\n[^1]: x");
        artifact.references[0].url = Some(url.to_owned());
        artifact.references[0].title = String::new();
        for format in [Format::Markdown, Format::Text, Format::Json, Format::Csv] {
            let text = String::from_utf8(export(&artifact, format).unwrap()).unwrap();
            assert!(!text.contains("secret") && !text.contains("me\\"), "{format:?} {text}");
            assert!(format == Format::Csv || text.contains(name), "{format:?} {text}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// LC-O3, LC-O4.
    #[test]
    fn no_form_panics_or_holds_a_control_character(artifact in any_artifact()) {
        for format in FORMATS {
            let bytes = export(&artifact, format).unwrap();
            if format == Format::Pdf {
                prop_assert!(bytes.starts_with(b"%PDF-"));
                continue;
            }
            let text = String::from_utf8(bytes).unwrap();
            let text = if format == Format::Csv { text.replace("\r\n", "\n") } else { text };
            let control = text.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t'));
            // JSON leaves what follows ASCII as it is.
            prop_assert!(control.is_none_or(|c| format == Format::Json && c >= '\u{7f}'), "{control:?}");
        }
    }

    /// LC-O6.
    #[test]
    fn lines_of_text_are_short(artifact in any_artifact()) {
        let text = String::from_utf8(export(&artifact, Format::Text).unwrap()).unwrap();
        for line in text.lines() {
            let words = line.trim_start_matches(|c: char| "> -[].:".contains(c) || c.is_ascii_digit());
            let columns = unicode_width::UnicodeWidthStr::width(line);
            prop_assert!(columns <= 80 || words.split(' ').count() <= 2, "{columns}: {line}");
        }
    }
}
