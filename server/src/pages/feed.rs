//! `/direct/feed`: private addresses at which programs that can't log in read what their owner may read.
//!
//! An address holds a token. Whoever has it reads one list or entity as its owner, with the owner's present
//! permissions and nothing else; `fetch.rs` answers there. The token is told once, when it is made, and only
//! its hash is kept: a copy of the database opens nothing, and a lost address is replaced, not shown again.

mod address;
mod fetch;
mod offered;
mod opml;
mod readable;
pub mod table;
mod write;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use entity_core::schema::{Field, Kind, Role, Schema};
use entity_core::{
    Access, Action, Actions, Answers, Arguments, Context, Create, DateTimeUtc, Delete, Entity,
    Error, List, Need, Operation, Outcome, Page, Permit, Provider, Read, Result, Search, Update,
    Verb, Version, gate, shape,
};
use sea_orm::{ColumnTrait as _, EntityTrait as _, QueryFilter as _, QuerySelect};
use serde::Serialize;

use crate::base::own;

pub(crate) use fetch::{PAGE, ReadAs, handle};
pub(crate) use write::follow;

/// A private feed, as its owner sees it.
#[derive(Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Feed {
    id: String,
    title: String,
    path: String,
    query: String,
    formats: Vec<String>,
    user_id: String,
    created: DateTimeUtc,
    expires: Option<DateTimeUtc>,
    expired: bool,
    last_used: Option<DateTimeUtc>,
    #[serde(skip_serializing_if = "Option::is_none")]
    addresses: Option<BTreeMap<String, String>>,
    #[serde(skip)]
    version: i64,
}

static SCHEMA: Schema = Schema {
    doc: "A private feed: an address at which a program that can't log in reads what its owner may read.",
    fields: &[
        Field::new("id", Kind::Text(99), "Its id, which opens nothing.").role(Role::Id).column("id"),
        Field::new("title", Kind::Text(write::MAX_TITLE), "What its owner calls it; what a page of the list is called unless they say.")
            .writable()
            .searchable()
            .column("title")
            .role(Role::Title),
        Field::new(
            "path",
            Kind::Text(2048),
            "What is read: an address below `/direct`, such as `/announcement/site/biology-101`, perhaps with a query.",
        )
        .on_create()
        .required()
        .label("What it follows")
        .offered("feed")
        .column("path"),
        Field::new("query", Kind::Text(2048), "What the list is narrowed to, as in a URL.")
            .on_create()
            .for_programs(),
        Field::new(
            "formats",
            Kind::List,
            "In which formats, such as `atom`, `rss` and `ics`; all that there are unless some are named.",
        )
        .shape(shape::of::<Vec<String>>)
        .offered("feed-format")
        .writable(),
        Field::new("userId", Kind::Text(99), "The internal id of the owner.")
            .role(Role::Owner)
            .column("user_id"),
        Field::new("created", Kind::Instant, "When it was made.").column("created"),
        Field::new("expires", Kind::Instant, "When it ends; null for never.")
            .writable()
            .nullable()
            .absent("never")
            .hint("Empty for never.")
            .column("expires"),
        Field::new(
            "expired",
            Kind::Boolean,
            "Whether it has ended: it opens nothing any more, until it is given another end.",
        ),
        Field::new(
            "lastUsed",
            Kind::Instant,
            "When it was last read, up to ten minutes late; null for never.",
        )
        .nullable()
        .absent("never")
        .column("last_used"),
        Field::new(
            "addresses",
            Kind::Object,
            "The address for each format. Told only in the answer that makes them, and never again.",
        )
        .nullable(),
    ],
    has_feed: false,
    has_events: false,
    has_site: false,
    look: entity_core::schema::Look::PLAIN,
};

impl Entity for Feed {
    fn schema() -> &'static Schema {
        &SCHEMA
    }

    fn id(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.id)
    }

    fn title(&self) -> Option<Cow<'_, str>> {
        Some(Cow::Borrowed(&self.title))
    }

    fn owner(&self) -> Option<&str> {
        Some(&self.user_id)
    }

    fn version(&self) -> Option<Version> {
        Some(Version::of(&(
            &self.id,
            self.version,
            self.last_used,
            self.expired,
        )))
    }

    fn is_told_once(&self) -> bool {
        self.addresses.is_some()
    }
}

