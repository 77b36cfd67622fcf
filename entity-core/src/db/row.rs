//! One row of a query result, whichever driver it comes from.

use sea_orm::{DbErr, QueryResult, TryGetable};

use super::Column;

/// One row of a query result, read column by column in the order in which the columns were selected.
#[derive(Debug)]
pub struct Row<'a> {
    source: Source<'a>,
    next: usize,
    bytes: usize,
}

#[derive(Clone, Copy)]
enum Source<'a> {
    Pool(&'a QueryResult),
    File(&'a rusqlite::Row<'a>),
}

impl<'a> Row<'a> {
    /// Creates a row that reads the columns of `row` from the first one on.
    pub fn of(row: &'a QueryResult) -> Self {
        Self::from(Source::Pool(row))
    }

    pub(super) fn of_file(row: &'a rusqlite::Row<'a>) -> Self {
        Self::from(Source::File(row))
    }

    fn from(source: Source<'a>) -> Self {
        Self {
            source,
            next: 0,
            bytes: 0,
        }
    }

    /// Returns the next column.
    ///
    /// # Errors
    /// Returns an error if there is no further column or the column holds a value of another type.
    pub fn take<T: Column>(&mut self) -> Result<T, DbErr> {
        T::read(self)
    }

    /// Takes a column with the size, in bytes, of what other statements read for the row, so that it counts with the row.
    ///
    /// # Errors
    /// Returns an error if there is no further column or the column holds no number.
    pub fn weigh_beside(&mut self) -> Result<(), DbErr> {
        let size: i64 = self.cell()?;
        self.weigh(usize::try_from(size).unwrap_or_default());
        Ok(())
    }

    /// Returns the number of bytes of text and numbers in the columns that were read so far.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn weigh(&mut self, bytes: usize) {
        self.bytes = self.bytes.saturating_add(bytes);
    }

    /// Returns the next column, as a type that both drivers support.
    pub(super) fn cell<T: TryGetable + rusqlite::types::FromSql>(&mut self) -> Result<T, DbErr> {
        let index = self.next;
        self.next = index.saturating_add(1);
        match self.source {
            Source::Pool(row) => row.try_get_by_index(index),
            Source::File(row) => row.get(index).map_err(|it| DbErr::Type(it.to_string())),
        }
    }
}

/// The selection of a statement for each row: a column, a tuple of columns, or a struct with
/// [`#[derive(Row)]`](derive@super::Row), whose fields are read in their order.
///
/// ```
/// use entity_core::db::{self, Row};
/// use entity_core::wire::Millis;
/// use entity_core::{Context, Result};
///
/// /// A loan, as the desk is shown it.
/// #[derive(Row)]
/// struct OnDesk {
///     item: String,
///     due: Option<Millis>,
/// }
///
/// async fn on_desk(cx: &Context) -> Result<(Vec<OnDesk>, Vec<(String, i64)>)> {
///     let db = cx.db()?;
///     let sql = db.sql("SELECT item, due FROM loan");
///     let loans = db.rows(sql.into_statement(), db::columns).await?;
///     let sql = db.sql("SELECT site_id, count(*) FROM loan GROUP BY site_id");
///     Ok((loans, db.rows(sql.into_statement(), db::columns).await?))
/// }
/// ```
pub trait FromRow: Sized {
    /// Reads the next columns of a row.
    ///
    /// # Errors
    /// Returns an error if the row has fewer columns or one of them holds a value of another type.
    fn from_row(row: &mut Row<'_>) -> Result<Self, DbErr>;
}

impl<T: Column> FromRow for T {
    fn from_row(row: &mut Row<'_>) -> Result<Self, DbErr> {
        T::read(row)
    }
}

macro_rules! tuples {
    ($(($($name:ident),*))*) => {$(
        impl<$($name: FromRow),*> FromRow for ($($name,)*) {
            fn from_row(row: &mut Row<'_>) -> Result<Self, DbErr> {
                Ok(($($name::from_row(row)?,)*))
            }
        }
    )*};
}

tuples! { (A, B) (A, B, C) (A, B, C, D) (A, B, C, D, E) }

/// Reads what a statement selects for each row: for [`Session::rows`](crate::db::Session::rows) and its siblings.
///
/// # Errors
/// Returns an error if a column is missing or holds a value of another type.
pub fn columns<T: FromRow>(row: &mut Row<'_>) -> crate::primitives::error::Result<T> {
    Ok(T::from_row(row)?)
}

impl std::fmt::Debug for Source<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Pool(_) => "Pool",
            Self::File(_) => "File",
        })
    }
}
