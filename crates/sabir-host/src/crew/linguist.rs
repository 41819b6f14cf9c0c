//! The linguist: checks, mends, translates and counts what agents write in AXON, LLMX, their JSON and
//! semantic frames. It asks no model and no service.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::future::{BoxFuture, FutureExt as _};
use sabir_base::{Diagnostic, LineIndex, Span, apply_edits};
use sabir_ldp::{Finished, TaskOrder, Usage};
use sabir_lingua::tokens::Tokenizer;
use sabir_lingua::{Refused, Tongue, convert, guess};
use serde_json::{Map, Value, json};

use super::{MemberState, Offer, capability};
use crate::language::{Finding, MOST_TEXT_BYTES, axon_changes, findings};
use crate::node::{Broken, News, Skill};

pub(super) fn offer() -> Offer {
    let skills = Work::ALL.into_iter().filter_map(|work| {
        let offered = capability(work.name(), work.about(), "language", schema())?;
        Some((offered, Arc::new(work) as Arc<dyn Skill>))
    });
    Offer {
        description: "Checks, mends, translates and counts AXON, LLMX, their JSON and semantic \
                      frames. It needs no model."
            .to_owned(),
        model_family: Some("none".to_owned()),
        model_version: None,
        skills: skills.collect(),
        state: MemberState::Ready,
        at_once: None,
        workspace: None,
    }
}

fn schema() -> Value {
    let tongues = Tongue::ALL.map(Tongue::name);
    json!({
        "type": "object",
        "properties": {
            "text": { "type": "string", "description": "What it is about; or the instruction." },
            "language": { "enum": tongues, "description": "Of the text, if it does not show." },
            "to": { "enum": tongues, "description": "What to translate into; or all." },
            "vocabulary": { "type": "string", "description": "What to count with; or all." },
        },
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Work {
    Check,
    Repair,
    Convert,
    Tokens,
}

impl Work {
    const ALL: [Self; 4] = [Self::Check, Self::Repair, Self::Convert, Self::Tokens];

    fn name(self) -> &'static str {
        match self {
            Self::Check => "language.check",
            Self::Repair => "language.repair",
            Self::Convert => "language.convert",
            Self::Tokens => "language.tokens",
        }
    }

    fn about(self) -> &'static str {
        match self {
            Self::Check => "Says whether a text is valid, and if not, where and why.",
            Self::Repair => "Makes a text of a model valid, and says what was changed.",
            Self::Convert => "Translates a text into another tongue, without loss.",
            Self::Tokens => "Counts the tokens of a text, and of the same in other tongues.",
        }
    }
}

impl Skill for Work {
    fn run(&self, order: TaskOrder, news: News) -> BoxFuture<'static, Result<Finished, Broken>> {
        let work = *self;
        async move {
            let input = order.payload.to_value();
            // A long text takes its time, and others are served meanwhile.
            let doing = tokio::task::spawn_blocking(move || {
                let asked = Asked::read(&input)?;
                match work {
                    Self::Check => check(&asked),
                    Self::Repair => repair(&asked),
                    Self::Convert => translate(&asked),
                    Self::Tokens => Ok(count(&asked)),
                }
            });
            let done = tokio::select! {
                biased;
                () = news.stop().cancelled() => Err("it was stopped".to_owned()),
                done = doing => done.unwrap_or_else(|error| Err(error.to_string())),
            };
            // No model is asked, which is known and need not be measured.
            let usage = Usage { tokens: Some(0), cost_usd: Some(0.0) };
            match done {
                Ok(output) => Ok(Finished { output, usage, ..Finished::default() }),
                Err(why) => Err(Broken { usage, ..Broken::new(why) }),
            }
        }
        .boxed()
    }
}

/// What is asked.
#[derive(Debug)]
struct Asked {
    text: String,
    /// As it was said.
    language: Option<Tongue>,
    to: Option<Tongue>,
    vocabularies: Vec<Tokenizer>,
}

