//! What a node has beside its delegates: orders for its router, conversations, a console for people,
//! and doors for programs that speak MCP or A2A.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use sabir_capture::HostPort;
use sabir_console::{About, Builtin, ConsoleSetup, ConsoleToken, Hint, ModelState, PlainLogin};
use sabir_host::{
    Conversations, Crew, Desk, Engine, Feed, Inbox, LocalServer, Member, MemberState, Node,
    TaskGate, VisitGate, detect_local, guard_under,
};
use sabir_net::{
    A2aAgent, A2aLimits, A2aOffer, A2aSetup, Absence, Demand, Entry, Listening, MetricsSetup,
    Mount, OrderLimits, Orders, OrdersSetup, Token, ToolKit, ToolLimits, a2a_router, mcp_router,
    metrics_mount,
};
use sabir_policy::{PolicyDoc, as_typed};
use tokio_util::sync::CancellationToken;

use super::me::Me;
use super::own::{Inside, WEBHOOKS};
use super::telemetry::{Gauged, gauges};
use crate::doctor::keys_that_are_set;

/// What a house is made of.
pub(super) struct HouseSetup<'a> {
    pub(super) home: &'a Path,
    pub(super) me: &'a Me,
    pub(super) engine: &'a Engine,
    pub(super) desk: &'a Desk,
    pub(super) inbox: &'a Inbox,
    pub(super) node: &'a Node,
    pub(super) crew: &'a Crew,
    /// Of the crew, which asks for whom a task is.
    pub(super) gate: &'a TaskGate,
    pub(super) inside: &'a Inside,
    /// Where people and programs of this machine reach it.
    pub(super) url: &'a str,
    pub(super) listening: &'a [Listening],
    /// Whether callers from elsewhere show a token.
    pub(super) needs_token: bool,
    pub(super) allow_egress: &'a [HostPort],
    pub(super) has_console: bool,
    /// Who must show a token, and the one for the counters alone.
    pub(super) demand: Demand,
    pub(super) metrics_token: Option<Token>,
    pub(super) plain_login: PlainLogin,
    /// What the gate goes by, and one of the files that say so.
    pub(super) policy: PolicyDoc,
    pub(super) config_file: &'a Path,
    pub(super) stop: &'a CancellationToken,
}

pub(super) struct House {
    orders: Orders,
    conversations: Conversations,
    pub(super) mounts: Vec<Mount>,
    /// Signs in whoever opens it.
    pub(super) link: Option<String>,
}

impl House {
    pub(super) async fn open(setup: &HouseSetup<'_>) -> anyhow::Result<Self> {
        let policy = setup.policy.clone();
        let store = setup.engine.store().clone();
        let feed = Feed::new(&store);
        let delegation = setup.inside.delegation(setup.me)?;
        let orders = Orders::open(OrdersSetup {
            delegation: delegation.clone(),
            store,
            feed: feed.clone(),
            own: setup.inside.own_delegates(setup.node, setup.crew)?,
            people: Some(Arc::new(setup.inbox.clone())),
            absence: Absence::default(),
            limits: OrderLimits::default(),
        })
        .await?;
        setup.engine.hand_on_to(Arc::new(orders.clone()));
        setup.gate.ask_about(Arc::new(orders.clone()));
        let conversations = Conversations::new(setup.engine.clone(), setup.inbox.clone());
        let mut mounts = setup.doors(&orders, &policy).await?;
        mounts.push(setup.metrics(&orders));
        let mut link = None;
        if setup.has_console {
            let token = ConsoleToken::of_home(setup.home)?;
            link = Some(token.link(setup.url));
            let console = ConsoleSetup {
                home: setup.home.to_owned(),
                token,
                config_file: setup.config_file.to_owned(),
                plain_login: setup.plain_login,
                about: setup.about(),
                models: setup.models(),
                hints: setup.hints().await,
                desk: setup.desk.clone(),
                policy,
                peers: setup.me.peers.clone(),
                delegation,
                inbox: setup.inbox.clone(),
                orders: orders.clone(),
                conversations: conversations.clone(),
                builtin: setup.builtin(),
                feed,
                stop: setup.stop.clone(),
            };
            let router = sabir_console::console(console);
            mounts.push(Mount { under: "/".to_owned(), router, entry: Entry::Own });
        }
        Ok(Self { orders, conversations, mounts, link })
    }

