//! One folder for each scenario: the files before, the patch, and the files after or the error.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use expect_test::expect_file;
use sabir_engine::patch::{MemoryFiles, PatchPath, parse, plan};

/// Which scenarios show which rule.
const SHOWN: &[(&str, &[&str])] = &[
    ("QP-P1", &["no_begin", "no_end", "text_after_end", "mark_before_the_patch"]),
    ("QP-P2", &["here_document_wrapper"]),
    (
        "QP-P3",
        &["padded_markers", "padded_marker_in_a_chunk_is_text", "blank_line_between_operations"],
    ),
    ("QP-P4", &["empty_patch", "empty_update", "empty_chunk"]),
    ("QP-P5", &["unknown_marker", "stray_line", "stray_move", "chunk_line_without_sign"]),
    ("QP-P6", &["nul_in_patch"]),
    (
        "QP-P7",
        &[
            "path_absolute",
            "path_drive",
            "path_climbs",
            "path_backslash",
            "path_empty",
            "path_dot",
            "path_folder",
            "path_in_a_move",
            "path_normalised",
        ],
    ),
    (
        "QP-P8",
        &[
            "add_file",
            "add_makes_folders",
            "add_overwrites",
            "add_empty_file",
            "add_line_without_plus",
            "add_blank_line_without_plus",
        ],
    ),
    ("QP-P9", &["delete_file", "delete_missing"]),
    (
        "QP-P10",
        &[
            "update_one_line",
            "update_missing",
            "several_chunks",
            "chunks_out_of_order",
            "lines_missing",
            "remove_everything",
        ],
    ),
    ("QP-P11", &["first_chunk_without_at", "second_chunk_needs_at", "bare_empty_line_is_kept"]),
    (
        "QP-P12",
        &["context_line", "several_context_lines", "context_missing", "context_of_line_numbers"],
    ),
    (
        "QP-P13",
        &["match_exact_first", "match_trailing_space", "match_trimmed", "match_typographic"],
    ),
    ("QP-P14", &["match_trailing_space", "match_trimmed", "match_typographic"]),
    ("QP-P15", &["end_of_file", "end_of_file_elsewhere"]),
    ("QP-P16", &["last_empty_line_dropped", "last_removed_empty_line_dropped"]),
    (
        "QP-P17",
        &[
            "insert_only_goes_to_the_end",
            "insert_only_goes_behind_its_context",
            "insert_into_empty_file",
            "insert_only_does_not_end_the_search",
        ],
    ),
    ("QP-P18", &["crlf_file_stays_crlf", "mixed_line_ends_stay_mixed"]),
    ("QP-P31", &["mark_of_a_file_stays"]),
    (
        "QP-P19",
        &["missing_final_newline_stays_missing", "missing_final_newline_moves_to_the_new_end"],
    ),
    ("QP-P20", &["crlf_patch_on_lf_file", "carriage_return_in_an_lf_patch"]),
    ("QP-P21", &["move", "move_only", "move_overwrites", "move_onto_itself"]),
    ("QP-P22", &["several_operations_on_one_file", "update_after_delete"]),
    ("QP-P23", &["one_failure_fails_all"]),
    ("QP-P24", &["nul_in_file", "nul_in_deleted_file", "not_utf8"]),
    ("QP-P25", &["path_is_a_folder", "path_below_a_file", "file_and_folder"]),
];

struct Scenario {
    name: String,
    dir: PathBuf,
}

fn scenarios() -> Vec<Scenario> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/patch");
    let mut scenarios: Vec<Scenario> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| {
            let dir = entry.unwrap().path();
            let name = dir.file_name().unwrap().to_str().unwrap();
            let (_, name) = name.split_once('_').unwrap();
            Scenario { name: name.to_owned(), dir }
        })
        .collect();
    scenarios.sort_by(|one, other| one.dir.cmp(&other.dir));
    scenarios
}

/// All files below a folder; a folder that is not there holds none.
fn tree(dir: &Path) -> BTreeMap<PatchPath, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![dir.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let inside = path.strip_prefix(dir).unwrap().to_str().unwrap();
            files.insert(PatchPath::new(inside).unwrap(), fs::read(&path).unwrap());
        }
    }
    files
}

/// The tree after the patch, or the error with its help.
fn applied(scenario: &Scenario) -> Result<BTreeMap<PatchPath, Vec<u8>>, String> {
    let patch = fs::read_to_string(scenario.dir.join("patch.txt")).unwrap();
    let patch = parse(&patch).map_err(|error| format!("{error}\nhelp: {}\n", error.help()))?;
    let mut files = tree(&scenario.dir.join("input"));
    let plan = plan(&patch, &MemoryFiles(files.clone()))
        .map_err(|error| format!("{error}\nhelp: {}\n", error.help()))?;
    for file in plan.files() {
        let before = file.before.as_ref().map(|text| text.as_bytes().to_vec());
        assert_eq!(files.get(&file.path).cloned(), before, "{}", file.path);
        match &file.after {
            Some(text) => drop(files.insert(file.path.clone(), text.as_bytes().to_vec())),
            None => drop(files.remove(&file.path)),
        }
    }
    Ok(files)
}

#[test]
fn every_scenario_ends_as_its_folder_says() {
    for scenario in scenarios() {
        let name = &scenario.name;
        let (error, expected) = (scenario.dir.join("error.txt"), scenario.dir.join("expected"));
        match applied(&scenario) {
            Ok(files) => {
                assert!(!error.exists(), "{name} should fail");
                assert_eq!(files, tree(&expected), "{name}");
            }
            Err(text) => {
                assert!(error.exists(), "{name} should not fail: {text}");
                assert!(!expected.exists(), "{name} expects both files and an error");
                expect_file![error].assert_eq(&text);
            }
        }
    }
}

#[test]
fn every_scenario_shows_a_rule() {
    let scenarios = scenarios();
    assert!(scenarios.len() >= 40);
    let there: BTreeSet<&str> = scenarios.iter().map(|scenario| scenario.name.as_str()).collect();
    let shown: BTreeSet<&str> = SHOWN.iter().flat_map(|(_, names)| *names).copied().collect();
    assert_eq!(there, shown);
}
