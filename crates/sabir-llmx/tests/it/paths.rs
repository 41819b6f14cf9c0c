//! Paths: which are refused and why, how the others are written, and where links lead.

use std::collections::HashMap;

use expect_test::{Expect, expect};
use proptest::prelude::*;
use sabir_llmx::{
    Link, Links, PathError, PathRef, ResolvedPath, check_paths, codes, escape, parse, paths, quote,
    resolve,
};

/// The rows of a table: a string as LLMX writes it, a tab, and the second column.
fn table(text: &str) -> Vec<(String, &str)> {
    let rows: Vec<_> = text
        .lines()
        .map(|line| {
            let (path, second) = line.split_once('\t').unwrap();
            (unquoted(path), second)
        })
        .collect();
    assert!(rows.len() >= 25);
    rows
}

fn unquoted(literal: &str) -> String {
    let text = format!("X:{{a:{literal}}}");
    let parsed = parse(&text);
    let block = parsed.tree.messages().next().unwrap().all_blocks().next().unwrap();
    block.get("a").unwrap().as_text().unwrap().into_owned()
}

const HOSTILE: &str = include_str!("../data/paths/hostile.txt");
const FRIENDLY: &str = include_str!("../data/paths/friendly.txt");

fn reason(error: &PathError) -> &'static str {
    match error {
        PathError::Empty => "empty",
        PathError::Lines => "lines",
        PathError::Control(_) => "control",
        PathError::Absolute => "absolute",
        PathError::Home => "home",
        PathError::Drive => "drive",
        PathError::Backslash => "backslash",
        PathError::Url => "url",
        PathError::Variable => "variable",
        PathError::LookAlike => "look-alike",
        PathError::Disguised => "disguise",
        PathError::LeavesRoot => "climbs",
        PathError::LinkLeavesRoot { .. }
        | PathError::LinkLoop { .. }
        | PathError::LinkUnreadable { .. }
        | PathError::RelativeRoot => "links",
    }
}

/// The path in every field that holds one.
fn messages(path: &str) -> Vec<String> {
    let path = quote(path);
    let mut messages = vec![
        format!("HEADER:{{f:a,t:b,s:1}}\nCTX:{{p:x,f:[\"ok\",{path}]}}\n"),
        format!("HEADER:{{f:a,t:b,s:1}}\nEND:{{n:\"x\",del:[{path}]}}\n"),
    ];
    for op in ["read", "write", "edit", "search", "rename", "Shell"] {
        messages.push(format!("HEADER:{{f:a,t:b,s:1}}\nACT:{{op:{op},tgt:{path}}}\n"));
    }
    messages
}

/// LX-P1, LX-P2, LX-P3, LX-P4, LX-P5, LX-P6, LX-P7, LX-P8, LX-P9, LX-P10, LX-P11, LX-P12, LX-P13,
/// LX-P14: each row of the table names the rule by its reason.
#[test]
fn hostile_paths_are_refused_in_every_field() {
    let rows = table(HOSTILE);
    assert!(rows.len() >= 50);
    for (path, expected) in rows {
        let error = escape(&path).unwrap_or_else(|| panic!("{path:?} passes"));
        assert_eq!(reason(&error), expected, "{path:?}");
        for text in messages(&path) {
            let parsed = parse(&text);
            let found = check_paths(&parsed.tree);
            assert_eq!(found.len(), 1, "{text}");
            assert!(found[0].is_error());
            let malformed = matches!(expected, "empty" | "lines");
            let code = if malformed { codes::MALFORMED_PATH } else { codes::ESCAPING_PATH };
            assert_eq!(found[0].code, code, "{text}");
            assert!(found[0].help.is_some());
            assert!(!found[0].message.contains(char::is_control), "{:?}", found[0].message);
        }
    }
}

/// LX-P15, LX-P16.
#[test]
fn friendly_paths_pass_and_have_a_canonical_form() {
    for (path, canonical) in table(FRIENDLY) {
        let canonical = unquoted(canonical);
        assert_eq!(escape(&path), None, "{path:?}");
        let read = PathRef::parse(&path).unwrap();
        assert_eq!(read.to_string(), canonical, "{path:?}");
        assert_eq!(PathRef::parse(&canonical).unwrap(), read, "{path:?}");
        assert_eq!(escape(&canonical), None, "{path:?}");
        for text in messages(&path) {
            assert_eq!(check_paths(&parse(&text).tree), [], "{text}");
        }
    }
}

