//! Import of archives.
//!
//! Rows keep their ids. They are written some at a time, each time with the progress of the import, so that one that
//! was cut off goes on where it stopped, and one that is complete does nothing again. Until the end nobody but its
//! members finds the site, which is not published.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use entity_core::blob::Blob;
use entity_core::db::archive::{self, AccountIds, ArchivedTable, Entry, ROWS};
use entity_core::db::attached::{AttachedFileService, uses};
use entity_core::engine::Origin;
use entity_core::html;
use entity_core::reply::Effect;
use entity_core::{Context, Error, Reference, Registry, Result};
use entity_providers::people::site::archive::{self as progress, Account, Progress};
use futures::future::BoxFuture;
use serde_json::Value as Json;
use sha2::{Digest as _, Sha256};

use super::unpack::Unpacker;
use super::{ACCOUNTS, FILES, FORMAT, MANIFEST, Manifest, Person, data};
use crate::operate::background;
use crate::operate::node::Node;

/// The maximum number of bytes of a manifest.
const MOST: usize = 16 << 20;
/// The number of bytes of rows that are written in one transaction, unless one row has more.
const BYTES: usize = 1 << 20;

/// The result of an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// The site.
    pub site: String,
    /// The number of rows that were written now.
    pub rows: u64,
    /// The number of accounts that were made, all of them shut.
    pub accounts: usize,
    /// True if the same archive was complete before.
    pub was_complete: bool,
}

/// Imports the archive in `file`. `tell` is called with the progress.
///
/// # Errors
/// Returns an error if the file is no archive or damaged, if something else is in its place, or if a type in it is not
/// linked. The same archive can be imported again then: rows that were written are not written twice.
pub async fn import(
    node: &Node,
    file: &Path,
    tell: impl Fn(&str) + Send + Sync,
) -> Result<Imported> {
    let archive = Unpacker::open(file).await?;
    let (manifest, digest) = manifest(&archive).await?;
    let tables = progress::tables(node.dispatcher.registry());
    check(&manifest, &tables)?;
    let site = manifest.site.clone();
    let state = {
        let site = site.clone();
        read(node, |cx| {
            Box::pin(async move {
                progress::check_site(cx, &site)?;
                progress::find(cx, &site).await
            })
        })
        .await?
    };
    let state = match state {
        progress::State::New => Progress::default(),
        progress::State::Begun(it) if it.archive == digest => it,
        progress::State::Begun(_) | progress::State::Other => {
            return Err(Error::conflict(format!(
                "there is a site `{site}` already, which is not from this archive: delete it first"
            )));
        }
    };
    let mut done = Imported {
        site,
        rows: 0,
        accounts: 0,
        was_complete: state.is_complete,
    };
    if state.is_complete {
        return Ok(done);
    }
    let mut import = Import {
        node,
        archive,
        site: manifest.site.clone(),
        progress: Progress {
            archive: digest,
            ..state
        },
        accounts: AccountIds::default(),
        files: HashSet::new(),
    };
    done.accounts = import.accounts().await?;
    tell(&format!(
        "{} people, {} of them new",
        manifest.accounts, done.accounts
    ));
    import.files(&tell).await?;
    for table in &tables {
        let rows = import.table(&tables, table).await?;
        if rows > 0 {
            tell(&format!("{rows} rows of {}", table.name));
        }
        done.rows = done.rows.saturating_add(rows);
    }
    import.finish(&tables).await?;
    Ok(done)
}

async fn manifest(archive: &Unpacker) -> Result<(Manifest, String)> {
    let missing =
        || Error::bad_request("this is no archive that can be imported: it has no manifest");
    if !archive.entries.contains_key(MANIFEST) {
        return Err(missing());
    }
    let mut pieces = archive.bytes(MANIFEST).await?;
    let mut bytes = Vec::new();
    while let Some(piece) = pieces.recv().await {
        bytes.extend_from_slice(&piece?);
        if bytes.len() > MOST {
            return Err(missing());
        }
    }
    let manifest: Manifest = serde_json::from_slice(&bytes).map_err(|error| {
        Error::bad_request(format!("the manifest of the archive is damaged: {error}"))
    })?;
    let digest = hex::encode(Sha256::digest(&bytes));
    Ok((manifest, digest))
}

