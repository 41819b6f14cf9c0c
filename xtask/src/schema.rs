//! The committed JSON Schemas: written from the code, and compared with it.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::finding::Finding;

/// One file under `spec/schema` and the function that knows its text.
pub(crate) struct Schema {
    pub file: &'static str,
    pub text: fn() -> String,
}

/// Every schema of the project.
pub(crate) const SCHEMAS: &[Schema] = &[
    Schema { file: "axon.schema.json", text: || format!("{:#}\n", sabir_axon::json::schema()) },
    Schema { file: "llmx.schema.json", text: || format!("{:#}\n", sabir_llmx::json::schema()) },
    Schema {
        file: "llmcp-request.schema.json",
        text: || format!("{:#}\n", sabir_llmcp::request_schema()),
    },
    Schema {
        file: "llmcp-response.schema.json",
        text: || format!("{:#}\n", sabir_llmcp::response_schema(sabir_llmcp::ToolName::ALL)),
    },
    Schema {
        file: "llmcp-tools.schema.json",
        text: || format!("{:#}\n", sabir_llmcp::tools_schema()),
    },
    Schema { file: "ldp-card.schema.json", text: || format!("{:#}\n", sabir_ldp::card_schema()) },
    Schema {
        file: "ldp-envelope.schema.json",
        text: || format!("{:#}\n", sabir_ldp::envelope_schema()),
    },
    Schema { file: "queue-pair.schema.json", text: || format!("{:#}\n", sabir_engine::schema()) },
    Schema { file: "queue-pair.ts", text: sabir_engine::typescript },
];

pub(crate) fn command(root: &Path, args: Vec<OsString>) -> Result<ExitCode> {
    let mut only_check = false;
    let mut parser = lexopt::Parser::from_args(args);
    while let Some(arg) = parser.next()? {
        match arg {
            lexopt::Arg::Long("check") => only_check = true,
            _ => return Err(arg.unexpected().into()),
        }
    }
    if !only_check {
        for file in write(root, SCHEMAS)? {
            println!("wrote {file}");
        }
    }
    // After writing, only a file that nothing generates can be left over.
    let findings = check(root, SCHEMAS)?;
    for finding in &findings {
        println!("{finding}");
    }
    Ok(if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Writes the files that differ and names them.
pub(crate) fn write(root: &Path, schemas: &[Schema]) -> Result<Vec<String>> {
    let mut written = Vec::new();
    for schema in schemas {
        let file = format!("{FOLDER}/{}", schema.file);
        let path = root.join(&file);
        let text = (schema.text)();
        if fs::read_to_string(&path).is_ok_and(|committed| committed == text) {
            continue;
        }
        fs::create_dir_all(root.join(FOLDER)).with_context(|| format!("cannot make {FOLDER}"))?;
        fs::write(&path, text).with_context(|| format!("cannot write {file}"))?;
        written.push(file);
    }
    Ok(written)
}

/// Missing files, files that differ from what the code says, and files that no code stands behind.
pub(crate) fn check(root: &Path, schemas: &[Schema]) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for schema in schemas {
        let file = format!("{FOLDER}/{}", schema.file);
        let Ok(committed) = fs::read_to_string(root.join(&file)) else {
            findings.push(Finding::new(RULE, file, 1, format!("missing; {REMEDY}")));
            continue;
        };
        if let Some(line) = first_difference(&committed, &(schema.text)()) {
            findings.push(Finding::new(
                RULE,
                file,
                line,
                format!("differs from the code; {REMEDY}"),
            ));
        }
    }
    let known: BTreeSet<&str> = schemas.iter().map(|schema| schema.file).collect();
    for name in committed_names(&root.join(FOLDER))? {
        if !known.contains(name.as_str()) {
            let message = "nothing generates this file: delete it or add a row to SCHEMAS";
            findings.push(Finding::new(RULE, format!("{FOLDER}/{name}"), 1, message));
        }
    }
    Ok(findings)
}

fn committed_names(folder: &Path) -> Result<BTreeSet<String>> {
    if !folder.is_dir() {
        return Ok(BTreeSet::new());
    }
    let entries = fs::read_dir(folder).with_context(|| format!("cannot list {FOLDER}"))?;
    let mut names = BTreeSet::new();
    for entry in entries {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.ends_with(".json") {
            names.insert(name);
        }
    }
    Ok(names)
}

/// The first line, from one, at which the texts part.
fn first_difference(left: &str, right: &str) -> Option<usize> {
    if left == right {
        return None;
    }
    // Inclusive splitting, so that a missing last line break is a difference on its line.
    let same = left.split_inclusive('\n').zip(right.split_inclusive('\n'));
    Some(same.take_while(|(left, right)| left == right).count() + 1)
}

const FOLDER: &str = "spec/schema";
const RULE: &str = "schema";
const REMEDY: &str = "run `cargo xtask schema`";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::lines;

    const TABLE: &[Schema] = &[
        Schema { file: "a.json", text: || "{\n  \"a\": 1\n}\n".to_owned() },
        Schema { file: "b.json", text: || "{}\n".to_owned() },
    ];

    #[test]
    fn what_was_written_passes_the_check() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(write(dir.path(), TABLE).unwrap(), ["spec/schema/a.json", "spec/schema/b.json"]);
        assert_eq!(check(dir.path(), TABLE).unwrap(), []);
        assert_eq!(write(dir.path(), TABLE).unwrap(), [] as [&str; 0]);
    }

    #[test]
    fn missing_changed_and_stray_files_are_found() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join(FOLDER);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("a.json"), "{\n  \"a\": 2\n}\n").unwrap();
        fs::write(folder.join("c.json"), "{}\n").unwrap();
        assert_eq!(
            lines(&check(dir.path(), TABLE).unwrap()),
            [
                "spec/schema/a.json:2: differs from the code; run `cargo xtask schema`",
                "spec/schema/b.json:1: missing; run `cargo xtask schema`",
                "spec/schema/c.json:1: nothing generates this file: delete it or add a row to \
                 SCHEMAS",
            ]
        );
    }

    #[test]
    fn without_schemas_nothing_is_needed() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(check(dir.path(), &[]).unwrap(), []);
        assert_eq!(write(dir.path(), &[]).unwrap(), [] as [&str; 0]);
    }

    #[test]
    fn a_missing_last_line_break_is_a_difference() {
        assert_eq!(first_difference("a\nb\n", "a\nb"), Some(2));
        assert_eq!(first_difference("a\n", "a\nb\n"), Some(2));
        assert_eq!(first_difference("a\n", "a\n"), None);
    }
}
