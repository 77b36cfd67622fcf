//! Reading memberships: one statement for one or for a list, with the names of users and the types of sites.

use std::collections::BTreeMap;

use entity_core::db::Row;
use entity_core::db::Sql;
use entity_core::wire::Millis;
use entity_core::{Context, DateTimeUtc, Entity, Error, Page, Result, Search, db};
use sea_orm::sea_query::{Alias, Expr, ExprTrait, JoinType, Query, SelectStatement, UnionType};
use sea_orm::{ConnectionTrait, DbErr};

use super::location::Location;
use super::wanted::{Place, Wanted};
use super::{Membership, rules};
use crate::people::group;
use crate::people::user::{FULL_NAME, SORT_NAME};
use crate::storage::db::membership::Origin;

/// The columns that [`from_row`] reads, in this order.
const COLUMNS: &str = "x.user_id, x.site_id, x.group_id, x.role, x.is_active, x.is_provided, \
    x.is_hidden, x.eid, x.email, x.first_name, x.last_name, x.display_name, x.sort_name, x.last_login, \
    x.type, x.origin";
/// The columns that members of sites and of groups share: a group's member is what they are in the site.
const COMMON: &str = "m.user_id, m.site_id, m.role, m.is_active, m.is_hidden, u.eid, u.email, \
    u.first_name, u.last_name, u.last_login, s.type, m.origin";
/// The same for the members of sites alone; the id is made as [`from_row`] makes it.
const OF_SITES: &str = "m.user_id || '::site:' || m.site_id AS id, CAST(NULL AS TEXT) AS group_id, \
    m.is_provided AS is_provided";
/// Nobody but people puts anybody into a group.
const OF_GROUPS: &str = "gm.user_id || '::group:' || gm.group_id AS id, gm.group_id AS group_id, \
    FALSE AS is_provided";
/// A table, what it is called, and what joins it to those before it.
type Joined = (&'static str, &'static str, &'static str);

const MEMBERSHIP: Joined = ("membership", "m", "");
const USER: Joined = ("user_account", "u", "u.id = m.user_id");
const SITE: Joined = ("site", "s", "s.id = m.site_id");
const MEMBERS_OF_SITES: &[Joined] = &[MEMBERSHIP, USER, SITE];
const MEMBERS_OF_GROUPS: &[Joined] = &[
    ("group_member", "gm", ""),
    ("site_group", "g", "g.id = gm.group_id"),
    (
        "membership",
        "m",
        "m.user_id = gm.user_id AND m.site_id = g.site_id",
    ),
    USER,
    SITE,
];

/// The membership of `user` at `location`, whoever asks.
pub(super) async fn one(
    cx: &Context,
    user: &str,
    location: Location<'_>,
) -> Result<Option<Membership>> {
    let wanted = Wanted::one(user, location);
    let statement = select(cx, &wanted)?;
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
    let db = cx.db()?;
    let backend = db.get_database_backend();
    db::apply(backend, &mut statement, search, Membership::schema(), "x")?;
    let statement = backend.build(&statement);
    let page = db.page(statement, cx.measure(search), from_row).await?;
    let mut items = Vec::with_capacity(page.items.len());
    for membership in page.items {
        items.push(conceal(cx, membership).await?);
    }
    Ok(Page {
        items,
        has_more: page.has_more,
        places: page.places,
    })
}

/// Returns the number of memberships that are wanted.
pub(super) async fn count(cx: &Context, search: &Search, wanted: &Wanted<'_>) -> Result<u64> {
    db::count_rows(cx, matching(cx, search, wanted)?).await
}

/// The numbers of the wanted memberships by role.
pub(super) async fn count_by_role(
    cx: &Context,
    search: &Search,
    wanted: &Wanted<'_>,
) -> Result<BTreeMap<String, u64>> {
    let mut statement = matching(cx, search, wanted)?;
    let role = (Alias::new("x"), Alias::new("role"));
    statement
        .clear_selects()
        .column(role.clone())
        .expr(Expr::cust("count(*)"))
        .group_by_col(role);
    let db = cx.db()?;
    let statement = db.get_database_backend().build(&statement);
    let read = |row: &mut Row<'_>| {
        let role: String = row.take()?;
        let count: i64 = row.take()?;
        Ok((role, u64::try_from(count).unwrap_or_default()))
    };
    let found = db.scan(statement, read).await?;
    Ok(found.into_iter().collect())
}

