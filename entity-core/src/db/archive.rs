//! The rows of a site, as archives hold them: which tables have some, how they are read, and how they are written again.
//!
//! A type whose table is a record's is part of an archive without any declaration: its rows, its children and the groups
//! of its entities belong to the site that the row names, or to that of the row to which they belong. A type with other
//! tables declares them in [`Provider::ARCHIVED`](crate::Provider::ARCHIVED).

mod read;
mod write;

use std::collections::HashSet;

use serde_json::{Map, Value as Json};

use super::folded::folded_fields;
use super::table::Parents;
use crate::contract::registry::{Registry, Route};
use crate::model::schema::{Field, Kind};
use crate::model::table::ColumnType;
use crate::model::table::TableSpec;

pub use crate::model::archived::{Archived, ArchivedColumn, Belonging, Link};
pub use read::{ROWS, Reading};
pub use write::{AccountIds, insert};

/// A row: its columns by name. A floating-point number is a text, so that no reader rounds it.
pub type Entry = Map<String, Json>;

impl Belonging {
    fn link(self) -> impl Iterator<Item = Link> {
        let link = match self {
            Self::Row(link) => Some(link),
            Self::Site(_) | Self::Path(..) => None,
        };
        link.into_iter()
    }
}

/// The belonging of the rows that are sites.
const SITE: Belonging = Belonging::Site("id");
/// A table with rows of sites, and all that archives need to know of it.
#[derive(Clone, Debug)]
pub struct ArchivedTable {
    /// The prefix of the type.
    pub prefix: &'static str,
    /// The name of the table.
    pub name: &'static str,
    /// The columns of truth that are false until all of an archive is written.
    pub shut: &'static [&'static str],
    key: Vec<&'static str>,
    columns: Vec<ArchivedColumn>,
    belonging: Belonging,
    /// The column with the key of the row to which a row belongs, in the same table.
    branch: Option<&'static str>,
    accounts: Vec<&'static str>,
    /// The columns of text that the service makes of ids.
    composed: Vec<&'static str>,
    blobs: Vec<&'static str>,
    html: Vec<&'static str>,
    folded: Vec<&'static Field>,
    /// The columns that name rows of this site, which must be there before.
    links: Vec<Link>,
    /// The rows above a row, up to the one that names the site.
    above: Vec<Link>,
}

impl ArchivedTable {
    /// Returns the blobs of stored files that a row names.
    pub fn blobs<'a>(&'a self, entry: &'a Entry) -> impl Iterator<Item = &'a str> {
        self.blobs
            .iter()
            .filter_map(|it| entry.get(*it).and_then(Json::as_str))
    }

    /// Returns the internal ids of accounts that a row names.
    pub fn accounts<'a>(&'a self, entry: &'a Entry) -> impl Iterator<Item = &'a str> {
        self.accounts
            .iter()
            .filter_map(|it| entry.get(*it).and_then(Json::as_str))
    }

