//! The body of logins, as descriptions show it.

use entity_core::schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use crate::guard::auth::credentials::Names;
use crate::guard::auth::http;
use crate::guard::auth::password::MAX_PASSWORD;

/// Returns the schema of the body of a login.
pub(crate) fn login_body(_generator: &mut SchemaGenerator) -> Schema {
    credentials(http::NAMES)
}

/// Returns an example of the body of a login.
pub(crate) fn login_example() -> Value {
    credentials_example(http::NAMES)
}

/// An example of a user name and a password.
pub(crate) fn credentials_example(names: Names) -> Value {
    json!({ (names.username): "maria", (names.password): "correct horse battery staple" })
}

/// A user name and a password under these names.
pub(crate) fn credentials(names: Names) -> Schema {
    json_schema!({
        "type": "object",
        "required": [names.username, names.password],
        "properties": {
            (names.username): {
                "type": "string",
                "minLength": 1,
                "description": "The external id, or an e-mail address that only one account has.",
            },
            (names.password): {
                "type": "string",
                "minLength": 1,
                "maxLength": MAX_PASSWORD,
                "format": "password",
                "description": "The password.",
            },
        },
    })
}
