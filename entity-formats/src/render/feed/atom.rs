//! Answers as Atom (RFC 4287).

use std::collections::BTreeMap;

use atom_syndication as atom;
use atom_syndication::extension::{Extension, ExtensionMap};
use entity_core::format::{Format, Renderer, View};
use entity_core::reply::Body;
use entity_core::{Enclosure, Error, Result};

use super::{Entry, Feed, GENERATOR, is_feed};
use crate::render::feed;

/// The namespace of threads (RFC 4685).
const THREADS: &str = "http://purl.org/syndication/thread/1.0";

/// Writes Atom.
#[derive(Clone, Copy, Debug, Default)]
pub struct Atom;

impl Renderer for Atom {
    fn format(&self) -> Format {
        Format {
            name: "atom",
            media_type: "application/atom+xml; charset=utf-8",
            aliases: &[],
            is_feed: true,
        }
    }

    fn accepts(&self, body: &Body) -> bool {
        is_feed(body)
    }

    fn render(&self, body: &Body, view: &View<'_>) -> Result<Vec<u8>> {
        let feed = write_feed(Feed::of(body, view, "atom")?);
        feed::written(body, view, |buffer| {
            feed.write_to(buffer).map_err(Error::internal).map(drop)
        })
    }
}

fn write_feed(feed: Feed) -> atom::Feed {
    let mut links = vec![
        link("self", feed.self_url, Some("application/atom+xml")),
        link("alternate", feed.page_url, Some("text/html")),
    ];
    for (relation, url) in feed.paging {
        links.push(link(relation, url, Some("application/atom+xml")));
    }
    // An entry without an author needs one of the feed.
    let needs_author = feed.entries.iter().any(|it| it.content.author.is_none());
    let answers = feed.entries.iter().any(|it| it.answered.is_some());
    let namespace = answers.then(|| ("thr".to_owned(), THREADS.to_owned()));
    atom::Feed {
        id: feed.id,
        namespaces: namespace.into_iter().collect(),
        title: atom::Text::plain(feed.title),
        subtitle: Some(atom::Text::plain(feed.description)).filter(|it| !it.value.is_empty()),
        updated: feed.updated.fixed_offset(),
        authors: needs_author
            .then(|| person(GENERATOR.to_owned()))
            .into_iter()
            .collect(),
        generator: Some(atom::Generator {
            value: GENERATOR.to_owned(),
            ..atom::Generator::default()
        }),
        links,
        entries: feed.entries.into_iter().map(write_entry).collect(),
        ..atom::Feed::default()
    }
}

fn write_entry(entry: Entry) -> atom::Entry {
    let content = entry.content;
    let mut links = vec![link("alternate", entry.page_url, Some("text/html"))];
    links.extend(content.enclosures.into_iter().map(enclosure));
    atom::Entry {
        id: entry.id,
        title: atom::Text::plain(content.title),
        updated: content.updated.fixed_offset(),
        published: content.published.map(|it| it.fixed_offset()),
        authors: content.author.map(person).into_iter().collect(),
        categories: content.categories.into_iter().map(category).collect(),
        content: entry.html.map(html),
        links,
        extensions: entry.answered.map(in_reply_to).unwrap_or_default(),
        ..atom::Entry::default()
    }
}

/// The element that names what an entry answers, by its id and its address.
fn in_reply_to((id, url): (String, String)) -> ExtensionMap {
    let attributes = [("ref", id), ("href", url), ("type", "text/html".to_owned())];
    let element = Extension {
        name: "thr:in-reply-to".to_owned(),
        attrs: attributes.map(|(name, it)| (name.to_owned(), it)).into(),
        ..Extension::default()
    };
    let named = BTreeMap::from([("in-reply-to".to_owned(), vec![element])]);
    ExtensionMap::from([("thr".to_owned(), named)])
}

fn link(relation: &str, href: String, media_type: Option<&str>) -> atom::Link {
    atom::Link {
        rel: relation.to_owned(),
        href,
        mime_type: media_type.map(str::to_owned),
        ..atom::Link::default()
    }
}

fn enclosure(enclosure: Enclosure) -> atom::Link {
    atom::Link {
        title: Some(enclosure.name),
        length: enclosure.length.map(|it| it.to_string()),
        ..link("enclosure", enclosure.url, Some(&enclosure.media_type))
    }
}

fn person(name: String) -> atom::Person {
    atom::Person {
        name,
        ..atom::Person::default()
    }
}

fn category(term: String) -> atom::Category {
    atom::Category {
        term,
        ..atom::Category::default()
    }
}

fn html(value: String) -> atom::Content {
    atom::Content {
        value: Some(value),
        content_type: Some("html".to_owned()),
        ..atom::Content::default()
    }
}
