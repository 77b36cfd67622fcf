//! `/direct/session/new`: the form by which people log in. The login itself sets a cookie, so it is no
//! provider's business, and neither is its form.

use axum::response::Response;
use entity_core::engine::DirectPath;
use entity_core::reply::{Body, Form, FormPurpose};
use entity_core::schema::{Field, Kind, Meaning, Schema};
use entity_core::{Result, Verb};

use super::request::DirectRequest;

static SCHEMA: Schema = Schema {
    doc: "With the user name that the university gave you.",
    fields: &[
        Field::new(
            "_username",
            Kind::Text(255),
            "Or the e-mail address of the account.",
        )
        .writable()
        .required()
        .meaning(Meaning::UserName),
        Field::new("_password", Kind::Text(1024), "")
            .writable()
            .required()
            .meaning(Meaning::Password),
    ],
    has_feed: false,
    has_events: false,
    has_site: false,
    look: entity_core::schema::Look::PLAIN,
};

/// Returns whether the form is asked for.
pub(crate) fn is_asked(path: &DirectPath, verb: Verb) -> bool {
    path.prefix == "session" && path.segments == ["new"] && verb == Verb::Get
}

/// Answers the form, to everybody.
pub(crate) fn answer(direct: DirectRequest<'_>) -> Result<Response> {
    direct.show(Body::Form(form()))
}

/// The form, empty.
pub(crate) fn form() -> Form {
    Form {
        prefix: "session",
        schema: &SCHEMA,
        item: None,
        purpose: FormPurpose::LogIn,
        left_out: Vec::new(),
        offered: Vec::new(),
        refusal: None,
    }
}
