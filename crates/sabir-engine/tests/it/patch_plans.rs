//! What a plan says of itself: its summary, its paths, and the diffs that people are shown.

use std::collections::BTreeMap;

use expect_test::{Expect, expect};
use sabir_engine::patch::{
    Files, MemoryFiles, PatchPath, Plan, PlanErrorKind, ReadFailure, parse, plan,
};

fn files(files: &[(&str, &str)]) -> MemoryFiles {
    let file =
        |(path, text): &(&str, &str)| (PatchPath::new(path).unwrap(), text.as_bytes().to_vec());
    MemoryFiles(files.iter().map(file).collect())
}

fn planned(before: &[(&str, &str)], patch: &str) -> Plan {
    let patch = parse(&format!("*** Begin Patch\n{patch}*** End Patch\n")).unwrap();
    plan(&patch, &files(before)).unwrap()
}

fn check_diff(before: &[(&str, &str)], patch: &str, expected: Expect) {
    expected.assert_eq(&planned(before, patch).unified_diff());
}

/// QP-P27: the summary names each file once for each thing done to it.
#[test]
fn the_summary_lists_added_modified_and_deleted_files() {
    let plan = planned(
        &[("m", "a\n"), ("d", "a\n"), ("from", "a\n")],
        "*** Delete File: d\n*** Update File: m\n@@\n-a\n+b\n*** Add File: z\n+z\n\
         *** Update File: m\n@@\n-b\n+c\n*** Update File: from\n*** Move to: to\n\
         *** Add File: a/b\n+b\n",
    );
    expect![[r#"
        Success. Updated the following files:
        A z
        A a/b
        M m
        M to
        D d
    "#]]
    .assert_eq(&plan.summary());
    let paths: Vec<&str> = plan.paths().map(PatchPath::as_str).collect();
    assert_eq!(paths, ["d", "m", "z", "from", "to", "a/b"]);
}

/// QP-P28: a plan as it goes over the wire.
#[test]
fn changes_are_the_wire_type() {
    let plan = planned(
        &[("m", "a\nb\n"), ("d", "x\n"), ("from", "a\n"), ("one", "1\n"), ("two", "2\n")],
        "*** Add File: n\n+new\n*** Delete File: d\n*** Update File: m\n@@\n-b\n+c\n\
         *** Update File: from\n*** Move to: to\n@@\n-a\n+A\n\
         *** Update File: one\n*** Move to: two\n",
    );
    expect![[r#"
        {
          "d": {
            "delete": {
              "content": "x\n"
            }
          },
          "from": {
            "update": {
              "unified_diff": "@@ -1 +1 @@\n-a\n+A\n",
              "move_path": "to"
            }
          },
          "m": {
            "update": {
              "unified_diff": "@@ -1,2 +1,2 @@\n a\n-b\n+c\n",
              "move_path": null
            }
          },
          "n": {
            "add": {
              "content": "new\n"
            }
          },
          "one": {
            "delete": {
              "content": "1\n"
            }
          },
          "two": {
            "update": {
              "unified_diff": "@@ -1 +1 @@\n-2\n+1\n",
              "move_path": null
            }
          }
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&plan.changes()).unwrap());
}

/// QP-P28: a file that ends as it began is no change.
#[test]
fn what_ends_as_it_began_is_no_change() {
    let plan = planned(
        &[("x", "a\n")],
        "*** Update File: x\n@@\n-a\n+b\n*** Update File: x\n@@\n-b\n+a\n\
         *** Add File: y\n+y\n*** Delete File: y\n",
    );
    assert_eq!(plan.changes(), BTreeMap::new());
    assert_eq!(plan.unified_diff(), "");
}

/// QP-P28: a move in two steps is one move.
#[test]
fn a_move_by_way_of_another_name_is_one_move() {
    check_diff(
        &[("a", "1\n2\n")],
        "*** Update File: a\n*** Move to: b\n*** Update File: b\n*** Move to: c\n@@\n-2\n+3\n",
        expect![[r#"
            --- a/a
            +++ b/c
            @@ -1,2 +1,2 @@
             1
            -2
            +3
        "#]],
    );
}

/// QP-P28: the diff of all files, and the line end that is missing.
#[test]
fn diffs_show_names_and_missing_line_ends() {
    check_diff(
        &[("x", "a\nb"), ("gone", "g\n")],
        "*** Update File: x\n@@\n-b\n+c\n*** Add File: n\n+new\n*** Delete File: gone\n",
        expect![[r#"
            --- a/x
            +++ b/x
            @@ -1,2 +1,2 @@
             a
            -b
            \ No newline at end of file
            +c
            \ No newline at end of file
            --- /dev/null
            +++ b/n
            @@ -0,0 +1 @@
            +new
            --- a/gone
            +++ /dev/null
            @@ -1 +0,0 @@
            -g
        "#]],
    );
}

/// Files behind links: `link` and `dir/link` lead to `real`, and `folder` to `dir`.
struct Linked(MemoryFiles);

impl Files for Linked {
    fn locate(&self, path: &PatchPath) -> Result<PatchPath, ReadFailure> {
        let real = match path.as_str() {
            "link" | "dir/link" | "folder/link" => "real",
            "folder" => "dir",
            "folder/x" => "dir/x",
            "out" => return Err(ReadFailure::Outside),
            other => other,
        };
        Ok(PatchPath::new(real).unwrap())
    }

    fn read(&self, path: &PatchPath) -> Result<Option<Vec<u8>>, ReadFailure> {
        self.0.read(path)
    }
}

fn linked(patch: &str) -> Result<Vec<(String, Option<String>)>, PlanErrorKind> {
    let patch = parse(&format!("*** Begin Patch\n{patch}*** End Patch\n")).unwrap();
    let linked = Linked(files(&[("real", "a\n"), ("dir/x", "x\n")]));
    let plan = plan(&patch, &linked).map_err(|error| error.kind)?;
    let after = |text: &Option<std::sync::Arc<str>>| text.as_ref().map(ToString::to_string);
    Ok(plan.files().iter().map(|file| (file.path.to_string(), after(&file.after))).collect())
}

/// QP-P26: a file behind two names is one file.
#[test]
fn links_are_followed_to_the_file_they_lead_to() {
    let after = linked(
        "*** Update File: link\n@@\n-a\n+b\n*** Update File: real\n@@\n-b\n+c\n\
         *** Update File: dir/link\n@@\n-c\n+d\n",
    );
    assert_eq!(after, Ok(vec![("real".to_owned(), Some("d\n".to_owned()))]));
    let deleted = linked("*** Delete File: folder/x\n");
    assert_eq!(deleted, Ok(vec![("dir/x".to_owned(), None)]));
}

/// QP-P26: a link itself is neither removed nor moved, and none leads out.
#[test]
fn links_are_not_removed() {
    let target = PatchPath::new("real").unwrap();
    let is_link = Err(PlanErrorKind::IsLink { target });
    assert_eq!(linked("*** Delete File: link\n"), is_link);
    assert_eq!(linked("*** Delete File: dir/link\n"), is_link);
    assert_eq!(linked("*** Delete File: folder/link\n"), is_link);
    assert_eq!(linked("*** Update File: link\n*** Move to: other\n"), is_link);
    let outside = Err(PlanErrorKind::Read(ReadFailure::Outside));
    assert_eq!(linked("*** Add File: out\n+x\n"), outside);
    assert_eq!(linked("*** Update File: real\n*** Move to: out\n"), outside);
}
