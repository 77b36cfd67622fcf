//! Pages of a list, and the positions of their entities in the list.

use serde::Serialize;

use super::{Cursor, Order, Search, Window};
use crate::contract::reply::Item;
use crate::model::wire::size_in_json;
use crate::primitives::error::Result;

/// A page of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T> {
    /// The entities, in order.
    pub items: Vec<T>,
    /// True if the list continues behind the page.
    pub has_more: bool,
    /// The positions of the entities in the list.
    pub places: Places,
}

impl<T> Page<T> {
    /// Creates a page with the whole list.
    pub fn whole(items: Vec<T>) -> Self {
        Self {
            items,
            has_more: false,
            places: Places::default(),
        }
    }

    /// Creates a page of the first `limit` of `items`. One more than `limit` must have been fetched if the list
    /// continues.
    pub fn cut(mut items: Vec<T>, limit: u64) -> Self {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let has_more = items.len() > limit;
        items.truncate(limit);
        Self {
            items,
            has_more,
            places: Places::default(),
        }
    }

    /// Creates a page of `items`, which are fewer than the limit because more would take too many bytes.
    pub fn ended(items: Vec<T>) -> Self {
        let places = Places {
            offsets: None,
            end: Some(to_count(items.len())),
        };
        Self {
            items,
            has_more: true,
            places,
        }
    }

    /// Converts each entity of the page.
    pub fn map<U>(self, make: impl FnMut(T) -> U) -> Page<U> {
        Page {
            items: self.items.into_iter().map(make).collect(),
            has_more: self.has_more,
            places: self.places,
        }
    }

    /// Shortens the page to its first entities that together take no more than `most` bytes as JSON. The first entity
    /// is kept whatever it takes.
    ///
    /// # Errors
    /// Returns an error if an entity can't be serialised.
    pub fn within(mut self, most: usize) -> Result<Self>
    where
        T: Serialize,
    {
        let mut bytes = 0_usize;
        for index in 0..self.items.len() {
            let item = self.items.get(index);
            let size = item.map(size_in_json).transpose()?.unwrap_or_default();
            bytes = bytes.saturating_add(size).saturating_add(1);
            if bytes > most && index > 0 {
                self.items.truncate(index);
                self.has_more = true;
                self.places = self.places.first(index);
                break;
            }
        }
        Ok(self)
    }

    /// Returns the number of entities of the list that stand before the next page, if there is one. This page must have
    /// been requested with `window`.
    pub fn next_start(&self, window: Window) -> Option<u64> {
        let passed = self.places.end().unwrap_or(window.limit);
        self.has_more.then(|| window.start.saturating_add(passed))
    }

    /// Removes the entities for which `is_kept` is false.
    #[must_use]
    pub fn keep(self, is_kept: &[bool]) -> Self {
        let places = self.places.keep(is_kept);
        let kept = self.items.into_iter().zip(is_kept);
        Self {
            items: kept.filter(|it| *it.1).map(|it| it.0).collect(),
            has_more: self.has_more,
            places,
        }
    }
}

/// The positions of a page's entities in the list, so that the next page begins at the right entity if this page ends
/// early.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// The offset of each entity from the beginning of the page in the list; `None` if it is the entity's index.
    offsets: Option<Vec<u64>>,
    /// The number of entities of the list that the page covers, if they are fewer than its limit.
    end: Option<u64>,
}

impl Places {
    /// Returns the number of entities of the list that the page covers, if it ended before its limit.
    pub fn end(&self) -> Option<u64> {
        self.end
    }

    /// Returns the positions of the first `count` entities; the list continues behind them.
    pub(crate) fn first(&self, count: usize) -> Self {
        Self {
            offsets: self
                .offsets
                .as_ref()
                .map(|it| it.iter().take(count).copied().collect()),
            end: Some(self.offset(count)),
        }
    }

    fn offset(&self, index: usize) -> u64 {
        let offset = self.offsets.as_ref().and_then(|it| it.get(index)).copied();
        offset.unwrap_or_else(|| to_count(index))
    }

    fn keep(&self, is_kept: &[bool]) -> Self {
        if is_kept.iter().all(|it| *it) {
            return self.clone();
        }
        let kept = is_kept.iter().enumerate().filter(|it| *it.1);
        Self {
            offsets: Some(kept.map(|(index, _)| self.offset(index)).collect()),
            end: self.end,
        }
    }
}

/// The state of a walk by cursors, from which it can continue behind any entity of a page.
#[derive(Clone, Debug)]
pub struct Walk {
    cursor: Cursor,
    order: Vec<Order>,
}

impl Walk {
    /// Returns the walk of `search`, if `search` has a cursor.
    pub(crate) fn of(search: &Search) -> Option<Self> {
        let cursor = search.cursor.clone()?;
        let order = search.order.clone();
        Some(Self { cursor, order })
    }

    /// Returns the cursor with which a client continues behind `items`.
    pub(crate) fn behind(&self, items: &[Item]) -> Result<String> {
        self.cursor.behind_items(&self.order, items)?.write()
    }
}

fn to_count(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_part_begins_with_the_first_that_was_left_out() {
        let page = Page::cut(vec!['a', 'b', 'c', 'd', 'e', 'f'], 5);
        assert_eq!((page.has_more, page.places.end()), (true, None));
        let page = page.keep(&[false, true, false, true, true]);
        assert_eq!(page.items, ['b', 'd', 'e']);
        // `c` is hidden: it is passed by.
        assert_eq!(page.places.first(1).end(), Some(3));
        assert_eq!(page.places.first(2).end(), Some(4));
        let again = page.clone().keep(&[true, false, true]);
        assert_eq!(again.places.first(1).end(), Some(4));
        let window = Window {
            start: 10,
            limit: 5,
        };
        assert_eq!(page.next_start(window), Some(15));
        // Three bytes each, and one between them.
        let cut = page.clone().within(7).unwrap();
        assert_eq!(
            (cut.items.as_slice(), cut.next_start(window)),
            (&['b'][..], Some(13))
        );
        assert_eq!(page.clone().within(0).unwrap().items, ['b']);
        assert_eq!(page.clone().within(99).unwrap(), page);
        assert_eq!(Page::whole(vec![1]).next_start(window), None);
        let ended = Page::ended(vec![1, 2, 3]).keep(&[true, true, false]);
        assert_eq!((ended.has_more, ended.places.end()), (true, Some(3)));
    }
}