    /// Returns the key of a row, if it is one column.
    pub fn id<'a>(&self, entry: &'a Entry) -> Option<&'a str> {
        match self.key.as_slice() {
            [only] => entry.get(*only).and_then(Json::as_str),
            _ => None,
        }
    }

    /// Returns the columns with HTML.
    pub fn html(&self) -> &[&'static str] {
        &self.html
    }

    fn declared(prefix: &'static str, declared: &Archived) -> Self {
        let schema = declared.schema.map(|it| it());
        let is_html = |it: &&Field| matches!(it.kind, Kind::Html(_)) && it.sql.is_none();
        let html = schema.map(|it| it.fields.iter().filter(is_html));
        Self {
            prefix,
            name: declared.table,
            shut: declared.shut,
            key: declared.key.to_vec(),
            columns: declared.columns.to_vec(),
            belonging: declared.belonging,
            branch: None,
            accounts: declared.accounts.to_vec(),
            composed: Vec::new(),
            blobs: Vec::new(),
            html: html
                .into_iter()
                .flatten()
                .filter_map(|it| it.column)
                .collect(),
            folded: schema
                .map(|it| folded_fields(it).map(|it| it.0).collect())
                .unwrap_or_default(),
            links: declared
                .belonging
                .link()
                .chain(declared.links.iter().copied())
                .collect(),
            above: Vec::new(),
        }
    }

    /// Returns the tables of a record, if its rows belong to sites.
    fn of(prefix: &'static str, spec: TableSpec, parents: Parents) -> Vec<Self> {
        let parent: Option<Link> = spec.parent.map(|it| (it.column, it.table, it.key));
        let site = spec.site.map(Belonging::Site);
        let Some(belonging) = site.or(parent.map(Belonging::Row)) else {
            return Vec::new();
        };
        let accounts: HashSet<_> = spec.accounts.iter().copied().chain(spec.owner).collect();
        let is_composed = |(name, kind, _): &&ArchivedColumn| {
            let is_known = spec.blobs.contains(name) || accounts.contains(name);
            *kind == ColumnType::Text && !is_known && !spec.written.contains(name)
        };
        let composed = spec.columns.iter().filter(is_composed).map(|it| it.0);
        let own = Self {
            prefix,
            name: spec.name,
            shut: &[],
            key: vec![spec.key],
            columns: spec.columns.to_vec(),
            belonging,
            branch: parent.filter(|it| it.1 == spec.name).map(|it| it.0),
            composed: composed.collect(),
            accounts: accounts.into_iter().collect(),
            blobs: spec.blobs.clone(),
            html: spec.html.to_vec(),
            folded: spec.folded.clone(),
            links: parent.into_iter().collect(),
            above: Vec::new(),
        };
        let groups = spec.groups.map(|groups| {
            let columns = [(groups.key, false), ("group_id", false), ("site_id", true)];
            Self {
                prefix,
                name: groups.table,
                shut: &[],
                key: vec![groups.key, "group_id"],
                columns: columns
                    .map(|(name, is_nullable)| (name, ColumnType::Text, is_nullable))
                    .to_vec(),
                belonging: Belonging::Row((groups.key, spec.name, spec.key)),
                branch: None,
                composed: vec![groups.key],
                accounts: Vec::new(),
                blobs: Vec::new(),
                html: Vec::new(),
                folded: Vec::new(),
                links: std::iter::once((groups.key, spec.name, spec.key))
                    .chain(parents.groups.map(|it| ("group_id", it, "id")))
                    .collect(),
                above: Vec::new(),
            }
        });
        let children = spec.children.into_iter();
        let children = children.flat_map(|it| Self::of(prefix, it, parents));
        std::iter::once(own).chain(groups).chain(children).collect()
    }
}

/// Returns the tables with rows of sites, each behind those that its rows name.
pub fn tables(registry: &Registry, parents: Parents) -> Vec<ArchivedTable> {
    let of_route = |route: &Route| -> Vec<ArchivedTable> {
        match (route.archived, route.table) {
            _ if !route.is_archived => Vec::new(),
            ([], Some(table)) => ArchivedTable::of(route.prefix, table(), parents),
            (declared, _) => {
                let declared = declared.iter();
                declared
                    .map(|it| ArchivedTable::declared(route.prefix, it))
                    .collect()
            }
        }
    };
    let mut left: Vec<_> = registry.routes().flat_map(of_route).collect();
    // All rows belong to the site itself.
    left.sort_by_key(|it| it.belonging != SITE);
    let mut ordered: Vec<ArchivedTable> = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let is_waited_for = |name: &str| left.iter().any(|it| it.name == name);
        let is_ready = |it: &ArchivedTable| {
            let mut links = it.links.iter().filter(|link| link.1 != it.name);
            links.all(|link| !is_waited_for(link.1))
        };
        let ready: Vec<bool> = left.iter().map(is_ready).collect();
        // Tables in a circle come in any order; the database says what is wrong with them.
        let is_circle = !ready.contains(&true);
        let mut later = Vec::new();
        for (mut table, is_ready) in left.into_iter().zip(ready) {
            if !is_ready && !is_circle {
                later.push(table);
            } else if let Belonging::Row(link) = table.belonging {
                // Rows that belong to no row of a site are none of an archive.
                if let Some(parent) = ordered.iter().find(|it| it.name == link.1) {
                    table.above = std::iter::once(link).chain(parent.above.clone()).collect();
                    table.belonging = parent.belonging;
                    ordered.push(table);
                }
            } else {
                ordered.push(table);
            }
        }
        left = later;
    }
    let names: HashSet<_> = ordered.iter().map(|it| it.name).collect();
    for table in &mut ordered {
        table.links.retain(|it| names.contains(it.1));
    }
    ordered
}
