//! Search engines: names and addresses. It asks none of them.

use std::collections::BTreeMap;

use url::Url;

/// The engines that may be asked, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchEngines {
    default: String,
    templates: BTreeMap<String, String>,
}

impl Default for SearchEngines {
    fn default() -> Self {
        let templates = KNOWN.map(|(name, template)| (name.to_owned(), template.to_owned()));
        Self { default: DEFAULT.to_owned(), templates: templates.into() }
    }
}

impl SearchEngines {
    /// Adds an engine, or changes one. `{query}` in the address is where the words go.
    #[must_use]
    pub fn with(mut self, name: &str, template: &str) -> Self {
        self.templates.insert(name.to_ascii_lowercase(), template.to_owned());
        self
    }

    /// The engine that is asked when none is named.
    #[must_use]
    pub fn with_default(mut self, name: &str) -> Self {
        self.default = name.to_ascii_lowercase();
        self
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.templates.keys().map(String::as_str)
    }

    /// Where to look for `query`; nothing if there is no such engine.
    pub fn address(&self, engine: Option<&str>, query: &str) -> Option<Url> {
        let name = engine.map_or_else(|| self.default.clone(), str::to_ascii_lowercase);
        let template = self.templates.get(&name)?;
        let words: String = url::form_urlencoded::byte_serialize(query.as_bytes()).collect();
        Url::parse(&template.replace("{query}", &words)).ok()
    }
}

const DEFAULT: &str = "duckduckgo";

const KNOWN: [(&str, &str); 7] = [
    ("bing", "https://www.bing.com/search?q={query}"),
    ("brave", "https://search.brave.com/search?q={query}"),
    ("duckduckgo", "https://html.duckduckgo.com/html/?q={query}"),
    ("google", "https://www.google.com/search?q={query}"),
    ("mojeek", "https://www.mojeek.com/search?q={query}"),
    ("startpage", "https://www.startpage.com/do/search?query={query}"),
    ("wikipedia", "https://en.wikipedia.org/w/index.php?search={query}"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_in_their_place() {
        let engines = SearchEngines::default();
        let url = engines.address(None, "a b&c=d#e {query} ü").unwrap();
        let found: Vec<_> = url.query_pairs().collect();
        assert_eq!(found, [("q".into(), "a b&c=d#e {query} ü".into())]);
        assert_eq!((url.host_str(), url.fragment()), (Some("html.duckduckgo.com"), None));
    }

    #[test]
    fn engines_are_found_by_name() {
        let engines = SearchEngines::default().with("Mine", "http://x.test/{query}");
        assert_eq!(engines.address(Some("MINE"), "a/b").unwrap().path(), "/a%2Fb");
        assert_eq!(engines.address(Some("nobody"), "a"), None);
        let engines = engines.with_default("mine");
        assert_eq!(engines.address(None, "a").unwrap().host_str(), Some("x.test"));
        for name in SearchEngines::default().names() {
            assert!(engines.address(Some(name), "x").is_some(), "{name}");
        }
    }
}
