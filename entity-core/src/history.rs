//! The history of a list: everything from the very beginning, in pages that hardly ever change (RFC 5005, section 4).
//!
//! A list of a type that declares a history can be had as an archive, by [`ARCHIVE`]: `_archive=1` is the page
//! with the oldest entities, and so on. A page holds [`ARCHIVE_PAGE`] of them, in the order in which they came
//! into being: that of the type's own lists, backwards. There is no page before it is full, so that what is new
//! changes none. What is on no page yet is among the first of the list itself, which names the newest page.
//!
//! Pages are counted among what the *reader* may see: an archive is a search like any other, through the same
//! gate, with an order, a start and a limit of its own. Two readers may thus have different pages at the same
//! address, and nothing that a reader may not see is on any of them. What a reader may see can change, because
//! an old draft is finished, something is retracted or deleted, or the reader joins a group. The pages behind
//! that place then move on or up by as much; those before it stay.

use crate::error::{Error, ErrorKind, Result};
use crate::search::{Page, Search, Window};

/// The parameter of a query that asks for a page of the archive.
pub const ARCHIVE: &str = "_archive";

/// How many entities a page of an archive holds. Another number would change every page that readers know.
pub const ARCHIVE_PAGE: u64 = 50;

/// The last page that can be asked for: where it begins fits an `i64`, wherever it is put.
const LAST_PAGE: u64 = 1 << 56;

/// What says which part of a list is wanted, or in which order, and can't be said of an archive.
const PARTS: [&str; 6] = ["_order", "_cursor", "_limit", "_start", "_page", "_perpage"];

/// A page of an archive, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ArchivePage(u64);

/// Where an answer stands in the history of its list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct History {
    /// The number of the page of the archive that it is, counted from 1; `None` for what is current: it begins
    /// with the newest, and reaches to the archive.
    pub page: Option<u64>,
    /// The number of the newest page of the archive; 0 if there is none yet.
    pub newest: u64,
}

impl ArchivePage {
    /// The page that `query` asks for, if it does.
    ///
    /// # Errors
    /// It is asked for twice or by no number, or together with another part of the list or another order.
    pub fn parse(query: &[(String, String)]) -> Result<Option<Self>> {
        let pairs = || query.iter().map(|(name, value)| (plain(name), value));
        let mut asked = pairs().filter(|(name, _)| *name == ARCHIVE);
        let Some((_, text)) = asked.next() else {
            return Ok(None);
        };
        if asked.next().is_some() {
            return Err(Error::field(ARCHIVE, "is given more than once"));
        }
        // No order is the same as none that is named.
        let is_part = |(name, value): &(&str, &String)| {
            PARTS.contains(name) && !(*name == "_order" && value.is_empty())
        };
        if let Some((name, _)) = pairs().find(is_part) {
            return Err(Error::field(
                name,
                format!("must not be given together with `{ARCHIVE}`"),
            ));
        }
        match text.parse() {
            Ok(number) if (1..=LAST_PAGE).contains(&number) => Ok(Some(Self(number))),
            Ok(0) => Err(Error::field(ARCHIVE, "counts from 1")),
            Ok(_) => Err(Error::field(ARCHIVE, "is too large")),
            Err(error) => Err(
                Error::field(ARCHIVE, "must be a whole number, 1 or greater").with_source(error),
            ),
        }
    }

    /// Which part of the list it is, in the order of the archive.
    pub fn window(self) -> Window {
        Window {
            start: self.0.saturating_sub(1).saturating_mul(ARCHIVE_PAGE),
            limit: ARCHIVE_PAGE,
        }
    }
}

impl History {
    /// Where the part `page` of a list stands, for which `search` asked: a page of the archive; or what is current,
    /// for those who follow the history. `count` tells how many `search` asks for; it is asked if it matters.
    ///
    /// # Errors
    /// The page of the archive is not full yet; those of `count`.
    pub async fn of<E: Sync>(
        search: &Search,
        page: &Page<E>,
        is_followed: bool,
        count: impl Future<Output = Result<u64>> + Send,
    ) -> Result<Option<Self>> {
        if let Some(archive) = search.archive {
            return Self::of_page(archive, count.await?).map(Some);
        }
        let shown = u64::try_from(page.items.len()).unwrap_or_default();
        let is_long = page.places.end().is_none() || shown >= ARCHIVE_PAGE;
        let is_current =
            search.cursor.is_none() && is_long && Self::is_reached(search.window(), page.has_more);
        if !is_followed || !is_current {
            return Ok(None);
        }
        let total = match page.has_more {
            true => count.await?,
            false => u64::try_from(page.items.len()).unwrap_or_default(),
        };
        Ok(Some(Self::of_newest(total)))
    }

