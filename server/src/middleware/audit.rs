//! Writes an audit row for every request whose answer has not written one in its own transaction.

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;

use crate::app::App;
use crate::audit::AuditRow;
use crate::exchange;

/// Marks an answer whose audit row was committed together with what it did.
#[derive(Clone, Copy, Debug)]
pub struct Audited;

/// The layer.
pub async fn record(State(app): State<App>, request: Request, next: Next) -> Response {
    let time = app.now();
    let origin = match exchange::origin(&request) {
        Ok(origin) => origin,
        Err(error) => return app.refuse(&error, request.headers()),
    };
    let headers = request.headers().clone();
    let response = next.run(request).await;
    if response.extensions().get::<Audited>().is_some() {
        return response;
    }
    let row = AuditRow {
        time,
        request_id: origin.request_id,
        user_id: origin.caller.user_id().map(ToOwned::to_owned),
        session: origin.caller.session.as_deref().map(ToOwned::to_owned),
        address: origin.address,
        method: origin.method,
        path: origin.path,
        status: response.status().as_u16(),
    };
    match app.audit.record(row).await {
        Ok(()) => response,
        Err(error) => app.refuse(&error, &headers),
    }
}
