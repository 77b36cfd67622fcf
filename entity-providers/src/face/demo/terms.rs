//! The terms of the demo university: halves of years, around now.

use chrono::{Datelike as _, NaiveDate};
use entity_core::{Context, DateTimeUtc, Error, Result, db};

use crate::people::term::Term;

/// A half of a year.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Half {
    year: i32,
    is_second: bool,
}

impl Half {
    /// Returns the half in which `now` is.
    pub(super) fn of(now: DateTimeUtc) -> Self {
        Self {
            year: now.year(),
            is_second: now.month() >= 7,
        }
    }

    /// Returns the year, as sites name it.
    pub(super) fn year(self) -> String {
        self.year.to_string()
    }

    /// Returns the id of the term, as sites name it.
    pub(super) fn id(self) -> String {
        let month = if self.is_second { 9 } else { 3 };
        format!("{}:{month}", self.year)
    }

    fn title(self) -> String {
        let season = if self.is_second { "Autumn" } else { "Spring" };
        format!("{season} {}", self.year)
    }

    fn next(self) -> Self {
        Self {
            year: self.year.saturating_add(self.is_second.into()),
            is_second: !self.is_second,
        }
    }

    fn former(self) -> Self {
        Self {
            year: self.year.saturating_sub((!self.is_second).into()),
            is_second: !self.is_second,
        }
    }

    fn begin(self) -> Result<DateTimeUtc> {
        let month = if self.is_second { 7 } else { 1 };
        let day = NaiveDate::from_ymd_opt(self.year, month, 1);
        let begin = day.and_then(|it| it.and_hms_opt(0, 0, 0));
        begin
            .map(|it| it.and_utc())
            .ok_or_else(|| Error::internal("the clock shows a year that calendars do not have"))
    }

    fn to_term(self) -> Result<Term> {
        Ok(Term {
            id: self.id(),
            title: self.title(),
            from: self.begin()?,
            to: self.next().begin()?,
            current: false,
            version: 1,
        })
    }
}

/// Adds the former, the present and the next term.
pub(super) async fn fill(cx: &Context) -> Result<()> {
    let present = Half::of(cx.now());
    for half in [present.former(), present, present.next()] {
        db::insert(cx, &half.to_term()?).await?;
    }
    Ok(())
}
