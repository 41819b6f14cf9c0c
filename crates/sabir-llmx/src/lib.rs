//! The LLMX notation, whole: messages of compact blocks, as agents exchange them.
//!
//! Lenient in what it reads, with a diagnostic for whatever is not in the strict form; strict in
//! what it writes. This crate knows text and trees. It refuses to know files, clocks, sockets and
//! terminals.

mod batch;
mod block;
pub mod codes;
mod conversation;
pub mod grammar;
pub mod json;
mod normal;
mod parser;
mod path;
mod print;
mod reply;
mod same;
mod shortcut;
mod strings;
mod tree;
mod typed;
mod validate;
mod view;

pub use batch::{ActionState, Answer, BatchReport, BatchState, Batches};
pub use block::{BlockInfo, BlockKind, FieldInfo, FieldKind, MAX_SEQUENCE, Presence, Shape};
pub use conversation::{
    Conversation, Event, Handoff, Item, ItemId, ItemKind, ItemState, Receivers, State,
    check_conversation,
};
pub use parser::{MAX_DEPTH, Parsed, parse};
pub use path::{
    Component, LineRange, Link, Links, MAX_LINKS, PathError, PathPlace, PathRef, ResolvedPath,
    check_path, check_paths, escape, paths, resolve,
};
pub use print::print;
pub use reply::{Reply, Response, replies};
pub use same::same;
pub use shortcut::{Shortcut, expand, shortcuts};
pub use strings::{is_key, is_word, quote, quote_into};
pub use tree::{Kind, NodeId, Tree};
pub use typed::{
    Act, Ask, Blk, Content, Ctx, End, Extra, Header, Obs, Operation, Outcome, Plan, Priority,
    Receiver, Req, Res, Step, StepId, StepStatus, TypedMessage,
};
pub use validate::{check, check_messages, validate};
pub use view::{Block, Children, Field, Message, Node, Value, is_extension};
