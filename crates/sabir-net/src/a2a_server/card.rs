//! The card: who the agent is, where it is called, and what it offers.

use std::collections::HashMap;

use a2a::{
    AgentCapabilities, AgentCard, AgentInterface, AgentSkill, HttpAuthSecurityScheme,
    SecurityScheme, TRANSPORT_PROTOCOL_HTTP_JSON, TRANSPORT_PROTOCOL_JSONRPC,
};
use a2a_pb::protojson_conv;
use axum::Json;
use axum::extract::Request;
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};

use super::{A2aAgent, ROOT};
use crate::ldp::Visitor;

pub(super) fn answer(agent: &A2aAgent, request: &Request) -> Response {
    let base = asked_at(request).unwrap_or_else(|| agent.0.base.clone());
    match protojson_conv::to_value(&agent.card(&base)) {
        Ok(card) => {
            // What is offered changes, and the address is that of who asked.
            let headers = [(header::CACHE_CONTROL, "private, max-age=60"), (header::VARY, "host")];
            (headers, Json(card)).into_response()
        }
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}

/// The address by which the caller reached us: behind a name of its own, no other would do.
fn asked_at(request: &Request) -> Option<String> {
    let visitor = request.extensions().get::<Visitor>()?;
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
    let host = host.or_else(|| request.uri().authority().map(|it| it.as_str()))?;
    let scheme = if visitor.is_tls { "https" } else { "http" };
    let uri: Uri = format!("{scheme}://{host}").parse().ok()?;
    uri.authority().is_some_and(|it| it.as_str() == host).then(|| format!("{scheme}://{host}"))
}

impl A2aAgent {
    fn card(&self, base: &str) -> AgentCard {
        let parts = &self.0;
        let url = format!("{}{ROOT}", base.trim_end_matches('/'));
        let skills = (parts.offers)().into_iter().map(|offer| AgentSkill {
            id: offer.skill.clone(),
            name: offer.skill,
            description: offer.description,
            tags: offer.tags,
            examples: None,
            input_modes: None,
            output_modes: None,
            security_requirements: None,
        });
        let bearer = || {
            SecurityScheme::HttpAuth(HttpAuthSecurityScheme {
                scheme: "Bearer".to_owned(),
                description: Some("the token of the node".to_owned()),
                bearer_format: None,
            })
        };
        let schemes = || HashMap::from([(TOKEN.to_owned(), bearer())]);
        let needs = || vec![HashMap::from([(TOKEN.to_owned(), Vec::new())])];
        AgentCard {
            name: parts.name.clone(),
            description: parts.description.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            supported_interfaces: vec![
                AgentInterface::new(&url, TRANSPORT_PROTOCOL_JSONRPC),
                AgentInterface::new(&url, TRANSPORT_PROTOCOL_HTTP_JSON),
            ],
            capabilities: AgentCapabilities {
                streaming: Some(true),
                push_notifications: Some(true),
                extensions: None,
                extended_agent_card: Some(false),
            },
            default_input_modes: MODES.map(str::to_owned).into(),
            default_output_modes: MODES.map(str::to_owned).into(),
            skills: skills.collect(),
            provider: None,
            documentation_url: None,
            icon_url: None,
            security_schemes: parts.needs_token.then(schemes),
            security_requirements: parts.needs_token.then(needs),
            signatures: None,
        }
    }
}

/// What is read and written.
pub(super) const MODES: [&str; 2] = ["text/plain", "application/json"];
const TOKEN: &str = "token";
