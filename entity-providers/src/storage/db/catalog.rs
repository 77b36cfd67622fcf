//! The columns, indexes and triggers of the tables, as the database itself tells them.

use std::collections::{BTreeMap, BTreeSet};

use entity_core::db::ColumnType;
use sea_orm::{ConnectionTrait, DbBackend, DbErr, QueryResult, Statement};

/// The tables of the database, by their names.
#[derive(Debug, Default)]
pub(super) struct Catalog(BTreeMap<String, PresentTable>);

/// A table as the database has it; empty if there is none.
#[derive(Debug, Default)]
pub(super) struct PresentTable {
    pub(super) columns: BTreeMap<String, PresentColumn>,
    /// Names.
    pub(super) indexes: BTreeSet<String>,
    /// Names.
    pub(super) triggers: BTreeSet<String>,
}

/// A column as the database has it.
#[derive(Clone, Debug)]
pub(super) struct PresentColumn {
    /// The type, if it is one that fields have.
    pub(super) kind: Option<ColumnType>,
    pub(super) is_nullable: bool,
    pub(super) has_default: bool,
}

/// The stand-in for a table that is not there.
static NO_TABLE: PresentTable = PresentTable {
    columns: BTreeMap::new(),
    indexes: BTreeSet::new(),
    triggers: BTreeSet::new(),
};

impl Catalog {
    /// Reads what all tables have, in as many statements as for one.
    pub(super) async fn read(connection: &impl ConnectionTrait) -> Result<Self, DbErr> {
        let mut catalog = Self::default();
        catalog.add(connection, None).await?;
        Ok(catalog)
    }

    /// Reads what `table` has by now.
    pub(super) async fn read_again(
        &mut self,
        connection: &impl ConnectionTrait,
        table: &str,
    ) -> Result<(), DbErr> {
        self.0.remove(table);
        self.add(connection, Some(table)).await
    }

    /// Returns the present state of `table`.
    pub(super) fn table(&self, table: &str) -> &PresentTable {
        self.0.get(table).unwrap_or(&NO_TABLE)
    }

    /// The columns of `table`; none if there is no such table.
    pub(super) fn columns(&self, table: &str) -> &BTreeMap<String, PresentColumn> {
        &self.table(table).columns
    }

    async fn add(
        &mut self,
        connection: &impl ConnectionTrait,
        table: Option<&str>,
    ) -> Result<(), DbErr> {
        let [columns, indexes, triggers] = questions(connection);
        for row in ask(connection, columns, table).await? {
            let column = column_of(&row)?;
            let of_table = self.0.entry(row.try_get("", "of_table")?).or_default();
            of_table.columns.insert(row.try_get("", "name")?, column);
        }
        for row in ask(connection, indexes, table).await? {
            let of_table = self.0.entry(row.try_get("", "of_table")?).or_default();
            of_table.indexes.insert(row.try_get("", "name")?);
        }
        for row in ask(connection, triggers, table).await? {
            let of_table = self.0.entry(row.try_get("", "of_table")?).or_default();
            of_table.triggers.insert(row.try_get("", "name")?);
        }
        Ok(())
    }
}

/// A question to the catalog, and the condition that makes it one about a single table.
type Question = (&'static str, &'static str);

/// Asks for columns, indexes and triggers.
const POSTGRES: [Question; 3] = [
    (
        "SELECT c.relname::text AS of_table, a.attname::text AS name, format_type(a.atttypid, NULL) AS type,
            NOT a.attnotnull AS is_nullable, a.atthasdef AS has_default
            FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
            WHERE c.relkind IN ('r', 'p', 'v') AND a.attnum > 0 AND NOT a.attisdropped
            AND c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())",
        " AND c.relname = $1",
    ),
    (
        "SELECT tablename::text AS of_table, indexname::text AS name FROM pg_indexes
            WHERE schemaname = current_schema()",
        " AND tablename = $1",
    ),
    (
        "SELECT c.relname::text AS of_table, t.tgname::text AS name
            FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid WHERE NOT t.tgisinternal
            AND c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())",
        " AND c.relname = $1",
    ),
];

/// Asks for columns, indexes and triggers.
const SQLITE: [Question; 3] = [
    (
        "SELECT t.name AS of_table, c.name AS name, lower(c.type) AS type, c.\"notnull\" = 0 AS is_nullable,
            c.dflt_value IS NOT NULL AS has_default
            FROM sqlite_master t JOIN pragma_table_info(t.name) c WHERE t.type IN ('table', 'view')",
        " AND t.name = ?",
    ),
    (
        "SELECT tbl_name AS of_table, name FROM sqlite_master WHERE type = 'index'",
        " AND tbl_name = ?",
    ),
    (
        "SELECT tbl_name AS of_table, name FROM sqlite_master WHERE type = 'trigger'",
        " AND tbl_name = ?",
    ),
];

/// Returns how this kind of database is asked for columns, indexes and triggers.
fn questions(connection: &impl ConnectionTrait) -> [Question; 3] {
    match connection.get_database_backend() {
        DbBackend::Postgres => POSTGRES,
        _ => SQLITE,
    }
}

async fn ask(
    connection: &impl ConnectionTrait,
    (all, of_one): Question,
    table: Option<&str>,
) -> Result<Vec<QueryResult>, DbErr> {
    let backend = connection.get_database_backend();
    let statement = match table {
        Some(table) => {
            let sql = format!("{all}{of_one}");
            Statement::from_sql_and_values(backend, sql, [table.into()])
        }
        None => Statement::from_string(backend, all),
    };
    connection.query_all_raw(statement).await
}

fn column_of(row: &QueryResult) -> Result<PresentColumn, DbErr> {
    let kind: String = row.try_get("", "type")?;
    Ok(PresentColumn {
        kind: kind_of(&kind),
        is_nullable: row.try_get("", "is_nullable")?,
        has_default: row.try_get("", "has_default")?,
    })
}

/// Returns the type that a database calls `name`, if it is one that fields have.
fn kind_of(name: &str) -> Option<ColumnType> {
    let is = |part: &str| name.contains(part);
    if is("int") {
        Some(ColumnType::Integer)
    } else if is("text") || is("char") {
        Some(ColumnType::Text)
    } else if is("double") || is("real") || is("float") {
        Some(ColumnType::Number)
    } else if is("bool") {
        Some(ColumnType::Boolean)
    } else {
        None
    }
}

/// Returns whether there is a table of this name.
pub(super) async fn has_table(
    connection: &impl ConnectionTrait,
    table: &str,
) -> Result<bool, DbErr> {
    let [columns, ..] = questions(connection);
    Ok(!ask(connection, columns, Some(table)).await?.is_empty())
}
