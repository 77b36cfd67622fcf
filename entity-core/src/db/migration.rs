//! The migrations that types declare where they are registered.

/// A change of tables or rows that a type declares: `register!(Loan, migrations(db::Migration { … }))`.
///
/// A managed table needs none for new fields, for `#[entity(was = "…")]` and for `#[entity(dropped(…))]`. Migrations
/// make the tables of types declared as `migrated`, and change rows.
///
/// The service runs each migration once in a database, in the order of declaration, after the managed tables have been
/// brought up to date. All migrations that a start runs are one transaction. A migration never changes once it was
/// released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Migration {
    /// The name, which no other migration of the same crate has.
    pub name: &'static str,
    /// The statements, in order. ` TEXT` in them becomes text that both databases compare byte by byte, and ` BYTES`
    /// becomes the type of bytes of the database.
    pub statements: &'static [&'static str],
}
