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

impl std::fmt::Debug for Source<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Pool(_) => "Pool",
            Self::File(_) => "File",
        })
    }
}
