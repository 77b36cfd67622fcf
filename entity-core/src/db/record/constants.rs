//! The constants of a record as data: so that a function that needs no more of a type is compiled once for all of them.

use super::any::Rows;
use super::definition::Record;
use crate::db::rule::{RedactedField, RowPolicy};
use crate::model::schema::Schema;
use crate::model::table::{ColumnType, GroupTable, NoOverlap, Parent, Unique};

/// The constants of a [`Record`] under the names that it has for them, and the functions that return such.
#[derive(Debug)]
pub(crate) struct Constants {
    pub(crate) table: &'static str,
    pub(crate) source: Option<&'static str>,
    pub(crate) key: &'static str,
    pub(crate) columns: &'static [(&'static str, ColumnType, bool)],
    pub(crate) written: &'static [&'static str],
    pub(crate) html: &'static [&'static str],
    pub(crate) unique: &'static [Unique],
    pub(crate) no_overlap: Option<NoOverlap>,
    pub(crate) deadline: Option<(&'static str, &'static str)>,
    pub(crate) taken: Option<&'static str>,
    pub(crate) owner: Option<&'static str>,
    pub(crate) maker_pays: bool,
    pub(crate) version: Option<&'static str>,
    pub(crate) joins: &'static str,
    pub(crate) sight: Option<RowPolicy>,
    pub(crate) redacted: &'static [RedactedField],
    pub(crate) groups: Option<GroupTable>,
    pub(crate) groups_field: &'static str,
    pub(crate) position: Option<&'static str>,
    pub(crate) parent: Option<Parent>,
    pub(crate) schema: fn() -> &'static Schema,
    pub(crate) select: fn() -> &'static [&'static str],
    pub(crate) is_read_back: fn() -> bool,
    /// Returns an empty list of records of the type.
    pub(crate) rows: fn() -> Box<dyn Rows>,
}

/// The [`Constants`] of a record.
pub(crate) trait Declared: Record {
    const CONSTANTS: &'static Constants = &Constants {
        table: Self::TABLE,
        source: Self::SOURCE,
        key: Self::KEY,
        columns: Self::COLUMNS,
        written: Self::WRITTEN,
        html: Self::HTML,
        unique: Self::UNIQUE,
        no_overlap: Self::NO_OVERLAP,
        deadline: Self::DEADLINE,
        taken: Self::TAKEN,
        owner: Self::OWNER,
        maker_pays: Self::MAKER_PAYS,
        version: Self::VERSION,
        joins: Self::JOINS,
        sight: Self::SIGHT,
        redacted: Self::REDACTED,
        groups: Self::GROUPS,
        groups_field: Self::GROUPS_FIELD,
        position: Self::POSITION,
        parent: Self::PARENT,
        schema: Self::schema,
        select: Self::select,
        is_read_back: Self::is_read_back,
        rows: || Box::new(Vec::<Self>::new()),
    };
}

impl<T: Record> Declared for T {}

impl Constants {
    pub(crate) fn schema(&self) -> &'static Schema {
        (self.schema)()
    }

    /// Returns the rules: the one about entities comes first.
    pub(in crate::db) fn sights(&self) -> impl Iterator<Item = RowPolicy> + use<> {
        let of_fields = self.redacted.iter().map(|it| it.sight);
        self.sight.into_iter().chain(of_fields)
    }
}
