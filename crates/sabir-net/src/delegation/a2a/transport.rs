//! The two forms in which A2A goes over HTTP, for its official client. The transports that come with
//! the client read whatever is sent; this one reads no more than it may.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicI64, Ordering};

use a2a::jsonrpc::methods;
use a2a::{
    A2AError, AgentCard, AgentInterface, CancelTaskRequest,
    DeleteTaskPushNotificationConfigRequest, GetExtendedAgentCardRequest,
    GetTaskPushNotificationConfigRequest, GetTaskRequest, JsonRpcId, JsonRpcRequest,
    JsonRpcResponse, ListTaskPushNotificationConfigsRequest,
    ListTaskPushNotificationConfigsResponse, ListTasksRequest, ListTasksResponse,
    SendMessageRequest, SendMessageResponse, StreamResponse, SubscribeToTaskRequest,
    TRANSPORT_PROTOCOL_HTTP_JSON, TRANSPORT_PROTOCOL_JSONRPC, Task, TaskPushNotificationConfig,
};
use a2a_client::{ServiceParams, Transport, TransportFactory};
use a2a_pb::protojson_conv::{self, ProtoJsonPayload};
use async_trait::async_trait;
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::{Client, Method, Response, Url};
use sabir_base::text::one_line;
use sabir_engine::SseDecoder;
use sabir_telemetry::{TRACEPARENT, current};
use serde_json::Value;

use super::MAX_OUTPUT_BYTES;
use crate::ldp::client::read_text;

/// How calls are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    JsonRpc,
    HttpJson,
}

/// Makes transports of one form.
pub(super) struct Bounded {
    pub(super) client: Client,
    pub(super) form: Form,
}

#[async_trait]
impl TransportFactory for Bounded {
    fn protocol(&self) -> &str {
        match self.form {
            Form::JsonRpc => TRANSPORT_PROTOCOL_JSONRPC,
            Form::HttpJson => TRANSPORT_PROTOCOL_HTTP_JSON,
        }
    }

    async fn create(
        &self,
        _: &AgentCard,
        interface: &AgentInterface,
    ) -> Result<Box<dyn Transport>, A2AError> {
        let url = Url::parse(&interface.url).map_err(|error| failed(&error.to_string()))?;
        let (client, form) = (self.client.clone(), self.form);
        Ok(Box::new(BoundedTransport { client, url, form, calls: AtomicI64::new(0) }))
    }
}

struct BoundedTransport {
    client: Client,
    url: Url,
    form: Form,
    calls: AtomicI64,
}

/// One operation, in both forms.
struct Call<'a> {
    rpc: &'static str,
    method: Method,
    /// Behind the address, each percent-encoded where it must be.
    path: &'a [&'a str],
    query: Option<(&'static str, String)>,
}

impl BoundedTransport {
    async fn call<Asked: ProtoJsonPayload, Answered: ProtoJsonPayload>(
        &self,
        params: &ServiceParams,
        call: Call<'_>,
        request: &Asked,
    ) -> Result<Answered, A2AError> {
        let response = self.send(params, call, request, "application/json").await?;
        protojson_conv::from_value(self.read(response).await?)
            .map_err(|error| failed(&format!("the answer is not what it should be: {error}")))
    }

