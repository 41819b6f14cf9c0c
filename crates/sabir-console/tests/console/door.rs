//! Who is let in, what every answer says to a browser, and what other sites get: nothing.

use axum::body::Body;
use axum::http::Method;
use axum::http::header::{CONTENT_TYPE, COOKIE, HOST, ORIGIN};
use sabir_console::{PlainLogin, console_routes};
use serde_json::json;

use crate::browser::{Browser, SITE};
use crate::world::{Wishes, World};

/// Every route, with something in the place of names.
fn routes() -> Vec<(Method, String)> {
    let named = |path: &str| {
        let path = path.replace("{id}", "order-00000000-0000-7000-8000-000000000000");
        path.replace("{name}", "node").replace("{seq}", "1")
    };
    let routes = console_routes().into_iter();
    routes.map(|(method, path)| (method.parse().unwrap(), named(path))).collect()
}

fn request(browser: &Browser, method: &Method, path: &str) -> axum::http::request::Builder {
    browser.request(method, path)
}

/// CO-2: without a session nothing of the API is told, whichever route.
#[tokio::test(flavor = "multi_thread")]
async fn every_route_refuses_whoever_is_not_signed_in() {
    let world = World::start().await;
    let stranger = world.stranger();
    assert!(routes().len() >= 35, "{:?}", routes());
    for (method, path) in routes() {
        if path == "/api/login" {
            continue;
        }
        let mut forger = stranger.clone();
        forger.cookie = Some(format!("sabir_session={}", "a".repeat(64)));
        for who in [&stranger, &forger] {
            let reply =
                who.send(request(who, &method, &path).body(Body::from("{}")).unwrap()).await;
            assert_eq!((reply.status, reply.code().as_str()), (401, "signed_out"), "{path}");
        }
    }
    let reply = stranger.get("/api/no/such/path").await;
    assert_eq!(reply.status, 401);
    world.end().await;
}

/// CO-4: what changes something needs the word of the session and an origin of ours, whichever route.
#[tokio::test(flavor = "multi_thread")]
async fn every_change_refuses_what_no_page_of_ours_sent() {
    let world = World::start().await;
    let person = world.person().await;
    let other = world.person().await;
    let changing = routes().into_iter().filter(|(method, _)| method == Method::POST);
    for (method, path) in changing {
        let build = |csrf: Option<&str>, origin: Option<&str>| {
            let mut request = axum::http::Request::builder()
                .method(&method)
                .uri(&path)
                .header(HOST, SITE)
                .header(CONTENT_TYPE, "application/json")
                .header(COOKIE, person.cookie.as_ref().unwrap())
                .extension(person.visitor.clone());
            if let Some(csrf) = csrf {
                request = request.header("x-sabir-csrf", csrf);
            }
            if let Some(origin) = origin {
                request = request.header(ORIGIN, origin);
            }
            request.body(Body::from("{}")).unwrap()
        };
        let own = format!("http://{SITE}");
        for origin in [
            None,
            Some("http://127.0.0.1:9999"),
            Some("http://evil.example"),
            Some("null"),
            Some(""),
        ] {
            let reply = person.send(build(Some(&person.csrf), origin)).await;
            assert_eq!(
                (reply.status, reply.code().as_str()),
                (403, "foreign"),
                "{path} {origin:?}"
            );
        }
        if path == "/api/login" {
            continue;
        }
        for csrf in [None, Some(""), Some("wrong"), Some(other.csrf.as_str())] {
            let reply = person.send(build(csrf, Some(&own))).await;
            assert_eq!((reply.status, reply.code().as_str()), (403, "csrf"), "{path} {csrf:?}");
        }
    }
    // Nothing of all that signed anybody out.
    assert_eq!(person.get("/api/me").await.status, 200);
    world.end().await;
}

/// CO-4: a page of another port is of the same site, and its browser says so.
#[tokio::test(flavor = "multi_thread")]
async fn what_another_page_wanted_is_refused() {
    let world = World::start().await;
    let person = world.person().await;
    for (site, status) in
        [("same-origin", 200), ("none", 200), ("same-site", 403), ("cross-site", 403)]
    {
        let request = person.request(&Method::GET, "/api/me").header("sec-fetch-site", site);
        let reply = person.send(request.body(Body::empty()).unwrap()).await;
        assert_eq!(reply.status, status, "{site}");
    }
    world.end().await;
}

