//! Reading memberships: one statement for one or for a list, with the names of users and the types of sites.

use entity_core::db::Row;
use entity_core::wire::Millis;
use entity_core::{Context, DateTimeUtc, Entity, Page, Result, Scope, Search, db};
use sea_orm::sea_query::{Alias, Expr, ExprTrait, JoinType, Query, SelectStatement};
use sea_orm::{ConnectionTrait, DbErr};

use super::{Membership, rules};
use crate::db::sql::Sql;
use crate::user::{FULL_NAME, SORT_NAME};

/// What [`from_row`] reads, in this order.
const COLUMNS: &str = "x.user_id, x.site_id, x.role, x.is_active, x.is_provided, x.eid, x.email, \
    x.first_name, x.last_name, x.display_name, x.sort_name, x.last_login, x.type, x.is_joinable";
const INNER: &str = "m.user_id, m.site_id, m.role, m.is_active, m.is_provided, u.eid, u.email, \
    u.first_name, u.last_name, u.last_login, s.type, s.is_joinable";
/// A membership's id, as [`from_row`] makes it.
const ID: &str = "m.user_id || '::site:' || m.site_id";

/// Which memberships are wanted.
#[derive(Clone, Debug)]
pub(super) enum Wanted<'a> {
    /// This one.
    One { user: &'a str, site: &'a str },
    /// Those of the caller, in all sites.
    Own(&'a str),
    /// Those of another user, in these sites.
    OfUser { user: &'a str, scope: Scope },
    /// Those in this site, of one user or of all.
    OfSite {
        site: &'a str,
        user: Option<&'a str>,
    },
}

/// The membership of `user` in `site`.
pub(super) async fn one(cx: &Context, user: &str, site: &str) -> Result<Option<Membership>> {
    let statement = select(cx, &Wanted::One { user, site })?;
    let db = cx.db()?;
    let statement = db.get_database_backend().build(&statement);
    let found = db.rows(statement, from_row).await?;
    match found.into_iter().next() {
        Some(membership) => conceal(cx, membership).await.map(Some),
        None => Ok(None),
    }
}

/// The memberships that are wanted, by name unless the search says otherwise.
pub(super) async fn list(
    cx: &Context,
    search: &Search,
    wanted: &Wanted<'_>,
) -> Result<Page<Membership>> {
    let mut statement = select(cx, wanted)?;
    with_role(&mut statement, search);
    db::apply(&mut statement, search, Membership::schema(), "x");
    let db = cx.db()?;
    let statement = db.get_database_backend().build(&statement);
    let found = db.scan(statement, from_row).await?;
    let mut items = Vec::with_capacity(found.len());
    for membership in found {
        items.push(conceal(cx, membership).await?);
    }
    Ok(Page::cut(items, search.limit))
}

/// How many memberships are wanted.
pub(super) async fn count(cx: &Context, search: &Search, wanted: &Wanted<'_>) -> Result<u64> {
    let mut statement = select(cx, wanted)?;
    with_role(&mut statement, search);
    statement.cond_where(db::condition(search, Membership::schema(), "x"));
    db::count_rows(cx, statement).await
}

/// Adds the role that existing clients ask for by parameters of their own.
fn with_role(statement: &mut SelectStatement, search: &Search) {
    if let Some(role) = search
        .parameter("role")
        .or_else(|| search.parameter("roleId"))
    {
        statement.and_where(Expr::col((Alias::new("x"), Alias::new("role"))).eq(role));
    }
}

impl Wanted<'_> {
    fn write(&self, sql: &mut Sql) -> Result<()> {
        match self {
            Self::One { user, site } => {
                sql.push("m.user_id = ").bind(*user);
                sql.push(" AND m.site_id = ").bind(*site);
            }
            Self::Own(user) => {
                sql.push("m.user_id = ").bind(*user);
            }
            Self::OfUser { user, scope } => {
                sql.push("m.user_id = ").bind(*user);
                if let Scope::Sites(sites) = scope {
                    sql.push(" AND m.site_id").bind_list(sites)?;
                }
            }
            Self::OfSite { site, user } => {
                sql.push("m.site_id = ").bind(*site);
                if let Some(user) = user {
                    sql.push(" AND m.user_id = ").bind(*user);
                }
            }
        }
        Ok(())
    }
}

fn select(cx: &Context, wanted: &Wanted<'_>) -> Result<SelectStatement> {
    let mut condition = Sql::new(cx.db()?.get_database_backend(), "");
    wanted.write(&mut condition)?;
    let mut inner = Query::select();
    inner
        .expr(Expr::cust(INNER))
        .expr_as(Expr::cust(ID), Alias::new("id"))
        .expr_as(Expr::cust(FULL_NAME), Alias::new("display_name"))
        .expr_as(Expr::cust(SORT_NAME), Alias::new("sort_name"))
        .from_as(Alias::new("membership"), Alias::new("m"))
        .join_as(
            JoinType::InnerJoin,
            Alias::new("user_account"),
            Alias::new("u"),
            Expr::cust("u.id = m.user_id"),
        )
        .join_as(
            JoinType::InnerJoin,
            Alias::new("site"),
            Alias::new("s"),
            Expr::cust("s.id = m.site_id"),
        )
        .and_where(condition.into_expression());
    let mut statement = Query::select();
    statement
        .expr(Expr::cust(COLUMNS))
        .from_subquery(inner, Alias::new("x"));
    Ok(statement)
}

fn from_row(columns: &mut Row<'_>) -> Result<Membership> {
    let user_id: String = columns.take()?;
    let site_id: String = columns.take()?;
    let member_role = columns.take()?;
    let active = columns.take()?;
    let provided = columns.take()?;
    let external_id: String = columns.take()?;
    let user_email = columns.take()?;
    let user_first_name = columns.take()?;
    let user_last_name = columns.take()?;
    let user_display_name = columns.take()?;
    let user_sort_name = columns.take()?;
    let last_login: Option<i64> = columns.take()?;
    let site_type = columns.take()?;
    let is_joinable = columns.take()?;
    Ok(Membership {
        id: format!("{user_id}::site:{site_id}"),
        location_reference: format!("/site/{site_id}"),
        user_id,
        user_display_id: external_id.clone(),
        user_eid: external_id,
        user_display_name,
        user_first_name,
        user_last_name,
        user_sort_name,
        user_email,
        member_role,
        active,
        provided,
        site_id,
        site_type,
        last_login_time: last_login.map(millis).transpose()?,
        is_joinable,
    })
}

/// Takes out what the caller may not know of the member.
async fn conceal(cx: &Context, mut membership: Membership) -> Result<Membership> {
    let known = rules::known(cx, &membership.user_id, &membership.site_id).await?;
    if !known.eid {
        membership.user_eid.clear();
        membership.user_display_id.clear();
    }
    if !known.email {
        membership.user_email.clear();
        membership.last_login_time = None;
    }
    Ok(membership)
}

fn millis(millis: i64) -> Result<Millis, DbErr> {
    DateTimeUtc::from_timestamp_millis(millis)
        .map(Millis)
        .ok_or_else(|| DbErr::Type(format!("{millis} ms is no instant")))
}
