//! The evaluation of a search on entities in memory, equivalent to the SQL of [`db::list`](crate::db::list).

use std::cmp::Ordering;

use serde_json::Value;

use super::{Cell, Needle, Order, Page, Search, is_searched};
use crate::contract::reply::Item;
use crate::model::any_entity::AnyEntity;
use crate::model::entity::Entity;
use crate::model::schema::Schema;
use crate::primitives::error::Result;

/// Returns the page of `entities` that `search` asks for.
///
/// # Errors
/// Returns an error if an entity can't be serialised.
pub fn select<E: Entity>(entities: Vec<E>, search: &Search) -> Result<Page<E>> {
    let mut matches = Matches::of(search, E::schema());
    let mut all = entities.iter();
    all.try_for_each(|it| matches.look_at(it))?;
    Ok(matches.wanted().of(entities))
}

/// Returns the page of `items`, which are of a type with this schema, that `search` asks for, and the number of all
/// matches, whatever page is requested.
pub(crate) fn select_items(
    items: Vec<Item>,
    schema: &'static Schema,
    search: &Search,
) -> Result<(Page<Item>, u64)> {
    let mut matches = Matches::of(search, schema);
    let mut all = items.iter().map(Item::entity);
    all.try_for_each(|it| matches.look_at(it))?;
    let count = matches.count;
    Ok((matches.wanted().of(items), count))
}

/// The places of the entities on a page, in its order, and the maximum number of entities on it.
struct Wanted {
    places: Vec<usize>,
    limit: u64,
}

impl Wanted {
    /// Returns the page of `entities`, all that were looked at.
    fn of<T>(self, entities: Vec<T>) -> Page<T> {
        let mut entities: Vec<_> = entities.into_iter().map(Some).collect();
        let places = self.places.into_iter();
        let items = places.filter_map(|it| entities.get_mut(it)?.take());
        Page::cut(items.collect(), self.limit)
    }
}

/// The places of the entities that a search wants, among all that are looked at one after the other.
struct Matches<'a> {
    search: &'a Search,
    schema: &'static Schema,
    needles: Vec<Needle>,
    found: Vec<(Vec<Cell>, usize)>,
    looked_at: usize,
    count: u64,
}

impl<'a> Matches<'a> {
    fn of(search: &'a Search, schema: &'static Schema) -> Self {
        Self {
            search,
            schema,
            needles: search.words.iter().map(|it| Needle::new(it)).collect(),
            found: Vec::new(),
            looked_at: 0,
            count: 0,
        }
    }

    /// Looks at the next entity.
    fn look_at(&mut self, entity: &dyn AnyEntity) -> Result<()> {
        let place = self.looked_at;
        self.looked_at = place.saturating_add(1);
        let data = entity.to_value()?;
        if !self.is_wanted(entity.site(), &data) {
            return Ok(());
        }
        self.count = self.count.saturating_add(1);
        let order = self.search.order.iter();
        let keys: Vec<Cell> = order.map(|it| Cell::of_field(it.field, &data)).collect();
        if is_behind(&keys, self.search) {
            self.found.push((keys, place));
        }
        Ok(())
    }

    fn is_wanted(&self, site: Option<&str>, data: &Value) -> bool {
        let holds_word = |needle: &Needle| {
            let mut fields = self.schema.fields.iter().filter(|it| is_searched(it));
            fields.any(|it| Cell::of_field(it, data).holds(it, needle))
        };
        let mut filters = self.search.filters.iter();
        site.is_none_or(|it| self.search.scope.contains(it))
            && filters.all(|it| it.holds(&Cell::of_field(it.field, data)))
            && self.needles.iter().all(holds_word)
    }

    /// Returns the places of the entities on the page that the search asks for.
    fn wanted(mut self) -> Wanted {
        let order = &self.search.order;
        self.found
            .sort_by(|(one, _), (other, _)| compare(order, one, other));
        let start = usize::try_from(self.search.start).unwrap_or(usize::MAX);
        let most = usize::try_from(self.search.fetch()).unwrap_or(usize::MAX);
        let places = self.found.into_iter().skip(start).take(most);
        Wanted {
            places: places.map(|it| it.1).collect(),
            limit: self.search.limit,
        }
    }
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