    /// Where the page `page` stands, of a list of `total` entities.
    ///
    /// # Errors
    /// The page is not full yet.
    pub fn of_page(page: ArchivePage, total: u64) -> Result<Self> {
        let newest = pages(total);
        match page.0 <= newest {
            true => Ok(Self {
                page: Some(page.0),
                newest,
            }),
            false => Err(Error::new(ErrorKind::NotFound, not_full(newest))),
        }
    }

    /// Where the newest of a list of `total` entities stand.
    pub fn of_newest(total: u64) -> Self {
        Self {
            page: None,
            newest: pages(total),
        }
    }

    /// Whether the part `window` of a list that begins with the newest holds all that is on no page of the
    /// archive yet; `has_more` tells whether the list goes on behind it.
    pub fn is_reached(window: Window, has_more: bool) -> bool {
        window.start == 0 && (!has_more || window.limit >= ARCHIVE_PAGE)
    }

    /// The number of the next older page of the archive, if there is one.
    pub fn older(self) -> Option<u64> {
        let older = self.page.map_or(self.newest, |it| it.saturating_sub(1));
        Some(older).filter(|it| *it > 0)
    }

    /// The number of the next newer page of the archive, if there is one.
    pub fn newer(self) -> Option<u64> {
        let newer = self.page?.saturating_add(1);
        Some(newer).filter(|it| *it <= self.newest)
    }
}

/// The name of a parameter without the operator that is usually left out.
fn plain(name: &str) -> &str {
    name.strip_suffix("[eq]").unwrap_or(name)
}

/// How many pages `total` entities fill.
fn pages(total: u64) -> u64 {
    total.checked_div(ARCHIVE_PAGE).unwrap_or_default()
}

fn not_full(newest: u64) -> String {
    let what_to_do = match newest {
        0 => "ask for the list without `_archive`".to_owned(),
        newest => format!("the newest is {newest}"),
    };
    format!("this page of the archive is not full yet: {what_to_do}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(query: &[(&str, &str)]) -> Result<Option<ArchivePage>> {
        let query: Vec<_> = query
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        ArchivePage::parse(&query)
    }

    #[test]
    fn a_page_is_asked_for_by_its_number_alone() {
        assert_eq!(parse(&[("_limit", "5")]).unwrap(), None);
        let page = parse(&[("title", "x"), ("_archive", "3"), ("_order", "")]).unwrap();
        let window = page.unwrap().window();
        assert_eq!((window.start, window.limit), (100, 50));
        for (query, name) in [
            (&[("_archive", "0")][..], "_archive"),
            (&[("_archive", "")], "_archive"),
            (&[("_archive", "-1")], "_archive"),
            (&[("_archive", "x")], "_archive"),
            (&[("_archive", "99999999999999999999")], "_archive"),
            (&[("_archive", "9223372036854775807")], "_archive"),
            (&[("_archive", "1"), ("_archive[eq]", "1")], "_archive"),
            (&[("_archive", "1"), ("_limit", "5")], "_limit"),
            (&[("_archive", "1"), ("_start[eq]", "5")], "_start"),
            (&[("_cursor", ""), ("_archive", "1")], "_cursor"),
            (&[("_order", "title"), ("_archive", "1")], "_order"),
        ] {
            let error = parse(query).unwrap_err();
            assert_eq!(error.field_errors()[0].name, name, "{query:?}");
        }
    }

    #[test]
    fn a_page_exists_when_it_is_full() {
        let page = parse(&[("_archive", "2")]).unwrap().unwrap();
        for total in [0, 49, 50, 99] {
            let error = History::of_page(page, total).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::NotFound, "{total}");
        }
        let around = |total| {
            let history = History::of_page(page, total).unwrap();
            (history.older(), history.newer())
        };
        assert_eq!(around(100), (Some(1), None));
        assert_eq!(around(149), (Some(1), None));
        assert_eq!(around(150), (Some(1), Some(3)));
        let last = parse(&[("_archive", "72057594037927936")])
            .unwrap()
            .unwrap();
        assert!(i64::try_from(last.window().start).is_ok());
    }

    #[test]
    fn what_is_current_leads_to_the_newest_page() {
        for (total, newest) in [(0, None), (49, None), (50, Some(1)), (149, Some(2))] {
            let history = History::of_newest(total);
            assert_eq!(
                (history.older(), history.newer()),
                (newest, None),
                "{total}"
            );
        }
        let window = |start, limit| Window { start, limit };
        assert!(History::is_reached(window(0, 50), true));
        assert!(History::is_reached(window(0, 2), false));
        assert!(!History::is_reached(window(0, 49), true));
        assert!(!History::is_reached(window(50, 50), true));
    }
}
