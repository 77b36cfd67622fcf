//! Writing data as an element while it is walked: nothing is put together first.

use std::borrow::Cow;
use std::{fmt, io};

use chrono::{DateTime, Utc};
use entity_core::schema::{Kind, Schema};
use entity_core::{Error, wire};
use quick_xml::events::{BytesEnd, BytesStart, BytesText, Event};
use serde::ser::{self, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::Serializer as Json;

use super::Out;
use super::naming::Name;
use crate::primitives::text::{escape, repair_name};
use crate::render::json::{Limits, too_large};

/// The reason why an element could not be written.
#[derive(derive_more::Display, Debug)]
#[display("{}", self.0)]
pub(super) struct Failure(pub(super) Error);

impl std::error::Error for Failure {}

impl ser::Error for Failure {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(Error::internal(message.to_string()))
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self(error)
    }
}

/// Nothing but limits keeps bytes from being put into memory.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self(too_large(error))
    }
}

type Done = Result<(), Failure>;

/// The element that was written, if it has others in it and was [left open](Element::stays_open).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ended {
    /// The place of the number of elements in it; 0 if it is no such element.
    pub(super) size_at: usize,
    /// The number of elements in it.
    pub(super) size: usize,
}

type Written = Result<Ended, Failure>;

/// An element that is to be written of a value.
pub(super) struct Element<'a> {
    pub(super) out: &'a mut Out,
    pub(super) limits: &'a mut Limits,
    pub(super) name: Name<'a>,
    /// The kind of the value, if it is that of a field.
    pub(super) kind: Option<Kind>,
    /// The schema of the fields of the value, if it is an entity.
    pub(super) schema: Option<&'static Schema>,
    /// True if others are to follow in the element, if the value is an object or a list.
    pub(super) stays_open: bool,
}

impl<'a> Element<'a> {
    /// An element of a value of which nothing is declared.
    pub(super) fn of(out: &'a mut Out, limits: &'a mut Limits, name: Name<'a>) -> Self {
        Self {
            out,
            limits,
            name,
            kind: None,
            schema: None,
            stays_open: false,
        }
    }

    fn number(self, number: impl Into<serde_json::Number>) -> Written {
        let number = number.into();
        let instant = number.as_i64().filter(|_| self.kind == Some(Kind::Millis));
        if let Some(instant) = instant.and_then(DateTime::from_timestamp_millis) {
            return self.instant(instant);
        }
        let name = self.name.of_other();
        self.text(name, &[("type", "number")], &number.to_string())
    }

    fn instant(self, instant: DateTime<Utc>) -> Written {
        let (iso, millis) = (wire::iso(instant), instant.timestamp_millis().to_string());
        let name = self.name.of_other();
        self.text(name, &[("type", "date"), ("date", &iso)], &millis)
    }

    /// Writes an element with text in it.
    fn text(self, name: &str, attributes: &[(&str, &str)], text: &str) -> Written {
        self.limits.take(text.len())?;
        let name = repair_name(name);
        let start = BytesStart::new(&*name).with_attributes(attributes.iter().copied());
        self.out.write_event(Event::Start(start))?;
        self.out
            .write_event(Event::Text(BytesText::from_escaped(escape(text))))?;
        self.out.write_event(Event::End(BytesEnd::new(&*name)))?;
        Ok(Ended::default())
    }

    fn empty(self) -> Written {
        let name = repair_name(self.name.of_other());
        self.out.write_event(Event::Empty(BytesStart::new(name)))?;
        Ok(Ended::default())
    }

