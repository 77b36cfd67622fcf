//! The checks that a type must pass before a service starts with it.

use super::{ActionRoute, Registry, RegistryError, Route};
use crate::contract::access::Need;
use crate::contract::input::METADATA;
use crate::contract::search::Order;
use crate::model::projection::EXPANDED;
use crate::model::schema::{Field, Schema};

/// The prefixes that the service itself answers, and that no type can have.
pub const RESERVED_PREFIXES: [&str; 3] = ["batch", "describe", "event"];
/// The path segments that have a fixed meaning behind a prefix.
pub(crate) const RESERVED_WORDS: [&str; 4] = ["describe", "new", "edit", "delete"];
/// The letters of the roles that may hold a function by default.
const HOLDERS: &str = "amstip";
/// The name of the argument that every action on one entity has implicitly.
const ID: &str = "id";

/// Checks the arguments of `action` and returns what is wrong with them, if anything.
fn arguments(action: &ActionRoute) -> Option<String> {
    let name = action.name;
    let is_legal = |it: &str| {
        it.starts_with(|c: char| c.is_ascii_lowercase())
            && it.chars().all(|c| c.is_ascii_alphanumeric())
    };
    for (index, argument) in action.arguments.iter().enumerate() {
        let mut before = action.arguments.iter().take(index);
        let own = argument.name;
        if !is_legal(own) || own == ID {
            return Some(format!(
                "has an action `{name}` with an argument of the illegal name `{own}`: use letters and digits, and not `{ID}`"
            ));
        }
        if before.clone().any(|it| it.name == own) {
            return Some(format!("has an action `{name}` with two arguments `{own}`"));
        }
        if before.clone().any(|it| it.is_rest) {
            return Some(format!(
                "has an action `{name}` with an argument `{own}` behind the one that is the rest of the path"
            ));
        }
        if argument.is_required && before.any(|it| !it.is_required) {
            return Some(format!(
                "has an action `{name}` whose argument `{own}` must be there, behind one that need not"
            ));
        }
    }
    None
}

/// Checks the functions that `route` declares and returns what is wrong with them, if anything.
fn grants(route: &Route) -> Option<String> {
    for (function, holders) in route.grants {
        let is_legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        if !function.contains('.') || !function.chars().all(is_legal) {
            return Some(format!(
                "declares the function `{function}`: name it by a stem, a dot and letters, as in `{}.read`",
                route.prefix
            ));
        }
        if let Some(unknown) = holders.chars().find(|it| !HOLDERS.contains(*it)) {
            return Some(format!(
                "grants `{function}` to `{unknown}`: use the letters {HOLDERS}, one for each role"
            ));
        }
    }
    if route.grants.is_empty() {
        return None;
    }
    let needs = route.access.iter();
    let of_access = needs.flat_map(|it| [it.read, it.create, it.update, it.delete]);
    let of_actions = route.actions.iter().filter_map(|it| it.need);
    let asked = of_access.chain(of_actions).flat_map(Need::functions);
    let mut asked = asked.chain(route.sight.iter().copied());
    let missing = asked.find(|it| route.grants.iter().all(|(known, _)| known != it))?;
    Some(format!(
        "asks for the function `{missing}` and does not declare it: add `\"{missing}\" = \"…\"` to its `grants(…)`"
    ))
}

