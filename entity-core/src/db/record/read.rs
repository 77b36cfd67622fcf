//! Reading records: one, several, lists and counts, each with one statement and, for groups, one more.

use sea_orm::sea_query::SelectStatement;
use sea_orm::{ConnectionTrait as _, DbBackend, QueryTrait as _, Select, Statement};

use super::any::Rows;
use super::asked::write_asked;
use super::{by_site, groups};
use crate::contract::access::Scope;
use crate::contract::context::Context;
use crate::contract::search::{Filter, Page, Search, Test};
use crate::db::page::End;
use crate::db::record::constants::{Constants, Declared as _};
use crate::db::record::definition::{Record, THIS};
use crate::db::record::from::{write_from, write_joins};
use crate::db::redaction::{self, Columns};
use crate::db::rule::PolicyInputs;
use crate::db::search::{counted, write_behind, write_matches, write_order};
use crate::db::sink::{Adding, Sink};
use crate::db::{Row, Sql};
use crate::model::schema::Role;
use crate::primitives::error::Result;

/// The maximum number of rows that a short statement skips at the beginning.
pub const MOST_PASSED: u64 = 1000;

/// Returns the entity with this id, if there is one, as the caller sees it: with the answers to the questions of its
/// [`RowPolicy`](crate::db::RowPolicy), and without the fields that the caller does not see.
pub async fn read<T: Record>(cx: &Context, id: &str) -> Result<Option<T>> {
    let mut found: Vec<T> = Vec::new();
    find_one(T::CONSTANTS, cx, T::key_of(id), &mut found).await?;
    Ok(found.into_iter().find(|it| is_named(it, id)))
}

/// Adds the entity whose primary key is `key` to `rows`, as [`read`] does.
pub(super) async fn find_one(
    of: &Constants,
    cx: &Context,
    key: &str,
    rows: &mut dyn Rows,
) -> Result<()> {
    let mut sql = finding(of, cx).await?;
    sql.push(" WHERE ").column(THIS, of.key).push(" = ");
    sql.bind(key);
    found(of, cx, sql, rows).await
}

/// Returns the entities with these ids, in any order, as [`read`] does.
pub async fn read_many<T: Record>(cx: &Context, ids: &[String]) -> Result<Vec<T>> {
    let keys: Vec<&str> = ids.iter().map(|it| T::key_of(it)).collect();
    let mut found: Vec<T> = Vec::new();
    find_some(T::CONSTANTS, cx, &keys, &mut found).await?;
    found.retain(|record| ids.iter().any(|id| is_named(record, id)));
    Ok(found)
}

async fn find_some(of: &Constants, cx: &Context, keys: &[&str], rows: &mut dyn Rows) -> Result<()> {
    let mut sql = finding(of, cx).await?;
    sql.push(" WHERE ").column(THIS, of.key).bind_list(keys)?;
    found(of, cx, sql, rows).await
}

/// Returns the entities that `select` asks for, as [`read`] does: which rows, in which order, and how many.
pub async fn find<T: Record>(cx: &Context, select: Select<T::Table>) -> Result<Vec<T>> {
    let mut rows = Vec::new();
    find_selected(T::CONSTANTS, cx, &select.into_query(), &mut rows).await?;
    Ok(rows)
}

async fn find_selected(
    of: &Constants,
    cx: &Context,
    select: &SelectStatement,
    rows: &mut dyn Rows,
) -> Result<()> {
    let mut sql = finding(of, cx).await?;
    write_asked(of.table, &mut sql, select)?;
    found(of, cx, sql, rows).await
}

/// Begins a statement whose entities [`found`] adds: what follows the joins is to be appended.
async fn finding(of: &Constants, cx: &Context) -> Result<Sql> {
    let mut sql = selecting(of, cx, &Columns::all(cx))?;
    redaction::write_answers(of, cx, &mut sql).await?;
    write_from(of, cx, &mut sql);
    Ok(sql)
}

/// Adds the entities of a statement that [`finding`] began to `rows`, as [`read`] does.
async fn found(of: &Constants, cx: &Context, sql: Sql, rows: &mut dyn Rows) -> Result<()> {
    let mut sink = Answered {
        of,
        cx,
        rows: &mut *rows,
        of_fields: Vec::new(),
    };
    cx.db()?.rows_into(sql.into_statement(), &mut sink).await?;
    let of_fields = sink.of_fields;
    for (index, facts) in of_fields.into_iter().enumerate() {
        if let Some(record) = rows.at_mut(index) {
            redaction::redact(cx, record, facts).await?;
        }
    }
    complete(of, cx, rows).await
}

