//! Grades for the messages of members in a topic: they go into the column of the gradebook that the topic names.

use entity_core::schema::{Field, Kind};
use entity_core::wire::Decimal;
use entity_core::{Action, Arguments, Context, Error, Fields, Need, Result, Verb, gate};
use serde_json::Value;

use super::{ForumMessage, ForumTopic, MODERATE};
use crate::base::fields;
use crate::courses::gradebook;

const ASKS: &[Field] = &[
    Field::new(
        "score",
        Kind::Number,
        "The points that the author of the message gets.",
    ),
    Field::new("comment", Kind::Text(4_000), "A comment for the author."),
];

/// Returns the action that grades the author of a message.
pub(super) fn action() -> Action<ForumMessage> {
    Action::entity(Verb::Post, "grade", Need::Site(MODERATE), grade)
        .doc(
            "Grades what the author of the message has written in the topic: sets their `score`, and a `comment` unless \
             that is to stay, in the item of the gradebook that the topic names as `assocGradebookItemName`. Whoever does \
             it grades the author there as well.",
        )
        .label("Grade the author")
        .asks(ASKS)
        .offered_if(|it| it.is_graded && !it.is_draft && !it.is_deleted)
}

async fn grade(cx: &Context, message: ForumMessage, arguments: Arguments) -> Result<ForumMessage> {
    let topic = gate::read::<ForumTopic>(cx, &message.topic).await?;
    let Some(name) = topic.assoc_gradebook_item_name else {
        return Err(Error::conflict("the topic is not graded"));
    };
    let sent = Fields(arguments.input.fields);
    let score = match sent.0.get("score") {
        Some(Value::Number(number)) => number.to_string(),
        Some(Value::String(text)) => text.clone(),
        _ => return Err(Error::field("score", "is required")),
    };
    let score = Decimal::parse(&score).map_err(|it| Error::field("score", it))?;
    let comment = fields::text(&sent, "comment").flatten();
    gradebook::grade(
        cx,
        &message.site_id,
        &name,
        &message.author_id,
        score,
        comment,
    )
    .await?;
    Ok(message)
}

impl ForumTopic {
    /// Checks that a new name of an item is that of one in the gradebook of the site, as the caller sees it.
    pub(super) async fn check_item(&self, cx: &Context, before: Option<&Self>) -> Result<()> {
        let former = before.and_then(|it| it.assoc_gradebook_item_name.as_ref());
        match &self.assoc_gradebook_item_name {
            Some(name) if Some(name) != former => {
                gradebook::demand_item(cx, &self.site_id, name, "assocGradebookItemName").await
            }
            _ => Ok(()),
        }
    }
}
