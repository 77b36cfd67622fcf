//! The Rust types that a column can hold, and the column types for them in both databases.

use sea_orm::{DbErr, Value};

use super::Row;
use crate::DateTimeUtc;
use crate::model::choice::{Choice, Choices};
use crate::model::table::ColumnType;
use crate::model::wire::{Instant as _, Millis, Moment};

/// A type that a field of a table may have.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be a column",
    note = "a field of a table is a `String`, `i64`, `i32`, `f64`, `bool`, `DateTimeUtc`, `Millis`, `Moment`, an enum that derives `Choice`, or an `Option` of one of these"
)]
pub trait Column: Sized {
    /// The declared type of the column.
    const TYPE: ColumnType;
    /// True if the column may be null.
    const IS_NULLABLE: bool = false;

    /// The texts of which it is one, each with its words; none for any other type.
    const CHOICES: Choices = (&[], &[]);

    /// Returns the value to bind.
    fn to_value(&self) -> Value;

    /// Reads the next column of a row.
    ///
    /// # Errors
    /// Returns an error if the row has no further column or the column holds a value of another type.
    fn read(row: &mut Row<'_>) -> Result<Self, DbErr>;
}

impl<T: Choice> Column for T {
    const TYPE: ColumnType = ColumnType::Text;
    const CHOICES: Choices = (T::CHOICES, T::WORDS);

    fn to_value(&self) -> Value {
        self.name().into()
    }

    fn read(row: &mut Row<'_>) -> Result<Self, DbErr> {
        let name = String::read(row)?;
        T::named(&name).ok_or_else(|| none_of(&name, T::CHOICES))
    }
}

impl<T: Choice> Column for Option<T> {
    const TYPE: ColumnType = ColumnType::Text;
    const IS_NULLABLE: bool = true;
    const CHOICES: Choices = (T::CHOICES, T::WORDS);

    fn to_value(&self) -> Value {
        self.as_ref().map(Choice::name).into()
    }

    fn read(row: &mut Row<'_>) -> Result<Self, DbErr> {
        let name = Option::<String>::read(row)?;
        let read = |it: String| T::named(&it).ok_or_else(|| none_of(&it, T::CHOICES));
        name.map(read).transpose()
    }
}

fn none_of(name: &str, choices: &[&str]) -> DbErr {
    let choices = choices.join(", ");
    DbErr::Type(format!("`{name}` is none of {choices}"))
}

/// A value that has a size in bytes.
trait Bytes {
    fn bytes(&self) -> usize;
}

impl Bytes for String {
    fn bytes(&self) -> usize {
        self.len()
    }
}

impl<T: Bytes> Bytes for Option<T> {
    fn bytes(&self) -> usize {
        self.as_ref().map_or(0, Bytes::bytes)
    }
}

macro_rules! fixed_bytes {
    ($($type:ty),*) => {$(
        impl Bytes for $type {
            fn bytes(&self) -> usize {
                size_of::<Self>()
            }
        }
    )*};
}

fixed_bytes!(i64, i32, f64, bool);

macro_rules! plain_columns {
    ($($type:ty => $column:ident, $null:ident;)*) => {$(
        impl Column for $type {
            const TYPE: ColumnType = ColumnType::$column;
            fn to_value(&self) -> Value {
                self.clone().into()
            }
            fn read(row: &mut Row<'_>) -> Result<Self, DbErr> {
                let cell: Self = row.cell()?;
                row.weigh(cell.bytes());
                Ok(cell)
            }
        }
        impl Column for Option<$type> {
            const TYPE: ColumnType = ColumnType::$column;
            const IS_NULLABLE: bool = true;
            fn to_value(&self) -> Value {
                self.clone().into()
            }
            fn read(row: &mut Row<'_>) -> Result<Self, DbErr> {
                let cell: Self = row.cell()?;
                row.weigh(cell.bytes());
                Ok(cell)
            }
        }
    )*};
}

plain_columns! {
    String => Text, String;
    i64 => Integer, BigInt;
    i32 => Integer, Int;
    f64 => Number, Double;
    bool => Boolean, Bool;
}

impl Column for DateTimeUtc {
    const TYPE: ColumnType = ColumnType::Integer;

    fn to_value(&self) -> Value {
        self.timestamp_millis().into()
    }

    fn read(row: &mut Row<'_>) -> Result<Self, DbErr> {
        instant(row.cell()?)
    }
}

impl Column for Option<DateTimeUtc> {
    const TYPE: ColumnType = ColumnType::Integer;
    const IS_NULLABLE: bool = true;

    fn to_value(&self) -> Value {
        self.map(|it| it.timestamp_millis()).into()
    }

    fn read(row: &mut Row<'_>) -> Result<Self, DbErr> {
        row.cell::<Option<i64>>()?.map(instant).transpose()
    }
}

impl Column for Millis {
    const TYPE: ColumnType = ColumnType::Integer;

    fn to_value(&self) -> Value {
        Column::to_value(&self.0)
    }

    fn read(row: &mut Row<'_>) -> Result<Self, DbErr> {
        DateTimeUtc::read(row).map(Self)
    }
}

impl Column for Option<Millis> {
    const TYPE: ColumnType = ColumnType::Integer;
    const IS_NULLABLE: bool = true;

    fn to_value(&self) -> Value {
        Column::to_value(&self.map(|it| it.0))
    }

    fn read(row: &mut Row<'_>) -> Result<Self, DbErr> {
        Ok(Option::<DateTimeUtc>::read(row)?.map(Millis))
    }
}

impl Column for Moment {
    const TYPE: ColumnType = ColumnType::Integer;

    fn to_value(&self) -> Value {
        self.time.into()
    }

    fn read(row: &mut Row<'_>) -> Result<Self, DbErr> {
        DateTimeUtc::read(row).map(Self::from)
    }
}

impl Column for Option<Moment> {
    const TYPE: ColumnType = ColumnType::Integer;
    const IS_NULLABLE: bool = true;

    fn to_value(&self) -> Value {
        Column::to_value(&self.instant())
    }

    fn read(row: &mut Row<'_>) -> Result<Self, DbErr> {
        Ok(Option::<DateTimeUtc>::read(row)?.map(Moment::from))
    }
}

fn instant(millis: i64) -> Result<DateTimeUtc, DbErr> {
    DateTimeUtc::from_timestamp_millis(millis)
        .ok_or_else(|| DbErr::Type(format!("{millis} ms is no instant")))
}