/// Records whose rows have the answers to the questions of their rules behind the columns.
struct Answered<'a> {
    of: &'a Constants,
    cx: &'a Context,
    rows: &'a mut dyn Rows,
    /// The answers about the fields of each record.
    of_fields: Vec<Vec<PolicyInputs>>,
}

impl Sink for Answered<'_> {
    fn take(&mut self, row: &mut Row<'_>) -> Result<()> {
        let record = self.rows.add(self.cx, row)?;
        let is_restricted = record.facts().is_restricted;
        let facts = match self.of.sight {
            Some(_) => PolicyInputs::read(row)?,
            None => PolicyInputs::seen(),
        };
        record.set_facts(facts.restricted(is_restricted));
        let facts = self
            .of
            .redacted
            .iter()
            .map(|_| Ok(PolicyInputs::read(row)?));
        self.of_fields.push(facts.collect::<Result<_>>()?);
        Ok(())
    }

    fn cut(&mut self, length: usize) {
        self.rows.cut(length);
        self.of_fields.truncate(length);
    }
}

/// Returns the entities that `select` asks for, whole and whoever asks: for what the service itself has to know. The
/// answers to clients come from the other functions.
pub async fn load<T: Record>(cx: &Context, select: Select<T::Table>) -> Result<Vec<T>> {
    let mut sql = loading(T::CONSTANTS, cx)?;
    write_asked(T::TABLE, &mut sql, select.as_query())?;
    loaded(cx, sql).await
}

/// Returns the entity whose primary key is `key`, as [`load`] does.
pub(super) async fn load_one<T: Record>(cx: &Context, key: &str) -> Result<Option<T>> {
    let mut sql = loading(T::CONSTANTS, cx)?;
    sql.push(" WHERE ").column(THIS, T::KEY).push(" = ");
    sql.bind(key);
    Ok(loaded(cx, sql).await?.pop())
}

/// Begins a statement whose entities [`loaded`] returns: what follows the joins is to be appended.
pub(super) fn loading(of: &Constants, cx: &Context) -> Result<Sql> {
    let mut sql = selecting(of, cx, &Columns::all(cx))?;
    write_from(of, cx, &mut sql);
    Ok(sql)
}

/// Returns the entities of a statement that [`loading`] began, as [`load`] does.
pub(super) async fn loaded<T: Record>(cx: &Context, sql: Sql) -> Result<Vec<T>> {
    let mut rows = Vec::new();
    load_into(T::CONSTANTS, cx, sql, &mut rows).await?;
    Ok(rows)
}

async fn load_into(of: &Constants, cx: &Context, sql: Sql, rows: &mut dyn Rows) -> Result<()> {
    let mut sink = Adding::to(&mut *rows, |rows, row| rows.add(cx, row).map(|_record| ()));
    cx.db()?.rows_into(sql.into_statement(), &mut sink).await?;
    complete(of, cx, rows).await
}

/// Returns the entities that `search` asks for and that the caller sees, within the scope of the search.
pub async fn list<T: Record>(cx: &Context, search: &Search) -> Result<Page<T>> {
    let mut rows = Vec::new();
    let end = list_into(T::CONSTANTS, cx, search, &mut rows).await?;
    Ok(end.page(rows))
}

/// Adds the entities of a [`list`] to `rows`. Returns why it ended.
async fn list_into(
    of: &Constants,
    cx: &Context,
    search: &Search,
    rows: &mut dyn Rows,
) -> Result<End> {
    let (statement, have_places) = placed_statement(of, cx, search).await?;
    let (mut end, is_in_order) = rows_of_list(cx, search, statement, have_places, rows).await?;
    if !is_in_order {
        rows.cut(0);
        let statement = by_order(of, cx, search, &Columns::of(of, cx, search).await?)?;
        (end, _) = rows_of_list(cx, search, statement, false, rows).await?;
    }
    complete(of, cx, rows).await?;
    Ok(end)
}

