//! Where the value of a field of a record is kept, or how it is made.

use syn::{Expr, LitStr, Type};

/// The storage of a field of a record.
#[derive(Clone, Default)]
pub(crate) enum Storage {
    /// The field is a column, which clients see.
    #[default]
    Shown,
    /// The field is a column, which clients don't see.
    Hidden,
    /// The field is the column with the key of the row.
    Key,
    /// The field is a column that the service numbers.
    Position,
    /// The field is read from joined tables by this expression.
    Joined(Box<Expr>),
    /// The field is an id that is composed of other fields by this pattern.
    Composed(LitStr),
    /// The field is stored in this table, one row for each group.
    Groups(LitStr),
    /// The field holds the answers to the questions of a rule, and is not stored.
    PolicyInputs,
    /// The field is a list of rows of another table: records of this type, at most so many.
    Children(Box<Type>, usize),
    /// The field is shown and not stored; this function computes it from the other fields, if one is named.
    Computed(Option<Box<Expr>>),
}
