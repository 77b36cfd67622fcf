//! Ready-made operations on one table, and the table itself: the functions that `#[entity(table = …)]` calls.

use sea_orm::sea_query::{
    Alias, ColumnDef, Expr, ExprTrait, Index, IndexCreateStatement, Query, SelectStatement,
    Table as SqlTable, TableCreateStatement,
};
use sea_orm::{ConnectionTrait, DbBackend, DbErr, Value};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json};

use super::column::ColumnType;
use super::folded::{fold_value, folded_fields};
use super::row::Row;
use super::search::{apply, condition, count_rows};
use crate::access::Scope;
use crate::context::Context;
use crate::entity::Entity;
use crate::error::{Error, Result};
use crate::input::Fields;
use crate::schema::{Field, Kind, Role, Schema};
use crate::search::{Filter, Page, Search, Test};

/// The maximum number of rows that a short statement skips at the beginning.
pub const MOST_PASSED: u64 = 1000;

/// An entity that is stored as one row of one table. Implemented by `#[derive(Entity)]`.
pub trait Table: Entity + Serialize + DeserializeOwned {
    /// The name of the table.
    const TABLE: &'static str;

    /// The columns, in the order of the fields: name, type, and whether the column may be null.
    const COLUMNS: &'static [(&'static str, ColumnType, bool)];

    /// Returns the values of the columns, in the same order.
    fn values(&self) -> Vec<Value>;

    /// Reads an entity from a row, which holds the columns in the same order.
    ///
    /// # Errors
    /// Returns an error if the row is not one of this table.
    fn from_row(row: &mut Row<'_>) -> Result<Self, DbErr>;
}

/// The definition of a table.
#[derive(Clone, Debug)]
pub struct TableSpec {
    /// The name of the table.
    pub name: &'static str,
    /// The columns of the table: name, type, and whether the column may be null.
    pub columns: &'static [(&'static str, ColumnType, bool)],
    /// The fields whose text is also stored folded, in a column of its own.
    pub folded: Vec<&'static Field>,
    /// The column that is the primary key.
    pub key: &'static str,
    /// The column with the id of the site, by which lists are filtered most often.
    pub site: Option<&'static str>,
    /// The column with the internal id of the account that a row belongs to.
    pub owner: Option<&'static str>,
}

impl TableSpec {
    /// Returns the definition of the table of `T`.
    pub fn of<T: Table>() -> Self {
        let column = |role| T::schema().role(role).and_then(|it| it.column);
        Self {
            name: T::TABLE,
            columns: T::COLUMNS,
            folded: folded_fields(T::schema()).map(|it| it.0).collect(),
            key: key(T::schema()),
            site: column(Role::Site),
            owner: column(Role::Owner),
        }
    }

    /// Returns the statement that creates the table if it does not exist.
    pub fn create_statement(&self, backend: DbBackend) -> TableCreateStatement {
        let mut statement = SqlTable::create();
        statement.table(Alias::new(self.name)).if_not_exists();
        for (name, kind, is_nullable) in self.columns {
            let mut column = definition(name, *kind, *is_nullable, backend);
            if *name == self.key {
                column.primary_key();
            }
            statement.col(column);
        }
        for name in self.folded_columns() {
            statement.col(definition(&name, ColumnType::Text, true, backend));
        }
        statement
    }

    /// Returns the definition of the column `name`, which the struct gained after the table was created, or `None` if
    /// the table has no such column. Existing rows get null or the empty value of the type.
    pub fn added_column(&self, name: &str, backend: DbBackend) -> Option<ColumnDef> {
        if self.folded_columns().any(|it| it == name) {
            return Some(definition(name, ColumnType::Text, true, backend));
        }
        let (name, kind, is_nullable) = self.columns.iter().find(|it| it.0 == name)?;
        let mut column = definition(name, *kind, *is_nullable, backend);
        match (is_nullable, kind) {
            (true, _) => {}
            (false, ColumnType::Text) => drop(column.default("")),
            (false, ColumnType::Integer) => drop(column.default(0)),
            (false, ColumnType::Number) => drop(column.default(0.0)),
            (false, ColumnType::Boolean) => drop(column.default(false)),
        }
        Some(column)
    }

    /// Returns the names of the columns with folded text.
    pub fn folded_columns(&self) -> impl Iterator<Item = String> {
        self.folded.iter().filter_map(|it| it.folded_column())
    }

