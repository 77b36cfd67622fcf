//! Turns a panic into an answer: one request fails, the service goes on.

use std::panic::AssertUnwindSafe;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use entity_core::Error;
use futures::FutureExt as _;

use crate::app::App;

/// The layer.
pub async fn catch(State(app): State<App>, request: Request, next: Next) -> Response {
    let headers = request.headers().clone();
    match AssertUnwindSafe(next.run(request)).catch_unwind().await {
        Ok(response) => response,
        Err(panic) => {
            let text = panic
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| panic.downcast_ref::<&str>().copied())
                .unwrap_or("no text");
            app.refuse(&Error::internal(format!("panicked: {text}")), &headers)
        }
    }
}
