//! Handing out a task to the students of a site or of some of its groups.

use entity_core::db;
use entity_core::{Context, Error, Need, Result, gate};
use sea_orm::{
    ColumnTrait as _, EntityTrait as _, QueryFilter as _, QueryOrder as _, QuerySelect as _,
};

use super::Task;
use crate::courses::gradebook::student_roles;
use crate::storage::db::site_parts::site_group;

/// The function of those who hand out tasks.
pub(super) const CREATE: &str = "task.create";
/// The maximum number of people to whom a task is handed out at once.
pub(super) const MOST_PEOPLE: usize = 5_000;

/// The people to whom a task is handed out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum To {
    /// The students of the site.
    Site,
    /// The students in these groups of the site, by their ids.
    Groups(Vec<String>),
}

/// Gives a copy of `task`, which the caller has noted in a site, to others, and returns it as it is afterwards.
///
/// # Errors
/// Returns an error if the caller may not hand out tasks in the site, if a group is none of the site, or if those are too
/// many people.
pub(super) async fn hand_out(cx: &Context, task: Task, to: To) -> Result<Task> {
    let Some(site) = task.site_id.clone() else {
        return Err(Error::field("siteId", "must name the site of those people"));
    };
    gate::demand_in_site(cx, Need::Site(CREATE), Some(&site)).await?;
    let (kind, assigned) = match &to {
        To::Site => ("site", "#SITE#".to_owned()),
        To::Groups(groups) => (
            "group",
            format!("#GROUP# {}", titles(cx, &site, groups).await?),
        ),
    };
    let own = Task {
        assignation_type: kind.to_owned(),
        task_assigned_to: assigned,
        ..task.clone()
    };
    let own = db::replace(cx, task, own).await?;
    let people = people(cx, &site, &to).await?;
    if people.len() > MOST_PEOPLE {
        let message = format!("the site has more than {MOST_PEOPLE} students: choose groups");
        return Err(Error::field("assignationType", message));
    }
    let others = people.into_iter().filter(|it| *it != own.user_id);
    let copies: Vec<Task> = others
        .map(|user_id| Task {
            id: db::large_number(cx).to_string(),
            user_id,
            notes: String::new(),
            complete: false,
            version: 1,
            ..own.clone()
        })
        .collect();
    db::insert_many(cx, &copies).await?;
    Ok(own)
}

/// Returns the titles of the groups, joined.
async fn titles(cx: &Context, site: &str, groups: &[String]) -> Result<String> {
    if groups.is_empty() {
        return Err(Error::field("selectedGroups", "must name a group"));
    }
    let authorizer = cx.authorizer();
    if let Some(unknown) = authorizer.unknown_group(cx, site, groups).await? {
        let message = format!("`{unknown}` is no group of the site");
        return Err(Error::field("selectedGroups", message));
    }
    let titles = site_group::Entity::find()
        .select_only()
        .column(site_group::Column::Title)
        .filter(db::among(cx, site_group::Column::Id.into_expr(), groups)?)
        .order_by_asc(site_group::Column::Title)
        .order_by_asc(site_group::Column::Id);
    let titles: Vec<String> = cx.db()?.select(&titles).await?;
    Ok(titles.join(", "))
}

/// Returns the internal ids of the students, one more than may be at most.
pub(super) async fn people(cx: &Context, site: &str, to: &To) -> Result<Vec<String>> {
    let roles = student_roles(cx, site).await?;
    let db = cx.db()?;
    let mut sql = db.sql("SELECT m.user_id FROM membership m WHERE m.is_active AND m.site_id = ");
    sql.bind(site).push(" AND m.role").bind_list(&roles)?;
    if let To::Groups(groups) = to {
        sql.push(
            " AND EXISTS (SELECT 1 FROM group_member g WHERE g.user_id = m.user_id AND g.group_id",
        );
        sql.bind_list(groups)?.push(")");
    }
    sql.push(" ORDER BY m.user_id LIMIT ").bind(
        i64::try_from(MOST_PEOPLE)
            .unwrap_or(i64::MAX)
            .saturating_add(1),
    );
    db.rows(sql.into_statement(), db::columns::<String>).await
}