    async fn listen(
        &self,
        params: &ServiceParams,
        call: Call<'_>,
        request: &SendMessageRequest,
    ) -> Result<BoxStream<'static, Result<StreamResponse, A2AError>>, A2AError> {
        let response = self.send(params, call, request, EVENTS).await?;
        let kind = response.headers().get(CONTENT_TYPE).map(|kind| kind.as_bytes());
        let is_stream = kind.is_none_or(|kind| kind.starts_with(EVENTS.as_bytes()));
        if !response.status().is_success() || !is_stream {
            // A refusal comes as a single answer.
            self.read(response).await?;
            return Err(failed("a single answer came where a stream was asked for"));
        }
        Ok(events(response, self.form))
    }

    async fn send<Asked: ProtoJsonPayload>(
        &self,
        params: &ServiceParams,
        call: Call<'_>,
        request: &Asked,
        accept: &str,
    ) -> Result<Response, A2AError> {
        let payload = protojson_conv::to_value(request)
            .map_err(|error| failed(&format!("the call cannot be written: {error}")))?;
        let mut asked = match self.form {
            Form::JsonRpc => {
                let id = JsonRpcId::Number(self.calls.fetch_add(1, Ordering::Relaxed));
                let body = JsonRpcRequest::new(id, call.rpc, Some(payload));
                self.client.post(self.url.clone()).json(&body)
            }
            Form::HttpJson => {
                let mut url = self.url.clone();
                if let Ok(mut segments) = url.path_segments_mut() {
                    segments.pop_if_empty().extend(call.path);
                }
                if let Some((name, value)) = &call.query {
                    url.query_pairs_mut().append_pair(name, value);
                }
                let has_body = call.method == Method::POST;
                let asked = self.client.request(call.method, url);
                if has_body { asked.json(&payload) } else { asked }
            }
        };
        for (name, value) in
            params.iter().flat_map(|(name, all)| all.iter().map(move |it| (name, it)))
        {
            asked = asked.header(name, value);
        }
        if let Some(trace) = current() {
            asked = asked.header(TRACEPARENT, trace.to_string());
        }
        let sent = asked.header(ACCEPT, accept).send().await;
        sent.map_err(|error| failed(&format!("the connection failed: {error}")))
    }

    /// A whole answer, which is not longer than it may be.
    async fn read(&self, response: Response) -> Result<Value, A2AError> {
        let status = response.status();
        let text = read_text(response, MAX_OUTPUT_BYTES).await;
        let text = text.map_err(|trouble| failed(trouble.why()))?;
        let told = || failed(&format!("it answered {status}: {text}"));
        match self.form {
            Form::JsonRpc => {
                let answer = serde_json::from_str(&text).map_err(|_| told())?;
                result_of(answer)?.ok_or_else(told)
            }
            Form::HttpJson => {
                let answer: Value = serde_json::from_str(&text).map_err(|_| told())?;
                match answer.pointer("/error/message").and_then(Value::as_str) {
                    _ if status.is_success() => Ok(answer),
                    Some(words) => Err(failed(words)),
                    None => Err(told()),
                }
            }
        }
    }
}

/// What a call came to.
fn result_of(answer: JsonRpcResponse) -> Result<Option<Value>, A2AError> {
    match answer.error {
        Some(error) => Err(A2AError::new(error.code, one_line(&error.message, MAX_QUOTED))),
        None => Ok(answer.result),
    }
}

/// The events of a stream. One that is too long ends it.
fn events(response: Response, form: Form) -> BoxStream<'static, Result<StreamResponse, A2AError>> {
    let ready: VecDeque<Result<StreamResponse, A2AError>> = VecDeque::new();
    let begin = Some((response, SseDecoder::new(), ready));
    let next = move |state| async move {
        let (mut response, mut decoder, mut ready): (Response, SseDecoder, VecDeque<_>) = state?;
        loop {
            if let Some(event) = ready.pop_front() {
                return Some((event, Some((response, decoder, ready))));
            }
            let chunk = match response.chunk().await {
                Ok(Some(chunk)) => chunk,
                Ok(None) => return None,
                Err(error) => {
                    let error = failed(&format!("the connection failed: {error}"));
                    return Some((Err(error), None));
                }
            };
            let decoded =
                decoder.push(&chunk, &mut |event| ready.extend(read_event(event.data, form)));
            if let Err(error) = decoded {
                ready.clear();
                return Some((Err(failed(&error.to_string())), None));
            }
        }
    };
    stream::unfold(begin, next).boxed()
}

