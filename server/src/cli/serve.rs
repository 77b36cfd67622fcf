//! `lectern serve`: until a signal says so.

use entity_providers::demo::Summary;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use super::arguments::Demo;
use super::{Failure, operator, say, start};
use crate::config::Config;
use crate::listen::{self, ListenOptions};

/// Serves until the process is told to stop; a second signal stops it at once.
pub(super) async fn run(config: Config, options: &Demo) -> Result<(), Failure> {
    if options.demo && !config.listen.ip().is_loopback() {
        return Err(
            "demo data have a known password: serve them on a loopback address only".into(),
        );
    }
    let listener = TcpListener::bind(config.listen)
        .await
        .map_err(|error| format!("can't listen on {}: {error}", config.listen))?;
    let app = start(config).await?;
    if options.demo {
        if operator::is_empty(&app).await? {
            greet(
                &app.config.server_url(),
                &operator::fill(&app, &options.demo_password).await?,
                &options.demo_password,
            );
        } else {
            say("the database is not empty: it is served as it is");
        }
    }
    tracing::info!("listening on {}", app.config.listen);
    let trusted = app.config.clone();
    let stop = stop_signal()?;
    let stop_at_once = stop_signal()?;
    let serving = listen::serve(
        listener,
        app.clone(),
        ListenOptions::from(&app.config),
        move |address| trusted.trusts(address),
        app.health.clone(),
        stop.once(),
    );
    tokio::select! {
        () = serving => {}
        () = stop_at_once.twice() => tracing::warn!("stopping at once"),
    }
    app.finish().await;
    Ok(())
}

/// Waits for the signals that end a process.
struct StopSignal {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
}

fn stop_signal() -> Result<StopSignal, Failure> {
    Ok(StopSignal {
        terminate: signal(SignalKind::terminate())?,
        interrupt: signal(SignalKind::interrupt())?,
    })
}

impl StopSignal {
    async fn once(mut self) {
        self.next().await;
    }

    async fn twice(mut self) {
        self.next().await;
        self.next().await;
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

/// Tells who can log in, what to open, and a command that works when it is pasted.
fn greet(base: &str, summary: &Summary, password: &str) {
    let sites = summary
        .sites
        .iter()
        .map(|it| format!("  {base}/direct/site/{it}.html"))
        .collect::<Vec<_>>()
        .join("\n");
    let people = summary
        .cast
        .0
        .iter()
        .map(|it| it.eid.as_str())
        .collect::<Vec<_>>()
        .join(", ");
    say(&format!(
        "Lectern serves a small university.\n\n\
         Open:\n  {base}/direct\n{sites}\n\n\
         Log in as one of these, with the password `{password}`:\n  {people}\n\n\
         Or try:\n  curl -s -c jar -d username=student1 -d password={password} {base}/api/login && \
         curl -s -b jar {base}/direct/site.json\n"
    ));
}
