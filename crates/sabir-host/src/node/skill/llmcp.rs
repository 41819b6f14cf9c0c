//! A skill that is a task of the desk: an answer from a collection, or a page of the web summed up or
//! filled into a schema. Nobody far away names a file of this machine.

use std::convert::Infallible;
use std::ffi::OsStr;
use std::sync::Arc;

use futures_util::future::{BoxFuture, FutureExt as _};
use sabir_capture::ReadOptions;
use sabir_ldp::{Finished, TaskOrder, Usage};
use sabir_store::library::Collection;
use serde_json::{Value, json};
use tokio::sync::watch;

use super::words::in_words;
use super::{Broken, News, Skill};
use crate::desk::{Answered, Ask, Desk, DeskError, Input, Reading, ToolSet};

#[derive(Debug, Clone)]
pub struct Llmcp {
    pub desk: Desk,
    pub task: LlmcpTask,
}

#[derive(Debug, Clone)]
pub enum LlmcpTask {
    /// From the sources of the collection of this name.
    Answer {
        collection: String,
    },
    Summarize,
    Extract,
}

impl Skill for Llmcp {
    fn run(&self, order: TaskOrder, news: News) -> BoxFuture<'static, Result<Finished, Broken>> {
        let skill = self.clone();
        async move {
            let (stop, input) = (news.stop().clone(), order.payload.to_value());
            let (meter, mut metered) = watch::channel(None);
            let desk = skill.desk.metered(Arc::new(meter));
            let skill = Self { desk, ..skill };
            let done = tokio::select! {
                biased;
                () = stop.cancelled() => Err("it was stopped".to_owned()),
                // A budget is held to while models are still asked.
                never = tell_usage(metered.clone(), &news) => match never {},
                done = skill.carry_out(&input, &news) => done,
            };
            let usage = Usage { tokens: *metered.borrow_and_update(), cost_usd: None };
            match done {
                Ok(finished) => Ok(Finished { usage, ..finished }),
                Err(why) => Err(Broken { usage, ..Broken::new(why) }),
            }
        }
        .boxed()
    }
}

/// Passes on what models use up, for as long as somebody wants to know.
pub(crate) async fn tell_usage(
    mut metered: watch::Receiver<Option<u64>>,
    news: &News,
) -> Infallible {
    while metered.changed().await.is_ok() {
        let tokens = *metered.borrow_and_update();
        news.usage(Usage { tokens, cost_usd: None }).await;
    }
    std::future::pending().await
}

impl Llmcp {
    async fn carry_out(&self, input: &Value, news: &News) -> Result<Finished, String> {
        let said = |error: DeskError| error.to_string();
        let answered = match &self.task {
            LlmcpTask::Answer { collection } => {
                let collection = self.find(collection.clone()).await?;
                let question = match &input["question"] {
                    Value::String(question) => question.clone(),
                    _ => in_words(input),
                };
                let ask = Ask {
                    collection: collection.id,
                    question,
                    tools: ToolSet::None,
                    with_history: false,
                };
                self.desk.ask(&ask, None, news.stop()).await.map_err(said)?
            }
            LlmcpTask::Summarize => {
                let (reading, name) = self.read(input, news).await?;
                let style = input["style"].as_str();
                self.desk.summarize(&reading, &name, style, news.stop()).await.map_err(said)?
            }
            LlmcpTask::Extract => {
                let schema = &input["schema"];
                if !schema.is_object() {
                    return Err("the input has no `schema`, a JSON Schema".to_owned());
                }
                let (reading, name) = self.read(input, news).await?;
                self.desk.extract(&reading, &name, schema, news.stop()).await.map_err(said)?
            }
        };
        Ok(finished(answered))
    }

    async fn find(&self, name: String) -> Result<Collection, String> {
        let library = self.desk.library().clone();
        let found = tokio::task::spawn_blocking(move || library.find_collection(&name)).await;
        found.map_err(|error| error.to_string())?.map_err(|error| error.to_string())
    }

    async fn read(&self, input: &Value, news: &News) -> Result<(Reading, String), String> {
        let address = input["url"].as_str().or(input.as_str()).unwrap_or_default().trim();
        let Ok(page @ Input::Web(_)) = Input::parse(OsStr::new(address)) else {
            return Err("the input has no `url` of a page".to_owned());
        };
        news.progress(format!("reads {address}")).await;
        let reading = self.desk.read(&page, &ReadOptions::default()).await;
        Ok((reading.map_err(|error| error.to_string())?, address.to_owned()))
    }
}

fn finished(answered: Answered) -> Finished {
    let output = json!({
        "title": answered.title,
        "text": answered.document.to_markdown(),
        "citations": answered.citations,
        "data": answered.data,
        "notes": answered.notes,
    });
    Finished { output, model_version: Some(answered.model), ..Finished::default() }
}
