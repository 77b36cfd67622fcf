//! Files that belong to an entity: stored by path, shown by absolute URL.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::entity::Enclosure;
use crate::primitives::web::{has_signs_of_address, is_web_address};

/// The maximum number of files of one entity.
const MAX_FILES: usize = 50;
/// The maximum length of a URL in bytes.
const MAX_URL: usize = 2048;
/// The path below which the service's own files have their addresses.
pub const OWN_FILES: &str = "/access/content";
/// The beginning of the paths, below [`OWN_FILES`], of files that are attached to entities and have no other place.
pub const ATTACHED_FILES: &str = "/attachment/";
/// The media type of a file for which nobody named one.
const UNKNOWN_TYPE: &str = "application/octet-stream";

/// The files of an entity: a list of [`Attachment`]s to clients, and one column with JSON in the table. Clients send a
/// list of [`SentFile`]s.
#[derive(Clone, Debug, Default)]
pub struct Files {
    shown: Vec<Attachment>,
    /// The files as they are stored.
    column: String,
}

/// Files are equal when clients see the same: no files are stored in two ways, and a type that is not known in two.
impl PartialEq for Files {
    fn eq(&self, other: &Self) -> bool {
        self.shown == other.shown
    }
}

impl Eq for Files {}

/// A file as clients see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Attachment {
    /// The path of the file within the service; for a file elsewhere its URL.
    pub id: String,
    /// The name that people see.
    pub name: String,
    /// The media type.
    #[serde(rename = "type")]
    pub media_type: String,
    /// The absolute URL.
    pub url: String,
    /// The reference within the service; for a file elsewhere its URL.
    #[serde(rename = "ref")]
    pub reference: String,
    /// The size in bytes, if known.
    pub size: Option<u64>,
}

/// A file as it is sent and stored. What was read can be sent back: `id` and `ref` follow from the URL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SentFile {
    name: String,
    #[serde(rename = "type", default)]
    media_type: Option<String>,
    url: String,
    #[serde(default)]
    size: Option<u64>,
}

impl Files {
    /// Converts files that a client sent; their URLs may be below `base_url`.
    ///
    /// # Errors
    /// Returns a message about the field if there are too many files, or if one of them has no valid name, URL or type.
    pub fn receive(sent: Vec<SentFile>, base_url: &str) -> Result<Self, String> {
        if sent.len() > MAX_FILES {
            return Err(format!("must not have more than {MAX_FILES} items"));
        }
        let files = sent.into_iter().map(|it| it.check(base_url));
        let files = files.collect::<Result<Vec<_>, _>>()?;
        let column = match files.is_empty() {
            true => String::new(),
            false => serde_json::to_string(&files).map_err(|error| error.to_string())?,
        };
        Ok(Self::of(files, column, base_url))
    }

    /// Reads files from a column, which may also be empty.
    ///
    /// # Errors
    /// Returns an error if the column holds something else.
    pub fn parse(column: String, base_url: &str) -> serde_json::Result<Self> {
        let files: Vec<SentFile> = match column.as_str() {
            "" | "[]" => Vec::new(),
            json => serde_json::from_str(json)?,
        };
        Ok(Self::of(files, column, base_url))
    }

    fn of(files: Vec<SentFile>, column: String, base_url: &str) -> Self {
        let shown = files.into_iter().map(|it| it.show(base_url)).collect();
        Self { shown, column }
    }

    /// Returns the files as they are stored.
    pub fn column(&self) -> &str {
        match self.column.as_str() {
            "" => "[]",
            column => column,
        }
    }

    /// Returns the files as feeds show them.
    pub fn to_enclosures(&self) -> Vec<Enclosure> {
        self.shown.iter().map(Attachment::to_enclosure).collect()
    }
}

impl std::ops::Deref for Files {
    type Target = [Attachment];

    fn deref(&self) -> &[Attachment] {
        &self.shown
    }
}

impl Serialize for Files {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.shown.serialize(serializer)
    }
}

impl SentFile {
    fn show(self, base_url: &str) -> Attachment {
        let path = self.url.strip_prefix(OWN_FILES);
        let id = path.map_or_else(|| self.url.clone(), ToOwned::to_owned);
        let reference = path.map_or_else(|| self.url.clone(), |it| format!("/content{it}"));
        let url = match self.url.starts_with('/') {
            true => format!("{base_url}{}", self.url),
            false => self.url,
        };
        Attachment {
            id,
            name: self.name,
            media_type: self.media_type.unwrap_or_else(|| UNKNOWN_TYPE.to_owned()),
            url,
            reference,
            size: self.size,
        }
    }

