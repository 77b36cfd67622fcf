//! The migrations that types declare.

/// A change of tables or rows that a type declares: `register!(Loan, migrations(FIRST, SECOND))`.
///
/// A managed table needs none for new fields, for `#[entity(was = "…")]` and for `#[entity(dropped(…))]`. At a start, the
/// service renames and adds the columns of managed tables, then runs the migrations that the database lacks, each once
/// and in the order of declaration, and then removes columns. All of this is one transaction. A migration never changes
/// once it was released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Migration {
    /// The name, which no other migration of the same crate has.
    pub name: &'static str,
    /// The statements, in order.
    pub statements: &'static [&'static str],
    /// True if the migration changes rows of a managed table of the type: it is passed over where the start has just
    /// created that table.
    pub is_of_rows: bool,
    /// The managed table whose rows it changes: that of a type's children, say. `None` stands for the type's own table.
    pub table: Option<&'static str>,
}

impl Migration {
    /// Creates a migration that makes or changes tables or indexes. In statements that begin with `CREATE` or `ALTER`,
    /// ` TEXT` becomes text that both databases compare byte by byte, and ` BYTES` the type of bytes of the database.
    pub const fn of_tables(name: &'static str, statements: &'static [&'static str]) -> Self {
        Self {
            name,
            statements,
            is_of_rows: false,
            table: None,
        }
    }

    /// Creates a migration that changes the rows of the type's managed table. A table that was just created has none,
    /// and may lack the columns that the statements read.
    pub const fn of_rows(name: &'static str, statements: &'static [&'static str]) -> Self {
        Self {
            name,
            statements,
            is_of_rows: true,
            table: None,
        }
    }

    /// Lets the migration change the rows of `table`, which is that of the type's children or of their groups: it is
    /// passed over where the start has just created that table, whatever the type's own table is.
    ///
    /// A migration that fills such a table from the type's own one does without.
    #[must_use]
    pub const fn in_table(mut self, table: &'static str) -> Self {
        self.table = Some(table);
        self
    }
}
