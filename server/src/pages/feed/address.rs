//! The source of a private feed: an address below `/direct`, as people write it and as it is kept.

use entity_core::engine::DirectPath;
use entity_core::format::Formats;
use entity_core::reply::{Body, Collection};
use entity_core::{Error, Registry, Result, Verb};

/// Words behind a prefix that stand for forms and descriptions.
const NO_CONTENT: [&str; 4] = ["new", "edit", "delete", "describe"];

/// The address that a private feed reads.
#[derive(Clone, Debug)]
pub(super) struct Address {
    /// The path, without a format.
    pub(super) path: DirectPath,
    /// The query as in a URL, without the question mark.
    pub(super) query: String,
    /// The format that the address was written with.
    pub(super) format: Option<String>,
}

impl Address {
    /// Parses an address as copied from a browser: with or without the service's own address, `/direct`, a format and a
    /// query.
    pub(super) fn parse(text: &str, base_url: &str, formats: &Formats) -> Result<Self> {
        let text = text.trim();
        let text = text.strip_prefix(base_url).unwrap_or(text);
        let text = match text.strip_prefix("/direct") {
            Some(rest) if rest.starts_with('/') => rest,
            _ => text,
        };
        let (path, query) = text.split_once('?').unwrap_or((text, ""));
        let mut path = DirectPath::parse(path, |it| formats.is_format(it))
            .map_err(|error| Error::field("path", error.message().to_owned()))?;
        Ok(Self {
            format: path.format.take(),
            path,
            query: query.to_owned(),
        })
    }

    /// The names of the formats in which programs can subscribe to it.
    pub(super) fn offered(
        &self,
        registry: &Registry,
        formats: &Formats,
    ) -> Result<Vec<&'static str>> {
        let refuse = |reason: &str| Err(Error::field("path", reason));
        let Some(route) = registry.route(&self.path.prefix) else {
            return refuse("is no address of a type: it must begin like `/announcement`");
        };
        let is_read = entity_core::engine::allowed(registry, &self.path)
            .is_ok_and(|it| it.contains(&Verb::Get));
        let last = self.path.segments.last();
        if !is_read || last.is_some_and(|it| NO_CONTENT.contains(&it.as_str())) {
            return refuse("is no address of a list or an entity");
        }
        let empty = Body::Collection(Collection::empty(route.prefix, route.schema));
        let offered = formats.offered_feeds(&empty);
        match offered.is_empty() {
            true => refuse("is the address of a type that has no feeds"),
            false => Ok(offered),
        }
    }
}

/// The name of the feed of `path` in its address: the last part of the path, in letters that need no encoding.
pub(super) fn name(path: &str) -> String {
    let last = path.rsplit('/').next().unwrap_or_default();
    let is_plain = |it: &char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_');
    let name: String = last.chars().filter(is_plain).take(60).collect();
    match name.is_empty() {
        true => "feed".to_owned(),
        false => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_as_people_copy_it() {
        let formats = entity_formats::standard().unwrap();
        for (text, path, query, format) in [
            ("/site", "/site", "", None),
            (
                "https://a.example/direct/note/site/b%20c.atom?d=1&e=%26",
                "/note/site/b%20c",
                "d=1&e=%26",
                Some("atom"),
            ),
            (" /direct/note.html ", "/note", "", Some("html")),
            ("/direct", "/direct", "", None),
        ] {
            let address = Address::parse(text, "https://a.example", &formats).unwrap();
            assert_eq!(address.path.to_string(), path, "{text}");
            assert_eq!(address.query, query, "{text}");
            assert_eq!(address.format.as_deref(), format, "{text}");
        }
        for wrong in [
            "site",
            "https://b.example/direct/site",
            "/a//b",
            "/a/..",
            "//",
        ] {
            let read = Address::parse(wrong, "https://a.example", &formats);
            assert!(read.is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_name_needs_no_encoding() {
        for (path, expected) in [
            ("/announcement/site/biology-101", "biology-101"),
            ("/announcement/user", "user"),
            ("/note/a%20b.c", "a20bc"),
            ("/note/%E5", "E5"),
            ("/note/!", "feed"),
        ] {
            assert_eq!(name(path), expected, "{path}");
        }
    }
}
