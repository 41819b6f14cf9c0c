//! A skill that says back what it is told: to try a connection, and to measure one.

use futures_util::future::{BoxFuture, FutureExt as _, ready};
use sabir_ldp::{Finished, TaskOrder};

use super::{Broken, News, Skill, signable};

#[derive(Debug)]
pub struct Echo;

impl Skill for Echo {
    fn at_once(&self, order: &TaskOrder) -> Option<Finished> {
        Some(Finished { output: signable(order.payload.to_value()), ..Finished::default() })
    }

    fn run(&self, order: TaskOrder, _news: News) -> BoxFuture<'static, Result<Finished, Broken>> {
        let output = signable(order.payload.to_value());
        ready(Ok(Finished { output, ..Finished::default() })).boxed()
    }
}
