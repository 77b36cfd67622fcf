//! The position of a page in its list.

use crate::contract::reply::Item;
use crate::contract::search::{Page, Search, Walk};
use crate::primitives::error::Result;

/// The position of a page in its list, besides the window.
#[derive(Default)]
pub(super) struct PagePosition {
    pub(super) cursor: Option<String>,
    pub(super) total: Option<u64>,
    pub(super) is_searched: bool,
    pub(super) walk: Option<Walk>,
}

impl PagePosition {
    /// Creates the position of `page`, which was found by `search`.
    pub(super) fn of(search: &Search, page: &Page<Item>, total: Option<u64>) -> Result<Self> {
        let is_end = !page.has_more || page.items.is_empty();
        Ok(Self {
            cursor: match is_end {
                true => None,
                false => search.next_cursor(&page.items)?,
            },
            total: total.map(|it| search.count_within(it)),
            is_searched: true,
            walk: Walk::of(search),
        })
    }
}
