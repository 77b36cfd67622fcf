//! What must hold of a type's history and of the arguments of its actions, before a service starts with it.

use super::{ActionRoute, Route};
use crate::history::ARCHIVE_PAGE;
use crate::schema::Role;
use crate::search::Order;

/// The argument that every action on one entity has already.
const ID: &str = "id";

/// What is wrong with the history of `route`, if it has one.
pub(super) fn history(route: &Route) -> Option<String> {
    if !route.schema.has_history {
        return None;
    }
    if route.list.is_none() || !route.schema.has_feed {
        return Some("has a history, but no list or no feed that could show it".to_owned());
    }
    if route.max < ARCHIVE_PAGE {
        return Some(format!(
            "has a history: its lists must answer {ARCHIVE_PAGE} entities at least"
        ));
    }
    let order = Order::declared(route.order, route.schema).ok()?;
    let is_newest_first = |it: &Order| it.field.role == Some(Role::Created) && it.is_descending;
    match order.first().is_some_and(is_newest_first) {
        true => None,
        false => Some(
            "has a history: the order of its lists must begin with the field that is `created`, descending"
                .to_owned(),
        ),
    }
}

/// What is wrong with the arguments of `action`.
pub(super) fn arguments(action: &ActionRoute) -> Option<String> {
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
        if argument.is_required && before.any(|it| !it.is_required) {
            return Some(format!(
                "has an action `{name}` whose argument `{own}` must be there, behind one that need not"
            ));
        }
    }
    None
}
