//! The check that a user may read at an address now: a feed that shows nothing is refused when it is made.

use entity_core::engine::look_up;
use entity_core::reply::{Body, Reply};
use entity_core::{Context, Error, ErrorKind, Registry, Result};

use super::address::Address;

/// Returns the title of a page of the address. Refuses an address at which the caller may read nothing now. Later
/// readings check again.
///
/// # Errors
/// The caller may not read there, or may not know of it; the address takes no such query.
pub(super) async fn title(cx: &Context, registry: &Registry, address: &Address) -> Result<String> {
    let pairs = entity_formats::parse_pairs(address.query.as_bytes())?;
    match look_up(registry, cx, address.path.clone(), one_of(pairs)).await {
        Ok(reply) if is_content(&reply) => {
            let path = address.path.to_string();
            Ok(entity_formats::title(registry, &path, &reply.body).unwrap_or(path))
        }
        Ok(_nothing) => Err(Error::field("path", "is no address of a list or an entity")),
        Err(error) => Err(explained(error)),
    }
}

/// Returns whether `reply` is something that a feed can show.
pub(super) fn is_content(reply: &Reply) -> bool {
    matches!(reply.body, Body::Entity(_) | Body::Collection(_))
}

/// The same question about one entity: no more is needed to know.
fn one_of(query: Vec<(String, String)>) -> Vec<(String, String)> {
    let said = query
        .into_iter()
        .filter(|(name, _)| !matches!(name.as_str(), "_limit" | "_perpage"));
    let limit = ("_limit".to_owned(), "1".to_owned());
    said.chain([limit]).collect()
}

/// The same refusal, which says that it is about the address of the feed.
fn explained(error: Error) -> Error {
    let reason = match error.kind() {
        ErrorKind::NotFound => "there is nothing at the address of `path` that you may read",
        ErrorKind::Forbidden => "you may not read at the address of `path`",
        ErrorKind::BadRequest => {
            let reason = format!("is refused where `path` leads: {}", error.message());
            return Error::field("query", reason).with_source(error);
        }
        _ => return error,
    };
    Error::new(error.kind(), reason).with_source(error)
}
