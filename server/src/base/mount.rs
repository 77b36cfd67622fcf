//! The parts into which the addresses of the service fall, each of which is answered in a way of its own.

use entity_providers::courses::content::open;

/// The path of private feeds.
pub(crate) const FEEDS: &str = "/feeds";
/// The path of the portal.
pub(crate) const PORTAL: &str = "/portal";
/// The prefix of the addresses of users.
pub(crate) const USERS: &str = "/access/user";
/// The prefix of the addresses of files.
pub(crate) const FILES: &str = open::MOUNT;

/// A part of the addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mount {
    /// The entities, below `/direct`.
    Direct,
    /// The endpoints of their own, below `/api`.
    Api,
    /// The private feeds.
    Feeds,
    /// The pages of people, and the files that they open.
    Portal,
    /// The root.
    Start,
    /// An address at which there is nothing.
    Nowhere,
}

/// The address with which each part begins.
const BEGINS: [(&str, Mount); 6] = [
    ("/direct", Mount::Direct),
    ("/api", Mount::Api),
    (FEEDS, Mount::Feeds),
    (PORTAL, Mount::Portal),
    (USERS, Mount::Portal),
    (FILES, Mount::Portal),
];

impl Mount {
    /// Returns the part to which `path` belongs.
    pub(crate) fn of(path: &str) -> Self {
        if path == "/" {
            return Self::Start;
        }
        let mut found = BEGINS.iter().filter(|it| is_below(path, it.0));
        found.next().map_or(Self::Nowhere, |it| it.1)
    }

    /// Returns the addresses with which parts begin.
    pub(crate) fn begins() -> impl Iterator<Item = &'static str> {
        BEGINS.iter().map(|it| it.0)
    }

    /// Returns whether answers are data, which programs read.
    pub(crate) fn is_of_data(self) -> bool {
        matches!(self, Self::Direct | Self::Api)
    }
}

/// Returns whether `path` is `place`, or has further segments behind it.
fn is_below(path: &str, place: &str) -> bool {
    path.strip_prefix(place)
        .is_some_and(|it| it.is_empty() || it.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_ends_where_a_segment_ends() {
        for (path, expected) in [
            ("/", Mount::Start),
            ("/direct", Mount::Direct),
            ("/direct/site.json", Mount::Direct),
            ("/directory", Mount::Nowhere),
            ("/direct.json", Mount::Nowhere),
            ("/api/login", Mount::Api),
            ("/apiary", Mount::Nowhere),
            ("/feeds/x/news.atom", Mount::Feeds),
            ("/portal/site/a", Mount::Portal),
            ("/access/content/group/a/b", Mount::Portal),
            ("/access/contents", Mount::Nowhere),
            ("", Mount::Nowhere),
        ] {
            assert_eq!(Mount::of(path), expected, "{path}");
        }
    }
}
