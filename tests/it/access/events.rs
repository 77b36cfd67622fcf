//! Events in each state that the policy names.

use chrono::TimeDelta;
use entity_core::DateTimeUtc;
use entity_core::wire::Millis;
use entity_providers::courses::calendar::CalendarEvent;

use super::rows::Rows;
use super::subject::Subject;
use super::world::{Caller, World, made, place};

impl World {
    /// An event of a site, of which `again` recurs and `single` is one occurrence.
    pub(super) async fn event(&self, state: &str, caller: &Caller) -> Subject {
        let creator = self.owner(state, caller, "author");
        let marker = self.new_marker();
        let first = self.app.service().now() + TimeDelta::days(1);
        let subject = Subject {
            id: match state {
                "single" => format!("{marker}_{}", first.timestamp_millis()),
                _ => marker.clone(),
            },
            site: self.sites[place(state)].clone(),
            user: creator.id.clone(),
            marker,
            ..Subject::default()
        };
        if state != "unknown" {
            self.store(event_rows(state, &subject, first)).await;
        }
        subject
    }
}

fn event_rows(state: &str, subject: &Subject, first: DateTimeUtc) -> Rows {
    let group = ["mine", "foreign"].into_iter().find(|it| *it == state);
    let recurs = ["again", "single"].contains(&state);
    let mut rows = Rows::default();
    rows.add(CalendarEvent {
        event_id: subject.marker.clone(),
        title: subject.marker.clone(),
        kind: "Meeting".to_owned(),
        site_id: subject.site.clone(),
        creator: subject.user.clone(),
        first_time: first.into(),
        time_zone: "UTC".to_owned(),
        recurrence_rule: recurs.then(|| "FREQ=DAILY;COUNT=2".to_owned()),
        groups: group.map(ToOwned::to_owned).into_iter().collect(),
        created_on: made(),
        modified_on: made(),
        over_at: Millis(first + TimeDelta::days(1)),
        version: 1,
        ..CalendarEvent::default()
    });
    rows
}
