//! What comes of a task of the researcher, as it is told to whoever sent it.

use sabir_ldp::Finished;
use sabir_policy::Outcome;
use sabir_store::library::Collection;
use serde_json::{Value, json};

use crate::desk::{Answered, CaptureNews};
use crate::node::News;

#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) captured: Vec<Value>,
    pub(super) failed: Vec<Value>,
    pub(super) answered: Option<Answered>,
    pub(super) artifact: Option<Value>,
}

impl Report {
    /// Writes down what became of one page, and passes it on.
    pub(super) async fn note(&mut self, said: CaptureNews, news: &News) {
        match said {
            CaptureNews::Waiting { .. } => {}
            CaptureNews::Kept(kept) => {
                news.progress(format!("captured {}", kept.address)).await;
                self.captured.push(json!({
                    "source": kept.source_id.as_str(), "title": kept.title, "url": kept.address,
                    "signals": kept.signals,
                }));
            }
            CaptureNews::Present { source_id, address }
            | CaptureNews::Same { source_id, address } => {
                self.captured.push(json!({ "source": source_id.as_str(), "url": address }));
            }
            // Not yet the last word.
            CaptureNews::Failed { again_at_ms: Some(_), .. } => {}
            CaptureNews::Failed { address, fault, .. } => {
                news.progress(format!("could not capture {address}: {}", fault.text)).await;
                self.failed.push(json!({ "url": address, "why": fault.text }));
            }
            CaptureNews::Waits { address, .. } => {
                let why = "the server wants to be left alone for longer than anybody waits";
                self.failed.push(json!({ "url": address, "why": why }));
            }
        }
    }

    pub(super) fn finished(self, collection: &Collection) -> Finished {
        let Self { captured, failed, answered, artifact } = self;
        let mut output = json!({
            "collection": { "id": collection.id.as_str(), "title": collection.title },
            "captured": captured,
            "failed": failed,
        });
        if let Some(artifact) = artifact {
            output["artifact"] = artifact;
        }
        let mut model = None;
        if let Some(answered) = answered {
            let citations = answered.citations.iter().map(|it| {
                json!({
                    "number": it.number, "status": it.status, "quote": it.quote,
                    "source": it.source_id, "version_id": it.version, "title": it.title,
                    "url": it.url, "start": it.start, "end": it.end,
                })
            });
            let refused = answered.calls.iter().filter(|call| call.outcome != Outcome::Allow);
            let refused = refused.map(|call| {
                json!({ "tool": call.tool, "why": call.reason, "code": call.reason_code,
                    "call_id": call.call_id })
            });
            output["citations"] = citations.collect();
            output["refused"] = refused.collect();
            output["answer"] = answered.document.to_markdown().into();
            output["notes"] = answered.notes.into();
            model = Some(answered.model);
        }
        Finished { output, model_version: model, ..Finished::default() }
    }
}
