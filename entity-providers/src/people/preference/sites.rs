//! The sites that the caller keeps at hand, and those of which the caller is told nothing: marks of memberships.

use entity_core::db::{self, ColumnValue, Row};
use entity_core::{Context, Error, Result};
use sea_orm::ConnectionTrait as _;
use serde::Serialize;

/// The maximum number of sites.
const MOST: usize = 200;
/// The maximum number of bytes of the id of a site.
const LONGEST: usize = 255;

/// Ids of sites, each there once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct SiteIds(pub Vec<String>);

/// A mark of memberships.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sites {
    /// The site is kept at hand.
    Pinned,
    /// Notifications of the site are not shown.
    Muted,
}

impl Sites {
    /// Returns the field, the column, and the order of the sites.
    const fn names(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Pinned => (
                "pinnedSiteIds",
                "is_pinned",
                "m.pinned_position IS NULL, m.pinned_position, s.title, s.id",
            ),
            Self::Muted => ("mutedSiteIds", "is_muted", "s.title, s.id"),
        }
    }
}

/// Returns the sites that the caller keeps at hand and may visit, in the caller's order.
///
/// # Errors
/// Returns an error if nobody is logged in or the database can't be read.
pub(crate) async fn pinned(cx: &Context) -> Result<Vec<String>> {
    of_caller(cx, Sites::Pinned).await.map(|it| it.0)
}

/// Returns the sites that the caller may visit and whose memberships have this mark.
pub(super) async fn of_caller(cx: &Context, sites: Sites) -> Result<SiteIds> {
    let (_, column, order) = sites.names();
    let db = cx.db()?;
    let mut sql = db.sql(
        "SELECT s.id FROM membership m JOIN site s ON s.id = m.site_id WHERE m.is_active AND m.",
    );
    sql.push(column).push(" AND m.user_id = ");
    sql.bind(cx.user_id()?).push(" ORDER BY ").push(order);
    sql.push(" LIMIT 1000");
    let mut found = db.rows(sql.into_statement(), db::columns::<String>).await?;
    let visited = cx.authorizer().scope(cx, "site.visit").await?;
    found.retain(|it| visited.contains(it));
    Ok(SiteIds(found))
}

/// Marks the memberships of the caller in the sites `wanted`, and takes the mark from those of the sites `before` that are
/// not among them.
///
/// # Errors
/// Returns an error that names the field if the caller does not belong to one of the sites.
pub(super) async fn put(
    cx: &Context,
    sites: Sites,
    wanted: &SiteIds,
    before: &SiteIds,
) -> Result<()> {
    let (field, column, _) = sites.names();
    let own = cx.authorizer().own_sites(cx).await?;
    let visited = cx.authorizer().scope(cx, "site.visit").await?;
    let is_own = |it: &String| own.contains(it) && visited.contains(it);
    if !wanted.0.iter().all(is_own) {
        return Err(Error::field(
            field,
            "must be sites that you belong to and may visit",
        ));
    }
    let db = cx.db()?;
    let mut sql = db.sql("UPDATE membership SET ");
    sql.push(column).push(" = (site_id").bind_list(&wanted.0)?;
    sql.push(")");
    if sites == Sites::Pinned {
        sql.push(", pinned_position = CASE site_id");
        for (position, site) in (1_i64..).zip(&wanted.0) {
            sql.push(" WHEN ").bind(site.as_str());
            sql.push(" THEN ").push(&position.to_string());
        }
        // Without a branch, a case is malformed.
        sql.push(" WHEN '' THEN 0 END");
    }
    let concerned: Vec<&String> = wanted.0.iter().chain(&before.0).collect();
    sql.push(" WHERE is_active AND user_id = ")
        .bind(cx.user_id()?);
    sql.push(" AND site_id").bind_list(&concerned)?;
    db.execute_raw(sql.into_statement()).await?;
    Ok(())
}

impl ColumnValue for SiteIds {
    type Sent = Vec<String>;

    fn receive(_cx: &Context, sent: Vec<String>) -> Result<Self, String> {
        let mut ids: Vec<String> = Vec::with_capacity(sent.len().min(MOST));
        for id in &sent {
            let id = id.trim();
            let is_plain = !id.is_empty() && id.len() <= LONGEST && !id.contains(char::is_control);
            if ids.len() == MOST || !is_plain {
                return Err(format!("must be at most {MOST} ids of sites"));
            }
            if !ids.iter().any(|it| it == id) {
                ids.push(id.to_owned());
            }
        }
        Ok(Self(ids))
    }

    fn to_value(&self) -> sea_orm::Value {
        entity_core::db::json_value(&self.0)
    }

    fn read(_cx: &Context, row: &mut Row<'_>) -> Result<Self> {
        entity_core::db::read_json(row).map(Self)
    }
}
