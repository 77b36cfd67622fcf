//! A name and a password out of a request, read strictly: each once, neither blank.

use entity_core::{Error, ErrorKind, Result};
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use secrecy::SecretString;
use serde_json::Value;

use super::evidence::Evidence;
use super::password::MAX_PASSWORD;
use crate::base::media;

/// The message to clients and people when one of the two is missing.
const REQUIRED: &str = "username and password are required";

/// The media type of a body with credentials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// `application/x-www-form-urlencoded`.
    Form,
    /// `application/json`.
    Json,
}

impl Shape {
    /// The shape that the content type names.
    ///
    /// # Errors
    /// It names another one, or none.
    pub fn of(headers: &HeaderMap) -> Result<Self> {
        match media::essence(headers, b"")?.as_deref() {
            Some(media::FORM) => Ok(Self::Form),
            Some(media::JSON) => Ok(Self::Json),
            _ => Err(Error::new(
                ErrorKind::UnsupportedMediaType,
                "send `application/x-www-form-urlencoded` or `application/json`",
            )),
        }
    }
}

impl Shape {
    /// The same of a request with this `body`: one without any says nothing of its type, and lacks both fields like an
    /// empty form.
    ///
    /// # Errors
    /// Fails as [`of`](Self::of) does.
    pub fn of_body(headers: &HeaderMap, body: &[u8]) -> Result<Self> {
        match body.is_empty() && !headers.contains_key(CONTENT_TYPE) {
            true => Ok(Self::Form),
            false => Self::of(headers),
        }
    }
}

/// The names of the two fields.
#[derive(Clone, Copy, Debug)]
pub struct Names {
    /// The field of the user's name.
    pub username: &'static str,
    /// The field of the password.
    pub password: &'static str,
}

/// Reads the two fields from a body.
///
/// # Errors
/// The body is malformed, a field is there twice, missing or blank.
pub fn from_body(shape: Shape, body: &[u8], names: Names) -> Result<Evidence> {
    match shape {
        Shape::Form => from_pairs(entity_formats::parse_pairs(body)?, names),
        Shape::Json => {
            let Value::Object(mut fields) = entity_formats::parse_json(body)? else {
                return Err(Error::bad_request("the body must be a JSON object"));
            };
            let mut text = |name| match fields.remove(name) {
                Some(Value::String(text)) => Ok(Some(text)),
                None | Some(Value::Null) => Ok(None),
                Some(_) => Err(Error::field(name, "must be text")),
            };
            evidence(text(names.username)?, text(names.password)?)
        }
    }
}

/// Reads the two fields from a form or a query.
///
/// # Errors
/// A field is there twice, missing or blank.
pub fn from_pairs(pairs: Vec<(String, String)>, names: Names) -> Result<Evidence> {
    let (mut username, mut password) = (None, None);
    for (name, value) in pairs {
        let slot = if name == names.username {
            &mut username
        } else if name == names.password {
            &mut password
        } else {
            continue;
        };
        if slot.replace(value).is_some() {
            return Err(Error::field(name, "is given more than once"));
        }
    }
    evidence(username, password)
}

fn evidence(username: Option<String>, password: Option<String>) -> Result<Evidence> {
    let there = |it: Option<String>| it.filter(|it| !it.trim().is_empty());
    let (Some(username), Some(password)) = (there(username), there(password)) else {
        return Err(Error::bad_request(REQUIRED));
    };
    if password.len() > MAX_PASSWORD {
        return Err(Error::field(
            "password",
            format!("must have at most {MAX_PASSWORD} bytes"),
        ));
    }
    Ok(Evidence::Password {
        username,
        password: SecretString::from(password),
    })
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret as _;

    use super::*;

    const NAMES: Names = Names {
        username: "username",
        password: "password",
    };

    fn read(shape: Shape, body: &str) -> Option<(String, String)> {
        match from_body(shape, body.as_bytes(), NAMES).ok()? {
            Evidence::Password { username, password } => {
                Some((username, password.expose_secret().to_owned()))
            }
            _ => None,
        }
    }

    #[test]
    fn auth_5_each_field_is_there_once_and_not_blank() {
        let good = |name: &str, password: &str| Some((name.to_owned(), password.to_owned()));
        let long = "x".repeat(1025);
        for (shape, body, expected) in [
            (
                Shape::Form,
                "username=ada&password=+p%26",
                good("ada", " p&"),
            ),
            (
                Shape::Form,
                "username=ada&password=x&more=1",
                good("ada", "x"),
            ),
            (Shape::Form, "username=ada", None),
            (Shape::Form, "username=+&password=x", None),
            (Shape::Form, "username=ada&password=+++", None),
            (Shape::Form, "username=ada&username=bob&password=x", None),
            (Shape::Form, "username=ada&password=%zz", None),
            (Shape::Form, "username=ada&password=%ff", None),
            (Shape::Form, &format!("username=ada&password={long}"), None),
            (
                Shape::Json,
                r#"{"username":"ada","password":" p"}"#,
                good("ada", " p"),
            ),
            (Shape::Json, r#"{"username":"ada","password":5}"#, None),
            (Shape::Json, r#"{"username":"ada","password":null}"#, None),
            (
                Shape::Json,
                r#"{"username":"ada","password":"x","password":"y"}"#,
                None,
            ),
            (
                Shape::Json,
                r#"{"username":"ada","username":"bob","password":"x"}"#,
                None,
            ),
            (Shape::Json, r#"["ada","x"]"#, None),
            (Shape::Json, "", None),
            (Shape::Json, r#"{"username":"a"#, None),
        ] {
            assert_eq!(read(shape, body), expected, "{shape:?} {body}");
        }
    }
}
