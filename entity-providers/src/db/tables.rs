//! The tables that the service makes for the registered types, and the migrations that types declare.

use std::collections::{BTreeMap, HashSet};

use entity_core::db::{ColumnType, Db, Parents, TableSpec};
use entity_core::schema::Field;
use entity_core::{Error, ErrorKind, Registry, Result, Route};
use sea_orm::sea_query::{Alias, Table};
use sea_orm::{ConnectionTrait, DatabaseTransaction, DbBackend, DbErr, Statement};

use super::backlog::{self, Task};
use super::migrate::{begin_alone, names};
use super::type_migrations;
use super::usage::trigger_names;

/// The tables to which the rows of other types belong.
const PARENTS: Parents = Parents {
    sites: Some("site"),
    groups: Some("site_group"),
};

/// Brings the tables of the registered types up to date: creates the missing ones, adds, renames and removes columns as
/// the types declare, and runs the migrations that the types declare.
///
/// # Errors
/// Returns an error if a type claims a table of the service, if a table does not fit its type and data would be lost or
/// hidden, or if the database refuses a statement.
pub async fn ensure_tables(db: &Db, registry: &Registry) -> Result<()> {
    let (transaction, watch) = begin_alone(db).await?;
    let work = async {
        for (route, spec) in managed(registry) {
            refuse_claimed(&transaction, route, &spec).await?;
            ensure_table(&transaction, route, &spec).await?;
        }
        type_migrations::run(&transaction, registry).await
    };
    watch.over(work).await?;
    transaction.commit().await?;
    backlog::work_off(db).await
}

/// Returns what [`ensure_tables`] would add, rename or remove, by name.
pub(super) async fn lacks(
    transaction: &DatabaseTransaction,
    registry: &Registry,
) -> Result<Vec<String>> {
    let mut lacks = Vec::new();
    for (route, spec) in managed(registry) {
        refuse_claimed(transaction, route, &spec).await?;
        let steps = steps(transaction, route, &spec).await?;
        lacks.extend(steps.into_iter().map(|it| it.name));
    }
    lacks.extend(type_migrations::lacking(transaction, registry).await?);
    Ok(lacks)
}

fn managed(registry: &Registry) -> impl Iterator<Item = (&Route, TableSpec)> {
    let routes = registry.routes();
    routes.filter_map(|it| Some((it, it.managed_table()?)))
}

/// Refuses a type whose table was made by a migration of the service itself: a table of that name is there, and the
/// service has not made it for a type.
async fn refuse_claimed(
    transaction: &DatabaseTransaction,
    route: &Route,
    spec: &TableSpec,
) -> Result<()> {
    let tables = std::iter::once(spec.name).chain(spec.groups.map(|it| it.table));
    for table in tables {
        if crate::migration::TABLES.contains(&table) {
            return Err(refusal(
                route,
                &format!("claims `{table}`, a table of the service: name its table otherwise"),
            ));
        }
    }
    // What another migration made lacks the key of the type.
    let present = columns_of(transaction, spec.name).await?;
    match present.is_empty()
        || present.contains_key(spec.key)
        || is_renamed(spec, &present, spec.key)
    {
        true => Ok(()),
        false => Err(refusal(
            route,
            &format!(
                "claims the table `{}`, which is there and has no column `{}`: name its table otherwise",
                spec.name, spec.key
            ),
        )),
    }
}

fn refusal(route: &Route, reason: &str) -> Error {
    let (name, prefix) = (route.origin.0, route.prefix);
    Error::new(
        ErrorKind::Internal,
        format!("the type `{prefix}` of the crate `{name}` {reason}"),
    )
}

/// Whoever may read and write rows only gets along with a table that is as it should be.
async fn ensure_table(
    transaction: &DatabaseTransaction,
    route: &Route,
    spec: &TableSpec,
) -> Result<()> {
    let present = columns_of(transaction, spec.name).await?;
    let steps = steps(transaction, route, spec).await?;
    if steps.iter().any(|it| it.removes) {
        remove_triggers(transaction, spec.name).await?;
    }
    for step in steps {
        transaction.execute_raw(step.statement).await?;
    }
    let is_new = |it: &&Field| {
        it.folded_column()
            .is_some_and(|it| !present.contains_key(&it))
    };
    let added: Vec<&Field> = spec.folded.iter().copied().filter(is_new).collect();
    // A table that has just been made has no rows whose text is to be folded.
    if !present.is_empty() && !added.is_empty() {
        let fold = |it: &&Field| Task::fold(spec.name, spec.key, it);
        let tasks: Vec<_> = added.iter().filter_map(fold).collect();
        backlog::add(transaction, tasks).await?;
    }
    Ok(())
}

