//! The engine for editors that speak the Agent Client Protocol.
//!
//! One process serves one editor and any number of its sessions; each has an engine connection and
//! a task of its own. What an editor asks is answered from those tasks, so that nothing that waits
//! for a model or a person holds up the wire.

mod diffs;
mod input;
mod replay;
mod session;
mod tool_calls;
mod wire;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::schema::{
    self, AgentCapabilities, AuthenticateRequest, AuthenticateResponse, CancelNotification,
    Implementation, InitializeRequest, InitializeResponse, LoadSessionRequest, LoadSessionResponse,
    McpServer, NewSessionRequest, NewSessionResponse, PromptCapabilities, PromptRequest,
    PromptResponse, SessionId,
};
use agent_client_protocol::v1::{ConnectionTo, Responder};
use agent_client_protocol::{
    Agent, Client, Error, ErrorCode, on_receive_notification, on_receive_request,
};
use sabir_engine::ConfigureSession;
use sabir_host::Engine;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use session::{Command, Opened};
use wire::{Room, Wire};

/// Serves an editor on standard input and output until its input ends; then everything that was
/// started is ended too.
///
/// What `settings` says holds for every session, also over what is stored of one that is loaded.
pub async fn serve_acp(engine: &Engine, settings: ConfigureSession) {
    let room = Room::new();
    let desk = Desk::new(engine.clone(), settings, room.clone());
    let serving = serve(Arc::clone(&desk), wire::stdio(room));
    let mut serving = std::pin::pin!(serving);
    let over = desk.over.clone();
    let leaving = async {
        over.cancelled().await;
        desk.finish().await;
        tokio::time::sleep(LAST_WORDS).await;
    };
    // An editor that has closed its side and does not read either must not keep us alive.
    tokio::select! {
        () = &mut serving => {}
        () = leaving => {}
    }
    desk.finish().await;
}

/// How long an editor that has closed its side may take to read what was still said to it.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// What an editor may ask of one session before it is answered.
const COMMANDS_ON_THE_WAY: usize = 64;

/// What all sessions of an editor share.
struct Desk {
    engine: Engine,
    settings: ConfigureSession,
    room: Room,
    sessions: Mutex<HashMap<SessionId, mpsc::Sender<Command>>>,
    tasks: TaskTracker,
    /// The editor is gone.
    over: CancellationToken,
    /// The editor has a place for notices.
    takes_notices: AtomicBool,
}

