//! The chat room of the first course of the demo university.

use chrono::TimeDelta;
use entity_core::wire::Millis;
use entity_core::{Context, Demo, Result, db};

use super::{ALL, ChatChannel, ChatMessage};
use crate::base::university::BIOLOGY;

/// What was said: the minutes ago, who said it, and the text.
const SAID: [(i64, &str, &str); 5] = [
    (190, "student1", "Is the lab open this afternoon?"),
    (171, "ta1", "Yes, until five. Bring your own coat."),
    (168, "student2", "Mine got lost last week :("),
    (160, "student3", "There is one on the hook by the door."),
    (
        42,
        "instructor1",
        "I am here for questions about the essay until noon.",
    ),
];

/// Adds the room with its messages, and returns the number of rooms.
pub(super) async fn fill(cx: &Context, demo: &Demo) -> Result<usize> {
    let ago = |minutes| {
        let then = cx.now().checked_sub_signed(TimeDelta::minutes(minutes));
        Millis(then.unwrap_or(cx.now()))
    };
    let made = ago(20_000);
    let channel = ChatChannel {
        id: cx.new_id(),
        site_id: BIOLOGY.to_owned(),
        title: "Course chat".to_owned(),
        description: "Quick questions. What matters to all goes to the forums.".to_owned(),
        filter_type: ALL.to_owned(),
        creation_date: made,
        modified_date: made,
        version: 1,
        ..ChatChannel::default()
    };
    db::insert(cx, &channel).await?;
    for (minutes, person, body) in SAID {
        let message = ChatMessage {
            id: cx.new_id(),
            chat_channel_id: channel.id.clone(),
            site_id: channel.site_id.clone(),
            owner: demo.person(person)?.to_owned(),
            message_date: ago(minutes),
            body: body.to_owned(),
            ..ChatMessage::default()
        };
        db::insert(cx, &message).await?;
    }
    Ok(1)
}
