//! Several stored files as one answer: a folder with its content.

use std::collections::HashSet;

use super::Blob;
use crate::DateTimeUtc;

/// The replacement of characters that some systems don't have in the names of files.
const REPLACEMENT: char = '_';

/// Several stored files as the answer of an operation that reads. The service streams them as one zip archive, and never
/// holds it, or one of the files, in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bundle {
    name: String,
    entries: Vec<Bundled>,
    taken: HashSet<String>,
}

/// A file or a folder of a [`Bundle`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bundled {
    path: String,
    /// The bytes, or `None` for a folder.
    pub blob: Option<Blob>,
    /// The instant at which the file was last replaced, if it is known.
    pub modified: Option<DateTimeUtc>,
}

impl Bundled {
    /// Returns the path within the bundle: names with `/` between them, and at the end of a folder's. No name is empty,
    /// `.` or `..`, or has a character that a common system refuses.
    pub fn path(&self) -> &str {
        &self.path
    }
}

impl Bundle {
    /// Creates an empty bundle, which clients save as `name` with the ending `.zip`.
    pub fn named(name: &str) -> Self {
        Self {
            name: format!("{}.zip", harmless(name)),
            ..Self::default()
        }
    }

    /// Returns the name under which a client saves the bundle.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the files and folders, in the order in which they were added.
    pub fn entries(&self) -> &[Bundled] {
        &self.entries
    }

    /// Adds a file at `path`, names with `/` between them. A name gets another character in the place of one that a
    /// common system refuses, and a number if another file has it already, in upper or lower case.
    pub fn add_file(&mut self, path: &str, blob: Blob, modified: Option<DateTimeUtc>) {
        let path = self.free(&harmless_path(path));
        self.entries.push(Bundled {
            path,
            blob: Some(blob),
            modified,
        });
    }

    /// Adds a folder at `path`, so that it is there if nothing is in it.
    pub fn add_folder(&mut self, path: &str) {
        let path = format!("{}/", harmless_path(path));
        if self.taken.insert(path.to_lowercase()) {
            self.entries.push(Bundled {
                path,
                blob: None,
                modified: None,
            });
        }
    }

    /// Returns `path`, or one like it that no file has.
    fn free(&mut self, path: &str) -> String {
        let (folder, name) = match path.rsplit_once('/') {
            Some((folder, name)) => (format!("{folder}/"), name),
            None => (String::new(), path),
        };
        let (stem, ending) = match name.rsplit_once('.') {
            Some((stem, ending)) if !stem.is_empty() => (stem, format!(".{ending}")),
            _ => (name, String::new()),
        };
        let mut free = path.to_owned();
        let mut number = 1_usize;
        while !self.taken.insert(free.to_lowercase()) {
            number = number.saturating_add(1);
            free = format!("{folder}{stem} ({number}){ending}");
        }
        free
    }
}

fn harmless_path(path: &str) -> String {
    let names = path.split('/').filter(|it| !it.is_empty());
    let names: Vec<String> = names.map(harmless).collect();
    match names.is_empty() {
        true => harmless(""),
        false => names.join("/"),
    }
}

/// Returns `name` as every common system takes it.
fn harmless(name: &str) -> String {
    let is_refused = |it: char| super::media::is_unprintable(it) || r#"/\<>:"|?*"#.contains(it);
    let name: String = name
        .chars()
        .map(|it| if is_refused(it) { REPLACEMENT } else { it })
        .collect();
    let kept = name.trim_end_matches(['.', ' ']);
    match kept.len() == name.len() && !name.is_empty() {
        true => name,
        false => format!("{kept}{REPLACEMENT}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sec_no_name_escapes_from_the_bundle_or_is_there_twice() {
        let mut bundle = Bundle::named("../a:b");
        assert_eq!(bundle.name(), ".._a_b.zip");
        for (path, expected) in [
            ("../../etc/passwd", "_/_/etc/passwd"),
            ("/etc/passwd", "etc/passwd"),
            ("C:\\x", "C__x"),
            ("a\0b\u{202e}", "a_b_"),
            ("", "_"),
            ("a/./b", "a/_/b"),
            ("a/B.txt", "a/B.txt"),
            ("a/b.txt", "a/b (2).txt"),
            ("a/b.TXT", "a/b (3).TXT"),
            (".profile", ".profile"),
            (".Profile", ".Profile (2)"),
            ("end. .", "end_"),
        ] {
            bundle.add_file(path, Blob::of(b""), None);
            let added = bundle.entries().last();
            assert_eq!(added.map(Bundled::path), Some(expected), "{path:?}");
        }
        let count = bundle.entries().len();
        bundle.add_folder("A folder/");
        bundle.add_folder("a folder");
        assert_eq!(bundle.entries().len(), count + 1);
        assert_eq!(
            bundle.entries().last().map(Bundled::path),
            Some("A folder/")
        );
    }
}
