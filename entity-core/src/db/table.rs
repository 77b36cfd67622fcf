//! The definition of a table that the service creates and extends.

use sea_orm::DbBackend;
use sea_orm::sea_query::{
    Alias, ColumnDef, ForeignKey, ForeignKeyAction, ForeignKeyCreateStatement, Index,
    IndexCreateStatement, Table as SqlTable, TableCreateStatement,
};

use super::folded::folded_fields;
use crate::db::record::constants::Declared as _;
use crate::db::record::definition::Record;
use crate::db::record::from::trial;
use crate::model::schema::Role;
use crate::model::table::{ColumnType, MADE_BY, Parent, TableSpec, index_name};

fn conditions<T: Record>() -> Vec<String> {
    let sights = T::CONSTANTS.sights();
    let texts = sights.flat_map(|it| it.conditions());
    let only = T::NO_OVERLAP.map(|it| it.only.trim_start_matches(" AND "));
    let only = only.filter(|it| !it.is_empty());
    let all = texts.chain(only);
    all.map(|it| format!("CASE WHEN {it} THEN 1 ELSE 0 END"))
        .collect()
}

/// The tables to which the rows of all types belong: they go with their site, and rows about a group with the group.
#[derive(Clone, Copy, Debug, Default)]
pub struct Parents {
    /// The table of the sites, whose key is `id`.
    pub sites: Option<&'static str>,
    /// The table of the groups, whose key is `id`.
    pub groups: Option<&'static str>,
}

impl TableSpec {
    /// Returns the definition of the table of `T`.
    pub fn of<T: Record>() -> Self {
        let column = |role| T::schema().role(role).and_then(|it| it.column);
        Self {
            name: T::TABLE,
            columns: T::COLUMNS,
            renamed: T::RENAMED,
            unique: T::UNIQUE,
            no_overlap: T::NO_OVERLAP,
            dropped: T::DROPPED,
            folded: folded_fields(T::schema()).map(|it| it.0).collect(),
            key: T::KEY,
            blobs: T::BLOBS.iter().filter(|it| it.1).map(|it| it.0).collect(),
            written: T::WRITTEN,
            html: T::HTML,
            accounts: T::ACCOUNTS,
            persons: T::PERSONS,
            groups: T::GROUPS,
            parent: T::PARENT,
            position: T::POSITION,
            children: T::child_tables(),
            expressions: T::select(),
            conditions: conditions::<T>(),
            trial: trial::<T>,
            site: column(Role::Site),
            owner: T::OWNER,
            maker_pays: T::MAKER_PAYS,
        }
    }

    /// Returns the statement that creates the table if it does not exist. Rows go with what they belong to.
    pub fn create_statement(&self, backend: DbBackend, parents: Parents) -> TableCreateStatement {
        let mut statement = SqlTable::create();
        statement.table(Alias::new(self.name)).if_not_exists();
        for (name, kind, is_nullable) in self.columns {
            if *name == self.key {
                statement.col(definition(name, *kind, *is_nullable, backend).primary_key());
            } else {
                statement.col(with_default(name, *kind, *is_nullable, backend));
            }
        }
        for name in self.further_columns() {
            statement.col(definition(&name, ColumnType::Text, true, backend));
        }
        if let (Some(site), Some(sites)) = (self.site, parents.sites) {
            statement.foreign_key(&mut belonging(self.name, site, sites, "id"));
        }
        if let Some(Parent {
            column, table, key, ..
        }) = self.parent
        {
            statement.foreign_key(&mut belonging(self.name, column, table, key));
        }
        statement
    }

    /// Returns the statement that creates the table of the groups that rows are for, if the type has groups and the
    /// table does not exist.
    pub fn groups_statement(
        &self,
        backend: DbBackend,
        parents: Parents,
    ) -> Option<TableCreateStatement> {
        let groups = self.groups?;
        let mut statement = SqlTable::create();
        statement.table(Alias::new(groups.table)).if_not_exists();
        for (name, is_nullable) in [(groups.key, false), ("group_id", false), ("site_id", true)] {
            statement.col(definition(name, ColumnType::Text, is_nullable, backend));
        }
        let mut key = Index::create();
        key.col(Alias::new(groups.key)).col(Alias::new("group_id"));
        statement.primary_key(&mut key);
        statement.foreign_key(&mut belonging(
            groups.table,
            groups.key,
            self.name,
            self.key,
        ));
        if let Some(parent) = parents.groups {
            statement.foreign_key(&mut belonging(groups.table, "group_id", parent, "id"));
        }
        Some(statement)
    }