/// Adds what `statement` selects for a list to `rows`. If the rows `have_places`, these follow the columns. Returns why
/// the list ended, and whether the rows came in the order of their places.
async fn rows_of_list(
    cx: &Context,
    search: &Search,
    statement: Statement,
    have_places: bool,
    rows: &mut dyn Rows,
) -> Result<(End, bool)> {
    let (mut last, mut is_in_order) = (0, true);
    let mut sink = Adding::to(rows, |rows, row| {
        let record = rows.add(cx, row)?;
        let is_restricted = record.facts().is_restricted;
        record.set_facts(PolicyInputs::seen().restricted(is_restricted));
        if have_places {
            let place: i64 = row.take()?;
            // A long read is begun again elsewhere.
            is_in_order &= place == 1 || place > last;
            last = place;
        }
        Ok(())
    });
    let limit = cx.read_limit(search).short(is_short(search));
    let end = cx.db()?.page_into(statement, limit, &mut sink).await?;
    Ok((end, is_in_order))
}

/// Returns the statement that [`list`] runs, so that its plan can be looked at.
///
/// # Errors
/// Returns an error if it can't be decided what the caller holds.
pub async fn list_statement<T: Record>(cx: &Context, search: &Search) -> Result<Statement> {
    Ok(placed_statement(T::CONSTANTS, cx, search).await?.0)
}

/// Returns the statement for a list, and whether its rows come with their places.
async fn placed_statement(
    of: &Constants,
    cx: &Context,
    search: &Search,
) -> Result<(Statement, bool)> {
    let is_sqlite = cx.db()?.get_database_backend() == DbBackend::Sqlite;
    let columns = Columns::of(of, cx, search).await?;
    if let Some(sites) = by_site::sites(of, cx, search, &columns)? {
        let statement = by_site::statement(of, cx, search, &columns, sites)?;
        return Ok((statement, is_sqlite));
    }
    let chooses_keys = match is_sqlite {
        true => sorts_keys(of, search),
        // PostgreSQL joins what is to be sorted, and reads all accounts for the names in fifty rows.
        false => of.source.is_none() && !of.joins.is_empty() && !search.order.is_empty(),
    };
    Ok(match chooses_keys {
        true => (by_sorted_keys(of, cx, search, &columns)?, is_sqlite),
        false => (by_order(of, cx, search, &columns)?, false),
    })
}

/// Returns whether a list is to sort the keys of its rows, and then to read the rows one by one. SQLite sorts rows with
/// all that is selected of them, so that long texts are copied of all rows to show some. No index has the entities of
/// several sites in order. PostgreSQL keeps long texts elsewhere, and sorts what leads to them.
fn sorts_keys(of: &Constants, search: &Search) -> bool {
    let has_site = of
        .schema()
        .role(Role::Site)
        .is_some_and(|it| it.column.is_some());
    let first = search.order.first().and_then(|it| it.field.role);
    !of.html.is_empty()
        && has_site
        && search.site().is_none()
        && !search.order.is_empty()
        && first != Some(Role::Id)
}

/// Returns the statement for a list in one step.
fn by_order(
    of: &Constants,
    cx: &Context,
    search: &Search,
    columns: &Columns<'_>,
) -> Result<Statement> {
    let mut sql = selecting(of, cx, columns)?;
    write_from(of, cx, &mut sql);
    write_part(of, &mut sql, search, columns)?;
    Ok(sql.into_statement())
}

/// Returns the statement for a list that first chooses and sorts the keys alone. On SQLite each row comes with its place
/// behind the columns: the database need not keep the order of what is chosen, but has no reason to leave it.
fn by_sorted_keys(
    of: &Constants,
    cx: &Context,
    search: &Search,
    columns: &Columns<'_>,
) -> Result<Statement> {
    let mut sql = selecting(of, cx, columns)?;
    begin_chosen(&mut sql);
    sql.column(THIS, of.key).push(" AS key");
    if sql.backend() == DbBackend::Postgres {
        sql.push(", row_number() OVER (");
        write_order(&mut sql, &search.order, columns)?;
        sql.push(") AS place");
    }
    write_from(of, cx, &mut sql);
    write_part(of, &mut sql, search, columns)?;
    end_chosen(of, cx, &mut sql);
    Ok(sql.into_statement())
}

/// Appends ` FROM (SELECT `: what chooses keys, as `key` and in their order, follows. On SQLite the rows come with their
/// places; on PostgreSQL it chooses the places as well, as `place`.
pub(super) fn begin_chosen(sql: &mut Sql) {
    sql.push(match sql.backend() {
        DbBackend::Postgres => " FROM (SELECT ",
        // A row that is left out gets no number.
        _ => ", chosen.place FROM (SELECT kept.key, row_number() OVER () AS place FROM (SELECT ",
    });
}