    fn check(mut self, base_url: &str) -> Result<Self, String> {
        if let Some(path) = self.url.strip_prefix(base_url)
            && path.starts_with('/')
        {
            self.url = path.to_owned();
        }
        let refuse = |message: &str| Err(message.to_owned());
        if !is_address(&self.url) {
            return refuse("must each have a `url` of http, https or this site");
        }
        let length = self.name.chars().count();
        if self.name.trim().is_empty() || length > 255 || self.name.chars().any(char::is_control) {
            return refuse("must each have a `name` of 1 to 255 characters");
        }
        if !self.media_type.as_deref().is_none_or(is_media_type) {
            return refuse("must each have a `type` such as application/pdf, or none");
        }
        Ok(self)
    }
}

impl Attachment {
    fn to_enclosure(&self) -> Enclosure {
        Enclosure {
            url: self.url.clone(),
            name: self.name.clone(),
            media_type: self.media_type.clone(),
            length: self.size,
        }
    }
}

/// Returns whether `url` is an absolute web address, or a path of this service. Two slashes at the beginning would lead
/// elsewhere.
fn is_address(url: &str) -> bool {
    let is_path = url.starts_with('/')
        && !url.starts_with("//")
        && !url.split('/').any(|it| matches!(it, "." | ".."))
        && has_signs_of_address(url);
    url.len() <= MAX_URL && (is_path || is_web_address(url))
}

fn is_media_type(text: &str) -> bool {
    let is_token = |part: &str| {
        !part.is_empty()
            && part
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "!#$&^_.+-".contains(c))
    };
    text.len() <= 127
        && text
            .split_once('/')
            .is_some_and(|(kind, rest)| is_token(kind) && is_token(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "https://lms.example";

    #[test]
    fn x40_no_files_are_equal_however_they_are_stored() {
        let sent = Files::receive(Vec::new(), BASE).unwrap();
        for column in ["", "[]"] {
            assert_eq!(Files::parse(column.to_owned(), BASE).unwrap(), sent);
        }
    }

    fn sent(url: &str) -> SentFile {
        SentFile {
            name: "map.pdf".to_owned(),
            media_type: Some("application/pdf".to_owned()),
            url: url.to_owned(),
            size: Some(7),
        }
    }

    #[test]
    fn a_file_of_the_service_is_stored_by_path_and_shown_by_address() {
        let url = "https://lms.example/access/content/attachment/c/a/map.pdf";
        let files = Files::receive(vec![sent(url)], BASE).unwrap();
        assert!(!files.column().contains("lms.example"));
        let shown = Files::parse(files.column().to_owned(), "https://new.example").unwrap();
        assert_eq!(
            *shown,
            [Attachment {
                id: "/attachment/c/a/map.pdf".to_owned(),
                name: "map.pdf".to_owned(),
                media_type: "application/pdf".to_owned(),
                url: "https://new.example/access/content/attachment/c/a/map.pdf".to_owned(),
                reference: "/content/attachment/c/a/map.pdf".to_owned(),
                size: Some(7),
            }]
        );
    }

    #[test]
    fn only_addresses_of_the_web_and_of_the_service_are_taken() {
        for (url, is_taken) in [
            ("https://example.org/a.pdf", true),
            ("http://example.org", true),
            ("/access/content/a.pdf", true),
            ("//example.org/a.pdf", false),
            ("javascript:alert(1)", false),
            ("data:text/html,x", false),
            ("https://", false),
            ("a.pdf", false),
            ("", false),
            ("/a b", false),
            ("/\\example.org", false),
            ("/access/content/../../x", false),
            ("https://lms.example.evil.example/x", true),
        ] {
            assert_eq!(
                Files::receive(vec![sent(url)], BASE).is_ok(),
                is_taken,
                "{url}"
            );
        }
    }

    #[test]
    fn names_types_and_numbers_of_files_have_limits() {
        let with = |change: fn(&mut SentFile)| {
            let mut file = sent("/a");
            change(&mut file);
            Files::receive(vec![file], BASE).is_ok()
        };
        assert!(with(|_| {}));
        assert!(!with(|it| it.name = " ".to_owned()));
        assert!(!with(|it| it.name = "x".repeat(256)));
        assert!(!with(|it| it.media_type = Some("pdf".to_owned())));
        assert!(!with(|it| it.media_type = Some("a/b\r\nX: y".to_owned())));
        assert!(Files::receive(vec![sent("/a"); MAX_FILES], BASE).is_ok());
        assert!(Files::receive(vec![sent("/a"); MAX_FILES + 1], BASE).is_err());
    }
}