async fn serve(desk: Arc<Desk>, transport: impl agent_client_protocol::ConnectTo<Agent> + 'static) {
    let [new, load, prompt, cancel, initialize] = std::array::from_fn(|_| Arc::clone(&desk));
    let over = desk.over.clone();
    let served = Agent
        .v1()
        .name("sabir")
        .on_receive_request(
            async move |request: InitializeRequest,
                        responder: Responder<InitializeResponse>,
                        _: ConnectionTo<Client>| {
                responder.respond(initialize.initialize(&request))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |_: AuthenticateRequest,
                        responder: Responder<AuthenticateResponse>,
                        _: ConnectionTo<Client>| {
                // No way to authenticate is offered, and none is needed.
                responder.respond(AuthenticateResponse::new())
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: NewSessionRequest,
                        responder: Responder<NewSessionResponse>,
                        editor: ConnectionTo<Client>| {
                new.new_session(request, responder, editor);
                Ok(())
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: LoadSessionRequest,
                        responder: Responder<LoadSessionResponse>,
                        editor: ConnectionTo<Client>| {
                load.load_session(request, responder, editor);
                Ok(())
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: PromptRequest,
                        responder: Responder<PromptResponse>,
                        _: ConnectionTo<Client>| { prompt.prompt(request, responder) },
            on_receive_request!(),
        )
        .on_receive_notification(
            async move |notification: CancelNotification, _: ConnectionTo<Client>| {
                cancel.cancel(&notification.session_id);
                Ok(())
            },
            on_receive_notification!(),
        )
        .on_close(async move |_| {
            over.cancel();
            Ok(())
        })
        .connect_to(transport)
        .await;
    // A wire that broke has ended, and there is nobody left to tell.
    drop(served);
}

impl Desk {
    fn new(engine: Engine, settings: ConfigureSession, room: Room) -> Arc<Self> {
        Arc::new(Self {
            engine,
            settings,
            room,
            sessions: Mutex::default(),
            tasks: TaskTracker::new(),
            over: CancellationToken::new(),
            takes_notices: AtomicBool::new(false),
        })
    }

    /// Ends every session, and waits until what they started is gone.
    async fn finish(&self) {
        self.over.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }

    fn initialize(&self, request: &InitializeRequest) -> InitializeResponse {
        let session = request.client_capabilities.session.as_ref();
        let takes_notices = session.is_some_and(|it| it.notices.is_some());
        self.takes_notices.store(takes_notices, Ordering::Relaxed);
        let prompt = PromptCapabilities::new().image(true).embedded_context(true);
        let capabilities = AgentCapabilities::new().load_session(true).prompt_capabilities(prompt);
        InitializeResponse::new(ProtocolVersion::V1)
            .agent_capabilities(capabilities)
            .agent_info(Implementation::new("sabir", env!("CARGO_PKG_VERSION")).title("Sabir"))
    }

    fn new_session(
        self: &Arc<Self>,
        request: NewSessionRequest,
        responder: Responder<NewSessionResponse>,
        editor: ConnectionTo<Client>,
    ) {
        let desk = Arc::clone(self);
        self.tasks.spawn(async move {
            let notices = unused(&request.mcp_servers, &request.additional_directories);
            let configure = match desk.configure(None, &request.cwd) {
                Ok(configure) => configure,
                Err(error) => return drop(responder.respond_with_error(error)),
            };
            match session::open(&desk.engine, configure).await {
                Ok(opened) => {
                    let id = SessionId::new(opened.session_id.clone());
                    let commands = desk.start(opened, editor, None);
                    // The editor learns the name before it hears anything under it.
                    let _ = responder.respond(NewSessionResponse::new(id));
                    let _ = commands.send(Command::Notify(notices)).await;
                }
                Err(words) => drop(responder.respond_with_error(failure(words))),
            }
        });
    }

    fn load_session(
        self: &Arc<Self>,
        request: LoadSessionRequest,
        responder: Responder<LoadSessionResponse>,
        editor: ConnectionTo<Client>,
    ) {
        let desk = Arc::clone(self);
        self.tasks.spawn(async move {
            let id = request.session_id;
            let notices = unused(&request.mcp_servers, &request.additional_directories);
            let configure = match desk.configure(Some(&id), &request.cwd) {
                Ok(configure) => configure,
                Err(error) => return drop(responder.respond_with_error(error)),
            };
            let commands = match desk.find(&id) {
                Some(commands) => {
                    let load = Command::Load { configure: Some(Box::new(configure)), responder };
                    // A session that has ended drops the responder, and that is an answer.
                    let _ = commands.send(load).await;
                    commands
                }
                None => match session::open(&desk.engine, configure).await {
                    Ok(opened) => {
                        let load = Command::Load { configure: None, responder };
                        desk.start(opened, editor, Some(load))
                    }
                    Err(words) => return drop(responder.respond_with_error(failure(words))),
                },
            };
            let _ = commands.send(Command::Notify(notices)).await;
        });
    }

    fn prompt(
        &self,
        request: PromptRequest,
        responder: Responder<PromptResponse>,
    ) -> Result<(), Error> {
        let Some(commands) = self.find(&request.session_id) else {
            let words = format!(
                "no session {} is open here: session/new opens one, session/load a stored one",
                request.session_id
            );
            let error = Error::from(schema::Error::session_not_found(request.session_id));
            return responder.respond_with_error(Error::new(error.code, words).data(error.data));
        };
        let items = match input::items(request.prompt) {
            Ok(items) => items,
            Err(words) => {
                return responder.respond_with_error(Error::new(ErrorCode::INVALID_PARAMS, words));
            }
        };
        match commands.try_send(Command::Prompt { items, responder }) {
            Ok(()) => Ok(()),
            Err(error) => {
                let words = match &error {
                    mpsc::error::TrySendError::Full(_) => "too much is asked of this session",
                    mpsc::error::TrySendError::Closed(_) => "the session has ended",
                };
                match error.into_inner() {
                    Command::Prompt { responder, .. } => {
                        responder.respond_with_error(failure(words.to_owned()))
                    }
                    _ => Ok(()),
                }
            }
        }
    }

    /// Cancelling what does not exist is not worth an answer: notifications have none.
    fn cancel(&self, id: &SessionId) {
        let Some(commands) = self.find(id) else { return };
        // At once where it can be: what is asked after it must come after it.
        if let Err(mpsc::error::TrySendError::Full(cancel)) = commands.try_send(Command::Cancel) {
            self.tasks.spawn(async move {
                let _ = commands.send(cancel).await;
            });
        }
    }

    fn find(&self, id: &SessionId) -> Option<mpsc::Sender<Command>> {
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.get(id).cloned()
    }

    /// Gives a session its task and what it is to do first, and makes it known.
    fn start(
        self: &Arc<Self>,
        opened: Opened,
        editor: ConnectionTo<Client>,
        first: Option<Command>,
    ) -> mpsc::Sender<Command> {
        let (commands, waiting) = mpsc::channel(COMMANDS_ON_THE_WAY);
        if let Some(first) = first {
            // The channel is empty and both of its ends are here.
            let _ = commands.try_send(first);
        }
        let id = SessionId::new(opened.session_id.clone());
        let wire = Wire {
            editor,
            session_id: id.clone(),
            room: self.room.clone(),
            takes_notices: self.takes_notices.load(Ordering::Relaxed),
            over: self.over.clone(),
        };
        let session = session::Session::new(opened, wire, commands.clone(), self.tasks.clone());
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.insert(id.clone(), commands.clone());
        drop(sessions);
        let desk = Arc::clone(self);
        self.tasks.spawn(async move {
            session.run(waiting).await;
            let mut sessions = desk.sessions.lock().unwrap_or_else(PoisonError::into_inner);
            sessions.remove(&id);
        });
        commands
    }
}

impl Desk {
    fn configure(
        &self,
        session_id: Option<&SessionId>,
        cwd: &Path,
    ) -> Result<ConfigureSession, Error> {
        let words = |words: String| Error::new(ErrorCode::INVALID_PARAMS, words);
        let named = cwd.to_str().ok_or_else(|| words(format!("{} is not UTF-8", cwd.display())))?;
        if !cwd.is_absolute() {
            return Err(words(format!("cwd must be absolute, and {named:?} is not")));
        }
        Ok(ConfigureSession {
            session_id: session_id.map(ToString::to_string),
            cwd: Some(named.to_owned()),
            ..self.settings.clone()
        })
    }
}

/// What an editor hands over that the engine has no use for. It is told, and not refused: the
/// session works without.
fn unused(servers: &[McpServer], folders: &[PathBuf]) -> Vec<String> {
    let mut notices = Vec::new();
    let names: Vec<&str> = servers
        .iter()
        .map(|server| match server {
            McpServer::Http(server) => server.name.as_str(),
            McpServer::Sse(server) => &server.name,
            McpServer::Stdio(server) => &server.name,
            _ => "one of an unknown kind",
        })
        .collect();
    if !names.is_empty() {
        notices.push(format!(
            "the MCP servers of the editor are not used in this session: {}",
            names.join(", ")
        ));
    }
    if !folders.is_empty() {
        let names: Vec<String> = folders.iter().map(|it| it.display().to_string()).collect();
        notices.push(format!(
            "this session works in one folder, and not in {} as well",
            names.join(", ")
        ));
    }
    notices
}

fn failure(words: String) -> Error {
    Error::new(ErrorCode::INTERNAL_ERROR, words)
}
