//! Forms: empty, filled with an entity, or given back with the errors of a refused submission.

use serde_json::Map;

use super::Item;
use crate::model::schema::Schema;
use crate::primitives::error::{ErrorKind, FieldError};
use crate::primitives::version::Version;

/// A form to create an entity, or to change or delete the one it is filled with.
#[derive(Debug)]
pub struct Form {
    /// The type's prefix.
    pub prefix: &'static str,
    /// The type's fields.
    pub schema: &'static Schema,
    /// The entity that the form is about, if there is one.
    pub item: Option<Item>,
    /// The operation that runs when the form is submitted.
    pub purpose: FormPurpose,
    /// The fields for which the form does not ask, although the type takes them from others.
    pub left_out: Vec<&'static str>,
    /// The things that the form offers to choose from.
    pub offered: Vec<Offered>,
    /// The reason why the form is shown again, if it was submitted before.
    pub refusal: Option<Refusal>,
}

/// The things that a form offers for one field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offered {
    /// The name of the field.
    pub field: &'static str,
    /// The values, each with what people call it, in order.
    pub choices: Vec<(String, String)>,
}

/// The reason why a submitted form was refused.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// The kind of the error: [`ErrorKind::PreconditionFailed`] if the entity has changed since the form was filled
    /// with it.
    pub kind: ErrorKind,
    /// The version of the entity that is overwritten if the form is submitted again.
    pub version: Option<Version>,
    /// The fields that were submitted.
    pub sent: Map<String, serde_json::Value>,
    /// The message that says what is wrong and what to do.
    pub message: String,
    /// The errors of the fields that were refused.
    pub fields: Vec<FieldError>,
    /// True if the other fields were written.
    pub is_partly_saved: bool,
}

impl Offered {
    /// Returns what is offered among `all` for the field `name`; nothing where a value is typed.
    pub fn of<'a>(all: &'a [Self], name: &str) -> &'a [(String, String)] {
        let found = all.iter().find(|it| it.field == name);
        found.map_or(&[], |it| &it.choices)
    }
}

impl Form {
    /// Returns the version of the entity that the form is about. The form contains it, so that nobody overwrites
    /// changes that they have not seen.
    pub fn version(&self) -> Option<Version> {
        match &self.refusal {
            Some(refusal) => refusal.version,
            None => self.item.as_ref()?.version(),
        }
    }

    /// Returns what the form offers for the field `name`; nothing where a value is typed.
    pub fn offered(&self, name: &str) -> &[(String, String)] {
        Offered::of(&self.offered, name)
    }

    /// Returns whether the form was refused because the entity has changed since the form was filled with it.
    pub fn is_outdated(&self) -> bool {
        let refusal = self.refusal.as_ref();
        refusal.is_some_and(|it| it.kind == ErrorKind::PreconditionFailed)
    }
}

/// The operation that runs when a form is submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormPurpose {
    /// Creates an entity.
    Create,
    /// Changes the entity.
    Update,
    /// Deletes the entity.
    Delete,
    /// Logs in: creates a session, which is not shown as an entity.
    LogIn,
}