/// None for an answer without a result, which says nothing.
fn read_event(data: &[u8], form: Form) -> Option<Result<StreamResponse, A2AError>> {
    let read = || -> Result<Option<StreamResponse>, A2AError> {
        let wrong = |error: &dyn std::fmt::Display| failed(&format!("an event is wrong: {error}"));
        let value: Value = serde_json::from_slice(data).map_err(|error| wrong(&error))?;
        let result = match form {
            Form::HttpJson => Some(value),
            Form::JsonRpc => {
                let answer = serde_json::from_value(value).map_err(|error| wrong(&error))?;
                result_of(answer)?
            }
        };
        result.map(|it| protojson_conv::from_value(it).map_err(|error| wrong(&error))).transpose()
    };
    read().transpose()
}

fn failed(why: &str) -> A2AError {
    A2AError::internal(one_line(why, MAX_QUOTED))
}

/// Nobody here asks for this.
fn unasked<T>() -> Result<T, A2AError> {
    Err(A2AError::unsupported_operation("tasks are sent, looked at and cancelled, and no more"))
}

#[async_trait]
impl Transport for BoundedTransport {
    async fn send_message(
        &self,
        params: &ServiceParams,
        request: &SendMessageRequest,
    ) -> Result<SendMessageResponse, A2AError> {
        let (rpc, path) = (methods::SEND_MESSAGE, &["message:send"]);
        self.call(params, Call { rpc, method: Method::POST, path, query: None }, request).await
    }

    async fn send_streaming_message(
        &self,
        params: &ServiceParams,
        request: &SendMessageRequest,
    ) -> Result<BoxStream<'static, Result<StreamResponse, A2AError>>, A2AError> {
        let (rpc, path) = (methods::SEND_STREAMING_MESSAGE, &["message:stream"]);
        self.listen(params, Call { rpc, method: Method::POST, path, query: None }, request).await
    }

    async fn get_task(
        &self,
        params: &ServiceParams,
        request: &GetTaskRequest,
    ) -> Result<Task, A2AError> {
        let (rpc, path) = (methods::GET_TASK, &["tasks", request.id.as_str()]);
        let query = request.history_length.map(|most| ("historyLength", most.to_string()));
        self.call(params, Call { rpc, method: Method::GET, path, query }, request).await
    }

    async fn cancel_task(
        &self,
        params: &ServiceParams,
        request: &CancelTaskRequest,
    ) -> Result<Task, A2AError> {
        let cancel = format!("{}:cancel", request.id);
        let (rpc, path) = (methods::CANCEL_TASK, &["tasks", cancel.as_str()]);
        self.call(params, Call { rpc, method: Method::POST, path, query: None }, request).await
    }

    async fn list_tasks(
        &self,
        _: &ServiceParams,
        _: &ListTasksRequest,
    ) -> Result<ListTasksResponse, A2AError> {
        unasked()
    }

    async fn subscribe_to_task(
        &self,
        _: &ServiceParams,
        _: &SubscribeToTaskRequest,
    ) -> Result<BoxStream<'static, Result<StreamResponse, A2AError>>, A2AError> {
        unasked()
    }

    async fn create_push_config(
        &self,
        _: &ServiceParams,
        _: &TaskPushNotificationConfig,
    ) -> Result<TaskPushNotificationConfig, A2AError> {
        unasked()
    }

    async fn get_push_config(
        &self,
        _: &ServiceParams,
        _: &GetTaskPushNotificationConfigRequest,
    ) -> Result<TaskPushNotificationConfig, A2AError> {
        unasked()
    }

    async fn list_push_configs(
        &self,
        _: &ServiceParams,
        _: &ListTaskPushNotificationConfigsRequest,
    ) -> Result<ListTaskPushNotificationConfigsResponse, A2AError> {
        unasked()
    }

    async fn delete_push_config(
        &self,
        _: &ServiceParams,
        _: &DeleteTaskPushNotificationConfigRequest,
    ) -> Result<(), A2AError> {
        unasked()
    }

    async fn get_extended_agent_card(
        &self,
        _: &ServiceParams,
        _: &GetExtendedAgentCardRequest,
    ) -> Result<AgentCard, A2AError> {
        unasked()
    }

    async fn destroy(&self) -> Result<(), A2AError> {
        Ok(())
    }
}

const EVENTS: &str = "text/event-stream";
const MAX_QUOTED: usize = 2000;