/// Refuses archives of another format, or with tables that this service does not have.
fn check(manifest: &Manifest, tables: &[ArchivedTable]) -> Result<()> {
    if manifest.format != FORMAT {
        return Err(Error::bad_request(format!(
            "the archive has the form {}, and this service reads the form {FORMAT}",
            manifest.format
        )));
    }
    if manifest.site.is_empty() || manifest.site.starts_with('!') {
        return Err(Error::bad_request(
            "the archive is of no site that can be imported",
        ));
    }
    for (prefix, kind) in &manifest.types {
        let is_known = |name: &String| {
            tables
                .iter()
                .any(|it| it.prefix == prefix && it.name == *name)
        };
        if let Some(table) = kind.tables.keys().find(|it| !is_known(it)) {
            return Err(Error::bad_request(format!(
                "the archive has rows of `{table}`, of the type `{prefix}` from the crate `{}` {}, which this service \
                 does not have",
                kind.origin, kind.version
            )));
        }
    }
    Ok(())
}

/// An import that is going on.
struct Import<'a> {
    node: &'a Node,
    archive: Unpacker,
    site: String,
    progress: Progress,
    accounts: AccountIds,
    /// The files that are stored, as columns name them.
    files: HashSet<String>,
}

impl Import<'_> {
    /// Finds the accounts of the people in the archive, and makes those that are missing.
    async fn accounts(&mut self) -> Result<usize> {
        let mut lines = self.archive.lines(ACCOUNTS).await?;
        let mut made = 0_usize;
        loop {
            let mut people = Vec::new();
            while people.len() < ROWS
                && let Some(person) = lines.next::<Person>().await?
            {
                people.push(Account {
                    there: person.id,
                    eid: person.eid,
                    first_name: person.first_name,
                    last_name: person.last_name,
                    kind: person.r#type,
                });
            }
            if people.is_empty() {
                return Ok(made);
            }
            let people = Arc::new(people);
            let found = write(self.node, |cx| {
                let people = Arc::clone(&people);
                Box::pin(async move { progress::accounts(cx, &people).await })
            });
            let (ids, number) = found.await?;
            made = made.saturating_add(number);
            for (there, here) in ids {
                self.accounts.note(there, here);
            }
        }
    }

    /// Stores the files of the archive that are not stored yet.
    async fn files(&mut self, tell: &(impl Fn(&str) + Sync)) -> Result<()> {
        let named = self.archive.entries.iter();
        let named =
            named.filter_map(|(name, size)| Some((name.strip_prefix(FILES)?.to_owned(), *size)));
        let named: Vec<(String, u64)> = named.collect();
        for (number, (digest, size)) in named.iter().enumerate() {
            let column = format!("{digest}:{size}");
            let is_stored = {
                let column = column.clone();
                write(self.node, move |cx| {
                    let column = column.clone();
                    Box::pin(async move { progress::touch(cx, &column).await })
                })
                .await?
            };
            if !is_stored {
                self.file(digest, &column).await?;
            }
            self.files.insert(column);
            let number = number.saturating_add(1);
            if number % 100 == 0 || number == named.len() {
                tell(&format!("{number} of {} files", named.len()));
            }
        }
        Ok(())
    }

    async fn file(&self, digest: &str, column: &str) -> Result<()> {
        let blobs = self.node.dispatcher.shared().blobs()?;
        let mut incoming = blobs.begin().await?;
        let mut pieces = self.archive.bytes(&format!("{FILES}{digest}")).await?;
        while let Some(piece) = pieces.recv().await {
            incoming.write(piece?).await?;
        }
        let received = incoming.finish().await?;
        let blob: Blob = received.blob();
        if blob.to_column() != column {
            return Err(Error::bad_request(format!(
                "the file `{digest}` in the archive is damaged"
            )));
        }
        write(self.node, move |cx| {
            Box::pin(async move { entity_core::db::blobs::note(cx, &blob, None).await })
        })
        .await?;
        received.keep().await?;
        Ok(())
    }

    /// Writes the rows of `table` that are not written yet, and returns how many these were.
    async fn table(&mut self, tables: &[ArchivedTable], table: &ArchivedTable) -> Result<u64> {
        let mut lines = self.archive.lines(&data(table.prefix, table.name)).await?;
        let before = self
            .progress
            .rows
            .get(table.name)
            .copied()
            .unwrap_or_default();
        let (mut count, mut written) = (0_u64, 0_u64);
        let (mut entries, mut bytes) = (Vec::new(), 0_usize);
        loop {
            let next = lines.next::<Entry>().await?;
            let is_over = next.is_none();
            if let Some(mut entry) = next {
                count = count.saturating_add(1);
                if count <= before {
                    continue;
                }
                self.admit(table, &mut entry).await?;
                bytes = bytes.saturating_add(size(&entry));
                entries.push(entry);
            }
            if entries.len() >= ROWS || bytes > BYTES || (is_over && !entries.is_empty()) {
                let number = u64::try_from(entries.len()).unwrap_or_default();
                self.progress.rows.insert(table.name.to_owned(), count);
                self.store(tables, table, std::mem::take(&mut entries))
                    .await?;
                written = written.saturating_add(number);
                bytes = 0;
            }
            if is_over {
                return Ok(written);
            }
        }
    }

    /// Checks a row, shuts a site, and sanitises HTML.
    async fn admit(&self, table: &ArchivedTable, entry: &mut Entry) -> Result<()> {
        if let Some(blob) = table.blobs(entry).find(|it| !self.files.contains(*it)) {
            return Err(Error::bad_request(format!(
                "a row of `{}` in the archive names the file `{blob}`, which is not in it",
                table.name
            )));
        }
        let route = self.node.dispatcher.registry().route(table.prefix);
        let own = route.filter(|it| it.table.is_some_and(|it| it().name == table.name));
        let checked = own.map_or(Ok(()), |it| it.check_archived(entry, &self.site));
        checked.map_err(|why| {
            Error::bad_request(format!("a row of `{}` in the archive {why}", table.name))
        })?;
        for name in table.shut {
            entry.insert((*name).to_owned(), Json::Bool(false));
        }
        let shared = self.node.dispatcher.shared();
        for name in table.html() {
            let Some(Json::String(text)) = entry.get_mut(*name) else {
                continue;
            };
            let caller = origin().caller;
            let clean = shared.sanitizer.sanitize_apart(&caller, text).await?;
            let clean = clean.map_err(|why| {
                Error::bad_request(format!("`{name}` of a row of `{}` {why}", table.name))
            })?;
            *text = html::in_type(&clean, table.prefix);
        }
        Ok(())
    }

    async fn store(
        &self,
        tables: &[ArchivedTable],
        table: &ArchivedTable,
        entries: Vec<Entry>,
    ) -> Result<()> {
        let work = Arc::new((
            tables.to_vec(),
            table.clone(),
            entries,
            self.site.clone(),
            self.accounts.clone(),
            self.progress.clone(),
        ));
        write(self.node, |cx| {
            let work = Arc::clone(&work);
            Box::pin(async move {
                let (tables, table, entries, site, accounts, progress) = &*work;
                archive::insert(cx.db()?, tables, table, site, entries, accounts).await?;
                progress::note(cx, site, progress).await
            })
        })
        .await
    }

    /// Opens the site as it was, and notes that the import is complete.
    async fn finish(mut self, tables: &[ArchivedTable]) -> Result<()> {
        let mut opened: BTreeMap<(&'static str, &'static str), bool> = BTreeMap::new();
        for table in tables.iter().filter(|it| !it.shut.is_empty()) {
            let mut lines = self.archive.lines(&data(table.prefix, table.name)).await?;
            while let Some(entry) = lines.next::<Entry>().await? {
                for name in table.shut {
                    let is_true = entry.get(*name).and_then(Json::as_bool).unwrap_or_default();
                    opened.insert((table.name, *name), is_true);
                }
            }
        }
        if self.progress.rows.is_empty() {
            return Err(Error::bad_request("the archive has no rows"));
        }
        self.progress.is_complete = true;
        let work = Arc::new((self.site.clone(), self.progress.clone(), opened));
        let origin = origin();
        let done = self.node.dispatcher.write(&origin, |cx| {
            let work = Arc::clone(&work);
            Box::pin(async move {
                let (site, progress, opened) = &*work;
                progress::open(cx, site, opened).await?;
                let (registry, files) = (
                    cx.service::<Registry>()?,
                    cx.service::<AttachedFileService>()?,
                );
                uses::note_rows(cx.db()?, &registry, &files, site).await?;
                progress::note(cx, site, progress).await?;
                let about = Reference::entity("site", site.clone());
                cx.emit("site.import", about.to_string(), Some(site));
                Ok(((), Effect::Created(about)))
            })
        });
        done.await
    }
}

fn size(entry: &Entry) -> usize {
    let texts = entry.values().filter_map(Json::as_str);
    texts.map(str::len).sum()
}

async fn read<T: Send>(
    node: &Node,
    work: impl for<'a> FnOnce(&'a Context) -> BoxFuture<'a, Result<T>>,
) -> Result<T> {
    node.dispatcher.read(&origin(), work).await
}

/// Does `work` in one transaction.
async fn write<T, W>(node: &Node, work: W) -> Result<T>
where
    T: Send + 'static,
    W: for<'a> Fn(&'a Context) -> BoxFuture<'a, Result<T>> + Send + Sync,
{
    background::write(node, &origin(), work).await
}

fn origin() -> Origin {
    Origin {
        request_id: "operator".into(),
        method: "CLI".into(),
        path: "import".into(),
        ..background::origin()
    }
}
