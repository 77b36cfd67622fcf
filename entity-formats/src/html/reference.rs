//! Where the values of fields lead to: the pages of the entities that they name.

use entity_core::Registry;
use entity_core::format::View;
use entity_core::leads::reference_of;
use entity_core::schema::{Field, Role, Schema};
use serde_json::{Map, Value};

/// Another entity that the value of a field leads to.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Target<'a> {
    /// The path below `/direct`.
    pub(super) path: String,
    /// The stored value.
    pub(super) value: &'a str,
    /// The name that the entity itself has for it.
    pub(super) own_name: Option<&'a str>,
}

impl Target<'_> {
    /// The address of its page, if the reader may open it.
    pub(super) fn href(&self, view: &View<'_>) -> Option<String> {
        let is_open = view.allowed_actions.readable.contains_key(&self.path);
        is_open.then(|| format!("/direct{}.html", self.path))
    }

    fn is_named(&self, view: &View<'_>) -> bool {
        self.title(view).is_some()
    }

    /// Returns its title, if the entity has it or the reader may open it.
    pub(super) fn title(&self, view: &View<'_>) -> Option<String> {
        let told = view.allowed_actions.readable.get(&self.path).cloned();
        let own = self.own_name.map(ToOwned::to_owned);
        own.or(told).filter(|it| !it.is_empty())
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
        value,
        own_name: name,
    })
}

/// The ends of the names of fields in which an entity tells the name of what another field refers to.
const NAMING: [&str; 3] = ["Title", "DisplayName", "Name"];

/// Returns the beginning of the names of the fields with the name of what the field `name` refers to.
fn stem(name: &str) -> &str {
    name.strip_suffix("Id").unwrap_or(name)
}

/// The fields in which an entity may tell what is called that which the field `name` refers to.
pub(super) fn naming_fields(name: &str) -> [String; 3] {
    NAMING.map(|it| format!("{}{it}", stem(name)))
}

/// Returns whether the field `naming` tells the name of what the field `name` refers to, if that refers to something.
pub(super) fn names_target(naming: &str, name: &str) -> bool {
    let end = naming.strip_prefix(stem(name));
    end.is_some_and(|it| NAMING.contains(&it))
}

/// The names of what `entity` refers to besides its site, of which a list makes a headline for one that has none.
pub(super) fn names(
    schema: &Schema,
    entity: &Map<String, Value>,
    view: &View<'_>,
) -> Option<String> {
    let others = schema
        .fields
        .iter()
        .filter(|it| it.role != Some(Role::Site));
    let titles = others.filter_map(|it| target(it, entity, view.registry)?.title(view));
    let mut titles: Vec<String> = titles.take(MOST_NAMES).collect();
    titles.dedup();
    (!titles.is_empty()).then(|| titles.join(", "))
}

/// The most names of which a headline is made.
const MOST_NAMES: usize = 2;

/// Returns whether `field` refers to something that has no name for the reader.
pub(super) fn is_opaque(field: &Field, entity: &Map<String, Value>, view: &View<'_>) -> bool {
    let target = target(field, entity, view.registry);
    target.is_some_and(|it| !it.is_named(view))
}

/// Returns whether `field` refers to something that has a name for the reader.
pub(super) fn is_named(field: &Field, entity: &Map<String, Value>, view: &View<'_>) -> bool {
    let target = target(field, entity, view.registry);
    target.is_some_and(|it| it.is_named(view))
}

/// Returns whether the field `name` only says what another field of `entity` refers to is called.
pub(super) fn is_naming(
    name: &str,
    fields: &[Field],
    entity: &Map<String, Value>,
    registry: &Registry,
) -> bool {
    let mut named = fields.iter().filter(|it| names_target(name, it.name));
    named.any(|it| target(it, entity, registry).is_some())
}
