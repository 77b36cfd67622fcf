//! `/direct/activity`: the number of events of a site by day.
//!
//! A follower of the outbox counts the events when they are committed, so that the figures stay when the events are
//! removed.

mod figures;

use std::collections::BTreeMap;

use chrono::{Days, NaiveDate};
use entity_core::{
    Access, Action, Actions, Arguments, Context, Data, Entity, Error, Need, Provider, Read, Result,
    Verb, gate,
};
use schemars::JsonSchema;
use serde::Serialize;

use self::figures::counted;
use crate::people::site;

pub use self::figures::{count, sweep};

/// The function to see the activity of a site.
const VIEWS: &str = "sitestats.view";
/// The number of days that are shown, unless the query says otherwise, and the maximum number.
const DAYS: u64 = 30;
const MOST_DAYS: i64 = 366;

const DATES: &[(&str, &str)] = &[
    (
        "from",
        "the first day, such as `2026-11-01`; 30 days with `to`, unless said",
    ),
    (
        "to",
        "the last day; today unless said. Days are those of UTC",
    ),
];

/// The provider of what happens in sites.
#[derive(Clone, Copy, Debug)]
pub struct Activities;

entity_core::register!(Activities);

/// A site with what happens there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
pub struct Activity {
    /// The id of the site.
    #[entity(id, site)]
    pub id: String,
    /// The title of the site.
    #[entity(title)]
    pub title: String,
}

impl Provider for Activities {
    type Entity = Activity;

    const PREFIX: &'static str = "activity";
    const PLURAL: Option<&'static str> = Some("Activity of sites");
    const SINGULAR: Option<&'static str> = Some("Activity of a site");
    const ACCESS: Access = Access::new(Need::Site(VIEWS), Need::Superuser);
}

impl Read for Activities {
    async fn read(cx: &Context, id: &str) -> Result<Option<Activity>> {
        let title = site::title(cx, id).await?;
        let id = id.to_owned();
        Ok(title.map(|title| Activity { id, title }))
    }
}

impl Actions for Activities {
    fn actions() -> Vec<Action<Self>> {
        vec![
            Action::collection(Verb::Get, "site", Need::Session, of_site)
                .doc(
                    "The number of events of a site on each day, in all and by kind; for those who hold `sitestats.view` \
                     there. An event is something that somebody made, changed, deleted or handed in; reading is none.",
                )
                .label("Activity")
                .argument("siteId", "The site.")
                .parameters(DATES),
        ]
    }
}

/// The days of a site.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ActivityList")]
struct Listed {
    /// The type: `activity`.
    #[serde(rename = "entityPrefix")]
    prefix: &'static str,
    /// The days, each of them, the last one first.
    #[serde(rename = "activity_collection")]
    collection: Vec<Day>,
}

/// The events of a day.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ActivityDay")]
struct Day {
    /// The day, in UTC, such as `2026-11-24`.
    date: String,
    /// The number of events.
    events: i64,
    /// The number of events by kind.
    kinds: BTreeMap<String, i64>,
}

async fn of_site(cx: &Context, arguments: Arguments) -> Result<Data<Listed>> {
    let site = arguments.argument("siteId")?;
    gate::demand_in_site(cx, Need::Site(VIEWS), Some(site)).await?;
    let (from, to) = dates(cx, &arguments)?;
    let mut counted = counted(cx, site, from, to).await?;
    let days = to.signed_duration_since(from).num_days();
    let dates = from
        .iter_days()
        .take(usize::try_from(days).unwrap_or_default() + 1);
    let mut collection: Vec<Day> = dates
        .map(|date| {
            let date = date.to_string();
            let kinds = counted.remove(&date).unwrap_or_default();
            Day {
                events: kinds.values().sum(),
                date,
                kinds,
            }
        })
        .collect();
    collection.reverse();
    Ok(Data(Listed {
        prefix: Activities::PREFIX,
        collection,
    }))
}

/// Returns the first and the last day that the query asks for.
fn dates(cx: &Context, arguments: &Arguments) -> Result<(NaiveDate, NaiveDate)> {
    let read = |name: &str| {
        let text = arguments.parameter(name).filter(|it| !it.is_empty());
        let parsed = text.map(str::parse::<NaiveDate>);
        parsed.transpose().map_err(|error| {
            Error::field(name, "must be a day such as `2026-11-24`").with_source(error)
        })
    };
    let to = read("to")?.unwrap_or_else(|| cx.now().date_naive());
    let earlier = || to.checked_sub_days(Days::new(DAYS - 1));
    let from = read("from")?.or_else(earlier).unwrap_or(to);
    match to.signed_duration_since(from).num_days() {
        0..MOST_DAYS => Ok((from, to)),
        ..0 => Err(Error::field("from", "must not be after `to`")),
        _ => Err(Error::field(
            "from",
            "must be at most 366 days before the end of `to`",
        )),
    }
}