/// Appends the end of what chooses keys, and the rows to these keys.
pub(super) fn end_chosen(of: &Constants, cx: &Context, sql: &mut Sql) {
    let is_sqlite = sql.backend() == DbBackend::Sqlite;
    // SQLite keeps the order of tables that are joined so.
    sql.push(match is_sqlite {
        true => ") AS kept) AS chosen CROSS JOIN \"",
        false => ") AS chosen JOIN \"",
    });
    sql.push(of.table).push("\" ").push(THIS).push(" ON ");
    sql.column(THIS, of.key).push(" = chosen.key");
    write_joins(of, cx, sql);
    if !is_sqlite {
        // By the order itself, an index would be walked through everybody's entities again.
        sql.push(" ORDER BY chosen.place");
    }
}

/// Appends which rows a list has, in which order, and which part of them is wanted.
fn write_part(of: &Constants, sql: &mut Sql, search: &Search, columns: &Columns<'_>) -> Result<()> {
    write_seen(of, sql, search, columns)?;
    write_behind(sql, search, columns)?;
    write_order(sql, &search.order, columns)?;
    sql.push(" LIMIT ").bind(to_bound(search.fetch()));
    sql.push(" OFFSET ").bind(to_bound(search.start));
    Ok(())
}

/// Returns the number of entities that `search` asks for and that the caller sees, within the scope of the search and
/// whatever part of them is wanted.
pub async fn count<T: Record>(cx: &Context, search: &Search) -> Result<u64> {
    count_of(T::CONSTANTS, cx, search).await
}

async fn count_of(of: &Constants, cx: &Context, search: &Search) -> Result<u64> {
    let columns = Columns::of(of, cx, search).await?;
    let mut sql = cx.db()?.sql("SELECT count(*)");
    write_from(of, cx, &mut sql);
    write_seen(of, &mut sql, search, &columns)?;
    counted(cx, sql.into_statement()).await
}

/// Returns the numbers of the entities that [`count`] counts, by the text in a column: each text with its number.
///
/// # Errors
/// Returns an error if it can't be decided what the caller holds.
pub async fn count_by<T: Record>(
    cx: &Context,
    search: &Search,
    column: &str,
) -> Result<Vec<(String, i64)>> {
    let of = T::CONSTANTS;
    let columns = Columns::of(of, cx, search).await?;
    let mut sql = cx.db()?.sql("SELECT ");
    sql.column(THIS, column).push(", count(*)");
    write_from(of, cx, &mut sql);
    write_seen(of, &mut sql, search, &columns)?;
    sql.push(" GROUP BY ").column(THIS, column);
    cx.db()?
        .scan(sql.into_statement(), crate::db::columns)
        .await
}

/// Begins a statement that selects entities.
pub(super) fn selecting(of: &Constants, cx: &Context, columns: &Columns<'_>) -> Result<Sql> {
    let mut sql = cx.db()?.sql("SELECT ");
    columns.write_selection(of, &mut sql)?;
    Ok(sql)
}

/// Adds what other statements read: the groups, the children, and the fields that the type computes.
async fn complete(of: &Constants, cx: &Context, rows: &mut dyn Rows) -> Result<()> {
    groups::fill(of, cx, rows).await?;
    match rows.length() {
        0 => Ok(()),
        _ => rows.complete(cx).await,
    }
}

/// Appends ` WHERE …`: the scope, the rule about who sees an entity, the filters and words.
fn write_seen(of: &Constants, sql: &mut Sql, search: &Search, columns: &Columns<'_>) -> Result<()> {
    sql.push(" WHERE ");
    let site = of
        .schema()
        .role(Role::Site)
        .filter(|it| it.column.is_some());
    match (&search.scope, site) {
        (Scope::Sites(sites), Some(site)) => match search.site() {
            // The filter follows, and leads the database by the index.
            Some(named) if search.scope.contains(named) => drop(sql.push("TRUE")),
            _ => {
                columns.write_plain(sql, site).bind_list(sites)?;
            }
        },
        // The entities belong to no site: only a search of everything finds them.
        (Scope::Sites(_), None) => drop(sql.push("FALSE")),
        (Scope::Everything, _) => drop(sql.push("TRUE")),
    }
    if let Some(sight) = of.sight {
        columns.write_sight(sql.push(" AND "), &sight)?;
    }
    write_matches(sql, search, of.schema(), columns)
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
pub(super) fn to_bound(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
