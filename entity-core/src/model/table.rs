//! The definition of a table, as a type declares it.

use super::schema::{Field, Schema};

/// The declared type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// Text, compared byte by byte on both databases.
    Text,
    /// A 64-bit integer; also an instant, in milliseconds since 1970.
    Integer,
    /// A 64-bit floating point number.
    Number,
    /// A boolean.
    Boolean,
}

/// A column in which no two rows have the same value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unique {
    /// The column.
    pub column: &'static str,
    /// The field, as clients name it.
    pub field: &'static str,
    /// True if rows of different sites may have the same value.
    pub is_within_site: bool,
}

impl Unique {
    /// Returns the name of the index of `table` that refuses equal values.
    pub fn index_name(&self, table: &str) -> String {
        index_name(table, self.column, self.is_within_site)
    }

    /// Returns whether the text of a database error is about this column of `table`: PostgreSQL names the index, and
    /// SQLite the columns, of which this is the last.
    pub(crate) fn is_violated(&self, table: &str, error: &str) -> bool {
        let column = format!("{table}.{}", self.column);
        error.contains(&self.index_name(table)) || error.ends_with(&column)
    }
}

/// A time of rows that must not overlap: at each instant there is at most one of the rows that agree in some columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoOverlap {
    /// The columns in which rows agree that must not overlap, such as that with the thing that is lent. Rows that have
    /// null there overlap with nothing.
    pub same: &'static [&'static str],
    /// The column with the instant at which the time begins.
    pub start: &'static str,
    /// The column with the instant at which it is over, which is not part of it; null if it never is.
    pub end: &'static str,
    /// The condition on a row, in SQL, with which it counts; without one, every row does.
    pub only: &'static str,
    /// The message for the entity that is refused.
    pub message: &'static str,
}

pub(crate) fn index_name(table: &str, column: &str, is_within_site: bool) -> String {
    let end = if is_within_site { "in_site" } else { "unique" };
    format!("{table}_{column}_{end}")
}

/// The column with the internal id of the account that made a row, in the tables of types whose entities count for their
/// maker. It is null where no account made the row, and is no field.
pub const MADE_BY: &str = "made_by";

/// The definition of a table.
#[derive(Clone, Debug)]
pub struct TableSpec {
    /// The name of the table.
    pub name: &'static str,
    /// The columns of the table: name, type, and whether the column may be null.
    pub columns: &'static [(&'static str, ColumnType, bool)],
    /// The columns that were renamed: the former name and the present one.
    pub renamed: &'static [(&'static str, &'static str)],
    /// The columns in which no two rows, or no two rows of a site, have the same value.
    pub unique: &'static [Unique],
    /// The time of rows that must not overlap, if there is one.
    pub no_overlap: Option<NoOverlap>,
    /// The columns that a former version of the type had, and that the service removes.
    pub dropped: &'static [&'static str],
    /// The fields whose text is also stored folded, in a column of its own.
    pub folded: Vec<&'static Field>,
    /// The column that is the primary key.
    pub key: &'static str,
    /// The column with the id of the site, by which lists are filtered most often.
    pub site: Option<&'static str>,
    /// The column with the internal id of the account that a row belongs to.
    pub owner: Option<&'static str>,
    /// True if a row counts for the account that made it, whose internal id is in the column [`MADE_BY`].
    pub maker_pays: bool,
    /// The columns with the blobs of stored files.
    pub blobs: Vec<&'static str>,
    /// The columns of text that clients write.
    pub written: &'static [&'static str],
    /// The columns with HTML.
    pub html: &'static [&'static str],
    /// The columns with the internal id of an account.
    pub accounts: &'static [&'static str],
    /// The columns with the internal id of the account with which a row is deleted.
    pub persons: &'static [&'static str],
    /// The table that says for which groups a row is, if the type has one.
    pub groups: Option<GroupTable>,
    /// The reference to the row that a row belongs to, if the type has a parent.
    pub parent: Option<Parent>,
    /// The column with the place of a row.
    pub position: Option<&'static str>,
    /// The tables of the type's children.
    pub children: Vec<TableSpec>,
    /// The expressions that are read of a row.
    pub expressions: &'static [&'static str],
    /// The conditions in the rules about who sees a row and its fields, and about which rows count where no two are at once.
    pub conditions: Vec<String>,
    /// The statement that reads such expressions of no row at all.
    pub trial: fn(sea_orm::DbBackend, &[&str]) -> sea_orm::Statement,
}

/// The reference of a row to the row that it belongs to, and with which it is deleted.
#[derive(Clone, Copy, Debug)]
pub struct Parent {
    /// The column with the key of the parent.
    pub column: &'static str,
    /// The table of the parent.
    pub table: &'static str,
    /// The key of that table.
    pub key: &'static str,
    /// The column of that table with the internal id of the account to which the parent belongs, if there is one.
    pub owner: Option<&'static str>,
    /// The table that says for which groups the parent is, if its type has groups.
    pub groups: Option<GroupTable>,
    /// The schema of the parent.
    pub schema: fn() -> &'static Schema,
    /// True if a row may have no parent.
    pub is_optional: bool,
    /// True if every statement about a row joins that of the parent, under the name `parent`.
    pub is_joined: bool,
}

/// The table that says for which groups the rows of another table are. It has a row for each group of each entity, with
/// the entity's key, the `group_id`, and the `site_id` of the entity's site. The entity's own table has the column
/// [`MARK`](Self::MARK).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupTable {
    /// The name of the table.
    pub table: &'static str,
    /// The column with the entity's key.
    pub key: &'static str,
}

impl GroupTable {
    /// The column of the entity's own table that says whether the entity is for some groups only.
    pub const MARK: &'static str = "is_restricted";
}
