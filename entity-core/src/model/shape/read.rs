//! The conversion of data that a client sent to the shape that a JSON Schema declares.

use serde_json::{Map, Value};

use crate::model::schema::Kind;
use crate::model::value::{self, REQUIRED};
use crate::primitives::error::{Error, FieldError};

/// The maximum length of a text whose schema sets no limit: as many characters as a body has room for.
const ANY_LENGTH: usize = usize::MAX;

/// A reader that converts data to the shape of a schema.
#[derive(Clone, Copy)]
pub(super) struct Reader {
    /// True if the data is in a format that has text only: numbers and the like are parsed from text, an empty text
    /// means null, and a list may be an element with one element inside.
    pub(super) is_textual: bool,
}

/// An error and its path, such as `[0].url`, relative to the value that was read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Wrong {
    path: String,
    message: String,
}

impl Wrong {
    fn here(message: impl Into<String>) -> Self {
        Self {
            path: String::new(),
            message: message.into(),
        }
    }

    /// Adds the index of a list's item to the front of the path.
    fn in_item(self, index: usize) -> Self {
        Self {
            path: format!("[{index}]{}", self.path),
            ..self
        }
    }

    /// Adds the name of an object's field to the front of the path.
    fn in_field(self, name: &str) -> Self {
        Self {
            path: format!(".{name}{}", self.path),
            ..self
        }
    }

    /// Converts the error to one of the field `name` of an entity.
    pub(super) fn below(self, name: &str) -> FieldError {
        FieldError {
            name: format!("{name}{}", self.path),
            message: self.message,
        }
    }

    /// Converts the error to one of a body.
    pub(super) fn into_error(self) -> Error {
        match self.path.trim_start_matches('.') {
            "" => Error::bad_request(format!("the body {}", self.message)),
            path => Error::field(path, self.message),
        }
    }
}

type Read = Result<Value, Wrong>;

impl Reader {
    /// Converts `value` to the shape of `schema`. Constraints of the schema that are not checked here must be checked
    /// by the type when it is decoded.
    pub(super) fn read(self, schema: &Value, value: Value) -> Read {
        let alternatives = schema.get("anyOf").or_else(|| schema.get("oneOf"));
        if let Some(Value::Array(alternatives)) = alternatives {
            return self.read_one_of(alternatives, value);
        }
        let types = Types::of(schema);
        let is_empty = value.as_str() == Some("");
        match value {
            value if types.0.is_empty() => Ok(value),
            Value::Null if types.has("null") => Ok(Value::Null),
            Value::Null => Err(Wrong::here(REQUIRED)),
            _ if self.is_textual && is_empty && types.has("null") => Ok(Value::Null),
            Value::Array(items) if types.has("array") => self.read_list(schema, items),
            Value::Object(fields) if types.has("object") => self.read_object(schema, fields),
            value if self.is_textual && types.has("array") => match as_items(value) {
                Some(items) => self.read_list(schema, items),
                None => Err(Wrong::here(value::must_be(Kind::List))),
            },
            _ if self.is_textual && is_empty && types.has("object") => {
                self.read_object(schema, Map::new())
            }
            value => self.read_scalar(schema, &types, &value),
        }
    }

    fn read_one_of(self, alternatives: &[Value], value: Value) -> Read {
        let (nothing, forms): (Vec<_>, Vec<_>) = alternatives
            .iter()
            .partition(|it| it.get("type").and_then(Value::as_str) == Some("null"));
        let is_nothing = value.is_null() || (self.is_textual && value.as_str() == Some(""));
        if is_nothing && !nothing.is_empty() {
            return Ok(Value::Null);
        }
        if let [form] = forms.as_slice() {
            return self.read(form, value);
        }
        let constants: Vec<&str> = forms
            .iter()
            .filter_map(|it| it.get("const").and_then(Value::as_str))
            .collect();
        let read = forms
            .into_iter()
            .find_map(|it| self.read(it, value.clone()).ok());
        read.ok_or_else(|| match constants.is_empty() {
            true => Wrong::here("is in none of the forms that it may have"),
            false => Wrong::here(format!("must be {}", constants.join(" or "))),
        })
    }

    fn read_list(self, schema: &Value, items: Vec<Value>) -> Read {
        let places = schema.get("prefixItems").and_then(Value::as_array);
        let all = schema.get("items").unwrap_or(&Value::Bool(true));
        let read = items.into_iter().enumerate().map(|(index, item)| {
            let schema = places.and_then(|it| it.get(index)).unwrap_or(all);
            self.read(schema, item).map_err(|it| it.in_item(index))
        });
        read.collect::<Result<_, _>>().map(Value::Array)
    }

