//! Somebody who is signed in to the console and does what its page does.

use anyhow::{Context as _, ensure};
use reqwest::header::{CONTENT_TYPE, COOKIE, ORIGIN, SET_COOKIE};
use reqwest::{Client, Response};
use serde_json::{Value, json};

use super::child::NodeChild;

#[derive(Clone)]
pub(super) struct Person {
    client: Client,
    url: String,
    pub(super) cookie: String,
    csrf: String,
}

impl Person {
    pub(super) async fn sign_in(node: &NodeChild) -> anyhow::Result<Self> {
        let client = Client::builder().no_proxy().build()?;
        let (url, csrf) = (node.url.clone(), String::new());
        let mut person = Self { client, url, cookie: String::new(), csrf };
        let token = json!({ "token": node.token });
        let answer = person.send("/api/login", None, &token).await?;
        let cookie = answer.headers().get(SET_COOKIE).context("no cookie")?.to_str()?;
        person.cookie = cookie.split(';').next().unwrap_or_default().to_owned();
        let said: Value = serde_json::from_slice(&answer.bytes().await?)?;
        person.csrf = said["csrf"].as_str().context("no word against forgeries")?.to_owned();
        Ok(person)
    }

    /// What a path answers, which has to be well.
    pub(super) async fn get(&self, path: &str) -> anyhow::Result<Value> {
        let answer = self.open(path).await?;
        Ok(serde_json::from_slice(&answer.bytes().await?)?)
    }

    /// The same, not read yet.
    pub(super) async fn open(&self, path: &str) -> anyhow::Result<Response> {
        let request = self.client.get(format!("{}{path}", self.url)).header(COOKIE, &self.cookie);
        checked(request.send().await.with_context(|| format!("GET {path}"))?, path).await
    }

    pub(super) async fn post(&self, path: &str, body: &Value) -> anyhow::Result<Value> {
        let answer = self.send(path, None, body).await?;
        Ok(serde_json::from_slice(&answer.bytes().await?)?)
    }

    /// The same under a key, so that it is done once.
    pub(super) async fn post_once(
        &self,
        path: &str,
        key: &str,
        body: &Value,
    ) -> anyhow::Result<Value> {
        let answer = self.send(path, Some(key), body).await?;
        Ok(serde_json::from_slice(&answer.bytes().await?)?)
    }

    async fn send(&self, path: &str, key: Option<&str>, body: &Value) -> anyhow::Result<Response> {
        let mut request = self.client.post(format!("{}{path}", self.url));
        request = request.header(CONTENT_TYPE, "application/json").header(ORIGIN, &self.url);
        request = request.header(COOKIE, &self.cookie).header("x-sabir-csrf", &self.csrf);
        if let Some(key) = key {
            request = request.header("idempotency-key", key);
        }
        let sent = request.body(body.to_string()).send().await;
        checked(sent.with_context(|| format!("POST {path}"))?, path).await
    }
}

async fn checked(answer: Response, path: &str) -> anyhow::Result<Response> {
    let status = answer.status();
    if status.is_success() {
        return Ok(answer);
    }
    let body = answer.text().await.unwrap_or_default();
    ensure!(status.is_success(), "{path} was answered with {status}: {body}");
    anyhow::bail!("{path} was answered with {status}")
}
