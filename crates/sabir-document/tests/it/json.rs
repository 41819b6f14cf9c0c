//! Trees and JSON: what is written is read, and what does not belong is named with its place.

#![expect(clippy::disallowed_methods, reason = "tests read the committed files")]
#![expect(clippy::unwrap_used, reason = "a case that cannot be read fails the test")]

use expect_test::{Expect, expect};
use proptest::prelude::*;
use sabir_base::json::Json;
use sabir_document::{Block, Document, Inline, MAX_JSON_DEPTH, document_schema};

use crate::generate::document;

fn read(text: &str) -> Result<Document, String> {
    let json = Json::read(text, MAX_JSON_DEPTH).map_err(|error| error.to_string())?;
    let mut problems = Vec::new();
    let document = Document::read(json.top(), &mut problems);
    let problems: Vec<String> = problems
        .iter()
        .map(|it| {
            format!("{it}{}", it.help.as_ref().map(|help| format!(" ({help})")).unwrap_or_default())
        })
        .collect();
    assert_eq!(document.is_none(), !problems.is_empty());
    document.ok_or_else(|| problems.join("\n"))
}

fn check(children: &str, expected: Expect) {
    let text = format!(r#"{{"type":"doc","children":[{children}]}}"#);
    expected.assert_eq(&read(&text).unwrap_err());
}

/// LC-D8.
#[test]
fn every_key_and_every_type_is_checked() {
    let all = r#"
        {"type":"heading","level":7,"children":[]},
        {"type":"heading","level":"1","children":[]},
        {"type":"heading","level":1.0,"children":{}},
        {"type":"paragraph","children":[],"style":"x"},
        {"type":"paragraph"},
        {"children":[]},
        7,
        {"type":"image","src":"x"},
        {"type":"text","text":"x"},
        {"type":"list_item","children":[]},
        {"type":"list","ordered":"yes","items":[{"type":"paragraph","children":[]}, 1]},
        {"type":"code_block","language":null,"text":1},
        {"type":"thematic_break","children":[]}
    "#;
    check(
        all,
        expect![[r#"
        at /children/0/level: the level of a heading is a number from 1 to 6
        at /children/1/level: the level of a heading is a number from 1 to 6
        at /children/2/level: the level of a heading is a number from 1 to 6
        at /children/2/children: expected an array, found an object
        at /children/3/style: the key "style" does not belong here (keys here: type, children)
        at /children/4: a paragraph needs the key "children"
        at /children/5: a node needs the key "type"
        at /children/6: expected an object, found a number
        at /children/7: there is no node "image" (nodes here: heading, paragraph, list, blockquote, code_block, table, thematic_break)
        at /children/8: "text" stands where a block belongs (nodes here: heading, paragraph, list, blockquote, code_block, table, thematic_break)
        at /children/9: "list_item" stands where a block belongs (nodes here: heading, paragraph, list, blockquote, code_block, table, thematic_break)
        at /children/10/ordered: expected a boolean, found a string
        at /children/10/items/0: "paragraph" stands where a list_item belongs
        at /children/10/items/1: expected an object, found a number
        at /children/11/language: expected a string, found null
        at /children/11/text: expected a string, found a number
        at /children/12/children: the key "children" does not belong here (keys here: type)"#]],
    );
}

/// LC-D8.
#[test]
fn inlines_are_checked() {
    let inlines = r#"{"type":"paragraph","children":[
        {"type":"text","text":["x"]},
        {"type":"paragraph","children":[]},
        {"type":"strong","children":"x"},
        {"type":"code","text":"x","lang":"rust"},
        {"type":"link","href":"javascript:alert(1)","children":[]},
        {"type":"link","href":"/a","children":[]},
        {"type":"link","children":[{"type":"html"}]},
        {"type":"cite","ref":0},
        {"type":"cite","ref":"1"},
        {"type":"cite","ref":4294967296}
    ]}"#;
    check(
        inlines,
        expect![[r#"
        at /children/0/children/0/text: expected a string, found an array
        at /children/0/children/1: "paragraph" stands where an inline belongs (nodes here: text, strong, em, code, link, cite)
        at /children/0/children/2/children: expected an array, found a string
        at /children/0/children/3/lang: the key "lang" does not belong here (keys here: type, text)
        at /children/0/children/4/href: a link leads to an address of http, https or mailto (leave the link out, and keep its text)
        at /children/0/children/5/href: a link leads to an address of http, https or mailto (leave the link out, and keep its text)
        at /children/0/children/6: a link needs the key "href"
        at /children/0/children/6/children/0: there is no node "html" (nodes here: text, strong, em, code, link, cite)
        at /children/0/children/7/ref: the ref of a cite is the number of a citation, from 1
        at /children/0/children/8/ref: the ref of a cite is the number of a citation, from 1
        at /children/0/children/9/ref: the ref of a cite is the number of a citation, from 1"#]],
    );
}

/// LC-D9.
#[test]
fn tables_are_not_ragged() {
    let tables = r#"
        {"type":"table","header":[],"rows":[]},
        {"type":"table","header":["a","b"],"rows":[["1"],["1","2"],["1","2","3"],7]},
        {"type":"table","header":["a"],"rows":[],"align":["middle","left"]},
        {"type":"table","header":[1],"rows":{}}
    "#;
    check(
        tables,
        expect![[r#"
        at /children/0: a table has at least one column
        at /children/1/rows/0: a row of 1 cells in a table of 2 columns
        at /children/1/rows/2: a row of 3 cells in a table of 2 columns
        at /children/1/rows/3: expected an array, found a number
        at /children/2/align/0: there is no alignment "middle" (one of none, left, center, right)
        at /children/2/align: one alignment for each of 1 columns is needed
        at /children/3/header/0: a cell is an array of inlines or a string, not a number
        at /children/3/rows: expected an array, found an object"#]],
    );
    let cells = r#"{"type":"doc","children":[{"type":"table","header":["a",[]],"rows":[[[{"type":"text","text":"b"}],"c"]],"align":["left","none"]}]}"#;
    expect![[r#"
        | a |  |
        | :-- | --- |
        | b | c |
    "#]]
    .assert_eq(&read(cells).unwrap().to_markdown());
}

#[test]
fn the_root_is_a_doc() {
    assert_eq!(
        read(r#"{"type":"paragraph","children":[]}"#).unwrap_err(),
        r#"the root of a document is "doc", not "paragraph""#
    );
    assert_eq!(read("[]").unwrap_err(), "expected an object, found an array");
}

/// LC-D10.
#[test]
fn inlines_in_items_and_quotes_make_paragraphs() {
    let text = r#"{"type":"doc","children":[
        {"type":"list","ordered":false,"items":[{"type":"list_item","children":[
            {"type":"text","text":"a "}, {"type":"strong","children":[{"type":"text","text":"b"}]},
            {"type":"paragraph","children":[{"type":"text","text":"c"}]},
            {"type":"text","text":"d"}
        ]}]},
        {"type":"blockquote","children":[{"type":"text","text":"e"}]}
    ]}"#;
    expect![[r#"
        - a **b**

          c

          d

        > e
    "#]]
    .assert_eq(&read(text).unwrap().to_markdown());
}

#[test]
fn the_schema_defines_every_node() {
    let schema = document_schema();
    let text = schema.to_string();
    let definitions = schema["$defs"].as_object().unwrap();
    for (name, _) in definitions {
        assert!(text.contains(&format!("\"#/$defs/{name}\"")), "nothing refers to {name}");
    }
    for reference in text.split("#/$defs/").skip(1) {
        let name = reference.split('"').next().unwrap();
        assert!(definitions.contains_key(name), "{name}");
    }
}

/// LC-D13.
#[test]
fn the_committed_schema_is_current() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../spec/schema/document.schema.json");
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text == format!("{:#}\n", document_schema()), "run `cargo xtask schema`");
}

proptest! {
    /// LC-D13.
    #[test]
    fn the_schema_accepts_what_is_written(document in document()) {
        let schema = jsonschema::validator_for(&document_schema()).unwrap();
        let value = document.normalised().to_json();
        prop_assert!(schema.is_valid(&value), "{value}");
    }

    /// LC-D8.
    #[test]
    fn what_is_written_is_read(document in document()) {
        // The reader refuses unsafe links and a zero, which a tree can hold.
        let document = document.normalised();
        prop_assert_eq!(read(&document.to_json().to_string()), Ok(document));
    }

    #[test]
    fn any_tree_is_read_or_refused(document in document()) {
        let has_bad = |text: String| text.contains("reference: 0") || text.contains("Link");
        if let Err(problems) = read(&document.to_json().to_string()) {
            prop_assert!(has_bad(format!("{document:?}")), "{}", problems);
        }
    }
}

/// What a model writes by hand reads as the tree that it means.
#[test]
fn a_document_by_hand() {
    let text = r#"{"type":"doc","children":[{"type":"paragraph","children":[{"type":"text","text":"x"},{"type":"cite","ref":1}]}]}"#;
    let children = vec![Inline::text("x"), Inline::Cite { reference: 1 }];
    assert_eq!(read(text), Ok(Document { children: vec![Block::Paragraph { children }] }));
}