    fn read_object(self, schema: &Value, fields: Map<String, Value>) -> Read {
        let missing = required(schema).find(|it| !fields.contains_key(*it));
        if let Some(name) = missing {
            return Err(Wrong::here(REQUIRED).in_field(name));
        }
        let known = schema.get("properties");
        let others = schema.get("additionalProperties");
        let read = fields.into_iter().map(|(name, value)| {
            let value = match known.and_then(|it| it.get(&name)).or(others) {
                None => Ok(value),
                Some(Value::Bool(false)) => Err(Wrong::here("is not known here")),
                Some(schema) => self.read(schema, value),
            };
            match value {
                Ok(value) => Ok((name, value)),
                Err(wrong) => Err(wrong.in_field(&name)),
            }
        });
        read.collect::<Result<_, _>>().map(Value::Object)
    }

    fn read_scalar(self, schema: &Value, types: &Types<'_>, value: &Value) -> Read {
        let kinds: Vec<Kind> = types.kinds(schema).collect();
        let fitting = kinds.iter().find_map(|kind| match value {
            Value::String(text) if self.is_textual => value::read(*kind, text).ok(),
            value => value::fit(*kind, value.clone()).ok(),
        });
        let message = || match kinds.as_slice() {
            [Kind::Object] => object_with(schema),
            [kind] => value::fit(*kind, value.clone())
                .err()
                .unwrap_or_else(|| value::must_be(*kind)),
            _ => "is in none of the forms that it may have".to_owned(),
        };
        let fitting = fitting.ok_or_else(|| Wrong::here(message()))?;
        check_choice(schema, &fitting)?;
        check_range(schema, &fitting)?;
        Ok(fitting)
    }
}

/// The types that a schema allows.
struct Types<'a>(Vec<&'a str>);

impl<'a> Types<'a> {
    fn of(schema: &'a Value) -> Self {
        Self(match schema.get("type") {
            Some(Value::String(one)) => vec![one],
            Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        })
    }

    fn has(&self, name: &str) -> bool {
        self.0.contains(&name)
    }

    /// Returns the allowed types as kinds of values, without null.
    fn kinds(&self, schema: &Value) -> impl Iterator<Item = Kind> {
        let format = schema.get("format").and_then(Value::as_str);
        let most = schema.get("maxLength").and_then(Value::as_u64);
        let most = most.and_then(|it| usize::try_from(it).ok());
        self.0.iter().filter_map(move |name| match *name {
            "string" if format == Some("date-time") => Some(Kind::Instant),
            "string" => Some(Kind::Text(most.unwrap_or(ANY_LENGTH))),
            "integer" => Some(Kind::Integer),
            "number" => Some(Kind::Number),
            "boolean" => Some(Kind::Boolean),
            "array" => Some(Kind::List),
            "object" => Some(Kind::Object),
            _ => None,
        })
    }
}

/// Returns the items of a list in a format that has text only, where a list is blank text, one item, or an element
/// around one item.
fn as_items(value: Value) -> Option<Vec<Value>> {
    match value {
        Value::String(text) if text.trim().is_empty() => Some(Vec::new()),
        Value::Object(fields) if fields.len() == 1 => {
            Some(fields.into_iter().map(|(_, item)| item).collect())
        }
        Value::Object(_) => None,
        item => Some(vec![item]),
    }
}

fn required(schema: &Value) -> impl Iterator<Item = &str> {
    let names = schema.get("required").and_then(Value::as_array);
    names.into_iter().flatten().filter_map(Value::as_str)
}

fn object_with(schema: &Value) -> String {
    let names: Vec<String> = required(schema).map(|it| format!("`{it}`")).collect();
    match names.is_empty() {
        true => value::must_be(Kind::Object),
        false => format!(
            "{} with {}",
            value::must_be(Kind::Object),
            names.join(" and ")
        ),
    }
}

fn check_choice(schema: &Value, value: &Value) -> Result<(), Wrong> {
    let choices: Vec<&Value> = match (schema.get("const"), schema.get("enum")) {
        (Some(only), _) => vec![only],
        (None, Some(Value::Array(several))) => several.iter().collect(),
        _ => return Ok(()),
    };
    if choices.contains(&value) {
        return Ok(());
    }
    let named = choices.iter().filter(|it| !it.is_null());
    let texts: Vec<String> = named
        .map(|it| match it {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        })
        .collect();
    Err(Wrong::here(format!("must be {}", texts.join(" or "))))
}

fn check_range(schema: &Value, value: &Value) -> Result<(), Wrong> {
    let Some(number) = value.as_f64() else {
        return Ok(());
    };
    let own = match schema.get("format").and_then(Value::as_str) {
        Some("int32") => (Some(f64::from(i32::MIN)), Some(f64::from(i32::MAX))),
        Some("uint32") => (None, Some(f64::from(u32::MAX))),
        _ => (None, None),
    };
    let limit = |name: &str| schema.get(name).and_then(Value::as_f64);
    match (limit("minimum").or(own.0), limit("maximum").or(own.1)) {
        (Some(least), _) if number < least => {
            Err(Wrong::here(format!("must not be less than {least}")))
        }
        (_, Some(most)) if number > most => {
            Err(Wrong::here(format!("must not be more than {most}")))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
