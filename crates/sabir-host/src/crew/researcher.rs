//! The researcher: sources into a collection, answers with citations that were checked, briefs. What a
//! model proposes beyond that goes through the gate, and to a person where the gate says so.

mod report;
mod request;
mod shelf;

use std::convert::Infallible;
use std::sync::Arc;

use futures_util::future::{BoxFuture, FutureExt as _};
use sabir_base::text::one_line;
use sabir_ldp::{Finished, TaskOrder, Usage};
use sabir_store::library::Collection;
use serde_json::{Map, Value, json};
use tokio::sync::{mpsc, watch};

use self::report::Report;
use self::request::{Request, Source};
use self::shelf::Shelf;
use super::{MemberState, Offer, RESEARCHER, capability};
use crate::desk::{
    Ask, CaptureOptions, Desk, DeskError, Input, Petition, ToolSet, transform_kinds,
};
use crate::inbox::{Asker, Decision, Inbox, Matter, MatterKind};
use crate::node::skill::llmcp::tell_usage;
use crate::node::{Broken, News, ResearcherConfig, Skill, SkillKit};
use crate::visits::TaskGate;

pub(super) fn offer(config: &ResearcherConfig, kit: &SkillKit) -> Offer {
    let Some(desk) = &kit.desk else {
        let why = "there is no desk with a model".to_owned();
        return Offer::without_model("answer from sources, but cannot", why);
    };
    let skills = Work::ALL.into_iter().filter_map(|work| {
        let researcher = Researcher {
            // Pages that others name are held to what the policy file says of captures.
            desk: desk.for_visitors(),
            inbox: kit.inbox.clone(),
            gate: kit.gate.clone(),
            shelf: Shelf { only: config.collections.clone() },
            work,
        };
        let offered = capability(work.name(), work.about(), "research", work.schema())?;
        Some((offered, Arc::new(researcher) as Arc<dyn Skill>))
    });
    Offer {
        description: "Captures pages into collections and answers from them; each citation is \
                      checked against the page."
            .to_owned(),
        model_family: None,
        model_version: Some(desk.model_name().to_owned()),
        skills: skills.collect(),
        state: MemberState::Ready,
        at_once: None,
        workspace: None,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Work {
    /// All of it: capture, answer, and a brief if one is wanted.
    Research,
    Capture,
    Answer,
    Brief,
}

impl Work {
    const ALL: [Self; 4] = [Self::Research, Self::Capture, Self::Answer, Self::Brief];

    fn name(self) -> &'static str {
        match self {
            Self::Research => "research",
            Self::Capture => "research.capture",
            Self::Answer => "research.answer",
            Self::Brief => "research.brief",
        }
    }

    fn about(self) -> &'static str {
        match self {
            Self::Research => {
                "Captures sources, answers a question from them with checked citations, and \
                 saves a brief if one is wanted."
            }
            Self::Capture => "Puts pages and texts into a collection.",
            Self::Answer => "Answers a question from a collection, with checked citations.",
            Self::Brief => "Makes a brief, or another artifact, of a collection.",
        }
    }

    fn schema(self) -> Value {
        let text = |about: &str| json!({ "type": "string", "description": about });
        let mut fields = Map::new();
        let mut put = |key: &str, value: Value| fields.insert(key.to_owned(), value);
        put("collection", text("By title or id. Without one, that which fits, or a new one."));
        if self != Self::Capture {
            put("question", text("What is to be found out; or the instruction."));
        }
        if matches!(self, Self::Research | Self::Capture) {
            let about = "Addresses of pages, and texts.";
            let list = json!({ "type": "array", "items": { "type": "string" } });
            put("sources", json!({ "anyOf": [list, { "type": "string" }], "description": about }));
        }
        if self == Self::Research {
            put("brief", json!({ "type": "boolean", "description": "Save a brief as well." }));
        }
        if self == Self::Brief {
            put("kind", json!({ "enum": transform_kinds(), "description": "What to make." }));
        }
        json!({ "type": "object", "properties": fields })
    }
}

#[derive(Debug, Clone)]
struct Researcher {
    desk: Desk,
    inbox: Inbox,
    gate: Option<TaskGate>,
    shelf: Shelf,
    work: Work,
}

