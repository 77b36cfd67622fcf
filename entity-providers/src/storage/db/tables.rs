//! The tables that the service makes for the registered types, and the migrations that types declare.

use std::collections::{BTreeMap, HashSet};

use entity_core::db::{Db, MADE_BY, Parents, TableSpec};
use entity_core::engine::Route;
use entity_core::schema::{FOLDED, Field};
use entity_core::{Error, ErrorKind, Registry, Result};
use sea_orm::sea_query::{Alias, Table};
use sea_orm::{ConnectionTrait, DatabaseTransaction, DbBackend, Statement};

use super::backfill::{self, Task};
use super::catalog::{Catalog, PresentColumn};
use super::migrate::begin_alone;
use super::{type_migrations, usage};

/// The tables to which the rows of other types belong.
pub(crate) const PARENTS: Parents = Parents {
    sites: Some("site"),
    groups: Some("site_group"),
};

/// Brings the tables of the registered types up to date: creates the missing ones, renames and adds columns, runs the
/// migrations that the types declare, and removes columns.
///
/// # Errors
/// Returns an error if a type claims a table of the service, if a table does not fit its type and data would be lost or
/// hidden, or if the database refuses a statement.
pub async fn ensure_tables(db: &Db, registry: &Registry) -> Result<()> {
    let (transaction, watch) = begin_alone(db).await?;
    let work = async {
        let mut catalog = Catalog::read(&transaction).await?;
        let mut created = HashSet::new();
        for (route, spec) in managed(registry) {
            refuse_claimed(&catalog, route, &spec)?;
            let lacking = tables_of(&spec).filter(|it| catalog.columns(it).is_empty());
            created.extend(lacking.collect::<Vec<_>>());
            extend(&transaction, &mut catalog, route, &spec).await?;
        }
        if type_migrations::run(&transaction, registry, &created).await? {
            catalog = Catalog::read(&transaction).await?;
        }
        for (route, spec) in managed(registry) {
            let removals = removals(&transaction, &catalog, &spec);
            take(&transaction, &mut catalog, &spec, removals).await?;
            refuse_misfits(&transaction, &catalog, route, &spec).await?;
        }
        Ok(())
    };
    watch.over(work).await?;
    transaction.commit().await?;
    backfill::work_off(db).await
}

/// Returns what [`ensure_tables`] would add, rename or remove, by name.
pub(super) async fn lacks(
    transaction: &DatabaseTransaction,
    registry: &Registry,
) -> Result<Vec<String>> {
    let catalog = Catalog::read(transaction).await?;
    let backend = transaction.get_database_backend();
    let mut lacks = Vec::new();
    for (route, spec) in managed(registry) {
        refuse_claimed(&catalog, route, &spec)?;
        lacks.extend(additions(backend, &catalog, route, &spec)?);
    }
    let mut lacks: Vec<String> = lacks.into_iter().map(|it| it.name).collect();
    lacks.extend(type_migrations::lacking(transaction, registry).await?);
    for (route, spec) in managed(registry) {
        let removals = removals(transaction, &catalog, &spec);
        lacks.extend(removals.into_iter().map(|it| it.name));
        // What is to be done first may make the rest fit.
        if lacks.is_empty() {
            refuse_misfits(transaction, &catalog, route, &spec).await?;
        }
    }
    Ok(lacks)
}

/// Returns the tables that the service manages, each behind the table of its parent.
fn managed(registry: &Registry) -> Vec<(&Route, TableSpec)> {
    let of_route = |route| {
        let tables = Route::tables(route).into_iter();
        tables.map(move |it| (route, it))
    };
    let mut left: Vec<_> = registry.routes().flat_map(of_route).collect();
    let mut ordered = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let waiting: HashSet<&str> = left.iter().map(|it| it.1.name).collect();
        let waits = |spec: &TableSpec| {
            let parent = spec.parent.map(|it| it.table);
            parent.is_some_and(|it| it != spec.name && waiting.contains(it))
        };
        let (later, now): (Vec<_>, Vec<_>) = left.into_iter().partition(|it| waits(&it.1));
        left = later;
        if now.is_empty() {
            // Tables that belong to each other in a circle: the database says what is wrong with them.
            ordered.append(&mut left);
        }
        ordered.extend(now);
    }
    ordered
}

