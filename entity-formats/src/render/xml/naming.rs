//! The names of elements.

use std::borrow::Cow;

/// Items of these fields have names that existing clients know and nobody could guess.
const ITEM_NAMES: [(&str, &str); 1] = [("submissions", "simplesubmission")];

/// The name of an element, which may depend on its value.
#[derive(Clone, Copy)]
pub(super) enum Name<'a> {
    /// This one.
    Own(&'a str),
    /// The first one, whose items have names for a list with the second one.
    Of(&'a str, &'a str),
    /// That of an item of the list with this name.
    In(&'a str),
}

impl<'a> Name<'a> {
    /// Returns the name of an object: an item has that of its list in the singular.
    pub(super) fn of_object(self) -> Cow<'a, str> {
        let list = match self {
            Self::Own(name) | Self::Of(name, _) => return Cow::Borrowed(name),
            Self::In(list) => list,
        };
        let known = ITEM_NAMES.iter().find(|(name, _)| *name == list);
        let known = known.map(|(_, item)| Cow::Borrowed(*item));
        known
            .or_else(|| singular(list).map(Cow::Owned))
            .unwrap_or(Cow::Borrowed("element"))
    }

    /// Returns the name of the list for which the items of a list have names.
    pub(super) fn of_items(self) -> &'a str {
        match self {
            Self::Of(_, list) => list,
            other => other.of_other(),
        }
    }

    /// Returns the name of a text.
    pub(super) fn of_text(self) -> &'a str {
        match self {
            Self::Own(name) | Self::Of(name, _) => name,
            Self::In(_) => "string",
        }
    }

    /// Returns the name of any other value.
    pub(super) fn of_other(self) -> &'a str {
        match self {
            Self::Own(name) | Self::Of(name, _) => name,
            Self::In(_) => "element",
        }
    }
}

fn singular(plural: &str) -> Option<String> {
    let stem = plural.strip_suffix('s')?;
    match stem.strip_suffix("ie") {
        _ if stem.is_empty() || stem.ends_with('s') => None,
        Some(stem) if !stem.is_empty() => Some(format!("{stem}y")),
        _ => Some(without_e(stem).to_owned()),
    }
}

/// The stem of a plural, without the vowel that hissing sounds need before the `s`.
fn without_e(stem: &str) -> &str {
    let shorter = stem.strip_suffix('e').unwrap_or(stem);
    let hisses = ["ss", "x"].iter().any(|it| shorter.ends_with(it));
    if hisses { shorter } else { stem }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_has_the_name_of_its_list_in_the_singular() {
        for (plural, expected) in [
            ("addresses", Some("address")),
            ("classes", Some("class")),
            ("boxes", Some("box")),
            ("caches", Some("cache")),
            ("pages", Some("page")),
            ("tools", Some("tool")),
            ("categories", Some("category")),
            ("responses", Some("response")),
            ("uses", Some("use")),
            ("types", Some("type")),
            ("address", None),
            ("s", None),
            ("data", None),
        ] {
            assert_eq!(singular(plural).as_deref(), expected, "{plural}");
        }
        for (list, item) in ITEM_NAMES {
            assert_ne!(
                singular(list).as_deref(),
                Some(item),
                "`{list}` needs no exception"
            );
        }
    }
}
