//! `/direct` and `/direct/describe`: the registered types, for people and for programs.

use axum::http::Method;
use axum::response::Response;
use entity_core::catalog::{Address, Catalog, Place, TypeEntry};
use entity_core::engine::{DirectPath, Route};
use entity_core::format::{Format, Formats, View};
use entity_core::reply::{AllowedActions, Body, Value};
use entity_core::{Error, Result, Verb, encode_segment};
use entity_formats::xml::{Described, write_description};

use super::methods::is_login;
use super::request::DirectRequest;
use crate::web::app::App;

/// The word that asks for a description.
const WORD: &str = "describe";

/// Returns whether `path` asks for a description, of everything or of one type.
pub(crate) fn is_asked(path: &DirectPath) -> bool {
    (path.prefix.is_empty() || path.prefix == WORD) && path.segments.is_empty()
        || path.segments == [WORD]
}

/// Describes what is registered.
pub(crate) fn answer(direct: DirectRequest<'_>) -> Result<Response> {
    let DirectRequest { app, context, path } = direct;
    if context.parts.method == Method::OPTIONS {
        return Ok(crate::base::error::options(&[Verb::Get]));
    }
    if context.verb != Some(Verb::Get) {
        return Err(Error::method_not_allowed(vec![Verb::Get]));
    }
    if !app.config.describe_public && context.origin.caller.is_anonymous() {
        return Err(Error::unauthenticated());
    }
    let registry = direct.registry();
    let described = match path.segments.is_empty() {
        true => None,
        false => Some(registry.route(&path.prefix).ok_or_else(Error::not_found)?),
    };
    // The address of it that all others stand for.
    let address = match described {
        None => format!("/{WORD}"),
        Some(route) => format!("/{}/{WORD}", encode_segment(route.prefix)),
    };
    let headers = &context.parts.headers;
    let offered = app.formats.offered(&Body::Value(Value::sample()));
    let format = direct.format_among(&offered)?;
    // What is written once for all is not written for one of our names.
    let view = View {
        base_url: &app.dispatcher.shared().base_url,
        ..direct.view(AllowedActions::default())
    };
    app.descriptions
        .answer((&address, format), headers, &view, |view| {
            let all = || registry.routes().map(|it| entry(it, &app.formats));
            let named = described.map(|it| entry(it, &app.formats));
            match (format.name, named) {
                ("xml", Some(entry)) => write_description(Described::One(&entry), view.base_url),
                ("xml", None) => {
                    let types: Vec<_> = all().collect();
                    write_description(Described::All(&types), view.base_url)
                }
                (_, Some(entry)) => render(app, format, Box::new(entry), view),
                (_, None) => {
                    let catalog = Catalog {
                        types: all().collect(),
                    };
                    render(app, format, Box::new(catalog), view)
                }
            }
        })
}

fn render(
    app: &App,
    format: Format,
    data: Box<dyn erased_serde::Serialize + Send + Sync>,
    view: &View<'_>,
) -> Result<Vec<u8>> {
    let body = Body::Value(Value::new(WORD, WORD, data));
    let renderer = app.formats.renderer_for(format.name, &body)?;
    renderer.render(&body, view)
}

/// The entry of a type, with the service's own operations at the addresses of that type: logins.
fn entry(route: &Route, formats: &Formats) -> TypeEntry {
    let mut entry = TypeEntry::of(route, formats);
    let list = DirectPath::new(route.prefix, std::iter::empty::<String>());
    if !is_login(&list, Verb::Post) {
        return entry;
    }
    entry.capabilities.push("create");
    for (operation, verb, path, place) in [
        ("create", Verb::Post, "", Place::List),
        ("form", Verb::Get, "/new", Place::Form),
        ("create", Verb::Post, "/new", Place::Form),
    ] {
        entry.addresses.push(Address {
            operation,
            method: verb.name(),
            path,
            place,
            verb,
        });
    }
    entry
}
