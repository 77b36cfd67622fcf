//! Making notifications of events.

use entity_core::db;
use entity_core::engine::Event;
use entity_core::wire::Millis;
use entity_core::{Audience, Context, Notice, PERSON, Result};
use sea_orm::{ColumnTrait as _, EntityTrait as _, QueryFilter as _};
use serde_json::Value;

use super::Notification;
use super::notification;
use crate::base::personal::ANONYMOUS;

/// Makes the notifications of `event`, of at most `most` people: in the order of their internal ids, beginning behind
/// `after`. Returns the last of them if there may be more. The notifications of an entity that was deleted are removed.
pub async fn follow(
    cx: &Context,
    event: &Event,
    after: &str,
    most: usize,
) -> Result<Option<String>> {
    if event.is_deletion() {
        remove(cx, &event.reference).await?;
    }
    let (Some(notice), Some(site)) = (Notice::of_event(&event.kind), event.site.as_deref()) else {
        return Ok(None);
    };
    let people = people(cx, notice.audience, event, site, after, most).await?;
    let last = people.last().filter(|_| people.len() == most).cloned();
    let actor = event.actor.as_deref();
    let told = people.iter().filter(|it| Some(it.as_str()) != actor);
    let rows: Vec<_> = told.map(|it| of(cx, notice, event, site, it)).collect();
    db::insert_many(cx, &rows).await?;
    Ok(last)
}

/// Removes the notifications of the entity with this reference.
async fn remove(cx: &Context, reference: &str) -> Result<()> {
    let of_entity = notification::Column::Reference.eq(reference);
    let gone = notification::Entity::delete_many().filter(of_entity);
    gone.exec(cx.db()?).await?;
    Ok(())
}

/// Returns the internal ids of the people who are told, in order: active members of the site, but for guests.
async fn people(
    cx: &Context,
    audience: Audience,
    event: &Event,
    site: &str,
    after: &str,
    most: usize,
) -> Result<Vec<String>> {
    let db = cx.db()?;
    let person = event.details.get(PERSON).and_then(Value::as_str);
    // The index of the table that is named first leads to the people in their order.
    let (text, id) = match audience {
        Audience::Guest => (
            "SELECT u.id FROM user_account u CROSS JOIN site s WHERE s.id = ",
            "u.id",
        ),
        Audience::Site | Audience::Person => (
            "SELECT m.user_id FROM membership m JOIN site s ON s.id = m.site_id \
             WHERE m.is_active AND m.site_id = ",
            "m.user_id",
        ),
    };
    let mut sql = db.sql(text);
    sql.bind(site);
    sql.push(" AND ").push(id).push(" > ").bind(after);
    if audience != Audience::Site {
        sql.push(" AND ").push(id).push(" = ");
        sql.bind(person.unwrap_or_default());
    }
    sql.push(" ORDER BY ")
        .push(id)
        .push(" LIMIT ")
        .bind(i64::try_from(most).unwrap_or(i64::MAX));
    db.rows(sql.into_statement(), db::columns).await
}

/// Returns the notification of `event` for `person`.
fn of(cx: &Context, notice: Notice, event: &Event, site: &str, person: &str) -> Notification {
    let is_anonymous = event.details.get(ANONYMOUS) == Some(&Value::Bool(true));
    let actor = event.actor.clone().filter(|_| !is_anonymous);
    Notification {
        notification_id: db::large_number(cx).to_string(),
        event: notice.kind.to_owned(),
        reference: event.reference.clone(),
        from_user: actor.unwrap_or_default(),
        to_user: person.to_owned(),
        site_id: site.to_owned(),
        tool: notice.tool.to_owned(),
        event_date: Millis(event.time),
        ..Notification::default()
    }
}