/// CO-7: every answer, whoever asked and however it went, has the same strict headers.
#[tokio::test(flavor = "multi_thread")]
async fn every_answer_tells_browsers_to_be_strict() {
    let world = World::start().await;
    let (person, stranger) = (world.person().await, world.stranger());
    let mut replies = vec![
        stranger.get("/").await,
        stranger.get("/assets/app.js").await,
        stranger.get("/assets/nothing").await,
        stranger.get("/nothing").await,
        stranger.get("/api/me").await,
        person.get("/api/nothing").await,
        person.post("/api/me", json!({})).await,
        person.get("/api/changes").await,
    ];
    for (method, path) in routes() {
        if path != "/api/logout" {
            let request = request(&person, &method, &path);
            replies.push(person.send(request.body(Body::from("{}")).unwrap()).await);
        }
    }
    let policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                  connect-src 'self'; font-src 'self'; form-action 'none'; frame-ancestors 'none'; \
                  base-uri 'none'";
    for reply in replies {
        for (name, value) in [
            ("content-security-policy", policy),
            ("x-content-type-options", "nosniff"),
            ("x-frame-options", "DENY"),
            ("referrer-policy", "no-referrer"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
        ] {
            assert_eq!(reply.header(name), value, "{name}: {reply:?}");
        }
        assert!(["no-store", "no-cache"].contains(&reply.header("cache-control")), "{reply:?}");
        assert_eq!(reply.header("access-control-allow-origin"), "");
    }
    world.end().await;
}

/// CO-2, CO-5: signing in with the token of the home, and out again.
#[tokio::test(flavor = "multi_thread")]
async fn people_sign_in_and_out() {
    let world = World::start().await;
    let mut person = world.stranger();
    let refused = person.sign_in("not the token").await;
    assert_eq!((refused.status, refused.code().as_str()), (401, "wrong_token"));
    assert_eq!(refused.header("set-cookie"), "");
    let reply = person.sign_in(&format!(" {}\n", world.token)).await;
    assert_eq!(reply.status, 200);
    let cookie = reply.header("set-cookie");
    let tail = "; Path=/; Max-Age=604800; HttpOnly; SameSite=Strict";
    assert!(cookie.starts_with("sabir_session=") && cookie.ends_with(tail), "{cookie}");
    let me = person.see("/api/me").await;
    assert_eq!((&me["signed_in"], &me["csrf"]), (&json!(true), &json!(person.csrf)));
    assert_eq!(me["node"]["delegate_id"], "ldp:delegate:harbor");
    assert_eq!(me["models"][0]["model"], "extractive");
    assert_eq!(me["hints"][0]["title"], "Collect");
    assert_eq!(me["counts"], json!({ "inbox": 0, "orders_running": 0 }));
    let out = person.post("/api/logout", json!({})).await;
    assert_eq!(out.status, 200);
    assert!(out.header("set-cookie").contains("Max-Age=0"), "{out:?}");
    assert_eq!(person.get("/api/me").await.status, 401);
    world.end().await;
}

/// CO-5: whoever signs in again gets another session, and the old one is over.
#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_not_taken_over() {
    let world = World::start().await;
    let before = world.person().await;
    let mut after = before.clone();
    after.sign_in(&world.token).await;
    assert_ne!(before.cookie, after.cookie);
    assert_eq!(before.get("/api/me").await.status, 401);
    assert_eq!(after.get("/api/me").await.status, 200);
    // What a node on another port gave stays in the cookie that both share.
    let foreign = "c".repeat(64);
    let mut guest = world.stranger();
    guest.cookie = Some(format!("sabir_session={foreign}"));
    guest.sign_in(&world.token).await;
    assert!(guest.cookie.as_ref().unwrap().contains(&format!("{foreign}.")), "{:?}", guest.cookie);
    let out = guest.post("/api/logout", json!({})).await;
    assert!(out.header("set-cookie").starts_with(&format!("sabir_session={foreign};")), "{out:?}");
    world.end().await;
}

/// CO-3: who guesses waits, and is told how long.
#[tokio::test(flavor = "multi_thread")]
async fn guesses_are_slowed() {
    let world = World::start().await;
    let mut guesser = world.stranger();
    for _ in 0..5 {
        assert_eq!(guesser.sign_in("guess").await.status, 401);
    }
    let late = guesser.sign_in(&world.token).await;
    assert_eq!((late.status, late.code().as_str()), (429, "too_soon"));
    assert_eq!(late.header("retry-after"), "1");
    let mut other = world.stranger();
    other.visitor.address = "127.0.0.2".parse().unwrap();
    assert_eq!(other.sign_in(&world.token).await.status, 200);
    world.end().await;
}

