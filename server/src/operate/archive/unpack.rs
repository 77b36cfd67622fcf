//! Reading archives, which may be from anybody: names, numbers and sizes are checked before anything is believed.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use bytes::{Bytes, BytesMut};
use entity_core::{Error, Result};
use serde::de::DeserializeOwned;
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::task::spawn_blocking;
use zip::{CompressionMethod, ZipArchive};

use super::{ACCOUNTS, FILES, MANIFEST};

/// The maximum number of entries.
const ENTRIES: usize = 1_000_000;
/// The maximum number of bytes of a line, and of a manifest.
const LINE: usize = 16 << 20;
/// The number of times larger than its compressed form an entry may be, above [`SMALL`].
const RATIO: u64 = 200;
/// The size below which that does not matter.
const SMALL: u64 = 1 << 20;
/// The number of bytes that are read at once.
const PIECE: usize = 64 << 10;

type Pieces = Sender<Result<Bytes>>;

/// An archive that is open. A thread of its own reads it.
#[derive(Debug)]
pub(super) struct Unpacker {
    asked: Sender<(String, Pieces)>,
    /// The entries: the name and the size of each.
    pub(super) entries: BTreeMap<String, u64>,
}

fn refused(text: impl Into<String>) -> Error {
    Error::bad_request(format!(
        "this is no archive that can be imported: {}",
        text.into()
    ))
}

fn damaged(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    refused(error.to_string()).with_source(error)
}

impl Unpacker {
    /// Opens the archive in `file`.
    ///
    /// # Errors
    /// Returns an error if it is damaged, or if something is in it that is in no archive of a site.
    pub(super) async fn open(file: &Path) -> Result<Self> {
        let file = file.to_owned();
        let opened = spawn_blocking(move || {
            let file = File::open(&file).map_err(|error| {
                Error::bad_request(format!("can't read {}: {error}", file.display()))
            })?;
            let mut zip = ZipArchive::new(BufReader::new(file)).map_err(damaged)?;
            let entries = check(&mut zip)?;
            Ok::<_, Error>((zip, entries))
        });
        let (mut zip, entries) = opened.await.map_err(Error::internal)??;
        let (asked, mut questions) = mpsc::channel::<(String, Pieces)>(1);
        drop(spawn_blocking(move || {
            while let Some((name, to)) = questions.blocking_recv() {
                if let Err(error) = read(&mut zip, &name, &to) {
                    drop(to.blocking_send(Err(error)));
                }
            }
        }));
        Ok(Self { asked, entries })
    }

    /// Begins to read the entry `name`.
    pub(super) async fn bytes(&self, name: &str) -> Result<Receiver<Result<Bytes>>> {
        let (to, from) = mpsc::channel(2);
        let asked = self.asked.send((name.to_owned(), to)).await;
        asked.map_err(Error::internal)?;
        Ok(from)
    }

    /// Begins to read the lines of the entry `name`; there are none if there is no such entry.
    pub(super) async fn lines(&self, name: &str) -> Result<Lines> {
        Ok(Lines {
            name: name.to_owned(),
            from: match self.entries.contains_key(name) {
                true => Some(self.bytes(name).await?),
                false => None,
            },
            rest: BytesMut::new(),
        })
    }
}

/// The lines of an entry, each with JSON.
#[derive(Debug)]
pub(super) struct Lines {
    name: String,
    from: Option<Receiver<Result<Bytes>>>,
    rest: BytesMut,
}

impl Lines {
    /// Parses the next line, if there is one.
    pub(super) async fn next<T: DeserializeOwned>(&mut self) -> Result<Option<T>> {
        loop {
            if let Some(end) = memchr::memchr(b'\n', &self.rest) {
                let line = self.rest.split_to(end.saturating_add(1));
                return Ok(Some(self.parse(&line)?));
            }
            if self.rest.len() > LINE {
                return Err(refused(format!("a line of `{}` is too long", self.name)));
            }
            let piece = match &mut self.from {
                Some(from) => from.recv().await,
                None => None,
            };
            match piece {
                Some(piece) => self.rest.extend_from_slice(&piece?),
                None if self.rest.is_empty() => return Ok(None),
                None => {
                    let line = std::mem::take(&mut self.rest);
                    return Ok(Some(self.parse(&line)?));
                }
            }
        }
    }