/// The memberships that are wanted and that `search` asks for, whatever part of them.
fn matching(cx: &Context, search: &Search, wanted: &Wanted<'_>) -> Result<SelectStatement> {
    let mut statement = select(cx, wanted)?;
    with_role(&mut statement, search);
    let backend = cx.db()?.get_database_backend();
    statement.cond_where(db::condition(backend, search, Membership::schema(), "x")?);
    Ok(statement)
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

fn select(cx: &Context, wanted: &Wanted<'_>) -> Result<SelectStatement> {
    let parts = [
        (OF_SITES, MEMBERS_OF_SITES, &wanted.sites),
        (OF_GROUPS, MEMBERS_OF_GROUPS, &wanted.groups),
    ];
    let mut inner: Option<SelectStatement> = None;
    for (own, tables, place) in parts {
        let Some(place) = place else { continue };
        let part = part(cx, (own, tables), wanted, place)?;
        match &mut inner {
            Some(inner) => {
                inner.union(UnionType::All, part);
            }
            None => inner = Some(part),
        }
    }
    // Whoever wants nothing is refused before.
    let inner = inner.ok_or_else(|| Error::internal("no membership is wanted"))?;
    let mut statement = Query::select();
    statement
        .expr(Expr::cust(COLUMNS))
        .from_subquery(inner, Alias::new("x"));
    Ok(statement)
}

/// The memberships of one kind that are wanted.
fn part(
    cx: &Context,
    (own, tables): (&'static str, &[Joined]),
    wanted: &Wanted<'_>,
    place: &Place<'_>,
) -> Result<SelectStatement> {
    let mut condition = Sql::new(cx.db()?.get_database_backend(), "");
    place.write(&mut condition)?;
    if let Some(user) = wanted.user {
        condition.push(" AND m.user_id = ").bind(user);
    }
    wanted.sight.write(&mut condition)?;
    let mut statement = Query::select();
    statement
        .expr(Expr::cust(COMMON))
        .expr(Expr::cust(own))
        .expr_as(Expr::cust(FULL_NAME), Alias::new("display_name"))
        .expr_as(Expr::cust(SORT_NAME), Alias::new("sort_name"))
        .and_where(condition.into_expression());
    for (table, alias, on) in tables.iter().copied() {
        let (table, alias) = (Alias::new(table), Alias::new(alias));
        match on {
            "" => statement.from_as(table, alias),
            on => statement.join_as(JoinType::InnerJoin, table, alias, Expr::cust(on)),
        };
    }
    Ok(statement)
}

fn from_row(columns: &mut Row<'_>) -> Result<Membership> {
    let user_id: String = columns.take()?;
    let site_id: String = columns.take()?;
    let group_id: Option<String> = columns.take()?;
    let member_role = columns.take()?;
    let active = columns.take()?;
    let provided = columns.take()?;
    let hidden = columns.take()?;
    let external_id: String = columns.take()?;
    let user_email = columns.take()?;
    let user_first_name = columns.take()?;
    let user_last_name = columns.take()?;
    let user_display_name = columns.take()?;
    let user_sort_name = columns.take()?;
    let last_login: Option<i64> = columns.take()?;
    let site_type = columns.take()?;
    let origin: Origin = columns.take()?;
    let (id, location_reference) = match &group_id {
        None => (
            format!("{user_id}::site:{site_id}"),
            format!("/site/{site_id}"),
        ),
        Some(group) => (
            format!("{user_id}::group:{group}"),
            group::reference(&site_id, group),
        ),
    };
    Ok(Membership {
        id,
        location_reference,
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
        hidden,
        site_id,
        group_id,
        site_type,
        last_login_time: last_login.map(millis).transpose()?,
        is_told: origin.is_told(),
        invitation: None,
    })
}

/// Takes out what the caller may not know of the member.
async fn conceal(cx: &Context, mut membership: Membership) -> Result<Membership> {
    let known = rules::known(cx, &membership).await?;
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
