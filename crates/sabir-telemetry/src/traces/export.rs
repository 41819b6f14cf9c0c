//! Sends steps to a collector, some at a time. What it has no room for is lost and counted; nobody
//! waits for it, but for a moment at the end.

use std::time::Duration;

use reqwest::header::CONTENT_TYPE;
use reqwest::redirect::Policy;
use reqwest::{Client, StatusCode};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use super::otlp;
use super::settings::{OtlpError, OtlpSettings};
use super::span::{STEPS, Step};
use crate::metrics::metrics;
use crate::{Withheld, topic};

/// Sends what is recorded, until it is told to stop.
#[derive(Debug)]
pub struct Exporter {
    stop: oneshot::Sender<()>,
    running: JoinHandle<()>,
}

struct Collector {
    http: Client,
    settings: OtlpSettings,
    resource: Value,
    withheld: Withheld,
    /// Whether it took what it was sent last: that it does not is told once.
    is_well: bool,
}

impl Exporter {
    /// Records every step of this process from now on. `instance` tells nodes apart.
    pub fn start(
        settings: OtlpSettings,
        instance: &str,
        withheld: Withheld,
    ) -> Result<Self, OtlpError> {
        // Whoever came first has installed the same provider: ring is the only one that is linked.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let host = settings.url.host_str().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        let is_near = host == "localhost"
            || host.parse::<std::net::IpAddr>().is_ok_and(|it| it.is_loopback());
        let mut builder = Client::builder()
            .user_agent(concat!("sabir/", env!("CARGO_PKG_VERSION")))
            // Its headers are for the one that was named.
            .redirect(Policy::none())
            .timeout(ANSWER);
        if is_near {
            builder = builder.no_proxy();
        }
        let http = builder
            .build()
            .map_err(|error| OtlpError::NoClient(error.without_url().to_string()))?;
        let resource = otlp::resource(&settings.service, instance);
        let collector = Collector { http, settings, resource, withheld, is_well: true };
        let (steps, waiting) = mpsc::channel(WAITING);
        STEPS.set(steps).map_err(|_| OtlpError::Twice)?;
        let (stop, stopped) = oneshot::channel();
        let running = tokio::spawn(collector.run(waiting, stopped));
        Ok(Self { stop, running })
    }

    /// Sends what waits, and comes back when that is done or after `limit`.
    pub async fn stop(self, limit: Duration) {
        let Self { stop, running } = self;
        let _ = stop.send(());
        let aborting = running.abort_handle();
        if timeout(limit, running).await.is_err() {
            aborting.abort();
        }
    }
}

impl Collector {
    async fn run(mut self, mut waiting: mpsc::Receiver<Step>, mut stop: oneshot::Receiver<()>) {
        let mut steps = Vec::new();
        loop {
            let is_over = tokio::select! {
                // The first is waited for, and then a little for others.
                count = waiting.recv_many(&mut steps, TOGETHER) => count == 0,
                _ = &mut stop => true,
            };
            if !is_over && steps.len() < TOGETHER {
                tokio::select! {
                    () = sleep(GATHER) => {}
                    _ = &mut stop => {
                        self.send_rest(steps, waiting).await;
                        return;
                    }
                }
                while steps.len() < TOGETHER
                    && let Ok(step) = waiting.try_recv()
                {
                    steps.push(step);
                }
            }
            if is_over {
                self.send_rest(steps, waiting).await;
                return;
            }
            self.send(&steps).await;
            steps.clear();
        }
    }

    async fn send_rest(&mut self, mut steps: Vec<Step>, mut waiting: mpsc::Receiver<Step>) {
        waiting.close();
        while let Some(step) = waiting.recv().await {
            steps.push(step);
        }
        for some in steps.chunks(TOGETHER) {
            self.send(some).await;
        }
    }

    async fn send(&mut self, steps: &[Step]) {
        let body = otlp::request(steps, &self.resource, &self.withheld).to_string();
        let mut told = self.post(body.clone()).await;
        if told.as_ref().is_err_and(|refused| refused.may_pass) {
            sleep(PAUSE).await;
            told = self.post(body).await;
        }
        let count = steps.len() as u64;
        match told {
            Ok(()) => {
                metrics().spans_sent.add(count);
                self.is_well = true;
            }
            Err(Refused { why, .. }) => {
                metrics().spans_dropped.add(count);
                if std::mem::replace(&mut self.is_well, false) {
                    let collector = self.settings.shown();
                    tracing::warn!(target: topic::TELEMETRY, collector, why, "traces are lost");
                }
            }
        }
    }

    async fn post(&self, body: String) -> Result<(), Refused> {
        let OtlpSettings { url, headers, .. } = &self.settings;
        let request = self.http.post(url.clone()).headers(headers.clone());
        let sent = request.header(CONTENT_TYPE, "application/json").body(body).send().await;
        match sent {
            Ok(answer) if answer.status().is_success() => Ok(()),
            Ok(answer) => {
                let status = answer.status();
                let may_pass = matches!(
                    status,
                    StatusCode::TOO_MANY_REQUESTS
                        | StatusCode::BAD_GATEWAY
                        | StatusCode::SERVICE_UNAVAILABLE
                        | StatusCode::GATEWAY_TIMEOUT
                );
                Err(Refused { why: format!("it answered {status}"), may_pass })
            }
            Err(error) => Err(Refused { why: error.without_url().to_string(), may_pass: true }),
        }
    }
}

struct Refused {
    why: String,
    may_pass: bool,
}

/// Steps that may wait to be sent: some seconds of a busy node, and a few megabytes.
const WAITING: usize = 8192;
/// Steps in one request.
const TOGETHER: usize = 512;
/// How long others are waited for before some are sent.
const GATHER: Duration = Duration::from_secs(1);
const PAUSE: Duration = Duration::from_secs(1);
const ANSWER: Duration = Duration::from_secs(10);
