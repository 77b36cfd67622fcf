//! The history of a list: everything from the very beginning, in pages that hardly ever change (RFC 5005, section 4).
//!
//! A list of a type that declares a history can be had as an archive, by [`ARCHIVE`]: `_archive=1` is the page
//! with the oldest entities, and so on. A page holds [`ARCHIVE_PAGE`] of them, in the order in which they came
//! into being: that of the type's own lists, backwards. There is no page before it is full, so that what is new
//! changes none. What is on no page yet is among the first of the list itself, which names the newest page.
//!
//! A page that takes more bytes than an answer may have is answered in parts: `_archive=3.20` is what is on the third
//! page behind the first 20. Whoever walks to older pages comes by each part.
//!
//! Pages are counted among what the *reader* may see: an archive is a search like any other, through the same
//! gate, with an order, a start and a limit of its own. Two readers may thus have different pages at the same
//! address, and nothing that a reader may not see is on any of them. What a reader may see can change, because
//! an old draft is finished, something is retracted or deleted, or the reader joins a group. The pages behind
//! that place then move on or up by as much; those before it stay.

use std::fmt;

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

/// A page of an archive, or a part of one: what is on it behind its first entities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ArchivePage {
    number: u64,
    passed: u64,
}

/// Writes it as it is asked for: `3`, or `3.20`.
impl fmt::Display for ArchivePage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.passed {
            0 => write!(f, "{}", self.number),
            passed => write!(f, "{}.{passed}", self.number),
        }
    }
}

/// Where an answer stands in the history of its list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct History {
    /// The page of the archive that it is; `None` for what is current: it begins with the newest, and reaches to
    /// the archive.
    pub page: Option<ArchivePage>,
    /// The number of the newest page of the archive; 0 if there is none yet.
    pub newest: u64,
    /// Where the page goes on, if not all of it is shown.
    pub rest: Option<ArchivePage>,
}

impl ArchivePage {
    /// The page with this number, counted from 1.
    pub fn new(number: u64) -> Self {
        Self { number, passed: 0 }
    }

    /// What follows on the same page behind the first `count` of this one.
    pub(crate) fn behind(self, count: u64) -> Self {
        Self {
            passed: self.passed.saturating_add(count),
            ..self
        }
    }

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
        let (number, passed) = match text.split_once('.') {
            Some((number, passed)) => (number, passed.parse()),
            None => (text.as_str(), Ok(0)),
        };
        match (number.parse(), passed) {
            (Ok(0), _) => Err(Error::field(ARCHIVE, "counts from 1")),
            (Ok(number), Ok(passed)) if number <= LAST_PAGE && passed < ARCHIVE_PAGE => {
                Ok(Some(Self { number, passed }))
            }
            (Ok(_), Ok(_)) => Err(Error::field(ARCHIVE, "is too large")),
            (Err(error), _) | (_, Err(error)) => Err(Error::field(
                ARCHIVE,
                "must be a whole number, 1 or greater",
            )
            .with_source(error)),
        }
    }

    /// Which part of the list it is, in the order of the archive.
    pub fn window(self) -> Window {
        let pages = self.number.saturating_sub(1);
        Window {
            start: pages
                .saturating_mul(ARCHIVE_PAGE)
                .saturating_add(self.passed),
            limit: ARCHIVE_PAGE.saturating_sub(self.passed),
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
            let history = Self::of_page(archive, count.await?)?;
            return Ok(Some(history.cut(page.places.end())));
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
        match page.number <= newest {
            true => Ok(Self {
                page: Some(page),
                newest,
                rest: None,
            }),
            false => Err(Error::new(ErrorKind::NotFound, not_full(newest))),
        }
    }

    /// Where the newest of a list of `total` entities stand.
    pub fn of_newest(total: u64) -> Self {
        Self {
            page: None,
            newest: pages(total),
            rest: None,
        }
    }

    /// The same where no more is shown than stands for the first `end` entities, if that is less than there are.
    pub(crate) fn cut(self, end: Option<u64>) -> Self {
        let rest = self.page.zip(end).map(|(page, end)| page.behind(end));
        Self {
            rest: rest.or(self.rest),
            ..self
        }
    }

    /// Whether the part `window` of a list that begins with the newest holds all that is on no page of the
    /// archive yet; `has_more` tells whether the list goes on behind it.
    pub fn is_reached(window: Window, has_more: bool) -> bool {
        window.start == 0 && (!has_more || window.limit >= ARCHIVE_PAGE)
    }

    /// The next page of the archive towards the oldest, if there is one: the rest of this one comes first.
    pub fn older(self) -> Option<ArchivePage> {
        let number = match self.page {
            Some(page) => page.number.saturating_sub(1),
            None => self.newest,
        };
        let older = Some(number).filter(|it| *it > 0).map(ArchivePage::new);
        self.rest.or(older)
    }

    /// The next newer page of the archive, if there is one; of a part, its page from the beginning.
    pub fn newer(self) -> Option<ArchivePage> {
        let page = self.page?;
        let number = match page.passed {
            0 => page.number.saturating_add(1),
            _ => page.number,
        };
        let newer = Some(number).filter(|it| *it <= self.newest);
        newer.map(ArchivePage::new)
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
        let part = parse(&[("_archive", "3.20")]).unwrap().unwrap();
        assert_eq!((part.window().start, part.window().limit), (120, 30));
        assert_eq!(part.to_string(), "3.20");
        for (query, name) in [
            (&[("_archive", "0")][..], "_archive"),
            (&[("_archive", "")], "_archive"),
            (&[("_archive", "-1")], "_archive"),
            (&[("_archive", "0.5")], "_archive"),
            (&[("_archive", "1.50")], "_archive"),
            (&[("_archive", "1.")], "_archive"),
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
        let told = |history: History| {
            let told = [history.older(), history.newer()];
            told.map(|it| it.map(|it| it.to_string()).unwrap_or_default())
        };
        let around = |total| told(History::of_page(page, total).unwrap());
        assert_eq!(around(100), ["1", ""]);
        assert_eq!(around(149), ["1", ""]);
        assert_eq!(around(150), ["1", "3"]);
        let first = History::of_page(page, 150).unwrap().cut(Some(20));
        assert_eq!(told(first), ["2.20", "3"]);
        let second = History::of_page(page.behind(20), 150).unwrap();
        assert_eq!(told(second), ["1", "2"]);
        assert_eq!(told(second.cut(Some(7))), ["2.27", "2"]);
        let last = parse(&[("_archive", "72057594037927936")])
            .unwrap()
            .unwrap();
        assert!(i64::try_from(last.window().start).is_ok());
    }

    #[test]
    fn what_is_current_leads_to_the_newest_page() {
        for (total, newest) in [(0, None), (49, None), (50, Some(1)), (149, Some(2))] {
            let history = History::of_newest(total);
            let newest = newest.map(ArchivePage::new);
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