/// Checks that no two types claim the same table, that each migration of a crate has a name of its own, and that it
/// changes rows of a table of its type.
#[cfg(feature = "sea-orm")]
pub(super) fn tables(registry: &Registry) -> Result<(), RegistryError> {
    use std::collections::BTreeMap;
    let mut owners: BTreeMap<&str, &Route> = BTreeMap::new();
    let mut migrations: BTreeMap<(&str, &str), &Route> = BTreeMap::new();
    for route in registry.routes() {
        let spec = route.table.map(|it| it());
        if let Some(lost) = spec.as_ref().and_then(lost_child) {
            return Err(RegistryError(format!(
                "the type `{}` of the crate `{}` has children in the table `{lost}`, which do not name it: mark the field \
                 of theirs with its key with #[entity(parent = …)], and one with #[entity(position)]",
                route.prefix, route.origin.0
            )));
        }
        let specs = spec.map_or_else(Vec::new, crate::model::table::TableSpec::with_children);
        let names = specs
            .iter()
            .flat_map(|it| [Some(it.name), it.groups.map(|it| it.table)]);
        let names: Vec<&str> = names.flatten().collect();
        for migration in route.migrations {
            if let Some(table) = migration.table.filter(|it| !names.contains(it)) {
                return Err(RegistryError(format!(
                    "the migration `{}` of the crate `{}` changes rows of `{table}`, which is no table of the type `{}`",
                    migration.name, route.origin.0, route.prefix
                )));
            }
        }
        for table in names {
            if let Some(other) = owners.insert(table, route) {
                return Err(RegistryError(format!(
                    "the table `{table}` is claimed by the type `{}` of the crate `{}` and by the type `{}` of the crate \
                     `{}`: name one of them otherwise",
                    other.prefix, other.origin.0, route.prefix, route.origin.0
                )));
            }
        }
        for migration in route.migrations {
            if let Some(other) = migrations.insert((route.origin.0, migration.name), route) {
                return Err(RegistryError(format!(
                    "the crate `{}` has two migrations `{}`, of the types `{}` and `{}`: name one of them otherwise",
                    route.origin.0, migration.name, other.prefix, route.prefix
                )));
            }
        }
    }
    Ok(())
}

/// Returns the name of a table of children that do not refer to their parent, or have no place among its children.
#[cfg(feature = "sea-orm")]
fn lost_child(spec: &crate::model::table::TableSpec) -> Option<&'static str> {
    spec.children.iter().find_map(|child| {
        let parent = child.parent.filter(|it| it.table == spec.name);
        match parent.is_some() && child.position.is_some() {
            true => lost_child(child),
            false => Some(child.name),
        }
    })
}

/// Checks that the type has what its permissions ask about, and returns what is wrong, if anything.
fn needs(route: &Route) -> Option<String> {
    let access = route.access?;
    let is_of_site = |it: &Need| !it.functions().is_empty() && !matches!(it, Need::Account(_));
    let actions = route.actions.iter().filter(|it| it.is_on_entity);
    let operations = [access.read, access.update, access.delete];
    let mut needs = operations
        .into_iter()
        .chain(actions.filter_map(|it| it.need));
    if !route.schema.has_site
        && let Some(need) = needs.find(is_of_site)
    {
        let function = need.functions().first().copied().unwrap_or_default();
        return Some(format!(
            "asks for the function `{function}` in the site of the entity, and no field is declared as `site`: declare \
             one, or ask for `Need::Account`"
        ));
    }
    let owned = |it: Need| matches!(it, Need::SiteOrOwn(..));
    if route.list.is_some() && owned(access.read) {
        return Some(
            "asks for `Need::SiteOrOwn` to read, which narrows no list: ask for `Need::Site`, and declare a `sight` of \
             `RowPolicy::Any(&[RowPolicy::Own, RowPolicy::Holds(\"…\")])`"
                .to_owned(),
        );
    }
    let mut on_collection = route.actions.iter().filter(|it| !it.is_on_entity);
    let is_placeless = |it: &&ActionRoute| {
        let has_place = it.arguments.iter().any(|it| it.is_required);
        !has_place && matches!(it.need, Some(Need::Site(_)))
    };
    if let Some(action) = on_collection.clone().find(is_placeless) {
        return Some(format!(
            "asks for a function in a site for the action `{0}`, and `{0}` has no argument that names the site: declare \
             `.argument(\"siteId\", \"The site.\")`, or ask for `Need::Account`",
            action.name
        ));
    }
    let ownerless = on_collection.find(|it| it.need.is_some_and(owned));
    ownerless.map(|it| {
        format!(
            "asks for `Need::SiteOrOwn` for the action `{}`, which runs on no entity that anybody owns: ask for \
             `Need::Site`",
            it.name
        )
    })
}

