//! Forms: empty, filled with an entity, or shown again with what is wrong.

use serde_json::Map;

use super::Item;
use crate::entity::Version;
use crate::error::{ErrorKind, FieldError};
use crate::schema::Schema;

/// A form to create an entity, or to change or delete the one it is filled with.
#[derive(Debug)]
pub struct Form {
    /// The type's prefix.
    pub prefix: &'static str,
    /// The type's fields.
    pub schema: &'static Schema,
    /// The entity it is about.
    pub item: Option<Item>,
    /// What sending it does.
    pub purpose: FormPurpose,
    /// Why it is shown again, if it was sent before.
    pub refusal: Option<Refusal>,
}

/// Why a form that was sent was not taken.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// The kind of the error. [`ErrorKind::PreconditionFailed`] if the entity has changed since the form was
    /// filled with it.
    pub kind: ErrorKind,
    /// The version of the entity that is to be written over when the form is sent again.
    pub version: Option<Version>,
    /// What was sent.
    pub sent: Map<String, serde_json::Value>,
    /// What is wrong and what to do.
    pub message: String,
    /// The fields that were refused.
    pub fields: Vec<FieldError>,
}

impl Form {
    /// The version of the entity that the form is about, which it carries so that nobody writes over what
    /// they have not seen.
    pub fn version(&self) -> Option<Version> {
        match &self.refusal {
            Some(refusal) => refusal.version,
            None => self.item.as_ref()?.version(),
        }
    }

    /// Whether it was not taken because the entity has changed since it was filled with it.
    pub fn is_outdated(&self) -> bool {
        let refusal = self.refusal.as_ref();
        refusal.is_some_and(|it| it.kind == ErrorKind::PreconditionFailed)
    }
}

/// What sending a form does.
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
