//! The evaluation of a search on entities in memory, equivalent to the SQL of [`db::apply`](crate::db::apply).

use std::cmp::Ordering;

use serde_json::Value;

use super::{Cell, Needle, Order, Page, Search, is_searched};
use crate::model::entity::Entity;
use crate::model::schema::Schema;
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
    let mut matches = Matches::of(search, E::schema());
    for entity in &entities {
        let data = serde_json::to_value(entity).map_err(Error::internal)?;
        matches.look_at(entity.site(), &data);
    }
    let (places, count) = matches.wanted();
    let mut entities: Vec<_> = entities.into_iter().map(Some).collect();
    let items = places
        .into_iter()
        .filter_map(|it| entities.get_mut(it)?.take());
    Ok((Page::cut(items.collect(), search.limit), count))
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

    /// Looks at the next entity, which has this data and is of this site.
    fn look_at(&mut self, site: Option<&str>, data: &Value) {
        let place = self.looked_at;
        self.looked_at = place.saturating_add(1);
        if !self.is_wanted(site, data) {
            return;
        }
        self.count = self.count.saturating_add(1);
        let order = self.search.order.iter();
        let keys: Vec<Cell> = order.map(|it| Cell::of_field(it.field, data)).collect();
        if is_behind(&keys, self.search) {
            self.found.push((keys, place));
        }
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

    /// Returns the places of the entities on the page that the search asks for, in its order, and the number of all
    /// matches.
    fn wanted(mut self) -> (Vec<usize>, u64) {
        let order = &self.search.order;
        self.found
            .sort_by(|(one, _), (other, _)| compare(order, one, other));
        let start = usize::try_from(self.search.start).unwrap_or(usize::MAX);
        let most = usize::try_from(self.search.fetch()).unwrap_or(usize::MAX);
        let places = self.found.into_iter().skip(start).take(most);
        (places.map(|it| it.1).collect(), self.count)
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
