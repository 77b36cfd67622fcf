//! Many items of a syllabus at once: one for each day of a course on which it meets.

use chrono::{Datelike as _, NaiveDate, NaiveTime, Weekday};
use entity_core::schema::{Field, Kind};
use entity_core::{Arguments, Context, Data, Error, Input, Result, gate};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::SyllabusItem;
use crate::base::parameters;

/// The maximum number of items that are made at once.
const MOST_ITEMS: usize = 100;
/// The names of the days of the week.
const DAYS: [(&str, Weekday); 7] = [
    ("MO", Weekday::Mon),
    ("TU", Weekday::Tue),
    ("WE", Weekday::Wed),
    ("TH", Weekday::Thu),
    ("FR", Weekday::Fri),
    ("SA", Weekday::Sat),
    ("SU", Weekday::Sun),
];

/// The fields for which pages ask before items are made.
pub(super) const ASKS: &[Field] = &[
    Field::new("title", Kind::Text(200), "What the headings begin with.").required(),
    Field::new(
        "firstDate",
        Kind::Text(10),
        "The first day, such as 2026-11-21.",
    )
    .required(),
    Field::new("lastDate", Kind::Text(10), "The last day.").required(),
    Field::new(
        "days",
        Kind::Text(40),
        "The days of the week, such as MO,WE; all, without any.",
    ),
    Field::new(
        "startTime",
        Kind::Text(5),
        "The time of day at which an item begins, such as 10:15, in UTC.",
    ),
    Field::new(
        "endTime",
        Kind::Text(5),
        "The time of day at which it ends, in UTC.",
    ),
    Field::new(
        "draft",
        Kind::Boolean,
        "Whether only those see the items who write the syllabus.",
    ),
];

/// The items that were made.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "MadeSyllabusItems")]
pub(super) struct Made {
    /// Their ids, in order.
    ids: Vec<String>,
}

/// Makes an item for each day.
pub(super) async fn bulk(cx: &Context, arguments: Arguments) -> Result<Data<Made>> {
    let site = arguments.argument("siteId")?;
    let title = parameters::required(&arguments, "title")?;
    let is_draft = parameters::truth(&arguments, "draft")?;
    let times = (time(&arguments, "startTime")?, time(&arguments, "endTime")?);
    let mut ids = Vec::new();
    for (number, day) in (1..).zip(days(&arguments)?) {
        let at = |time: NaiveTime| Value::from(day.and_time(time).and_utc().timestamp_millis());
        let mut fields = Map::new();
        fields.insert("siteId".to_owned(), site.into());
        fields.insert("title".to_owned(), format!("{title} {number}").into());
        fields.insert("draft".to_owned(), is_draft.into());
        fields.insert("startDate".to_owned(), at(times.0.unwrap_or_default()));
        fields.extend(times.1.map(|it| ("endDate".to_owned(), at(it))));
        let made = gate::create::<SyllabusItem>(cx, &Input::from_iter(fields)).await?;
        ids.push(made.id);
    }
    Ok(Data(Made { ids }))
}

/// Returns the days on which there is an item, in order.
fn days(arguments: &Arguments) -> Result<Vec<NaiveDate>> {
    let (first, last) = (day(arguments, "firstDate")?, day(arguments, "lastDate")?);
    let names = parameters::texts(arguments, "days")?.unwrap_or_default();
    let weekdays = names.iter().map(|name| {
        let found = DAYS.iter().find(|it| it.0.eq_ignore_ascii_case(name));
        let wrong = || Error::field("days", "must be days of the week, such as MO,WE");
        found.map(|it| it.1).ok_or_else(wrong)
    });
    let weekdays: Vec<Weekday> = weekdays.collect::<Result<_>>()?;
    let meets = |it: &NaiveDate| weekdays.is_empty() || weekdays.contains(&it.weekday());
    let all = first.iter_days().take_while(|it| *it <= last);
    let days: Vec<NaiveDate> = all
        .filter(meets)
        .take(MOST_ITEMS.saturating_add(1))
        .collect();
    match days.len() {
        0 => Err(Error::field("lastDate", "must leave one day at least")),
        count if count > MOST_ITEMS => {
            let message = format!("must not leave more than {MOST_ITEMS} days");
            Err(Error::field("lastDate", message))
        }
        _ => Ok(days),
    }
}

fn day(arguments: &Arguments, name: &str) -> Result<NaiveDate> {
    let text = parameters::required(arguments, name)?;
    let day = NaiveDate::parse_from_str(&text, "%Y-%m-%d").ok();
    let day = day.filter(|it| (1900..=2200).contains(&it.year()));
    day.ok_or_else(|| Error::field(name, "must be a day such as 2026-11-21"))
}

fn time(arguments: &Arguments, name: &str) -> Result<Option<NaiveTime>> {
    let Some(text) = parameters::text(arguments, name)? else {
        return Ok(None);
    };
    let time = NaiveTime::parse_from_str(&text, "%H:%M").ok();
    let time = time.ok_or_else(|| Error::field(name, "must be a time of day such as 10:15"))?;
    Ok(Some(time))
}