/// Removes the triggers by which SQLite counts the rows: it refuses to remove a column that one names. They are made
/// again when the tables are counted.
async fn remove_triggers(transaction: &DatabaseTransaction, table: &str) -> Result<()> {
    if transaction.get_database_backend() == DbBackend::Sqlite {
        for trigger in names(transaction, trigger_names(DbBackend::Sqlite), table).await? {
            let sql = format!("DROP TRIGGER \"{trigger}\"");
            transaction.execute_unprepared(&sql).await?;
        }
    }
    Ok(())
}

/// One statement that brings a table nearer to what its type declares.
struct Step {
    name: String,
    statement: Statement,
    /// Whether a column goes.
    removes: bool,
}

/// Returns what makes the table of `spec` as it should be.
async fn steps(
    transaction: &DatabaseTransaction,
    route: &Route,
    spec: &TableSpec,
) -> Result<Vec<Step>> {
    let backend = transaction.get_database_backend();
    let present = columns_of(transaction, spec.name).await?;
    let mut steps = match present.is_empty() {
        true => vec![Step {
            name: spec.name.to_owned(),
            statement: backend.build(&spec.create_statement(backend, PARENTS)),
            removes: false,
        }],
        false => alterations(transaction, route, spec, &present).await?,
    };
    if let (Some(groups), Some(statement)) = (spec.groups, spec.groups_statement(backend, PARENTS))
        && columns_of(transaction, groups.table).await?.is_empty()
    {
        steps.push(Step {
            name: groups.table.to_owned(),
            statement: backend.build(&statement),
            removes: false,
        });
    }
    if let Some(statement) = spec.index_statement()
        && !names(transaction, indexes(backend), spec.name)
            .await?
            .contains(&spec.index_name())
    {
        steps.push(Step {
            name: spec.index_name(),
            statement: backend.build(&statement),
            removes: false,
        });
    }
    Ok(steps)
}

/// A column as the database has it.
#[derive(Clone, Debug)]
struct Present {
    kind: Option<ColumnType>,
    is_nullable: bool,
    has_default: bool,
}

/// Returns what changes the table of `spec`, which has the columns `present`.
async fn alterations(
    transaction: &DatabaseTransaction,
    route: &Route,
    spec: &TableSpec,
    present: &BTreeMap<String, Present>,
) -> Result<Vec<Step>> {
    let backend = transaction.get_database_backend();
    let mut present = present.clone();
    let mut steps = Vec::new();
    let mut step = |name: String, change: &mut sea_orm::sea_query::TableAlterStatement, removes| {
        steps.push(Step {
            name,
            statement: backend.build(change),
            removes,
        });
    };
    for (former, now) in renames(spec) {
        if !present.contains_key(&now)
            && let Some(column) = present.remove(&former)
        {
            let mut change = alter(spec);
            change.rename_column(Alias::new(&former), Alias::new(&now));
            step(
                format!("{}.{former} as {now}", spec.name),
                &mut change,
                false,
            );
            present.insert(now, column);
        }
    }
    for dropped in spec.dropped {
        let folded = format!("{dropped}{FOLDED}");
        for column in [(*dropped).to_owned(), folded] {
            if present.remove(&column).is_some() {
                let mut change = alter(spec);
                change.drop_column(Alias::new(&column));
                step(format!("{} without {column}", spec.name), &mut change, true);
            }
        }
    }
    refuse_misfits(transaction, route, spec, &present).await?;
    for column in wanted(spec).filter(|it| !present.contains_key(it)) {
        if let Some(added) = spec.added_column(&column, backend) {
            let mut change = alter(spec);
            step(
                format!("{}.{column}", spec.name),
                change.add_column(added),
                false,
            );
        }
    }
    Ok(steps)
}

/// The ending of the columns with folded text.
const FOLDED: &str = "_folded";

fn alter(spec: &TableSpec) -> sea_orm::sea_query::TableAlterStatement {
    Table::alter().table(Alias::new(spec.name)).to_owned()
}

fn wanted(spec: &TableSpec) -> impl Iterator<Item = String> {
    let columns = spec.columns.iter().map(|it| it.0.to_owned());
    columns.chain(spec.folded_columns())
}

