//! Servers and clients: the transports of the queue pair, the protocols of editors, and that between
//! agents.

mod acp;
mod channel;
mod delegation;
mod error;
mod greeting;
mod grpc;
mod guard;
mod http;
mod ldp;
mod lines;
mod server;
mod stdio;
mod token;
mod transport;
mod unix_path;
mod ws;

pub use acp::serve_acp;
pub use delegation::{
    Address, AttemptOutcome, AttemptReport, Check, CheckOutcome, Chosen, Cost, Delegation,
    DelegationError, DelegationEvent, DelegationReport, DelegationRequest, Judge, Judgement,
    LocalGround, Question, TaskInput, Unreachable, Verify,
};
pub use error::ListenError;
/// What is generated from `spec/proto`: the messages, and a client for programs in Rust.
pub use grpc::v1 as queue_pair_v1;
pub use ldp::client::{
    AddressError, Base, Client, ClientSettings, Delivered, DiscoverError, Discovered, Errand,
    ErrandNews, HttpSettings, HttpSetupError, MeetError, Met, NewPin, Pace, PinError, PlainHttp,
    Session,
};
pub use ldp::{Demand, LdpLimits, LdpOptions, LdpServer, Rate, TlsFiles, ldp_openapi};
pub use lines::{LineSink, LineSource, lines};
pub use server::{Listen, Listening, Server};
pub use stdio::serve_stdio;
pub use token::Token;
pub use transport::{Frame, Sink, Source, carry};
