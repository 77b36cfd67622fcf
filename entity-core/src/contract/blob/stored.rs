//! A stored file as an answer.

use serde::{Deserialize, Serialize};

use super::{Blob, media_type};
use crate::DateTimeUtc;

/// A stored file as the answer of an operation that reads. The service streams it, in whole or in the part that the
/// client asks for, and never holds it in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredFile {
    /// The bytes.
    pub blob: Blob,
    /// The media type, such as `image/png`.
    pub media_type: String,
    /// The name under which a client saves the file.
    pub name: Option<String>,
    /// The use that a browser makes of the file: it shows it or saves it.
    pub disposition: Disposition,
    /// The instant at which the file was last replaced, if it is known.
    pub modified: Option<DateTimeUtc>,
}

/// The use that a browser makes of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Disposition {
    /// The browser saves the file.
    #[default]
    Attachment,
    /// The browser shows the file, if its media type is one that can't run code in the name of the service: the common
    /// ones of images, audio, video, PDF and plain text. The browser saves any other file.
    Inline,
}

impl StoredFile {
    /// Creates the answer with `blob` under `name`, from which its media type follows.
    pub fn named(blob: Blob, name: impl Into<String>) -> Self {
        let name = name.into();
        Self {
            blob,
            media_type: media_type(&name).to_owned(),
            name: Some(name),
            disposition: Disposition::default(),
            modified: None,
        }
    }

    /// Lets browsers show the file where that is [safe](Disposition::Inline).
    #[must_use]
    pub fn inline(mut self) -> Self {
        self.disposition = Disposition::Inline;
        self
    }

    /// Sets the instant at which the file was last replaced.
    #[must_use]
    pub fn modified(mut self, at: DateTimeUtc) -> Self {
        self.modified = Some(at);
        self
    }
}
