//! What every packet begins with, and which packets there are. It knows neither what is asked nor
//! what is answered.

use sabir_base::json::{JsonKind, JsonValue};

use crate::problem::{Problems, read_json};
use crate::value::{ConversationId, PacketId, Timestamp, Whole};
use crate::wire::{Wire, choice, constant, expect, record};
use crate::{DataCheck, Parsed, Request, Response, codes};

/// Of every packet: which one it is, when it was made, where it belongs, who sends it.
#[derive(Clone, Debug, PartialEq)]
pub struct Envelope {
    pub id: PacketId,
    pub created_at: Timestamp,
    pub conversation: Conversation,
    pub sender: Role,
}

record! {
    /// Where a packet stands in a conversation.
    pub struct Conversation {
        "id" needed id: ConversationId,
        /// Grows with every request.
        "turn" needed turn: Turn,
    }
}

/// The number of a turn.
pub type Turn = Whole<0, { u32::MAX as u64 }>;

choice! {
    /// Who sends a packet.
    pub enum Role {
        User "user",
        Agent "agent",
        Assistant "assistant",
        Tool "tool",
    }
}

choice! {
    /// The types of packets. There is none for errors: a model that cannot answer says so in an
    /// answer, and a connection that fails is no packet.
    pub enum PacketKind {
        Request "request",
        Response "response",
    }
}

/// A packet of either type.
#[derive(Clone, Debug, PartialEq)]
pub enum Packet {
    Request(Request),
    Response(Response),
}

impl Packet {
    /// Reads a packet by what its `type` says. With a `request` it has to be a response, which is
    /// compared with it.
    pub fn parse(text: &str, request: Option<&Request>) -> Parsed<Packet> {
        parse(text, request, |text| Response::parse(text, request))
    }

    /// The same with a request, and the data of `web.extract` is compared with its schema.
    pub fn parse_with(text: &str, request: &Request, check_data: DataCheck<'_>) -> Parsed<Packet> {
        parse(text, Some(request), |text| Response::parse_with(text, request, check_data))
    }
}

fn parse(
    text: &str,
    request: Option<&Request>,
    read_response: impl FnOnce(&str) -> Parsed<Response>,
) -> Parsed<Packet> {
    let mut problems = Problems::default();
    match kind_of(text, request, &mut problems) {
        Some(PacketKind::Request) => Request::parse(text).map(Packet::Request),
        Some(PacketKind::Response) => read_response(text).map(Packet::Response),
        None => Parsed::new(None, problems),
    }
}

fn kind_of(text: &str, request: Option<&Request>, problems: &mut Problems) -> Option<PacketKind> {
    let json = read_json(text, MAX_REQUEST_BYTES, problems)?;
    let top = json.top();
    expect(top, JsonKind::Object, problems)?;
    let Some(value) = top.get("type") else {
        problems.error(top, codes::MISSING_KEY, "the key \"type\" is missing");
        return None;
    };
    let kind = PacketKind::read(value, problems)?;
    if kind == PacketKind::Request && request.is_some() {
        let message = "a request cannot answer a request";
        problems.error(value, codes::WRONG_PACKET_TYPE, message);
        return None;
    }
    Some(kind)
}

record! {
    /// The protocol that a packet is written in.
    pub(crate) struct Protocol {
        "name" needed name: ProtocolName,
        "version" needed version: ProtocolVersion,
    }
}

impl Protocol {
    pub(crate) const V1: Self = Self { name: ProtocolName, version: ProtocolVersion };
}

constant! {
    /// `laika.llmcp`.
    struct ProtocolName = "laika.llmcp", WRONG_PROTOCOL;
}

constant! {
    /// The only version so far.
    struct ProtocolVersion = 1, WRONG_VERSION;
}

constant! {
    /// The `type` of a request.
    struct RequestType = "request", WRONG_PACKET_TYPE;
}

constant! {
    /// The `type` of a response.
    struct ResponseType = "response", WRONG_PACKET_TYPE;
}

record! {
    /// Who sends the packet.
    pub(crate) struct Sender {
        "role" needed role: Role,
    }
}

/// The value that the keys lead to, or the last that is there on the way.
pub(crate) fn place<'a>(top: JsonValue<'a>, keys: &[&str]) -> JsonValue<'a> {
    keys.iter().try_fold(top, |value, key| value.get(key).ok_or(value)).unwrap_or_else(|last| last)
}

/// Tells of a sender who does not send such packets.
pub(crate) fn check_sender(
    top: JsonValue<'_>,
    sender: Role,
    allowed: &[Role],
    problems: &mut Problems,
) {
    if allowed.contains(&sender) {
        return;
    }
    let names: Vec<&str> = allowed.iter().map(|role| role.as_str()).collect();
    let message =
        format!("a packet of this type does not come from the role {:?}", sender.as_str());
    let help = format!("write one of: {}", names.join(", "));
    let value = place(top, &["sender", "role"]);
    problems.error_with_help(value, codes::WRONG_SENDER, message, help);
}

/// A thousand sources of a few kilobytes fit; what is larger should have been packed.
pub const MAX_REQUEST_BYTES: usize = 32 << 20;
/// Longer than any answer that a person reads, shorter than what would hurt.
pub const MAX_RESPONSE_BYTES: usize = 1 << 20;
