//! A small university for an empty database: people, courses, a project and news, all of it recent.
//!
//! The content of the sites is made by [requests](Demo) in `demo/*.json`, which types name where they are registered.

mod people;
pub mod scale;
mod sites;
mod terms;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use chrono::TimeDelta;
use entity_core::engine::demo::Demo;
use entity_core::engine::{Dispatcher, Origin};
use entity_core::reply::Effect;
use entity_core::{Context, Reference, Result, db};
use sea_orm::{
    ActiveModelTrait, ColumnTrait, EntityTrait, IntoActiveModel, QueryFilter, QuerySelect,
};

use crate::courses::announcement::MOTD_SITE;
use crate::people::site::id::ADMIN_SITE;
use crate::people::site::{Site, site};
use crate::people::user::known;
use crate::people::user::user;
use crate::storage::db::migrate::stand_alone;
use crate::talk::notification;

pub use people::{Cast, Person};

/// The maximum number of attempts to fill a database that others write to.
const TRIES: u32 = 4;
/// The maximum number of people who are told of something.
const MOST_TOLD: usize = 200;

/// The demo university as it was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The people, with the names that they log in by.
    pub cast: Cast,
    /// The ids of the sites.
    pub sites: Vec<String>,
    /// The groups of the first course: title and id.
    pub groups: Vec<(String, String)>,
    /// The number of entities in the sites, by the prefix of their type.
    pub added: BTreeMap<String, usize>,
}

/// Returns whether nobody has put anything into the database yet.
pub async fn is_empty(cx: &Context) -> Result<bool> {
    let users = user::Entity::find().select_only().column(user::Column::Id);
    let user: Option<String> = cx.db()?.first(users).await?;
    let sites = site::Entity::find().filter(site::Column::Id.is_not_in([ADMIN_SITE, MOTD_SITE]));
    let sites: Vec<Site> = db::load(cx, sites.limit(1)).await?;
    Ok(user.is_none() && sites.is_empty())
}

/// Fills an empty database, and returns `None` if it is not empty. Everybody has the password of which `password_hash` is the
/// hash. Of several nodes that start at once, one does it while the others wait.
///
/// # Errors
/// Returns an error if nothing was written because a request of a type is refused or the database can't be written to.
pub async fn fill(
    dispatcher: &Dispatcher,
    origin: &Origin,
    password_hash: &str,
) -> Result<Option<Summary>> {
    let mut tries = 1;
    loop {
        match try_to_fill(dispatcher, origin, password_hash).await {
            Err(error) if error.is_transient() && tries < TRIES => tries += 1,
            done => return done,
        }
    }
}

async fn try_to_fill(
    dispatcher: &Dispatcher,
    origin: &Origin,
    password_hash: &str,
) -> Result<Option<Summary>> {
    let mut unit = dispatcher.atomic(origin).await?;
    let cx = unit.context();
    stand_alone(cx.db()?).await?;
    if !is_empty(cx).await? {
        return Ok(None);
    }
    known::note(cx, password_hash).await?;
    let cast = people::fill(cx, password_hash).await?;
    terms::fill(cx).await?;
    let (sites, groups) = sites::fill(cx, &cast).await?;
    let people = cast.0.iter().map(|it| (it.eid.as_str(), it.id.as_str()));
    let of_groups = groups.iter().map(|it| (it.0.as_str(), it.1.as_str()));
    let mut demo = Demo::of(people, of_groups);
    for route in dispatcher.registry().routes() {
        if !route.demo.is_empty() {
            demo.fill(&mut unit, origin, route.demo).await?;
        }
    }
    let cx = unit.context();
    for event in &demo.told {
        notification::follow(cx, event, "", MOST_TOLD).await?;
    }
    for site in &sites {
        cx.emit("site.add", format!("/site/{site}"), Some(site));
    }
    let effect = Effect::Acted(Reference::collection("site"));
    unit.record(effect.into()).await?;
    unit.commit().await?;
    Ok(Some(Summary {
        cast,
        sites,
        groups,
        added: demo.made,
    }))
}

/// The instant `before` now, in milliseconds.
fn ago(cx: &Context, before: TimeDelta) -> i64 {
    let instant = cx.now().checked_sub_signed(before);
    instant.unwrap_or_else(|| cx.now()).timestamp_millis()
}

/// Inserts `rows` in one statement.
async fn insert<M, A>(cx: &Context, rows: Vec<M>) -> Result<usize>
where
    M: IntoActiveModel<A>,
    A: ActiveModelTrait + Send,
{
    let count = rows.len();
    let rows: Vec<A> = rows
        .into_iter()
        .map(IntoActiveModel::into_active_model)
        .collect();
    A::Entity::insert_many(rows)
        .exec_without_returning(cx.db()?)
        .await?;
    Ok(count)
}
