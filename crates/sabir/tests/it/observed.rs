//! What those who run a node are told of it: its log, its counters and its traces.

mod log;
mod metrics;
mod traces;
mod world;
