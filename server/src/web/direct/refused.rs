//! A form that was refused, shown again: with what was sent in it, and with what is wrong at each field.
//!
//! A form about an entity that has changed since is shown with the present version in it, because its reader is
//! told so and sends it again knowingly. One that was refused for any other reason keeps the version that it
//! came with: nobody has told its reader of what others wrote meanwhile.

use axum::response::Response;
use entity_core::engine::{DirectPath, PARTLY_SAVED, Request, given_back};
use entity_core::format::Format;
use entity_core::reply::{Body, Form, Item, Refusal};
use entity_core::schema::{MAX_LINE, Role};
use entity_core::{Error, ErrorKind, Input, Preconditions, Verb, Version, menu};

use super::body::Parsed;
use super::methods::is_login;
use super::request::DirectRequest;
use super::{ended, etag, login_form};
use crate::base::error;
use crate::web::request_body::RequestBody;

/// The page with the form, if the request was a person's and came from one.
pub(crate) async fn form(
    direct: DirectRequest<'_>,
    body: &RequestBody,
    error: &Error,
) -> Option<Response> {
    let DirectRequest { app, context, path } = direct;
    let (format, verb, parsed) = sent(direct, body)?;
    let problem = error::problem(error, &context.errors);
    let refusal = |parsed: Parsed| Refusal {
        kind: error.kind(),
        version: parsed.version.as_deref().and_then(Version::parse),
        sent: parsed.input.fields,
        message: problem.message,
        fields: problem.fields,
        is_partly_saved: error.code() == Some(PARTLY_SAVED),
    };
    let is_ended = error.kind() == ErrorKind::Unauthenticated;
    let is_action = entity_core::engine::action(direct.registry(), path).is_some();
    let body = match (is_login(path, verb), is_action) {
        (true, _) if comes_back(error) => with(login_form::form(), refusal(parsed)),
        (false, true) if comes_back(error) || (is_ended && app.config.describe_public) => {
            let (path, refusal) = (path.clone(), refusal(parsed));
            let form = app.dispatcher.read(&context.origin, |cx| {
                Box::pin(async move { Ok(given_back(cx, &path, refusal).await) })
            });
            Body::Action(Box::new(form.await.ok()??))
        }
        (false, false) if comes_back(error) => {
            let form = empty(direct, (verb, &parsed), error).await?;
            with(form, refusal(parsed))
        }
        (false, false) if is_ended => with(ended::form(app, path, verb)?, refusal(parsed)),
        _ => return None,
    };
    let site = site_of(&body);
    let around = app
        .dispatcher
        .read(&context.origin, |cx| Box::pin(menu::around(cx, site)));
    let view = direct.view(around.await.unwrap_or_default());
    let renderer = app.formats.renderer_for(format.name, &body).ok()?;
    let page = renderer.render(&body, &view).ok()?;
    let mut response = error::respond_with(error, &context.errors, page, format.media_type);
    etag::name_version(response.headers_mut(), error, format);
    Some(response)
}

/// The site of what the form is about.
fn site_of(body: &Body) -> Option<String> {
    let of_item = |it: &Option<Item>| it.as_ref()?.site().map(ToOwned::to_owned);
    match body {
        Body::Action(form) => of_item(&form.about),
        Body::Form(form) => of_item(&form.item).or_else(|| {
            let field = form.schema.role(Role::Site)?;
            let sent = form.refusal.as_ref()?.sent.get(field.name)?;
            sent.as_str().map(ToOwned::to_owned)
        }),
        _ => None,
    }
}

/// The form, given back. Who is told that an entity has changed is told of its present version.
fn with(mut form: Form, mut refusal: Refusal) -> Body {
    if refusal.kind == ErrorKind::PreconditionFailed {
        refusal.version = form.item.as_ref().and_then(Item::version);
    }
    form.refusal = Some(refusal);
    Body::Form(form)
}

/// The content of the form, if a form was sent by somebody who reads pages.
fn sent(direct: DirectRequest<'_>, body: &RequestBody) -> Option<(Format, Verb, Parsed)> {
    let format = direct.format().ok()?;
    if format.name != "html" || direct.context.errors.wants_problem {
        return None;
    }
    let method = direct.context.verb?;
    let parsed = Parsed::of(direct, body).ok()?;
    let verb = parsed.method.unwrap_or(method);
    parsed.input.is_form.then_some((format, verb, parsed))
}

/// Returns whether whoever filled in the form can put it right, or send it again later. What was not found may be what the form
/// refers to.
fn comes_back(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::BadRequest
            | ErrorKind::Conflict
            | ErrorKind::Forbidden
            | ErrorKind::InsufficientStorage
            | ErrorKind::NotFound
            | ErrorKind::PreconditionFailed
            | ErrorKind::TooLarge
            | ErrorKind::TooManyRequests
            | ErrorKind::Unavailable
            | ErrorKind::Unprocessable
    )
}

/// The short texts that were sent: they suggest to the form what they did when it was opened, such as the site.
fn suggested(parsed: &Parsed) -> Vec<(String, String)> {
    let fields = parsed.input.fields.iter();
    let texts = fields.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())));
    texts.filter(|it| it.1.len() <= MAX_LINE).collect()
}

/// The form that was sent, as it was before: asked for again, so that whoever may not see it does not.
async fn empty(
    direct: DirectRequest<'_>,
    (verb, parsed): (Verb, &Parsed),
    error: &Error,
) -> Option<Form> {
    let DirectRequest { app, context, path } = direct;
    let is_outdated = error.kind() == ErrorKind::PreconditionFailed;
    let words: Vec<&str> = path.segments.iter().map(String::as_str).collect();
    let segments = match (verb, words.as_slice()) {
        (Verb::Post, [] | ["new"]) => vec!["new"],
        (Verb::Post | Verb::Put, [id] | [id, "edit"]) => vec![*id, "edit"],
        // Whatever else keeps an entity does so however often its deletion is asked for.
        (Verb::Delete, [id] | [id, "delete"]) if is_outdated => vec![*id, "delete"],
        _ => return None,
    };
    let request = Request {
        path: DirectPath::new(&path.prefix, segments),
        verb: Verb::Get,
        query: suggested(parsed),
        input: Input::default(),
        preconditions: Preconditions::default(),
        is_dry_run: false,
        wants_allowed_actions: true,
        origin: context.origin.clone(),
    };
    match app.dispatcher.dispatch(&request).await.ok()?.body {
        Body::Form(form) => Some(form),
        _ => None,
    }
}