    /// Returns the name of the index for the lists of a site.
    pub fn index_name(&self) -> String {
        format!("{}_by_site", self.name)
    }

    /// Returns the statement that creates the index for the lists of a site, if the rows belong to sites.
    pub fn index_statement(&self) -> Option<IndexCreateStatement> {
        let site = self.site?;
        let mut statement = Index::create();
        statement
            .name(self.index_name())
            .table(Alias::new(self.name))
            .col(Alias::new(site))
            .col(Alias::new(self.key))
            .if_not_exists();
        Some(statement)
    }
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

/// Returns the row with this id, if there is one.
///
/// # Errors
/// Returns an error if the database can't be read.
pub async fn read<T: Table>(cx: &Context, id: &str) -> Result<Option<T>> {
    let mut statement = select::<T>();
    statement.and_where(Expr::col(Alias::new(key(T::schema()))).eq(id));
    let db = cx.db()?;
    let statement = db.get_database_backend().build(&statement);
    let rows = db.rows(statement, |row| Ok(T::from_row(row)?)).await?;
    Ok(rows.into_iter().next())
}

/// Returns the rows with these ids, in any order.
///
/// # Errors
/// Returns an error if the database can't be read.
pub async fn read_many<T: Table>(cx: &Context, ids: &[String]) -> Result<Vec<T>> {
    let mut statement = select::<T>();
    statement.and_where(Expr::col(Alias::new(key(T::schema()))).is_in(ids));
    let db = cx.db()?;
    let statement = db.get_database_backend().build(&statement);
    db.rows(statement, |row| Ok(T::from_row(row)?)).await
}

/// Returns the rows that `search` asks for.
///
/// # Errors
/// Returns an error if the database can't be read.
pub async fn list<T: Table>(cx: &Context, search: &Search) -> Result<Page<T>> {
    let schema = T::schema();
    let mut statement = within::<T>(&search.scope);
    apply(&mut statement, search, schema, T::TABLE);
    let db = cx.db()?;
    let statement = db.get_database_backend().build(&statement);
    let read = |row: &mut Row<'_>| Ok(T::from_row(row)?);
    db.page(statement, cx.measure(search).short(is_short(search)), read)
        .await
}

/// Returns whether an index leads to the rows that `search` asks for, and past few others.
fn is_short(search: &Search) -> bool {
    let is_key = |role: Option<Role>| matches!(role, Some(Role::Id | Role::Site));
    let is_found =
        |it: &Filter| is_key(it.field.role) && matches!(it.test, Test::Equal(_) | Test::In(_));
    search.site().is_some()
        && search.words.is_empty()
        && search.start <= MOST_PASSED
        && search.filters.iter().all(is_found)
        && search.order.first().is_none_or(|it| is_key(it.field.role))
}

/// Returns the number of rows that `search` asks for, whatever part of them is wanted.
///
/// # Errors
/// Returns an error if the database can't be read.
pub async fn count<T: Table>(cx: &Context, search: &Search) -> Result<u64> {
    let mut statement = within::<T>(&search.scope);
    statement.cond_where(condition(search, T::schema(), T::TABLE));
    count_rows(cx, statement).await
}

/// Inserts a row made of `fields`, with an id, an owner, times and a version where the struct has them. An id in
/// `fields` is kept.
///
/// # Errors
/// Returns an error if a field is missing or wrong, or if there is already such a row.
pub async fn create<T: Table>(cx: &Context, fields: Fields) -> Result<T> {
    let mut object = empty(T::schema());
    object.extend(fields.0);
    set(
        &mut object,
        T::schema(),
        Role::Owner,
        cx.caller().user_id().map(Json::from),
    );
    set(
        &mut object,
        T::schema(),
        Role::Created,
        Some(Json::from(cx.now().to_rfc3339())),
    );
    set(
        &mut object,
        T::schema(),
        Role::Updated,
        Some(Json::from(cx.now().to_rfc3339())),
    );
    set(&mut object, T::schema(), Role::Version, Some(Json::from(1)));
    if let Some(id) = T::schema().role(Role::Id)
        && !matches!(object.get(id.name), Some(Json::String(text)) if !text.is_empty())
    {
        object.insert(id.name.to_owned(), Json::from(cx.new_id()));
    }
    let entity: T = Fields(object).decode()?;
    let (columns, values): (Vec<_>, Vec<_>) = row(&entity).into_iter().unzip();
    let mut statement = Query::insert();
    statement
        .into_table(Alias::new(T::TABLE))
        .columns(columns.into_iter().map(Alias::new))
        .values_panic(values.into_iter().map(Expr::val));
    cx.db()?.execute(&statement).await?;
    Ok(entity)
}

/// Returns the columns that are written for `entity`, with their values: its own and, beside those that are searched,
/// those with the folded text.
pub fn row<T: Table>(entity: &T) -> Vec<(String, Value)> {
    let columns = T::COLUMNS.iter().map(|it| it.0.to_owned());
    let mut row: Vec<_> = columns.zip(entity.values()).collect();
    for (field, column, name) in folded_fields(T::schema()) {
        let found = row.iter().find(|it| it.0 == column);
        let value = found.map_or(Value::String(None), |it| fold_value(field, &it.1));
        row.push((name, value));
    }
    row
}

/// Changes the row of `current` by `fields`, if the row is still in the version that was read.
///
/// # Errors
/// Returns an error if a field is wrong, or if the row was changed or deleted meanwhile.
pub async fn update<T: Table>(cx: &Context, current: T, fields: Fields) -> Result<T> {
    let schema = T::schema();
    let Json::Object(mut object) = serde_json::to_value(&current).map_err(Error::internal)? else {
        return Err(Error::internal("an entity is not an object"));
    };
    object.extend(fields.0);
    set(
        &mut object,
        schema,
        Role::Updated,
        Some(Json::from(cx.now().to_rfc3339())),
    );
    let version = schema
        .role(Role::Version)
        .and_then(|it| Some((it.column?, object.get(it.name)?.as_i64()?)));
    set(
        &mut object,
        schema,
        Role::Version,
        version.map(|(_, it)| Json::from(it.saturating_add(1))),
    );
    let entity: T = Fields(object).decode()?;
    let mut statement = Query::update();
    statement
        .table(Alias::new(T::TABLE))
        .values(
            row(&entity)
                .into_iter()
                .map(|(column, value)| (Alias::new(column), Expr::val(value))),
        )
        .and_where(Expr::col(Alias::new(key(schema))).eq(&*Entity::id(&current)));
    if let Some((column, version)) = version {
        statement.and_where(Expr::col(Alias::new(column)).eq(version));
    }
    match cx.db()?.execute(&statement).await?.rows_affected() {
        0 => Err(Error::precondition_failed()),
        _ => Ok(entity),
    }
}

/// Deletes the row of `current`.
///
/// # Errors
/// Returns an error if the database can't be written.
pub async fn delete<T: Table>(cx: &Context, current: T) -> Result<()> {
    let mut statement = Query::delete();
    statement
        .from_table(Alias::new(T::TABLE))
        .and_where(Expr::col(Alias::new(key(T::schema()))).eq(&*Entity::id(&current)));
    cx.db()?.execute(&statement).await?;
    Ok(())
}

fn select<T: Table>() -> SelectStatement {
    let mut statement = Query::select();
    statement
        .columns(T::COLUMNS.iter().map(|it| Alias::new(it.0)))
        .from(Alias::new(T::TABLE));
    statement
}

/// Returns a query for the rows of the sites in `scope`; for all rows, if `scope` is everything or the rows belong to
/// no site.
fn within<T: Table>(scope: &Scope) -> SelectStatement {
    let mut statement = select::<T>();
    let site = T::schema().role(Role::Site).and_then(|it| it.column);
    if let (Scope::Sites(sites), Some(site)) = (scope, site) {
        statement.and_where(Expr::col(Alias::new(site)).is_in(sites));
    }
    statement
}

fn key(schema: &Schema) -> &'static str {
    schema
        .role(Role::Id)
        .and_then(|it| it.column)
        .unwrap_or("id")
}

/// Returns the values of the optional fields that clients did not send: false for a boolean, null for all others.
fn empty(schema: &Schema) -> Map<String, Json> {
    schema
        .fields
        .iter()
        .filter(|it| it.role.is_none() && !it.is_required)
        .map(|it| {
            let value = match it.kind {
                Kind::Boolean => Json::Bool(false),
                _ => Json::Null,
            };
            (it.name.to_owned(), value)
        })
        .collect()
}

fn set(object: &mut Map<String, Json>, schema: &Schema, role: Role, value: Option<Json>) {
    if let (Some(field), Some(value)) = (schema.role(role), value) {
        object.insert(field.name.to_owned(), value);
    }
}
