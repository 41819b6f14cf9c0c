//! What people look at first is right: every example is valid without a warning, and where a notation
//! has one strict form, in it.

use std::fs;

use crate::process::run;

#[test]
fn examples_are_valid_and_formatted() {
    for (notation, at_least) in [("axon", 1), ("llmx", 4)] {
        let folder = format!("{}/../../examples/{notation}", env!("CARGO_MANIFEST_DIR"));
        let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        // What a model wrote is an example too, and has another ending.
        let is_ours = |path: &std::path::PathBuf| path.extension().unwrap() == notation;
        let files: Vec<String> =
            paths.filter(is_ours).map(|path| path.to_str().unwrap().to_owned()).collect();
        assert!(files.len() >= at_least, "{notation}: {files:?}");
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        let checked = run(&[&[notation, "check"], &files[..]].concat(), "");
        assert_eq!(checked.code, 0, "{}", checked.stderr);
        assert!(checked.stderr.ends_with(": valid\n"), "{}", checked.stderr);
        if notation == "llmx" {
            let formatted = run(&[&[notation, "fmt", "--check"], &files[..]].concat(), "");
            assert_eq!((formatted.code, formatted.stdout.as_str()), (0, ""));
        }
    }
}