    fn parse<T: DeserializeOwned>(&self, line: &[u8]) -> Result<T> {
        serde_json::from_slice(line)
            .map_err(|error| refused(format!("a line of `{}`: {error}", self.name)))
    }
}

/// Checks all that an archive says of its entries, and returns them.
fn check(zip: &mut ZipArchive<BufReader<File>>) -> Result<BTreeMap<String, u64>> {
    if zip.len() > ENTRIES || zip.has_duplicate_names() {
        return Err(refused("it has too many entries, or one of them twice"));
    }
    if zip.has_overlapping_files().map_err(damaged)? {
        return Err(refused("entries lie over each other"));
    }
    let mut entries = BTreeMap::new();
    for index in 0..zip.len() {
        let entry = zip.by_index_raw(index).map_err(damaged)?;
        let entry = entry.entry();
        let name = entry.name().map_err(damaged)?.into_owned();
        if !is_expected(&name) {
            return Err(refused(format!("it has `{}`", name.escape_debug())));
        }
        let is_plain =
            [CompressionMethod::Stored, CompressionMethod::Deflated].contains(&entry.compression());
        let (size, packed) = (entry.size(), entry.compressed_size());
        if !is_plain || entry.encrypted() || entry.is_symlink() {
            return Err(refused(format!("`{name}` is written in an unusual way")));
        }
        if size > SMALL && size > packed.saturating_mul(RATIO) {
            return Err(refused(format!("`{name}` would become too large")));
        }
        entries.insert(name, size);
    }
    Ok(entries)
}

/// Returns whether an archive of a site has entries of this name.
fn is_expected(name: &str) -> bool {
    let is_name = |it: &str| {
        !it.is_empty()
            && it
                .bytes()
                .all(|it| it.is_ascii_alphanumeric() || b"_-".contains(&it))
    };
    if let Some(digest) = name.strip_prefix(FILES) {
        let is_digit = |it: u8| it.is_ascii_digit() || (b'a'..=b'f').contains(&it);
        return digest.len() == 64 && digest.bytes().all(is_digit);
    }
    let table = name
        .strip_prefix("data/")
        .and_then(|it| it.strip_suffix(".jsonl"));
    let table = table.and_then(|it| it.split_once('/'));
    name == MANIFEST
        || name == ACCOUNTS
        || table.is_some_and(|(prefix, table)| is_name(prefix) && is_name(table))
}

/// Sends the bytes of an entry: no more than it is said to have.
fn read(zip: &mut ZipArchive<BufReader<File>>, name: &str, to: &Pieces) -> Result<()> {
    let mut entry = zip.by_name(name).map_err(damaged)?;
    let mut left = entry.entry().size();
    let mut piece = vec![0; PIECE];
    loop {
        let count = entry.read(&mut piece).map_err(damaged)?;
        let length = u64::try_from(count).unwrap_or(u64::MAX);
        if count == 0 && left == 0 {
            return Ok(());
        }
        if count == 0 || length > left {
            return Err(refused(format!("`{name}` has another size than it says")));
        }
        left = left.saturating_sub(length);
        let bytes = piece.get(..count).unwrap_or_default();
        if to.blocking_send(Ok(Bytes::copy_from_slice(bytes))).is_err() {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_expected;

    #[test]
    fn sec_no_name_leads_out_of_an_archive() {
        let digest = "a".repeat(64);
        for (name, expected) in [
            ("manifest.json", true),
            ("accounts.jsonl", true),
            ("data/content/content.jsonl", true),
            ("data/sam_pub/quiz-x.jsonl", true),
            (&*format!("files/{digest}"), true),
            (&*format!("files/{}", "A".repeat(64)), false),
            (&*format!("files/../{digest}"), false),
            ("data/../x/y.jsonl", false),
            ("data//y.jsonl", false),
            ("/etc/passwd", false),
            ("../manifest.json", false),
            ("", false),
        ] {
            assert_eq!(is_expected(name), expected, "{name}");
        }
    }
}