/// Checks `route` and returns an error if a service can't start with it.
pub(super) fn route(route: &Route) -> Result<(), RegistryError> {
    let refuse = |reason: &str| {
        Err(RegistryError(format!(
            "the type `{}` of the crate `{}` {reason}",
            route.prefix, route.origin.0
        )))
    };
    if let Some(fault) = grants(route) {
        return refuse(&fault);
    }
    if let Some(fault) = needs(route) {
        return refuse(&fault);
    }
    if let Some(fault) = &route.fault {
        return refuse(&format!("has a rule about who sees an entity that {fault}"));
    }
    let is_legal = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
    if RESERVED_PREFIXES.contains(&route.prefix) {
        return refuse("has a prefix that is reserved");
    }
    if !route.prefix.starts_with(|c: char| c.is_ascii_lowercase())
        || !route.prefix.chars().all(is_legal)
    {
        return refuse(
            "has an illegal prefix: use lower case letters, digits, `-` and `_`, a letter first",
        );
    }
    if route.access.is_none() {
        return refuse("declares no permission");
    }
    if let Err(error) = Order::declared(route.order, route.schema) {
        return refuse(&format!("declares no order of its lists: {error}"));
    }
    if let Some(field) = route.schema.fields.iter().find(|it| has_bad_default(it)) {
        return refuse(&format!(
            "has a field `{}` whose declared default is none of its values",
            field.name
        ));
    }
    let own = route.schema.fields.iter();
    if let Some(field) = own.map(|it| it.name).find(|it| METADATA.contains(it)) {
        return refuse(&format!(
            "has a field `{field}`, which is what the service adds to each entity: rename it"
        ));
    }
    if let Some(taken) = taken_by_expansion(route.schema) {
        return refuse(&format!(
            "has a field `{taken}`, which is what the entity of another field is called: rename it"
        ));
    }
    if let Some(taken) = taken_by_fold(route.schema) {
        return refuse(&format!(
            "has a column `{taken}`, which is where the folded text of another field is: rename it"
        ));
    }
    for (index, action) in route.actions.iter().enumerate() {
        if let Some(reason) = arguments(action) {
            return refuse(&reason);
        }
        if action.need.is_none() {
            return refuse(&format!(
                "declares no permission for the action `{}`",
                action.name
            ));
        }
        if RESERVED_WORDS.contains(&action.name) {
            return refuse(&format!(
                "has an action with the reserved name `{}`",
                action.name
            ));
        }
        let is_same = |it: &&ActionRoute| {
            (it.name, it.verb, it.is_on_entity) == (action.name, action.verb, action.is_on_entity)
        };
        if route.actions.iter().take(index).any(|it| is_same(&it)) {
            return refuse(&format!("has the action `{}` twice", action.name));
        }
    }
    Ok(())
}

fn has_bad_default(field: &Field) -> bool {
    let is_good = |it: serde_json::Value| crate::model::value::is_chosen(field, &it);
    field
        .default
        .is_some_and(|it| !field.parse(it).is_ok_and(is_good))
}

/// Returns the name of a field that collides with the key of another field's expanded entity, if there is one.
fn taken_by_expansion(schema: &Schema) -> Option<&str> {
    let references = schema.fields.iter().filter(|it| it.references.is_some());
    references
        .filter_map(|it| schema.field(&format!("{}{EXPANDED}", it.name)))
        .map(|it| it.name)
        .next()
}

/// Returns the name of a column that collides with the column of another field's folded text, if there is one.
fn taken_by_fold(schema: &Schema) -> Option<&str> {
    let mut columns = schema.fields.iter().filter_map(|it| it.column);
    columns.find(|name| {
        let mut folded = schema.fields.iter().filter_map(Field::folded_column);
        folded.any(|it| it == *name)
    })
}

impl Registry {
    /// Checks that each field that refers to another type names one that is registered: for a service with all its types.
    ///
    /// # Errors
    /// Returns an error that names the first field which does not.
    pub fn check_references(&self) -> Result<(), RegistryError> {
        for route in self.routes() {
            for field in route.schema.fields {
                let unknown = field.references.filter(|it| self.route(it).is_none());
                if let Some(unknown) = unknown {
                    return Err(RegistryError(format!(
                        "the type `{}` of the crate `{}` has a field `{}` that refers to `{unknown}`, and no type has this prefix",
                        route.prefix, route.origin.0, field.name
                    )));
                }
            }
        }
        Ok(())
    }
}
