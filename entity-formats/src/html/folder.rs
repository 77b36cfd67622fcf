//! The page of a folder: a list of relative links to its content.

use askama::Template;
use chrono::{DateTime, Utc};
use entity_core::Result;
use entity_core::format::View;

use super::clock::Clock;
use super::frame::Frame;
use super::shown::Shown;

/// A folder, as its page shows it.
#[derive(Clone, Debug, Default)]
pub struct Folder {
    /// The type of what is in it.
    pub prefix: &'static str,
    /// The name that people see.
    pub title: String,
    /// True if it is in another folder.
    pub has_parent: bool,
    /// The files in it.
    pub files: Vec<FileLink>,
    /// The address of all files in it as one.
    pub zip: Option<String>,
    /// The address of a list of all files, if there is more in the folder.
    pub all: Option<String>,
}

/// A link to a file, to a folder or to something elsewhere.
#[derive(Clone, Debug)]
pub struct FileLink {
    /// The address, relative to the folder.
    pub href: String,
    /// The name that people see.
    pub title: String,
    /// The note for people before they open it.
    pub remark: Option<String>,
    /// The kind of the file.
    pub kind: String,
    /// The number of bytes, for files.
    pub size: Option<u64>,
    /// When it last changed.
    pub changed: DateTime<Utc>,
}

#[derive(Template)]
#[template(path = "folder.html")]
struct FolderPage<'a> {
    frame: Frame<'a>,
    has_parent: bool,
    rows: Vec<Row<'a>>,
    zip: Option<&'a str>,
    has_more: bool,
    all: &'a str,
}

struct Row<'a> {
    file: &'a FileLink,
    size: String,
    time: Shown<'a>,
}

/// Writes the page of a folder.
///
/// # Errors
/// Returns an error if the page can't be written.
pub fn folder_page(folder: &Folder, view: &View<'_>) -> Result<Vec<u8>> {
    let row = |file| Row {
        file,
        size: file.size.map(size).unwrap_or_default(),
        time: Shown::of_instant(file.changed, Clock::of(view)),
    };
    super::write(&FolderPage {
        frame: Frame::new(&folder.title, view).in_part(folder.prefix),
        has_parent: folder.has_parent,
        rows: folder.files.iter().map(row).collect(),
        zip: folder.zip.as_deref(),
        has_more: folder.all.is_some(),
        all: folder.all.as_deref().unwrap_or_default(),
    })
}

/// Returns a number of bytes as people read it.
fn size(bytes: u64) -> String {
    let mut unit = ("bytes", 1);
    for larger in [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)] {
        if bytes >= larger.1 {
            unit = larger;
        }
    }
    format!("{} {}", bytes / unit.1, unit.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_told_in_the_largest_unit() {
        for (bytes, expected) in [
            (0, "0 bytes"),
            (1023, "1023 bytes"),
            (1024, "1 KiB"),
            (5 << 20, "5 MiB"),
            (u64::MAX, "17179869183 GiB"),
        ] {
            assert_eq!(size(bytes), expected);
        }
    }
}
