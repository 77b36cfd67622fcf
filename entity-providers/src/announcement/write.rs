//! Writing announcements.

use entity_core::wire::Millis;
use entity_core::{Context, Create, Entity as _, Error, Result, Update, db};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter};
use serde::{Deserialize, Deserializer};

use super::attachment::{self, Stored};
use super::{Announcement, Announcements, channel_of, query};
use crate::db::sql::Sql;
use crate::db::{announcement, announcement_group};

/// What a client sends to create one.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NewAnnouncement {
    site_id: String,
    title: String,
    body: Option<String>,
    highlight: Option<bool>,
    draft: Option<bool>,
    release_date: Option<Millis>,
    retract_date: Option<Millis>,
    groups: Option<Vec<String>>,
    attachments: Option<Vec<Stored>>,
}

/// What a client sends to change one. What is sent as null is emptied, what is not sent stays.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Changes {
    title: Option<String>,
    body: Change<String>,
    highlight: Change<bool>,
    draft: Change<bool>,
    release_date: Change<Millis>,
    retract_date: Change<Millis>,
    groups: Change<Vec<String>>,
    attachments: Change<Vec<Stored>>,
}

/// What a client says of a field that it may empty.
#[derive(Debug, Default)]
enum Change<T> {
    /// Nothing: it stays.
    #[default]
    Unsaid,
    /// This, or that it has nothing.
    Said(Option<T>),
}

impl<T> Change<T> {
    fn or(self, current: Option<T>) -> Option<T> {
        match self {
            Self::Unsaid => current,
            Self::Said(value) => value,
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Change<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Option::deserialize(deserializer).map(Self::Said)
    }
}

impl Create for Announcements {
    type Draft = NewAnnouncement;

    fn site(draft: &NewAnnouncement) -> Option<&str> {
        Some(&draft.site_id)
    }

    async fn create(cx: &Context, draft: NewAnnouncement) -> Result<Announcement> {
        check_dates(draft.release_date, draft.retract_date)?;
        let groups = draft.groups.unwrap_or_default();
        let site = draft.site_id;
        check_groups(cx, &site, &groups).await?;
        let attachments = attachment::store(draft.attachments.unwrap_or_default(), cx.base_url())?;
        let now = cx.now().timestamp_millis();
        let release_at = draft.release_date.map(to_millis);
        let id = cx.new_id();
        let model = announcement::Model {
            id: id.clone(),
            channel: channel_of(&site).to_owned(),
            title: draft.title,
            body: draft.body.unwrap_or_default(),
            created_by: cx.user_id()?.to_owned(),
            created: now,
            published: release_at.unwrap_or(now),
            modified: now,
            is_draft: draft.draft.unwrap_or_default(),
            release_at,
            retract_at: draft.retract_date.map(to_millis),
            is_restricted: !groups.is_empty(),
            position: next_position(cx, &site).await?,
            site_id: site.clone(),
            highlight: draft.highlight,
            attachments,
            version: 1,
            title_folded: None,
            body_folded: None,
        };
        let model: announcement::ActiveModel = db::folded(model, Announcement::schema())?;
        announcement::Entity::insert(model)
            .exec_without_returning(cx.db()?)
            .await?;
        add_groups(cx, &id, &site, groups).await?;
        read_back(cx, &id).await
    }
}

impl Update for Announcements {
    type Changes = Changes;

