//! `/direct/conversations-tag`: the words by which the topics of a site are sorted.

use entity_core::db::{self, ColumnType, Kept, Row};
use entity_core::{Access, Context, Delete, Entity, Error, Need, Result, gate, standard};
use sea_orm::ConnectionTrait as _;
use serde::Serialize;

use super::{Topic, settings::ConversationSettings};

/// The function of those who write the tags of a site.
pub(super) const CREATE: &str = "conversations.tag.create";
/// The function of those who put tags on topics.
pub(super) const TAG: &str = "conversations.topic.tag";

const ACCESS: Access = Access::new(Need::Site("site.visit"), Need::Site(CREATE));

/// The maximum number of tags of a site.
const MOST: i64 = 200;
/// The maximum number of tags of a topic.
const MOST_OF_TOPIC: usize = 20;
/// The maximum number of digits of an id.
const LONGEST: usize = 10;

/// A word by which topics are sorted.
#[standard(version)]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
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
        let db = cx.db()?;
        let mut sql = db.sql("SELECT count(*) FROM conversation_tag WHERE site_id = ");
        sql.bind(self.site_id.as_str());
        let read = |row: &mut Row<'_>| Ok(row.take::<i64>()?);
        let counts = db.rows(sql.into_statement(), read).await?;
        match counts.iter().any(|it| *it >= MOST) {
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
        let settings = ConversationSettings::of(cx, &current.site_id).await?;
        settings.demand_open(cx).await?;
        let (id, site) = (current.id.clone(), current.site_id.clone());
        // Whoever tags a topic keeps the tag until that is done: afterwards no topic gets it any more.
        db::delete(cx, current).await?;
        let db = cx.db()?;
        let mut sql = db.sql("UPDATE conversation_topic SET tags = replace(tags, ");
        sql.bind(format!(",{id},")).push(", ',')");
        sql.push(", version = version + 1 WHERE site_id = ");
        sql.bind(site).push(" AND tags LIKE ");
        sql.bind(format!("%,{id},%"));
        db.execute_raw(sql.into_statement()).await?;
        Ok(())
    }
}

/// The ids of the tags of a topic. Its column has a comma before and behind each.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct TagIds(pub Vec<String>);

impl Kept for TagIds {
    type Sent = Vec<String>;
    const TYPE: ColumnType = ColumnType::Text;
    const IS_NULLABLE: bool = false;

    fn receive(_cx: &Context, sent: Vec<String>) -> Result<Self, String> {
        let is_id = |it: &String| {
            !it.is_empty() && it.len() <= LONGEST && it.bytes().all(|it| it.is_ascii_digit())
        };
        let mut ids: Vec<String> = Vec::new();
        for id in sent {
            if !is_id(&id) {
                return Err("must be ids of tags, which are whole numbers".to_owned());
            }
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        match ids.len() > MOST_OF_TOPIC {
            true => Err(format!("must not have more than {MOST_OF_TOPIC} items")),
            false => Ok(Self(ids)),
        }
    }

    fn to_value(&self) -> sea_orm::Value {
        match self.0.as_slice() {
            [] => String::new().into(),
            ids => format!(",{},", ids.join(",")).into(),
        }
    }

    fn read(_cx: &Context, row: &mut Row<'_>) -> Result<Self> {
        let column: String = row.take()?;
        let ids = column.split(',').filter(|it| !it.is_empty());
        Ok(Self(ids.map(ToOwned::to_owned).collect()))
    }
}

impl TagIds {
    /// Checks that the caller may put these tags on `topic`, which had `former` ones.
    pub(super) async fn check(&self, cx: &Context, topic: &Topic, former: &Self) -> Result<()> {
        if self == former {
            return Ok(());
        }
        if !gate::holds(cx, TAG, &topic.site_id).await? {
            return Err(Error::forbidden());
        }
        let new = self.0.iter().filter(|it| !former.0.contains(it));
        let new: Vec<String> = new.cloned().collect();
        let keys: Vec<&str> = new.iter().map(String::as_str).collect();
        db::pin::<TopicTag>(cx, &keys).await?;
        let mut found = gate::read_many::<TopicTag>(cx, &new).await?;
        found.retain(|it| it.site_id == topic.site_id);
        match found.len() == new.len() {
            true => Ok(()),
            false => Err(Error::field("tags", "must be tags of the site")),
        }
    }
}
