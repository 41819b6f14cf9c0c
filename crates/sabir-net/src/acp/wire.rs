//! The wire to an editor: lines in, lines out, and never more on their way than it reads.

use std::io;
use std::sync::Arc;

use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    ContentBlock, ContentChunk, Notice, NoticeSeverity, SessionId, SessionNotification,
    SessionUpdate, TextContent,
};
use agent_client_protocol::{Agent, Client, ConnectTo, Lines};
use futures_util::{sink, stream};
use tokio::io::{AsyncWriteExt, Stdout};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::lines::lines;
use crate::transport::{Frame, Source};

/// How many updates may wait to be written. The protocol's library queues without end, so that a
/// slow editor would fill the memory; instead it slows the model down.
const UPDATES_ON_THE_WAY: usize = 256;

/// Room for updates on the wire.
#[derive(Debug, Clone)]
pub(super) struct Room(Arc<Semaphore>);

impl Room {
    pub(super) fn new() -> Self {
        Self(Arc::new(Semaphore::new(UPDATES_ON_THE_WAY)))
    }

    fn written(&self, line: &str) {
        // Answers and requests are few, and take no room. The method stands before the parameters.
        let head = &line[..line.floor_char_boundary(80)];
        if head.contains("\"session/update\"") {
            self.0.add_permits(1);
        }
    }
}

/// Standard input and output as the lines of a connection.
pub(super) fn stdio(room: Room) -> impl ConnectTo<Agent> + 'static {
    let (source, _) = lines(tokio::io::stdin(), tokio::io::sink());
    let incoming = stream::unfold(source, async |mut source| {
        let line = match source.next().await? {
            Frame::Message(bytes) => String::from_utf8(bytes).unwrap_or_else(|_| unreadable()),
            Frame::TooLong | Frame::Unfit(_) => unreadable(),
            Frame::Broken => return None,
        };
        Some((Ok(line), source))
    });
    let outgoing = sink::unfold(
        (tokio::io::stdout(), room),
        |(mut stdout, room): (Stdout, Room), mut line: String| async move {
            line.push('\n');
            stdout.write_all(line.as_bytes()).await?;
            stdout.flush().await?;
            room.written(&line);
            Ok::<_, io::Error>((stdout, room))
        },
    );
    Lines::new(Box::pin(outgoing), Box::pin(incoming))
}

/// A line that is answered with a parse error, in the place of one that cannot be held or read.
fn unreadable() -> String {
    "\u{fffd}".to_owned()
}

/// One session's view of the editor.
#[derive(Debug, Clone)]
pub(super) struct Wire {
    pub(super) editor: ConnectionTo<Client>,
    pub(super) session_id: SessionId,
    pub(super) room: Room,
    pub(super) takes_notices: bool,
    pub(super) over: CancellationToken,
}

/// How much a person must see something that is beside the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Weight {
    /// It changes what they should expect.
    Warning,
    /// It explains a delay.
    Info,
}

impl Wire {
    pub(super) async fn update(&self, update: SessionUpdate) {
        let permit = tokio::select! {
            permit = self.room.0.acquire() => permit,
            () = self.over.cancelled() => return,
        };
        if let Ok(permit) = permit {
            // It comes back when the line is written.
            permit.forget();
            let notification = SessionNotification::new(self.session_id.clone(), update);
            let _ = self.editor.send_notification(notification);
        }
    }

    /// Says something beside the conversation, within it where the editor has no other place.
    pub(super) async fn notify(&self, weight: Weight, words: String) {
        let update = match (self.takes_notices, weight) {
            (true, Weight::Warning) => {
                SessionUpdate::Notice(Notice::new(NoticeSeverity::Warning, words))
            }
            (true, Weight::Info) => SessionUpdate::Notice(Notice::new(NoticeSeverity::Info, words)),
            (false, Weight::Warning) => {
                SessionUpdate::AgentMessageChunk(chunk(format!("[{words}]\n\n")))
            }
            (false, Weight::Info) => {
                SessionUpdate::AgentThoughtChunk(chunk(format!("[{words}]\n\n")))
            }
        };
        self.update(update).await;
    }
}

pub(super) fn chunk(text: String) -> ContentChunk {
    ContentChunk::new(ContentBlock::Text(TextContent::new(text)))
}
