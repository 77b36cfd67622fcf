//! Events that follow the deadline of another entity, such as an assignment.

use entity_core::db;
use entity_core::file::Files;
use entity_core::wire::Millis;
use entity_core::{Context, DateTimeUtc, Provider as _, Reference, Result};

use super::{CalendarEvent, load};

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
    let current = load(cx, "cause", cause).await?.pop();
    match (current, deadline) {
        (None, None) => Ok(None),
        (None, Some(deadline)) => {
            let event = db::add(cx, deadline.into_event(cx, cause)).await?;
            Ok(Some(told(cx, "calendar.new", &event)))
        }
        (Some(event), None) => {
            told(cx, "calendar.delete.any", &event);
            db::delete(cx, event).await?;
            Ok(None)
        }
        (Some(event), Some(deadline)) => {
            let wanted = deadline.into_event(cx, cause);
            let changed = CalendarEvent {
                title: wanted.title,
                description: wanted.description,
                first_time: wanted.first_time,
                groups: wanted.groups,
                assignment_id: wanted.assignment_id,
                ..event.clone()
            };
            if changed == event {
                return Ok(Some(event.event_id));
            }
            let changed = db::replace(cx, event, changed).await?;
            Ok(Some(told(cx, "calendar.revise.any", &changed)))
        }
    }
}

/// Emits the event of a write and returns the id of what was written.
fn told(cx: &Context, kind: &str, event: &CalendarEvent) -> String {
    let reference = Reference::entity(CalendarEvent::PREFIX, event.event_id.as_str());
    cx.emit(kind, reference.to_string(), Some(&event.site_id));
    event.event_id.clone()
}

impl Deadline {
    fn into_event(self, cx: &Context, cause: &str) -> CalendarEvent {
        CalendarEvent {
            title: self.title,
            description: self.description,
            kind: "Deadline".to_owned(),
            site_id: self.site_id,
            creator: self.creator,
            first_time: self.at.into(),
            groups: self.groups,
            assignment_id: self.assignment_id,
            cause: Some(cause.to_owned()),
            ..CalendarEvent::blank(cx)
        }
    }
}

impl CalendarEvent {
    /// Returns a new event without a title, a site and a time.
    pub(super) fn blank(cx: &Context) -> Self {
        Self {
            event_id: cx.new_id(),
            title: String::new(),
            description: String::new(),
            description_formatted: String::new(),
            kind: "Activity".to_owned(),
            event_icon: String::new(),
            site_id: String::new(),
            site_name: String::new(),
            creator: String::new(),
            creator_display_name: String::new(),
            first_time: cx.now().into(),
            duration: 0,
            last_time: cx.now().into(),
            time_zone: "UTC".to_owned(),
            recurrence_rule: None,
            location: None,
            groups: Vec::new(),
            attachments: Files::default(),
            assignment_id: None,
            reference: String::new(),
            event_reference: String::new(),
            created_on: Millis(cx.now()),
            modified_on: Millis(cx.now()),
            cause: None,
            over_at: Millis(cx.now()),
            series: None,
            excluded: String::new(),
            version: 1,
            is_computed: false,
            facts: entity_core::db::Facts::default(),
        }
    }
}
