//! Files that belong to an announcement: stored by path, shown by absolute address.

use entity_core::{Enclosure, Error, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most files of one announcement.
const MAX_ATTACHMENTS: usize = 50;
/// Most bytes of an address.
const MAX_URL: usize = 2048;
/// Where the service's own files are.
const OWN_FILES: &str = "/access/content";
/// The media type of a file of which nobody says one.
const UNKNOWN_TYPE: &str = "application/octet-stream";

/// A file as clients see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Attachment {
    /// Names it within the service; for a file elsewhere its address.
    pub id: String,
    /// What people call it.
    pub name: String,
    /// Its media type.
    #[serde(rename = "type")]
    pub media_type: String,
    /// Where it is, absolute.
    pub url: String,
    /// Its reference within the service; for a file elsewhere its address.
    #[serde(rename = "ref")]
    pub reference: String,
    /// Its size in bytes, if known.
    pub size: Option<u64>,
}

/// A file as it is sent and stored. What was read can be sent back: `id` and `ref` follow from the address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(super) struct Stored {
    name: String,
    #[serde(rename = "type", default)]
    media_type: Option<String>,
    url: String,
    #[serde(default)]
    size: Option<u64>,
}

/// The files of a row's column, as clients see them.
pub(super) fn show(column: &str, base_url: &str) -> Result<Vec<Attachment>> {
    if column == "[]" {
        return Ok(Vec::new());
    }
    let stored: Vec<Stored> = serde_json::from_str(column).map_err(Error::internal)?;
    Ok(stored.into_iter().map(|it| it.show(base_url)).collect())
}

/// What a client sent, checked, as the text of the column.
pub(super) fn store(sent: Vec<Stored>, base_url: &str) -> Result<String> {
    if sent.len() > MAX_ATTACHMENTS {
        return Err(refuse(&format!(
            "must not have more than {MAX_ATTACHMENTS} items"
        )));
    }
    let checked = sent
        .into_iter()
        .map(|it| it.check(base_url))
        .collect::<Result<Vec<_>>>()?;
    serde_json::to_string(&checked).map_err(Error::internal)
}

impl Stored {
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

    fn check(mut self, base_url: &str) -> Result<Self> {
        if let Some(path) = self.url.strip_prefix(base_url)
            && path.starts_with('/')
        {
            self.url = path.to_owned();
        }
        if !is_address(&self.url) {
            return Err(refuse("must each have a `url` of http, https or this site"));
        }
        let length = self.name.chars().count();
        if self.name.trim().is_empty() || length > 255 || self.name.chars().any(char::is_control) {
            return Err(refuse("must each have a `name` of 1 to 255 characters"));
        }
        if !self.media_type.as_deref().is_none_or(is_media_type) {
            return Err(refuse(
                "must each have a `type` such as application/pdf, or none",
            ));
        }
        Ok(self)
    }
}

impl Attachment {
    /// The file as a feed shows it.
    pub(super) fn to_enclosure(&self) -> Enclosure {
        Enclosure {
            url: self.url.clone(),
            name: self.name.clone(),
            media_type: self.media_type.clone(),
            length: self.size,
        }
    }
}

fn refuse(reason: &str) -> Error {
    Error::field("attachments", reason)
}

/// An absolute address of the web, or a path of this service. Two slashes at the beginning would lead elsewhere.
fn is_address(url: &str) -> bool {
    let is_plain = |c: char| {
        !c.is_control() && !c.is_whitespace() && !matches!(c, '\\' | '"' | '<' | '>' | '`')
    };
    let is_host = |rest: &str| rest.starts_with(|c: char| c.is_alphanumeric() || c == '[');
    let names_host = ["http://", "https://"]
        .iter()
        .filter_map(|scheme| url.strip_prefix(scheme))
        .any(is_host);
    let is_path = url.starts_with('/')
        && !url.starts_with("//")
        && !url.split('/').any(|it| matches!(it, "." | ".."));
    url.len() <= MAX_URL && url.chars().all(is_plain) && (names_host || is_path)
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

    fn sent(url: &str) -> Stored {
        Stored {
            name: "map.pdf".to_owned(),
            media_type: Some("application/pdf".to_owned()),
            url: url.to_owned(),
            size: Some(7),
        }
    }

    #[test]
    fn a_file_of_the_service_is_stored_by_path_and_shown_by_address() {
        let url = "https://lms.example/access/content/attachment/c/a/map.pdf";
        let column = store(vec![sent(url)], BASE).unwrap();
        assert!(!column.contains("lms.example"));
        let shown = show(&column, "https://new.example").unwrap();
        assert_eq!(
            shown,
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
            assert_eq!(store(vec![sent(url)], BASE).is_ok(), is_taken, "{url}");
        }
    }

    #[test]
    fn names_types_and_numbers_of_files_have_limits() {
        let with = |change: fn(&mut Stored)| {
            let mut file = sent("/a");
            change(&mut file);
            store(vec![file], BASE).is_ok()
        };
        assert!(with(|_| {}));
        assert!(!with(|it| it.name = " ".to_owned()));
        assert!(!with(|it| it.name = "x".repeat(256)));
        assert!(!with(|it| it.media_type = Some("pdf".to_owned())));
        assert!(!with(|it| it.media_type = Some("a/b\r\nX: y".to_owned())));
        assert!(store(vec![sent("/a"); MAX_ATTACHMENTS], BASE).is_ok());
        assert!(store(vec![sent("/a"); MAX_ATTACHMENTS + 1], BASE).is_err());
    }
}
