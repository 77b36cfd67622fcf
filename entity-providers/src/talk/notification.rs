//! `/direct/notification`: the notifications of a user, made from the events of others.
//!
//! A row holds only who is told of which event. Title and address are those of the entity when the notification is
//! looked at, and a notification of an entity that its reader may not read then is not there at all.

mod follow;
mod news;
mod sweep;
mod view;

use std::collections::BTreeSet;

use entity_core::db::{self, Migration, RowPolicy};
use entity_core::engine::read_references;
use entity_core::wire::Millis;
use entity_core::{
    Access, Context, Entity, List, Need, Operation, Page, Permit, Reference, Result, Search,
    standard,
};
use serde::Serialize;

use crate::people::preference::NOT_MUTED;

pub use self::follow::follow;
pub(crate) use self::news::{Place, news};
pub use self::sweep::sweep;

/// Whoever is told marks a notification as viewed, and removes it.
const ACCESS: Access = Access::new(Need::Session, Need::Session);

/// A notification is for whoever is told, unless they have muted its kind or its site. Its entity is asked for by
/// [`Notification::complete`].
const SIGHT: RowPolicy = RowPolicy::All(&[
    RowPolicy::Sql("this.to_user = {caller}"),
    RowPolicy::Sql(NOT_MUTED),
]);

/// A notification: an event of which a user is told.
#[standard(facts)]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(prefix = "notification", table = "notification", access = ACCESS, sight = SIGHT)]
#[entity(complete = Self::complete, permits = Self::decide, unarchived)]
#[entity(join = "site s ON s.id = this.site_id")]
#[entity(verbs(read, update, delete), plural = "Notifications", own = "")]
#[entity(listed("eventDate", "siteTitle", "fromDisplayName", "viewed"))]
#[entity(layout = article, icon = "bell")]
pub struct Notification {
    /// The id, as a number.
    #[entity(computed = |it, _| it.notification_id.parse().unwrap_or_default())]
    pub id: i64,
    /// The id, as text.
    #[entity(id, for_programs)]
    pub notification_id: String,
    /// The kind, such as `annc.new`.
    #[entity(read_only, for_programs)]
    pub event: String,
    /// The reference of the entity, such as `/announcement/7`.
    #[entity(read_only, for_programs)]
    pub reference: String,
    /// The title of the entity, or the sentence that its type has for the event.
    #[entity(title, computed)]
    pub title: String,
    /// The address of the entity.
    #[entity(computed, for_programs)]
    pub url: String,
    /// The internal id of whoever caused the event; empty if that is not told.
    #[entity(read_only, references = "user", label = "From")]
    pub from_user: String,
    /// The name of whoever caused the event.
    #[entity(name_of = from_user, fact = "From {}")]
    pub from_display_name: String,
    /// The internal id of whoever is told.
    #[entity(read_only, person, references = "user", for_programs)]
    pub to_user: String,
    /// The site.
    #[entity(site, references = "site")]
    pub site_id: String,
    /// The title of the site.
    #[entity(sql = "s.title", category, fact)]
    pub site_title: String,
    /// The id of the tool in which people find the entity.
    #[entity(read_only, for_programs)]
    pub tool: String,
    /// The time of the event.
    #[entity(created, label = "When")]
    pub event_date: Millis,
    /// True if whoever is told has seen the notification.
    #[entity(label = "Seen", badge)]
    pub viewed: bool,
    /// True if the caller may read the entity now.
    #[serde(skip)]
    #[entity(skip)]
    pub is_seen: bool,
}

entity_core::register!(Notification, migrations(OF_USER, OF_ENTITY));

/// The notifications of a user are listed by their time.
const OF_USER: Migration = Migration::of_tables(
    "notification_of_user",
    &["CREATE INDEX notification_of_user ON notification (to_user, event_date)"],
);
/// Those of an entity go when it is deleted.
const OF_ENTITY: Migration = Migration::of_tables(
    "notification_of_entity",
    &["CREATE INDEX notification_of_entity ON notification (reference)"],
);

/// The maximum number of notifications in one answer: for each, an entity is read.
const MOST_LISTED: u64 = 200;

impl Notification {
    /// Adds to each notification what the caller may read of its entity now.
    async fn complete(cx: &Context, notifications: &mut [Self]) -> Result<()> {
        // The service itself is told of nothing, and reads none of it.
        if cx.caller().is_anonymous() {
            return Ok(());
        }
        let texts: BTreeSet<&str> = notifications.iter().map(|it| &*it.reference).collect();
        let references: Vec<Reference> = texts.into_iter().filter_map(Reference::parse).collect();
        let entities = read_references(cx, &references).await?;
        for notification in notifications {
            let Some(entity) = entities.get(&notification.reference) else {
                continue;
            };
            notification.url = format!("{}/direct{}", cx.base_url(), entity.path);
            let sentences = entity.sentences.iter();
            let mut sentences = sentences.filter(|it| it.0 == notification.event);
            let sentence = sentences.next().map(|it| it.1.clone());
            let title = sentence.or_else(|| entity.title.clone());
            notification.title = title.unwrap_or_default();
            notification.is_seen = true;
        }
        Ok(())
    }

    async fn decide(cx: &Context, notification: &Self, operation: Operation) -> Result<Permit> {
        match notification.is_seen {
            true => db::permits(cx, notification, operation).await,
            false => Ok(Permit::Hidden),
        }
    }
}

/// Which notifications a reader sees is only known when their entities were asked for: so nobody counts them before.
impl List for Notification {
    const ORDER: &'static str = "eventDate_desc,notificationId";
    const MAX: u64 = MOST_LISTED;

    async fn list(cx: &Context, search: &Search) -> Result<Page<Self>> {
        db::list(cx, search).await
    }
}