    /// Begins an element of the kind `kind` with others in it.
    fn group(self, name: Cow<'a, str>, kind: &str) -> Result<Group<'a>, Failure> {
        self.limits.enter()?;
        let name = match repair_name(&name) {
            Cow::Borrowed(_) => name,
            Cow::Owned(repaired) => Cow::Owned(repaired),
        };
        let start = BytesStart::new(&*name).with_attributes([("type", kind), ("size", "")]);
        self.out.write_event(Event::Start(start))?;
        Ok(Group {
            // Before the quotation mark and the bracket.
            size_at: self.out.get_ref().bytes().len().saturating_sub(2),
            out: self.out,
            limits: self.limits,
            name,
            schema: self.schema,
            size: 0,
            key: String::new(),
            items: "",
            stays_open: self.stays_open,
        })
    }

    fn list(self) -> Result<Group<'a>, Failure> {
        let name = self.name;
        let group = self.group(Cow::Borrowed(name.of_other()), "collection")?;
        Ok(Group {
            items: name.of_items(),
            ..group
        })
    }

    fn object(self) -> Result<Group<'a>, Failure> {
        let kind = match self.kind {
            Some(Kind::Object) => "map",
            _ => "bean",
        };
        let name = self.name.of_object();
        self.group(name, kind)
    }

    /// Writes what has no form of its own here as JSON has it.
    fn like_json<T: Serialize + ?Sized>(self, value: &T) -> Written {
        let value = serde_json::to_value(value).map_err(Error::internal)?;
        value.serialize(self)
    }
}

/// An element with others in it, which has begun.
pub(super) struct Group<'a> {
    out: &'a mut Out,
    limits: &'a mut Limits,
    name: Cow<'a, str>,
    schema: Option<&'static Schema>,
    /// The place of the number of elements, which is known at the end.
    size_at: usize,
    size: usize,
    /// The key of the entry of a map whose value comes next.
    key: String,
    /// The name of the list for which the items of a list have names.
    items: &'a str,
    stays_open: bool,
}

impl Group<'_> {
    fn item<T: Serialize + ?Sized>(&mut self, value: &T) -> Done {
        self.size += 1;
        self.limits.count(1)?;
        let element = Element::of(self.out, self.limits, Name::In(self.items));
        value.serialize(element).map(drop)
    }

    fn field<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Done {
        self.size += 1;
        self.limits.count(1)?;
        self.limits.note_key(name);
        let kind = self.schema.and_then(|it| it.field(name)).map(|it| it.kind);
        let element = Element {
            kind,
            ..Element::of(self.out, self.limits, Name::Own(name))
        };
        value.serialize(element).map(drop)
    }

    fn finish(self) -> Written {
        let ended = Ended {
            size_at: self.size_at,
            size: self.size,
        };
        self.limits.leave();
        match self.stays_open {
            true => Ok(ended),
            false => close(self.out, &self.name, ended),
        }
    }
}

/// Ends the element `name`, which was left open.
pub(super) fn close(out: &mut Out, name: &str, ended: Ended) -> Written {
    out.get_mut()
        .insert(ended.size_at, ended.size.to_string().as_bytes())?;
    out.write_event(Event::End(BytesEnd::new(name)))?;
    Ok(ended)
}

macro_rules! numbers {
    ($($method:ident: $type:ty),*) => {$(
        fn $method(self, number: $type) -> Written {
            self.number(number)
        }
    )*};
}

impl<'a> Serializer for Element<'a> {
    type Ok = Ended;
    type Error = Failure;
    type SerializeSeq = Group<'a>;
    type SerializeTuple = Group<'a>;
    type SerializeTupleStruct = Group<'a>;
    type SerializeTupleVariant = Variant<'a, <Json as Serializer>::SerializeTupleVariant>;
    type SerializeMap = Group<'a>;
    type SerializeStruct = Group<'a>;
    type SerializeStructVariant = Variant<'a, <Json as Serializer>::SerializeStructVariant>;

    numbers!(
        serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64
    );

    fn serialize_bool(self, value: bool) -> Written {
        let text = if value { "true" } else { "false" };
        let name = self.name.of_other();
        self.text(name, &[("type", "boolean")], text)
    }

    fn serialize_f32(self, number: f32) -> Written {
        self.like_json(&number)
    }

    fn serialize_f64(self, number: f64) -> Written {
        match serde_json::Number::from_f64(number) {
            Some(number) => self.number(number),
            None => self.empty(),
        }
    }

