//! Names of files from titles that mean harm.

use proptest::prelude::*;
use sabir_export::{Format, file_name};

/// LC-O16.
#[test]
fn titles_become_names() {
    for (title, name) in [
        ("Ports: executive brief", "ports-executive-brief.pdf"),
        ("Größe & Maß", "größe-maß.pdf"),
        ("report.pdf", "report.pdf"),
        ("report.pdf.exe", "report-pdf-exe.pdf"),
        ("../../etc/passwd", "etc-passwd.pdf"),
        ("..", "artifact.pdf"),
        ("", "artifact.pdf"),
        (".bashrc", "bashrc.pdf"),
        ("-rf", "rf.pdf"),
        ("C:\\a\\b", "c-a-b.pdf"),
        ("a\u{202e}fdp.exe", "a-fdp-exe.pdf"),
        ("a\0b\nc", "a-b-c.pdf"),
        ("CON", "artifact-con.pdf"),
        ("nul.pdf", "artifact-nul.pdf"),
        ("com1", "artifact-com1.pdf"),
        ("LPT¹", "artifact-lpt¹.pdf"),
        ("com0", "com0.pdf"),
        ("console", "console.pdf"),
        ("日本語", "日本語.pdf"),
        ("😀", "artifact.pdf"),
    ] {
        assert_eq!(file_name(title, Format::Pdf), name, "{title:?}");
    }
}

proptest! {
    /// LC-O16.
    #[test]
    fn every_name_is_safe(title in any::<String>()) {
        let name = file_name(&title, Format::Csv);
        let stem = name.strip_suffix(".csv").unwrap();
        prop_assert!(!stem.is_empty() && name.len() <= 140, "{name:?}");
        prop_assert!(!stem.starts_with(['-', '.']), "{name:?}");
        let is_fine = |c: char| c.is_alphanumeric() || c == '-' || c == '_' || c == '\u{307}';
        prop_assert!(stem.chars().all(is_fine), "{name:?}");
    }
}
