//! `sabir up`: a node that other agents find, ask and check.

use std::io::Write as _;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;
use clap::Args;
use sabir_base::text::one_line;
use sabir_host::process::Runner;
use sabir_host::sandbox::OwnState;
use sabir_host::{
    Approvals, CallerConfig, Engine, Evidence, Node, NodeConfig, SkillConfig, SkillKind, SkillKit,
    Surroundings,
};
use sabir_ldp::SkillName;
use sabir_net::{Demand, LdpOptions, LdpServer, Listening, TlsFiles, Token};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::me::{self, Me, folder_of};
use super::operator::ask_operator;
use crate::agent_args::{AgentArgs, runtime};
use crate::exit::Exit;
use crate::output::{Notes, Output};
use crate::proto::{address, stop_on};
use crate::research::desk::{DeskArgs, Sight};
use crate::signals::Signals;

/// Serve this node to other agents
///
/// What it offers is said in the configuration file, under [[skills]]; without one it offers `echo`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir up
  sabir up --config sabir.toml --listen 127.0.0.1:0 --json
  sabir up --listen 0.0.0.0:7420 --token-file ~/.sabir-token --tls-cert node.pem --tls-key node.key

Then, elsewhere:
  sabir card ldp://127.0.0.1:7420
  sabir delegate \"hello\" --to ldp://127.0.0.1:7420 --skill echo

A node that other machines can reach demands a token (--token-file, or SABIR_TOKEN) or certificates
of its callers (--client-ca).

Exit codes:
  0    it was told to end (SIGTERM), and what ran was written down
  1    it ended after it could not write any more
  2    the command line or the configuration is wrong, or an address cannot be used
  130  interrupted")]
pub(crate) struct UpArgs {
    /// Where to listen; port 0 takes a free one; can be given several times
    #[arg(long, value_name = "ADDR", value_parser = address, default_value = "127.0.0.1:7420")]
    listen: Vec<SocketAddr>,
    /// A file that only you can read, with the token that callers must send
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Demand the token from programs of this machine, too
    #[arg(long)]
    token_for_all: bool,
    /// Speak TLS: the file with the node's certificates
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// The file with the key of the certificate, which only you can read
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// The file with the authority that signs the certificates of callers
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    client_ca: Option<PathBuf>,
    /// Print where it listens as a line of JSON on standard output
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    desk: DeskArgs,
}

impl UpArgs {
    pub(crate) fn run(self, notes: &mut Notes) -> ExitCode {
        let runtime = match runtime() {
            Ok(runtime) => runtime,
            Err(error) => {
                notes.error(error);
                return Exit::Unusable.into();
            }
        };
        let served = runtime.block_on(self.serve(notes));
        // A thread may still wait for what a person types.
        runtime.shutdown_background();
        served.unwrap_or_else(|error| {
            notes.error(error);
            Exit::Unusable.into()
        })
    }

    async fn serve(self, notes: &mut Notes) -> anyhow::Result<ExitCode> {
        let signals = Signals::listen();
        let home = self.desk.model.home.resolve()?;
        let path = self.desk.model.config_file()?;
        let mut config = me::read_config(&path)?;
        if config.skills.is_empty() {
            config.skills.push(SkillConfig {
                name: SkillName::new("echo")?,
                description: Some("Gives back what it is given.".to_owned()),
                domains: Vec::new(),
                cost_hint: None,
                kind: SkillKind::Echo,
            });
        }
        let folder = folder_of(&path)?;
        let mut key_files = self.key_files(&home, &config, &folder);
        key_files.extend(self.desk.model.providers()?.key_files());
        let secret = config.secret_variables();
        let options = self.options(&mut config, &folder)?;
        // Addresses are cheaper to find wrong than a store is to open.
        let server = LdpServer::bind(self.listen.clone(), options).await?;
        let me = Me::with(&home, config, folder)?;
        let approvals = Approvals::default();
        let runner = || anyhow::Ok(AgentArgs::runner()?.withholding(secret.iter().cloned()));
        let engine = self.agent(runner()?, key_files.clone())?;
        let kit = SkillKit {
            runner: Arc::new(runner()?),
            folder: me.folder.clone(),
            own: OwnState { folders: vec![home.clone()], key_files },
            desk: Some(self.desk.open_withholding(Sight::Hidden, &secret)?),
            approvals: approvals.clone(),
            engine: Some(engine.clone()),
        };
        let listening = server.listening();
        let first = listening.first().context("it listens nowhere")?;
        let endpoint = reached_at(first);
        let surroundings =
            Surroundings { key: me.key.public_key(), endpoint: &endpoint, domains: &me.domains };
        let settings = me.config.settings(&kit, &surroundings, &me::environment)?;
        let (store, peers) = (engine.store().clone(), me.peers.clone());
        let node = Node::start(settings, store, peers, me.key.clone()).await?;
        self.announce(&node, &server.listening(), notes)?;
        let stop = CancellationToken::new();
        let ending = tokio::spawn(stop_on(signals, stop.clone()));
        let asking = tokio::spawn(ask_operator(approvals, stop.clone()));
        // Whoever waits for an answer is given one while the server still can.
        let ended = async {
            let why = tokio::select! {
                () = stop.cancelled() => None,
                why = node.failure() => Some(why),
            };
            if let Some(why) = &why {
                notes.line(format_args!(
                    "error: nothing can be written down any more, and nothing more is done: {why}"
                ));
                stop.cancelled().await;
            }
            node.stop().await;
            why
        };
        let serving = async {
            server.serve(node.clone(), stop.clone()).await;
            stop.cancel();
        };
        let ((), failure) = tokio::join!(serving, ended);
        engine.shutdown().await;
        asking.abort();
        let code = ending.await?;
        Ok(if failure.is_some() { Exit::Found.into() } else { code })
    }

