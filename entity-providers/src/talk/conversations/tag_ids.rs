//! The tags of a topic, as its column holds them.

use entity_core::db::{self, ColumnValue, Row};
use entity_core::{Context, Error, Result, gate};
use serde::Serialize;

use super::Topic;
use super::tag::{TAG, TopicTag};

/// The maximum number of tags of a topic.
const MOST: usize = 20;
/// The maximum number of digits of an id.
const LONGEST: usize = 10;

/// The ids of the tags of a topic. Its column has a comma before and behind each.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct TagIds(pub Vec<String>);

impl ColumnValue for TagIds {
    type Sent = Vec<String>;

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
        match ids.len() > MOST {
            true => Err(format!("must not have more than {MOST} items")),
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
