//! Drives the engine: processes, the sandbox, files, the clock, model clients and tools.