impl Skill for Researcher {
    fn run(&self, order: TaskOrder, news: News) -> BoxFuture<'static, Result<Finished, Broken>> {
        let (meter, mut metered) = watch::channel(None);
        let desk = self.desk.metered(Arc::new(meter));
        let researcher = Self { desk, ..self.clone() };
        async move {
            let stop = news.stop().clone();
            // It hears itself when it is to stop, and writes down what it did until then.
            let done = tokio::select! {
                // A budget is held to while models are still asked.
                never = tell_usage(metered.clone(), &news) => match never {},
                done = researcher.carry_out(&order, &news) => done,
            };
            let done = match done {
                Err(_) if stop.is_cancelled() => Err("it was stopped".to_owned()),
                done => done,
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

impl Researcher {
    async fn carry_out(&self, order: &TaskOrder, news: &News) -> Result<Finished, String> {
        let request = Request::read(&order.payload.to_value())?;
        if matches!(self.work, Work::Answer | Work::Brief) && !request.sources.is_empty() {
            let name = self.work.name();
            return Err(format!("`{name}` takes no `sources`: `research` captures them first"));
        }
        if self.work == Work::Capture && request.sources.is_empty() {
            return Err("there are no `sources`: give addresses of pages, or texts".to_owned());
        }
        if matches!(self.work, Work::Research | Work::Answer) {
            request.question()?;
        }
        let (library, shelf) = (self.desk.library().clone(), self.shelf.clone());
        let (finding, request) = {
            let request = Arc::new(request);
            let wanted = Arc::clone(&request);
            (tokio::task::spawn_blocking(move || shelf.find(&library, &wanted)), request)
        };
        let collection = finding.await.map_err(|error| error.to_string())??;
        let mut report = Report::default();
        if !request.sources.is_empty() {
            self.capture(&collection, &request.sources, order, news, &mut report).await?;
        }
        if matches!(self.work, Work::Research | Work::Answer) {
            self.answer(&collection, request.question()?, order, news, &mut report).await?;
        }
        if self.work == Work::Brief || (self.work == Work::Research && request.brief) {
            let kind = request.kind.as_deref().unwrap_or(BRIEF);
            self.make(&collection, kind, news, &mut report).await?;
        }
        Ok(report.finished(&collection))
    }

    async fn capture(
        &self,
        collection: &Collection,
        sources: &[Source],
        order: &TaskOrder,
        news: &News,
        report: &mut Report,
    ) -> Result<(), String> {
        self.may_capture(sources, order, news).await?;
        let mut pages = Vec::new();
        for source in sources {
            match source {
                Source::Page(page) => pages.push(page.clone()),
                Source::Text(text) => {
                    let note = self.desk.add_note(&collection.id, None, text.clone()).await;
                    let note = note.map_err(|error| error.to_string())?;
                    let kept = json!({ "source": note.id.as_str(), "title": note.title });
                    report.captured.push(kept);
                }
            }
        }
        let (send, mut told) = mpsc::channel(16);
        let (desk, stop, id) = (&self.desk, news.stop(), &collection.id);
        let capturing =
            async move { desk.capture(id, &pages, CaptureOptions::default(), &send, stop).await };
        let listening = async {
            while let Some(said) = told.recv().await {
                report.note(said, news).await;
            }
        };
        let (captured, ()) = tokio::join!(capturing, listening);
        captured.map_err(|error| error.to_string())?;
        if report.captured.is_empty() {
            let why = report.failed.first().and_then(|it| it["why"].as_str()).unwrap_or_default();
            return Err(format!("none of the sources could be captured: {why}"));
        }
        Ok(())
    }

    /// Whoever the task is for is judged like a program that asks for the pages itself.
    async fn may_capture(
        &self,
        sources: &[Source],
        order: &TaskOrder,
        news: &News,
    ) -> Result<(), String> {
        let pages = sources.iter().filter_map(|source| match source {
            Source::Page(Input::Web(url)) => Some(url.to_string()),
            // There are no others: see `Source::read`.
            Source::Page(_) | Source::Text(_) => None,
        });
        let pages: Vec<String> = pages.collect();
        if pages.is_empty() {
            return Ok(());
        }
        let gate = self.gate.as_ref().ok_or("pages are not fetched for others here")?;
        let passed = gate.pass(order, RESEARCHER, &pages, news).await;
        passed.map_err(|refused| refused.to_string())
    }

    async fn answer(
        &self,
        collection: &Collection,
        question: &str,
        order: &TaskOrder,
        news: &News,
        report: &mut Report,
    ) -> Result<(), String> {
        news.progress(format!("answers from {}", one_line(&collection.title, MOST_SHOWN))).await;
        let ask = Ask {
            collection: collection.id.clone(),
            question: question.to_owned(),
            tools: ToolSet::Library,
            with_history: false,
        };
        let (send, petitions) = mpsc::channel(1);
        let answered = tokio::select! {
            answered = self.desk.ask(&ask, Some(&send), news.stop()) => answered,
            never = self.put_before_a_person(petitions, order, news) => match never {},
        };
        report.answered = Some(answered.map_err(|error| error.to_string())?);
        Ok(())
    }

    /// What the gate wants a person to decide about waits in the inbox.
    async fn put_before_a_person(
        &self,
        mut petitions: mpsc::Receiver<Petition>,
        order: &TaskOrder,
        news: &News,
    ) -> Infallible {
        while let Some(Petition { question, answer }) = petitions.recv().await {
            news.waiting_for_approval(format!("waiting for approval: {}", question.tool)).await;
            let asker = Asker::Task {
                key: order.key.clone(),
                skill: order.skill.clone(),
                delegate: RESEARCHER.to_owned(),
            };
            let what = question.in_full();
            let mut asked = self.inbox.ask(Matter::new(asker, MatterKind::Approval, what));
            let is_allowed = asked.decided().await != Decision::Deny;
            let word = if is_allowed { "allowed" } else { "denied" };
            news.progress(format!("{} was {word}", question.tool)).await;
            // Whoever was stopped meanwhile waits for nothing.
            let _ = answer.send(is_allowed);
        }
        std::future::pending().await
    }

    async fn make(
        &self,
        collection: &Collection,
        kind: &str,
        news: &News,
        report: &mut Report,
    ) -> Result<(), String> {
        news.progress(format!("makes a {}", one_line(&kind.replace('_', " "), MOST_SHOWN))).await;
        let made = self.desk.transform(&collection.id, kind, &Map::new(), news.stop()).await;
        let made = made.map_err(|error: DeskError| error.to_string())?;
        report.artifact =
            Some(json!({ "id": made.id.as_str(), "title": made.title, "kind": kind }));
        match &mut report.answered {
            Some(answered) => {
                answered.calls.extend(made.answered.calls);
                answered.notes.extend(made.answered.notes);
            }
            None => report.answered = Some(made.answered),
        }
        Ok(())
    }
}

/// What is made unless something else is wanted.
const BRIEF: &str = "executive_brief";
const MOST_SHOWN: usize = 80;
