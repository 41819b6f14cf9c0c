//! Whole documents from one tongue to another, message by message.
//!
//! It knows how documents are read and put together. How one message is said in another tongue is
//! known by the module that is named after the two.

use sabir_base::Diagnostic;
use sabir_base::json::{Json, JsonError, JsonKind};

use crate::layers::{self, Pair, Unsayable};
use crate::numbering::Numbering;
use crate::speech::{self, Speech};
use crate::{axon_in_frame, axon_in_llmx, frame_in_axon, llmx_in_axon};

/// What a document can be written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tongue {
    Axon,
    Llmx,
    /// The JSON of AXON or of LLMX: each says which it is.
    Json,
    /// Semantic frames: one JSON object, or a list of them.
    Frame,
}

impl Tongue {
    pub const ALL: [Tongue; 4] = [Tongue::Axon, Tongue::Llmx, Tongue::Json, Tongue::Frame];

    pub fn name(self) -> &'static str {
        match self {
            Self::Axon => "axon",
            Self::Llmx => "llmx",
            Self::Json => "json",
            Self::Frame => "frame",
        }
    }
}

/// Why a document was not translated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It has errors. The findings have places in the text.
    Invalid(Vec<Diagnostic>),
    /// It is no JSON, or not the JSON that it should be.
    Json(JsonError),
    /// One of its messages, counted from one, has been wrapped again and again.
    TooManyLayers { message: usize },
    /// One of its messages, counted from one, is beyond what the other tongue can hold.
    TooLarge { message: usize },
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Invalid(_) => f.write_str("the text has errors"),
            Self::Json(error) => write!(f, "{error}"),
            Self::TooManyLayers { message } => {
                write!(f, "message {message} has been translated back and forth too often")
            }
            Self::TooLarge { message } => {
                write!(f, "message {message} is too deep or too large for the other tongue")
            }
        }
    }
}

impl std::error::Error for Refused {}

impl From<JsonError> for Refused {
    fn from(error: JsonError) -> Self {
        Self::Json(error)
    }
}

/// Translates a document. Into its own tongue, it comes out in that tongue's strict form.
pub fn convert(text: &str, from: Tongue, to: Tongue) -> Result<String, Refused> {
    let document = Document::read(text, from)?;
    match to {
        Tongue::Axon => document.into_axon(),
        Tongue::Llmx => document.into_llmx(),
        Tongue::Json => document.into_json(),
        Tongue::Frame => document.into_frames(),
    }
}

/// A document that was read, in the tongue in which it is at home.
enum Document {
    Axon(String),
    Llmx(String),
    Frames(Vec<String>),
}

impl Document {
    fn read(text: &str, from: Tongue) -> Result<Self, Refused> {
        match from {
            Tongue::Axon => {
                let parsed = sabir_axon::parse(text);
                if parsed.has_errors() {
                    return Err(Refused::Invalid(parsed.diagnostics));
                }
                Ok(Self::Axon(sabir_axon::print(&parsed.tree, sabir_axon::Style::Wire)))
            }
            Tongue::Llmx => {
                // Not only its syntax: what is written in LLMX is valid, and it has to come back.
                let parsed = sabir_llmx::check_messages(text);
                if parsed.has_errors() {
                    return Err(Refused::Invalid(parsed.diagnostics));
                }
                Ok(Self::Llmx(sabir_llmx::print(&parsed.tree)))
            }
            Tongue::Json => read_json(text),
            Tongue::Frame => read_frames(text),
        }
    }

    fn into_axon(self) -> Result<String, Refused> {
        if let Self::Axon(text) = self {
            return Ok(text);
        }
        let speeches = self.speeches()?;
        let all = speeches.len();
        speech::write(&speeches).ok_or(Refused::TooLarge { message: all })
    }

    fn into_llmx(self) -> Result<String, Refused> {
        if let Self::Llmx(text) = self {
            return Ok(text);
        }
        let mut numbering = Numbering::default();
        let mut out = String::new();
        for (index, speech) in self.speeches()?.iter().enumerate() {
            let pair = AxonLlmx { numbering: &numbering };
            let said = layers::there(&pair, speech).map_err(|why| refused(why, index))?;
            numbering.count(&said);
            out.push_str(&said);
        }
        Ok(out)
    }

    fn into_json(self) -> Result<String, Refused> {
        match self {
            Self::Llmx(text) => {
                let parsed = sabir_llmx::parse(&text);
                match sabir_llmx::json::encode(&parsed.tree) {
                    Ok(json) => Ok(format!("{json}\n")),
                    Err(_) => Err(Refused::Invalid(parsed.diagnostics)),
                }
            }
            other => {
                let text = other.into_axon()?;
                let parsed = sabir_axon::parse(&text);
                match sabir_axon::json::encode(&parsed.tree) {
                    Ok(value) => Ok(format!("{value}\n")),
                    Err(error) => Err(beyond_json(&parsed.tree, error)),
                }
            }
        }
    }

    fn into_frames(self) -> Result<String, Refused> {
        let frames = match self {
            Self::Frames(frames) => frames,
            other => {
                let speeches = other.speeches()?;
                let said = speeches.iter().enumerate().map(|(index, speech)| {
                    layers::there(&AxonFrame, speech).map_err(|why| refused(why, index))
                });
                said.collect::<Result<_, _>>()?
            }
        };
        Ok(match frames.as_slice() {
            [one] => format!("{one}\n"),
            many => format!("[{}]\n", many.join(",")),
        })
    }

