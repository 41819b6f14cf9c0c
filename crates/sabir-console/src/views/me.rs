//! Who is signed in to what.

use std::sync::Arc;

use axum::extract::State;
use axum::{Extension, Json};
use serde_json::json;

use crate::door::SignedIn;
use crate::refused::Answer;
use crate::state::Console;

pub(crate) async fn show(
    State(console): State<Arc<Console>>,
    Extension(person): Extension<SignedIn>,
) -> Answer {
    let setup = &console.setup;
    Ok(Json(json!({
        "signed_in": true,
        "csrf": person.csrf(),
        "node": setup.about,
        "models": setup.models,
        "hints": setup.hints,
        "counts": {
            "inbox": setup.inbox.list().len(), "orders_running": setup.orders.running() },
    })))
}
