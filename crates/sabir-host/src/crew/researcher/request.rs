//! What the researcher is asked, checked before anything is fetched.

use std::ffi::OsStr;

use serde_json::{Map, Value};

use crate::desk::{Input, check_input};

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) question: Option<String>,
    pub(super) sources: Vec<Source>,
    pub(super) collection: Option<String>,
    pub(super) brief: bool,
    /// Of an artifact.
    pub(super) kind: Option<String>,
}

/// Nobody far away names a file of this machine.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Source {
    Page(Input),
    Text(String),
}

impl Request {
    /// A text is the question. Where no sources are listed, they are the addresses in it.
    pub(super) fn read(input: &Value) -> Result<Self, String> {
        let none = Map::new();
        let fields = match input {
            Value::Object(fields) => fields,
            Value::String(_) => &none,
            _ => return Err("the input is a question, or an object with one".to_owned()),
        };
        let text = |key: &str| match fields.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) if text.trim().is_empty() => Err(format!("`{key}` is empty")),
            Some(Value::String(text)) => Ok(Some(text.trim().to_owned())),
            Some(_) => Err(format!("`{key}` is a text")),
        };
        // A frame that was made of fields has them once more for an instruction.
        let instruction = text("instruction")?.filter(|it| !it.starts_with('{'));
        let plain = input.as_str().map(str::trim).filter(|it| !it.is_empty()).map(str::to_owned);
        let question = text("question")?.or(instruction).or(plain);
        let sources = match fields.get("sources") {
            None | Some(Value::Null) => addresses(question.as_deref().unwrap_or_default()),
            Some(Value::String(one)) => vec![one.clone()],
            Some(Value::Array(many)) if many.len() <= MOST_SOURCES => {
                let texts = many.iter().map(|it| it.as_str().map(str::to_owned));
                texts.collect::<Option<_>>().ok_or(SOURCES)?
            }
            Some(Value::Array(_)) => return Err(format!("more than {MOST_SOURCES} `sources`")),
            Some(_) => return Err(SOURCES.to_owned()),
        };
        let sources: Result<_, String> = sources.iter().map(|it| Source::read(it)).collect();
        let brief = match fields.get("brief") {
            None | Some(Value::Null) => false,
            Some(Value::Bool(brief)) => *brief,
            Some(_) => return Err("`brief` is true or false".to_owned()),
        };
        let (collection, kind) = (text("collection")?, text("kind")?);
        Ok(Self { question, sources: sources?, collection, brief, kind })
    }

    pub(super) fn question(&self) -> Result<&str, String> {
        self.question.as_deref().ok_or_else(|| "there is no `question`".to_owned())
    }
}

impl Source {
    fn read(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.is_empty() {
            return Err("one of the `sources` is empty".to_owned());
        }
        let is_one_word = !text.contains(char::is_whitespace);
        if !(is_one_word && text.contains("://")) {
            return Ok(Self::Text(text.to_owned()));
        }
        let page = Input::parse(OsStr::new(text)).map_err(|error| error.to_string())?;
        match &page {
            Input::Web(url) if matches!(url.scheme(), "http" | "https") => {}
            _ => return Err("pages are at http:// and https://, and nowhere else".to_owned()),
        }
        check_input(&page).map_err(|error| error.to_string())?;
        Ok(Self::Page(page))
    }
}

/// The addresses that stand in a text, each once, without what ends a sentence.
fn addresses(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let word = word.trim_start_matches(['(', '<', '"', '\'', '[']);
        if !(word.starts_with("http://") || word.starts_with("https://")) {
            continue;
        }
        let end = ['.', ',', ';', ':', '!', '?', ')', '>', '"', '\'', ']'];
        let word = word.trim_end_matches(end).to_owned();
        if !found.contains(&word) && found.len() < MOST_SOURCES {
            found.push(word);
        }
    }
    found
}

const SOURCES: &str = "`sources` is a list of addresses and texts";
const MOST_SOURCES: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pages(request: &Request) -> Vec<String> {
        let page = |it: &Source| match it {
            Source::Page(Input::Web(url)) => url.to_string(),
            other => format!("{other:?}"),
        };
        request.sources.iter().map(page).collect()
    }

    #[test]
    fn a_text_is_a_question_with_its_addresses() {
        let text = "Read (https://a.example/x) and https://b.example/y?z=1, https://b.example/y?z=1. When?";
        for input in [json!(text), json!({ "task_type": "ask", "instruction": text })] {
            let request = Request::read(&input).unwrap();
            assert_eq!(request.question().unwrap(), text);
            assert_eq!(pages(&request), ["https://a.example/x", "https://b.example/y?z=1"]);
        }
    }

    #[test]
    fn fields_say_it_all() {
        let fields = json!({
            "question": "When?", "sources": ["https://a.example/", "The ferry leaves at nine."],
            "collection": "Ferries", "brief": true, "instruction": "{\"question\":\"When?\"}",
        });
        let request = Request::read(&fields).unwrap();
        assert_eq!(request.question().unwrap(), "When?");
        assert!(matches!(&request.sources[..], [Source::Page(_), Source::Text(_)]));
        assert_eq!((request.collection.as_deref(), request.brief), (Some("Ferries"), true));
        let only =
            Request::read(&json!({ "collection": "c", "instruction": "{\"c\":1}" })).unwrap();
        assert_eq!(only.question(), Err("there is no `question`".to_owned()));
    }

    #[test]
    fn what_does_not_fit_is_named() {
        for (input, why) in [
            (json!([1]), "a question"),
            (json!({ "question": 7 }), "`question` is a text"),
            (json!({ "question": " " }), "`question` is empty"),
            (json!({ "question": "q", "sources": [7] }), "`sources` is a list"),
            (json!({ "question": "q", "sources": {} }), "`sources` is a list"),
            (json!({ "question": "q", "sources": ["file:///etc/passwd"] }), "http://"),
            (json!({ "question": "q", "sources": ["https://me:sesame@a.example/"] }), "password"),
            (json!({ "question": "q", "sources": vec!["x"; MOST_SOURCES + 1] }), "more than"),
            (json!({ "question": "q", "brief": "yes" }), "`brief` is true or false"),
        ] {
            let error = Request::read(&input).unwrap_err();
            assert!(error.contains(why), "{error}");
            assert!(!error.contains("sesame"), "{error}");
        }
        // A path is a text like any other: no file is read.
        let path = Request::read(&json!({ "question": "q", "sources": ["/etc/passwd"] })).unwrap();
        assert_eq!(path.sources, [Source::Text("/etc/passwd".to_owned())]);
    }
}