impl Asked {
    fn read(input: &Value) -> Result<Self, String> {
        let none = Map::new();
        let fields = input.as_object().unwrap_or(&none);
        let text = match (fields.get("text"), fields.get("instruction"), input) {
            (Some(Value::String(text)), ..) => text.clone(),
            (Some(document @ (Value::Object(_) | Value::Array(_))), ..) => document.to_string(),
            (Some(_), ..) => return Err("`text` is a text, or a document of JSON".to_owned()),
            (None, Some(Value::String(text)), _) | (None, None, Value::String(text)) => {
                text.clone()
            }
            (None, ..) => return Err("there is no `text`".to_owned()),
        };
        if text.len() > MOST_TEXT_BYTES {
            return Err(format!("the text is longer than {} KiB", MOST_TEXT_BYTES >> 10));
        }
        if text.trim().is_empty() {
            return Err("the text is empty".to_owned());
        }
        let said = |key: &str| match fields.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(name)) => Ok(Some(name.as_str())),
            Some(_) => Err(format!("`{key}` is a name")),
        };
        let tongue = |key: &str| {
            let Some(name) = said(key)? else { return Ok(None) };
            let known = Tongue::ALL.into_iter().find(|it| it.name().eq_ignore_ascii_case(name));
            let names = Tongue::ALL.map(Tongue::name).join(", ");
            known.map(Some).ok_or_else(|| format!("`{key}` is one of {names}"))
        };
        let vocabularies = match said("vocabulary")? {
            None => Tokenizer::ALL.to_vec(),
            Some(name) => vec![Tokenizer::from_name(name).ok_or_else(|| {
                let names: Vec<&str> = Tokenizer::ALL.iter().map(|it| it.name()).collect();
                format!("`vocabulary` is one of {}", names.join(", "))
            })?],
        };
        let language = tongue("language")?.or(tongue("from")?);
        Ok(Self { language, to: tongue("to")?, vocabularies, text })
    }

    /// As said, or as the text shows.
    fn tongue(&self) -> Option<Tongue> {
        self.language.or_else(|| guess(&self.text))
    }

    /// The tongue that a faulty text comes nearest to.
    fn nearest(&self) -> Tongue {
        if let Some(tongue) = self.tongue() {
            return tongue;
        }
        if self.text.trim_start().starts_with(['{', '[']) {
            return Tongue::Json;
        }
        let faults = |found: Vec<Diagnostic>| found.iter().filter(|it| it.is_error()).count();
        let llmx = sabir_llmx::parse(&self.text);
        let has_messages = llmx.tree.messages().next().is_some();
        let axon = faults(sabir_axon::parse(&self.text).diagnostics);
        if has_messages && faults(llmx.diagnostics) < axon { Tongue::Llmx } else { Tongue::Axon }
    }
}

fn check(asked: &Asked) -> Result<Value, String> {
    let (text, language) = (&asked.text, asked.nearest());
    let found = found_in(text, language);
    Ok(json!({
        "language": language.name(),
        "valid": found.is_valid,
        "messages": messages_in(text, language),
        "findings": found.findings,
        "left_out": found.left_out,
    }))
}

fn repair(asked: &Asked) -> Result<Value, String> {
    let (text, language) = (&asked.text, asked.nearest());
    let (mended, changes) = match language {
        Tongue::Axon => {
            let repaired = sabir_axon::repair(text);
            let (changes, _) = axon_changes(text, &repaired);
            (repaired.text, changes.iter().map(|change| json!(change)).collect())
        }
        Tongue::Llmx => mend_llmx(text),
        // What is no JSON could mean anything; what is gets its strict form.
        Tongue::Json | Tongue::Frame => {
            (convert(text, language, language).unwrap_or_else(|_| text.clone()), Vec::new())
        }
    };
    let found = found_in(&mended, language);
    Ok(json!({
        "language": language.name(),
        "valid": found.is_valid,
        "changed": mended != *text,
        "text": mended,
        "changes": changes,
        "findings": found.findings,
        "left_out": found.left_out,
    }))
}

/// Everything that can only mean one thing is written as it should be.
fn mend_llmx(text: &str) -> (String, Vec<Value>) {
    let mut mended = text.to_owned();
    let mut changes = Vec::new();
    for _ in 0..MOST_PASSES {
        let found = sabir_llmx::check(&mended).diagnostics;
        let with_fixes: Vec<&Diagnostic> = found.iter().filter(|it| !it.fixes.is_empty()).collect();
        let edits: Vec<_> = with_fixes.iter().flat_map(|it| it.fixes.clone()).collect();
        let next = apply_edits(&mended, &edits);
        if next == mended {
            break;
        }
        let lines = LineIndex::new(&mended);
        changes.extend(with_fixes.iter().map(|it| {
            let at = lines.line_col(&mended, it.span.start);
            let (code, message) = (it.code.as_str(), &it.message);
            json!({ "code": code, "message": message, "line": at.line, "column": at.column })
        }));
        mended = next;
    }
    let parsed = sabir_llmx::parse(&mended);
    if !parsed.has_errors() {
        mended = sabir_llmx::print(&parsed.tree);
    }
    (mended, changes)
}

