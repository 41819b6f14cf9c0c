//! Servers and clients: the transports of the queue pair, and the protocols of editors.
