//! Writing archives.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::body::Body;
use entity_core::blob::Blob;
use entity_core::db::archive::{ArchivedTable, Entry, Reading};
use entity_core::{Error, ErrorKind, Result};
use entity_providers::people::site::archive as stored;
use futures::StreamExt as _;
use sea_orm::{DatabaseTransaction, DbBackend, IsolationLevel, TransactionTrait as _};
use serde::Serialize;

use super::{ACCOUNTS, ArchivedType, FILES, FORMAT, MANIFEST, Manifest, Person, data};
use crate::base::packing::{ZipStream, packed};
use crate::operate::node::Node;

/// The number of accounts that are asked for at once.
const PEOPLE: usize = 500;
/// The `Retry-After` of a client that finds others being written, in seconds.
const RETRY_AFTER: u32 = 30;

/// Writes the archive of `site` to `file`. `tell` is called with the progress.
///
/// # Errors
/// Returns an error if there is no such site, if there is a file already, or if it can't be written.
pub async fn export(
    node: &Node,
    site: &str,
    file: &Path,
    tell: impl Fn(&str) + Send + Sync + 'static,
) -> Result<()> {
    if file.exists() {
        return Err(failed(format!("{} is there already", file.display())));
    }
    let mut part = file.as_os_str().to_owned();
    part.push(".part");
    let part = PathBuf::from(part);
    let (own, id) = (node.clone(), site.to_owned());
    let mut stream = Box::pin(packed(&node.tasks, |packer| write(own, id, packer, tell)));
    let io = |error: std::io::Error| {
        failed(format!("can't write {}: {error}", file.display())).with_source(error)
    };
    entity_providers::storage::db::make_private(&part)?;
    let written = async {
        let mut to = File::options().write(true).open(&part).map_err(io)?;
        while let Some(piece) = stream.next().await {
            to.write_all(&piece?).map_err(io)?;
        }
        to.sync_all().map_err(io)
    };
    let done = match written.await {
        // Unlike a change of the name, this never replaces what somebody else put there meanwhile.
        Ok(()) => fs::hard_link(&part, file).map_err(io),
        Err(error) => Err(error),
    };
    fs::remove_file(&part).map_err(io)?;
    done
}

fn failed(text: String) -> Error {
    Error::new(ErrorKind::Internal, text)
}

/// Returns the archive of `site` as a body, which is written while it is sent.
pub(crate) fn body(node: &Node, site: &str) -> Result<Body> {
    let (own, id) = (node.clone(), site.to_owned());
    let place = Arc::clone(&node.archives).try_acquire_owned();
    let place = place.map_err(|full| {
        let message = "other archives are being written: try again";
        Error::unavailable(message, RETRY_AFTER).with_source(full)
    })?;
    let body = packed(&node.tasks, |packer| async move {
        let done = Box::pin(write(own, id, packer, |_| ())).await;
        drop(place);
        done
    });
    Ok(Body::from_stream(body))
}

/// Writes the archive of `site`.
async fn write(
    node: Node,
    site: String,
    packer: ZipStream,
    tell: impl Fn(&str) + Send + Sync,
) -> Result<()> {
    // One state of the database, however long it takes.
    let reader = &node.storage.content.reader;
    let level = match reader.get_database_backend() {
        DbBackend::Postgres => Some(IsolationLevel::RepeatableRead),
        _ => None,
    };
    let snapshot = reader.begin_with_config(level, None).await?;
    let tables = stored::tables(node.dispatcher.registry());
    let writing = Writing {
        node,
        site,
        snapshot,
        packer,
        people: BTreeSet::new(),
        files: BTreeSet::new(),
    };
    writing.run(tables, tell).await
}

/// An archive that is being written.
struct Writing {
    node: Node,
    site: String,
    snapshot: DatabaseTransaction,
    packer: ZipStream,
    people: BTreeSet<String>,
    files: BTreeSet<String>,
}

