//! The check for names that can't stand in URLs: words with a meaning of their own, and names that end like a format.

use crate::contract::context::Context;
use crate::contract::format::Formats;
use crate::contract::registry::{RESERVED_WORDS, Registry};
use crate::primitives::error::{Error, Result};

/// Refuses `name` for an entity of the type `prefix` if the URL below that of the type would mean something else: a
/// word that is reserved in all types, an action on the collection, or a format. Every provider must call this whose
/// clients choose ids, or other names by which entities are read. `field` is the field in which the name was sent.
///
/// # Errors
/// Returns an error about `field` if the name is refused.
pub fn check_name(cx: &Context, prefix: &str, field: &str, name: &str) -> Result<()> {
    let registry = cx.service::<Registry>().ok();
    let route = registry.as_deref().and_then(|it| it.route(prefix));
    let actions = route.into_iter().flat_map(|it| &it.actions);
    let words = actions.filter(|it| !it.is_on_entity).map(|it| it.name);
    let mut words = words.chain(RESERVED_WORDS);
    if let Some(word) = words.find(|it| it.eq_ignore_ascii_case(name)) {
        return Err(Error::field(
            field,
            format!("is reserved: `{word}` means something else in addresses, choose another one"),
        ));
    }
    let formats = cx.service::<Formats>().ok();
    let is_format = |it: &str| formats.as_deref().is_some_and(|all| all.is_format(it));
    match name.rsplit_once('.') {
        Some((_, extension)) if is_format(extension) => Err(Error::field(
            field,
            format!("must not end with `.{extension}`, which is a format in addresses"),
        )),
        _ => Ok(()),
    }
}
