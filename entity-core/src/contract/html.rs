//! Conversion of text from clients to HTML, and sanitising of it; long texts are sanitised before a unit of work opens.
//!
//! Each field of the kind [`Html`](crate::schema::Kind::Html) becomes HTML on its way in, whether it was
//! [typed] as plain text or with markup, and goes through the service's [`Sanitizer`]. A short text
//! is sanitised where it is encountered. A long one would keep others waiting: all long texts in a body are sanitised
//! before the unit of work opens, and only looked up inside it. A long text that no client sent, because a patch copies it
//! from a field that is no HTML, is refused. Providers need not know of any of this.

use serde_json::{Map, Value};

use crate::contract::access::Caller;
use crate::contract::context::{Context, Shared};
use crate::contract::input::Fields;
use crate::contract::sanitizer::LongTexts;
use crate::model::confusables;
use crate::model::schema::{Kind, Schema, Writable};
use crate::primitives::error::{Error, FieldError, Result};
use crate::primitives::typed;

pub use crate::contract::sanitizer::{REPLACED, Sanitized, Sanitizer};

/// The maximum number of characters of a text that a field may hold.
const MOST: usize = 200_000;
/// The refusal of a long text that was not in the body.
const UNSENT: &str =
    "is long and was not sent as it is: send it whole, not by a patch that copies it";

/// The directory to which the URLs in a text are relative: that with the pages of its type, whichever that is.
pub const DIRECTORY: &str = "/direct/%7Btype%7D/";

/// Sanitises the long ones of `texts`.
pub(crate) async fn sanitize_apart(
    shared: &Shared,
    caller: &Caller,
    texts: Vec<&str>,
) -> Result<LongTexts> {
    let mut done = LongTexts::new();
    for text in texts {
        let html = typed::to_html(text).html;
        if shared.sanitizer.takes_long(&html) && !done.contains_key(&html) {
            let sanitized = shared.sanitizer.sanitize_apart(caller, &html).await?;
            done.insert(html, sanitized);
        }
    }
    Ok(done)
}

/// Returns the texts in `sent` that a field may hold.
pub(crate) fn texts(sent: &Value) -> Vec<&str> {
    match sent {
        Value::String(text) if text.chars().count() <= MOST => vec![text],
        Value::Array(entries) => entries.iter().flat_map(texts).collect(),
        Value::Object(fields) => fields.values().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}

/// Returns `html`, which was sanitised or stored, with its URLs in [`DIRECTORY`] in that of the type `prefix`.
pub fn in_type(html: &str, prefix: &str) -> String {
    html.replace(DIRECTORY, &format!("/direct/{prefix}/"))
}

/// The prefix and the schema of a type.
pub(crate) type Type = (&'static str, &'static Schema);

/// Returns whether the type has HTML fields.
pub(crate) fn has_html(schema: &Schema) -> bool {
    schema.fields.iter().any(|it| {
        let is_html = matches!(it.kind, Kind::Html(_));
        is_html || it.children.is_some_and(|it| has_html(it.0()))
    })
}

/// Returns whether `text` is the HTML of a field of `stored` that clients write, or of an entity that is part of it.
fn has_text(schema: &Schema, stored: &Value, text: &str) -> bool {
    schema.fields.iter().any(
        |field| match (field.kind, field.children, stored.get(field.name)) {
            (Kind::Html(_), _, Some(Value::String(it))) => {
                field.writable != Writable::Never && it == text
            }
            (_, Some(children), Some(Value::Array(entries))) => {
                entries.iter().any(|it| has_text(children.0(), it, text))
            }
            _ => false,
        },
    )
}

impl Context {
    /// Returns `fields` with the HTML in them sanitised, for an entity of this type. A text that comes back as the entity has
    /// it `stored` is not what somebody typed: it stays.
    pub(crate) fn sanitize_fields(
        &self,
        (prefix, schema): Type,
        mut fields: Fields,
        stored: Option<&Value>,
    ) -> Result<Fields> {
        let mut errors = Vec::new();
        let mut sanitize = |name: String, text: &mut String| {
            if stored.is_some_and(|it| has_text(schema, it, text)) {
                return;
            }
            match self.sanitize(prefix, text) {
                Ok(sanitized) => *text = sanitized,
                Err(message) => errors.push(FieldError { name, message }),
            }
        };
        visit(schema, "", &mut fields.0, &mut sanitize);
        match errors.is_empty() {
            true => Ok(fields),
            false => Err(Error::fields(errors)),
        }
    }

    fn sanitize(&self, prefix: &str, text: &str) -> Sanitized {
        let mut typed = typed::to_html(text);
        self.replaced.lock().append(&mut typed.replaced);
        let service = &self.shared.sanitizer;
        let sanitized = match self.preparation.texts.get(&typed.html) {
            Some(done) => done.clone()?,
            None if service.takes_long(&typed.html) => return Err(UNSENT.to_owned()),
            None => service.sanitize(&typed.html)?,
        };
        let html = in_type(&typed::to_markup(sanitized), prefix);
        // What was written as a reference shows only now.
        confusables::check_text(&html).map(|()| html)
    }
}

/// Passes the HTML in `fields`, and in the entities that are part of them, to `visitor`, each with its name; `path` is where
/// the fields are.
fn visit(
    schema: &Schema,
    path: &str,
    fields: &mut Map<String, Value>,
    visitor: &mut dyn FnMut(String, &mut String),
) {
    for (name, value) in fields {
        let field = schema.field(name);
        match (field.map(|it| (it.kind, it.children)), value) {
            (Some((Kind::Html(_), _)), Value::String(text)) => {
                visitor(format!("{path}{name}"), text);
            }
            (Some((_, Some(children))), Value::Array(entries)) => {
                let entries = entries.iter_mut().filter_map(Value::as_object_mut);
                for (index, entry) in entries.enumerate() {
                    let path = format!("{path}{name}[{index}].");
                    visit(children.0(), &path, entry, visitor);
                }
            }
            _ => {}
        }
    }
}
