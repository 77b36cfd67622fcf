//! The statement for a list of several sites on PostgreSQL, which takes the first rows of each site off that site's index.
//!
//! No index has the entities of several sites in order. Without this, PostgreSQL either sorts all that one may see, or
//! walks the index of the order through the entities of everybody: it guesses which of these is less, and the latter has
//! no end where the caller's sites are quiet. By this statement a list costs as much as it shows, for each site.

use sea_orm::{ConnectionTrait as _, DbBackend, Statement};

use super::read::{MOST_PASSED, selecting, to_bound};
use crate::contract::access::Scope;
use crate::contract::context::Context;
use crate::contract::search::Search;
use crate::db::record::definition::{Record, THIS};
use crate::db::record::from::{write_from, write_joins};
use crate::db::search::{write_behind, write_matches, write_order, write_order_of};
use crate::db::veil::Columns;
use crate::model::schema::{Field, Role};
use crate::words::error::{Error, Result};

/// Returns the sites, and the field that names them, if a list is to be read site by site.
pub(super) fn sites<'s, T: Record>(
    cx: &Context,
    search: &'s Search,
    columns: &Columns<'_>,
) -> Result<Option<(&'s [String], &'static Field)>> {
    let site = T::schema().role(Role::Site);
    let (Scope::Sites(sites), Some(site)) = (&search.scope, site) else {
        return Ok(None);
    };
    let first = search.order.first().and_then(|it| it.field.role);
    let is_served = cx.db()?.get_database_backend() == DbBackend::Postgres
        && site.column.is_some()
        && search.site().is_none()
        && search.start <= MOST_PASSED
        && !search.order.is_empty()
        && !matches!(first, Some(Role::Id | Role::Site))
        && search.order.iter().all(|it| it.field.sql.is_none())
        // An index of the owner leads to fewer rows, in all sites at once.
        && !T::SIGHT.is_some_and(|it| columns.is_of_owner(&it));
    Ok(is_served.then_some((sites.as_slice(), site)))
}

/// Returns the statement for the list of `sites`, which `site` names.
///
/// The keys of as many rows as are wanted are found in each site, merged and cut; then the rows are read.
pub(super) fn statement<T: Record>(
    cx: &Context,
    search: &Search,
    columns: &Columns<'_>,
    (sites, site): (&[String], &Field),
) -> Result<Statement> {
    let mut sql = selecting::<T>(cx, columns)?;
    let list = serde_json::to_string(sites).map_err(Error::internal)?;
    sql.push(" FROM (SELECT near.key, row_number() OVER (");
    write_order_of(&mut sql, &search.order, |sql, place, _| {
        sql.push(&format!("near.o{place}"));
        Ok(())
    })?;
    sql.push(") AS place FROM (SELECT DISTINCT jsonb_array_elements_text(")
        .bind(list);
    // A site that is named twice has its entities once.
    sql.push("::jsonb) AS site) AS own CROSS JOIN LATERAL (SELECT ");
    sql.column(THIS, T::KEY).push(" AS key");
    for (place, key) in search.order.iter().enumerate() {
        columns.write(sql.push(", "), key.field)?;
        sql.push(&format!(" AS o{place}"));
    }
    write_from::<T>(cx, &mut sql);
    columns.write_plain(sql.push(" WHERE "), site);
    sql.push(" = own.site");
    if let Some(sight) = T::SIGHT {
        columns.write_sight(sql.push(" AND "), &sight)?;
    }
    write_matches(&mut sql, search, T::schema(), columns)?;
    write_behind(&mut sql, search, columns)?;
    write_order(&mut sql, &search.order, columns)?;
    let most = search.fetch().saturating_add(search.start);
    sql.push(" LIMIT ").bind(to_bound(most)).push(") AS near");
    sql.push(" ORDER BY place LIMIT ")
        .bind(to_bound(search.fetch()));
    sql.push(" OFFSET ").bind(to_bound(search.start));
    sql.push(") AS chosen JOIN \"").push(T::TABLE).push("\" ");
    sql.push(THIS).push(" ON ");
    sql.column(THIS, T::KEY).push(" = chosen.key");
    write_joins::<T>(cx, &mut sql);
    // By the order itself, an index would be walked through everybody's entities again.
    sql.push(" ORDER BY chosen.place");
    Ok(sql.into_statement())
}
