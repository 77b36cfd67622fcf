//! Items with scores, as the tools of instructors send them.

use entity_core::view::millis;
use entity_core::wire::Decimal;
use entity_core::{Context, Error, Input, Preconditions, Result, gate};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Number, Value};

use super::find;
use crate::courses::gradebook::bulk;
use crate::courses::gradebook::item::GradebookItem;
use crate::courses::gradebook::marking::Mark;
use crate::people::membership::named::members_named;

/// An item with scores, as clients send it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SentItem {
    /// The name.
    #[serde(default)]
    pub(super) name: Option<String>,
    /// The points that it is worth.
    #[serde(default)]
    points_possible: Option<Number>,
    /// When it is due, in milliseconds.
    #[serde(default)]
    due_date: Option<i64>,
    /// True if students see it; a new item is released unless this is `false`.
    #[serde(default)]
    released: Option<bool>,
    /// The scores.
    #[serde(default)]
    pub(super) scores: Vec<SentScore>,
}

/// The score of one student, as clients send it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "SentGradeItemScore")]
pub(super) struct SentScore {
    /// The internal id of the student.
    #[serde(default)]
    user_id: Option<String>,
    /// The external id of the student, where there is no internal one.
    #[serde(default)]
    username: Option<String>,
    /// The points, as a number or as text.
    grade: Value,
    /// The comment for the student.
    #[serde(default)]
    comment: Option<String>,
}

impl SentItem {
    /// Makes or changes the item, which takes the permission to do so.
    pub(super) async fn write(
        &self,
        cx: &Context,
        site: &str,
        name: &str,
    ) -> Result<GradebookItem> {
        let found = find(cx, site, name).await?;
        let due = found.as_ref().and_then(|it| it.due_date.map(millis));
        let due = self.due_date.filter(|it| Some(*it) != due);
        let sent = [
            ("points", self.points_possible.clone().map(Value::from)),
            ("dueDate", due.map(Value::from)),
            ("released", self.released.map(Value::from)),
        ];
        let sent = sent.into_iter();
        let sent = sent.filter_map(|(name, it)| Some((name.to_owned(), it?)));
        let mut fields: Map<String, Value> = sent.collect();
        match found {
            Some(item) if fields.is_empty() => Ok(item),
            Some(item) => {
                let (input, conditions) = (Input::from_iter(fields), Preconditions::default());
                gate::update::<GradebookItem>(cx, &item.item_id, &input, &conditions).await
            }
            None => {
                fields.insert("siteId".to_owned(), site.into());
                fields.insert("name".to_owned(), name.into());
                fields.entry("released").or_insert(true.into());
                gate::create::<GradebookItem>(cx, &Input::from_iter(fields)).await
            }
        }
    }

    /// Returns the scores of the item.
    pub(super) async fn marks(
        &self,
        cx: &Context,
        site: &str,
        item: &GradebookItem,
    ) -> Result<Vec<Mark>> {
        let eids: Vec<&str> = self
            .scores
            .iter()
            .filter_map(|it| it.username.as_deref())
            .collect();
        let named = members_named(cx, site, &eids).await?;
        let marks = self.scores.iter().enumerate().map(|(index, it)| {
            let field = |name: &str| format!("scores[{index}].{name}");
            let by_eid = || it.username.as_ref().and_then(|it| named.get(it));
            let user = it.user_id.as_ref().or_else(by_eid);
            let user = user
                .ok_or_else(|| Error::field(field("username"), "must be a student of the site"))?;
            bulk::check_comment(it.comment.as_deref(), &field("comment"))?;
            let grade = match &it.grade {
                Value::String(text) => text.trim().to_owned(),
                other => other.to_string(),
            };
            let score = Decimal::parse(&grade);
            Ok(Mark {
                item: item.item_id.clone(),
                user: user.clone(),
                score: Some(Some(score.map_err(|it| Error::field(field("grade"), it))?)),
                excused: None,
                comment: it.comment.clone(),
            })
        });
        marks.collect()
    }
}
