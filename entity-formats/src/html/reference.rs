//! Where the values of fields lead to: the pages of the entities that they name.

use entity_core::Registry;
use entity_core::format::View;
use entity_core::leads::reference_of;
use entity_core::schema::Field;
use serde_json::{Map, Value};

/// Another entity that the value of a field leads to.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Target<'a> {
    /// The path below `/direct`.
    pub(super) path: String,
    pub(super) name: &'a str,
}

impl Target<'_> {
    /// The address of its page, if the reader may open it.
    pub(super) fn href(&self, view: &View<'_>) -> Option<String> {
        let is_open = view.abilities.readable.contains(&self.path);
        is_open.then(|| format!("/direct{}.html", self.path))
    }
}

/// Where the value of `field` in `entity` leads to, with the name that the entity has for that.
pub(super) fn target<'a>(
    field: &Field,
    entity: &'a Map<String, Value>,
    registry: &Registry,
) -> Option<Target<'a>> {
    let value = entity.get(field.name)?.as_str()?;
    let path = reference_of(field, value, registry)?.path();
    let name = naming_fields(field.name)
        .iter()
        .find_map(|it| entity.get(it)?.as_str().filter(|it| !it.is_empty()));
    Some(Target {
        path,
        name: name.unwrap_or(value),
    })
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
            && target(it, entity, registry).is_some()
    })
}