/// LX-P17.
#[test]
fn commands_and_agents_are_no_paths() {
    let checked = |act: &str| {
        let text = format!("HEADER:{{f:a,t:b,s:1}}\n{act}\n");
        check_paths(&parse(&text).tree).len()
    };
    assert_eq!(checked(r#"ACT:{op:shell,tgt:"cat /etc/passwd"}"#), 0);
    assert_eq!(checked(r#"ACT:{op:"spawn",tgt:"~reviewer"}"#), 0);
    assert_eq!(checked(r#"X_ACT:{op:read,tgt:"/etc"}"#), 0);
    assert_eq!(checked(r#"ACT:{tgt:"/etc"}"#), 1);
    assert_eq!(checked(r#"ACT:{op:[shell],tgt:"/etc"}"#), 1);
    assert_eq!(checked(r#"ACT:{op:shell,op:read,tgt:"/etc"}"#), 1);
    assert_eq!(checked(r#"ACT:{op:read,tgt:"a",TGT:"/etc"}"#), 1);
    assert_eq!(checked(r#"ACT:{op:read,tgt:["a",{b:["/etc","^"]}]}"#), 2);
    assert_eq!(checked(r#"CTX:{p:x,f:/etc}"#), 1);
}

#[test]
fn a_finding_names_the_path_and_the_reason() {
    let text = "HEADER:{f:a,t:b,s:1}\nCTX:{p:x,f:[\"a/../../b\",\"x#L0\",\"..\\u202e/x\"]}\n";
    let parsed = parse(text);
    let mut out = String::new();
    for found in check_paths(&parsed.tree) {
        let place = &text[found.span.range()];
        let help = found.help.unwrap();
        out.push_str(&format!("{} {place}: {}\n  {help}\n", found.code, found.message));
    }
    expect![[r#"
        LX301 "a/../../b": the path `a/../../b` may leave the root: it climbs above the root
          write the path from the root of the project: `p:src/main.rs`
        LX302 "x#L0": `x#L0` is no path: `#L` needs a line counted from one, or a first and a last one
          write `#L42` or `#L10-25`
        LX301 "..\u202e/x": the path `..\u{202e}/x` may leave the root: some systems read a part of it as `..` or as nothing
          write the path with plain characters
    "#]].assert_eq(&out);
}

struct Fake(HashMap<&'static str, &'static str>);

impl Links for Fake {
    fn at(&self, path: &str) -> Link {
        match self.0.get(path) {
            Some(&"?") => Link::Unreadable,
            Some(target) => Link::To((*target).to_owned()),
            None => Link::No,
        }
    }
}

/// One line for each path: where it leads, or why not.
fn follow(root: &str, links: &[(&'static str, &'static str)], paths: &[&str], expected: Expect) {
    let links = Fake(links.iter().copied().collect());
    let mut out = String::new();
    for path in paths {
        let line = match resolve(&PathRef::parse(path).unwrap(), root, &links) {
            Ok(ResolvedPath { path, lines: None, .. }) => path,
            Ok(ResolvedPath { path, lines: Some(lines), .. }) => format!("{path} {lines:?}"),
            Err(error) => error.to_string(),
        };
        out.push_str(&format!("{path}: {line}\n"));
    }
    expected.assert_eq(&out);
}

/// LX-P18, LX-P19, LX-P20, LX-P21, LX-P23.
#[test]
fn links_are_followed_and_stay_inside() {
    follow(
        "/r/",
        &[
            ("/r/in", "sub/deep"),
            ("/r/abs", "/r/sub"),
            ("/r/up", ".."),
            ("/r/etc", "/etc"),
            ("/r/far", "a/../../r2"),
            ("/r/alias", "/s/sub"),
            ("/s", "/r"),
            ("/r/one", "two"),
            ("/r/two", "three"),
            ("/r/three", "/x"),
            ("/r/loop", "pool"),
            ("/r/pool", "loop"),
            ("/r/self", "self"),
            ("/r/here", "."),
            ("/r/sub/back", "../../r/sub"),
            ("/r/sub/out", "../../q"),
            ("/r/odd", "?"),
            ("/etc/home", "/r/sub"),
            ("/r/top", "/../../r"),
            ("/r/empty", ""),
        ],
        &[
            "p:a/b#L3-4",
            ".",
            "a/../b",
            "in/x",
            "in/../x",
            "abs/y",
            "up",
            "up/r/x",
            "etc/passwd",
            "far",
            "alias/x",
            "one",
            "loop",
            "self/x",
            "here/here/x",
            "here/..",
            "sub/back/z",
            "sub/out",
            "odd/x",
            "etc/home",
            "top/x",
            "empty",
            "^/r/x",
            "a/../../r/x",
            "in/../..",
        ],
        expect![[r#"
            p:a/b#L3-4: /r/a/b LineRange { start: 3, end: 4 }
            .: /r
            a/../b: /r/b
            in/x: /r/sub/deep/x
            in/../x: /r/sub/x
            abs/y: /r/sub/y
            up: the link `/r/up` leads out, to `..`
            up/r/x: the link `/r/up` leads out, to `..`
            etc/passwd: the link `/r/etc` leads out, to `/etc`
            far: the link `/r/far` leads out, to `a/../../r2`
            alias/x: /r/sub/x
            one: the link `/r/three` leads out, to `/x`
            loop: the links at `/r/loop` lead nowhere
            self/x: the links at `/r/self` lead nowhere
            here/here/x: /r/x
            here/..: it climbs above the root
            sub/back/z: /r/sub/z
            sub/out: the link `/r/sub/out` leads out, to `../../q`
            odd/x: it cannot be told where `/r/odd` leads
            etc/home: the link `/r/etc` leads out, to `/etc`
            top/x: /r/x
            empty: /r
            ^/r/x: it climbs above the root
            a/../../r/x: it climbs above the root
            in/../..: it climbs above the root
        "#]],
    );
    follow(
        "/",
        &[("/a", "/b")],
        &["a/x", "."],
        expect![[r#"
        a/x: /b/x
        .: /
    "#]],
    );
    follow(
        "r",
        &[],
        &["a"],
        expect![[r#"
        a: the root is not absolute
    "#]],
    );
    follow(
        "/r",
        &[("/r/a", "/rr/x")],
        &["a"],
        expect![[r#"
        a: the link `/r/a` leads out, to `/rr/x`
    "#]],
    );
}

/// LX-P21.
#[test]
fn forty_links_are_followed_and_no_more() {
    struct Chain(usize);
    impl Links for Chain {
        fn at(&self, path: &str) -> Link {
            let number: usize = path.strip_prefix("/r/").unwrap().parse().unwrap();
            if number < self.0 { Link::To(format!("{}", number + 1)) } else { Link::No }
        }
    }
    let path = PathRef::parse("0").unwrap();
    assert_eq!(resolve(&path, "/r", &Chain(40)).unwrap().path, "/r/40");
    assert_eq!(
        resolve(&path, "/r", &Chain(41)),
        Err(PathError::LinkLoop { link: "/r/40".to_owned() })
    );
}

/// A path of many components is walked in time that grows with its length.
#[test]
fn long_paths_are_walked() {
    let long = "a/../".repeat(200_000) + "x";
    let path = PathRef::parse(&long).unwrap();
    assert_eq!(resolve(&path, "/r", &Fake(HashMap::new())).unwrap().path, "/r/x");
    let encoded = format!("{}2e", "%25".repeat(200_000));
    assert_eq!(escape(&encoded), None);
}

#[test]
fn every_path_of_a_document_is_listed() {
    let text = "HEADER:{f:a,t:b,s:1}\nCTX:{p:x,f:[\"a\",b.c]}\nACT:{op:read,tgt:\"p:d#L1\"}\n\
                ACT:{op:shell,tgt:\"ls\"}\nEND:{n:x,del:[e]}\n";
    let parsed = parse(text);
    let found: Vec<String> = paths(&parsed.tree).map(|place| place.text.into_owned()).collect();
    assert_eq!(found, ["a", "b.c", "p:d#L1", "e"]);
}

/// Readers that do more to a path than they should.
const CARELESS: [fn(&str) -> String; 9] = [
    decode_once,
    |path| path.replace(['\u{ff0e}', '\u{2024}'], "."),
    |path| path.replace(['\u{2215}', '\u{ff0f}', '\u{ff3c}'], "/"),
    |path| path.replace('\u{2025}', ".."),
    |path| path.replace('\\', "/"),
    |path| path.replace(['\u{200b}', '\u{ad}'], ""),
    |path| path.trim().to_owned(),
    // Parameters of a servlet.
    |path| each(path, |name| name.split(';').next().unwrap().to_owned()),
    // White space at the end of a name, and one dot, as Windows has it.
    |path| {
        each(path, |name| {
            let name = name.trim_end();
            let dots_only = name.bytes().all(|it| it == b'.');
            let name = if dots_only { name } else { name.strip_suffix('.').unwrap_or(name) };
            name.to_owned()
        })
    },
];

fn each(path: &str, name: impl Fn(&str) -> String) -> String {
    path.split('/').map(name).collect::<Vec<_>>().join("/")
}

fn decode_once(path: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = path.as_bytes();
    while let [first, after @ ..] = rest {
        let hex = after.get(..2).and_then(|it| std::str::from_utf8(it).ok());
        let byte = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match byte.filter(|_| *first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// As plain as it gets: does this path climb, or start anywhere but at the root?
fn leaves(path: &str) -> bool {
    let mut depth = 0i64;
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => depth -= 1,
            _ => depth += 1,
        }
        if depth < 0 {
            return true;
        }
    }
    path.starts_with(['/', '\\', '~']) || path.as_bytes().get(1) == Some(&b':')
}

proptest! {
    /// LX-P22.
    #[test]
    fn what_passes_never_leaves(
        pieces in prop::collection::vec(
            prop::sample::select(vec![
                "a", "b", "/", "/", "/", "..", ".", "^", "p:", "#L1", "#L", "~", " ", "\\", "%2e",
                "%2f", "%25", "\u{ff0e}", "\u{2215}", "C:", "$X", "\u{200b}", "...", ";", "..", "é",
            ]),
            0..14,
        ),
    ) {
        let text = pieces.concat();
        if escape(&text).is_none() {
            let path = PathRef::parse(&text).unwrap();
            let names = path.names().unwrap();
            prop_assert!(names.iter().all(|name| !matches!(*name, "" | "." | ".." | "^")));
            let resolved = resolve(&path, "/r", &Fake(HashMap::new())).unwrap().path;
            let inside = if names.is_empty() { String::new() } else { format!("/{}", names.join("/")) };
            prop_assert_eq!(resolved, format!("/r{inside}"));
            let canonical = path.to_string();
            prop_assert_eq!(PathRef::parse(&canonical).unwrap(), path.clone(), "{:?}", text);
            prop_assert_eq!(escape(&canonical), None, "{:?}", text);
        }
    }

    /// LX-P13, LX-P14, LX-P22.
    #[test]
    fn what_passes_stays_for_careless_readers(
        pieces in prop::collection::vec(
            prop::sample::select(vec![
                "a", "/", "/", "/", "..", "..", ".", "%2e", "%2f", "%252e", "%25", "2e", "%5c", "%3b",
                ";", " ", "\u{ff0e}", "\u{2024}", "\u{2025}", "\u{2215}", "\u{ff3c}", "\u{200b}",
                "\u{ad}", "~", "C:", "%EF%BC%8E", "%20",
            ]),
            1..10,
        ),
        readers in prop::collection::vec(0..CARELESS.len(), 1..5),
    ) {
        let text = pieces.concat();
        if escape(&text).is_none() {
            let mut seen = PathRef::parse(&text).unwrap().to_string();
            for reader in readers {
                seen = CARELESS[reader](&seen);
                prop_assert!(!leaves(&seen), "{:?} is {:?}", text, seen);
            }
        }
    }
}
