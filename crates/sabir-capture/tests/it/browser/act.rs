//! What the tools do to a page, and every reason why they do not.
#![expect(clippy::unwrap_used, reason = "what cannot be set up fails its test")]

use std::time::Duration;

use sabir_capture::Notice;

use super::{code, handle, look, open, start};
use crate::site::Pages;

const FORM: &str = r#"<!doctype html><title>form</title>
<button onclick="say('clicked ' + event.isTrusted)">Press</button>
<button disabled>Grey</button>
<button aria-disabled="true">Grey too</button>
<button style="pointer-events:none">Ghost</button>
<button id="gone" onclick="this.remove()">Vanish</button>
<button id="shrink">Shrink</button>
<div style="position:relative;width:200px"><button id="under">Under</button>
  <div style="position:absolute;inset:0;background:#eee">cover</div></div>
<label><input type="checkbox" onchange="say('checked ' + checked)"> Agree</label>
<input aria-label="Name" value="old" oninput="say('typed ' + value)">
<input aria-label="Fixed" value="x" readonly>
<input aria-label="Day" type="date" onchange="say('day ' + value)">
<input aria-label="File" type="file">
<textarea aria-label="Words" oninput="say('words ' + value)"></textarea>
<div contenteditable aria-label="Rich" oninput="say('rich ' + textContent)">old</div>
<select aria-label="Colour" onchange="say('chose ' + value)"><option value="r">Red</option>
  <option value="g">Green</option><option value="b" disabled>Blue</option></select>
<p id="out">nothing yet</p>
<script>function say(words) { out.textContent = words }</script>
<div style="height:3000px"></div><button onclick="say('far')">Far down</button>"#;

