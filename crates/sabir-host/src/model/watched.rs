//! What those who run a node see of one attempt: which model, how long, how many tokens, how it ended.
//! Neither the prompt nor the answer is seen, and the trace is not told to the server: who offers a
//! model is not to learn who asks for whom.

use sabir_engine::{FailureKind, ModelEvent, Usage};
use sabir_telemetry::{Span, SpanKind, metrics, topic};
use tokio::time::Instant;

/// One attempt. Dropping it before it is over means that nobody wanted to hear the rest.
pub(super) struct Call {
    span: Span,
    began: Instant,
    model: String,
    provider: String,
    is_over: bool,
}

impl Call {
    pub(super) fn begin(model: &str, provider: &str) -> Self {
        let mut span = Span::begin("model call", SpanKind::Client);
        span.set("gen_ai.request.model", model);
        span.set("gen_ai.provider.name", provider);
        let (model, provider) = (model.to_owned(), provider.to_owned());
        Self { span, began: Instant::now(), model, provider, is_over: false }
    }

    pub(super) fn heard(&mut self, event: &ModelEvent) {
        match event {
            ModelEvent::Completed { usage, .. } => self.completed(usage.as_ref()),
            ModelEvent::Failed(failure) => self.ended("failed", Some(word(failure.kind))),
            ModelEvent::TextDelta(_) | ModelEvent::ReasoningDelta(_) | ModelEvent::ItemDone(_) => {}
        }
    }

    fn completed(&mut self, usage: Option<&Usage>) {
        if let Some(Usage { input, cached, output, .. }) = usage.copied() {
            let tokens = &metrics().model_tokens;
            tokens.add("input", input);
            tokens.add("cached_input", cached);
            tokens.add("output", output);
            self.span.set("gen_ai.usage.input_tokens", input);
            self.span.set("gen_ai.usage.output_tokens", output);
        }
        let (input, output) = usage.map_or((0, 0), |usage| (usage.input, usage.output));
        let Self { model, provider, .. } = self;
        let duration_ms = millis(self.began);
        tracing::info!(
            target: topic::MODEL,
            model, provider, duration_ms, input_tokens = input, output_tokens = output, "answered"
        );
        self.ended("completed", None);
    }

    fn ended(&mut self, outcome: &str, why: Option<&'static str>) {
        self.is_over = true;
        metrics().model_calls.add(outcome, 1);
        metrics().model_time.observe(self.began.elapsed());
        if let Some(status) = why {
            let Self { model, provider, .. } = self;
            let duration_ms = millis(self.began);
            tracing::warn!(target: topic::MODEL, model, provider, duration_ms, status, "failed");
            self.span.fail(status);
        }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if !self.is_over {
            self.ended("cancelled", None);
        }
    }
}

fn millis(began: Instant) -> u64 {
    u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX)
}

fn word(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::Connect => "connect",
        FailureKind::RateLimited => "rate_limited",
        FailureKind::Server => "server",
        FailureKind::Disconnected => "disconnected",
        FailureKind::Idle => "idle",
        FailureKind::Incomplete => "incomplete",
        FailureKind::ContextLength => "context_length",
        FailureKind::Quota => "quota",
        FailureKind::Refused => "refused",
        FailureKind::Configuration => "configuration",
    }
}
