//! `/direct/conversations-tag`: the words by which the topics of a site are sorted.

use entity_core::db;
use entity_core::{Access, Context, Delete, Entity, Error, Need, Result, standard};
use sea_orm::sea_query::{ExprTrait as _, Func};
use sea_orm::{ColumnTrait as _, EntityTrait as _, PaginatorTrait as _, QueryFilter as _};
use serde::Serialize;

use super::settings::ConversationSettings;
use super::topic;

/// The function of those who write the tags of a site.
pub(super) const CREATE: &str = "conversations.tag.create";
/// The function of those who put tags on topics.
pub(super) const TAG: &str = "conversations.topic.tag";

const ACCESS: Access = Access::new(Need::Site("site.visit"), Need::Site(CREATE));

/// The maximum number of tags of a site.
const MOST: u64 = 200;

/// A word by which topics are sorted.
#[standard(version)]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(maker_pays)]
#[entity(prefix = "conversations-tag", table = "conversation_tag", access = ACCESS, numbered)]
#[entity(settle = Self::settle, verbs(read, list, create, update), order = "label,id")]
#[entity(plural = "Tags", singular = "Tag")]
pub struct TopicTag {
    /// The id: a whole number.
    #[entity(id)]
    pub id: String,
    /// The site.
    #[entity(site, references = "site")]
    pub site_id: String,
    /// The word.
    #[entity(title, search)]
    pub label: String,
    /// The explanation.
    #[entity(optional, search, max = 1000)]
    pub description: String,
}

entity_core::register!(TopicTag);

impl TopicTag {
    async fn settle(&mut self, cx: &Context, before: Option<&Self>) -> Result<()> {
        let settings = ConversationSettings::of(cx, &self.site_id).await?;
        settings.demand_open(cx).await?;
        if before.is_some() {
            return Ok(());
        }
        let of_site = topic_tag::Column::SiteId.eq(self.site_id.as_str());
        let count = topic_tag::Entity::find().filter(of_site).count(cx.db()?);
        match count.await? >= MOST {
            true => Err(Error::limit_reached(format!(
                "a site has at most {MOST} tags"
            ))),
            false => Ok(()),
        }
    }
}

impl Delete for TopicTag {
    /// Deletes the tag, and takes it off all topics.
    async fn delete(cx: &Context, current: Self) -> Result<()> {
        use topic::Column::{SiteId, Tags, Version};
        let settings = ConversationSettings::of(cx, &current.site_id).await?;
        settings.demand_open(cx).await?;
        let (id, site) = (current.id.clone(), current.site_id.clone());
        // Whoever tags a topic keeps the tag until that is done: afterwards no topic gets it any more.
        db::delete(cx, current).await?;
        let without = Func::cust("replace")
            .arg(Tags.into_expr())
            .arg(format!(",{id},"))
            .arg(",");
        topic::Entity::update_many()
            .col_expr(Tags, without.into())
            .col_expr(Version, Version.into_expr().add(1))
            .filter(SiteId.eq(site))
            .filter(Tags.contains(format!(",{id},")))
            .exec(cx.db()?)
            .await?;
        Ok(())
    }
}