fn translate(asked: &Asked) -> Result<Value, String> {
    let from = asked.tongue().ok_or_else(|| {
        let found = found_in(&asked.text, asked.nearest());
        format!("the text is in no tongue of ours: {}", found.first())
    })?;
    let into = |to: Tongue| {
        convert(&asked.text, from, to).map_err(|refused| {
            let found = Found::of_refusal(&asked.text, &refused);
            format!("it is no valid {}: {}", from.name(), found.first())
        })
    };
    if let Some(to) = asked.to {
        let text = into(to)?;
        return Ok(json!({ "from": from.name(), "to": to.name(), "text": text }));
    }
    let mut forms = Map::new();
    for to in Tongue::ALL {
        forms.insert(to.name().to_owned(), into(to)?.into());
    }
    Ok(json!({ "from": from.name(), "forms": forms }))
}

fn count(asked: &Asked) -> Value {
    let counts = |text: &str| -> BTreeMap<&str, usize> {
        asked.vocabularies.iter().map(|it| (it.name(), it.count(text))).collect()
    };
    let from = asked.tongue();
    let same = from.into_iter().flat_map(|from| {
        Tongue::ALL.into_iter().filter_map(move |to| {
            let said = convert(&asked.text, from, to).ok()?;
            Some((to.name().to_owned(), json!(counts(said.trim_end()))))
        })
    });
    json!({
        "language": from.map(Tongue::name),
        "bytes": asked.text.len(),
        "tokens": counts(&asked.text),
        "same_content": Map::from_iter(same),
    })
}

/// What is wrong with a text, in whatever tongue.
struct Found {
    is_valid: bool,
    findings: Vec<Finding>,
    left_out: usize,
}

fn found_in(text: &str, tongue: Tongue) -> Found {
    match tongue {
        Tongue::Axon => {
            let checked = sabir_axon::check(text, sabir_axon::Rules::default());
            Found::new(text, &checked.diagnostics)
        }
        Tongue::Llmx => Found::new(text, &sabir_llmx::check(text).diagnostics),
        Tongue::Json | Tongue::Frame => match convert(text, tongue, tongue) {
            Ok(_) => Found::new(text, &[]),
            Err(refused) => Found::of_refusal(text, &refused),
        },
    }
}

impl Found {
    fn new(text: &str, diagnostics: &[Diagnostic]) -> Self {
        let (findings, left_out) = findings(text, diagnostics);
        Self { is_valid: !diagnostics.iter().any(Diagnostic::is_error), findings, left_out }
    }

    fn of_refusal(text: &str, refused: &Refused) -> Self {
        let (span, help) = match refused {
            Refused::Invalid(found) => return Self::new(text, found),
            Refused::Json(error) => (error.span, error.help.clone()),
            Refused::TooManyLayers { .. } | Refused::TooLarge { .. } => (Span::default(), None),
        };
        let finding = Finding::error(text, span, refused_in_words(refused), help);
        Self { is_valid: false, findings: vec![finding], left_out: 0 }
    }

    /// In words, for whoever gets no list.
    fn first(&self) -> String {
        let first = self.findings.iter().find(|it| it.is_error());
        first.map_or_else(
            || "it has no messages".to_owned(),
            |it| format!("line {}, column {}: {}", it.line, it.column, it.message),
        )
    }
}

fn refused_in_words(refused: &Refused) -> String {
    match refused {
        Refused::Json(error) => error.to_string(),
        refused => refused.to_string(),
    }
}

fn messages_in(text: &str, tongue: Tongue) -> Option<usize> {
    match tongue {
        Tongue::Axon => Some(sabir_axon::parse(text).tree.messages().count()),
        Tongue::Llmx => Some(sabir_llmx::parse(text).tree.messages().count()),
        Tongue::Json | Tongue::Frame => None,
    }
}

