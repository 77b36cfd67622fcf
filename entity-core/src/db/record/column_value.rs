//! The fields of a record: their form in requests, and in columns.

use chrono::TimeDelta;
use sea_orm::Value;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value as Json;

use crate::DateTimeUtc;
use crate::contract::blob::Blob;
use crate::contract::context::Context;
use crate::contract::input::Fields;
use crate::db::{Column, ColumnType, Row};
use crate::model::choice::Choices;
use crate::model::file::{Files, SentFile};
use crate::model::shape;
use crate::model::wire::Instant;
use crate::primitives::error::{Error, Result};

/// A type that a stored field of a record may have: a [`Column`], or a type that is sent or stored in a form of its own.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be a column",
    note = "a field of a table is a `String`, `i64`, `i32`, `f64`, `bool`, `DateTimeUtc`, `Millis`, `Moment`, an enum that derives `Choice`, or an `Option` of one of these",
    note = "any other type implements `entity_core::db::ColumnValue`; a field that is not stored is marked `#[entity(skip)]`"
)]
pub trait ColumnValue: Default {
    /// The type of the value that clients send for the field.
    type Sent: DeserializeOwned;

    /// The declared type of the column: a text, if the type does not say otherwise.
    const TYPE: ColumnType = ColumnType::Text;
    /// True if the column may be null.
    const IS_NULLABLE: bool = false;
    /// True if the column holds a [`Blob`], whose bytes stay stored as long as a row names them.
    const IS_BLOB: bool = false;

    /// The texts of which it is one, each with its words; none for any other type.
    const CHOICES: Choices = (&[], &[]);

    /// Converts what a client sent.
    ///
    /// # Errors
    /// Returns a message about the field if the value is refused: it continues the name of the field, as in
    /// `must not be empty`.
    fn receive(cx: &Context, sent: Self::Sent) -> Result<Self, String>;

    /// Takes the field `name` out of `fields`: `None` if it was not sent, the default value if null was sent.
    ///
    /// # Errors
    /// Returns an error that names the field if the value is refused.
    fn sent(cx: &Context, fields: &mut Fields, name: &'static str) -> Result<Option<Self>> {
        match fields.0.remove(name) {
            None => Ok(None),
            Some(Json::Null) => Ok(Some(Self::default())),
            Some(value) => {
                let sent = shape::deserialize_field(name, value)?;
                let received = Self::receive(cx, sent);
                received
                    .map(Some)
                    .map_err(|message| Error::field(name, message))
            }
        }
    }

    /// Returns the value to store.
    fn to_value(&self) -> Value;

    /// Reads the next column of a row.
    ///
    /// # Errors
    /// Returns an error if the column does not hold a value of this type.
    fn read(cx: &Context, row: &mut Row<'_>) -> Result<Self>;
}

#[diagnostic::do_not_recommend]
impl<T: Column + DeserializeOwned + Default> ColumnValue for T {
    type Sent = T;
    const TYPE: ColumnType = <T as Column>::TYPE;
    const IS_NULLABLE: bool = <T as Column>::IS_NULLABLE;
    const CHOICES: Choices = <T as Column>::CHOICES;

    fn receive(_cx: &Context, sent: T) -> Result<T, String> {
        Ok(sent)
    }

    fn to_value(&self) -> Value {
        Column::to_value(self)
    }

    fn read(_cx: &Context, row: &mut Row<'_>) -> Result<T> {
        Ok(row.take()?)
    }
}

/// Takes the list `name` out of `fields`: `None` if it was not sent, an empty list if null was sent.
///
/// # Errors
/// Returns an error that names the field if it is no list of texts.
pub fn sent_list(fields: &mut Fields, name: &'static str) -> Result<Option<Vec<String>>> {
    let sent = fields.0.remove(name);
    sent.map(|it| match it {
        Json::Null => Ok(Vec::new()),
        list => shape::deserialize_field(name, list),
    })
    .transpose()
}

/// Returns the key of a new entity: the text in the field `name`, if the service itself put one there, or a new id.
pub fn new_key(cx: &Context, fields: &Fields, name: &str) -> String {
    match fields.text(name) {
        Some(text) if !text.is_empty() => text.to_owned(),
        _ => cx.new_id(),
    }
}

/// Returns the owner of a new entity: the caller, or the default value for an anonymous one.
pub fn owner<T: From<String> + Default>(cx: &Context) -> T {
    let caller = cx.caller().user_id();
    caller.map_or_else(T::default, |it| it.to_owned().into())
}

/// Returns the instant of a change of an entity that last changed at `former`: the present instant, and a millisecond
/// after `former` at least, so that no two states of an entity have the same instant.
pub fn later<T: Instant + From<DateTimeUtc>>(cx: &Context, former: &T) -> T {
    let next = former.instant();
    let next = next.and_then(|it| it.checked_add_signed(TimeDelta::milliseconds(1)));
    next.map_or(cx.now(), |it| it.max(cx.now())).into()
}

/// Returns what the `function` of a field with `computed = …` computes.
pub fn computed<T, U>(record: &T, cx: &Context, function: fn(&T, &Context) -> U) -> U {
    function(record, cx)
}

impl ColumnValue for Files {
    type Sent = Vec<SentFile>;

    fn receive(cx: &Context, sent: Vec<SentFile>) -> Result<Self, String> {
        Self::receive(sent, cx.base_url())
    }

    fn to_value(&self) -> Value {
        self.column().into()
    }

    fn read(cx: &Context, row: &mut Row<'_>) -> Result<Self> {
        Self::parse(row.take()?, cx.base_url()).map_err(Error::internal)
    }
}

/// Why nobody can send a blob.
const NOT_SENT: &str = "can't be written";

impl ColumnValue for Option<Blob> {
    type Sent = IgnoredAny;
    const TYPE: ColumnType = ColumnType::Text;
    const IS_NULLABLE: bool = true;
    const IS_BLOB: bool = true;

    fn receive(_cx: &Context, _sent: IgnoredAny) -> Result<Self, String> {
        Err(NOT_SENT.to_owned())
    }

    fn to_value(&self) -> Value {
        self.as_ref().map(Blob::to_column).into()
    }

    fn read(_cx: &Context, row: &mut Row<'_>) -> Result<Self> {
        let column: Option<String> = row.take()?;
        let parse = |it: String| {
            Blob::parse(&it)
                .ok_or_else(|| Error::internal("a column of blobs holds something else"))
        };
        column.map(parse).transpose()
    }
}