    /// Goes on with what was not done when the node last ended. Its delegates have to be served.
    pub(super) fn take_up(&self) {
        self.orders.resume_all();
    }

    /// What runs is left to the next start, and conversations end.
    pub(super) async fn leave(&self) {
        tokio::join!(self.orders.leave(), self.conversations.shutdown());
    }
}

impl HouseSetup<'_> {
    /// For programs of others.
    async fn doors(&self, orders: &Orders, policy: &PolicyDoc) -> anyhow::Result<Vec<Mount>> {
        let consent = || Some(Arc::new(self.inbox.clone()) as Arc<dyn sabir_host::Consent>);
        let gate = || VisitGate::new(self.home.to_owned(), policy.clone(), consent());
        let kit = ToolKit::new(
            self.desk.clone(),
            Arc::new(orders.clone()),
            gate(),
            ToolLimits::default(),
        );
        let mcp = mcp_router(Arc::new(kit), self.stop.clone());
        let nodes: Vec<Node> = std::iter::once(self.node.clone())
            .chain(self.crew.nodes().map(|(_, node)| node.clone()))
            .collect();
        let offers =
            move || nodes.iter().flat_map(|node| A2aOffer::of_card(&node.card())).collect();
        let card = self.node.card();
        let agent = A2aAgent::open(A2aSetup {
            name: card.name.clone(),
            description: card.description.clone().unwrap_or_else(|| ABOUT.to_owned()),
            base: self.url.to_owned(),
            offers: Arc::new(offers),
            needs_token: self.needs_token,
            errands: Arc::new(orders.clone()),
            gate: gate(),
            push_folder: self.push_folder(),
            guard: guard_under(policy, self.allow_egress.to_vec(), &[]),
            limits: A2aLimits::default(),
        })
        .await
        .with_context(|| format!("{}: cannot be used", self.push_folder().display()))?;
        let a2a = a2a_router(agent);
        let door =
            |under: &str, router| Mount { under: under.to_owned(), router, entry: Entry::Caller };
        Ok(vec![
            door("/mcp", mcp),
            door("/a2a", a2a.clone()),
            door("/.well-known/agent-card.json", a2a),
        ])
    }

    /// For whoever watches over many nodes.
    fn metrics(&self, orders: &Orders) -> Mount {
        let members = self.crew.members().iter();
        let members = members.filter_map(|member| Some((member.name, member.node.clone()?)));
        let gauged = Gauged {
            orders: orders.clone(),
            inbox: self.inbox.clone(),
            nodes: std::iter::once(("node", self.node.clone())).chain(members).collect(),
        };
        metrics_mount(MetricsSetup {
            token: self.metrics_token.clone(),
            demand: self.demand,
            more: Arc::new(move |text| gauges(&gauged, text)),
        })
    }

    fn push_folder(&self) -> PathBuf {
        self.home.join(WEBHOOKS)
    }

    fn about(&self) -> About {
        let card = self.node.card();
        let url = |place: &Listening| format!("{}://{}", place.transport, place.address);
        About {
            delegate_id: card.delegate_id.clone(),
            name: card.name.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            public_key: self.node.public_key().to_hex(),
            started_at_ms: now_ms(),
            listening: self.listening.iter().map(url).collect(),
        }
    }

    fn builtin(&self) -> Vec<Builtin> {
        let root = Builtin {
            name: "node".to_owned(),
            url: self.url.to_owned(),
            state: MemberState::Ready,
            card: Some(sabir_ldp::IdentityCard::clone(&self.node.card())),
        };
        let crew = self.crew.members().iter().map(|it| Builtin::of_crew(it, self.url));
        std::iter::once(root).chain(crew).collect()
    }

    fn coder(&self) -> Option<&Member> {
        self.crew.members().iter().find(|member| member.name == "coder")
    }

    fn models(&self) -> Vec<ModelState> {
        let desk = ModelState {
            provider: "researcher".to_owned(),
            model: self.desk.model_name().to_owned(),
            ready: true,
            why: "answers from what was collected".to_owned(),
        };
        let coder = self.coder().map(|coder| {
            let card = coder.node.as_ref().map(Node::card);
            ModelState {
                provider: "coder".to_owned(),
                model: match coder.state {
                    MemberState::Ready => card.map(|it| it.model_version.clone()),
                    MemberState::NoModel { .. } | MemberState::Off => None,
                }
                .unwrap_or_default(),
                ready: coder.state == MemberState::Ready,
                why: coder.state.why().unwrap_or("works on code").to_owned(),
            }
        });
        std::iter::once(desk).chain(coder).collect()
    }

    /// What a newcomer could do next. Only this machine is asked.
    async fn hints(&self) -> Vec<Hint> {
        let mut hints = vec![Hint {
            title: "See an answer with checked citations".to_owned(),
            text: "Load the example pages in Collections, and ask about them. No network and no \
                   model are needed."
                .to_owned(),
            command: Some("sabir collection example".to_owned()),
        }];
        let Some(MemberState::NoModel { why }) = self.coder().map(|coder| &coder.state) else {
            return hints;
        };
        let mut offered = Vec::new();
        for server in detect_local().await {
            let Some(model) = server.models.first() else { continue };
            offered.push(hint_of(&server, model));
        }
        let keys = keys_that_are_set();
        if !keys.is_empty() {
            offered.push(Hint {
                title: "There are keys of model providers".to_owned(),
                text: format!(
                    "The environment has {}. Nothing is sent to anybody until you name a provider \
                     in sabir.toml.",
                    keys.join(", ")
                ),
                command: Some("sabir config example".to_owned()),
            });
        }
        if offered.is_empty() {
            offered.push(Hint {
                title: "Give the coder a model".to_owned(),
                text: why.clone(),
                command: None,
            });
        }
        hints.extend(offered);
        hints
    }
}

