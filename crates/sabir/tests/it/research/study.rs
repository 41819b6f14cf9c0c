//! A home, a folder, a site on loopback, and a model that fills in packets as it is told.

use sabir_host::open_library;
use sabir_store::library::Library;
use sabir_testkit::fake_model::{FakeModel, Reply, Request};
use serde_json::{Value, json};

use crate::engine::place::{Place, says};
use crate::process::Outcome;

/// A person's place, and what is said there.
pub(crate) struct Study {
    pub(crate) place: Place,
    pub(crate) site: FakeModel,
}

impl Study {
    /// A site that serves these pages as HTML, and nothing else.
    pub(crate) fn with_pages(pages: &[(&str, &str)]) -> Self {
        let pages: Vec<(String, String)> =
            pages.iter().map(|(path, html)| ((*path).to_owned(), (*html).to_owned())).collect();
        Self::with_site(move |request| {
            let page = pages.iter().find(|(path, _)| *path == request.path);
            Some(match page {
                Some((_, html)) => Reply::body(200, "text/html; charset=utf-8", html),
                None => Reply::body(404, "text/html", "<p>nothing here</p>"),
            })
        })
    }

    pub(crate) fn with_site(
        mut serve: impl FnMut(&Request) -> Option<Reply> + Send + 'static,
    ) -> Self {
        let site = FakeModel::answering(move |request, _| serve(request));
        Self { place: Place::new(), site }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.site.address())
    }

    /// Runs a command of the desk, which may reach the site.
    pub(crate) fn run(&self, args: &[&str]) -> Outcome {
        let egress = self.site.address().to_string();
        self.place.run(&[args, &["--allow-egress", &egress]].concat())
    }

    /// Captures the pages of the site into the collection `c`.
    pub(crate) fn capture(&self, paths: &[&str]) {
        let urls: Vec<String> = paths.iter().map(|path| self.url(path)).collect();
        let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
        let outcome = self.run(&[&["capture", "-c", "c"], &urls[..]].concat());
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    }

    /// Asks the built-in model, and reads its JSON.
    pub(crate) fn ask(&self, question: &str) -> Value {
        let outcome = self.run(&["ask", "-c", "c", "--json", question]);
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        serde_json::from_str(&outcome.stdout).unwrap()
    }

    /// Asks a model on a server.
    pub(crate) fn ask_model(&self, model: &FakeModel, more: &[&str], question: &str) -> Outcome {
        let base_url = model.base_url();
        let args = ["ask", "-c", "c", "--json", "--model", "m", "--base-url", &base_url];
        self.run(&[&args[..], more, &[question]].concat())
    }

    pub(crate) fn library(&self) -> Library {
        open_library(&self.place.home).unwrap()
    }

    /// How often the site was asked for a page.
    pub(crate) fn visits(&self, path: &str) -> usize {
        self.site.requests().iter().filter(|request| request.path == path).count()
    }
}

/// What a model was asked, as it stands in the prompt.
pub(crate) struct Asked {
    pub(crate) system: String,
    pub(crate) user: String,
}

pub(crate) fn asked(request: &Request) -> Asked {
    let system = request.body["instructions"].as_str().unwrap().to_owned();
    let user = request.body["input"][0]["content"][0]["text"].as_str().unwrap().to_owned();
    Asked { system, user }
}

/// The packet that the prompt wants filled in, with a paragraph and calls put into it.
pub(crate) fn fill(request: &Request, text: &str, citations: &Value, calls: &Value) -> Reply {
    says("resp", &filled(request, text, citations, calls).to_string())
}

pub(crate) fn filled(request: &Request, text: &str, citations: &Value, calls: &Value) -> Value {
    let user = asked(request).user;
    let packet = user.trim_end().lines().next_back().unwrap();
    let mut packet: Value = serde_json::from_str(packet).unwrap();
    packet["assistant"]["render"] = json!({ "type": "doc", "children": [
        { "type": "paragraph", "children": [{ "type": "text", "text": text }] },
    ]});
    packet["assistant"]["citations"] = citations.clone();
    packet["tool_calls"] = calls.clone();
    packet
}

/// A model that proposes these calls first, and then says that it is done.
pub(crate) fn obeys(calls: Value) -> FakeModel {
    FakeModel::answering(move |request, number| {
        Some(match number {
            0 => fill(request, "As the page says.", &json!([]), &calls),
            _ => fill(request, "Done.", &json!([]), &json!([])),
        })
    })
}

pub(crate) const TIDES: &str = "<!doctype html><html lang=en><title>Tides</title><article>
<h1>Tides</h1>
<p>Spring tides come at new moon and at full moon, when sun and moon pull along one line.
The range between high and low water is then at its greatest.</p>
<p>Neap tides come at the first and the third quarter. The range is about 40 percent smaller.</p>
<h2>Where the range is greatest</h2>
<p>The Bay of Fundy has the greatest range of the world, with 16 metres at its head.
The shape of the bay makes the water swing with the moon.</p>
<table><tr><th>Place</th><th>Range in metres</th></tr><tr><td>Bay of Fundy</td><td>16</td></tr>
<tr><td>Severn</td><td>14</td></tr></table>
<p>See <a href='/harbour'>what harbours do about it</a> for the consequences.</p>
</article></html>";

pub(crate) const HARBOUR: &str = "<!doctype html><title>Harbours</title><article>
<h1>Harbours and tides</h1>
<p>A harbour with a great tidal range needs locks, because ships would lie dry at low water.
The lock of Wilhelmshaven opened in 1900 and was rebuilt in 1909.</p>
<p>Floating piers rise and fall with the water, so that a ship can always be reached.</p>
</article>";
