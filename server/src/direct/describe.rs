//! `/direct` and `/direct/describe`: what is registered, for people and for programs.

use axum::http::Method;
use axum::response::Response;
use entity_core::catalog::{Catalog, TypeEntry};
use entity_core::reply::Value;
use entity_core::{Body, DirectPath, Error, Result, Verb};

use crate::app::App;
use crate::exchange::Exchange;

/// The word that asks for a description.
const WORD: &str = "describe";

/// Whether `path` asks for a description, of everything or of one type.
pub(crate) fn is_asked(path: &DirectPath) -> bool {
    (path.prefix.is_empty() || path.prefix == WORD) && path.segments.is_empty()
        || path.segments == [WORD]
}

/// Describes what is registered.
pub(crate) fn answer(app: &App, exchange: &Exchange, path: &DirectPath) -> Result<Response> {
    if !app.config.describe_public && exchange.origin.caller.is_anonymous() {
        return Err(Error::unauthenticated());
    }
    if exchange.parts.method == Method::OPTIONS {
        return Ok(crate::error::options(&[Verb::Get]));
    }
    if super::request::verb(&exchange.parts.method) != Some(Verb::Get) {
        return Err(Error::method_not_allowed(vec![Verb::Get]));
    }
    super::show(app, exchange, path, Body::Value(value(app, path)?))
}

fn value(app: &App, path: &DirectPath) -> Result<Value> {
    let registry = app.dispatcher.registry();
    let data: Box<dyn erased_serde::Serialize + Send + Sync> = match path.segments.is_empty() {
        true => Box::new(Catalog::of(registry, &app.formats)),
        false => Box::new(TypeEntry::of(
            registry.route(&path.prefix).ok_or_else(Error::not_found)?,
            &app.formats,
        )),
    };
    Ok(Value {
        name: WORD.to_owned(),
        data,
    })
}
