//! What the tools see: words, parts, handles, signals.

use sabir_capture::ObserveOptions;

use super::{code, find, handle, look, open, start};
use crate::site::Pages;

const FORUM: &str = r#"<!doctype html><title>A  forum
of words</title>
<nav><a href="/home">Home page link</a></nav>
<main>
<h1>The first heading</h1><p>A paragraph of <b>some</b> words.<br>Second line.</p>
<h2 role="heading">Another one</h2>
<ul>
  <li><h3><a href="/story/1">The first story of the day</a></h3> with a snippet, 12 comments</li>
  <li><a href="/story/2">The second story of the day</a> and its own snippet</li>
</ul>
<div class="comment"><span class="author">ann</span> <time>2 hours ago</time>
  <span class="score">5 points</span><div class="comment-body">What I think.</div>
  <div class="comment"><span class="author">bob</span><div class="comment-body">What I answer.</div></div>
</div>
<form>
  <label for="mail">Your address</label><input id="mail" type="email" name="mail" autocomplete="email" value="secret@example.com">
  <input type="hidden" name="token" value="abc">
  <select aria-label="Colour"><option value="r">Red</option><option value="g">Green</option></select>
  <textarea placeholder="Your words">private draft</textarea>
  <button disabled>Send it</button>
</form>
</main>
<footer>The foot of the page</footer>"#;

/// LC-B1, LC-B2: the parts of a page, each with its handle.
#[tokio::test]
async fn a_page_is_seen_in_its_parts() {
    let Some((site, mut browser)) = open(FORUM).await else { return };
    let seen = look(&mut browser).await;
    assert_eq!(
        (seen.url.as_str(), seen.title.as_str()),
        (site.url("/").as_str(), "A forum of words")
    );
    assert!(seen.text.contains("A paragraph of some words.\nSecond line."), "{}", seen.text);
    assert!(seen.text.contains("The foot of the page"));
    let outline: Vec<_> = seen.outline.iter().map(|it| (it.level, it.text.as_str())).collect();
    assert_eq!(
        outline,
        [(1, "The first heading"), (2, "Another one"), (3, "The first story of the day")]
    );
    let primary = seen.primary.as_ref().unwrap();
    assert_eq!(primary.tag, "main");
    assert!(primary.text.starts_with("The first heading A paragraph"));
    let items: Vec<_> = seen.items.iter().map(|it| (it.title.as_str(), it.comment_count)).collect();
    let titles = ["The first story of the day", "The second story of the day"];
    assert_eq!(items, [(titles[0], Some(12)), (titles[1], None)]);
    assert_eq!(seen.items[0].url, site.url("/story/1").as_str());
    assert_eq!(seen.items[1].snippet, "and its own snippet");
    let comments: Vec<_> =
        seen.comments.iter().map(|it| (it.author.as_str(), it.depth, it.text.as_str())).collect();
    assert_eq!(comments, [("ann", 0, "What I think."), ("bob", 1, "What I answer.")]);
    assert_eq!(
        (seen.comments[0].age.as_str(), seen.comments[0].score.as_str()),
        ("2 hours ago", "5 points")
    );
    assert!(seen.blocks.iter().any(|it| it.tag == "p" && it.text.starts_with("A paragraph")));

    let mail = find(&seen, "Your address");
    assert_eq!(mail.role, "textbox");
    assert_eq!(mail.input_type.as_deref(), Some("email"));
    assert_eq!((mail.name.as_deref(), mail.autocomplete.as_deref()), (Some("mail"), Some("email")));
    assert_eq!(find(&seen, "Home page link").href.as_deref(), Some(site.url("/home").as_str()));
    let colours: Vec<_> =
        find(&seen, "Colour").options.iter().map(|it| it.value.as_str()).collect();
    assert_eq!(colours, ["r", "g"]);
    assert!(find(&seen, "Send it").is_disabled);
    assert_eq!(find(&seen, "Your words").role, "textbox");
    assert_eq!(seen.elements.len(), 7, "{:#?}", seen.elements);
}

/// LC-B3: what a field holds is not told, and hidden fields are not seen.
#[tokio::test]
async fn what_fields_hold_is_private() {
    let Some((_site, mut browser)) = open(FORUM).await else { return };
    let seen = format!("{:?}", look(&mut browser).await);
    for private in ["secret@example.com", "private draft", "abc", "token"] {
        assert!(!seen.contains(private), "{private}");
    }
}

