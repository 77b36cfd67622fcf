//! Addresses that are relative to a page, made relative to the root: so they mean the same on every page that shows
//! them, and on every host.

use std::borrow::Cow;

use ammonia::{Url, UrlRelativeEvaluate};

/// A host that nobody has.
const NOWHERE: &str = "http://root.invalid";

/// A directory whose pages show a text.
#[derive(Debug)]
pub(super) struct Directory(Option<Url>);

impl Directory {
    /// The address with this path.
    pub(super) fn new(path: &str) -> Self {
        Self(Url::parse(NOWHERE).and_then(|it| it.join(path)).ok())
    }

    /// `address`, which is relative, seen from the root. `None` if it is already, if it means the page itself, or
    /// if it leads elsewhere.
    fn rooted(&self, address: &str) -> Option<String> {
        let directory = self.0.as_ref()?;
        let is_kept = |it: &str| it.is_empty() || it.starts_with(['/', '\\', '#', '?']);
        if is_kept(address.trim_start_matches(|it: char| it <= ' ')) {
            return None;
        }
        let url = directory.join(address).ok()?;
        let is_here = url.origin() == directory.origin();
        let rooted = url.as_str().strip_prefix(NOWHERE)?;
        // Two slashes at the beginning would name a host.
        (is_here && !rooted.starts_with("//")).then(|| rooted.to_owned())
    }
}

impl UrlRelativeEvaluate<'static> for Directory {
    fn evaluate<'url>(&self, address: &'url str) -> Option<Cow<'url, str>> {
        Some(match self.rooted(address) {
            Some(rooted) => Cow::Owned(rooted),
            None => Cow::Borrowed(address),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_relative_to_a_page_becomes_relative_to_the_root() {
        let directory = Directory::new("/direct/note/");
        for (address, expected) in [
            ("pic.png", Some("/direct/note/pic.png")),
            (" pic.png?a=1#b", Some("/direct/note/pic.png?a=1#b")),
            ("../site/x", Some("/direct/site/x")),
            ("../../../x y", Some("/x%20y")),
            ("./", Some("/direct/note/")),
            ("/rel", None),
            ("//other.example/x", None),
            ("\\\\other.example/x", None),
            ("\t//other.example/x", None),
            ("/\t/other.example/x", None),
            ("../..//other.example/x", None),
            ("#part", None),
            ("?page=2", None),
            ("", None),
        ] {
            assert_eq!(
                directory.rooted(address).as_deref(),
                expected,
                "{address:?}"
            );
        }
    }
}
