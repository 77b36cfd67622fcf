//! Changes of profiles and of preferences.

use http::Method;
use serde_json::{Value, json};

use super::encoded::to_operations;
use super::requests::Question;
use super::subject::Subject;

/// Something that changes a profile or preferences.
pub(super) fn change(kind: &str) -> Value {
    match kind {
        "profile" => json!({"nickname": "Changed"}),
        _ => json!({"language": "de"}),
    }
}

/// The change of a profile by the endpoint for it.
pub(super) fn patch(subject: &Subject) -> Question {
    let path = format!("/api/users/{}/profile", subject.id);
    let operations = to_operations(&change("profile")).to_string();
    let body = ("application/json-patch+json", operations);
    Question::send(Method::PATCH, path, Some(body))
}
