//! The body of an HTML form, and the query of a URL, which is written the same way.

use entity_core::format::Parser;
use entity_core::{Error, ErrorKind, Input, Result};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value};

/// The media type of forms.
pub const FORM: &str = "application/x-www-form-urlencoded";
/// The most bytes of a form or a query; of a form with files, each byte may take three.
const MAX_BYTES: usize = 3 << 20;
/// The most pairs in a form or a query: those of a long quiz.
const MAX_PAIRS: usize = 6_000;

/// The characters that are written as `%XX`.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Reads `application/x-www-form-urlencoded`.
#[derive(Clone, Copy, Debug, Default)]
pub struct FormParser;

impl Parser for FormParser {
    fn media_type(&self) -> &'static str {
        FORM
    }

    fn name(&self) -> &'static str {
        "form"
    }

    /// A key that occurs more than once becomes a list, and so does one that ends with `[]`, as some programs write
    /// keys that may occur more than once.
    fn parse(&self, body: &[u8]) -> Result<Input> {
        let mut fields = Map::new();
        for (name, value) in parse_pairs(body)? {
            match name.strip_suffix("[]").filter(|it| !it.is_empty()) {
                Some(name) => push(&mut fields, name, value),
                None => add(&mut fields, name, value),
            }
        }
        Ok(Input {
            fields,
            is_textual: true,
            is_form: true,
            ..Input::default()
        })
    }
}

/// Adds a value of a list. The empty one says that there is none.
fn push(fields: &mut Map<String, Value>, name: &str, value: String) {
    if !fields.contains_key(name) {
        fields.insert(name.to_owned(), Value::Array(Vec::new()));
    }
    if !value.is_empty() {
        add(fields, name.to_owned(), value);
    }
}

fn add(fields: &mut Map<String, Value>, name: String, value: String) {
    let value = Value::String(value);
    match fields.get_mut(&name) {
        None => drop(fields.insert(name, value)),
        Some(Value::Array(values)) => values.push(value),
        Some(first) => *first = Value::Array(vec![first.take(), value]),
    }
}

/// The names and values of a form's body or of a URL's query, decoded, in order.
///
/// # Errors
/// There are too many, or one is not UTF-8 or has a percent sign without two digits behind it.
pub fn parse_pairs(encoded: &[u8]) -> Result<Vec<(String, String)>> {
    if encoded.len() > MAX_BYTES {
        return Err(Error::new(
            ErrorKind::TooLarge,
            format!("a form or query must not be longer than {MAX_BYTES} bytes"),
        ));
    }
    let pairs: Vec<_> = encoded
        .split(|it| *it == b'&')
        .filter(|it| !it.is_empty())
        .collect();
    if pairs.len() > MAX_PAIRS {
        return Err(Error::bad_request(format!(
            "a form or query must not have more than {MAX_PAIRS} values"
        )));
    }
    pairs.into_iter().map(parse_pair).collect()
}

/// `pairs` as the body of a form or the query of a URL: what [`parse_pairs`] reads.
pub fn write_pairs<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    pairs
        .into_iter()
        .map(|(name, value)| format!("{}={}", encode(name), encode(value)))
        .collect::<Vec<_>>()
        .join("&")
}

/// `text` as a name or a value of a pair.
pub fn encode(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

fn parse_pair(pair: &[u8]) -> Result<(String, String)> {
    let mut halves = pair.splitn(2, |it| *it == b'=');
    let mut next = || decode(halves.next().unwrap_or_default());
    Ok((next()?, next()?))
}

fn decode(encoded: &[u8]) -> Result<String> {
    let mut decoded = Vec::with_capacity(encoded.len());
    let mut bytes = encoded.iter();
    while let Some(byte) = bytes.next() {
        decoded.push(match byte {
            b'+' => b' ',
            b'%' => decode_escape(bytes.next(), bytes.next())?,
            other => *other,
        });
    }
    String::from_utf8(decoded)
        .map_err(|error| Error::bad_request("a form or query must be UTF-8").with_source(error))
}

fn decode_escape(high: Option<&u8>, low: Option<&u8>) -> Result<u8> {
    let digit = |byte: Option<&u8>| {
        byte.and_then(|it| char::from(*it).to_digit(16))
            .and_then(|it| u8::try_from(it).ok())
    };
    match (digit(high), digit(low)) {
        (Some(high), Some(low)) => Ok(high << 4 | low),
        _ => Err(Error::bad_request(
            "a percent sign in a form or query must be followed by two hexadecimal digits",
        )),
    }
}
