//! Removes what is over: sessions that expired, failures to log in and kept results that no longer count.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use entity_core::{Caller, Effect, Origin, Reference};

use crate::app::App;
use crate::auth::Throttle;
use crate::direct::idempotency;
use crate::telemetry;

/// How often it looks.
const PAUSE: Duration = Duration::from_mins(1);

/// Cleans up until the service is gone. It holds no part of it while it waits.
pub(crate) async fn run(app: std::sync::Weak<crate::app::Inner>) {
    loop {
        tokio::time::sleep(PAUSE).await;
        let Some(app) = app.upgrade().map(App::from) else {
            return;
        };
        if let Err(error) = app.sessions().sweep().await {
            tracing::warn!(
                error = telemetry::cause(&error),
                "can't remove expired sessions"
            );
        }
        if let Err(error) = sweep_old_rows(&app).await {
            tracing::warn!(
                error = telemetry::cause(&error),
                "can't remove old failures to log in, and kept results"
            );
        }
    }
}

async fn sweep_old_rows(app: &App) -> entity_core::Result<()> {
    let throttle: Throttle = app.throttle;
    let origin = Origin {
        caller: Caller::anonymous(),
        address: IpAddr::V4(Ipv4Addr::LOCALHOST),
        request_id: "janitor".into(),
        method: "SWEEP".into(),
        path: "login_failure".into(),
    };
    app.dispatcher
        .write(&origin, move |cx| {
            Box::pin(async move {
                throttle.sweep(cx).await?;
                idempotency::sweep(cx).await?;
                Ok(((), Effect::Acted(Reference::collection("login_failure"))))
            })
        })
        .await
}
