//! Where the values of fields lead to: the pages of the entities that they name.

use entity_core::schema::{Field, Role};
use entity_core::{Reference, Registry};
use serde_json::{Map, Value};

/// What a link to another entity is made of.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Target<'a> {
    pub(super) href: String,
    pub(super) name: &'a str,
}

/// The type whose ids the field holds.
fn prefix(field: &Field) -> Option<&'static str> {
    match field.role? {
        Role::Site => Some("site"),
        Role::Owner => Some("user"),
        _ => None,
    }
}

/// Whether the field holds ids of entities.
pub(super) fn is_reference(field: &Field) -> bool {
    prefix(field).is_some()
}

/// The type whose ids the field holds, if it has pages.
fn referenced(field: &Field, registry: &Registry) -> Option<&'static str> {
    prefix(field).filter(|it| has_pages(registry, it))
}

fn has_pages(registry: &Registry, prefix: &str) -> bool {
    registry
        .route(prefix)
        .is_some_and(|it| it.capabilities().contains(&"read"))
}

/// Where the value of `field` in `entity` leads to, with the name that the entity has for that.
pub(super) fn target<'a>(
    field: &Field,
    entity: &'a Map<String, Value>,
    registry: &Registry,
) -> Option<Target<'a>> {
    let value = entity.get(field.name)?.as_str()?;
    let Some(prefix) = referenced(field, registry) else {
        return written_out(value, registry);
    };
    let id = value.strip_prefix("/user/").unwrap_or(value);
    let name = naming_fields(field.name)
        .iter()
        .find_map(|it| entity.get(it)?.as_str().filter(|it| !it.is_empty()));
    (!id.is_empty()).then(|| Target {
        href: page(prefix, id),
        name: name.unwrap_or(id),
    })
}

/// Text of the form `/prefix/id` names an entity wherever it stands.
fn written_out<'a>(value: &'a str, registry: &Registry) -> Option<Target<'a>> {
    let (prefix, id) = value.strip_prefix('/')?.split_once('/')?;
    let is_one = !id.is_empty() && !id.contains(['/', '\\', ';']) && has_pages(registry, prefix);
    is_one.then(|| Target {
        href: page(prefix, id),
        name: value,
    })
}

fn page(prefix: &str, id: &str) -> String {
    format!("/direct{}.html", Reference::entity(prefix, id).path())
}

/// The fields in which an entity may tell what is called that which the field `name` refers to.
pub(super) fn naming_fields(name: &str) -> [String; 2] {
    let stem = name.strip_suffix("Id").unwrap_or(name);
    [format!("{stem}Title"), format!("{stem}DisplayName")]
}

/// Whether the field `name` only says what another field of `entity` refers to is called.
pub(super) fn is_naming(
    name: &str,
    fields: &[Field],
    entity: &Map<String, Value>,
    registry: &Registry,
) -> bool {
    fields.iter().any(|it| {
        naming_fields(it.name).iter().any(|naming| naming == name)
            && referenced(it, registry).is_some()
            && target(it, entity, registry).is_some()
    })
}
