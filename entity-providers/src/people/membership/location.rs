//! Where a membership is: in a site, or in a group of a site.

use entity_core::{Error, Result};

/// The place of which somebody is a member, as references and ids name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Location<'a> {
    /// A site.
    Site(&'a str),
    /// A group, perhaps with the site that it is said to be in.
    Group {
        site: Option<&'a str>,
        group: &'a str,
    },
}

impl<'a> Location<'a> {
    /// Reads a reference: `/site/site`, `/group/group` or `/site/site/group/group`.
    pub(super) fn parse(reference: &'a str) -> Result<Self> {
        let parts: Vec<&str> = reference.split('/').collect();
        let location = match parts.as_slice() {
            ["", "site", site] => Some((Self::Site(site), [*site, "-"])),
            ["", "group", group] => Some((Self::Group { site: None, group }, [*group, "-"])),
            ["", "site", site, "group", group] => {
                let location = Self::Group {
                    site: Some(site),
                    group,
                };
                Some((location, [*site, *group]))
            }
            _ => None,
        };
        match location {
            Some((location, ids)) if ids.iter().all(|it| !it.is_empty()) => Ok(location),
            _ => Err(Error::field(
                "locationReference",
                "must be `/site/` and the id of a site, or `/group/` and the id of a group",
            )),
        }
    }

    /// Takes the id of a membership apart: `user::site:site` or `user::group:group`.
    pub(super) fn of_id(id: &'a str) -> Option<(&'a str, Self)> {
        let in_site = id.split_once("::site:");
        let in_group = || id.split_once("::group:");
        in_site
            .map(|(user, site)| (user, Self::Site(site)))
            .or_else(|| in_group().map(|(user, group)| (user, Self::Group { site: None, group })))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_name_sites_and_groups() {
        for (reference, expected) in [
            ("/site/a", Location::Site("a")),
            ("/site/!admin", Location::Site("!admin")),
            (
                "/group/g",
                Location::Group {
                    site: None,
                    group: "g",
                },
            ),
            (
                "/site/a/group/g",
                Location::Group {
                    site: Some("a"),
                    group: "g",
                },
            ),
        ] {
            assert_eq!(Location::parse(reference).unwrap(), expected);
        }
        for reference in [
            "",
            "/",
            "a",
            "site/a",
            "/site",
            "/site/",
            "/group/",
            "/site//group/g",
            "/site/a/group/",
            "/site/a/group",
            "/site/a/b",
            "/site/a/group/g/h",
            "/realm/a",
        ] {
            assert!(Location::parse(reference).is_err(), "{reference}");
        }
    }

    #[test]
    fn ids_name_a_user_and_a_place() {
        let of_group = Location::Group {
            site: None,
            group: "g",
        };
        assert_eq!(Location::of_id("u::group:g"), Some(("u", of_group)));
        assert_eq!(
            Location::of_id("u::site:s"),
            Some(("u", Location::Site("s")))
        );
        for id in ["u", "u::s", "u:site:s", "u::realm:r"] {
            assert_eq!(Location::of_id(id), None, "{id}");
        }
    }
}
