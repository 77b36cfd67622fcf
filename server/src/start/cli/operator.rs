//! `lectern user …` and `lectern demo`: commands of the operator that write to the database directly.

use std::net::{IpAddr, Ipv4Addr};
use std::pin::pin;
use std::time::{Duration, Instant};

use entity_core::db::Transaction;
use entity_core::engine::{Origin, ReadBudget};
use entity_core::reply::Effect;
use entity_core::{Caller, ErrorKind, Reference};
use entity_providers::face::demo::scale::{self, Added, Part};
use entity_providers::face::demo::{self, Summary};
use entity_providers::people::user::{NewPassword, PasswordHash, User, known, operator};
use futures::future::BoxFuture;
use sea_orm::ConnectionTrait as _;
use tokio::time::sleep;

use super::arguments::{Demo, UserAction};
use super::open::start;
use super::output::{self, Failure, say};
use super::{prompt, users};
use crate::base::config::{Config, Profile};
use crate::web::app::App;

/// Fills an empty database.
pub(super) async fn demo(
    config: Config,
    options: &Demo,
    scale: Option<u32>,
) -> Result<(), Failure> {
    if config.profile == Profile::Production {
        return Err("demo data have a known password: they do not go into production".into());
    }
    let app = start(config).await?;
    let filled = fill(&app, &options.demo_password).await?;
    let summary =
        filled.ok_or("the database is not empty: demo data goes into an empty one only")?;
    say(&format!(
        "made {} users in {} sites",
        summary.cast.0.len(),
        summary.sites.len()
    ));
    for (prefix, number) in &summary.added {
        say(&format!("made {number} of the type {prefix}"));
    }
    if let Some(thousands) = scale {
        enlarge(&app, thousands).await?;
    }
    app.finish().await;
    Ok(())
}

/// Adds so many thousand users to the demo university in the database of `app`, each thousand in a transaction.
async fn enlarge(app: &App, thousands: u32) -> Result<(), Failure> {
    let origin = origin("demo");
    let start = Instant::now();
    let dispatcher = app.dispatcher.clone().with_write_limit(None);
    let mut sum = Added::default();
    for number in 0..thousands {
        let part = Part::thousand(number.into());
        let work = dispatcher.write(&origin, move |cx| {
            Box::pin(async move {
                let added = scale::add(cx, &part).await?;
                Ok((added, Effect::Acted(Reference::collection("site"))))
            })
        });
        sum += work.await?;
        say(&format!(
            "made {} users, {} sites, {} memberships and {} entities in {} s",
            sum.users,
            sum.sites,
            sum.members,
            sum.entities,
            start.elapsed().as_secs()
        ));
    }
    // How to find rows depends on how many there are.
    let content = &app.storage.content;
    let transaction = Transaction::begin(&content.writer, &content.faults).await?;
    transaction.execute_unprepared("ANALYZE").await?;
    transaction.commit().await?;
    Ok(())
}

/// Fills the database of `app`, unless it is not empty. Another node may be filling it: then this waits until it has.
pub(super) async fn fill(app: &App, password: &str) -> Result<Option<Summary>, Failure> {
    if !is_empty(app).await? {
        return Ok(None);
    }
    let hash = app.passwords.hash(password).await?;
    let origin = origin("demo");
    // Nobody else writes yet, whatever time this takes.
    let dispatcher = app.dispatcher.clone().with_write_limit(None);
    let work = demo::fill(&dispatcher, &origin, &hash);
    let mut work = pin!(work);
    let mut seconds = 0_u32;
    loop {
        tokio::select! {
            done = &mut work => return Ok(done?),
            () = sleep(Duration::from_secs(1)) => {
                seconds = seconds.saturating_add(1);
                tell_progress(seconds);
            }
        }
    }
}

/// Prints that the demo data are still being made.
fn tell_progress(seconds: u32) {
    output::note(&format!("making the demo data: {seconds} s"));
}

/// Returns whether the database of `app` is empty.
pub(super) async fn is_empty(app: &App) -> Result<bool, Failure> {
    let found = app
        .dispatcher
        .read(&origin("demo"), |cx| Box::pin(demo::is_empty(cx)))
        .await;
    Ok(found?)
}

