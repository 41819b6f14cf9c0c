//! Drives the engine: processes, the sandbox, files, the clock, model clients and tools.

mod model;

pub use model::{
    LocalServer, ModelClient, ModelStream, Provider, ProviderError, Providers, Secret,
    detect_local, probe_local,
};
