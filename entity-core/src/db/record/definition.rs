//! The definition of a record: the trait that the derive writes.

use std::future::{Future, ready};

use sea_orm::Value;

use crate::DateTimeUtc;
use crate::contract::context::Context;
use crate::contract::input::Fields;
use crate::db::row::Row;
use crate::db::rule::RedactedField;
use crate::db::rule::{PolicyInputs, RowPolicy};
use crate::model::entity::Entity;
use crate::model::table::TableSpec;
use crate::model::table::{ColumnType, GroupTable, NoOverlap, Parent, Unique};
use crate::primitives::error::Result;

/// The name of the record's own row in every statement about a record.
pub const THIS: &str = "this";

/// The name of the row of the parent in every statement about a record that has one.
pub(crate) const PARENT: &str = "parent";

/// An entity that is stored as a row of a table. `#[derive(Entity)]` implements this trait.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not stored in a table",
    note = "derive `Entity` with `#[entity(table = \"…\")]`"
)]
pub trait Record: Entity + Clone {
    /// The table as an entity of sea-orm, in which queries and conditions are written.
    type Table: sea_orm::EntityTrait<PrimaryKey: Default>;

    /// The name of the table.
    const TABLE: &'static str;

    /// The columns, in the order of [`values`](Self::values): name, type, and whether the column may be null.
    const COLUMNS: &'static [(&'static str, ColumnType, bool)];

    /// The columns that were renamed: the former name and the present one.
    const RENAMED: &'static [(&'static str, &'static str)] = &[];

    /// The columns in which no two rows, or no two rows of a site, have the same value.
    const UNIQUE: &'static [Unique] = &[];

    /// The time of rows that must not overlap, if the type has `no_overlap(…)`.
    const NO_OVERLAP: Option<NoOverlap> = None;

    /// The prefix of the type and the field with the deadline that the calendar of the site shows, if it has `deadline = …`.
    const DEADLINE: Option<(&'static str, &'static str)> = None;

    /// The columns that the type had in a former version, and that the service removes.
    const DROPPED: &'static [&'static str] = &[];

    /// The columns, each with whether it holds [blobs](crate::blob::Blob).
    const BLOBS: &'static [(&'static str, bool)] = &[];

    /// The columns of text that clients write: their bytes count towards the usage of accounts and sites.
    const WRITTEN: &'static [&'static str];

    /// The columns with HTML.
    const HTML: &'static [&'static str] = &[];

    /// The columns with the internal id of an account: those of the fields that refer to the type `user`.
    const ACCOUNTS: &'static [&'static str] = &[];

    /// The columns with the internal id of the account that the entity is about: the fields declared as `person`. The
    /// entity is deleted with the account.
    const PERSONS: &'static [&'static str] = &[];

    /// The column that is the primary key.
    const KEY: &'static str;

    /// The column with the internal id of the account to which the entity belongs, if the type has a field declared as
    /// `owner`.
    const OWNER: Option<&'static str>;

    /// True if an entity counts for the account that made it: for types whose entities belong to nobody. The account is
    /// noted in the column [`MADE_BY`](crate::db::MADE_BY).
    const MAKER_PAYS: bool = false;

    /// The message when the value of a field that is declared as `unique` is taken.
    const TAKEN: Option<&'static str>;

    /// The column that counts the changes, if the type has a field declared as `version`.
    const VERSION: Option<&'static str>;

    /// The query whose rows the record reads in the place of a table, if the type has `source = …`. It is read only.
    const SOURCE: Option<&'static str> = None;

    /// The tables that are joined to the own one: ` JOIN … ON …`, or nothing.
    const JOINS: &'static str;

    /// True if an entity has fields that are read from expressions or computed.
    const IS_DERIVED: bool;

    /// The rule about who sees an entity, if there is one besides the permission to read the type.
    const SIGHT: Option<RowPolicy>;

    /// The fields that some callers do not see.
    const REDACTED: &'static [RedactedField];

    /// The table that says for which groups an entity is, if the type has a field declared as `groups`.
    const GROUPS: Option<GroupTable>;

    /// The field declared as `groups`, as clients name it.
    const GROUPS_FIELD: &'static str;

    /// The column with the entity's place among those of its site, if the type has a field declared as `position`.
    const POSITION: Option<&'static str>;

    /// The reference to the row that an entity belongs to, if the type has a field declared as `parent`.
    const PARENT: Option<Parent> = None;

    /// Returns the expressions that [`from_row`](Self::from_row) reads. The own row is called `this`.
    fn select() -> &'static [&'static str];

    /// Reads an entity from a row with the expressions of [`select`](Self::select).
    ///
    /// # Errors
    /// Returns an error if the row is not one of this type.
    fn from_row(cx: &Context, row: &mut Row<'_>) -> Result<Self>;

    /// Makes a new entity of the fields that a client sent. A field that was not sent has the default value of its
    /// type; the id, the owner, the dates and the version are set where the struct has them.
    ///
    /// # Errors
    /// Returns an error that names the field if a value can't be stored.
    fn make(cx: &Context, fields: Fields) -> Result<Self>;

    /// Changes the fields that a client sent. Null empties a field: it gets the default value of its type.
    ///
    /// # Errors
    /// Returns an error that names the field if a value can't be stored.
    fn change(&mut self, cx: &Context, fields: Fields) -> Result<()>;

    /// Returns the values of the columns, in the order of [`COLUMNS`](Self::COLUMNS).
    fn values(&self) -> Vec<Value>;

    /// Returns the value of the primary key.
    fn key(&self) -> &str;

    /// Returns the primary key of the entity with the id that clients see.
    fn key_of(id: &str) -> &str {
        id
    }

    /// Sets the fields that follow from the stored ones: an id that is composed of several fields, and the fields with
    /// `computed = …`.
    fn compute(&mut self, _cx: &Context) {}

    /// Empties this field, because the caller does not see it.
    fn redact(&mut self, _field: &str) {}

    /// Returns the answers to the questions of the rule about who sees the entity.
    fn facts(&self) -> PolicyInputs {
        PolicyInputs::default()
    }

    /// Sets these answers.
    fn set_facts(&mut self, _facts: PolicyInputs) {}

    /// Returns the groups that the entity is for.
    fn groups(&self) -> &[String] {
        &[]
    }

    /// Sets the groups that the entity is for.
    fn set_groups(&mut self, _groups: Vec<String>) {}

    /// Sets the entity's place among those of its site, or among those of its parent.
    fn set_position(&mut self, _position: i64) {}

    /// Returns the key of the row that the entity belongs to, if the type has a field declared as `parent`.
    fn parent(&self) -> Option<&str> {
        None
    }

    /// Sets the key of the row that the entity belongs to.
    fn set_parent(&mut self, _key: &str) {}

    /// Returns the definitions of the tables of the fields declared as `children`.
    fn child_tables() -> Vec<TableSpec> {
        Vec::new()
    }

    /// Returns the size of all children in bytes, which is stored in the entity's row.
    fn children_size(&self) -> i64 {
        0
    }

    /// Lets the children belong to this entity, in the order in which they stand.
    fn arrange_children(&mut self) {}

    /// Reads the children of `records`.
    fn read_children(
        _cx: &Context,
        _records: &mut [Self],
    ) -> impl Future<Output = Result<()>> + Send {
        ready(Ok(()))
    }

    /// Stores the children in the place of those of the `former` state, if there is one.
    fn store_children(
        &self,
        _cx: &Context,
        _former: Option<&Self>,
    ) -> impl Future<Output = Result<()>> + Send {
        ready(Ok(()))
    }

    /// Marks the entity as changed at the present instant, in the fields declared as `updated` and `version`.
    fn touch(&mut self, _cx: &Context) {}

    /// Checks a new entity, or a changed one against its state `before`, and sets the fields that follow from others,
    /// before it is written: the functions that `#[entity(check = …)]` and `#[entity(settle = …)]` name.
    ///
    /// # Errors
    /// Returns an error if the entity contradicts itself or existing data.
    fn settle(
        &mut self,
        _cx: &Context,
        _before: Option<&Self>,
    ) -> impl Future<Output = Result<()>> + Send {
        ready(Ok(()))
    }

    /// Returns the deadline that the calendar of the site shows.
    fn deadline(&self) -> Option<DateTimeUtc> {
        None
    }

    /// Does what belongs to the deletion of the entity, before its row is deleted: the function that
    /// `#[entity(removed = …)]` names. It is not called for entities that are deleted with their site, their parent or their
    /// account.
    ///
    /// # Errors
    /// Returns an error if the entity can't be deleted.
    fn removed(&self, _cx: &Context) -> impl Future<Output = Result<()>> + Send {
        ready(Ok(()))
    }

    /// Sets the computed fields of entities that one statement has read: the function that `#[entity(complete = …)]`
    /// names.
    ///
    /// # Errors
    /// Returns an error if a field can't be computed.
    fn complete(_cx: &Context, _records: &mut [Self]) -> impl Future<Output = Result<()>> + Send {
        ready(Ok(()))
    }

    /// Returns whether what clients see of an entity differs from what was written: because of expressions, fields that
    /// `complete` sets, groups or rules about who sees it. It is then read again after a write.
    fn is_read_back() -> bool {
        let has_questions = Self::REDACTED.iter().any(|it| it.sight.has_questions());
        Self::IS_DERIVED || Self::GROUPS.is_some() || Self::SIGHT.is_some() || has_questions
    }
}
