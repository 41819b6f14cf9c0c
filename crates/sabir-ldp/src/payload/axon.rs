//! Payloads as AXON and back, by way of frames, whose translation is exact.

use sabir_lingua::{Refused, Tongue, convert};
use serde_json::Value;

use super::{Frame, Graph, Payload, PayloadError};
use crate::mode::PayloadMode;

impl Payload {
    /// The payload as one AXON message.
    pub fn to_axon(&self) -> Result<String, PayloadError> {
        let frame = self.to_frame()?.to_value().to_string();
        convert(&frame, Tongue::Frame, Tongue::Axon)
            .map_err(|why| PayloadError::unsayable(self.mode(), told(&why)))
    }
}

impl Frame {
    /// The frame that an AXON message says.
    pub fn from_axon(text: &str) -> Result<Self, PayloadError> {
        let mode = PayloadMode::SemanticFrame;
        let frames = convert(text, Tongue::Axon, Tongue::Frame)
            .map_err(|why| PayloadError::invalid(mode, "", told(&why)))?;
        // More than one message comes as a list, which is no frame.
        match serde_json::from_str::<Value>(&frames) {
            Ok(value) => Self::check(&value),
            Err(_) => Err(PayloadError::invalid(mode, "", "holds a number that is too great")),
        }
    }
}

impl Graph {
    /// The graph that an AXON message says.
    pub fn from_axon(text: &str) -> Result<Self, PayloadError> {
        Frame::from_axon(text)?.to_graph()
    }
}

/// The first thing that is wrong.
fn told(why: &Refused) -> String {
    match why {
        Refused::Invalid(findings) => {
            let first = findings.iter().find(|finding| finding.is_error());
            first.map_or_else(|| why.to_string(), |finding| finding.message.clone())
        }
        Refused::Json(_) | Refused::TooManyLayers { .. } | Refused::TooLarge { .. } => {
            why.to_string()
        }
    }
}
