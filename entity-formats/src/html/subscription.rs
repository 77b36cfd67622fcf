//! The page of a private address, for people who open it in a browser: its present content, and how to subscribe.

use askama::Template;
use entity_core::format::{OwnAddress, View};
use entity_core::reply::{Body, Item};
use entity_core::{Error, EventEntry, Result};

use super::clock::Clock;
use super::frame::Frame;
use super::shown::{SanitizedHtml, Shown};
use crate::render::feed::{self, clean};
use crate::render::paging::view_url_with_query;

/// The scheme of addresses to which calendar programs subscribe.
const CALENDAR_SCHEME: &str = "webcal";

/// A private address and what it shows now.
#[derive(Template)]
#[template(path = "subscription.html")]
pub(super) struct SubscriptionPage<'a> {
    frame: Frame<'a>,
    address: String,
    /// The same for programs with calendars.
    calendar: Option<String>,
    entries: Vec<Entry<'a>>,
}

/// One entry, as people read it.
struct Entry<'a> {
    title: String,
    href: String,
    time: Shown<'a>,
    author: Option<String>,
    content: Option<String>,
}

impl<'a> SubscriptionPage<'a> {
    /// The page of `own`, at which `body` is.
    pub(super) fn of(body: &Body, own: OwnAddress<'_>, view: &View<'a>) -> Result<Self> {
        let items = match body {
            Body::Entity(item) => std::slice::from_ref(item),
            Body::Collection(it) => it.items.as_slice(),
            _ => return Err(Error::not_acceptable(&[])),
        };
        let address = view_url_with_query(view, own.format);
        let is_calendar = own.format == crate::render::calendar::NAME;
        Ok(Self {
            frame: Frame::new(own.title, view),
            calendar: is_calendar.then(|| with_scheme(CALENDAR_SCHEME, &address)),
            address,
            entries: items.iter().filter_map(|it| Entry::of(it, view)).collect(),
        })
    }
}

impl Entry<'_> {
    fn of(item: &Item, view: &View<'_>) -> Option<Self> {
        match feed::Entry::of(item, view) {
            Some(entry) => Some(Self::of_feed(entry, Clock::of(view))),
            None => item.event_entry().map(|it| Self::of_event(&it, item, view)),
        }
    }

    fn of_feed(entry: feed::Entry, clock: Clock) -> Self {
        let content = entry.content;
        Self {
            title: content.title,
            href: entry.page_url,
            time: Shown::of_instant(content.published.unwrap_or(content.updated), clock),
            author: content.author,
            content: entry.html,
        }
    }

    fn of_event(event: &EventEntry, item: &Item, view: &View<'_>) -> Self {
        Self {
            title: clean(&event.summary),
            href: feed::page_url_of(item, view),
            time: Shown::of_instant(event.start, Clock::of(view)),
            author: None,
            content: None,
        }
    }

    fn html(&self) -> Option<SanitizedHtml<'_>> {
        self.content.as_deref().map(SanitizedHtml)
    }
}

fn with_scheme(scheme: &str, address: &str) -> String {
    match address.split_once("://") {
        Some((_, rest)) => format!("{scheme}://{rest}"),
        None => address.to_owned(),
    }
}