    /// Returns the definition of the column `name`, which the struct gained after the table was created, or `None` if
    /// the table has no such column. Existing rows get null or the empty value of the type.
    pub fn added_column(&self, name: &str, backend: DbBackend) -> Option<ColumnDef> {
        if self.further_columns().any(|it| it == name) {
            return Some(definition(name, ColumnType::Text, true, backend));
        }
        let (name, kind, is_nullable) = self.columns.iter().find(|it| it.0 == name)?;
        Some(with_default(name, *kind, *is_nullable, backend))
    }

    /// Returns the names of the columns with folded text.
    pub fn folded_columns(&self) -> impl Iterator<Item = String> {
        self.folded.iter().filter_map(|it| it.folded_column())
    }

    /// Returns the names of the columns that are no fields: those with folded text, and [`MADE_BY`].
    pub fn further_columns(&self) -> impl Iterator<Item = String> {
        let maker = self.maker_pays.then(|| MADE_BY.to_owned());
        self.folded_columns().chain(maker)
    }

    /// Returns the unique indexes: the name of each, and the statement that creates it.
    pub fn unique_indexes(&self) -> impl Iterator<Item = (String, IndexCreateStatement)> {
        self.unique.iter().map(|it| {
            let name = it.index_name(self.name);
            let mut statement = Index::create();
            statement.name(&*name).table(Alias::new(self.name));
            if let (true, Some(site)) = (it.is_within_site, self.site) {
                statement.col(Alias::new(site));
            }
            statement
                .col(Alias::new(it.column))
                .unique()
                .if_not_exists();
            (name, statement)
        })
    }

    /// Returns the names that a unique index for `column` may have.
    pub fn unique_index_names(&self, column: &str) -> [String; 2] {
        [false, true].map(|is_within_site| index_name(self.name, column, is_within_site))
    }

    /// Returns the indexes for the lists of a site, for what belongs to a parent, for the rows that name a stored file, and
    /// for those of which no two are at once: the name of each, and the statement that creates it.
    pub fn indexes(&self) -> impl Iterator<Item = (String, IndexCreateStatement)> {
        let of_site = self.site.map(|it| ("by_site".to_owned(), it));
        let of_parent = self.parent.map(|it| ("by_parent".to_owned(), it.column));
        let of_blobs = self.blobs.iter().map(|it| (format!("by_{it}"), *it));
        let of_times = self.no_overlap.and_then(|it| it.same.first());
        let of_times = of_times.map(|it| (format!("times_by_{it}"), *it));
        let all = of_site.into_iter().chain(of_parent).chain(of_blobs);
        let all = all.chain(of_times);
        all.map(|(name, column)| {
            let name = format!("{}_{name}", self.name);
            let mut statement = Index::create();
            statement
                .name(&*name)
                .table(Alias::new(self.name))
                .col(Alias::new(column))
                .col(Alias::new(self.key))
                .if_not_exists();
            (name, statement)
        })
    }

    /// Returns this table and, behind it, those of its children and of theirs.
    pub fn with_children(mut self) -> Vec<Self> {
        let children = std::mem::take(&mut self.children);
        let children = children.into_iter().flat_map(Self::with_children);
        std::iter::once(self).chain(children).collect()
    }
}

/// Returns the reference by which the rows of `table` go with the row of `parent` that `column` names.
fn belonging(table: &str, column: &str, parent: &str, key: &str) -> ForeignKeyCreateStatement {
    ForeignKey::create()
        .from(Alias::new(table), Alias::new(column))
        .to(Alias::new(parent), Alias::new(key))
        .on_delete(ForeignKeyAction::Cascade)
        .to_owned()
}

/// Returns the definition of a column that has the empty value of its type where none is written: a former version of
/// the type, which lacks the field, can still write rows.
fn with_default(name: &str, kind: ColumnType, is_nullable: bool, backend: DbBackend) -> ColumnDef {
    let mut column = definition(name, kind, is_nullable, backend);
    match kind {
        _ if is_nullable => {}
        ColumnType::Text => drop(column.default("")),
        ColumnType::Integer => drop(column.default(0)),
        ColumnType::Number => drop(column.default(0.0)),
        ColumnType::Boolean => drop(column.default(false)),
    }
    column
}

fn definition(name: &str, kind: ColumnType, is_nullable: bool, backend: DbBackend) -> ColumnDef {
    let mut column = ColumnDef::new(Alias::new(name));
    match (kind, backend) {
        // The same order of text on every machine and on both databases.
        (ColumnType::Text, DbBackend::Postgres) => column.custom(Alias::new(r#"text COLLATE "C""#)),
        (ColumnType::Text, _) => column.text(),
        (ColumnType::Integer, _) => column.big_integer(),
        (ColumnType::Number, _) => column.double(),
        (ColumnType::Boolean, _) => column.boolean(),
    };
    if !is_nullable {
        column.not_null();
    }
    column
}
