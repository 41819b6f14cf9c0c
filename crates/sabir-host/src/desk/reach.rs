//! What a call reaches beyond what its arguments say by themselves: whose things they name, which
//! hosts are behind them, and how a policy file may call them. It decides nothing: the gate does.

use reqwest::Url;
use sabir_capture::SearchEngines;
use sabir_llmcp::Tool;
use sabir_policy::{Evidence, Provenance, Scope};
use sabir_store::library::{ArtifactId, CollectionId, SourceId};

use super::Desk;
use super::gate::Door;

/// What is behind the arguments of a call.
#[derive(Debug)]
pub(super) struct Reach {
    pub(super) scope: Scope,
    pub(super) hosts: Vec<String>,
    pub(super) also_called: Vec<String>,
}

impl Desk {
    pub(super) async fn reach(
        &self,
        tool: &Tool,
        door: &Door<'_>,
        evidence: &Evidence<'_>,
    ) -> Reach {
        let mut reach = Reach { scope: Scope::Own, hosts: Vec::new(), also_called: Vec::new() };
        let named = match tool {
            Tool::AddSources(it) => Named::collection(it.collection_id.as_str()),
            Tool::ListSources(it) => Named::collection(it.collection_id.as_str()),
            Tool::CaptureSource(it) => Named::collection(it.collection_id.as_str()),
            Tool::RunTransform(it) => Named::collection(it.collection_id.as_str()),
            Tool::RefreshSource(it) => {
                let (named, host) = self.source_behind(it.source_id.as_str()).await;
                reach.hosts.extend(host);
                named
            }
            Tool::OpenArtifact(it) => self.artifact_behind(it.artifact_id.as_str()).await,
            Tool::ShareArtifact(it) => self.artifact_behind(it.artifact_id.as_str()).await,
            Tool::Search(it) => {
                reach.hosts.extend(search_host(it.engine.as_ref().map(|it| it.as_str())));
                return reach;
            }
            Tool::Back(_) | Tool::Forward(_) => {
                let step = if matches!(tool, Tool::Back(_)) { -1 } else { 1 };
                reach.hosts.extend(self.host_beside(step).await);
                return reach;
            }
            Tool::InvokeIntegration(it) => {
                let names =
                    crate::mcp::possible_names(it.integration.as_str(), it.operation.as_str());
                reach.also_called.extend(names);
                return reach;
            }
            _ => return reach,
        };
        reach.scope = named.scope(door, evidence);
        reach
    }

    async fn source_behind(&self, id: &str) -> (Named, Option<String>) {
        let Some(source_id) = SourceId::parse(id) else { return (Named::nothing(id), None) };
        match self.with_library(move |library| library.source(&source_id)).await {
            Ok(source) => {
                let address = source.origin.address.and_then(|it| Url::parse(&it).ok());
                let host = address.as_ref().and_then(host_of);
                (Named { id: id.to_owned(), home: Home::In(source.collection_id) }, host)
            }
            Err(_) => (Named::nothing(id), None),
        }
    }

    async fn artifact_behind(&self, id: &str) -> Named {
        let Some(artifact_id) = ArtifactId::parse(id) else { return Named::nothing(id) };
        let found = self.with_library(move |library| library.artifact(&artifact_id)).await;
        let home = match found.map(|artifact| artifact.collection_id) {
            Ok(Some(collection)) => Home::In(collection),
            Ok(None) => Home::Alone,
            Err(_) => Home::Unknown,
        };
        Named { id: id.to_owned(), home }
    }
}

/// Something of the library that a call names.
struct Named {
    id: String,
    home: Home,
}

/// Which collection it belongs to.
enum Home {
    In(CollectionId),
    /// To none.
    Alone,
    /// There is no such thing, as far as can be found out: the call will fail by itself.
    Unknown,
}

impl Named {
    fn collection(id: &str) -> Self {
        let home = CollectionId::parse(id).map_or(Home::Unknown, Home::In);
        Self { id: id.to_owned(), home }
    }

    fn nothing(id: &str) -> Self {
        Self { id: id.to_owned(), home: Home::Unknown }
    }

    fn scope(&self, door: &Door<'_>, evidence: &Evidence<'_>) -> Scope {
        let is_asked_about = match &self.home {
            Home::In(collection) => {
                door.collection.as_ref() == Some(collection)
                    || door.made.contains(collection.as_str())
            }
            Home::Alone => false,
            Home::Unknown => true,
        };
        let is_own = is_asked_about
            || door.made.contains(&self.id)
            || evidence.of_text(&self.id) == Provenance::TypedByUser;
        if is_own { Scope::Own } else { Scope::Other }
    }
}

/// The host of a search engine, or of the usual one; nothing if there is no such engine.
pub(crate) fn search_host(engine: Option<&str>) -> Option<String> {
    // As the browser is started: see `BrowserOptions`.
    SearchEngines::default().address(engine, "x").as_ref().and_then(host_of)
}

fn host_of(url: &Url) -> Option<String> {
    Some(url.host_str()?.trim_end_matches('.').to_owned())
}
