//! The journal and its tables, in SQLite. The only crate that links a database.
