//! Sinks, which take the rows of a statement: it is run by code that is compiled once, whatever is made of the rows.

use super::Row;
use super::record::any::Rows;
use crate::primitives::error::Result;

/// Takes the rows of a statement one by one.
pub(super) trait Sink: Send {
    /// Takes the next row.
    ///
    /// # Errors
    /// Returns an error if the row is not as expected.
    fn take(&mut self, row: &mut Row<'_>) -> Result<()>;

    /// Forgets all rows but the first `length`.
    fn cut(&mut self, length: usize);
}

/// The items that a function makes of rows.
pub(super) struct Made<T, F> {
    pub(super) items: Vec<T>,
    read: F,
}

impl<T, F> Made<T, F> {
    pub(super) fn by(read: F) -> Self {
        Self {
            items: Vec::new(),
            read,
        }
    }
}

impl<T: Send, F: FnMut(&mut Row<'_>) -> Result<T> + Send> Sink for Made<T, F> {
    fn take(&mut self, row: &mut Row<'_>) -> Result<()> {
        self.items.push((self.read)(row)?);
        Ok(())
    }

    fn cut(&mut self, length: usize) {
        self.items.truncate(length);
    }
}

/// Records of any type, to which a function adds one for each row.
pub(super) struct Adding<'a, F> {
    rows: &'a mut dyn Rows,
    add: F,
}

impl<'a, F: FnMut(&mut dyn Rows, &mut Row<'_>) -> Result<()>> Adding<'a, F> {
    pub(super) fn to(rows: &'a mut dyn Rows, add: F) -> Self {
        Self { rows, add }
    }
}

impl<F: FnMut(&mut dyn Rows, &mut Row<'_>) -> Result<()> + Send> Sink for Adding<'_, F> {
    fn take(&mut self, row: &mut Row<'_>) -> Result<()> {
        (self.add)(self.rows, row)
    }

    fn cut(&mut self, length: usize) {
        self.rows.cut(length);
    }
}