    /// The engine, which owns the journal of the home.
    fn agent(&self, runner: Runner, key_files: Vec<PathBuf>) -> anyhow::Result<Engine> {
        let agent = AgentArgs { model: self.desk.model.clone(), approval: None, sandbox: None };
        agent.open_with(runner, key_files)
    }

    /// What neither confined programs nor agents may read: keys, and databases that hold some.
    fn key_files(&self, home: &Path, config: &NodeConfig, folder: &Path) -> Vec<PathBuf> {
        let said = self.token_file.iter().chain(&self.tls_key).cloned();
        let configured = config.tls.iter().map(|tls| &tls.key);
        let configured = configured.chain(config.identity.iter().map(|own| &own.key));
        let configured = configured.map(|key| folder.join(key));
        let databases = ["sabir.db", "peers.db"].into_iter().flat_map(|name| {
            // Also what is not in the main file yet.
            ["", "-wal", "-shm", "-journal"].map(|ending| home.join(format!("{name}{ending}")))
        });
        let own = std::iter::once(home.join("node.key")).chain(databases);
        let all = said.chain(configured).chain(own);
        // Commands start in folders of their own.
        all.map(|path| std::path::absolute(&path).unwrap_or(path)).collect()
    }

    /// How callers are let in, by what was said here and in the configuration.
    fn options(&self, config: &mut NodeConfig, beside: &Path) -> anyhow::Result<LdpOptions> {
        if let Some(token) = token(self.token_file.as_deref())? {
            let trust_domain = config.trust_domain.clone();
            let shows = Evidence::Token(token.fingerprint());
            config.callers.push(CallerConfig { trust_domain, shows });
        }
        let said = self.tls_cert.clone().zip(self.tls_key.clone());
        let tls = match (said, &config.tls) {
            (Some((certificates, key)), _) => {
                Some(TlsFiles { certificates, key, client_authority: self.client_ca.clone() })
            }
            (None, Some(tls)) => Some(TlsFiles {
                certificates: beside.join(&tls.certificate),
                key: beside.join(&tls.key),
                client_authority: tls.client_ca.as_ref().map(|it| beside.join(it)),
            }),
            (None, None) => None,
        };
        Ok(LdpOptions {
            tokens: config.tokens(&me::environment)?,
            demand: if self.token_for_all { Demand::Everyone } else { Demand::Elsewhere },
            tls,
            ..LdpOptions::default()
        })
    }

    fn announce(
        &self,
        node: &Node,
        listening: &[Listening],
        notes: &mut Notes,
    ) -> anyhow::Result<()> {
        let card = node.card();
        let skills: Vec<&str> = card.capabilities.iter().map(|it| it.name.as_str()).collect();
        if self.json {
            let mut output = Output::stdout();
            let said = json!({
                "delegate_id": card.delegate_id, "public_key": node.public_key().to_hex(),
                "listening": listening, "skills": skills,
            });
            writeln!(output, "{said}")?;
            output.flush()?;
        }
        notes.line(format_args!("{} offers {}", card.delegate_id, skills.join(", ")));
        for place in listening {
            notes.line(format_args!("listening on {}://{}", place.transport, place.address));
        }
        if let (Some(place), Some(skill)) = (listening.first(), skills.first()) {
            let url = reached_at(place);
            let skill = one_line(skill, 60);
            notes.line(format_args!(
                "try: sabir delegate \"hello\" --to {url} --skill {skill}\nCtrl-C ends it"
            ));
        }
        Ok(())
    }
}

/// Where somebody on this machine reaches it. An address that stands for all of them is none to call.
fn reached_at(place: &Listening) -> String {
    let Listening { transport, address } = place;
    let address = match address.parse::<SocketAddr>() {
        Ok(all) if all.ip().is_unspecified() => {
            let here: IpAddr = match all.is_ipv4() {
                true => Ipv4Addr::LOCALHOST.into(),
                false => Ipv6Addr::LOCALHOST.into(),
            };
            SocketAddr::new(here, all.port()).to_string()
        }
        Ok(_) | Err(_) => address.clone(),
    };
    format!("{transport}://{address}")
}

fn token(file: Option<&Path>) -> anyhow::Result<Option<Token>> {
    if let Some(path) = file {
        return Ok(Some(Token::from_file(path)?));
    }
    match me::environment("SABIR_TOKEN") {
        None => Ok(None),
        Some(text) => Ok(Some(Token::new(&text).context("SABIR_TOKEN")?)),
    }
}