    fn serialize_char(self, c: char) -> Written {
        self.serialize_str(c.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, text: &str) -> Written {
        if self.kind == Some(Kind::Instant)
            && let Ok(instant) = DateTime::parse_from_rfc3339(text)
        {
            return self.instant(instant.to_utc());
        }
        let name = self.name.of_text();
        self.text(name, &[], text)
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Written {
        self.like_json(bytes)
    }

    fn serialize_none(self) -> Written {
        self.empty()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Written {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Written {
        self.empty()
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Written {
        self.empty()
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Written {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        value: &T,
    ) -> Written {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        value: &T,
    ) -> Written {
        let json = Json.serialize_newtype_variant(name, index, variant, value);
        json.map_err(Error::internal)?.serialize(self)
    }

    fn serialize_seq(self, _length: Option<usize>) -> Result<Group<'a>, Failure> {
        self.list()
    }

    fn serialize_tuple(self, _length: usize) -> Result<Group<'a>, Failure> {
        self.list()
    }

    fn serialize_tuple_struct(
        self,
        _name: &'static str,
        _length: usize,
    ) -> Result<Group<'a>, Failure> {
        self.list()
    }

    fn serialize_tuple_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<Self::SerializeTupleVariant, Failure> {
        let json = Json.serialize_tuple_variant(name, index, variant, length);
        Ok(Variant(self, json.map_err(Error::internal)?))
    }

    fn serialize_map(self, _length: Option<usize>) -> Result<Group<'a>, Failure> {
        self.object()
    }

    fn serialize_struct(self, _name: &'static str, _length: usize) -> Result<Group<'a>, Failure> {
        self.object()
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<Self::SerializeStructVariant, Failure> {
        let json = Json.serialize_struct_variant(name, index, variant, length);
        Ok(Variant(self, json.map_err(Error::internal)?))
    }
}

macro_rules! lists {
    ($($kind:ident: $method:ident),*) => {$(
        impl ser::$kind for Group<'_> {
            type Ok = Ended;
            type Error = Failure;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Done {
                self.item(value)
            }

            fn end(self) -> Written {
                self.finish()
            }
        }
    )*};
}

lists!(
    SerializeSeq: serialize_element, SerializeTuple: serialize_element,
    SerializeTupleStruct: serialize_field
);

impl ser::SerializeMap for Group<'_> {
    type Ok = Ended;
    type Error = Failure;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Done {
        self.key = match serde_json::to_value(key).map_err(Error::internal)? {
            Value::String(key) => key,
            other => other.to_string(),
        };
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Done {
        let key = std::mem::take(&mut self.key);
        self.field(&key, value)
    }

    fn end(self) -> Written {
        self.finish()
    }
}

impl ser::SerializeStruct for Group<'_> {
    type Ok = Ended;
    type Error = Failure;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Done {
        self.field(name, value)
    }

    fn end(self) -> Written {
        self.finish()
    }
}

/// An element of a variant with fields, which is written as JSON has it, and what makes JSON of it.
pub(super) struct Variant<'a, J>(Element<'a>, J);

impl<J: ser::SerializeTupleVariant<Ok = Value, Error = serde_json::Error>>
    ser::SerializeTupleVariant for Variant<'_, J>
{
    type Ok = Ended;
    type Error = Failure;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Done {
        Ok(self.1.serialize_field(value).map_err(Error::internal)?)
    }

    fn end(self) -> Written {
        self.1.end().map_err(Error::internal)?.serialize(self.0)
    }
}

impl<J: ser::SerializeStructVariant<Ok = Value, Error = serde_json::Error>>
    ser::SerializeStructVariant for Variant<'_, J>
{
    type Ok = Ended;
    type Error = Failure;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Done {
        Ok(self
            .1
            .serialize_field(name, value)
            .map_err(Error::internal)?)
    }

    fn end(self) -> Written {
        self.1.end().map_err(Error::internal)?.serialize(self.0)
    }
}
