//! Model servers on this machine, found by asking where they usually listen.

use std::time::Duration;

use futures_util::future::join_all;
use serde::Deserialize;

/// A server that listed its models.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalServer {
    /// What usually listens there; it may be something else.
    pub name: String,
    pub base_url: String,
    pub models: Vec<String>,
}

/// Asks the usual ports, all at once. Nothing leaves this machine.
pub async fn detect_local() -> Vec<LocalServer> {
    probe_local(&USUAL_PORTS).await
}

/// Asks these ports of 127.0.0.1, in their order, each with the name of what is expected there.
pub async fn probe_local(ports: &[(u16, &str)]) -> Vec<LocalServer> {
    let builder = super::on_loopback(super::builder(), "127.0.0.1");
    let Ok(client) = builder.timeout(PATIENCE).tls_certs_only([]).build() else {
        return Vec::new();
    };
    let probes = ports.iter().map(|(port, name)| probe(&client, *port, name));
    join_all(probes).await.into_iter().flatten().collect()
}

async fn probe(client: &reqwest::Client, port: u16, name: &str) -> Option<LocalServer> {
    let base_url = format!("http://127.0.0.1:{port}/v1");
    let mut response = client.get(format!("{base_url}/models")).send().await.ok()?;
    if !response.status().is_success() {
        return None;
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.ok()? {
        body.extend_from_slice(&chunk);
        if body.len() > LARGEST_LIST {
            return None;
        }
    }
    // Whatever else listens there does not answer in this shape.
    let list: ModelList = serde_json::from_slice(&body).ok()?;
    let models = list.data.into_iter().map(|model| model.id).filter(|id| is_printable(id));
    Some(LocalServer { name: name.to_owned(), base_url, models: models.collect() })
}

/// Names are shown on terminals.
fn is_printable(id: &str) -> bool {
    !id.is_empty() && id.len() <= 200 && !id.chars().any(char::is_control)
}

#[derive(Deserialize)]
struct ModelList {
    data: Vec<ModelName>,
}

#[derive(Deserialize)]
struct ModelName {
    id: String,
}

/// Where common servers listen when nobody told them otherwise.
const USUAL_PORTS: [(u16, &str); 5] = [
    (11434, "Ollama"),
    (1234, "LM Studio"),
    (8080, "llama.cpp"),
    (8000, "vLLM"),
    (4000, "LiteLLM"),
];

/// On loopback an answer takes milliseconds; a person waits for this at the start.
const PATIENCE: Duration = Duration::from_millis(700);

const LARGEST_LIST: usize = 1024 * 1024;
