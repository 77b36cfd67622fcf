//! Who sees which announcement: one rule, once for a loaded entity and once as a condition of a list.
//!
//! - A draft is for its author and for those who hold `annc.read.drafts`.
//! - What is not yet released, or is retracted, is for those who may revise it.
//! - What is for groups is for their members and for those who hold `annc.all.groups`.

#[cfg(test)]
mod tests;

use entity_core::{Context, Result, Scope};

use crate::db::sql::Sql;

/// What the caller holds of that which opens more than `annc.read` does: in one site a truth, over many sites
/// the sites in which it is one.
#[derive(Clone, Debug, Default)]
pub(super) struct Powers<T> {
    /// `annc.read.drafts`.
    pub(super) reads_drafts: T,
    /// `annc.revise.any`.
    pub(super) revises_any: T,
    /// `annc.revise.own`.
    pub(super) revises_own: T,
    /// `annc.all.groups`.
    pub(super) sees_all_groups: T,
}

impl Powers<bool> {
    /// What the caller holds in `site`.
    pub(super) async fn in_site(cx: &Context, site: &str) -> Result<Self> {
        let holds = |function| is_granted(cx, function, site);
        Ok(Self {
            reads_drafts: holds("annc.read.drafts").await?,
            revises_any: holds("annc.revise.any").await?,
            revises_own: holds("annc.revise.own").await?,
            sees_all_groups: holds("annc.all.groups").await?,
        })
    }
}

async fn is_granted(cx: &Context, function: &str, site: &str) -> Result<bool> {
    Ok(cx
        .authorizer()
        .decide(cx, function, site)
        .await?
        .is_granted())
}

impl Powers<Scope> {
    /// What the caller holds, and where.
    pub(super) async fn everywhere(cx: &Context) -> Result<Self> {
        let authorizer = cx.authorizer();
        Ok(Self {
            reads_drafts: authorizer.scope(cx, "annc.read.drafts").await?,
            revises_any: authorizer.scope(cx, "annc.revise.any").await?,
            revises_own: authorizer.scope(cx, "annc.revise.own").await?,
            sees_all_groups: authorizer.scope(cx, "annc.all.groups").await?,
        })
    }
}

/// What the rule asks of one announcement.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "the rule is a function of independent truths"
)]
pub(super) struct Facts {
    /// It is not finished.
    pub(super) is_draft: bool,
    /// It is released and not retracted.
    pub(super) is_out: bool,
    /// It is for everybody in the site, or for a group of the caller.
    pub(super) is_addressed: bool,
    /// The caller wrote it.
    pub(super) is_own: bool,
}

impl Facts {
    /// Whether everybody who may read the site's announcements sees it.
    pub(super) fn is_plain(self) -> bool {
        !self.is_draft && self.is_out && self.is_addressed
    }

    /// Whether a caller with `powers` sees it. [`write_condition`] says the same in SQL.
    pub(super) fn is_visible(self, powers: &Powers<bool>) -> bool {
        (!self.is_draft || self.is_own || powers.reads_drafts)
            && (self.is_out || powers.revises_any || (self.is_own && powers.revises_own))
            && (self.is_addressed || powers.sees_all_groups)
    }
}

/// A power as part of a condition on the announcement `a`.
pub(super) trait Held {
    /// Writes whether it is held in the site of `a`.
    fn write(&self, sql: &mut Sql) -> Result<()>;
}

impl Held for bool {
    fn write(&self, sql: &mut Sql) -> Result<()> {
        sql.bind(*self);
        Ok(())
    }
}

impl Held for Scope {
    fn write(&self, sql: &mut Sql) -> Result<()> {
        match self {
            Self::Everything => sql.bind(true),
            Self::Sites(sites) => sql.push("a.site_id").bind_list(sites)?,
        };
        Ok(())
    }
}

/// Writes the condition that the caller `user`, who holds `powers`, sees the announcement `a` at the instant
/// `now`. [`Facts::is_visible`] says the same of a loaded one.
pub(super) fn write_condition<T: Held>(
    sql: &mut Sql,
    powers: &Powers<T>,
    user: &str,
    now: i64,
) -> Result<()> {
    sql.push("(NOT a.is_draft OR a.created_by = ").bind(user);
    sql.push(" OR ");
    powers.reads_drafts.write(sql)?;
    sql.push(") AND (((a.release_at IS NULL OR a.release_at <= ")
        .bind(now);
    sql.push(") AND (a.retract_at IS NULL OR a.retract_at > ")
        .bind(now);
    sql.push(")) OR ");
    powers.revises_any.write(sql)?;
    sql.push(" OR (a.created_by = ").bind(user);
    sql.push(" AND ");
    powers.revises_own.write(sql)?;
    sql.push(")) AND (");
    write_addressed(sql, user);
    sql.push(" OR ");
    powers.sees_all_groups.write(sql)?;
    sql.push(")");
    Ok(())
}

/// Writes whether the announcement `a` is for everybody in the site, or for a group of the user.
pub(super) fn write_addressed(sql: &mut Sql, user: &str) {
    sql.push(
        "(NOT a.is_restricted OR EXISTS (SELECT 1 FROM announcement_group ag \
         JOIN group_member gm ON gm.group_id = ag.group_id \
         WHERE ag.announcement_id = a.id AND gm.user_id = ",
    )
    .bind(user);
    sql.push("))");
}