/// LC-B4: every maximum holds, and one part can be looked at alone.
#[tokio::test]
async fn as_much_is_seen_as_was_asked_for() {
    let Some((_site, mut browser)) = open(FORUM).await else { return };
    let options = ObserveOptions {
        max_chars: 20,
        max_elements: 2,
        max_blocks: 1,
        max_primary_chars: 5,
        max_outline: 1,
        max_outline_chars: 3,
        max_items: 1,
        max_item_chars: 9,
        max_comments: 1,
        max_comment_chars: 4,
        root_handle_id: None,
    };
    let seen = browser.observe(&options).await.unwrap();
    assert!(seen.text.chars().count() <= 20 && seen.elements.len() == 2 && seen.blocks.len() == 1);
    assert_eq!(seen.primary.unwrap().text, "The f");
    assert_eq!((seen.outline.len(), seen.outline[0].text.as_str()), (1, "The"));
    assert_eq!((seen.items.len(), seen.items[0].title.len()), (1, 9));
    assert_eq!((seen.comments.len(), seen.comments[0].text.as_str()), (1, "What"));

    let seen = look(&mut browser).await;
    let root_handle_id = Some(seen.comments[1].handle_id.clone());
    let options = ObserveOptions { root_handle_id, ..ObserveOptions::default() };
    let part = browser.observe(&options).await.unwrap();
    assert_eq!(part.text, "bob\nWhat I answer.");
    // It was a look of its own: the handle that it started from is stale now.
    assert_eq!(code(browser.observe(&options).await), "STALE_HANDLE");
}

/// LC-B5: words that nobody sees are not told.
#[tokio::test]
async fn what_nobody_sees_is_not_seen() {
    let hidden = [
        "<p hidden>NOT1</p>",
        "<p style='display:none'>NOT2</p>",
        "<p style='visibility:hidden'>NOT3</p>",
        "<p style='opacity:0'>NOT4</p>",
        "<p style='font-size:0'>NOT5</p>",
        "<p style='position:absolute;left:-9999px'>NOT6</p>",
        "<p style='position:absolute;clip:rect(0,0,0,0)'>NOT7</p>",
        "<p style='clip-path:inset(100%)'>NOT8</p>",
        "<p style='height:0;overflow:hidden'>NOT9</p>",
        "<p style='text-indent:-9999px'>NOT10</p>",
        "<dialog>NOT11</dialog>",
        "<details><summary>more</summary><p>NOT12</p></details>",
        "<template>NOT13</template><noscript>NOT14</noscript><script>'NOT15'</script>",
        "<style>.x{display:none}</style><p class=x>NOT16</p>",
        "<!-- NOT17 -->",
        "<a href='/x' style='display:none'>NOT18</a>",
        "<p>zero\u{200b}width \u{e0041}\u{e0042}\u{202e}tags</p>",
        "<p style='transform:scale(0)'>NOT20</p>",
        "<p style='clip-path:inset(55%)'>NOT21</p>",
        "<p style='clip-path:inset(99.5%)'>NOT22</p>",
        "<p style='clip-path:circle(0)'>NOT23</p>",
        "<p style='color:transparent'>NOT24</p>",
        "<p style='filter:opacity(0)'>NOT25</p>",
        "<p style='position:fixed;left:200vw'>NOT26</p>",
        "<div style='opacity:.2'><p style='opacity:.2'>NOT27</p></div>",
        "<p style='scale:0'>NOT28</p><p style='transform:matrix(0,0,0,0,0,0)'>NOT29</p>",
        "<div popover>NOT30</div>",
        "<div style='visibility:hidden'>NOT19<p style='visibility:visible'>SHOWN</p></div>",
    ];
    let html = format!("<title>hid\u{200b}den</title><p>before</p>{}<p>after</p>", hidden.concat());
    let Some((_site, mut browser)) = open(&html).await else { return };
    let seen = look(&mut browser).await;
    let all = format!("{seen:?}");
    assert!(!all.contains("NOT"), "{all}");
    assert_eq!(seen.text, "before\nmore\nzerowidth tags\nSHOWN\nafter");
    assert_eq!(seen.title, "hidden");
}

