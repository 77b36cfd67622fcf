//! A type of which everything is derived: with events, feeds, a parent, unique and veiled fields. Its faults are in the functions
//! that its attributes name.

use chrono::TimeDelta;
use entity_core::db::{self, RowPolicy};
use entity_core::engine::Route;
use entity_core::{
    Context, DateTimeUtc, Entity, Error, EventEntry, FeedEntry, Provider, Result, standard,
};
use serde::Serialize;

/// Whoever may change any sees all, and the others what is not secret.
const SIGHT: RowPolicy = RowPolicy::Any(&[
    RowPolicy::Holds("exhibit.revise.any"),
    RowPolicy::Not(&RowPolicy::Is("isSecret")),
]);

/// The times and texts of an exhibit, whichever fault it has.
trait Told {
    /// The name, when it opens, when it closes, and when it was changed.
    fn told(&self) -> (String, DateTimeUtc, DateTimeUtc, DateTimeUtc);
    /// The number in the inventory and the place in the cellar, which no client reads.
    fn hidden(&self) -> [&str; 2];
}

fn on_time(it: &impl Told) -> EventEntry {
    let (name, opens, closes, modified) = it.told();
    EventEntry::new(name, opens, closes, modified)
}

fn late(it: &impl Told) -> EventEntry {
    let (name, opens, closes, modified) = it.told();
    let hour = TimeDelta::hours(1);
    EventEntry::new(name, opens + hour, closes + hour, modified)
}

fn ends_late(it: &impl Told) -> EventEntry {
    let (name, opens, closes, modified) = it.told();
    EventEntry::new(name, opens, closes + TimeDelta::hours(1), modified)
}

fn reversed(it: &impl Told) -> EventEntry {
    let (name, opens, closes, modified) = it.told();
    EventEntry::new(name, closes, opens, modified)
}

fn honest(it: &impl Told) -> FeedEntry {
    let (name, _, _, modified) = it.told();
    FeedEntry::new(name, modified)
}

fn telling(it: &impl Told) -> FeedEntry {
    let (name, _, _, modified) = it.told();
    let mut entry = FeedEntry::new(name, modified);
    entry.author = Some(it.hidden()[0].to_owned());
    entry
}

fn telling_where(it: &impl Told) -> FeedEntry {
    let (name, _, _, modified) = it.told();
    let mut entry = FeedEntry::new(name, modified);
    entry.categories = vec![it.hidden()[1].to_owned()];
    entry
}

fn misnamed(it: &impl Told) -> FeedEntry {
    let (name, _, _, modified) = it.told();
    FeedEntry::new(name.to_lowercase(), modified)
}

/// Makes the type with these functions for its entries in calendars and in feeds.
macro_rules! exhibit {
    ($name:ident, event = $event:ident, feed = $feed:ident) => {
        /// Something that a site shows for some time.
        #[standard(version, facts)]
        #[derive(Clone, Debug, Serialize, Entity)]
        #[serde(rename_all = "camelCase")]
        #[entity(prefix = "exhibit", table = "exhibit", access = Site("exhibit"), sight = SIGHT)]
        #[entity(verbs(read, list, create, update, delete), check = Self::check)]
        #[entity(event = $event, feed = $feed)]
        pub(super) struct $name {
            #[entity(id)]
            id: String,
            #[entity(site)]
            site_id: String,
            #[entity(owner, on_create, references = "user")]
            keeper: String,
            #[entity(title, search, required, unique_in_site)]
            name: String,
            #[entity(unique)]
            code: i64,
            opens: DateTimeUtc,
            closes: DateTimeUtc,
            is_secret: bool,
            /// The worth, for those who may change any.
            #[entity(search, sight = RowPolicy::Holds("exhibit.revise.any"))]
            appraisal: Option<String>,
            #[serde(skip)]
            #[entity(hidden)]
            number: String,
            #[serde(skip)]
            #[entity(hidden)]
            place: String,
            #[entity(updated)]
            modified: DateTimeUtc,
        }

        impl $name {
            fn check(&mut self, _cx: &Context, _before: Option<&Self>) -> Result<()> {
                self.number = format!("inventory-{}", self.code);
                match self.closes < self.opens {
                    true => Err(Error::field("closes", "must be after it opens")),
                    false => Ok(()),
                }
            }
        }

        impl Told for $name {
            fn told(&self) -> (String, DateTimeUtc, DateTimeUtc, DateTimeUtc) {
                (self.name.clone(), self.opens, self.closes, self.modified)
            }

            fn hidden(&self) -> [&str; 2] {
                [&self.number, &self.place]
            }
        }
    };
}

exhibit!(Exhibit, event = on_time, feed = honest);
exhibit!(LateExhibit, event = late, feed = honest);
exhibit!(LongExhibit, event = ends_late, feed = honest);
exhibit!(ReversedExhibit, event = reversed, feed = honest);
exhibit!(TellingExhibit, event = on_time, feed = telling);
exhibit!(ExposedExhibit, event = on_time, feed = telling_where);
exhibit!(MisnamedExhibit, event = on_time, feed = misnamed);

/// Something that belongs to an exhibit, which has no two of the same.
#[standard(version)]
#[derive(Clone, Debug, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(prefix = "piece", table = "piece", access = Site("piece"))]
#[entity(verbs(read, list, create, update, delete), settle = Self::settle)]
pub(super) struct Piece {
    #[entity(id)]
    id: String,
    #[entity(site)]
    site_id: String,
    #[entity(on_create, required, parent = Exhibit, references = "exhibit")]
    exhibit_id: String,
    #[entity(title, search)]
    item: String,
    is_fragile: bool,
}

impl Piece {
    async fn settle(&mut self, cx: &Context, before: Option<&Self>) -> Result<()> {
        use entity_core::sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter};
        db::lock::<Exhibit>(cx, &[&self.exhibit_id]).await?;
        let others = piece::Entity::find()
            .filter(piece::Column::ExhibitId.eq(&self.exhibit_id))
            .filter(piece::Column::Item.eq(&self.item))
            .filter(piece::Column::Id.ne(before.map_or("", |it| &it.id)));
        match others.count(cx.db()?).await? {
            0 => Ok(()),
            _ => Err(Error::conflict("this item is there already")),
        }
    }
}

/// Returns the route of a derived type.
pub(super) fn route<P>() -> Route
where
    P: Provider
        + entity_core::Read
        + entity_core::List
        + entity_core::Create
        + entity_core::Update
        + entity_core::Delete,
    P::Entity: entity_core::db::Record,
{
    let route = Route::of::<P>(("tests", "1.0.0"));
    route
        .read()
        .list()
        .create()
        .update()
        .delete()
        .table()
        .build()
}
