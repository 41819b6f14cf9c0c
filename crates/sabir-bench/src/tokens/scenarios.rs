//! The conversations that are measured, by family. Data only: each is a record, none is a text.

mod agreement;
mod data;
mod envelope;
mod exchange;
mod trouble;
mod work;

use crate::tokens::scenario::Scenario;

pub(crate) fn all() -> Vec<Scenario> {
    [
        exchange::queries(),
        agreement::negotiations(),
        exchange::subscriptions(),
        agreement::votes(),
        trouble::errors(),
        agreement::transactions(),
        work::plans(),
        work::batches(),
        work::delegations(),
        data::long_texts(),
        data::tables(),
        data::nestings(),
        trouble::blockers(),
        envelope::metadata(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
