//! `sabir mcp`: this node's tools for a program that speaks the Model Context Protocol.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use clap::Args;
use sabir_host::sandbox::OwnState;
use sabir_host::{
    Decision, Engine, Feed, HostError, Inbox, SkillKit, TaskGate, VisitGate, load_policy_with,
};
use sabir_net::{
    Absence, Demand, OrderLimits, Orders, OrdersSetup, Served, ToolKit, ToolLimits, serve_mcp,
};
use sabir_store::StoreError;
use tokio_util::sync::CancellationToken;

use super::me::{self, Me, folder_of};
use super::own::{self, Inside};
use crate::agent_args::{AgentArgs, block_on};
use crate::exit::Exit;
use crate::output::Notes;
use crate::proto::stop_on;
use crate::research::desk::{DeskArgs, Sight};
use crate::signals::Signals;

/// Serve this node's tools over standard input and output (Model Context Protocol)
///
/// The tools: delegate, run_task, ask, capture, axon_check, axon_repair, convert. What they do passes
/// the policy file and is in the audit; what would have to be asked for is refused, because nobody
/// can be asked here.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir mcp                     start this from a program that uses tools
  sabir mcp --home ~/research --model extractive

While a node runs on the same home (sabir up), connect to it instead: http://127.0.0.1:7420/mcp

When the input ends, and on Ctrl-C and SIGTERM, it ends too; tasks that run are taken up by the next
start.

Exit codes:
  0    the program is gone, or it was told to end (SIGTERM)
  2    the command line or the configuration is wrong, or the home is in use
  130  interrupted")]
pub(crate) struct McpArgs {
    #[command(flatten)]
    desk: DeskArgs,
}

impl McpArgs {
    pub(crate) fn run(self, notes: &mut Notes) -> ExitCode {
        block_on(self.serve()).flatten().unwrap_or_else(|error| {
            notes.error(error);
            Exit::Unusable.into()
        })
    }

    async fn serve(self) -> anyhow::Result<ExitCode> {
        let signals = Signals::listen();
        let home = self.desk.model.home.resolve()?;
        let path = self.desk.model.config_file()?;
        let mut config = me::read_config(&path)?;
        own::offer_something(&mut config)?;
        let folder = folder_of(&path)?;
        let key_files = own::key_files(&home, &config, &folder, &self.desk.model)?;
        let secret = config.secret_variables();
        let policy = load_policy_with(&home, &path)?;
        let engine = self.engine(&home, &secret, key_files.clone())?;
        // The node's own delegates are asked as all others are, behind a port that nobody is told.
        let inside = Inside::open(&[], Demand::Elsewhere, &mut config).await?;
        let me = Me::serving(&home, config, folder, &inside.url())?;
        let desk = self.desk.open_withholding(Sight::Hidden, &secret)?;
        let inbox = Inbox::default();
        let gate = VisitGate::new(home.clone(), policy.clone(), None);
        let gate = TaskGate::new(gate, inbox.clone());
        let kit = SkillKit {
            runner: Arc::new(AgentArgs::runner()?.withholding(secret.iter().cloned())),
            folder: me.folder.clone(),
            own: OwnState { folders: vec![home.clone()], key_files },
            desk: Some(desk.clone()),
            inbox: inbox.clone(),
            engine: Some(engine.clone()),
            gate: Some(gate.clone()),
        };
        let workspace = std::env::current_dir().context("the working directory is gone")?;
        let url = inside.url();
        let (node, crew) = own::start(&home, &me, &engine, &kit, &url, &workspace).await?;
        let stop = CancellationToken::new();
        let members = crew.nodes().map(|(name, node)| (name.to_owned(), node.clone())).collect();
        let served = Served { root: node.clone(), members, mounts: Vec::new() };
        let delegation = inside.delegation(&me)?;
        let own = inside.own_delegates(&node, &crew)?;
        let serving = tokio::spawn(inside.serve(served, stop.clone()));
        let denying = tokio::spawn(deny_all(inbox));
        let store = engine.store().clone();
        let orders = Orders::open(OrdersSetup {
            delegation,
            feed: Feed::new(&store),
            store,
            own,
            people: None,
            absence: Absence::default(),
            limits: OrderLimits::default(),
        })
        .await?;
        engine.hand_on_to(Arc::new(orders.clone()));
        gate.ask_about(Arc::new(orders.clone()));
        orders.resume_all();
        node.take_up();
        crew.take_up();
        let gate = VisitGate::new(home, policy, None);
        let kit = ToolKit::new(desk, Arc::new(orders.clone()), gate, ToolLimits::default());
        let ending = tokio::spawn(stop_on(signals, stop.clone()));
        let (input, output) = (tokio::io::stdin(), tokio::io::stdout());
        let served = Box::pin(serve_mcp(Arc::new(kit), input, output, stop.clone())).await;
        let is_told = stop.is_cancelled();
        // Tasks first: what their delegates are asked about, the next start asks again.
        orders.leave().await;
        stop.cancel();
        serving.await?;
        tokio::join!(node.stop(), crew.stop());
        engine.shutdown().await;
        denying.abort();
        served?;
        match is_told {
            true => Ok(ending.await?),
            false => Ok(Exit::Done.into()),
        }
    }

    /// The engine, which owns the journal of the home.
    fn engine(
        &self,
        home: &Path,
        secret: &[String],
        key_files: Vec<PathBuf>,
    ) -> anyhow::Result<Engine> {
        let runner = AgentArgs::runner()?.withholding(secret.iter().cloned());
        match own::agent(&self.desk.model).open_with(runner, key_files) {
            Err(error) => match error.downcast_ref::<HostError>() {
                Some(HostError::Store(StoreError::InUse { pid, .. })) => {
                    let who = pid.map(|pid| format!(" (process {pid})")).unwrap_or_default();
                    bail!(
                        "{} is in use by another program{who}; if that is `sabir up`, connect to its \
                         address instead, for example http://127.0.0.1:7420/mcp, or name another --home",
                        home.display()
                    )
                }
                _ => Err(error),
            },
            opened => opened,
        }
    }
}

/// Nobody is there to be asked, and nobody waits for them.
async fn deny_all(inbox: Inbox) {
    let mut changes = inbox.watch();
    loop {
        for matter in inbox.list() {
            // Whoever asked may be gone already.
            let _ = inbox.decide(matter.id, Decision::Deny);
        }
        if changes.changed().await.is_err() {
            return;
        }
    }
}
