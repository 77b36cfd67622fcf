//! A body in JSON.

use std::fmt;

use entity_core::format::Parser;
use entity_core::{Error, Input, Result};
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::MAX_DEPTH;

/// Reads `application/json`.
#[derive(Clone, Copy, Debug, Default)]
pub struct JsonParser;

impl Parser for JsonParser {
    fn media_type(&self) -> &'static str {
        "application/json"
    }

    fn name(&self) -> &'static str {
        "json"
    }

    /// No bytes at all are no fields.
    fn parse(&self, body: &[u8]) -> Result<Input> {
        if body.is_empty() {
            return Ok(Input::default());
        }
        match parse_value(body)? {
            Value::Object(fields) => Ok(Input {
                fields,
                is_textual: false,
                is_form: false,
                ..Input::default()
            }),
            _ => Err(Error::bad_request("the body must be a JSON object")),
        }
    }
}

/// One JSON value and nothing else, in which no key occurs twice and nothing is nested too deeply.
///
/// # Errors
/// The body is something else; the error says where.
pub fn parse_value(body: &[u8]) -> Result<Value> {
    // Some programs write a byte order mark before all that they write.
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    let mut deserializer = serde_json::Deserializer::from_slice(body);
    Level(0)
        .deserialize(&mut deserializer)
        .and_then(|value| deserializer.end().map(|()| value))
        .map_err(refuse)
}

fn refuse(error: serde_json::Error) -> Error {
    // Errors about data are ours, and their text is; the others tell the parser's own business.
    let text = match error.is_data() {
        true => error.to_string(),
        false => format!(
            "the body is not well-formed JSON at line {} column {}",
            error.line(),
            error.column()
        ),
    };
    Error::bad_request(text).with_source(error)
}

/// Reads a value inside this many lists and objects.
#[derive(Clone, Copy)]
struct Level(usize);

impl Level {
    fn below<E: serde::de::Error>(self) -> Result<Self, E> {
        match self.0 < MAX_DEPTH {
            true => Ok(Self(self.0 + 1)),
            false => Err(E::custom(format_args!(
                "the body must not be nested more than {MAX_DEPTH} levels deep"
            ))),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Level {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Level {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        serde_json::Number::from_f64(value)
            .map(Value::Number)
            .ok_or_else(|| E::custom("a number must be finite"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let below = self.below()?;
        let mut values = Vec::new();
        while let Some(value) = items.next_element_seed(below)? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let below = self.below()?;
        let mut fields = Map::new();
        while let Some(name) = entries.next_key::<String>()? {
            if fields.contains_key(&name) {
                return Err(A::Error::custom(format_args!(
                    "the key `{name}` must not occur twice in one object"
                )));
            }
            let value = entries.next_value_seed(below)?;
            fields.insert(name, value);
        }
        Ok(Value::Object(fields))
    }
}
