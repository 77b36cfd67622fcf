//! The serialisation of selected fields of an object; all other fields are left out.

use serde::ser::{Error as _, Impossible, SerializeMap, SerializeStruct};
use serde::{Serialize, Serializer};

/// A view of an object that serialises only the selected fields.
pub(crate) struct Chosen<'a, T: ?Sized> {
    data: &'a T,
    fields: &'a [&'static str],
}

impl<'a, T: ?Sized> Chosen<'a, T> {
    /// Selects the fields of `data` that have one of the names in `fields`.
    pub(crate) fn new(data: &'a T, fields: &'a [&'static str]) -> Self {
        Self { data, fields }
    }
}

impl<T: Serialize + ?Sized> Serialize for Chosen<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.data.serialize(Outermost {
            serializer,
            fields: self.fields,
        })
    }
}

/// The serialiser of the outermost value, which must be an object: every other type is refused.
struct Outermost<'a, S> {
    serializer: S,
    fields: &'a [&'static str],
}

/// The serialiser of the object's entries, which passes on the selected ones.
struct Entries<'a, M> {
    map: M,
    fields: &'a [&'static str],
    /// True if the value that belongs to the last key is passed on.
    is_wanted: bool,
}

const NO_OBJECT: &str = "an entity must be an object";

macro_rules! refuse {
    ($($method:ident: $type:ty),*) => {$(
        fn $method(self, _value: $type) -> Result<S::Ok, S::Error> {
            Err(S::Error::custom(NO_OBJECT))
        }
    )*};
}

impl<'a, S: Serializer> Serializer for Outermost<'a, S> {
    type Ok = S::Ok;
    type Error = S::Error;
    type SerializeSeq = Impossible<S::Ok, S::Error>;
    type SerializeTuple = Impossible<S::Ok, S::Error>;
    type SerializeTupleStruct = Impossible<S::Ok, S::Error>;
    type SerializeTupleVariant = Impossible<S::Ok, S::Error>;
    type SerializeMap = Entries<'a, S::SerializeMap>;
    type SerializeStruct = Entries<'a, S::SerializeMap>;
    type SerializeStructVariant = Impossible<S::Ok, S::Error>;

    fn serialize_map(self, _length: Option<usize>) -> Result<Self::SerializeMap, S::Error> {
        Ok(Entries {
            map: self.serializer.serialize_map(None)?,
            fields: self.fields,
            is_wanted: false,
        })
    }

    fn serialize_struct(
        self,
        _name: &'static str,
        _length: usize,
    ) -> Result<Self::SerializeStruct, S::Error> {
        self.serialize_map(None)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        value.serialize(self)
    }

    refuse!(
        serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32,
        serialize_i64: i64, serialize_u8: u8, serialize_u16: u16, serialize_u32: u32,
        serialize_u64: u64, serialize_f32: f32, serialize_f64: f64, serialize_char: char,
        serialize_str: &str, serialize_bytes: &[u8], serialize_unit_struct: &'static str
    );

    fn serialize_none(self) -> Result<S::Ok, S::Error> {
        Err(S::Error::custom(NO_OBJECT))
    }

    fn serialize_unit(self) -> Result<S::Ok, S::Error> {
        Err(S::Error::custom(NO_OBJECT))
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        _variant: &'static str,
    ) -> Result<S::Ok, S::Error> {
        Err(S::Error::custom(NO_OBJECT))
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        _variant: &'static str,
        _value: &T,
    ) -> Result<S::Ok, S::Error> {
        Err(S::Error::custom(NO_OBJECT))
    }

    fn serialize_seq(self, _length: Option<usize>) -> Result<Self::SerializeSeq, S::Error> {
        Err(S::Error::custom(NO_OBJECT))
    }

    fn serialize_tuple(self, _length: usize) -> Result<Self::SerializeTuple, S::Error> {
        Err(S::Error::custom(NO_OBJECT))
    }

    fn serialize_tuple_struct(
        self,
        _name: &'static str,
        _length: usize,
    ) -> Result<Self::SerializeTupleStruct, S::Error> {
        Err(S::Error::custom(NO_OBJECT))
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        _variant: &'static str,
        _length: usize,
    ) -> Result<Self::SerializeTupleVariant, S::Error> {
        Err(S::Error::custom(NO_OBJECT))
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        _variant: &'static str,
        _length: usize,
    ) -> Result<Self::SerializeStructVariant, S::Error> {
        Err(S::Error::custom(NO_OBJECT))
    }
}

impl<M: SerializeMap> SerializeStruct for Entries<'_, M> {
    type Ok = M::Ok;
    type Error = M::Error;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), M::Error> {
        match self.fields.contains(&key) {
            true => self.map.serialize_entry(key, value),
            false => Ok(()),
        }
    }

    fn end(self) -> Result<M::Ok, M::Error> {
        self.map.end()
    }
}

impl<M: SerializeMap> SerializeMap for Entries<'_, M> {
    type Ok = M::Ok;
    type Error = M::Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), M::Error> {
        let name = serde_json::to_value(key).map_err(M::Error::custom)?;
        self.is_wanted = self.fields.iter().any(|it| name == *it);
        match self.is_wanted {
            true => self.map.serialize_key(key),
            false => Ok(()),
        }
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), M::Error> {
        match self.is_wanted {
            true => self.map.serialize_value(value),
            false => Ok(()),
        }
    }

    fn end(self) -> Result<M::Ok, M::Error> {
        self.map.end()
    }
}