/// CO-8: over a network a token is sent with TLS or not at all, unless somebody said otherwise.
#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_not_taken_in_the_clear_from_afar() {
    let world = World::start().await;
    let mut far = world.stranger();
    far.visitor.is_near = false;
    far.visitor.address = "192.0.2.1".parse().unwrap();
    let refused = far.sign_in(&world.token).await;
    assert_eq!((refused.status, refused.code().as_str()), (403, "plain"));
    far.visitor.is_tls = true;
    // A page that came without TLS is not the one that this connection serves.
    assert_eq!(far.sign_in(&world.token).await.code(), "foreign");
    let mut request = far.request(&Method::POST, "/api/login");
    let headers = request.headers_mut().unwrap();
    headers.insert(ORIGIN, format!("https://{SITE}").parse().unwrap());
    let body = json!({ "token": world.token }).to_string();
    let reply = far.send(request.body(Body::from(body)).unwrap()).await;
    assert_eq!(reply.status, 200);
    assert!(reply.header("set-cookie").ends_with("; Secure"), "{reply:?}");
    world.end().await;

    let open = World::with(Wishes { plain_login: PlainLogin::Anywhere, ..Wishes::default() }).await;
    let mut far = open.stranger();
    far.visitor.is_near = false;
    assert_eq!(far.sign_in(&open.token).await.status, 200);
    open.end().await;
}

/// CO-9: bodies are JSON, of a bounded size, with nothing in them that is not understood.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_posted_is_read_strictly() {
    let world = World::start().await;
    let person = world.person().await;
    let post = async |kind: &str, body: String| {
        let mut request = person.request(&Method::POST, "/api/collections");
        request.headers_mut().unwrap().insert(CONTENT_TYPE, kind.parse().unwrap());
        person.send(request.body(Body::from(body)).unwrap()).await
    };
    for (kind, body, status, code) in [
        ("text/plain", "{\"name\":\"a\"}".to_owned(), 415, "media_type"),
        ("application/x-www-form-urlencoded", "name=a".to_owned(), 415, "media_type"),
        ("application/json", "{".to_owned(), 400, "bad_request"),
        ("application/json", "{\"name\":\"a\",\"nmae\":1}".to_owned(), 400, "bad_request"),
        ("application/json", "{}".to_owned(), 400, "bad_request"),
        ("application/json", "x".repeat((1 << 20) + 1), 413, "too_large"),
    ] {
        let reply = post(kind, body).await;
        assert_eq!((reply.status, reply.code().as_str()), (status, code));
    }
    // What would be kept as another number is not taken.
    let order =
        |digits: &str| format!("{{\"task\":\"a\",\"skill\":\"echo\",\"input\":[{digits}]}}");
    for (digits, status) in [("18446744073709551616", 400), ("18446744073709551615", 201)] {
        let mut request = person.request(&Method::POST, "/api/orders");
        let kind = "application/json".parse().unwrap();
        request.headers_mut().unwrap().insert(CONTENT_TYPE, kind);
        let reply = person.send(request.body(Body::from(order(digits))).unwrap()).await;
        assert_eq!(reply.status, status, "{digits}");
    }
    let wrong = person.get("/api/decisions?limit=many").await;
    assert_eq!((wrong.status, wrong.code().as_str()), (400, "bad_request"));
    let wrong = person.post("/api/me", json!({})).await;
    assert_eq!((wrong.status, wrong.code().as_str()), (405, "method"));
    let wrong = person.get("/api/nothing").await;
    assert_eq!((wrong.status, wrong.code().as_str()), (404, "not_found"));
    world.end().await;
}

/// CO-10: the page is open to all, comes from the program, and is asked for again only if it changed.
#[tokio::test(flavor = "multi_thread")]
async fn the_page_is_part_of_the_program() {
    let world = World::start().await;
    let stranger = world.stranger();
    let page = stranger.get("/").await;
    assert_eq!((page.status, page.header("content-type")), (200, "text/html; charset=utf-8"));
    let text = String::from_utf8(page.body.to_vec()).unwrap();
    assert!(!text.contains("<style") && !text.contains(" style="), "{text}");
    let scripts = text.matches("<script").count();
    assert_eq!(
        scripts,
        text.matches("<script src=\"/assets/").count()
            + text.matches("<script type=\"module\" src=\"/assets/").count()
    );
    let named = text.split("\"/assets/").skip(1).map(|rest| rest.split('"').next().unwrap());
    for name in named {
        let path = format!("/assets/{name}");
        let reply = stranger.get(&path).await;
        assert_eq!(reply.status, 200, "{path}");
        let etag = reply.header("etag").to_owned();
        let again = stranger.request(&Method::GET, &path).header("if-none-match", etag);
        assert_eq!(stranger.send(again.body(Body::empty()).unwrap()).await.status, 304, "{path}");
        let kind = reply.header("content-type");
        assert!(
            !name.ends_with(".js") || kind == "text/javascript; charset=utf-8",
            "{path} {kind}"
        );
    }
    for path in ["/assets/../Cargo.toml", "/assets/%2e%2e/Cargo.toml", "/assets/", "/index.html"] {
        assert_eq!(stranger.get(path).await.status, 404, "{path}");
    }
    world.end().await;
}
