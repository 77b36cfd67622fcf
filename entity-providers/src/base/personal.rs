//! Events that concern one person.

use entity_core::{Context, PERSON, Reference};
use serde_json::Map;

/// The name of the detail of an event that is true if nobody is told who caused the event.
pub(crate) const ANONYMOUS: &str = "anonymous";

/// Emits an event that concerns one person: `kind` happened to `reference` in `site`. If it is anonymous, that person is
/// not told who caused it.
pub(crate) fn emit_to(
    cx: &Context,
    kind: &str,
    reference: &Reference,
    site: &str,
    person: &str,
    is_anonymous: bool,
) {
    let details = Map::from_iter([
        (PERSON.to_owned(), person.into()),
        (ANONYMOUS.to_owned(), is_anonymous.into()),
    ]);
    cx.emit_with(kind, reference.to_string(), Some(site), details);
}
