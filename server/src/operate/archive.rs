//! Sites as archives: one zip with all rows of a site and its files, which another service can import.
//!
//! An archive holds `data/{prefix}/{table}.jsonl` with a row on each line, `accounts.jsonl` with the people whom rows name,
//! `files/{digest}` with the bytes of each stored file, and `manifest.json`, which says of what versions all of this is.
//! Not in it are passwords, sessions, private feeds, invitations, the audit log, events and counts of usage.

mod export;
mod import;
mod unpack;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub(crate) use export::body;
pub use export::export;
pub use import::{Imported, import};

/// The version of the form of archives.
const FORMAT: u32 = 1;
/// The names of the files in an archive.
const MANIFEST: &str = "manifest.json";
const ACCOUNTS: &str = "accounts.jsonl";
const FILES: &str = "files/";

/// The manifest of an archive: its format, id, site, and contents.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Manifest {
    /// The version of the form.
    format: u32,
    /// The version of the service.
    service: String,
    /// The unique id of the archive.
    archive: String,
    /// The site.
    site: String,
    /// The time at which the archive was made, ISO 8601.
    created: String,
    /// The types by their prefix.
    types: BTreeMap<String, ArchivedType>,
    /// The number of people whom rows name.
    accounts: u64,
    /// The number of files.
    files: u64,
}

/// A type whose rows are in an archive.
#[derive(Debug, Default, Serialize, Deserialize)]
struct ArchivedType {
    /// The crate that the type is from.
    origin: String,
    /// The version of that crate.
    version: String,
    /// The number of rows of each table.
    tables: BTreeMap<String, u64>,
}

/// A person whom rows name.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Person {
    /// The internal id, as rows have it.
    id: String,
    /// The external id, by which another service knows them.
    eid: String,
    first_name: String,
    last_name: String,
    r#type: String,
}

/// Returns where the rows of a table are.
fn data(prefix: &str, table: &str) -> String {
    format!("data/{prefix}/{table}.jsonl")
}