/// Refuses a type whose table was made by a migration of the service itself: a table of that name is there, and the
/// service has not made it for a type.
fn refuse_claimed(catalog: &Catalog, route: &Route, spec: &TableSpec) -> Result<()> {
    for table in tables_of(spec) {
        if crate::storage::migration::TABLES.contains(&table) {
            return Err(refusal(
                route,
                &format!("claims `{table}`, a table of the service: name its table otherwise"),
            ));
        }
    }
    // A table of another migration lacks the key of the type.
    let present = catalog.columns(spec.name);
    match present.is_empty()
        || present.contains_key(spec.key)
        || is_renamed(spec, present, spec.key)
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

/// The names of the tables of `spec`.
fn tables_of(spec: &TableSpec) -> impl Iterator<Item = &'static str> {
    std::iter::once(spec.name).chain(spec.groups.map(|it| it.table))
}

fn refusal(route: &Route, reason: &str) -> Error {
    let (name, prefix) = (route.origin.0, route.prefix);
    Error::new(
        ErrorKind::Internal,
        format!("the type `{prefix}` of the crate `{name}` {reason}"),
    )
}

/// Creates the table, or renames and adds columns and indexes.
///
/// Whoever may read and write rows only gets along with a table that is as it should be.
async fn extend(
    transaction: &DatabaseTransaction,
    catalog: &mut Catalog,
    route: &Route,
    spec: &TableSpec,
) -> Result<()> {
    let present = catalog.columns(spec.name).clone();
    let steps = additions(transaction.get_database_backend(), catalog, route, spec)?;
    take(transaction, catalog, spec, steps).await?;
    let is_new = |it: &&Field| {
        it.folded_column()
            .is_some_and(|it| !present.contains_key(&it))
    };
    let added: Vec<&Field> = spec.folded.iter().copied().filter(is_new).collect();
    // A table that has just been made has no rows whose text is to be folded.
    if !present.is_empty() && !added.is_empty() {
        let fold = |it: &&Field| Task::fold(spec.name, spec.key, it);
        let tasks: Vec<_> = added.iter().filter_map(fold).collect();
        backfill::add(transaction, tasks).await?;
    }
    Ok(())
}

/// One statement that brings a table nearer to what its type declares.
struct Step {
    name: String,
    statement: Statement,
    change: Change,
}

/// The change that a step makes to an existing column.
enum Change {
    Nothing,
    Renames(String, String),
    Removes(String),
}

/// Takes the `steps`. What rests on the former name of a column, or on a column that goes, is told.
async fn take(
    transaction: &DatabaseTransaction,
    catalog: &mut Catalog,
    spec: &TableSpec,
    steps: Vec<Step>,
) -> Result<()> {
    if steps.is_empty() {
        return Ok(());
    }
    if steps.iter().any(|it| !matches!(it.change, Change::Nothing)) {
        usage::forget(transaction, spec.name).await?;
    }
    for step in steps {
        if let Change::Renames(column, _) | Change::Removes(column) = &step.change {
            for index in spec.unique_index_names(column) {
                let sql = format!("DROP INDEX IF EXISTS \"{index}\"");
                transaction.execute_unprepared(&sql).await?;
            }
        }
        transaction.execute_raw(step.statement).await?;
        match step.change {
            Change::Nothing => {}
            Change::Renames(former, now) => {
                backfill::rename(transaction, spec.name, &former, &now).await?;
            }
            Change::Removes(column) => {
                backfill::drop_column(transaction, spec.name, &column).await?;
            }
        }
    }
    for table in tables_of(spec) {
        catalog.read_again(transaction, table).await?;
    }
    Ok(())
}

/// Returns what creates the table of `spec`, or renames and adds what its type declares.
fn additions(
    backend: DbBackend,
    catalog: &Catalog,
    route: &Route,
    spec: &TableSpec,
) -> Result<Vec<Step>> {
    let present = catalog.columns(spec.name);
    let added = |name: String, statement: Statement| Step {
        name,
        statement,
        change: Change::Nothing,
    };
    let mut steps = if present.is_empty() {
        let statement = backend.build(&spec.create_statement(backend, PARENTS));
        vec![added(spec.name.to_owned(), statement)]
    } else {
        alterations(backend, route, spec, present.clone())?
    };
    if let (Some(groups), Some(statement)) = (spec.groups, spec.groups_statement(backend, PARENTS))
        && catalog.columns(groups.table).is_empty()
    {
        steps.push(added(groups.table.to_owned(), backend.build(&statement)));
    }
    let present = &catalog.table(spec.name).indexes;
    for (name, statement) in spec.indexes().chain(spec.unique_indexes()) {
        if !present.contains(&name) {
            steps.push(added(name, backend.build(&statement)));
        }
    }
    Ok(steps)
}

