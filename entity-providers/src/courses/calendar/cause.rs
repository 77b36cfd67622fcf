//! Events that follow the deadline of another entity, such as an assignment.

use entity_core::db::{self, Followed};
use entity_core::wire::Millis;
use entity_core::{Context, DateTimeUtc, Result};
use sea_orm::{ColumnTrait as _, EntityTrait as _, QueryFilter as _};

use super::{CalendarEvent, calendar_event};

/// The fields of an event that follow from the instant of a deadline.
const FOLLOWING: [&str; 3] = ["firstTime", "lastTime", "duration"];

/// The deadline of an entity, as a calendar shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadline {
    /// The site.
    pub site_id: String,
    /// The headline.
    pub title: String,
    /// The text, as sanitised HTML.
    pub description: String,
    /// When it is.
    pub at: DateTimeUtc,
    /// The field of the entity that says when it is: what is wrong with the instant is told about this field.
    pub field: &'static str,
    /// The internal id of the user who set it.
    pub creator: String,
    /// The ids of the groups that it is for; none means everybody in the site.
    pub groups: Vec<String>,
    /// The id of the assignment, if it is that of one.
    pub assignment_id: Option<String>,
}

/// Creates, changes or deletes the event that follows the entity with the reference `cause`, such as `/assignment/7`,
/// so that it shows `deadline`, and returns the id of the event. It is written in the unit of work of `cx`, in which the
/// entity itself is written: the caller's permission to write that entity is the permission for its event.
///
/// # Errors
/// Returns an error if the deadline can't be an event, or if the database can't be written.
pub async fn follow_cause(
    cx: &Context,
    cause: &str,
    deadline: Option<Deadline>,
) -> Result<Option<String>> {
    let field = deadline.as_ref().map_or("", |it| it.field);
    let of_cause = calendar_event::Column::Cause.eq(cause);
    let current = calendar_event::Entity::find().filter(of_cause);
    let current = db::load::<CalendarEvent>(cx, current).await?.pop();
    let wanted = deadline.map(|it| match &current {
        Some(event) => it.onto(event.clone()),
        None => it.to_event(cx, cause),
    });
    let followed = db::follow(cx, current, wanted).await;
    let followed = followed
        .map_err(|error| error.rename_fields(|it| FOLLOWING.contains(&it).then_some(field)));
    let (kind, event) = match followed? {
        Followed::Nothing => return Ok(None),
        Followed::Kept(event) => return Ok(Some(event.event_id)),
        Followed::Added(event) => ("calendar.new", event),
        Followed::Changed(event) => ("calendar.revise.any", event),
        Followed::Deleted(event) => {
            cx.emit_about::<CalendarEvent>("calendar.delete.any", &event);
            return Ok(None);
        }
    };
    cx.emit_about::<CalendarEvent>(kind, &event);
    Ok(Some(event.event_id))
}

entity_core::inventory::submit! {
    db::DeadlineFollower(|cx, cause, deadline| {
        Box::pin(async move {
            let deadline = deadline.map(Deadline::from);
            follow_cause(cx, &cause, deadline).await.map(drop)
        })
    })
}

impl From<db::Deadline> for Deadline {
    fn from(it: db::Deadline) -> Self {
        Self {
            site_id: it.site,
            title: it.title,
            description: String::new(),
            at: it.at,
            field: it.field,
            creator: it.creator,
            groups: it.groups,
            assignment_id: None,
        }
    }
}

impl Deadline {
    fn to_event(&self, cx: &Context, cause: &str) -> CalendarEvent {
        self.onto(CalendarEvent {
            kind: "Deadline".to_owned(),
            site_id: self.site_id.clone(),
            creator: self.creator.clone(),
            cause: Some(cause.to_owned()),
            ..CalendarEvent::blank(cx)
        })
    }

    fn onto(&self, event: CalendarEvent) -> CalendarEvent {
        CalendarEvent {
            title: self.title.clone(),
            description: self.description.clone(),
            first_time: self.at.into(),
            groups: self.groups.clone(),
            assignment_id: self.assignment_id.clone(),
            ..event
        }
    }
}

impl CalendarEvent {
    /// Returns a new event without a title, a site and a time.
    pub(super) fn blank(cx: &Context) -> Self {
        Self {
            event_id: cx.new_id(),
            kind: "Activity".to_owned(),
            first_time: cx.now().into(),
            time_zone: "UTC".to_owned(),
            created_on: Millis(cx.now()),
            modified_on: Millis(cx.now()),
            version: 1,
            ..Self::default()
        }
    }
}