async fn said(browser: &mut sabir_capture::Browser) -> String {
    let content = browser.content().await.unwrap().html;
    let rest = content.split_once(r#"<p id="out">"#).unwrap().1;
    rest.split_once("</p>").unwrap().0.to_owned()
}

/// LC-B10: a click is one of a mouse, in the middle of the element.
#[tokio::test]
async fn clicks_are_real() {
    let Some((_site, mut browser)) = open(FORM).await else { return };
    let seen = look(&mut browser).await;
    for (name, expected) in
        [("Press", "clicked true"), ("Agree", "checked true"), ("Far down", "far")]
    {
        let acted = browser.click(&handle(&seen, name)).await.unwrap();
        assert!(!acted.is_new_document && !acted.is_new_tab && acted.is_loaded);
        assert_eq!(said(&mut browser).await, expected);
    }
}

/// LC-B11: each way in which an element cannot be clicked has its code.
#[tokio::test]
async fn what_cannot_be_clicked_says_why() {
    let Some((_site, mut browser)) = open(FORM).await else { return };
    let seen = look(&mut browser).await;
    for (name, expected) in [
        ("Grey", "DISABLED"),
        ("Grey too", "DISABLED"),
        ("Ghost", "NOT_INTERACTABLE"),
        ("Under", "BLOCKED_BY_OVERLAY"),
        ("Vanish", "done"),
        ("Vanish", "STALE_HANDLE"),
    ] {
        assert_eq!(code(browser.click(&handle(&seen, name)).await), expected, "{name}");
    }
    for never in ["h0", "h999999", "laika-1", "", "h-1", "h01x", "1"] {
        assert_eq!(code(browser.click(never).await), "NOT_FOUND", "{never}");
    }
}

/// LC-B12: typing replaces what is there, in every kind of field, and sends nothing.
#[tokio::test]
async fn typing_replaces() {
    let Some((_site, mut browser)) = open(FORM).await else { return };
    let seen = look(&mut browser).await;
    for (name, text, expected) in [
        ("Name", "new", "typed new"),
        ("Name", "", "typed "),
        ("Name", "a\nb", "typed a b"),
        ("Words", "a\nb", "words a\nb"),
        ("Rich", "new", "rich new"),
        ("Day", "2026-11-16", "day 2026-11-16"),
    ] {
        browser.type_text(&handle(&seen, name), text).await.unwrap();
        assert_eq!(said(&mut browser).await, expected, "{name}");
    }
    for (name, text, expected) in [
        ("Fixed", "x", "DISABLED"),
        ("Grey", "x", "DISABLED"),
        ("File", "/etc/passwd", "NOT_INTERACTABLE"),
        ("Press", "x", "NOT_INTERACTABLE"),
        ("Day", "someday", "INVALID_ARGUMENTS"),
    ] {
        assert_eq!(code(browser.type_text(&handle(&seen, name), text).await), expected, "{name}");
    }
    let long = "x".repeat(100_001);
    assert_eq!(code(browser.type_text(&handle(&seen, "Name"), &long).await), "INVALID_ARGUMENTS");
}

/// LC-B13: options are chosen by value or by words.
#[tokio::test]
async fn options_are_chosen() {
    let Some((_site, mut browser)) = open(FORM).await else { return };
    let seen = look(&mut browser).await;
    let colour = handle(&seen, "Colour");
    for (value, expected) in [("g", "chose g"), ("Red", "chose r")] {
        browser.select(&colour, value).await.unwrap();
        assert_eq!(said(&mut browser).await, expected);
    }
    assert_eq!(code(browser.select(&colour, "pink").await), "NOT_FOUND");
    assert_eq!(code(browser.select(&colour, "b").await), "DISABLED");
    assert_eq!(code(browser.select(&handle(&seen, "Name"), "g").await), "NOT_INTERACTABLE");
}

/// LC-B14: a page, or what scrolls in the middle of it.
#[tokio::test]
async fn pages_scroll() {
    let inner = "<body style='margin:0;overflow:hidden;height:100vh'><div style='height:100vh;\
        overflow:auto'><div style='height:5000px'>long</div></div>";
    let site = Pages::default().html("/", FORM).html("/inner", inner).serve().await;
    let Some(mut browser) = start(&site).await else { return };
    for path in ["/", "/inner"] {
        browser.navigate(&site.url(path)).await.unwrap();
        let down = browser.scroll(700.0).await.unwrap();
        assert!(down.top == 700 && down.most > 1000, "{path}: {down:?}");
        assert_eq!(browser.scroll(-1e300).await.unwrap().top, 0);
        let end = browser.scroll(1e300).await.unwrap();
        assert_eq!(end.top, end.most);
        assert_eq!(code(browser.scroll(f64::NAN).await), "INVALID_ARGUMENTS");
    }
}

/// LC-B15: a handle is of one look at one document.
#[tokio::test]
async fn handles_go_stale() {
    let site = Pages::default()
        .html("/", "<a href=/next>next</a>")
        .html("/next", "<a href=/>back</a><a href=#x>inside</a>")
        .serve()
        .await;
    let Some(mut browser) = start(&site).await else { return };
    browser.navigate(&site.url("/")).await.unwrap();
    let first = handle(&look(&mut browser).await, "next");
    let second = handle(&look(&mut browser).await, "next");
    assert_ne!(first, second);
    // After another look, after a navigation, and after a way back to the very same page.
    assert_eq!(code(browser.click(&first).await), "STALE_HANDLE");
    let acted = browser.click(&second).await.unwrap();
    assert_eq!((acted.url.as_str(), acted.is_new_document), (site.url("/next").as_str(), true));
    assert_eq!(code(browser.click(&second).await), "STALE_HANDLE");
    browser.back().await.unwrap();
    assert_eq!(code(browser.click(&second).await), "STALE_HANDLE");
    assert_eq!(code(browser.type_text(&second, "x").await), "STALE_HANDLE");
    assert_eq!(code(browser.select(&second, "x").await), "STALE_HANDLE");
    // A move inside of the document leaves its handles alone.
    browser.forward().await.unwrap();
    let inside = handle(&look(&mut browser).await, "inside");
    for _ in 0..2 {
        let acted = browser.click(&inside).await.unwrap();
        assert!(!acted.is_new_document && acted.url.ends_with("#x"), "{acted:?}");
    }
}

/// LC-B16: dialogs are answered with no, and told; leaving a page is not up to the page.
#[tokio::test]
async fn dialogs_are_dismissed() {
    let html = "<button onclick=\"alert('a'); this.textContent = confirm('b') + ' ' + prompt('c')\">\
        ask</button><script>onbeforeunload = (event) => event.preventDefault()</script>";
    let site = Pages::default().html("/", html).html("/next", "next").serve().await;
    let Some(mut browser) = start(&site).await else { return };
    browser.navigate(&site.url("/")).await.unwrap();
    let ask = handle(&look(&mut browser).await, "ask");
    let acted = browser.click(&ask).await.unwrap();
    let kinds: Vec<_> = acted
        .notices
        .iter()
        .map(|notice| match notice {
            Notice::Dialog { kind, message } => (kind.as_str(), message.as_str()),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(kinds, [("alert", "a"), ("confirm", "b"), ("prompt", "c")]);
    assert_eq!(look(&mut browser).await.text, "false null");
    let acted = browser.navigate(&site.url("/next")).await.unwrap();
    assert!(matches!(&acted.notices[..], [Notice::Dialog { kind, .. }] if kind == "beforeunload"));
}

/// LC-B17: downloads do not happen, permissions are not given.
#[tokio::test]
async fn downloads_and_permissions_are_denied() {
    let html = "<a href=/file download>get</a><p id=out>...</p><script>
        navigator.geolocation.getCurrentPosition(() => out.textContent = 'here',
          (error) => Notification.requestPermission().then((it) => out.textContent = error.code + it))
        </script>";
    let site = Pages::default()
        .html("/", html)
        .answer("/file", |_| {
            axum::response::Response::builder()
                .header("content-type", "application/octet-stream")
                .header("content-disposition", "attachment; filename=virus.bin")
                .body(axum::body::Body::from("bytes"))
                .unwrap()
        })
        .serve()
        .await;
    let Some(mut browser) = start(&site).await else { return };
    browser.navigate(&site.url("/")).await.unwrap();
    let seen = look(&mut browser).await;
    let acted = browser.click(&handle(&seen, "get")).await.unwrap();
    let found = acted
        .notices
        .iter()
        .chain(&look(&mut browser).await.notices)
        .any(|notice| matches!(notice, Notice::Download { name, .. } if name == "virus.bin"));
    assert!(found, "{acted:?}");
    let answered = async {
        loop {
            let text = look(&mut browser).await.text;
            if !text.contains("...") {
                return text;
            }
        }
    };
    let text = tokio::time::timeout(Duration::from_secs(60), answered).await.unwrap();
    assert!(text.contains("1denied"), "{text}");
}
