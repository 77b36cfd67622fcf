//! The evaluation of a search on entities in memory, equivalent to the SQL of [`db::apply`](crate::db::apply).

use std::cmp::Ordering;

use serde_json::Value;

use super::{Cell, Needle, Order, Page, Search, is_searched};
use crate::model::entity::Entity;
use crate::words::error::{Error, Result};

/// Returns the page of `entities` that `search` asks for.
///
/// # Errors
/// Returns an error if an entity can't be serialised.
pub fn select<E: Entity>(entities: Vec<E>, search: &Search) -> Result<Page<E>> {
    find(entities, search).map(|(page, _count)| page)
}

/// Returns the page of `entities` that `search` asks for, and the number of all matches, whatever page is requested.
pub(crate) fn find<E: Entity>(entities: Vec<E>, search: &Search) -> Result<(Page<E>, u64)> {
    let needles: Vec<Needle> = search.words.iter().map(|it| Needle::new(it)).collect();
    let mut found = Vec::new();
    let mut count = 0_u64;
    for entity in entities {
        let data = serde_json::to_value(&entity).map_err(Error::internal)?;
        let keys: Vec<Cell> = search
            .order
            .iter()
            .map(|it| Cell::of_field(it.field, &data))
            .collect();
        if !is_wanted(&entity, &data, search, &needles) {
            continue;
        }
        count = count.saturating_add(1);
        if is_behind(&keys, search) {
            found.push((keys, entity));
        }
    }
    found.sort_by(|(one, _), (other, _)| compare(&search.order, one, other));
    let start = usize::try_from(search.start).unwrap_or(usize::MAX);
    let most = usize::try_from(search.fetch()).unwrap_or(usize::MAX);
    let items = found.into_iter().skip(start).take(most);
    let items = items.map(|(_, it)| it).collect();
    Ok((Page::cut(items, search.limit), count))
}

fn is_wanted<E: Entity>(entity: &E, data: &Value, search: &Search, needles: &[Needle]) -> bool {
    let holds_word = |needle: &Needle| {
        let mut fields = E::schema().fields.iter().filter(|it| is_searched(it));
        fields.any(|it| Cell::of_field(it, data).holds(it, needle))
    };
    let mut filters = search.filters.iter();
    entity.site().is_none_or(|it| search.scope.contains(it))
        && filters.all(|it| it.holds(&Cell::of_field(it.field, data)))
        && needles.iter().all(holds_word)
}

fn is_behind(keys: &[Cell], search: &Search) -> bool {
    search
        .after()
        .is_none_or(|it| compare(&search.order, keys, it) == Ordering::Greater)
}

fn compare(order: &[Order], one: &[Cell], other: &[Cell]) -> Ordering {
    order
        .iter()
        .zip(one.iter().zip(other))
        .map(|(key, (one, other))| key.compare(one, other))
        .find(|it| it.is_ne())
        .unwrap_or(Ordering::Equal)
}
