//! Reading invitations. Those that are over are not there, whether they were swept already or not.

use entity_core::db::Row;
use entity_core::db::Sql;
use entity_core::{Context, Entity, Page, Result, Scope, Search, db};
use sea_orm::ConnectionTrait;
use sea_orm::sea_query::{Alias, Expr, JoinType, Query, SelectStatement};

use super::Invitation;
use super::names::Names;
use crate::people::membership::MANAGES_MEMBERS;
use crate::people::user::FULL_NAME;
use crate::storage::db::instant;

/// The columns that [`from_row`] reads, in this order.
const COLUMNS: &str = "x.id, x.site_id, x.site_title, x.role, x.invitee, x.invited_by, x.inviter_name, \
    x.created, x.expires";
const INNER: &str =
    "i.id, i.site_id, s.title AS site_title, i.role, i.invitee, i.invited_by, i.created, i.expires";

/// The invitation `id`, whoever asks.
pub(super) async fn one(cx: &Context, id: &str) -> Result<Option<Invitation>> {
    let names = Names::of_caller(cx).await?;
    let mut condition = living(cx)?;
    condition.push(" AND i.id = ").bind(id);
    let found = run(cx, select(condition), &names).await?;
    Ok(found.into_iter().next())
}

/// The invitation `id` to the site `site`, whoever asks.
pub(crate) async fn in_site(cx: &Context, id: &str, site: &str) -> Result<Option<Invitation>> {
    let found = one(cx, id).await?;
    Ok(found.filter(|it| it.site_id == site))
}

pub(super) async fn list(cx: &Context, search: &Search) -> Result<Page<Invitation>> {
    let names = Names::of_caller(cx).await?;
    let mut statement = select(seen(cx, &names).await?);
    let connection = cx.db()?;
    let backend = connection.get_database_backend();
    db::apply(backend, &mut statement, search, Invitation::schema(), "x")?;
    let statement = backend.build(&statement);
    let read = |row: &mut Row<'_>| from_row(row, &names);
    connection.page(statement, cx.measure(search), read).await
}

pub(super) async fn count(cx: &Context, search: &Search) -> Result<u64> {
    let names = Names::of_caller(cx).await?;
    let mut statement = select(seen(cx, &names).await?);
    let backend = cx.db()?.get_database_backend();
    statement.cond_where(db::condition(backend, search, Invitation::schema(), "x")?);
    db::count_rows(cx, statement).await
}

async fn run(cx: &Context, statement: SelectStatement, names: &Names) -> Result<Vec<Invitation>> {
    let connection = cx.db()?;
    let statement = connection.get_database_backend().build(&statement);
    connection.scan(statement, |row| from_row(row, names)).await
}

/// The condition of those that are not over.
fn living(cx: &Context) -> Result<Sql> {
    let mut sql = Sql::new(cx.db()?.get_database_backend(), "i.expires > ");
    sql.bind(cx.now().timestamp_millis());
    Ok(sql)
}

/// The condition of those that the caller sees.
async fn seen(cx: &Context, names: &Names) -> Result<Sql> {
    let mut sql = living(cx)?;
    if let Scope::Sites(sites) = cx.authorizer().scope(cx, MANAGES_MEMBERS).await? {
        sql.push(" AND (i.site_id").bind_list(&sites)?;
        sql.push(" OR ");
        names.write(&mut sql)?;
        sql.push(")");
    }
    Ok(sql)
}

fn select(condition: Sql) -> SelectStatement {
    let mut inner = Query::select();
    inner
        .expr(Expr::cust(INNER))
        .expr_as(Expr::cust(FULL_NAME), Alias::new("inviter_name"))
        .from_as(Alias::new("invitation"), Alias::new("i"))
        .and_where(condition.into_expression());
    for (table, alias, on) in [
        ("site", "s", "s.id = i.site_id"),
        ("user_account", "u", "u.id = i.invited_by"),
    ] {
        let (table, alias) = (Alias::new(table), Alias::new(alias));
        inner.join_as(JoinType::InnerJoin, table, alias, Expr::cust(on));
    }
    let mut statement = Query::select();
    statement
        .expr(Expr::cust(COLUMNS))
        .from_subquery(inner, Alias::new("x"));
    statement
}

fn from_row(columns: &mut Row<'_>, names: &Names) -> Result<Invitation> {
    let id = columns.take()?;
    let site_id = columns.take()?;
    let site_title: String = columns.take()?;
    let member_role = columns.take()?;
    let invitee: String = columns.take()?;
    let invited_by = columns.take()?;
    let invited_by_display_name = columns.take()?;
    let created: i64 = columns.take()?;
    let expires: i64 = columns.take()?;
    Ok(Invitation {
        id,
        title: format!("{site_title} ({invitee})"),
        site_id,
        site_title,
        member_role,
        is_own: names.has(&invitee),
        invitee,
        link: None,
        invited_by,
        invited_by_display_name,
        created: instant(created),
        expires: instant(expires),
    })
}
