//! Servers and clients: the transports of the queue pair, the protocols of editors, and that between
//! agents.

mod a2a_server;
mod acp;
mod caller;
mod channel;
mod delegation;
mod errands;
mod error;
mod greeting;
mod grpc;
mod guard;
mod heft;
mod http;
mod ldp;
mod lines;
mod mcp_server;
mod metrics;
mod orders;
mod server;
mod stdio;
mod token;
mod transport;
mod unix_path;
mod ws;

pub use a2a_server::{A2aAgent, A2aLimits, A2aOffer, A2aSetup, PushLimits, a2a_router};
pub use acp::serve_acp;
pub use delegation::{
    Address, AttemptOutcome, AttemptReport, Check, CheckOutcome, Chosen, Cost, Delegation,
    DelegationError, DelegationEvent, DelegationReport, DelegationRequest, Held, Judge, Judgement,
    LocalGround, Question, TaskInput, Unreachable, Verify,
};
pub use errands::{
    Errands, ErrandsError, Listed, Listing, Movement, OrderVisit, Placed, PlacedError, PlacedState,
    Placement, Placer, Reach, Step,
};
pub use error::ListenError;
/// What is generated from `spec/proto`: the messages, and a client for programs in Rust.
pub use grpc::v1 as queue_pair_v1;
pub use ldp::client::{
    AddressError, Base, Client, ClientSettings, ClientSetupError, Delivered, DiscoverError,
    Discovered, Errand, ErrandNews, HttpSettings, MeetError, Met, NewPin, Pace, PinError,
    PlainHttp, Session,
};
pub use ldp::{
    Demand, Entry, LdpLimits, LdpOptions, LdpServer, Mount, Rate, Served, TlsFiles, Visitor,
    ldp_openapi,
};
pub use lines::{LineSink, LineSource, lines};
pub use mcp_server::{ToolKit, ToolLimits, mcp_router, serve_mcp};
pub use metrics::{MetricsSetup, metrics_mount};
pub use orders::{
    Absence, Order, OrderAttempt, OrderAttemptOutcome, OrderBrief, OrderCapacity, OrderCheck,
    OrderChild, OrderChosen, OrderCost, OrderError, OrderFault, OrderId, OrderLimits, OrderLoad,
    OrderProgress, OrderRank, OrderRequest, OrderState, OrderVerify, Orders, OrdersSetup,
    OwnDelegate, People,
};
pub use server::{Listen, Listening, Server};
pub use stdio::serve_stdio;
pub use token::Token;
pub use transport::{Frame, Sink, Source, carry};
