//! Making, changing and rotating private feeds.

use std::sync::Arc;

use entity_core::engine::Event;
use entity_core::format::Formats;
use entity_core::search::Grammar;
use entity_core::{Context, DateTimeUtc, Entity as _, Error, Reference, Registry, Result, db};
use entity_providers::people::user::{self, User};
use sea_orm::ActiveValue::Set;
use sea_orm::{ColumnTrait as _, EntityTrait as _, QueryFilter as _, QueryOrder as _};
use serde::{Deserialize, Deserializer};

use super::address::{Address, name};
use super::{Feed, readable, table};
use crate::base::mount::FEEDS;
use crate::guard::feed_token::Token;

/// The most feeds that one user may have, those that are over included.
const MAX_FEEDS: usize = 50;

/// The most characters of a title.
pub(super) const MAX_TITLE: usize = 200;

/// What a client sends to make one.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NewFeed {
    path: String,
    query: Option<String>,
    title: Option<String>,
    formats: Option<Vec<String>>,
    expires: Option<DateTimeUtc>,
}

/// What a client sends to change one. What is not sent stays.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Changes {
    title: Option<String>,
    formats: Option<Vec<String>>,
    #[serde(default)]
    expires: End,
}

/// What a client says of the end.
#[derive(Debug, Default)]
enum End {
    /// Nothing: it stays.
    #[default]
    Unsaid,
    /// This, or that there is none.
    Said(Option<DateTimeUtc>),
}

impl<'de> Deserialize<'de> for End {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Option::deserialize(deserializer).map(Self::Said)
    }
}

pub(super) async fn create(cx: &Context, draft: NewFeed) -> Result<Feed> {
    let user_id = cx.user_id()?;
    let formats = cx.service::<Formats>()?;
    let registry = cx.service::<Registry>()?;
    let mut address = Address::parse(&draft.path, cx.base_url(), &formats)?;
    if let Some(query) = draft.query.filter(|it| !it.is_empty()) {
        if !address.query.is_empty() {
            return Err(Error::field(
                "query",
                "must not be given beside a query in `path`",
            ));
        }
        address.query = query;
    }
    check_query(&address, &registry)?;
    let offered = address.offered(&registry, &formats)?;
    let usual_title = readable::title(cx, &registry, &address).await?;
    let named = draft.formats.filter(|it| !it.is_empty());
    let wanted = named.unwrap_or_else(|| {
        let named = address
            .format
            .iter()
            .filter(|it| offered.contains(&it.as_str()));
        named.cloned().collect()
    });
    let chosen = choose(&wanted, &offered)?;
    check_expiry(cx, draft.expires)?;
    make_room(cx, user_id).await?;
    let token = Token::generate()?;
    let path = address.path.to_string();
    let row = table::Model {
        id: cx.new_id(),
        token_hash: token.to_hash(),
        user_id: user_id.to_owned(),
        title: title(draft.title).unwrap_or_else(|| usual_title.chars().take(MAX_TITLE).collect()),
        path,
        query: address.query,
        formats: chosen.join(","),
        created: cx.now().timestamp_millis(),
        expires: draft.expires.map(|it| it.timestamp_millis()),
        last_used: None,
        version: 1,
        title_folded: None,
    };
    let stored: table::ActiveModel = db::folded(row.clone(), Feed::schema())?;
    table::Entity::insert(stored)
        .exec_without_returning(cx.db()?)
        .await?;
    Ok(Feed::of(cx, row)?.with_addresses(cx, &token))
}

pub(super) async fn update(cx: &Context, current: Feed, changes: Changes) -> Result<Feed> {
    let mut row = table::ActiveModel::default();
    if let Some(wanted) = changes.formats {
        let formats = cx.service::<Formats>()?;
        let address = Address::parse(&current.path, cx.base_url(), &formats)?;
        let offered = address.offered(&*cx.service::<Registry>()?, &formats)?;
        row.formats = Set(choose(&wanted, &offered)?.join(","));
    }
    if let Some(title) = title(changes.title) {
        row.title = Set(title);
    }
    if let End::Said(expires) = changes.expires {
        check_expiry(cx, expires)?;
        row.expires = Set(expires.map(|it| it.timestamp_millis()));
    }
    store(cx, &current, row).await
}

/// Replaces the token; the feed was not used at its new address yet.
pub(super) async fn rotate(cx: &Context, current: Feed) -> Result<Feed> {
    let token = Token::generate()?;
    let row = table::ActiveModel {
        token_hash: Set(token.to_hash()),
        last_used: Set(None),
        ..Default::default()
    };
    let feed = store(cx, &current, row).await?;
    let reference = Reference::entity("feed", feed.id.as_str());
    cx.emit("feed.rotate", reference.to_string(), None);
    Ok(feed.with_addresses(cx, &token))
}

