//! Forms for people: to create, to change, to delete, to log in.

use entity_formats::openapi::{Answer, Content, Operation};

use super::empty;
use super::entities::Type;
use super::parameters::id;

/// The media type of pages.
const PAGE: &str = "text/html";

/// The form at `path` behind the address of the type.
pub(super) fn form(kind: &Type<'_>, path: &str) -> Operation {
    let (name, purpose) = match path {
        "/new" => ("formToCreate", "creates"),
        "/{id}/edit" => ("formToUpdate", "changes"),
        _ => ("formToDelete", "deletes"),
    };
    let parameters = match path.contains("{id}") {
        true => vec![id()],
        false => Vec::new(),
    };
    Operation {
        operation_id: kind.name(name),
        summary: format!("Shows a form that {purpose} one `{}`.", kind.prefix()),
        parameters,
        responses: [("200".to_owned(), page("The form."))].into(),
        ..Operation::default()
    }
}

/// An answer that is a page and nothing else.
pub(super) fn page(description: &str) -> Answer {
    let mut response = empty(description);
    let content = Content::default();
    response.content.insert(PAGE.to_owned(), content);
    Answer::Own(response)
}
