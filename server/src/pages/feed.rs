//! `/direct/feed`: private addresses at which programs that can't log in read what their owner may read.
//!
//! An address holds a token. Its holder reads one list or entity as its owner, with the owner's present permissions and
//! nothing else; `fetch.rs` answers there. The token is told once, when it is made, and only its hash is kept: a copy
//! of the database opens nothing, and a lost address is replaced, not shown again.

mod address;
mod fetch;
mod formats;
mod offered;
mod opml;
mod readable;
mod write;

use std::collections::BTreeMap;

use entity_core::db::{self, Migration};
use entity_core::{
    Access, Action, Actions, Arguments, Context, Create, DateTimeUtc, Entity, Fields, Need,
    Operation, Permit, Result, Search, Verb, Version, gate, standard,
};
use serde::Serialize;

pub use self::formats::FormatNames;
use crate::base::own;

pub(crate) use fetch::{PAGE, ReadAs, handle};
pub(crate) use write::follow;

/// Everybody has feeds; [`Feed::decide`] leaves everybody their own.
const ACCESS: Access = Access::new(Need::Session, Need::Session);

/// A private feed: an address at which a program that can't log in reads what its owner may read.
#[standard(version)]
#[derive(derive_more::Debug, Clone, Default, PartialEq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(prefix = "feed", plural = "Private feeds", own = "", access = ACCESS, permits = Self::decide)]
#[entity(table = "feed", settle = Self::settle, narrow = narrow, version = Self::seen, told_once = Self::tells_addresses)]
#[entity(verbs(read, list, update, delete), max = 500)]
// Leaves out the addresses.
#[debug("Feed {{ id: {:?}, path: {:?} }}", self.id, self.path)]
pub struct Feed {
    /// Its id, which opens nothing.
    #[entity(id)]
    pub id: String,
    /// The name that its owner gives it; the title of the list unless they give one.
    #[entity(title, optional, search, max = 200)]
    pub title: String,
    /// The address that is read, below `/direct`, such as `/announcement/site/biology-101`, perhaps with a query.
    #[entity(
        on_create,
        required,
        max = 2048,
        offered = "feed",
        label = "What it follows"
    )]
    pub path: String,
    /// The query that narrows the list, as in a URL.
    #[entity(on_create, optional, max = 2048, uncompared, for_programs)]
    pub query: String,
    /// In which formats, such as `atom`, `rss` and `ics`; all that there are unless some are named.
    #[entity(kind = List, sent = Vec<String>, optional, uncompared, offered = "feed-format")]
    pub formats: FormatNames,
    /// The internal id of the owner.
    #[entity(owner, person)]
    pub user_id: String,
    /// When it was made.
    #[entity(read_only)]
    pub created: DateTimeUtc,
    /// When it ends; null for never.
    #[entity(absent = "never", hint = "Empty for never.")]
    pub expires: Option<DateTimeUtc>,
    /// True if it has ended: it opens nothing any more, until it is given another end.
    #[entity(computed = |it, cx| it.is_over(cx.now()))]
    pub expired: bool,
    /// When it was last read, up to ten minutes late; null for never.
    #[entity(read_only, absent = "never")]
    pub last_used: Option<DateTimeUtc>,
    /// The address for each format. Told only in the answer that makes them, and never again.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[entity(computed, kind = Object)]
    pub addresses: Option<BTreeMap<String, String>>,
    /// SHA-256 of the token, hexadecimal. The token itself is nowhere.
    #[serde(skip)]
    #[entity(hidden, unique)]
    pub token_hash: String,
}

entity_core::register!(Feed, migrations(OF_USER));

/// The feeds of a user are found among those of all others.
const OF_USER: Migration = Migration::of_tables(
    "feed_by_user",
    &["CREATE INDEX feed_by_user ON feed (user_id, id)"],
);

/// Leaves the caller their own, or those of the user whom a super user names.
async fn narrow(cx: &Context, search: &mut Search) -> Result<()> {
    let names_owner = search.filter("userId").is_some();
    if !(names_owner && cx.authorizer().is_superuser(cx).await?) {
        search.narrow(Feed::FIELD.user_id.eq(cx.user_id()?));
    }
    Ok(())
}

impl Feed {
    /// A super user may find and revoke the feeds of others, and nothing else.
    async fn decide(cx: &Context, feed: &Self, operation: Operation) -> Result<Permit> {
        own::permit(cx, cx.user_id()? == feed.user_id, operation).await
    }

    fn seen(&self) -> Version {
        Version::of(&(&self.id, self.version, self.last_used, self.expired))
    }

    fn tells_addresses(&self) -> bool {
        self.addresses.is_some()
    }

    /// Returns whether it has ended at `now`.
    fn is_over(&self, now: DateTimeUtc) -> bool {
        self.expires.is_some_and(|it| it <= now)
    }

    async fn rotate(cx: &Context, feed: Self, _: Arguments) -> Result<Self> {
        gate::require::<Self>(cx, &feed, Operation::Update).await?;
        write::rotate(cx, feed).await
    }
}

impl Create for Feed {
    type Draft = Fields;

    fn site(_draft: &Fields) -> Option<&str> {
        None
    }

    async fn create(cx: &Context, draft: Fields) -> Result<Self> {
        write::create(cx, <Self as db::Record>::make(cx, draft)?).await
    }
}

impl Actions for Feed {
    fn actions() -> Vec<Action<Self>> {
        vec![
            Action::entity(Verb::Post, "rotate", Need::Session, Self::rotate)
                .doc("Replaces the addresses by new ones, which are told in the answer; the old ones are gone."),
        ]
    }
}