/// Writes what changed, if the feed is still in the version that was read, and reads it back.
async fn store(cx: &Context, current: &Feed, changes: table::ActiveModel) -> Result<Feed> {
    let changes = table::ActiveModel {
        version: Set(current.version.saturating_add(1)),
        ..changes
    };
    let done = table::Entity::update_many()
        .set(db::folded(changes, Feed::schema())?)
        .filter(table::Column::Id.eq(&current.id))
        .filter(table::Column::Version.eq(current.version))
        .exec(cx.db()?)
        .await?;
    if done.rows_affected == 0 {
        return Err(Error::precondition_failed());
    }
    let row: Option<table::Model> = cx
        .db()?
        .first(table::Entity::find_by_id(&current.id))
        .await?;
    Feed::of(cx, row.ok_or_else(Error::not_found)?)
}

impl Feed {
    fn with_addresses(mut self, cx: &Context, token: &Token) -> Self {
        let (base_url, token, name) = (cx.base_url(), token.expose(), name(&self.path));
        let address = |format: &String| {
            let address = format!("{base_url}{FEEDS}/{token}/{name}.{format}");
            (format.clone(), address)
        };
        self.addresses = Some(self.formats.iter().map(address).collect());
        self
    }
}

/// Revokes the feeds of all users whose passwords changed and who did not keep them, in the unit of work of `cx` that
/// tells so by `events`.
pub(crate) async fn follow(cx: &Context, events: &[Event]) -> Result<()> {
    let is_of_feeds = |it: &&Event| {
        let ends = it.details.get(user::ENDS_FEEDS);
        it.kind == user::CREDENTIALS && ends.and_then(serde_json::Value::as_bool) == Some(true)
    };
    for event in events.iter().filter(is_of_feeds) {
        if let Some(id) = event.reference.strip_prefix("/user/") {
            table::Entity::delete_many()
                .filter(table::Column::UserId.eq(id))
                .exec(cx.db()?)
                .await?;
        }
    }
    Ok(())
}

fn title(title: Option<String>) -> Option<String> {
    title.filter(|it| !it.trim().is_empty())
}

/// A query that no list would take is refused now, and not at every reading.
fn check_query(address: &Address, registry: &Arc<Registry>) -> Result<()> {
    let name = |error: Error| Error::field("query", error.message().to_owned());
    let pairs = entity_formats::parse_pairs(address.query.as_bytes()).map_err(name)?;
    let Some(route) = registry.route(&address.path.prefix) else {
        return Ok(());
    };
    let action = address.path.segments.first().and_then(|name| {
        let mut actions = route.actions.iter();
        actions.find(|it| !it.is_on_entity && it.name == name && it.verb.is_safe())
    });
    let grammar = match action {
        Some(action) => action.grammar()?,
        None if address.path.segments.is_empty() => Some(Grammar::of_route(route)?),
        None => None,
    };
    let search = grammar.map(|it| it.parse(&pairs)).transpose();
    search.map(drop).map_err(name)
}

/// Picks the wanted ones of the offered formats; all of them if none is named.
fn choose(wanted: &[String], offered: &[&'static str]) -> Result<Vec<&'static str>> {
    let is_offered = |it: &String| offered.contains(&it.as_str());
    if !wanted.iter().all(is_offered) {
        let message = format!("must be some of {}", offered.join(", "));
        return Err(Error::field("formats", message));
    }
    let is_wanted = |it: &&'static str| wanted.is_empty() || wanted.iter().any(|own| own == it);
    Ok(offered.iter().copied().filter(is_wanted).collect())
}

fn check_expiry(cx: &Context, expires: Option<DateTimeUtc>) -> Result<()> {
    match expires {
        Some(it) if it <= cx.now() => Err(Error::field("expires", "must be in the future")),
        _ => Ok(()),
    }
}

/// Refuses one more than a user may have. Those that are over give way to new ones, the oldest first.
///
/// The row of the user is locked, so that two requests at once can't both be the last one.
async fn make_room(cx: &Context, user_id: &str) -> Result<()> {
    db::lock::<User>(cx, &[user_id]).await?;
    let user = user::find(cx, user_id).await?;
    user.ok_or_else(Error::unauthenticated)?;
    let feeds = table::Entity::find()
        .filter(table::Column::UserId.eq(user_id))
        .order_by_asc(table::Column::Expires)
        .order_by_asc(table::Column::Id);
    let feeds: Vec<table::Model> = cx.db()?.select(&feeds).await?;
    if feeds.len() < MAX_FEEDS {
        return Ok(());
    }
    let Some(over) = feeds.iter().find(|it| it.is_over(cx.steady())) else {
        return Err(Error::conflict(format!(
            "you have {MAX_FEEDS} private feeds already: revoke one of them first"
        )));
    };
    table::Entity::delete_by_id(&over.id).exec(cx.db()?).await?;
    let reference = Reference::entity("feed", over.id.as_str());
    cx.emit("feed.delete", reference.to_string(), None);
    Ok(())
}
