//! `lectern serve`: until a signal says so.

use std::path::Path;
use std::time::{Duration, Instant};

use entity_providers::face::demo::Summary;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{sleep, timeout};

use super::arguments::Demo;
use super::open::start;
use super::operator;
use super::output::{Failure, say};
use crate::base::config::{Config, Problem, Profile};
use crate::base::health::HealthListener;
use crate::base::listen::{self, ListenOptions, descriptors};
use crate::web::app::App;
use crate::{
    base::memory,
    operate::{production, storage},
};

/// The storage failed: an input or output error, as `sysexits.h` numbers it.
const STORAGE_FAILED: i32 = 74;
/// The time for which a service whose storage failed goes on answering that it can't.
const LAST_ANSWERS: Duration = Duration::from_secs(2);

/// The time over that of a write after which it is certain that nothing ends it.
const UNENDED: Duration = Duration::from_secs(5);

/// Serves until a signal to stop; a second signal stops it at once. A stop always ends in time.
pub(super) async fn run(
    mut config: Config,
    file: Option<&Path>,
    options: &Demo,
) -> Result<(), Failure> {
    // Settings are read at the start, and log lines go to a stream that somebody else looks after: there is nothing that
    // this signal could ask for. Without this it would end the process.
    let _ignored = signal(SignalKind::hangup())?;
    let is_production = config.profile == Profile::Production;
    if options.demo && (is_production || config.is_exposed()) {
        return Err(
            "demo data have a known password: serve them on a loopback address only, and not in production".into(),
        );
    }
    if is_production {
        production::refuse_lone_store(&config)?;
    }
    memory::fit(&mut config);
    descriptors::provide(&mut config);
    let listening = ListenOptions::from(&config);
    let listener = listen::bind(config.listen).map_err(|error| {
        format!(
            "can't listen on {}: {error}; stop what listens there, or name another address and port with `--listen \
             ADDRESS:PORT` or the setting `listen`",
            config.listen
        )
    })?;
    let _claim = storage::claim(config.database.expose())?;
    let app = start(config).await?;
    // Crates that don't go together are told now, to the operator.
    app.description()?;
    if is_production {
        refuse_unsafe(&app, file).await?;
    }
    refuse_exposed(&app).await?;
    let _asked_for_health = listen_for_health(&app)?;
    if options.demo {
        let password = &options.demo_password;
        match operator::fill(&app, password).await? {
            Some(summary) => greet(&app.config.server_url(), &summary, password),
            None => say("the database is not empty: it is served as it is"),
        }
    } else if operator::is_empty(&app).await? {
        tracing::warn!(
            "nobody has an account yet: `lectern user add NAME --superuser` makes the first one"
        );
    }
    for ((name, version), types) in app.dispatcher.registry().origins() {
        tracing::info!("entity types of {name} {version}: {}", types.join(", "));
    }
    tracing::info!("listening on {}", app.config.listen);
    let proxies = app.config.proxy.clone();
    let stop = stop_signal()?;
    let (end, stop_at_once) = (stop_signal()?, stop_signal()?);
    let serving = listen::serve(
        listener,
        app.clone(),
        listening,
        move |address| proxies.trusts(address),
        app.health.clone(),
        stop.once(),
    );
    let work = async {
        serving.await;
        app.tidy_up().await;
    };
    let patience = app.stop_time();
    tokio::select! {
        () = work => {}
        () = stop_at_once.twice() => tracing::warn!("stopping at once"),
        () = end.once_and(&app, patience) => {}
        () = give_up(&app) => {}
    }
    app.cut_off().await;
    Ok(())
}

/// Ends the process when its storage has failed, once clients have their answers and load balancers had time to see
/// that no more requests are wanted. Nothing is tidied up: that would write. The next start recovers.
async fn give_up(app: &App) {
    app.storage.broken().await;
    app.health.drain();
    sleep(LAST_ANSWERS).await;
    tracing::error!("the storage failed: the service ends, and must be started again");
    std::process::exit(STORAGE_FAILED);
}

/// Refuses findings that the profile `production` does not allow, and logs the others as warnings.
async fn refuse_unsafe(app: &App, file: Option<&Path>) -> Result<(), Failure> {
    let findings = production::inspect(&app.config, file, &app.storage.content).await;
    for problem in findings?.accept()? {
        tracing::warn!("{problem}");
    }
    Ok(())
}

/// Refuses to let strangers log in with a password that they know, whatever the profile.
async fn refuse_exposed(app: &App) -> Result<(), Failure> {
    let found = production::inspect_exposure(&app.config, &app.storage.content).await;
    match found? {
        None => Ok(()),
        Some(problem) => Err(refuse_to_listen(&app.config, &problem).into()),
    }
}

/// Why it does not listen.
pub(super) fn refuse_to_listen(config: &Config, problem: &Problem) -> String {
    format!("can't listen on {}: {problem}", config.listen)
}

fn listen_for_health(app: &App) -> Result<Option<HealthListener>, Failure> {
    let Some(address) = app.config.health_listen else {
        return Ok(None);
    };
    let listener = HealthListener::start(address, app.health.clone(), app.figures.clone())
        .map_err(|error| {
            format!(
                "can't listen on {address}: {error}; stop what listens there, or name another address and port in the \
                 setting `health.listen`"
            )
        })?;
    tracing::info!("answering load balancers on {}", listener.address());
    Ok(Some(listener))
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

    /// Waits so long behind the first one, and not for a write that does not end. Tells why nothing more is waited for.
    async fn once_and(self, app: &App, patience: Duration) {
        self.once().await;
        let endless = async {
            loop {
                sleep(LAST_ANSWERS).await;
                let length = app.config.pool.write_hold + UNENDED;
                if let Some(work) = app.dispatcher.holders().stalled(Instant::now(), length) {
                    return work;
                }
            }
        };
        if let Ok(work) = timeout(patience, endless).await {
            tracing::warn!("stopping: a write does not end, and is given up: {work}");
        } else {
            tracing::warn!("stopping: not everything was finished within {patience:?}");
        }
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

/// Prints the accounts that can log in, the address to open, and a command that works when it is pasted.
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