/// Lists accounts, or makes or changes one.
pub(super) async fn user(config: Config, action: UserAction) -> Result<(), Failure> {
    if let UserAction::List { json } = action {
        return users::list(&config, json).await;
    }
    let is_production = config.profile == Profile::Production;
    let app = start(config).await?;
    let user = match action {
        UserAction::List { .. } => return Ok(()),
        UserAction::Add { eid, superuser } => {
            let password = read_password(&app, &eid, is_production).await?;
            change(&app, ("add", &eid.clone()), move |cx| {
                let (eid, password) = (eid.clone(), password.clone());
                Box::pin(async move { operator::add(cx, &eid, password, superuser).await })
            })
            .await
            .map_err(refuse_to_add)?
        }
        UserAction::Passwd { eid } => {
            let password = read_password(&app, &eid, is_production).await?;
            change(&app, ("passwd", &eid.clone()), move |cx| {
                let (eid, password) = (eid.clone(), password.clone());
                Box::pin(async move { operator::set_password(cx, &eid, password).await })
            })
            .await?
        }
        UserAction::Enable { eid } => {
            change(&app, ("enable", &eid.clone()), move |cx| {
                let eid = eid.clone();
                Box::pin(async move { operator::enable(cx, &eid).await })
            })
            .await?
        }
        UserAction::Disable { eid } => {
            change(&app, ("disable", &eid.clone()), move |cx| {
                let eid = eid.clone();
                Box::pin(async move { operator::disable(cx, &eid).await })
            })
            .await?
        }
    };
    say(&format!(
        "done: the account `{}` has the id {}",
        user.eid, user.id
    ));
    app.finish().await;
    Ok(())
}

fn refuse_to_add(error: entity_core::Error) -> Failure {
    match error.kind() {
        ErrorKind::Conflict => {
            format!("{error}: `lectern user passwd` gives it another password").into()
        }
        _ => error.into(),
    }
}

/// Changes the account `eid`. The audit log names it, and the system's user who ran the command.
async fn change<W>(app: &App, (command, eid): (&str, &str), work: W) -> entity_core::Result<User>
where
    W: for<'a> Fn(&'a entity_core::Context) -> BoxFuture<'a, entity_core::Result<User>>
        + Send
        + Sync,
{
    let actor = rustix::process::getuid().as_raw();
    let origin = origin(&format!("user {command} {eid} (by uid {actor})"));
    let done = app.dispatcher.write(&origin, |cx| {
        let changed = work(cx);
        Box::pin(async move {
            let user = changed.await?;
            let effect = Effect::Updated(Reference::entity("user", user.id.clone()));
            Ok((user, effect))
        })
    });
    done.await
}

/// Reads the password that the operator gives, and hashes it before the database is held for writing, which a service
/// may be at work on.
async fn read_password(app: &App, eid: &str, is_production: bool) -> Result<PasswordHash, Failure> {
    let text = given_password().await?;
    if is_production && known::is_known(&text, &[eid]) {
        let told = "everybody knows this password, and no service with the profile production would start: choose \
                    another one";
        return Err(told.into());
    }
    let password = NewPassword::new(&text)?;
    let passwords = app.dispatcher.shared().service()?;
    Ok(password.hash(&passwords).await?)
}

/// The password from the environment or, without one there, from the input. Never from the arguments, which everybody
/// on the machine can read.
#[expect(
    clippy::disallowed_methods,
    reason = "a password is no setting: nothing may keep or show it"
)]
async fn given_password() -> Result<String, Failure> {
    if let Ok(password) = std::env::var("LECTERN_PASSWORD") {
        return Ok(password);
    }
    prompt::password().await
}

fn origin(command: &str) -> Origin {
    Origin {
        caller: Caller::anonymous(),
        address: IpAddr::V4(Ipv4Addr::LOCALHOST),
        request_id: "operator".into(),
        method: "CLI".into(),
        path: command.into(),
        read_budget: ReadBudget::default(),
    }
}
