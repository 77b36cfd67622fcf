//! Reading records: one, several, lists and counts, each with one statement and, for groups, one more.

use sea_orm::Statement;

use super::{Record, THIS, groups};
use crate::access::Scope;
use crate::context::Context;
use crate::db::search::{column, counted, write_behind, write_matches, write_order};
use crate::db::sight::{Asking, Facts, Held};
use crate::db::{Row, Sql};
use crate::error::Result;
use crate::schema::Role;
use crate::search::{Filter, Page, Search, Test};

/// The maximum number of rows that a short statement skips at the beginning.
pub const MOST_PASSED: u64 = 1000;

/// Returns the entity with this id, if there is one, with the answers to the questions of its [`Sight`].
///
/// # Errors
/// Returns an error if the database can't be read.
pub async fn read<T: Record>(cx: &Context, id: &str) -> Result<Option<T>> {
    let mut sql = selecting_facts::<T>(cx)?;
    sql.push(" WHERE ").column(THIS, T::KEY).push(" = ");
    sql.bind(T::key_of(id));
    let found = records::<T>(cx, sql).await?;
    Ok(found.into_iter().find(|it| is_named(it, id)))
}

/// Returns the entities with these ids, in any order.
///
/// # Errors
/// Returns an error if the database can't be read.
pub async fn read_many<T: Record>(cx: &Context, ids: &[String]) -> Result<Vec<T>> {
    let keys: Vec<&str> = ids.iter().map(|it| T::key_of(it)).collect();
    let mut sql = selecting_facts::<T>(cx)?;
    sql.push(" WHERE ").column(THIS, T::KEY).bind_list(&keys)?;
    let mut found = records::<T>(cx, sql).await?;
    found.retain(|record| ids.iter().any(|id| is_named(record, id)));
    Ok(found)
}

/// Returns the entities that `search` asks for and that the caller sees, within the scope of the search.
///
/// # Errors
/// Returns an error if the database can't be read.
pub async fn list<T: Record>(cx: &Context, search: &Search) -> Result<Page<T>> {
    let statement = list_statement::<T>(cx, search).await?;
    let read = |row: &mut Row<'_>| from_row::<T>(cx, row, false);
    let measure = cx.measure(search).short(is_short(search));
    let mut page = cx.db()?.page(statement, measure, read).await?;
    groups::fill(cx, &mut page.items).await?;
    Ok(page)
}

/// Returns the statement that [`list`] runs, so that its plan can be looked at.
///
/// # Errors
/// Returns an error if it can't be decided what the caller holds.
pub async fn list_statement<T: Record>(cx: &Context, search: &Search) -> Result<Statement> {
    let mut sql = selecting::<T>(cx, T::select())?;
    write_seen::<T>(&mut sql, cx, search).await?;
    write_behind(&mut sql, search, THIS);
    write_order(&mut sql, &search.order, THIS);
    sql.push(" LIMIT ").bind(to_bound(search.fetch()));
    sql.push(" OFFSET ").bind(to_bound(search.start));
    Ok(sql.into_statement())
}

/// Returns the number of entities that `search` asks for and that the caller sees, within the scope of the search and
/// whatever part of them is wanted.
///
/// # Errors
/// Returns an error if the database can't be read.
pub async fn count<T: Record>(cx: &Context, search: &Search) -> Result<u64> {
    let mut sql = selecting::<T>(cx, "count(*)")?;
    write_seen::<T>(&mut sql, cx, search).await?;
    counted(cx, sql.into_statement()).await
}

/// Begins a statement that selects `what` from the table of `T`, with what is joined.
fn selecting<T: Record>(cx: &Context, what: &str) -> Result<Sql> {
    let mut sql = cx.db()?.sql("SELECT ");
    sql.push(what);
    write_from::<T>(&mut sql);
    Ok(sql)
}

/// Begins a statement that selects entities with the answers to the questions of their rule.
fn selecting_facts<T: Record>(cx: &Context) -> Result<Sql> {
    let mut sql = cx.db()?.sql("SELECT ");
    sql.push(T::select());
    if let Some(sight) = T::SIGHT {
        sight.write_answers(&mut sql, &Asking::of::<T>(cx))?;
    }
    write_from::<T>(&mut sql);
    Ok(sql)
}

fn write_from<T: Record>(sql: &mut Sql) {
    sql.push(" FROM \"").push(T::TABLE).push("\" ").push(THIS);
    sql.push(T::JOINS);
}

async fn records<T: Record>(cx: &Context, sql: Sql) -> Result<Vec<T>> {
    let read = |row: &mut Row<'_>| from_row::<T>(cx, row, T::SIGHT.is_some());
    let mut found = cx.db()?.rows(sql.into_statement(), read).await?;
    groups::fill(cx, &mut found).await?;
    Ok(found)
}

/// Reads an entity, and the answers to the questions of its rule if the row has them. Otherwise the rule is part of the
/// statement's condition.
fn from_row<T: Record>(cx: &Context, row: &mut Row<'_>, has_answers: bool) -> Result<T> {
    let mut record = T::from_row(cx, row)?;
    let is_restricted = record.facts().is_restricted;
    let facts = if has_answers {
        Facts::read(row)?
    } else {
        Facts::seen()
    };
    record.set_facts(facts.restricted(is_restricted));
    Ok(record)
}

/// Appends ` WHERE …`: the scope, the rule about who sees an entity, the filters and words.
async fn write_seen<T: Record>(sql: &mut Sql, cx: &Context, search: &Search) -> Result<()> {
    sql.push(" WHERE ");
    let site = T::schema()
        .role(Role::Site)
        .filter(|it| it.column.is_some());
    match (&search.scope, site) {
        (Scope::Sites(sites), Some(site)) => match search.site() {
            // The filter follows, and leads the database by the index.
            Some(named) if search.scope.contains(named) => drop(sql.push("TRUE")),
            _ => {
                sql.push(&column(site, THIS)).bind_list(sites)?;
            }
        },
        // No gate has passed the search.
        (Scope::Sites(sites), None) if sites.is_empty() => drop(sql.push("FALSE")),
        _ => drop(sql.push("TRUE")),
    }
    if let Some(sight) = T::SIGHT {
        let held = match site {
            Some(_) => Held::of(cx, &sight, search.site()).await?,
            None => Held::of_account(cx, &sight).await?,
        };
        sql.push(" AND ");
        sight.write(sql, &Asking::of::<T>(cx), &held)?;
    }
    write_matches(sql, search, T::schema(), THIS)
}

/// Returns whether an index leads to the rows that `search` asks for, and past few others. A statement that turns out
/// to take long is started again elsewhere, so this decides only where it begins.
fn is_short(search: &Search) -> bool {
    let first = search.order.first().map(|it| it.field);
    let is_key = |role: Option<Role>| matches!(role, Some(Role::Id | Role::Site));
    let is_found = |it: &Filter| match it.test {
        Test::Equal(_) | Test::In(_) => is_key(it.field.role) || Some(it.field) == first,
        Test::GreaterOrEqual(_) | Test::Greater(_) => Some(it.field) == first,
        _ => false,
    };
    search.words.is_empty() && search.start <= MOST_PASSED && search.filters.iter().all(is_found)
}

/// Returns whether `record` has the id `id`, or the key that `id` consists of.
fn is_named<T: Record>(record: &T, id: &str) -> bool {
    record.id() == id || record.key() == id
}

/// Returns a count as a database takes it.
fn to_bound(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