/// A server of models on this machine, and how to use it. Whoever listens there says what its models
/// are called: their names are words of a command and nothing more.
fn hint_of(server: &LocalServer, model: &str) -> Hint {
    let words = ["sabir", "up", "--base-url", &server.base_url, "--wire", "chat"];
    let mut words: Vec<String> = words.map(str::to_owned).into();
    words.push(format!("--model={model}"));
    Hint {
        title: format!("{} is running on this machine", server.name),
        text: "Start the node with it, and the coder can work.".to_owned(),
        command: Some(as_typed(&words)),
    }
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

const ABOUT: &str = "Tasks are given to the delegate that does them best, and are on record.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_model_is_one_word_of_a_command() {
        let command = |model: &str| {
            let server = LocalServer {
                name: "Ollama".to_owned(),
                base_url: "http://127.0.0.1:11434/v1".to_owned(),
                models: vec![model.to_owned()],
            };
            hint_of(&server, model).command.unwrap()
        };
        let begin = "sabir up --base-url http://127.0.0.1:11434/v1 --wire chat ";
        assert_eq!(command("qwen3:8b"), format!("{begin}--model=qwen3:8b"));
        assert_eq!(command("x;curl a|sh"), format!("{begin}'--model=x;curl a|sh'"));
        assert_eq!(command("it's $(x)"), format!(r"{begin}'--model=it'\''s $(x)'"));
        assert_eq!(command("--help"), format!("{begin}--model=--help"));
    }
}
