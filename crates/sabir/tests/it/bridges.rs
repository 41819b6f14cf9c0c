//! The program as a server of tools for other programs.

mod stdio;