    /// The messages in AXON.
    fn speeches(self) -> Result<Vec<Speech>, Refused> {
        match self {
            Self::Axon(text) => {
                let parsed = sabir_axon::parse(&text);
                speech::read(&parsed.tree).map_err(|error| beyond_json(&parsed.tree, error))
            }
            Self::Llmx(text) => {
                let parsed = sabir_llmx::parse(&text);
                let mut numbering = Numbering::default();
                let mut speeches = Vec::new();
                for (index, message) in parsed.tree.messages().enumerate() {
                    let text = message.node.text().to_owned();
                    let pair = AxonLlmx { numbering: &numbering };
                    let said = layers::back(&pair, &text).map_err(|why| refused(why, index))?;
                    numbering.count(&text);
                    speeches.push(said);
                }
                Ok(speeches)
            }
            Self::Frames(frames) => {
                let said = frames.iter().enumerate().map(|(index, frame)| {
                    layers::back(&AxonFrame, frame).map_err(|why| refused(why, index))
                });
                said.collect()
            }
        }
    }
}

/// The text was read without errors: then only its size can keep it from being JSON.
fn beyond_json(tree: &sabir_axon::Tree<'_>, error: sabir_axon::json::EncodeError) -> Refused {
    let before = tree.messages().take_while(|message| message.span().end <= error.span.start);
    Refused::TooLarge { message: before.count() + 1 }
}

fn refused(why: Unsayable, index: usize) -> Refused {
    let message = index + 1;
    match why {
        Unsayable::TooManyLayers => Refused::TooManyLayers { message },
        Unsayable::TooLarge => Refused::TooLarge { message },
    }
}

struct AxonLlmx<'s> {
    numbering: &'s Numbering,
}

impl Pair for AxonLlmx<'_> {
    type Here = Speech;
    type There = String;

    fn say(&self, here: &Speech) -> Option<String> {
        axon_in_llmx::say(here, self.numbering)
    }

    fn unsay(&self, there: &String) -> Option<Speech> {
        axon_in_llmx::unsay(there, self.numbering)
    }

    fn say_back(&self, there: &String) -> Option<Speech> {
        llmx_in_axon::say(there)
    }

    fn unsay_back(&self, here: &Speech) -> Option<String> {
        llmx_in_axon::unsay(here)
    }
}

struct AxonFrame;

impl Pair for AxonFrame {
    type Here = Speech;
    type There = String;

    fn say(&self, here: &Speech) -> Option<String> {
        axon_in_frame::say(here)
    }

    fn unsay(&self, there: &String) -> Option<Speech> {
        axon_in_frame::unsay(there)
    }

    fn say_back(&self, there: &String) -> Option<Speech> {
        frame_in_axon::say(there)
    }

    fn unsay_back(&self, here: &Speech) -> Option<String> {
        frame_in_axon::unsay(here)
    }
}

/// Either says which it is at the top. What says nothing is a message or a list of messages: those
/// of LLMX have a header.
fn read_json(text: &str) -> Result<Document, Refused> {
    Ok(match is_llmx(text)? {
        true => Document::Llmx(valid_llmx(sabir_llmx::json::decode(text)?)?),
        false => Document::Axon(sabir_axon::json::decode(text)?),
    })
}

/// LLMX that came as JSON. Its findings have no place in that, so the first one is told.
fn valid_llmx(text: String) -> Result<String, JsonError> {
    let parsed = sabir_llmx::check_messages(&text);
    match parsed.diagnostics.into_iter().find(Diagnostic::is_error) {
        Some(found) => Err(JsonError { help: found.help, ..JsonError::new(found.message) }),
        None => Ok(text),
    }
}

fn is_llmx(text: &str) -> Result<bool, JsonError> {
    // As deep as either goes; each decoder has a bound of its own.
    const MAX_DEPTH: usize = 16 * sabir_axon::MAX_DEPTH as usize + 16;
    let json = Json::read(text, MAX_DEPTH)?;
    let top = json.top();
    let first = match top.kind() {
        JsonKind::Array => top.children().next(),
        _ => Some(top),
    };
    let has = |key: &str| first.is_some_and(|value| value.get(key).is_some());
    Ok(has("llmx") || !has("axon") && has("header"))
}

/// One frame, or a list of them; compact, with every key and digit as written.
fn read_frames(text: &str) -> Result<Document, Refused> {
    let json = Json::read(text, frame_in_axon::MAX_DEPTH)?;
    let top = json.top();
    let frames = match top.kind() {
        JsonKind::Array => top.children().collect(),
        _ => vec![top],
    };
    for frame in &frames {
        frame_in_axon::check(*frame)?;
    }
    let compact: Result<_, JsonError> = frames.iter().map(|frame| frame.compact()).collect();
    Ok(Document::Frames(compact?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// TR-R6: wrapped a few times, a message goes there and back; wrapped again and again, it is
    /// refused.
    #[test]
    fn wrapping_has_an_end() {
        let numbering = Numbering::default();
        let mut llmx = "HEADER:{f:a,t:b,s:1}\nREQ:{o:\"x\",pr:3}\n".to_owned();
        for round in 0..7 {
            let there = convert(&llmx, Tongue::Llmx, Tongue::Axon);
            match there.and_then(|axon| convert(&axon, Tongue::Axon, Tongue::Llmx)) {
                Ok(back) => assert!(round < 5 && back == llmx, "round {round}: {back}"),
                Err(why) => {
                    assert!(round >= 4 && why == Refused::TooManyLayers { message: 1 }, "{why}");
                }
            }
            let axon = llmx_in_axon::say(&llmx).unwrap();
            llmx = axon_in_llmx::say(&axon, &numbering).unwrap();
        }
    }
}