    async fn update(cx: &Context, current: Announcement, changes: Changes) -> Result<Announcement> {
        let release = changes.release_date.or(current.release_date);
        let retract = changes.retract_date.or(current.retract_date);
        check_dates(release, retract)?;
        let release_at = release.map(to_millis);
        let mut model = announcement::ActiveModel {
            release_at: Set(release_at),
            retract_at: Set(retract.map(to_millis)),
            published: Set(release_at.unwrap_or(current.row.created)),
            modified: Set(cx.now().timestamp_millis()),
            version: Set(current.row.version.saturating_add(1)),
            ..Default::default()
        };
        if let Some(title) = changes.title {
            model.title = Set(title);
        }
        if let Change::Said(body) = changes.body {
            model.body = Set(body.unwrap_or_default());
        }
        if let Change::Said(highlight) = changes.highlight {
            model.highlight = Set(highlight);
        }
        if let Change::Said(draft) = changes.draft {
            model.is_draft = Set(draft.unwrap_or_default());
        }
        if let Change::Said(files) = changes.attachments {
            model.attachments = Set(attachment::store(files.unwrap_or_default(), cx.base_url())?);
        }
        if let Change::Said(groups) = changes.groups {
            let groups = groups.unwrap_or_default();
            check_groups(cx, &current.site_id, &groups).await?;
            model.is_restricted = Set(!groups.is_empty());
            replace_groups(cx, &current, groups).await?;
        }
        store(cx, &current, model).await?;
        read_back(cx, &current.announcement_id).await
    }
}

/// Deletes it; its groups go with it.
pub(super) async fn delete(cx: &Context, current: &Announcement) -> Result<()> {
    announcement::Entity::delete_by_id(&current.announcement_id)
        .exec(cx.db()?)
        .await?;
    Ok(())
}

/// Writes `model` over the row, if it is still in the version that was read.
async fn store(
    cx: &Context,
    current: &Announcement,
    model: announcement::ActiveModel,
) -> Result<()> {
    let done = announcement::Entity::update_many()
        .set(db::folded(model, Announcement::schema())?)
        .filter(announcement::Column::Id.eq(&current.announcement_id))
        .filter(announcement::Column::Version.eq(current.row.version))
        .exec(cx.db()?)
        .await?;
    match done.rows_affected {
        0 => Err(Error::precondition_failed()),
        _ => Ok(()),
    }
}

fn to_millis(instant: Millis) -> i64 {
    instant.0.timestamp_millis()
}

fn check_dates(release: Option<Millis>, retract: Option<Millis>) -> Result<()> {
    match (release, retract) {
        (Some(release), Some(retract)) if retract <= release => Err(Error::field(
            "retractDate",
            "must be later than `releaseDate`",
        )),
        _ => Ok(()),
    }
}

/// Every group must be one of the site.
async fn check_groups(cx: &Context, site: &str, groups: &[String]) -> Result<()> {
    if groups.is_empty() {
        return Ok(());
    }
    let connection = cx.db()?;
    let mut sql = Sql::new(
        connection.get_database_backend(),
        "SELECT id FROM site_group WHERE site_id = ",
    );
    sql.bind(site).push(" AND id").bind_list(groups)?;
    let known: Vec<String> = connection
        .rows(sql.into_statement(), |row| Ok(row.take()?))
        .await?;
    match groups.iter().find(|it| !known.contains(it)) {
        Some(unknown) => Err(Error::field(
            "groups",
            format!("has `{unknown}`, which is no group of the site"),
        )),
        None => Ok(()),
    }
}

async fn replace_groups(cx: &Context, current: &Announcement, groups: Vec<String>) -> Result<()> {
    let id = &current.announcement_id;
    announcement_group::Entity::delete_many()
        .filter(announcement_group::Column::AnnouncementId.eq(id))
        .exec(cx.db()?)
        .await?;
    add_groups(cx, id, &current.site_id, groups).await
}

async fn add_groups(cx: &Context, id: &str, site: &str, mut groups: Vec<String>) -> Result<()> {
    groups.sort();
    groups.dedup();
    if groups.is_empty() {
        return Ok(());
    }
    let rows = groups
        .into_iter()
        .map(|group_id| announcement_group::ActiveModel {
            announcement_id: Set(id.to_owned()),
            group_id: Set(group_id),
            site_id: Set(Some(site.to_owned())),
        });
    announcement_group::Entity::insert_many(rows)
        .exec_without_returning(cx.db()?)
        .await?;
    Ok(())
}

/// The place behind the last announcement of the site.
async fn next_position(cx: &Context, site: &str) -> Result<i64> {
    use sea_orm::{QuerySelect, sea_query::ExprTrait as _};
    let last: Option<Option<i64>> = announcement::Entity::find()
        .select_only()
        .column_as(Expr::col(announcement::Column::Position).max(), "last")
        .filter(announcement::Column::SiteId.eq(site))
        .into_tuple()
        .one(cx.db()?)
        .await?;
    Ok(last.flatten().unwrap_or(0).saturating_add(1))
}

async fn read_back(cx: &Context, id: &str) -> Result<Announcement> {
    query::one(cx, id)
        .await?
        .ok_or_else(|| Error::internal("an announcement that was just written is not there"))
}
