//! Single occurrences of an event that recurs. They are computed from the series, and have ids of their own.

use std::collections::BTreeSet;

use chrono::DateTime;
use entity_core::recurrence::Range;
use entity_core::{DateTimeUtc, Result};

use super::CalendarEvent;

/// The most occurrences that can be changed or deleted by themselves.
pub(super) const MOST_EXCLUDED: usize = 500;

impl CalendarEvent {
    /// Returns the event as it takes place at `start`: itself, or an occurrence of it.
    pub(super) fn at(&self, start: DateTimeUtc) -> Self {
        if self.recurrence_rule.is_none() {
            return self.clone();
        }
        let id = format!("{}_{}", self.event_id, start.timestamp_millis());
        Self {
            event_reference: self.event_reference.replace(&self.event_id, &id),
            event_id: id,
            first_time: start.into(),
            last_time: (start + self.length()).into(),
            series: Some(self.event_id.clone()),
            is_computed: true,
            ..self.clone()
        }
    }

    /// Returns the occurrence at `start`, if there is one.
    pub(super) fn occurrence(&self, start: DateTimeUtc) -> Result<Option<Self>> {
        self.to_series()?;
        let only = Range {
            from: start,
            to: start + chrono::TimeDelta::milliseconds(1),
        };
        let is_one = self.recurrence_rule.is_some()
            && self.starts_in(only, |_steps| true).any(|it| it == start);
        Ok(is_one.then(|| self.at(start)))
    }

    /// Returns the instants at which the event takes place in `range`, in order, as long as `may_go_on` allows, which is
    /// told the steps that each took.
    pub(super) fn starts_in(
        &self,
        range: Range,
        may_go_on: impl FnMut(u64) -> bool + Send + 'static,
    ) -> Box<dyn Iterator<Item = DateTimeUtc> + Send> {
        let length = self.length();
        let Ok(Some(series)) = self.to_series() else {
            let start = Some(self.start()).filter(|it| range.meets(*it, *it + length));
            return Box::new(start.into_iter());
        };
        let excluded = self.excluded();
        let over = self.over_at.0;
        let starts = series
            .starts_while((range.from - length).max(self.start()), may_go_on)
            .take_while(move |it| *it < range.to && *it + length <= over)
            .filter(move |it| range.meets(*it, *it + length))
            .filter(move |it| !excluded.contains(&it.timestamp_millis()));
        Box::new(starts)
    }

    /// Returns the instants of the occurrences that were taken from the series.
    pub(super) fn excluded(&self) -> BTreeSet<i64> {
        let excluded = self.excluded.split(' ');
        excluded.filter_map(|it| it.parse().ok()).collect()
    }
}

/// Returns the id of the series and the instant in the id of an occurrence.
pub(super) fn parse_id(id: &str) -> Option<(&str, DateTimeUtc)> {
    let (series, millis) = id.rsplit_once('_')?;
    let start = DateTime::from_timestamp_millis(millis.parse().ok()?)?;
    Some((series, start)).filter(|_| start.timestamp_millis().to_string() == millis)
}

/// Returns these instants as the column `excluded` holds them.
pub(super) fn to_column(excluded: impl IntoIterator<Item = i64>) -> String {
    let texts: Vec<String> = excluded.into_iter().map(|it| it.to_string()).collect();
    texts.join(" ")
}
