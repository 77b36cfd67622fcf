//! The check of the SQL that types declare, before a service starts with them.

use sea_orm::{ConnectionTrait, DbErr};

use super::session::Db;
use crate::contract::registry::{Registry, Route};
use crate::model::table::TableSpec;
use crate::primitives::error::{Error, Result};

/// Reads no row of each table of a type, with the expressions and the joins that the type declares.
///
/// # Errors
/// Returns an error that names the type and the expression, or the type if its joins are wrong, with what the database
/// says of it.
pub async fn check_declared_sql(db: &Db, registry: &Registry) -> Result<()> {
    for route in registry.routes() {
        let spec = route.table.map(|it| it());
        for spec in spec.into_iter().flat_map(TableSpec::with_children) {
            if let Err(error) = try_to_read(db, &spec, &all(&spec)).await {
                return Err(explain(db, route, &spec, error).await);
            }
        }
    }
    Ok(())
}

/// Returns the expressions and the conditions that the type declares.
fn all(spec: &TableSpec) -> Vec<&str> {
    let expressions = spec.expressions.iter().copied();
    let conditions = spec.conditions.iter().map(String::as_str);
    expressions.chain(conditions).collect()
}

async fn try_to_read(db: &Db, spec: &TableSpec, expressions: &[&str]) -> Result<(), DbErr> {
    let statement = (spec.trial)(db.reader.get_database_backend(), expressions);
    db.reader.query_all_raw(statement).await.map(drop)
}

/// Finds what is wrong with the type: the first of the expressions that is refused alone, though a number is not.
async fn explain(db: &Db, route: &Route, spec: &TableSpec, error: DbErr) -> Error {
    let type_name = format!(
        "the type `{}` of the crate `{}`",
        route.prefix, route.origin.0
    );
    if let Err(error) = try_to_read(db, spec, &["1"]).await {
        return Error::internal(format!(
            "{type_name} joins tables that can't be joined to `{}`: {error}",
            spec.name
        ));
    }
    for expression in all(spec) {
        if let Err(error) = try_to_read(db, spec, &[expression]).await {
            return Error::internal(format!(
                "{type_name} reads `{expression}` of the table `{}`: {error}",
                spec.name
            ));
        }
    }
    Error::from(error)
}