/// LC-B5: words are where they stand and as they look, whatever made them so; and what is seen is told.
#[tokio::test]
async fn words_are_seen_as_they_look() {
    let hidden = [
        "<p style='color:#fff'>NOT</p>",
        "<p style='color:#fdfdfd'>NOT</p>",
        "<p style='color:rgb(250 250 250)'>NOT</p>",
        "<p style='color:oklch(0.99 0 0)'>NOT</p>",
        "<p style='color:rgb(0 0 0 / .02)'>NOT</p>",
        "<div style='background:#123'><p style='color:#132334'>NOT</p></div>",
        "<div style='background:#fff;color:#fff'><b>NOT</b></div>",
        "<p style='background-clip:text;color:transparent;background-color:#fff'>NOT</p>",
        "<p style='-webkit-text-fill-color:#fff'>NOT</p>",
        "<p style='color:#fff;text-shadow:0 0 1px #fefefe'>NOT</p>",
        "<p style='margin-left:-9999px'>NOT</p>",
        "<p style='margin-top:-9999px;height:0;margin-bottom:9999px'>NOT</p>",
        "<p style='position:relative;top:-99999px'>NOT</p>",
        "<p style='translate:-9999px 0'>NOT</p>",
        "<p style='zoom:.001'>NOT</p>",
        "<p style='letter-spacing:-1em'>NOT NOT NOT NOT</p>",
        "<p style='letter-spacing:-.5em;width:2000px'>NOT NOT NOT NOT</p>",
        "<p style='filter:blur(20px)'>NOT</p>",
        "<div style='filter:blur(5px)'><p>NOT</p></div>",
        "<p style='rotate:x 90deg'>NOT</p>",
        "<p style='transform:rotateX(90deg)'>NOT</p>",
        "<p style='transform:rotateY(90deg)'>NOT</p>",
        "<p style='rotate:y 180deg;backface-visibility:hidden'>NOT</p>",
        "<p style='transform:rotateX(180deg);backface-visibility:hidden'>NOT</p>",
        "<div style='contain:paint;height:0'>NOT</div>",
        "<div style='contain:strict;height:0'><p>NOT</p></div>",
        "<p style='text-indent:100%;white-space:nowrap;overflow:hidden'>NOT</p>",
        "<p style='overflow:hidden;width:200px;padding-left:200px;box-sizing:border-box;white-space:nowrap'>NOT</p>",
        "<p style='text-indent:-9999px'>NOT</p>",
        "<p style='mask-image:linear-gradient(transparent,transparent)'>NOT</p>",
        "<p style='mask-image:linear-gradient(#000,#000);mask-size:0 0'>NOT</p>",
        "<p style='-webkit-mask-image:linear-gradient(rgba(0,0,0,0),rgba(0,0,0,.01))'>NOT</p>",
        "<p style='clip-path:path(\"M0 0\")'>NOT</p>",
        "<p style='clip-path:path(\"M0 0 L1 0 L1 1 Z\")'>NOT</p>",
        "<svg width=0 height=0><clipPath id=none></clipPath></svg><p style='clip-path:url(#none)'>NOT</p>",
        "<div style='opacity:.3'><div style='opacity:.3'><div style='opacity:.3'>NOT</div></div></div>",
        "<div style='opacity:.5'><p style='filter:opacity(.05)'>NOT</p></div>",
        "<p style='line-height:0;overflow:hidden'>NOT</p>",
        "<div style='overflow:hidden;height:20px'><p style='margin-top:60px'>NOT</p></div>",
        "<div style='overflow:hidden;max-height:0;padding:0'><span>NOT</span></div>",
        "<div style='overflow:clip;width:0'><span>NOT</span></div>",
        "<p style='font-size:1px'>NOT</p>",
        "<div style='scale:.01'><p>NOT</p></div>",
    ];
    let seen = [
        "<p>YES</p>",
        "<div style='background:#123'><p style='color:#fff'>YES</p></div>",
        "<div style='background:linear-gradient(#000,#333)'><p style='color:#fff'>YES</p></div>",
        "<div style='position:relative;width:300px;height:60px'><img alt='' style='position:absolute;inset:0;width:300px;height:60px' \
         src='data:image/gif;base64,R0lGODlhAQABAAAAACw='><p style='position:relative;color:#fff'>YES</p></div>",
        "<div style='position:relative;height:40px'><div style='position:absolute;inset:0;background:#000'></div>\
         <p style='position:relative;color:#fff'>YES</p></div>",
        "<p style='background-clip:text;color:transparent;background-image:linear-gradient(red,blue)'>YES</p>",
        "<p style='color:#fff;text-shadow:0 0 3px #000'>YES</p>",
        "<p style='color:#767676'>YES</p>",
        "<p style='letter-spacing:-.05em'>YES illicit lilli</p>",
        "<p style='transform:rotate(90deg);width:100px;height:100px'>YES</p>",
        "<p style='writing-mode:vertical-rl;height:100px'>YES</p>",
        "<div style='overflow:auto;height:30px'><p style='margin-top:200px'>YES</p></div>",
        "<div style='overflow:hidden;height:30px'>YES</div>",
        "<div style='overflow:hidden;height:1.5em;position:static'><div style='position:absolute;margin-top:60px'>YES</div></div>",
        "<p style='mask-image:linear-gradient(#000,transparent)'>YES</p>",
        "<p style='clip-path:path(\"M0 0 H999 V999 H0 Z\")'>YES</p>",
        "<p style='filter:blur(.5px)'>YES</p>",
        "<div style='opacity:.7'><p style='opacity:.7'>YES</p></div>",
        "<p style='zoom:.8'>YES</p>",
        "<div style='display:contents'>YES</div>",
        "<table><tr><td>YES</table>",
        "<a href=/x>YES</a>",
        "<p style='line-height:0'>YES</p>",
        "<div style='margin-top:3000px'>YES</div>",
    ];
    let mut site = Pages::default();
    for (kind, all) in [("hidden", &hidden[..]), ("seen", &seen[..])] {
        for (number, html) in all.iter().enumerate() {
            let page = format!("<!doctype html><title>t</title><p>before</p>{html}<p>after</p>");
            site = site.html(&format!("/{kind}/{number}"), page);
        }
    }
    let site = site.serve().await;
    let Some(mut browser) = start(&site).await else { return };
    let mut wrong = Vec::new();
    for (kind, all) in [("hidden", &hidden[..]), ("seen", &seen[..])] {
        for (number, html) in all.iter().enumerate() {
            browser.navigate(&site.url(&format!("/{kind}/{number}"))).await.unwrap();
            let found = look(&mut browser).await;
            let told = format!("{found:?}");
            let is_right = match kind {
                "hidden" => !told.contains("NOT") && found.text == "before\nafter",
                _ => found.text.contains("YES") && found.text.starts_with("before"),
            };
            if !is_right {
                wrong.push(format!("{kind} {html}: {:?}", found.text));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// LC-B6: the page cannot change what the script is or does.
#[tokio::test]
async fn pages_cannot_tamper() {
    let html = r#"<title>right</title><body><p>true words</p>
      <form name="body" id="f"><input name="title"><input name="getAttribute"><input name="children">
        <input name="firstChild"><input name="parentNode"><input name="localName"><input name="shadowRoot">
        <button>push</button></form>
      <img name="title"><img name="documentElement"><img name="activeElement">
      <script>
        Element.prototype.getAttribute = () => 'forged';
        Node.prototype.appendChild = () => { throw 1 };
        Object.getOwnPropertyDescriptor = () => ({ get: () => 'forged' });
        Array.prototype.push = () => 0;
        Map.prototype.get = () => document.querySelector('p');
        window.getComputedStyle = () => { throw 2 };
        JSON.stringify = () => '{}';
        window.Promise = null;
      </script>"#;
    let Some((_site, mut browser)) = open(html).await else { return };
    let seen = look(&mut browser).await;
    assert_eq!(seen.title, "right");
    assert!(seen.text.contains("true words") && !format!("{seen:?}").contains("forged"));
    let push = handle(&seen, "push");
    assert_eq!(code(browser.click(&push).await), "done");
}

/// LC-B7: signs that there is more, or something in the way.
#[tokio::test]
async fn signals_are_given() {
    let pages = [
        ("<p>Short.</p>", "sparse_text"),
        ("<p>Sign in to continue</p>", "paywall_or_login"),
        ("<input type=password>", "paywall_or_login"),
        ("<p>Please verify you are human</p>", "captcha_or_robot_check"),
        ("<p>Are you over 18?</p>", "age_gate"),
        ("<p>This video is not available in your country</p>", "geo_block"),
        ("<p>Please enable JavaScript</p>", "script_required"),
        ("<iframe src='data:text/html,hello'></iframe>", "cross_origin_iframe"),
        ("<embed type='application/pdf' width=400 height=400>", "pdf_viewer"),
        ("<canvas width=800 height=600></canvas>", "non_text_content"),
        ("<div role=feed>x</div>", "infinite_scroll"),
        ("<ul><li aria-setsize=5000>x</li></ul>", "virtualized_list"),
        (
            "<x-y style='display:block;height:20px'></x-y><script>customElements.define('x-y', class \
             extends HTMLElement { constructor() { super(); this.attachShadow({ mode: 'closed' }) } })</script>",
            "closed_shadow_root",
        ),
        (
            "<div style='position:fixed;inset:0;background:#fff'>We use cookies. Accept?</div>",
            "consent_modal",
        ),
        ("<div style='position:fixed;inset:0;background:#fff'>Hello</div>", "overlay_blocking"),
    ];
    let words = format!("<article>{}</article>", "<p>Words that are really there.</p>".repeat(40));
    let mut site = Pages::default().html("/plain", words);
    for (index, (html, _)) in pages.iter().enumerate() {
        site = site.html(&format!("/{index}"), *html);
    }
    let site = site.serve().await;
    let Some(mut browser) = start(&site).await else { return };
    for (index, (html, signal)) in pages.iter().enumerate() {
        browser.navigate(&site.url(&format!("/{index}"))).await.unwrap();
        let seen = look(&mut browser).await;
        assert!(seen.signals.iter().any(|it| it == signal), "{html}: {:?}", seen.signals);
    }
    browser.navigate(&site.url("/plain")).await.unwrap();
    assert_eq!(look(&mut browser).await.signals, [""; 0]);
}

/// A page without end and a page without width are seen in bounded time.
#[tokio::test]
async fn monstrous_pages_are_seen_in_part() {
    let deep = "<div>".repeat(10_000) + "deep";
    let wide = "<a href=/x>y</a> ".repeat(70_000);
    let many = "<li class=comment><a href=/aaaaaaaaaaaa>aaaaaaaaaaaa</a>".repeat(5_000);
    for html in [deep, wide, many] {
        let Some((_site, mut browser)) = open(&html).await else { return };
        let seen = look(&mut browser).await;
        assert!(seen.elements.len() <= 160 && seen.text.len() <= 12_000);
    }
}

/// LC-B8: the links inside of a selection, and no others.
#[tokio::test]
async fn links_of_the_selection_are_found() {
    let html = "<a href=/0>zero</a><p id=p><a href=/1>one</a> <a href=/2>two</a> <a href=/1>again</a>\
         <a href='javascript:x'>no</a></p><a href=/3>three</a>\
         <script>onload = () => getSelection().selectAllChildren(p)</script>";
    let Some((site, mut browser)) = open(html).await else { return };
    let links = browser.selection_links(200).await.unwrap();
    let found: Vec<_> = links.iter().map(|it| (it.url.as_str(), it.text.as_str())).collect();
    let urls = [site.url("/1"), site.url("/2")];
    assert_eq!(found, [(urls[0].as_str(), "one"), (urls[1].as_str(), "two")]);
    assert_eq!(browser.selection_links(1).await.unwrap().len(), 1);
    for bad in [0, 201] {
        assert_eq!(code(browser.selection_links(bad).await), "INVALID_ARGUMENTS");
    }
}

/// LC-B9: a page as its scripts made it.
#[tokio::test]
async fn content_is_what_scripts_made() {
    let html = "<title>t</title><body><script>document.body.innerHTML = '<p>made</p>'</script>";
    let Some((site, mut browser)) = open(html).await else { return };
    let content = browser.content().await.unwrap();
    assert_eq!((content.url, content.title.as_str()), (site.url("/"), "t"));
    assert!(content.html.contains("<p>made</p>") && !content.is_cut);
}
