//! Answers as RSS 2.0, with the author of Dublin Core and the links of Atom.

use std::collections::BTreeMap;

use entity_core::format::{Format, Renderer, View};
use entity_core::reply::Body;
use entity_core::{Enclosure, Error, Result};
use rss::extension::dublincore::DublinCoreExtension;
use rss::extension::{Extension, ExtensionMap};
use rss::{Category, Channel, Guid, Item};

use super::{Entry, Feed, GENERATOR, is_feed};
use crate::render::feed;

/// Writes RSS.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rss;

impl Renderer for Rss {
    fn format(&self) -> Format {
        Format {
            name: "rss",
            media_type: "application/rss+xml; charset=utf-8",
            aliases: &[],
            is_feed: true,
        }
    }

    fn accepts(&self, body: &Body) -> bool {
        is_feed(body)
    }

    fn render(&self, body: &Body, view: &View<'_>) -> Result<Vec<u8>> {
        let channel = write_channel(Feed::of(body, view, "rss")?);
        feed::written(body, view, |buffer| {
            channel.write_to(buffer).map_err(Error::internal).map(drop)
        })
    }
}

fn write_channel(feed: Feed) -> Channel {
    let mut links = vec![atom_link("self", feed.self_url)];
    for (relation, url) in feed.paging {
        links.push(atom_link(relation, url));
    }
    let namespaces = [
        ("atom", "http://www.w3.org/2005/Atom"),
        ("dc", "http://purl.org/dc/elements/1.1/"),
    ]
    .into_iter();
    let links = BTreeMap::from([("link".to_owned(), links)]);
    let extensions = ExtensionMap::from([("atom".to_owned(), links)]);
    Channel {
        // The format wants a description that is not empty.
        description: match feed.description.is_empty() {
            true => feed.title.clone(),
            false => feed.description,
        },
        title: feed.title,
        link: feed.page_url,
        ttl: feed.minutes.map(|it| it.to_string()),
        last_build_date: Some(feed.updated.to_rfc2822()),
        generator: Some(GENERATOR.to_owned()),
        items: feed.entries.into_iter().map(write_item).collect(),
        extensions,
        namespaces: namespaces
            .map(|(prefix, uri)| (prefix.to_owned(), uri.to_owned()))
            .collect(),
        ..Channel::default()
    }
}

fn write_item(entry: Entry) -> Item {
    let content = entry.content;
    let published = content.published.unwrap_or(content.updated);
    Item {
        title: Some(content.title),
        link: Some(entry.page_url),
        description: entry.html,
        guid: Some(Guid {
            value: entry.id,
            permalink: false,
        }),
        pub_date: Some(published.to_rfc2822()),
        categories: content.categories.into_iter().map(category).collect(),
        // The format takes one.
        enclosure: content.enclosures.into_iter().next().map(enclosure),
        dublin_core_ext: content.author.map(|author| DublinCoreExtension {
            creators: vec![author],
            ..DublinCoreExtension::default()
        }),
        ..Item::default()
    }
}

fn category(name: String) -> Category {
    Category { name, domain: None }
}

/// The format demands a length; 0 is the custom where it is unknown.
fn enclosure(enclosure: Enclosure) -> rss::Enclosure {
    rss::Enclosure {
        url: enclosure.url,
        mime_type: enclosure.media_type,
        length: enclosure.length.unwrap_or(0).to_string(),
    }
}

fn atom_link(relation: &str, href: String) -> Extension {
    let attributes = [
        ("rel", relation.to_owned()),
        ("href", href),
        ("type", "application/rss+xml".to_owned()),
    ];
    Extension {
        name: "atom:link".to_owned(),
        attrs: attributes
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect(),
        ..Extension::default()
    }
}
