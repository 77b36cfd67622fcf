//! Fields of entity types with the Rust types of their values, by which functions narrow and order lists.

use std::fmt;
use std::marker::PhantomData;

use super::{Cell, Filter, Order, Test};
use crate::DateTimeUtc;
use crate::model::choice::Choice;
use crate::model::schema::Field;
use crate::model::wire::Instant;

/// A field that lists compare, with values of the type `T`: what `#[derive(Entity)]` puts into `Loan::FIELD.due`.
///
/// The methods are called as those of sea-orm's columns are. Each returns a [`Filter`] for
/// [`Search::narrow`](super::Search::narrow), or a key of an order.
///
/// ```
/// use entity_core::{Context, DateTimeUtc, Entity, Search};
/// use serde::Serialize;
///
/// /// A piece of equipment that somebody has borrowed.
/// #[derive(Clone, Debug, Serialize, Entity)]
/// #[entity(table = "loan")]
/// struct Loan {
///     #[entity(id)]
///     id: String,
///     due: DateTimeUtc,
///     returned: Option<DateTimeUtc>,
/// }
///
/// fn overdue(cx: &Context) -> Search {
///     let mut search = Search::all();
///     search.narrow(Loan::FIELD.due.lt(cx.now()));
///     search.narrow(Loan::FIELD.returned.is_null());
///     search.order = vec![Loan::FIELD.due.desc(), Loan::FIELD.id.asc()];
///     search
/// }
/// ```
pub struct FieldOf<T> {
    field: &'static Field,
    values: PhantomData<fn() -> T>,
}

impl<T> Clone for FieldOf<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for FieldOf<T> {}

impl<T> fmt::Debug for FieldOf<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("FieldOf").field(&self.field.name).finish()
    }
}

/// A value that fields of the type `T` are compared with.
#[diagnostic::on_unimplemented(
    message = "a field of the type `{T}` can't be compared with `{Self}`",
    note = "texts are compared with texts, numbers with numbers of their type, and every kind of instant with a `DateTimeUtc`"
)]
pub trait Comparable<T> {
    /// Returns the value in the form in which lists compare it.
    fn into_cell(self) -> Cell;
}

impl<T: Choice> Comparable<T> for T {
    fn into_cell(self) -> Cell {
        Cell::Text(self.name().to_owned())
    }
}

impl Comparable<String> for String {
    fn into_cell(self) -> Cell {
        Cell::Text(self)
    }
}

impl Comparable<String> for &String {
    fn into_cell(self) -> Cell {
        Cell::Text(self.clone())
    }
}

impl Comparable<String> for &str {
    fn into_cell(self) -> Cell {
        Cell::Text(self.to_owned())
    }
}

impl Comparable<Self> for bool {
    fn into_cell(self) -> Cell {
        Cell::Boolean(self)
    }
}

impl Comparable<Self> for i64 {
    fn into_cell(self) -> Cell {
        Cell::Integer(self)
    }
}

impl Comparable<Self> for i32 {
    fn into_cell(self) -> Cell {
        Cell::Integer(self.into())
    }
}

impl Comparable<Self> for f64 {
    fn into_cell(self) -> Cell {
        Cell::Number(self)
    }
}

impl<T: Instant> Comparable<T> for DateTimeUtc {
    fn into_cell(self) -> Cell {
        Cell::Integer(self.timestamp_millis())
    }
}

impl<T> FieldOf<T> {
    /// Creates the typed form of `field`, which must have a column, and values of this type.
    pub const fn new(field: &'static Field) -> Self {
        Self {
            field,
            values: PhantomData,
        }
    }

    /// The field has this value.
    pub fn eq(self, value: impl Comparable<T>) -> Filter {
        self.passes(Test::Equal(value.into_cell()))
    }

    /// The field has another value, or none.
    pub fn ne(self, value: impl Comparable<T>) -> Filter {
        self.passes(Test::NotEqual(value.into_cell()))
    }

    /// The field has a greater value.
    pub fn gt(self, value: impl Comparable<T>) -> Filter {
        self.passes(Test::Greater(value.into_cell()))
    }

    /// The field has this value or a greater one.
    pub fn gte(self, value: impl Comparable<T>) -> Filter {
        self.passes(Test::GreaterOrEqual(value.into_cell()))
    }

    /// The field has a smaller value.
    pub fn lt(self, value: impl Comparable<T>) -> Filter {
        self.passes(Test::Less(value.into_cell()))
    }

    /// The field has this value or a smaller one.
    pub fn lte(self, value: impl Comparable<T>) -> Filter {
        self.passes(Test::LessOrEqual(value.into_cell()))
    }

    /// The field has one of these values; no entity passes if there are none.
    pub fn is_in<V: Comparable<T>>(self, values: impl IntoIterator<Item = V>) -> Filter {
        let cells = values.into_iter().map(Comparable::into_cell);
        self.passes(Test::In(cells.collect()))
    }

    /// The field has no value.
    pub fn is_null(self) -> Filter {
        self.passes(Test::Null(true))
    }

    /// The field has a value.
    pub fn is_not_null(self) -> Filter {
        self.passes(Test::Null(false))
    }

    /// Orders by the field, the smallest value first, and what has none before it.
    pub fn asc(self) -> Order {
        self.ordered(false)
    }

    /// Orders by the field, the greatest value first, and what has none last.
    pub fn desc(self) -> Order {
        self.ordered(true)
    }

    fn passes(self, test: Test) -> Filter {
        Filter {
            field: self.field,
            test,
        }
    }

    fn ordered(self, is_descending: bool) -> Order {
        Order {
            field: self.field,
            is_descending,
        }
    }
}
