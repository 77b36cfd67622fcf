//! Notices: the events of which people are notified, and their audience.
//!
//! ```
//! use entity_core::{Audience, Notice};
//!
//! const NEW_LOAN: Notice = Notice {
//!     event: "loan.new",
//!     kind: "loan.new",
//!     tool: "example.loans",
//!     audience: Audience::Site,
//!     text: "{borrowerName} has borrowed {item}",
//! };
//! entity_core::register_notice!(NEW_LOAN);
//! ```
//!
//! A follower of the outbox makes a notification for each person. What a notification shows of the entity is read when it
//! is looked at, so that nobody is told of an entity that they may not read then: it can be a draft, or be for others.

use serde_json::{Map, Value};

/// A kind of events of which people are notified. There is at most one notice for each kind of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The kind of the event, such as `annc.new`.
    pub event: &'static str,
    /// The kind of the notification, as clients know it: most often that of the event.
    pub kind: &'static str,
    /// The id of the tool of the site in which people find the entity, such as `sakai.announcements`.
    pub tool: &'static str,
    /// The people who are notified.
    pub audience: Audience,
    /// The sentence that people read, in which `{item}` stands for the field `item` of the entity as its reader sees it; empty
    /// for the title of the entity. Where a field is none of the entity or is empty, the title takes its place.
    pub text: &'static str,
}

/// The people who are notified of an event. Whoever caused the event is never among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// The active members of the event's site. Those who may not read the entity are shown nothing.
    Site,
    /// The person whose internal id is the detail [`PERSON`] of the event, if they are an active member of the event's site.
    Person,
    /// The person whose internal id is the detail [`PERSON`] of the event, who may be no member of the event's site.
    Guest,
}

/// The name of the detail of an event with the internal id of the person whom the event concerns.
pub const PERSON: &str = "userId";

/// The registration of a notice; created by [`register_notice!`](crate::register_notice).
#[derive(Clone, Copy, Debug)]
pub struct NoticeRegistration(pub Notice);

inventory::collect!(NoticeRegistration);

impl Notice {
    /// Returns the registered notice of events of the kind `event`, if there is one.
    pub fn of_event(event: &str) -> Option<Self> {
        Self::all().find(|it| it.event == event)
    }

    /// Returns a kind of events that two notices are registered for, if there is one: the service refuses to start with
    /// them.
    pub fn claimed_twice() -> Option<&'static str> {
        let mut events: Vec<_> = Self::all().map(|it| it.event).collect();
        events.sort_unstable();
        let mut pairs = events.iter().zip(events.iter().skip(1));
        pairs.find(|(one, other)| one == other).map(|it| *it.0)
    }

    /// Returns the sentences about an entity that has `fields`: those that it can complete, each with the kind of its notice.
    pub(crate) fn sentences(fields: &Map<String, Value>) -> Vec<(&'static str, String)> {
        let all = Self::all().filter(|it| !it.text.is_empty());
        let sentences = all.filter_map(|it| Some((it.kind, it.sentence(fields)?)));
        sentences.collect()
    }

    /// Returns whether there is a notice with a sentence of its own.
    pub(crate) fn has_sentences() -> bool {
        Self::all().any(|it| !it.text.is_empty())
    }

    fn sentence(&self, fields: &Map<String, Value>) -> Option<String> {
        let mut parts = self.text.split('{');
        let mut sentence = parts.next()?.to_owned();
        for part in parts {
            let (name, rest) = part.split_once('}')?;
            match fields.get(name)? {
                Value::String(text) if !text.is_empty() => sentence.push_str(text),
                Value::Number(number) => sentence.push_str(&number.to_string()),
                _ => return None,
            }
            sentence.push_str(rest);
        }
        Some(sentence)
    }

    fn all() -> impl Iterator<Item = Self> {
        let all = inventory::iter::<NoticeRegistration>.into_iter();
        all.map(|it| it.0)
    }
}

/// Registers a [`Notice`], which must be a constant: `register_notice!(NEW_LOAN);`.
#[macro_export]
macro_rules! register_notice {
    ($notice:expr) => {
        $crate::inventory::submit! { $crate::engine::NoticeRegistration($notice) }
    };
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_sentence_has_the_fields_of_its_entity_or_is_none() {
        let notice = Notice {
            event: "loan.refuse",
            kind: "loan.refuse",
            tool: "example.loans",
            audience: Audience::Person,
            text: "{item} was not lent to you for {days} days: {reason}.",
        };
        let fields = |reason: Value| {
            let fields = json!({"item": "A {tent}", "days": 3, "reason": reason});
            fields.as_object().cloned().unwrap_or_default()
        };
        let told = notice.sentence(&fields("It leaks".into()));
        let expected = "A {tent} was not lent to you for 3 days: It leaks.";
        assert_eq!(told.as_deref(), Some(expected));
        for unknown in [Value::Null, "".into()] {
            assert_eq!(notice.sentence(&fields(unknown)), None);
        }
        assert_eq!(notice.sentence(&Map::new()), None);
    }
}