/// Returns the former and the present names of the columns that were renamed, with those of their folded text.
fn renames(spec: &TableSpec) -> impl Iterator<Item = (String, String)> {
    spec.renamed.iter().flat_map(|(former, now)| {
        let folded = (format!("{former}{FOLDED}"), format!("{now}{FOLDED}"));
        [((*former).to_owned(), (*now).to_owned()), folded]
    })
}

fn is_renamed(spec: &TableSpec, present: &BTreeMap<String, Present>, column: &str) -> bool {
    let mut renamed = spec.renamed.iter();
    renamed.any(|(former, now)| *now == column && present.contains_key(*former))
}

/// Refuses a table with whose columns `present` the type would lose or hide data, or could not write.
async fn refuse_misfits(
    transaction: &DatabaseTransaction,
    route: &Route,
    spec: &TableSpec,
    present: &BTreeMap<String, Present>,
) -> Result<()> {
    let table = spec.name;
    let wanted: HashSet<String> = wanted(spec).collect();
    let is_derived = |name: &str| name.ends_with(FOLDED);
    let left = present
        .iter()
        .filter(|(name, _)| !wanted.contains(*name) && !is_derived(name));
    let is_added = wanted
        .iter()
        .any(|it| !present.contains_key(it) && !is_derived(it));
    for (name, column) in left {
        let is_needed = !column.is_nullable && !column.has_default;
        if is_added || is_needed {
            return Err(refusal(
                route,
                &format!(
                    "has no field for the column `{table}.{name}`: declare `was = \"{name}\"` on the field that took its \
                     place, or `dropped(\"{name}\")` on the type to remove the column with what is in it"
                ),
            ));
        }
    }
    for (name, kind, is_nullable) in spec.columns {
        let Some(column) = present.get(*name) else {
            continue;
        };
        if column.kind.is_some_and(|it| it != *kind) {
            return Err(refusal(
                route,
                &format!(
                    "reads the column `{table}.{name}` as another type than the database has: give the field another \
                     `column`, and fill that in a migration"
                ),
            ));
        }
        if *is_nullable && !column.is_nullable {
            return Err(refusal(
                route,
                &format!(
                    "may write null into the column `{table}.{name}`, which takes none: give the field another `column`, \
                     and fill that in a migration"
                ),
            ));
        }
        if !is_nullable && column.is_nullable && has_null(transaction, table, name).await? {
            return Err(refusal(
                route,
                &format!(
                    "can't read the null in the column `{table}.{name}`: make the field an `Option`, or fill the column"
                ),
            ));
        }
    }
    Ok(())
}

async fn has_null(connection: &impl ConnectionTrait, table: &str, column: &str) -> Result<bool> {
    let sql = format!("SELECT 1 FROM \"{table}\" WHERE \"{column}\" IS NULL LIMIT 1");
    let statement = Statement::from_string(connection.get_database_backend(), sql);
    Ok(connection.query_one_raw(statement).await?.is_some())
}

/// Returns the columns of `table`; none if there is no such table.
async fn columns_of(
    connection: &impl ConnectionTrait,
    table: &str,
) -> Result<BTreeMap<String, Present>, DbErr> {
    let backend = connection.get_database_backend();
    let sql = match backend {
        DbBackend::Postgres => {
            "SELECT column_name::text AS name, data_type::text AS type, is_nullable = 'YES' AS is_nullable,
                    column_default IS NOT NULL AS has_default
                FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = $1"
        }
        _ => {
            "SELECT name, lower(type) AS type, \"notnull\" = 0 AS is_nullable, dflt_value IS NOT NULL AS has_default
                FROM pragma_table_info(?)"
        }
    };
    let statement = Statement::from_sql_and_values(backend, sql, [table.into()]);
    let rows = connection.query_all_raw(statement).await?;
    let read = |row: &sea_orm::QueryResult| {
        let kind: String = row.try_get("", "type")?;
        let column = Present {
            kind: kind_of(&kind),
            is_nullable: row.try_get("", "is_nullable")?,
            has_default: row.try_get("", "has_default")?,
        };
        Ok((row.try_get("", "name")?, column))
    };
    rows.iter().map(read).collect()
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

/// Asks for the indexes of a table.
fn indexes(backend: DbBackend) -> &'static str {
    match backend {
        DbBackend::Postgres => {
            "SELECT indexname::text AS name FROM pg_indexes
                WHERE schemaname = current_schema() AND tablename = $1"
        }
        _ => "SELECT name FROM pragma_index_list(?)",
    }
}
