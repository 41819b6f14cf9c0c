//! `sabir up`: a node that other agents find, ask and check.

use std::io::{IsTerminal as _, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;
use clap::Args;
use sabir_base::text::one_line;
use sabir_host::sandbox::OwnState;
use sabir_host::{
    Crew, EXAMPLE_QUESTION, Inbox, MEMBERS, Member, Node, NodeConfig, SkillKit, TaskGate,
    VisitGate, load_policy_with,
};
use sabir_net::{Listening, Served, Token};
use sabir_telemetry::topic;
use serde::Serialize;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::drain::{drain, leave_on};
use super::house::{House, HouseSetup};
use super::me::{self, Me, folder_of};
use super::operator::{Others, ask_operator};
use super::own::{self, Inside};
use super::serving::{ServeArgs, called_at};
use super::telemetry::{LogArgs, Telemetry};
use crate::agent_args::{AgentArgs, block_on};
use crate::exit::Exit;
use crate::output::{Notes, Output};
use crate::research::desk::{DeskArgs, Sight};
use crate::signals::Signals;

/// Start a node: a delegate of your own, and a crew of three that are built in
///
/// Your own delegate offers what the configuration file says under [[skills]]; without one it offers
/// `echo`. Beside it there are a researcher, which answers from collections, a coder, which works in
/// this folder and needs a model, and a linguist for AXON and LLMX; [crew] switches them off.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir up
  sabir up --config sabir.toml --listen 127.0.0.1:0 --json
  sabir up --listen 0.0.0.0:7420 --token-file ~/.sabir-token --tls-cert node.pem --tls-key node.key

Then, elsewhere:
  sabir card ldp://127.0.0.1:7420
  sabir delegate \"hello\" --to ldp://127.0.0.1:7420 --skill echo
  sabir delegate \"INF(@a->@b): ok\" --to ldp://127.0.0.1:7420/delegates/linguist \\
      --skill language.repair
  sabir collection example
  sabir delegate \"How long is it from one high water to the next?\" --skill research \\
      --to ldp://127.0.0.1:7420/delegates/researcher

A node that other machines can reach demands a token (--token-file, or SABIR_TOKEN) or certificates
of its callers (--client-ca). Behind a proxy, --host names it and --plain-login lets people sign in
through it. Everything can also be said in sabir.toml, under [serve].

Ctrl-C and SIGTERM wait for programs that run, for --drain seconds; tasks of agents go on with the
next start. A second Ctrl-C stops at once.

Exit codes:
  0    it was told to end (SIGTERM), and what ran was written down
  1    it ended after it could not write any more
  2    the command line or the configuration is wrong, or an address cannot be used
  130  interrupted")]
pub(crate) struct UpArgs {
    #[command(flatten)]
    serve: ServeArgs,
    /// Print where it listens as a line of JSON on standard output; it holds the link to the console,
    /// which signs in whoever opens it
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    log: LogArgs,
    #[command(flatten)]
    desk: DeskArgs,
}

impl UpArgs {
    pub(crate) fn run(self, notes: &mut Notes) -> ExitCode {
        block_on(self.start(notes)).flatten().unwrap_or_else(|error| {
            notes.error(error);
            Exit::Unusable.into()
        })
    }

    async fn start(self, notes: &mut Notes) -> anyhow::Result<ExitCode> {
        let signals = Signals::listen();
        let home = self.desk.model.home.resolve()?;
        let path = self.desk.model.config_file()?;
        let mut config = me::read_config(&path)?;
        own::offer_something(&mut config)?;
        let mut telemetry = self.log.start(&config)?;
        let served = self.serve_watched(&home, config, &path, signals, &mut telemetry, notes).await;
        telemetry.stop().await;
        served
    }

    async fn serve_watched(
        self,
        home: &Path,
        mut config: NodeConfig,
        path: &Path,
        signals: Signals,
        telemetry: &mut Telemetry,
        notes: &mut Notes,
    ) -> anyhow::Result<ExitCode> {
        let folder = folder_of(path)?;
        let mut key_files = own::key_files(home, &config, &folder, &self.desk.model)?;
        let secret = config.secret_variables();
        let policy = load_policy_with(home, path)?;
        let Self { serve, json, desk: desk_args, .. } = self;
        let serving = serve.settle(&mut config, &folder, telemetry)?;
        key_files.extend(serving.secret_files.iter().cloned());
        let metrics_token = metrics_token(&config)?;
        // Addresses are cheaper to find wrong than a store is to open.
        let server = serving.bind().await?;
        let demand = serving.options.demand;
        let inside = Inside::open(&server.listening(), demand, &mut config).await?;
        let me = Me::serving(home, config, folder, &inside.url())?;
        telemetry.trace(me.delegate_id.as_str())?;
        let inbox = Inbox::default();
        let runner = || anyhow::Ok(AgentArgs::runner()?.withholding(secret.iter().cloned()));
        let engine = own::agent(&desk_args.model).open_with(runner()?, key_files.clone())?;
        let desk = desk_args.open_withholding(Sight::Hidden, &secret)?;
        let gate = VisitGate::new(home.to_owned(), policy.clone(), None);
        let gate = TaskGate::new(gate, inbox.clone());
        let kit = SkillKit {
            runner: Arc::new(runner()?),
            folder: me.folder.clone(),
            own: OwnState { folders: vec![home.to_owned()], key_files },
            desk: Some(desk.clone()),
            inbox: inbox.clone(),
            engine: Some(engine.clone()),
            gate: Some(gate.clone()),
        };
        let listening = server.listening();
        let first = listening.first().context("it listens nowhere")?;
        let endpoint = reached_at(first);
        let workspace = std::env::current_dir().context("the working directory is gone")?;
        let (node, crew) = own::start(home, &me, &engine, &kit, &endpoint, &workspace).await?;
        let stop = CancellationToken::new();
        let setup = HouseSetup {
            home,
            me: &me,
            engine: &engine,
            desk: &desk,
            inbox: &inbox,
            node: &node,
            crew: &crew,
            gate: &gate,
            inside: &inside,
            url: &endpoint,
            listening: &listening,
            needs_token: !serving.options.tokens.is_empty(),
            allow_egress: &desk_args.egress.allow_egress,
            has_console: serving.has_console,
            demand,
            metrics_token,
            plain_login: serving.plain_login,
            policy,
            config_file: path,
            stop: &stop,
        };
        let mut house = match House::open(&setup).await {
            Ok(house) => house,
            Err(error) => {
                tokio::join!(node.stop(), crew.stop());
                return Err(error);
            }
        };
        let mounts = std::mem::take(&mut house.mounts);
        let others = Others::behind(&mounts);
        if let Some((_, token)) = house.link.as_deref().and_then(|link| link.split_once("#token="))
        {
            telemetry.withhold(token);
        }
        let link = house.link.as_deref();
        let notes_for_people = (!telemetry.is_for_programs()).then_some(&mut *notes);
        announce(json, &node, &crew, &listening, link, notes_for_people)?;
        for Listening { transport, address } in &listening {
            let delegate = me.delegate_id.as_str();
            let version = env!("CARGO_PKG_VERSION");
            tracing::info!(target: topic::NODE, delegate, version, transport, address, "listening");
        }
        if let Some(warning) = serving.warning() {
            notes.line(format_args!("warning: {warning}"));
        }
        let leaving = CancellationToken::new();
        let ending = tokio::spawn(leave_on(signals, leaving.clone()));
        let asking = tokio::spawn(ask_operator(inbox, others, stop.clone()));
        // Whoever waits for an answer is given one while the server still can.
        let ended = async {
            let failed = tokio::select! {
                () = leaving.cancelled() => None,
                why = node.failure() => Some(format!(
                    "nothing can be written down any more, and nothing more is done: {why}"
                )),
                (name, why) = crew.failure() => Some(format!(
                    "the {name} can write nothing down any more, and does nothing more: {why}"
                )),
            };
            if let Some(failed) = &failed {
                notes.line(format_args!("error: {failed}"));
                leaving.cancelled().await;
            }
            tracing::info!(target: topic::NODE, "stopping");
            // First who asks, then who is asked: what runs is asked for again after the next start.
            house.leave().await;
            drain(&node, &crew, serving.drain, notes).await;
            tokio::join!(node.stop(), crew.stop());
            stop.cancel();
            failed
        };
        let members = crew.nodes().map(|(name, node)| (name.to_owned(), node.clone())).collect();
        let served = Served { root: node.clone(), members, mounts };
        let within = inside.serve(served.clone(), stop.clone());
        let serving = async {
            server.serve(served, stop.clone()).await;
            stop.cancel();
        };
        house.take_up();
        let again = node.take_up() + crew.take_up();
        if again > 0 {
            Notes::stderr().line(format_args!("tasks that go on from before: {again}"));
        }
        let ((), (), failure) = tokio::join!(serving, within, ended);
        engine.shutdown().await;
        asking.abort();
        let code = ending.await?;
        tracing::info!(target: topic::NODE, "stopped");
        Ok(if failure.is_some() { Exit::Found.into() } else { code })
    }
}

/// Says who is there, and where.
fn announce(
    json: bool,
    node: &Node,
    crew: &Crew,
    listening: &[Listening],
    link: Option<&str>,
    notes: Option<&mut Notes>,
) -> anyhow::Result<()> {
    let card = node.card();
    let skills: Vec<&str> = card.capabilities.iter().map(|it| it.name.as_str()).collect();
    let url = listening.first().map(reached_at).unwrap_or_default();
    let members: Vec<Announced> =
        crew.members().iter().map(|it| Announced::new(it, &url)).collect();
    if json {
        let mut output = Output::stdout();
        let said = json!({
            "delegate_id": card.delegate_id, "public_key": node.public_key().to_hex(),
            "listening": listening, "skills": skills, "members": members,
            "console": link,
        });
        writeln!(output, "{said}")?;
        output.flush()?;
    }
    let Some(notes) = notes else { return Ok(()) };
    notes.line(format_args!("{} offers {}", card.delegate_id, skills.join(", ")));
    for place in listening {
        notes.line(format_args!("listening on {}://{}", place.transport, place.address));
    }
    for member in &members {
        notes.line(member);
    }
    if let Some(skill) = skills.first() {
        let skill = one_line(skill, 60);
        notes.line(format_args!("try: sabir delegate \"hello\" --to {url} --skill {skill}"));
    }
    let researcher = members.iter().find(|it| it.name == "researcher" && it.state == "ready");
    if let Some(url) = researcher.and_then(|it| it.url.as_ref()) {
        notes.line(format_args!(
            "or:  sabir collection example\n     \
                 sabir delegate {EXAMPLE_QUESTION:?} --to {url} --skill research"
        ));
    }
    // Last, where whoever starts a node for the first time looks for it.
    match link {
        // What is not a terminal is often a log, which others read.
        Some(link) if std::io::stderr().is_terminal() => {
            notes.line(format_args!("console: {link}"));
        }
        Some(_) => notes.line(format_args!(
            "console: {url}/ (the token to sign in with is in console.token in the home)"
        )),
        None => {}
    }
    notes.line("Ctrl-C ends it");
    Ok(())
}

/// Somebody of the crew, as others are told.
#[derive(Debug, Serialize)]
struct Announced {
    name: &'static str,
    delegate_id: Option<String>,
    url: Option<String>,
    skills: Vec<String>,
    state: &'static str,
    why: Option<String>,
}

impl Announced {
    fn new(member: &Member, root: &str) -> Self {
        let card = member.node.as_ref().map(Node::card);
        let skills = card.iter().flat_map(|card| &card.capabilities);
        Self {
            name: member.name,
            delegate_id: card.as_ref().map(|card| card.delegate_id.to_string()),
            url: card.as_ref().map(|_| format!("{root}{MEMBERS}{}", member.name)),
            skills: skills.map(|it| it.name.to_string()).collect(),
            state: member.state.name(),
            why: member.state.why().map(str::to_owned),
        }
    }
}

impl std::fmt::Display for Announced {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { name, url, skills, why, .. } = self;
        match (url, why) {
            (None, _) => write!(f, "the {name} is switched off"),
            (Some(url), None) => write!(f, "the {name} at {url} offers {}", skills.join(", ")),
            (Some(url), Some(why)) => {
                write!(f, "the {name} at {url} offers nothing yet: {}", one_line(why, 400))
            }
        }
    }
}

/// Where somebody on this machine reaches it.
fn reached_at(place: &Listening) -> String {
    let Listening { transport, address } = place;
    format!("{transport}://{}", called_at(address))
}

/// The token for the counters alone, if there is one.
fn metrics_token(config: &NodeConfig) -> anyhow::Result<Option<Token>> {
    let Some(name) = &config.telemetry.metrics_token_env else { return Ok(None) };
    let text = me::environment(name).filter(|text| !text.is_empty());
    let text = text.with_context(|| format!("{name} in [telemetry] is not set"))?;
    Ok(Some(Token::new(&text).with_context(|| name.clone())?))
}
