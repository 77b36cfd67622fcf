//! A form that was sent after its session had ended: it is shown again with a link to log in. It has the typed values,
//! and nothing of the entity.

use entity_core::engine::DirectPath;
use entity_core::reply::{Form, FormPurpose};
use entity_core::{Error, ErrorKind, Verb};

use super::request::DirectRequest;
use super::upload;
use crate::web::app::App;
use crate::web::request_body::RequestBody;

/// Reads the form that was sent without a session, so that what was typed can be shown again. A stranger is refused before
/// a body is read; no more of it is read here than of any form, and no file.
pub(crate) async fn keep(direct: DirectRequest<'_>, body: &mut RequestBody, error: &Error) {
    let DirectRequest { app, context, path } = direct;
    if error.kind() != ErrorKind::Unauthenticated || context.is_part {
        return;
    }
    // Without it, the page says what every such page says.
    if context.has_form() {
        let (most, patience) = (app.config.limits.form_body.0, app.config.timeouts.body);
        let _read_or_not = body.read(context, most, patience).await;
    } else if let Some(sent) = context.verb
        && let Some(reception) = upload::reception(app, &context.parts, path, sent)
        && !reception.is_whole
    {
        let _read_or_not = Box::pin(upload::receive(direct, body, sent, reception)).await;
    }
}

/// The form at this address without an entity, for a caller who is not authenticated.
pub(crate) fn form(app: &App, path: &DirectPath, verb: Verb) -> Option<Form> {
    let route = app.dispatcher.registry().route(&path.prefix)?;
    let is_action = |name: &str| {
        let mut actions = route.actions.iter();
        actions.any(|it| it.name == name && !it.is_on_entity)
    };
    let words: Vec<&str> = path.segments.iter().map(String::as_str).collect();
    let (capability, purpose) = match (verb, words.as_slice()) {
        (Verb::Post, [] | ["new"]) => ("create", FormPurpose::Create),
        (Verb::Post | Verb::Put, [id] | [id, "edit"]) if !is_action(id) => {
            ("update", FormPurpose::Update)
        }
        _ => return None,
    };
    let is_shown = app.config.describe_public && route.capabilities().contains(&capability);
    is_shown.then_some(Form {
        prefix: route.prefix,
        schema: route.schema,
        item: None,
        purpose,
        left_out: Vec::new(),
        offered: Vec::new(),
        refusal: None,
    })
}
