//! The button by which people make a private feed of the list that they look at.

use entity_core::format::View;
use entity_core::reply::Body;

use super::query::{Query, is_about_list};
use crate::render::calendar;

/// The type of private feeds, if the service has it.
const FEED: &str = "feed";
/// The maximum number of characters of the title of a feed.
const MOST_TITLE: usize = 100;

/// The content of the form.
pub(super) struct Subscribe {
    pub(super) action: String,
    pub(super) title: String,
    pub(super) path: String,
    pub(super) query: String,
    pub(super) format: &'static str,
}

impl Subscribe {
    /// Returns what makes a feed of the list at the address of the page, for whoever is logged in: a calendar where the
    /// list has events.
    pub(super) fn of(body: &Body, title: &str, view: &View<'_>) -> Option<Self> {
        let route = view.registry.route(FEED).filter(|_| view.user.is_some())?;
        let offered = view.formats.offered_feeds(body);
        let has_events = offered.contains(&calendar::NAME);
        let format = match has_events {
            true => calendar::NAME,
            false => *offered.first()?,
        };
        let query = Query::of(view).only(|it| !is_about_list(it));
        Some(Self {
            action: format!("/direct/{}", route.prefix),
            title: title.chars().take(MOST_TITLE).collect(),
            path: view.path.to_owned(),
            query: query.behind("").trim_start_matches('?').to_owned(),
            format,
        })
    }
}
