//! Making, changing and rotating private feeds.

use std::sync::Arc;

use entity_core::engine::Event;
use entity_core::format::Formats;
use entity_core::search::Grammar;
use entity_core::{Context, DateTimeUtc, Error, Reference, Registry, Result, db};
use entity_providers::people::user::{self, User};
use sea_orm::{ColumnTrait as _, EntityTrait as _, QueryFilter as _, QueryOrder as _};

use super::address::{Address, name};
use super::{Feed, feed, readable};
use crate::base::mount::FEEDS;
use crate::guard::feed_token::Token;

/// The most feeds that one user may have, those that are over included.
const MAX_FEEDS: usize = 50;

/// The most characters of a title.
const MAX_TITLE: usize = 200;

/// Makes `feed`, of which `settle` sets the fields that follow from its address.
pub(super) async fn create(cx: &Context, mut feed: Feed) -> Result<Feed> {
    let token = Token::generate()?;
    feed.token_hash = token.to_hash();
    Ok(db::add(cx, feed).await?.with_addresses(cx, &token))
}

/// Replaces the token; the feed was not used at its new address yet.
pub(super) async fn rotate(cx: &Context, current: Feed) -> Result<Feed> {
    let token = Token::generate()?;
    let changed = Feed {
        token_hash: token.to_hash(),
        last_used: None,
        ..current.clone()
    };
    let feed = db::store(cx, current, changed).await?;
    let reference = Reference::entity("feed", feed.id.as_str());
    cx.emit("feed.rotate", reference.to_string(), None);
    Ok(feed.with_addresses(cx, &token))
}

impl Feed {
    pub(super) async fn settle(&mut self, cx: &Context, before: Option<&Self>) -> Result<()> {
        if before.is_none_or(|it| it.expires != self.expires) {
            check_expiry(cx, self.expires)?;
        }
        if let Some(before) = before {
            if self.title.trim().is_empty() {
                self.title.clone_from(&before.title);
            }
            if self.formats == before.formats {
                // Whatever has become of what it follows.
                return Ok(());
            }
        }
        let formats = cx.service::<Formats>()?;
        let registry = cx.service::<Registry>()?;
        let mut address = Address::parse(&self.path, cx.base_url(), &formats)?;
        let offered = address.offered(&registry, &formats)?;
        if before.is_none() {
            if !self.query.is_empty() && !address.query.is_empty() {
                let message = "must not be given beside a query in `path`";
                return Err(Error::field("query", message));
            }
            if !self.query.is_empty() {
                address.query.clone_from(&self.query);
            }
            check_query(&address, &registry)?;
            let usual_title = readable::title(cx, &registry, &address).await?;
            if self.title.trim().is_empty() {
                self.title = usual_title.chars().take(MAX_TITLE).collect();
            }
            let wanted = &mut self.formats.0;
            if wanted.is_empty() {
                let named = address.format.take().into_iter();
                *wanted = named.filter(|it| offered.contains(&it.as_str())).collect();
            }
            self.created = cx.now();
            self.path = address.path.to_string();
            self.query = address.query;
            make_room(cx, &self.user_id).await?;
        }
        self.formats.0 = choose(&self.formats.0, &offered)?;
        Ok(())
    }

    fn with_addresses(mut self, cx: &Context, token: &Token) -> Self {
        let (base_url, token, name) = (cx.base_url(), token.expose(), name(&self.path));
        let address = |format: &String| {
            let address = format!("{base_url}{FEEDS}/{token}/{name}.{format}");
            (format.clone(), address)
        };
        self.addresses = Some(self.formats.0.iter().map(address).collect());
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
            feed::Entity::delete_many()
                .filter(feed::Column::UserId.eq(id))
                .exec(cx.db()?)
                .await?;
        }
    }
    Ok(())
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
fn choose(wanted: &[String], offered: &[&'static str]) -> Result<Vec<String>> {
    let is_offered = |it: &String| offered.contains(&it.as_str());
    if !wanted.iter().all(is_offered) {
        let message = format!("must be some of {}", offered.join(", "));
        return Err(Error::field("formats", message));
    }
    let is_wanted = |it: &&&'static str| wanted.is_empty() || wanted.iter().any(|own| own == **it);
    let chosen = offered.iter().filter(is_wanted);
    Ok(chosen.map(|it| (*it).to_owned()).collect())
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
    let feeds = feed::Entity::find()
        .filter(feed::Column::UserId.eq(user_id))
        .order_by_asc(feed::Column::Expires)
        .order_by_asc(feed::Column::Id);
    let feeds: Vec<Feed> = db::load(cx, feeds).await?;
    if feeds.len() < MAX_FEEDS {
        return Ok(());
    }
    let Some(over) = feeds.iter().find(|it| it.is_over(cx.steady())) else {
        return Err(Error::conflict(format!(
            "you have {MAX_FEEDS} private feeds already: revoke one of them first"
        )));
    };
    feed::Entity::delete_by_id(&over.id).exec(cx.db()?).await?;
    let reference = Reference::entity("feed", over.id.as_str());
    cx.emit("feed.delete", reference.to_string(), None);
    Ok(())
}