impl Writing {
    async fn run(
        mut self,
        tables: Vec<ArchivedTable>,
        tell: impl Fn(&str) + Send + Sync,
    ) -> Result<()> {
        let registry = self.node.dispatcher.registry().clone();
        let shared = self.node.dispatcher.shared().clone();
        let now = shared.clock.now();
        let mut manifest = Manifest {
            format: FORMAT,
            service: env!("CARGO_PKG_VERSION").to_owned(),
            archive: shared.ids.new_id(now),
            site: self.site.clone(),
            created: now.to_rfc3339(),
            types: BTreeMap::new(),
            accounts: 0,
            files: 0,
        };
        for table in &tables {
            let rows = self.table(table).await?;
            if rows == 0 {
                continue;
            }
            tell(&format!("{rows} rows of {}", table.name));
            let origin = registry
                .route(table.prefix)
                .map_or(("", ""), |it| it.origin);
            let kind = manifest
                .types
                .entry(table.prefix.to_owned())
                .or_insert_with(|| ArchivedType {
                    origin: origin.0.to_owned(),
                    version: origin.1.to_owned(),
                    ..ArchivedType::default()
                });
            kind.tables.insert(table.name.to_owned(), rows);
        }
        if manifest.types.is_empty() {
            return Err(Error::new(
                ErrorKind::NotFound,
                format!("there is no site `{}`", self.site),
            ));
        }
        manifest.accounts = self.accounts().await?;
        // The files stay without the snapshot: none is removed in the hour after its last row.
        let blobs = shared.blobs()?;
        let files = std::mem::take(&mut self.files);
        for (number, column) in files.iter().enumerate() {
            let blob = Blob::parse(column).ok_or_else(|| Error::internal("no blob"))?;
            let path = format!("{FILES}{}", blob.digest());
            self.packer.file(&path, &blobs, &blob, None).await?;
            let number = number.saturating_add(1);
            if number % 100 == 0 || number == files.len() {
                tell(&format!("{number} of {} files", files.len()));
            }
        }
        manifest.files = u64::try_from(files.len()).unwrap_or(u64::MAX);
        self.packer.begin_text(MANIFEST)?;
        self.line(&manifest).await?;
        self.packer.finish().await
    }

    /// Writes the rows of `table`, and returns how many there are.
    async fn table(&mut self, table: &ArchivedTable) -> Result<u64> {
        let site = self.site.clone();
        let mut reading = Reading::begin(&self.snapshot, table, &site).await?;
        let mut count = 0_u64;
        loop {
            let entries: Vec<Entry> = reading.next(&self.snapshot).await?;
            if entries.is_empty() {
                return Ok(count);
            }
            if count == 0 {
                self.packer.begin_text(&data(table.prefix, table.name))?;
            }
            for entry in &entries {
                self.people
                    .extend(table.accounts(entry).map(ToOwned::to_owned));
                self.files.extend(table.blobs(entry).map(ToOwned::to_owned));
                self.line(entry).await?;
                count = count.saturating_add(1);
            }
        }
    }

    /// Writes the people whom rows name, and returns how many there are.
    async fn accounts(&mut self) -> Result<u64> {
        self.packer.begin_text(ACCOUNTS)?;
        let ids: Vec<String> = std::mem::take(&mut self.people).into_iter().collect();
        let mut count = 0_u64;
        for ids in ids.chunks(PEOPLE) {
            for it in stored::people(&self.snapshot, ids).await? {
                let person = Person {
                    id: it.there,
                    eid: it.eid,
                    first_name: it.first_name,
                    last_name: it.last_name,
                    r#type: it.kind,
                };
                self.line(&person).await?;
                count = count.saturating_add(1);
            }
        }
        Ok(count)
    }

    async fn line(&mut self, value: &(impl Serialize + Sync)) -> Result<()> {
        let mut line = serde_json::to_vec(value).map_err(Error::internal)?;
        line.push(b'\n');
        self.packer.write(&line).await
    }
}
