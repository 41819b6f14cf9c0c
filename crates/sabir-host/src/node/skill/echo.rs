//! A skill that says back what it is told: to try a connection, and to measure one.

use futures_util::future::{BoxFuture, FutureExt as _, ready};
use sabir_ldp::{Finished, TaskOrder, Usage};

use super::{Broken, News, Skill, signable};

#[derive(Debug)]
pub struct Echo;

impl Skill for Echo {
    fn at_once(&self, order: &TaskOrder) -> Option<Finished> {
        Some(said_back(order))
    }

    fn run(&self, order: TaskOrder, _news: News) -> BoxFuture<'static, Result<Finished, Broken>> {
        ready(Ok(said_back(&order))).boxed()
    }
}

fn said_back(order: &TaskOrder) -> Finished {
    // No model is asked, which is known and need not be measured.
    let usage = Usage { tokens: Some(0), cost_usd: Some(0.0) };
    Finished { output: signable(order.payload.to_value()), usage, ..Finished::default() }
}
