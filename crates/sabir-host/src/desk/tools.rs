//! What the tools do, once the gate has let a call through. Each gives back JSON for the model, or a
//! code and a sentence.

mod browser;
mod integration;
mod library;

use sabir_llmcp::Tool;
use serde_json::{Value, json};

use super::gate::Door;
use super::{Desk, DeskError};

pub(super) use browser::BrowserSlot;

/// Why a tool did not do it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failure {
    /// A word of the protocol, such as `NOT_FOUND`.
    pub(super) code: String,
    pub(super) message: String,
}

impl Failure {
    fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into() }
    }
}

impl From<DeskError> for Failure {
    fn from(error: DeskError) -> Self {
        use sabir_store::library::LibraryError;
        let code = match &error {
            DeskError::Library(LibraryError::NotFound { .. }) => "NOT_FOUND",
            DeskError::Input(error) => match error.code() {
                "bad_address" => "INVALID_URL",
                _ => "CAPTURE_FAILED",
            },
            DeskError::Refused { .. } => "INVALID_ARGUMENTS",
            DeskError::Browser { .. } => "RUNTIME_UNAVAILABLE",
            _ => "FAILED",
        };
        Self::new(code, error.to_string())
    }
}

impl Desk {
    /// Does what the call says. The gate has been passed.
    pub(super) async fn carry_out(&self, tool: &Tool, door: &Door<'_>) -> Result<Value, Failure> {
        match tool {
            Tool::Calculate(calculation) => {
                let precision = calculation.precision.map(|it| it.value() as u32);
                match sabir_llmcp::calculate(&calculation.expression, precision) {
                    Ok(result) => Ok(json!({ "result": result })),
                    Err(error) => Err(Failure::new("INVALID_ARGUMENTS", error.to_string())),
                }
            }
            Tool::ObserveDom(_)
            | Tool::GetSelectionLinks(_)
            | Tool::Click(_)
            | Tool::Type(_)
            | Tool::Select(_)
            | Tool::Scroll(_)
            | Tool::OpenTab(_)
            | Tool::Navigate(_)
            | Tool::Back(_)
            | Tool::Forward(_)
            | Tool::Refresh(_)
            | Tool::Search(_) => tokio::select! {
                () = door.stop.cancelled() => Err(Failure::new("FAILED", "somebody said stop")),
                done = self.browse(tool) => done,
            },
            Tool::InvokeIntegration(invocation) => self.integrate(invocation, door.stop).await,
            Tool::SaveArtifact(it) => self.save_artifact(it, door.collection.as_ref()).await,
            Tool::ShareArtifact(it) => self.share_to_target(it).await,
            Tool::OpenArtifact(it) => self.open_artifact(it).await,
            Tool::CreateCollection(it) => self.create_collection(it).await,
            Tool::AddSources(it) => self.add_sources(it, door.stop).await,
            Tool::ListSources(it) => self.list_sources(it).await,
            Tool::CaptureSource(it) => self.capture_source(it, door.stop).await,
            Tool::RefreshSource(it) => self.refresh_source(it, door.stop).await,
            Tool::ListTransforms(_) => Ok(json!({ "types": super::transform_kinds() })),
            Tool::RunTransform(it) => self.run_transform(it, door.stop).await,
        }
    }
}
