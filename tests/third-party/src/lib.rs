//! Books on the shelf of a site: a type of entity with a table, search, forms and feeds.

mod appointment;
mod loan;
mod outline;
mod scan;

use entity_core::{DateTimeUtc, Entity};
use serde::{Deserialize, Serialize};

/// A book that the members of a site share.
#[derive(Clone, Debug, Serialize, Deserialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(prefix = "book", table = "book", access = Site("book"), verbs(read, list, create, update, delete))]
pub struct Book {
    #[entity(id)]
    book_id: String,
    #[entity(site)]
    site_id: String,
    #[entity(title, search, required)]
    title: String,
    #[entity(updated)]
    modified: DateTimeUtc,
}
entity_core::register!(Book);

#[cfg(test)]
lectern_testing::conformance!(Book);