/// Returns what removes the columns that the type has dropped.
fn removals(transaction: &DatabaseTransaction, catalog: &Catalog, spec: &TableSpec) -> Vec<Step> {
    let backend = transaction.get_database_backend();
    let present = catalog.columns(spec.name);
    let kept: HashSet<String> = wanted(spec).collect();
    let dropped = spec.dropped.iter();
    let dropped = dropped.flat_map(|it| [(*it).to_owned(), format!("{it}{FOLDED}")]);
    let steps = dropped
        .filter(|it| present.contains_key(it) && !kept.contains(it))
        .map(|column| Step {
            name: format!("{} without {column}", spec.name),
            statement: backend.build(alter(spec).drop_column(Alias::new(&column))),
            change: Change::Removes(column),
        });
    steps.collect()
}

/// Returns what renames and adds columns of the table of `spec`, which has the columns `present`.
fn alterations(
    backend: DbBackend,
    route: &Route,
    spec: &TableSpec,
    mut present: BTreeMap<String, PresentColumn>,
) -> Result<Vec<Step>> {
    let mut steps = Vec::new();
    for (former, now) in renames(spec) {
        if !present.contains_key(&now)
            && let Some(column) = present.remove(&former)
        {
            let mut change = alter(spec);
            change.rename_column(Alias::new(&former), Alias::new(&now));
            steps.push(Step {
                name: format!("{}.{former} as {now}", spec.name),
                statement: backend.build(&change),
                change: Change::Renames(former, now.clone()),
            });
            present.insert(now, column);
        }
    }
    refuse_leftovers(route, spec, &present)?;
    for column in wanted(spec).filter(|it| !present.contains_key(it)) {
        if let Some(added) = spec.added_column(&column, backend) {
            steps.push(Step {
                name: format!("{}.{column}", spec.name),
                statement: backend.build(alter(spec).add_column(added)),
                change: Change::Nothing,
            });
        }
    }
    Ok(steps)
}

fn alter(spec: &TableSpec) -> sea_orm::sea_query::TableAlterStatement {
    Table::alter().table(Alias::new(spec.name)).to_owned()
}

fn wanted(spec: &TableSpec) -> impl Iterator<Item = String> {
    let columns = spec.columns.iter().map(|it| it.0.to_owned());
    columns.chain(spec.further_columns())
}

/// Returns the former and the present names of the columns that were renamed, with those of their folded text.
fn renames(spec: &TableSpec) -> impl Iterator<Item = (String, String)> {
    spec.renamed.iter().flat_map(|(former, now)| {
        let folded = (format!("{former}{FOLDED}"), format!("{now}{FOLDED}"));
        [((*former).to_owned(), (*now).to_owned()), folded]
    })
}

fn is_renamed(spec: &TableSpec, present: &BTreeMap<String, PresentColumn>, column: &str) -> bool {
    let mut renamed = spec.renamed.iter();
    renamed.any(|(former, now)| *now == column && present.contains_key(*former))
}

/// Refuses a table with a column that its type lacks, if another column is new, which may be meant to take its place, or
/// if rows could not be written without it.
fn refuse_leftovers(
    route: &Route,
    spec: &TableSpec,
    present: &BTreeMap<String, PresentColumn>,
) -> Result<()> {
    let table = spec.name;
    let wanted: HashSet<String> = wanted(spec).collect();
    let is_derived = |name: &str| name.ends_with(FOLDED) || name == MADE_BY;
    let is_left =
        |name: &str| !wanted.contains(name) && !is_derived(name) && !spec.dropped.contains(&name);
    let is_added = wanted
        .iter()
        .any(|it| !present.contains_key(it) && !is_derived(it));
    for (name, column) in present.iter().filter(|it| is_left(it.0)) {
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
    Ok(())
}

/// Refuses a table with a column that the type could not read or write.
async fn refuse_misfits(
    transaction: &DatabaseTransaction,
    catalog: &Catalog,
    route: &Route,
    spec: &TableSpec,
) -> Result<()> {
    let table = spec.name;
    let present = catalog.columns(table);
    for (name, kind, is_nullable) in spec.columns {
        let Some(column) = present.get(*name) else {
            continue;
        };
        if column.kind.is_some_and(|it| it != *kind) {
            return Err(refusal(
                route,
                &format!(
                    "reads the column `{table}.{name}` as another type than the database has: give the field another \
                     `column`, fill that from the old one in a migration of rows, and drop the old one"
                ),
            ));
        }
        if *is_nullable && !column.is_nullable {
            return Err(refusal(
                route,
                &format!(
                    "may write null into the column `{table}.{name}`, which takes none: give the field another `column`, \
                     fill that from the old one in a migration of rows, and drop the old one"
                ),
            ));
        }
        if !is_nullable && column.is_nullable && has_null(transaction, table, name).await? {
            return Err(refusal(
                route,
                &format!(
                    "can't read the null in the column `{table}.{name}`: make the field an `Option`, or fill the column in a \
                     migration of rows"
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
