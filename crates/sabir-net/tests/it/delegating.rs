//! Delegations: whom a task is given to, what is made of failures, and who checks the result.

mod a2a;
mod checks;
mod choice;
mod hedging;
mod impostors;
mod mcp;
mod schemes;
