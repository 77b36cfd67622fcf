//! What all pages have around their content.

use entity_core::encode_segment;
use entity_core::format::View;
use entity_core::schema::Schema;

use super::label;
use crate::paging::view_url_with_query;

/// The frame of a page.
pub(super) struct Frame<'a> {
    pub(super) title: String,
    pub(super) user: Option<&'a str>,
    pub(super) csrf_token: Option<&'a str>,
    /// The pages above this one, from the start page on.
    pub(super) crumbs: Vec<Crumb>,
    /// The same as a feed.
    pub(super) feeds: Vec<Alternate>,
    /// The same in other formats, the feeds included.
    pub(super) formats: Vec<Alternate>,
    /// The other parts of a list.
    pub(super) paging: Vec<(&'static str, String)>,
}

/// A page above this one.
pub(super) struct Crumb {
    pub(super) href: String,
    pub(super) label: String,
}

/// The address of the same in another format.
#[derive(Clone)]
pub(super) struct Alternate {
    pub(super) href: String,
    pub(super) media_type: &'static str,
    pub(super) label: &'static str,
}

const DATA: [(&str, &str, &str); 2] = [
    ("json", "application/json", "JSON"),
    ("xml", "application/xml", "XML"),
];
const FEEDS: [(&str, &str, &str); 2] = [
    ("atom", "application/atom+xml", "Atom"),
    ("rss", "application/rss+xml", "RSS"),
];
const CALENDARS: [(&str, &str, &str); 1] = [("ics", "text/calendar", "iCalendar")];

impl<'a> Frame<'a> {
    /// A page with a title, below the start page.
    pub(super) fn new(title: impl Into<String>, view: &View<'a>) -> Self {
        Self {
            title: title.into(),
            user: view.user,
            csrf_token: view.csrf_token,
            crumbs: vec![Crumb {
                href: "/direct/describe.html".to_owned(),
                label: "Start".to_owned(),
            }],
            feeds: Vec::new(),
            formats: Vec::new(),
            paging: Vec::new(),
        }
    }

    /// The page is about the type `prefix`, which has a page of its own.
    pub(super) fn below_type(mut self, prefix: &str) -> Self {
        self.crumbs.push(Crumb {
            href: format!("/direct/{}/describe.html", encode_segment(prefix)),
            label: label(prefix),
        });
        self
    }

    /// The page is about the entity at `path`, which has a page of its own.
    pub(super) fn below_entity(mut self, path: &str, title: String) -> Self {
        self.crumbs.push(Crumb {
            href: format!("/direct{path}.html"),
            label: title,
        });
        self
    }

    /// What the page shows is also there as data.
    pub(super) fn with_data(mut self, view: &View<'_>) -> Self {
        self.formats.extend(alternates(DATA, view));
        self
    }

    /// What the page shows is also there as a feed, if the type has feeds.
    pub(super) fn with_feeds(mut self, schema: &Schema, view: &View<'_>) -> Self {
        if schema.has_feed {
            self.feeds.extend(alternates(FEEDS, view));
        }
        if schema.has_events {
            self.feeds.extend(alternates(CALENDARS, view));
        }
        self.formats.extend(self.feeds.iter().cloned());
        self
    }
}

fn alternates<const N: usize>(
    formats: [(&'static str, &'static str, &'static str); N],
    view: &View<'_>,
) -> impl Iterator<Item = Alternate> {
    formats
        .into_iter()
        .map(|(extension, media_type, label)| Alternate {
            href: view_url_with_query(view, extension),
            media_type,
            label,
        })
}