impl Feed {
    fn of(cx: &Context, row: table::Model) -> Result<Self> {
        let instant = |millis: i64| {
            DateTimeUtc::from_timestamp_millis(millis)
                .ok_or_else(|| Error::internal(format!("{millis} ms is no instant")))
        };
        Ok(Self {
            expired: row.is_over(cx.now()),
            formats: row.formats().map(ToOwned::to_owned).collect(),
            id: row.id,
            title: row.title,
            path: row.path,
            query: row.query,
            user_id: row.user_id,
            created: instant(row.created)?,
            expires: row.expires.map(instant).transpose()?,
            last_used: row.last_used.map(instant).transpose()?,
            addresses: None,
            version: row.version,
        })
    }
}

/// Leaves out the addresses.
impl fmt::Debug for Feed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Feed")
            .field("id", &self.id)
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

/// The provider of private feeds.
#[derive(Clone, Copy, Debug)]
pub struct Feeds;

entity_core::register!(Feeds);

impl Provider for Feeds {
    type Entity = Feed;
    const PREFIX: &'static str = "feed";
    const PLURAL: Option<&'static str> = Some("Private feeds");
    const OWN: Option<&'static str> = Some("");
    /// Everybody has feeds; [`Provider::permits`] leaves everybody their own.
    const ACCESS: Access = Access::new(Need::Session, Need::Session);

    /// A super user may find and revoke the feeds of others, and nothing else.
    async fn permits(cx: &Context, feed: &Feed, operation: Operation) -> Result<Permit> {
        own::permit(cx, cx.user_id()? == feed.user_id, operation).await
    }
}

impl Read for Feeds {
    async fn read(cx: &Context, id: &str) -> Result<Option<Feed>> {
        let row: Option<table::Model> = cx.db()?.first(table::Entity::find_by_id(id)).await?;
        row.map(|it| Feed::of(cx, it)).transpose()
    }
}

impl List for Feeds {
    const MAX: u64 = 500;

    /// The caller's own, or those of the user whom a super user names.
    async fn list(cx: &Context, search: &Search) -> Result<Page<Feed>> {
        let mut statement = table::Entity::find();
        let names_owner = search.filter("userId").is_some();
        if !(names_owner && cx.authorizer().is_superuser(cx).await?) {
            statement = statement.filter(table::Column::UserId.eq(cx.user_id()?));
        }
        let select = QuerySelect::query(&mut statement);
        let backend = sea_orm::ConnectionTrait::get_database_backend(cx.db()?);
        entity_core::db::apply(backend, select, search, &SCHEMA, "feed")?;
        let measure = cx.measure(search);
        let page: Page<table::Model> = cx.db()?.select_page(&statement, measure).await?;
        let feeds = page.items.into_iter().map(|it| Feed::of(cx, it));
        Ok(Page {
            items: feeds.collect::<Result<_>>()?,
            has_more: page.has_more,
            places: page.places,
        })
    }
}

impl Create for Feeds {
    type Draft = write::NewFeed;

    fn site(_draft: &write::NewFeed) -> Option<&str> {
        None
    }

    async fn create(cx: &Context, draft: write::NewFeed) -> Result<Feed> {
        write::create(cx, draft).await
    }
}

impl Update for Feeds {
    type Changes = write::Changes;

    async fn update(cx: &Context, current: Feed, changes: write::Changes) -> Result<Feed> {
        write::update(cx, current, changes).await
    }
}

impl Delete for Feeds {
    /// Revokes it: its addresses are gone.
    async fn delete(cx: &Context, current: Feed) -> Result<()> {
        table::Entity::delete_by_id(&current.id)
            .exec(cx.db()?)
            .await?;
        Ok(())
    }
}

impl Actions for Feeds {
    fn actions() -> Vec<Action<Self>> {
        vec![
            Action::on_entity(
                Verb::Post,
                "rotate",
                Need::Session,
                |cx, feed, arguments| Box::pin(rotate(cx, feed, arguments)),
            )
            .answers(Answers::Entity)
            .doc("Replaces the addresses by new ones, which are told in the answer; the old ones are gone."),
        ]
    }
}

async fn rotate(cx: &Context, feed: Feed, _arguments: Arguments) -> Result<Outcome<Feeds>> {
    gate::require::<Feeds>(cx, &feed, Operation::Update).await?;
    Ok(Outcome::Entity(write::rotate(cx, feed).await?))
}
