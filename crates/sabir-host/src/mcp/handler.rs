//! What a server may ask of us: nothing but the folder that it was told to work in. Sampling would
//! let a server speak through our model, and elicitation would let it ask our user in our name.

#![expect(deprecated, reason = "servers of older versions still ask for roots and samples")]

use std::sync::Arc;

use rmcp::ClientHandler;
use rmcp::model::{
    ClientCapabilities, ClientConfig, CreateMessageRequestParams, CreateMessageResult,
    ElicitRequestParams, ElicitResult, ElicitationAction, ErrorCode, ErrorData, Implementation,
    ListRootsResult, Root, RootsCapabilities,
};
use rmcp::service::{NotificationContext, RequestContext, RoleClient};
use tokio::sync::Notify;

#[derive(Debug)]
pub(super) struct Handler {
    /// The address of the configured folder.
    pub(super) root: Option<String>,
    /// Told when the server's tools changed; many changes before it is read are one.
    pub(super) tools_changed: Arc<Notify>,
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        if self.root.is_some() {
            capabilities.roots = Some(RootsCapabilities::default());
        }
        let ourselves = Implementation::new("sabir", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(capabilities, ourselves)
    }

    async fn create_message(
        &self,
        _: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        Err(refusal("this client lends its model to no server"))
    }

    async fn create_elicitation(
        &self,
        _: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Ok(ElicitResult::new(ElicitationAction::Decline))
    }

    async fn list_roots(
        &self,
        _: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        match &self.root {
            Some(root) => Ok(ListRootsResult::new(vec![Root::new(root.clone())])),
            None => Err(refusal("no folder is configured for this server")),
        }
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.tools_changed.notify_one();
    }
}

fn refusal(message: &'static str) -> ErrorData {
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None)
}
