//! signed
