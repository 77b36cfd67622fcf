//! A small university for an empty database: people, courses, a project and news, all of it recent.
//!
//! Types add their own data where they are registered: see [`Demo`].

mod people;
pub mod scale;
mod sites;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use chrono::TimeDelta;
use entity_core::schema::Schema;
use entity_core::{Context, Demo, Registry, Result, db};
use sea_orm::{
    ActiveModelTrait, ColumnTrait, EntityTrait, IntoActiveModel, QueryFilter, QuerySelect,
};

use crate::courses::announcement::MOTD_SITE;
use crate::people::authorizer::ADMIN_SITE;
use crate::people::user::known;
use crate::people::user::user;
use crate::storage::db::migrate::stand_alone;
use crate::storage::db::site;

pub use people::{Cast, Person};

/// The demo university as it was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The people, with the names that they log in by.
    pub cast: Cast,
    /// The ids of the sites.
    pub sites: Vec<String>,
    /// The groups of the first course: title and id.
    pub groups: Vec<(String, String)>,
    /// The number of entities that each type has added, by prefix.
    pub added: BTreeMap<&'static str, usize>,
}

/// Returns whether nobody has put anything into the database yet.
pub async fn is_empty(cx: &Context) -> Result<bool> {
    let users = user::Entity::find().select_only().column(user::Column::Id);
    let user: Option<String> = cx.db()?.first(users).await?;
    let sites = site::Entity::find().filter(site::Column::Id.is_not_in([ADMIN_SITE, MOTD_SITE]));
    let site: Option<site::Model> = cx.db()?.first(sites).await?;
    Ok(user.is_none() && site.is_none())
}

/// Fills an empty database, with what the types in `registry` add, and returns `None` if it is not empty. Everybody has the
/// password of which `password_hash` is the hash. Of several nodes that start at once, one does it while the others wait.
pub async fn fill(
    cx: &Context,
    password_hash: &str,
    registry: &Registry,
) -> Result<Option<Summary>> {
    stand_alone(cx.db()?).await?;
    if !is_empty(cx).await? {
        return Ok(None);
    }
    known::note(cx, password_hash).await?;
    let cast = people::fill(cx, password_hash).await?;
    let (sites, groups) = sites::fill(cx, &cast).await?;
    let added = fill_types(cx, registry, &to_demo(&cast, &sites, &groups)).await?;
    for site in &sites {
        cx.emit("site.add", format!("/site/{site}"), Some(site));
    }
    Ok(Some(Summary {
        cast,
        sites,
        groups,
        added,
    }))
}

/// Lets each type add its data. Returns the number of entities that each has added.
async fn fill_types(
    cx: &Context,
    registry: &Registry,
    demo: &Demo,
) -> Result<BTreeMap<&'static str, usize>> {
    let mut added = BTreeMap::new();
    for route in registry.routes() {
        if let Some(fill) = route.demo {
            added.insert(route.prefix, fill(cx, demo).await?);
        }
    }
    Ok(added)
}

fn to_demo(cast: &Cast, sites: &[String], groups: &[(String, String)]) -> Demo {
    let people = cast.0.iter().map(|it| (it.eid.clone(), it.id.clone()));
    let mut demo = Demo::default();
    demo.people = people.collect();
    demo.sites = sites.to_vec();
    demo.groups = groups.iter().cloned().collect();
    demo
}

/// The instant `before` now, in milliseconds.
fn ago(cx: &Context, before: TimeDelta) -> i64 {
    let instant = cx.now().checked_sub_signed(before);
    instant.unwrap_or_else(|| cx.now()).timestamp_millis()
}

/// `rows` as they are to be written, with the columns that searches look into.
fn folded<M, A>(rows: Vec<M>, schema: &Schema) -> Result<Vec<A>>
where
    M: IntoActiveModel<A>,
    A: ActiveModelTrait,
{
    let rows = rows.into_iter();
    rows.map(|it| db::folded(it, schema)).collect()
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
