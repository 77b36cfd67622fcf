//! The tables that are part of the archive of a site, as types declare them.

use super::schema::Schema;
use super::table::ColumnType;

/// A column: its name, its type, and whether it may be null.
pub type ArchivedColumn = (&'static str, ColumnType, bool);

/// A table that a type declares as part of the archive of a site.
#[derive(Clone, Copy, Debug)]
pub struct Archived {
    /// The name of the table.
    pub table: &'static str,
    /// The columns of the primary key.
    pub key: &'static [&'static str],
    /// The columns, without those of folded text, which are made anew.
    pub columns: &'static [ArchivedColumn],
    /// The way to find the site to which a row belongs.
    pub belonging: Belonging,
    /// The columns with the internal id of an account.
    pub accounts: &'static [&'static str],
    /// The columns of truth that are false until all of an archive is written: those that let people in.
    pub shut: &'static [&'static str],
    /// The columns that name rows of other tables of the archive.
    pub links: &'static [Link],
    /// The schema of the columns with HTML and with folded text, if there are any.
    pub schema: Option<fn() -> &'static Schema>,
}

/// A column that names a row: the column, the table of that row, and the key of that table.
pub type Link = (&'static str, &'static str, &'static str);

impl Archived {
    /// Declares that the rows of `table` with these `columns` are part of an archive: those whose column `site_id` has
    /// the site. Their key is the column `id`.
    pub const fn new(table: &'static str, columns: &'static [ArchivedColumn]) -> Self {
        Self {
            table,
            key: &["id"],
            columns,
            belonging: Belonging::Site("site_id"),
            accounts: &[],
            shut: &[],
            links: &[],
            schema: None,
        }
    }
}

/// The way to find the site to which a row belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Belonging {
    /// This column has the id of the site.
    Site(&'static str),
    /// This column has this text and, behind it, the id of the site.
    Path(&'static str, &'static str),
    /// The row belongs to the same site as the one that it names.
    Row(Link),
}
