//! The statement for a list of several sites, which takes the first rows of each site off that site's index.
//!
//! No index has the entities of several sites in order. Without this, a database sorts all that one may see, or walks
//! the index of the order through the entities of everybody, which has no end where the caller's sites are quiet:
//! PostgreSQL guesses which of these is less. By this statement a list costs as much as it shows, for each site.

use std::borrow::Cow;

use sea_orm::{ConnectionTrait as _, DbBackend, Statement};

use super::read::{MOST_PASSED, begin_chosen, end_chosen, selecting, to_bound};
use crate::contract::access::Scope;
use crate::contract::context::Context;
use crate::contract::search::{Cell, Search, Test};
use crate::db::record::constants::Constants;
use crate::db::record::definition::THIS;
use crate::db::record::from::write_from;
use crate::db::redaction::Columns;
use crate::db::search::{write_behind, write_matches, write_order, write_order_of};
use crate::db::sql::Sql;
use crate::model::schema::{Field, Role};
use crate::primitives::error::{Error, Result};

/// Sites, and the field that names them.
pub(super) type Sites<'s> = (Cow<'s, [String]>, &'static Field);

/// Returns the sites, and the field that names them, if a list is to be read site by site.
pub(super) fn sites<'s>(
    of: &Constants,
    cx: &Context,
    search: &'s Search,
    columns: &Columns<'_>,
) -> Result<Option<Sites<'s>>> {
    let site = of.schema().role(Role::Site);
    let Some(site) = site.filter(|_| of.source.is_none()) else {
        return Ok(None);
    };
    let sites = match &search.scope {
        Scope::Sites(sites) => Cow::Borrowed(sites.as_slice()),
        // A caller who may see everything asks for some sites.
        Scope::Everything => match named(search, site) {
            Some(sites) => Cow::Owned(sites),
            None => return Ok(None),
        },
    };
    let first = search.order.first().and_then(|it| it.field.role);
    let is_postgres = cx.db()?.get_database_backend() == DbBackend::Postgres;
    let is_redacted = |name: &str| of.redacted.iter().any(|it| it.field == name);
    let is_served = site.column.is_some()
        && search.site().is_none()
        && search.start <= MOST_PASSED
        && !search.order.is_empty()
        && first != Some(Role::Site)
        && search.order.iter().all(|it| it.field.sql.is_none())
        && (is_postgres || !search.order.iter().any(|it| is_redacted(it.field.name)))
        // An index of the owner leads to fewer rows, in all sites at once.
        && !of.sight.is_some_and(|it| columns.is_of_owner(&it));
    Ok(is_served.then_some((sites, site)))
}

/// Returns the sites to one of which a filter narrows a list, if there is such a filter.
fn named(search: &Search, site: &Field) -> Option<Vec<String>> {
    let mut filters = search
        .filters
        .iter()
        .filter(|it| it.field.name == site.name);
    let cells = filters.find_map(|it| match &it.test {
        Test::In(cells) => Some(cells),
        _ => None,
    });
    let texts = cells?.iter().map(|it| match it {
        Cell::Text(text) => Some(text.clone()),
        _ => None,
    });
    texts.collect()
}

/// Returns the statement for the list of `sites`, which `site` names.
///
/// The keys of as many rows as are wanted are found in each site, merged and cut; then the rows are read.
pub(super) fn statement(
    of: &Constants,
    cx: &Context,
    search: &Search,
    columns: &Columns<'_>,
    (sites, site): Sites<'_>,
) -> Result<Statement> {
    let list = serde_json::to_string(&sites).map_err(Error::internal)?;
    let mut sql = selecting(of, cx, columns)?;
    begin_chosen(&mut sql);
    // A site that is named twice has its entities once.
    if sql.backend() == DbBackend::Postgres {
        // By a place that it sorts by itself, PostgreSQL knows that the rows come in order.
        sql.push("near.key, row_number() OVER (");
        write_order_of(&mut sql, &search.order, |sql, place, _| {
            sql.push(&format!("near.o{place}"));
            Ok(())
        })?;
        sql.push(") AS place FROM (SELECT DISTINCT jsonb_array_elements_text(");
        sql.bind(list);
        sql.push("::jsonb) AS site) AS own CROSS JOIN LATERAL (");
        write_nearest(of, cx, &mut sql, search, (columns, site))?;
        sql.push(") AS near ORDER BY place");
    } else {
        sql.column(THIS, of.key);
        sql.push(" AS key FROM (SELECT DISTINCT value AS site FROM json_each(");
        sql.bind(list).push(")) AS own");
        // What SQLite has for `LATERAL`: the argument of a function that makes a table follows from the row before.
        sql.push(" CROSS JOIN json_each((SELECT json_group_array(one.key) FROM (");
        write_nearest(of, cx, &mut sql, search, (columns, site))?;
        sql.push(") AS one)) AS near CROSS JOIN \"").push(of.table);
        sql.push("\" ").push(THIS).push(" ON ");
        sql.column(THIS, of.key).push(" = near.value");
        write_order(&mut sql, &search.order, columns)?;
    }
    sql.push(" LIMIT ").bind(to_bound(search.fetch()));
    sql.push(" OFFSET ").bind(to_bound(search.start));
    end_chosen(of, cx, &mut sql);
    Ok(sql.into_statement())
}

/// Appends the statement that chooses the keys of the first rows of the site `own.site` and, on PostgreSQL, what they are
/// sorted by.
fn write_nearest(
    of: &Constants,
    cx: &Context,
    sql: &mut Sql,
    search: &Search,
    (columns, site): (&Columns<'_>, &Field),
) -> Result<()> {
    sql.push("SELECT ").column(THIS, of.key).push(" AS key");
    if sql.backend() == DbBackend::Postgres {
        for (place, key) in search.order.iter().enumerate() {
            columns.write(sql.push(", "), key.field)?;
            sql.push(&format!(" AS o{place}"));
        }
    }
    write_from(of, cx, sql);
    columns.write_plain(sql.push(" WHERE "), site);
    sql.push(" = own.site");
    if let Some(sight) = of.sight {
        columns.write_sight(sql.push(" AND "), &sight)?;
    }
    write_matches(sql, search, of.schema(), columns)?;
    write_behind(sql, search, columns)?;
    write_order(sql, &search.order, columns)?;
    let most = search.fetch().saturating_add(search.start);
    sql.push(" LIMIT ").bind(to_bound(most));
    Ok(())
}
