//! A file that came with a request.

use super::{Blob, OCTETS, file_name, media_type};
use crate::primitives::error::{Error, Result};

/// A file that came with a request. Its bytes are stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upload {
    /// The name of the field of the form that held the file; empty if the body was the file.
    pub field: String,
    /// The bytes.
    pub blob: Blob,
    /// The name of the file, without folders, if the client told one.
    pub name: Option<String>,
    /// The media type, which follows from the name.
    pub media_type: String,
}

impl Upload {
    /// Creates a file of the field `field` that a client sent under `name`.
    ///
    /// # Errors
    /// Returns an error if the name can't be the name of a file.
    pub fn new(field: impl Into<String>, blob: Blob, name: Option<&str>) -> Result<Self> {
        let field = field.into();
        let name = Self::check_name(&field, name)?;
        Ok(Self {
            blob,
            media_type: name.as_deref().map_or(OCTETS, media_type).to_owned(),
            name,
            field,
        })
    }

    /// Returns the name of a file that the field `field` holds, without folders.
    ///
    /// # Errors
    /// Returns an error if it can't be the name of a file.
    pub fn check_name(field: &str, name: Option<&str>) -> Result<Option<String>> {
        let name = name.filter(|it| !it.is_empty()).map(file_name).transpose();
        let name = name.map_err(|message| match field {
            "" => Error::bad_request(format!("the file {message}")),
            field => Error::field(field, message),
        })?;
        Ok(name.map(ToOwned::to_owned))
    }
}