/// Fixes that stand in each other's way come one after the other.
const MOST_PASSES: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(input: Value) -> Asked {
        Asked::read(&input).unwrap()
    }

    #[test]
    fn a_text_is_found_in_every_form_of_input() {
        let text = "INF(@a>@b): ok";
        for input in [
            json!(text),
            json!({ "instruction": text, "task_type": "x" }),
            json!({ "text": text, "instruction": "check this" }),
        ] {
            assert_eq!(asked(input).text, text);
        }
        let frame = json!({ "task_type": "ask", "instruction": "x" });
        let inline = asked(json!({ "text": frame }));
        assert_eq!(inline.tongue(), Some(Tongue::Frame));
        for (input, why) in [
            (json!({}), "no `text`"),
            (json!(7), "no `text`"),
            (json!({ "text": 7 }), "`text` is a text"),
            (json!({ "text": " " }), "empty"),
            (json!({ "text": "x", "to": "klingon" }), "axon, llmx, json, frame"),
            (json!({ "text": "x", "vocabulary": "mine" }), "o200k"),
            (json!("x".repeat(MOST_TEXT_BYTES + 1)), "longer"),
        ] {
            let error = Asked::read(&input).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn what_is_wrong_has_a_place() {
        let report = check(&asked(json!("INF(@a->@b): ok"))).unwrap();
        assert_eq!((&report["language"], &report["valid"]), (&json!("axon"), &json!(false)));
        let first = &report["findings"][0];
        assert_eq!((&first["line"], &first["column"]), (&json!(1), &json!(7)), "{report}");
        assert!(first["code"].as_str().unwrap().starts_with("AX"));
        let fine = check(&asked(json!("INF(@a>@b): ok"))).unwrap();
        assert_eq!((&fine["valid"], &fine["messages"]), (&json!(true), &json!(1)));
        let json_error = check(&asked(json!("{\"axon\": 1,"))).unwrap();
        assert_eq!(
            (&json_error["language"], &json_error["valid"]),
            (&json!("json"), &json!(false))
        );
    }

    #[test]
    fn what_a_model_wrote_is_mended() {
        let report = repair(&asked(json!("INF(@a->@b): ok"))).unwrap();
        assert_eq!(report["valid"], true, "{report}");
        assert_eq!(report["text"].as_str().unwrap().trim(), "INF(@a>@b): ok");
        assert_eq!(report["changes"].as_array().unwrap().len(), 1, "{report}");
        let loose = "HEADER: { F: a, t: \"b\", s: 1 } RES: { o: ACK }";
        let report = repair(&asked(json!({ "text": loose, "language": "llmx" }))).unwrap();
        assert_eq!(report["valid"], true, "{report}");
        assert_eq!(report["text"], "HEADER:{f:a,t:b,s:1}\nRES:{o:\"ACK\"}\n", "{report}");
        let broken = repair(&asked(json!("{\"axon\": 1,"))).unwrap();
        assert_eq!((&broken["valid"], &broken["changed"]), (&json!(false), &json!(false)));
    }

    #[test]
    fn a_text_is_translated_into_one_tongue_or_all_and_back() {
        let text = "INF(@a>@b): ok";
        let all = translate(&asked(json!(text))).unwrap();
        let forms = all["forms"].as_object().unwrap();
        assert_eq!(forms.len(), 4);
        for (name, form) in forms {
            let input = json!({ "text": form, "language": name, "to": "axon" });
            let back = translate(&asked(input)).unwrap();
            assert_eq!(back["text"].as_str().unwrap().trim(), text, "{name}");
        }
        let error = translate(&asked(json!("INF(@a->@b): ok"))).unwrap_err();
        assert!(error.contains("line 1, column 7"), "{error}");
        let error = translate(&asked(json!("{\"a\": 1}"))).unwrap_err();
        assert!(error.contains("no valid json"), "{error}");
    }

    #[test]
    fn tokens_are_counted_in_every_tongue() {
        let counted = count(&asked(json!({ "text": "INF(@a>@b): ok", "vocabulary": "o200k" })));
        assert_eq!(counted["language"], "axon");
        let tokens = |value: &Value| value["o200k"].as_u64().unwrap();
        assert!(tokens(&counted["tokens"]) < tokens(&counted["same_content"]["json"]), "{counted}");
        let plain = count(&asked(json!("The tide is out.")));
        assert_eq!((&plain["language"], &plain["same_content"]), (&Value::Null, &json!({})));
    }
}
