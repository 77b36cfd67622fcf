//! The paths of files: `/group/{site}/folder/name`, where that of a folder ends with a slash.

use entity_core::engine::{DirectPath, MAX_SEGMENT};
use entity_core::file::{ATTACHED_FILES, OWN_FILES};
use entity_core::wire::Millis;
use entity_core::{Context, Error, Result, encode_segment};
use unicode_normalization::UnicodeNormalization as _;

/// The address below which the bytes of files are.
pub const MOUNT: &str = OWN_FILES;
/// The beginning of the paths of the files of sites.
const SITES: &str = "/group/";
/// The maximum number of folders in which a file can be.
pub(super) const MAX_DEPTH: i64 = 12;
/// The maximum length of a path in bytes: percent-encoded it still fits into an address.
pub(super) const MAX_PATH: usize = 1000;

/// Returns the path of the root folder of `site`.
pub(crate) fn root(site: &str) -> String {
    format!("{SITES}{site}/")
}

/// Returns the site whose files are below `path`, and whether they are attached to other entities.
pub(super) fn site(path: &str) -> Option<(&str, bool)> {
    let of_site = path.strip_prefix(SITES).map(|it| (it, false));
    let rest = of_site.or_else(|| path.strip_prefix(ATTACHED_FILES).map(|it| (it, true)));
    let (rest, is_attached) = rest?;
    Some((rest.split('/').next()?, is_attached))
}

/// Returns `path` in the form in which paths are compared.
pub(super) fn normal(path: &str) -> String {
    path.nfc().collect()
}

/// Returns the last segment of `path`.
pub(super) fn name(path: &str) -> &str {
    let path = path.strip_suffix('/').unwrap_or(path);
    path.rsplit('/').next().unwrap_or_default()
}

/// Returns the reference of the folder in which `path` is.
pub(super) fn container(path: &str) -> String {
    let own = path.strip_suffix('/').unwrap_or(path);
    let end = own.rfind('/').map_or(0, |it| it.saturating_add(1));
    format!("/content{}", own.get(..end).unwrap_or_default())
}

/// Returns the end of the range of the paths that begin with `path`, that of a folder.
pub(super) fn end(path: &str) -> String {
    // The slash at the end is followed by `0` in the order of bytes.
    format!("{}0", path.strip_suffix('/').unwrap_or(path))
}

/// Returns the absolute address of the file at `path`.
pub(super) fn url(cx: &Context, path: &str) -> String {
    format!("{}{}", cx.base_url(), address(path))
}

/// Returns the address of the file at `path` within the service.
pub(super) fn address(path: &str) -> String {
    let segments: Vec<_> = path.split('/').map(encode_segment).collect();
    format!("{MOUNT}{}", segments.join("/"))
}

/// Returns `name` in the form in which names are compared, if a file can have it.
///
/// # Errors
/// Returns an error about the field `name` if the name can't be a segment of an address.
pub(super) fn checked(name: &str) -> Result<String> {
    let name: String = name.trim().nfc().collect();
    let segment = format!("/{}", encode_segment(&name));
    match DirectPath::parse(&segment, |_| false) {
        Ok(_) if name.len() <= MAX_SEGMENT => Ok(name),
        _ => Err(Error::field(
            "name",
            format!(
                "must have 1 to {MAX_SEGMENT} bytes, must not be `.` or `..`, and must not have slashes, semicolons or control characters"
            ),
        )),
    }
}

/// Returns the name of a new file with this `title`: characters that names can't have become `_`.
///
/// # Errors
/// Returns an error about the field `title` if no name can be made of it.
pub(super) fn name_of(title: &str) -> Result<String> {
    let is_legal = |c: char| checked(&format!("x{c}x")).is_ok();
    let legal = title.chars().map(|c| if is_legal(c) { c } else { '_' });
    let mut name: String = legal.collect();
    while name.len() > MAX_SEGMENT {
        name.pop();
    }
    checked(&name).map_err(|error| {
        let message = "must have a character that is no space and no dot";
        Error::field("title", message).with_source(error)
    })
}

/// Returns an instant as 17 digits, from the year to the milliseconds, in UTC.
pub(super) fn digits(instant: Millis) -> String {
    instant.0.format("%Y%m%d%H%M%S%3f").to_string()
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;

    #[test]
    fn a_path_tells_site_name_and_folder() {
        let file = "/group/biology-101/Week 1/slides.pdf";
        assert_eq!(site(file), Some(("biology-101", false)));
        assert_eq!(site("/attachment/a/b/c.pdf"), Some(("a", true)));
        assert_eq!(site("/user/a/"), None);
        assert_eq!(name(file), "slides.pdf");
        assert_eq!(name("/group/a/Week 1/"), "Week 1");
        assert_eq!(container(file), "/content/group/biology-101/Week 1/");
        assert_eq!(container("/group/a/"), "/content/group/");
        assert_eq!(
            address(file),
            "/access/content/group/biology-101/Week%201/slides.pdf"
        );
        let (folder, end) = (root("a"), end(&root("a")));
        for (path, is_below) in [
            ("/group/a/x", true),
            ("/group/a/\u{10ffff}", true),
            ("/group/a-b/x", false),
            ("/group/a0", false),
            ("/group/a", false),
        ] {
            assert_eq!(*path >= *folder && *path < *end, is_below, "{path}");
        }
    }

    #[test]
    fn sec_hostile_names_are_refused_or_made_harmless() {
        for name in [
            "",
            " ",
            ".",
            "..",
            "a/b",
            "a\\b",
            "a\0b",
            "a;b",
            "a\u{202e}b",
            "\n",
        ] {
            checked(name).unwrap_err();
        }
        for name in [
            "con",
            "a.json",
            "%2e%2e",
            "𝄞.pdf",
            "..a",
            &"x".repeat(255),
            &"𝄞".repeat(63),
        ] {
            assert_eq!(checked(name).unwrap(), name);
        }
        checked(&"x".repeat(256)).unwrap_err();
        assert_eq!(checked("e\u{301}").unwrap(), checked("\u{e9}").unwrap());
        assert_eq!(name_of("../../etc/passwd").unwrap(), ".._.._etc_passwd");
        assert_eq!(name_of("a;b\u{0}").unwrap(), "a_b_");
        assert_eq!(name_of(&"𝄞".repeat(200)).unwrap().len(), 252);
        name_of("..").unwrap_err();
        name_of(" ").unwrap_err();
    }

    #[test]
    fn an_instant_has_seventeen_digits() {
        let instant = DateTime::from_timestamp_millis(1_795_227_329_007).unwrap();
        assert_eq!(digits(Millis(instant)), "20261121021529007");
    }
}
