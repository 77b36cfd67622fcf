//! `/direct/calendar`: events of a site, once or again and again.
//!
//! An event that recurs is one row, with its rule and its time zone. Lists of a range of days show each occurrence as
//! an entity of its own; all other lists show the event once, as it is stored. An occurrence that is changed by itself
//! becomes a row, and one that is deleted by itself is noted in the row of the series.

mod cause;
mod import;
mod occurrence;
mod range;
#[cfg(test)]
mod tests;
pub(crate) mod view;
mod write;

use chrono::TimeDelta;
use entity_core::db::{Migration, RowPolicy, Telling};
use entity_core::file::Files;
use entity_core::primitives::typed;
use entity_core::recurrence::{self, FIRST_DAY, LAST_DAY, Range, Series, Tz};
use entity_core::wire::{Millis, Moment};
use entity_core::{
    Action, ActionResult, Actions, Arguments, Content, Context, DateTimeUtc, Entity, Error,
    ErrorKind, EventEntry, FeedEntry, Need, Occurrence, Reference, Result, Search, Verb,
    encode_segment, gate, standard,
};
use serde::Serialize;

use crate::base::when;

pub use cause::{Deadline, follow_cause};
pub(crate) use range::next as coming;

/// The function that admits to the events of a site.
const READ: &str = "calendar.read";
/// The longest that an event takes.
const LONGEST: TimeDelta = TimeDelta::days(366);
/// The years in which an event can begin.
const YEARS: std::ops::RangeInclusive<i32> = 1900..=2200;

/// Events for groups are for their members, and for those who see all groups. A deadline would tell of what it belongs
/// to: it is for those who see that.
const SIGHT: RowPolicy = RowPolicy::All(&[
    RowPolicy::Any(&[
        RowPolicy::Addressed,
        RowPolicy::Holds("calendar.all.groups"),
    ]),
    RowPolicy::Follows(Telling::Entity, "cause"),
]);

/// An event of a site.
#[standard(version, facts)]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(tool = "sakai.schedule", layout = agenda)]
#[entity(prefix = "calendar", access = PublicSite("calendar"), sight = SIGHT)]
#[entity(dropped("seen_from", "seen_until"))]
#[entity(table = "calendar_event", check = Self::check, event = Self::to_entry)]
#[entity(feed = Self::to_feed)]
#[entity(join = "site s ON s.id = this.site_id")]
#[entity(verbs(list, create), order = "firstTime,eventId", plural = "Events")]
#[entity(singular = "Event")]
#[entity(listed("firstTime", "lastTime", "type", "siteName", "location"))]
pub struct CalendarEvent {
    /// Its id. The id of a single occurrence is that of the series with the instant at which it takes place.
    #[entity(id)]
    pub event_id: String,
    /// The headline.
    #[entity(title, search)]
    pub title: String,
    /// The text.
    #[entity(content, optional, search, html)]
    pub description: String,
    /// The text again, as other clients read it.
    #[entity(computed = Self::formatted, for_programs)]
    pub description_formatted: String,
    /// The category.
    #[serde(rename = "type")]
    #[entity(
        optional,
        column = "type",
        default = "Activity",
        choices(
            "Academic Calendar",
            "Activity",
            "Cancellation",
            "Class section - Discussion",
            "Class section - Lab",
            "Class section - Lecture",
            "Class section - Small Group",
            "Class session",
            "Computer Session",
            "Deadline",
            "Exam",
            "Formative Assessment",
            "Meeting",
            "Multidisciplinary Conference",
            "Quiz",
            "Special event",
            "Submission Date",
            "Tutorial",
            "Web Assignment",
            "Workshop"
        )
    )]
    pub kind: String,
    /// The icon of the category.
    #[entity(computed = Self::icon, for_programs)]
    pub event_icon: String,
    /// The site.
    #[entity(site, references = "site")]
    pub site_id: String,
    /// The title of the site.
    #[entity(sql = "s.title", category)]
    pub site_name: String,
    /// The internal id of the creator.
    #[entity(owner, references = "user", label = "Author")]
    pub creator: String,
    /// The name of the creator.
    #[entity(name_of = creator, author)]
    pub creator_display_name: String,
    /// When it begins; for an event that recurs, when it first begins. A time that is sent without an offset is by the
    /// clock of `timeZone`.
    #[entity(label = "Begins")]
    #[entity(hint = "Of an event that recurs, the first time.")]
    pub first_time: Moment,
    /// The time that it takes, in milliseconds.
    #[entity(optional, default = "0", label = "Length", milliseconds)]
    pub duration: i64,
    /// When it ends; for an event that recurs, when its first occurrence ends. A new event that is sent with this and
    /// without a `duration` takes that long.
    #[entity(computed = Self::last, on_create, optional, label = "Ends")]
    #[entity(
        hint = "Of an event that recurs, the end of the first time. A new event needs this or “Length”."
    )]
    pub last_time: Moment,
    /// The time zone in which it takes place and recurs: a name of the IANA database.
    #[entity(optional, default = "UTC", max = 64, zone)]
    #[entity(hint = "The clock by which it takes place, such as Europe/Berlin.")]
    pub time_zone: String,
    /// The recurrence rule: the value of an iCalendar `RRULE`, such as `FREQ=WEEKLY;COUNT=10`.
    #[entity(max = 300, recurrence, label = "Repeats")]
    pub recurrence_rule: Option<String>,
    /// Where it takes place.
    #[entity(label = "Place")]
    pub location: Option<String>,
    /// The ids of the groups that it is for; none means everybody in the site.
    #[entity(groups = "calendar_event_group", label = "For the groups")]
    #[entity(hint = "Those who see it. Without any, everybody in the site sees it.")]
    pub groups: Vec<String>,
    /// Its files, each with `name`, `url` and perhaps `type` and `size`.
    #[entity(files, label = "Files")]
    pub attachments: Files,
    /// The id of the assignment whose deadline it is.
    #[entity(read_only, label = "Assignment")]
    pub assignment_id: Option<String>,
    /// The reference of the calendar.
    #[entity(computed = Self::to_reference)]
    pub reference: String,
    /// The reference of the event within the calendar.
    #[entity(computed = Self::to_event_reference)]
    pub event_reference: String,
    /// When it was created.
    #[entity(created, label = "Created")]
    pub created_on: Millis,
    /// When it last changed.
    #[entity(updated, label = "Last changed")]
    pub modified_on: Millis,
    /// The reference of the entity whose deadline it is: the event follows that entity, and nobody else changes it.
    #[serde(skip)]
    #[entity(hidden, unique)]
    pub cause: Option<String>,
    /// The UID that it has in the iCalendar file from which it was imported.
    #[serde(skip)]
    #[entity(hidden, unique_in_site)]
    pub uid: Option<String>,
    /// When the last occurrence is over, or a later instant: what ranges are compared with.
    #[serde(skip)]
    #[entity(hidden, over)]
    pub over_at: Millis,
    /// The series from which it was taken, if it is a single occurrence.
    #[serde(skip)]
    #[entity(hidden)]
    pub series: Option<String>,
    /// The instants of the occurrences that were taken from the series, in milliseconds, separated by spaces.
    #[serde(skip)]
    #[entity(hidden)]
    pub excluded: String,
    /// True if it follows from the rule of its series, and has no row.
    #[serde(skip)]
    #[entity(skip)]
    pub is_computed: bool,
}

entity_core::register!(
    CalendarEvent,
    migrations(IN_ORDER),
    demo = include_str!("../../demo/calendar.json")
);

/// The events of a site that begin next are found without those before them, and what is over without reading its row.
const IN_ORDER: Migration = Migration::of_tables(
    "calendar_event_in_order",
    &["CREATE INDEX calendar_event_in_order \
       ON calendar_event (site_id, first_time, event_id, over_at)"],
);

impl CalendarEvent {
    pub(crate) fn start(&self) -> DateTimeUtc {
        self.first_time.clone().into()
    }

    fn length(&self) -> TimeDelta {
        TimeDelta::try_milliseconds(self.duration).unwrap_or_default()
    }

    fn end(&self) -> DateTimeUtc {
        self.start() + self.length()
    }

    fn zone(&self) -> Tz {
        recurrence::zone(&self.time_zone).unwrap_or(Tz::UTC)
    }

    /// The times of an event that recurs.
    fn to_series(&self) -> Result<Option<Series>> {
        let rule = self
            .recurrence_rule
            .as_deref()
            .filter(|_| self.series.is_none());
        rule.map(|it| Series::parse(it, self.start(), self.zone()))
            .transpose()
            .map_err(|message| Error::field("recurrenceRule", message))
    }

    fn check(&mut self, _cx: &Context, before: Option<&Self>) -> Result<()> {
        use chrono::Datelike as _;
        if !YEARS.contains(&self.start().year()) {
            let message = format!("must be in the years {} to {}", YEARS.start(), YEARS.end());
            return Err(Error::field("firstTime", message));
        }
        if before.is_none() {
            self.take_length()?;
        }
        if !(0..=LONGEST.num_milliseconds()).contains(&self.duration) {
            return Err(Error::field(
                "duration",
                "must be from 0 to 366 days, in milliseconds",
            ));
        }
        if self.kind.is_empty() {
            "Activity".clone_into(&mut self.kind);
        }
        if self.time_zone.trim().is_empty() {
            "UTC".clone_into(&mut self.time_zone);
        }
        let rule = self.recurrence_rule.take();
        let rule = rule.map(|it| recurrence::canonical(&it, self.zone()));
        self.recurrence_rule = rule.filter(|it| !it.is_empty());
        if self.recurrence_rule.is_some() && self.series.is_some() {
            return Err(Error::field(
                "recurrenceRule",
                "is one of the series, not of an occurrence",
            ));
        }
        self.over_at = Millis(self.over()?);
        if before.is_some_and(|it| it.has_other_times(self)) {
            self.excluded.clear();
        }
        Ok(())
    }

    /// Takes the length from the end that was sent, if no length was.
    fn take_length(&mut self) -> Result<()> {
        if self.duration != 0 || self.last_time == Moment::default() {
            return Ok(());
        }
        self.duration = self.last_time.time.saturating_sub(self.first_time.time);
        match self.duration < 0 {
            true => Err(Error::field("lastTime", "must not be before `firstTime`")),
            false => Ok(()),
        }
    }

    /// Returns when the last occurrence is over, or a later instant.
    fn over(&self) -> Result<DateTimeUtc> {
        let Some(series) = self.to_series()? else {
            return Ok(self.end());
        };
        let last = series.check();
        let last = last.map_err(|message| Error::field("recurrenceRule", message))?;
        Ok(last.map_or(recurrence::never(), |it| it + self.length()))
    }

    /// Returns whether the occurrences of `other` are not those of this event.
    fn has_other_times(&self, other: &Self) -> bool {
        self.first_time != other.first_time
            || self.time_zone != other.time_zone
            || self.recurrence_rule != other.recurrence_rule
    }

    fn formatted(&self, _cx: &Context) -> String {
        self.description.clone()
    }

    fn icon(&self, _cx: &Context) -> String {
        let words = self.kind.split([' ', '-']).filter(|it| !it.is_empty());
        let words: Vec<String> = words.map(str::to_lowercase).collect();
        format!("icon-calendar-{}", words.join("-"))
    }

    fn last(&self, _cx: &Context) -> Moment {
        self.end().into()
    }

    fn to_reference(&self, _cx: &Context) -> String {
        format!("/calendar/calendar/{}/main", encode_segment(&self.site_id))
    }

    fn to_event_reference(&self, _cx: &Context) -> String {
        let site = encode_segment(&self.site_id);
        format!(
            "/calendar/event/{site}/main/{}",
            encode_segment(&self.event_id)
        )
    }

    /// Returns the entry of the event: readers of feeds see no field but the text, so it begins with when the event is.
    fn to_feed(&self) -> FeedEntry {
        let is_series =
            self.recurrence_rule.is_some() && self.series.is_none() && !self.is_computed;
        let word = if is_series {
            "For the first time"
        } else {
            "When"
        };
        let times = when::paragraph(word, self.start(), self.end(), self.zone());
        let mut entry = FeedEntry::new(self.title.clone(), self.modified_on.0);
        entry.published = Some(self.created_on.0);
        entry.author = Some(self.creator_display_name.clone()).filter(|it| !it.is_empty());
        entry.content = Some(Content::Html(times + &self.description));
        entry.categories = vec![self.site_name.clone()];
        entry.enclosures = self.attachments.to_enclosures();
        entry
    }

    fn to_entry(&self) -> EventEntry {
        let mut entry = EventEntry::new(
            self.title.clone(),
            self.start(),
            self.end(),
            self.modified_on.0,
        );
        entry.description =
            Some(typed::to_text(&self.description).into_owned()).filter(|it| !it.is_empty());
        entry.location.clone_from(&self.location);
        entry.sequence = u32::try_from(self.version).unwrap_or(u32::MAX);
        entry.created = Some(self.created_on.0);
        entry.recurrence = match (&self.recurrence_rule, &self.series) {
            // Older rules were stored as they were sent.
            (Some(rule), None) => Some(recurrence::canonical(rule, self.zone())),
            _ => None,
        };
        entry.zone = Some(self.zone());
        entry.excluded = {
            let excluded = self.excluded().into_iter();
            excluded
                .filter_map(DateTimeUtc::from_timestamp_millis)
                .collect()
        };
        entry.occurrence = self.to_occurrence();
        entry
    }

    /// Returns the occurrence that this event replaces, if it has a row of its own and a series.
    fn to_occurrence(&self) -> Option<Occurrence> {
        let series = self.series.as_ref().filter(|_| !self.is_computed)?;
        let (_, at) = occurrence::parse_id(&self.event_id)?;
        Some(Occurrence {
            series: Reference::entity("calendar", series),
            at,
        })
    }
}

/// The parameters by which existing clients choose days and the amount of detail.
const CHOICE: &[(&str, &str)] = &[
    (
        FIRST_DAY,
        "the first day, such as 2026-11-21; with a day, each occurrence of an event that recurs is an entity of its own",
    ),
    (LAST_DAY, "the last day"),
    ("detailed", "has no effect: all fields are always shown"),
    ("merged", "has no effect: a site has one calendar"),
];

impl Actions for CalendarEvent {
    fn actions() -> Vec<Action<Self>> {
        vec![
            Action::list("my", Need::Session, of_caller)
                .doc("The events of all sites of the caller, in order of time.")
                .parameters(CHOICE),
            Action::list("site", Need::Public, of_site)
                .doc("The events of a site, in order of time; none, if the caller may not read them or there is no such site.")
                .argument("siteId", "The site.")
                .parameters(CHOICE),
            Action::collection(Verb::Get, "event", Need::Public, of_site_and_id)
                .doc("One event, by its site and its id.")
                .argument("siteId", "The site.")
                .argument("eventId", "The id of the event."),
            Action::collection(Verb::Post, "import", Need::Site("calendar.new"), import::import)
                .label("Import events")
                .asks(import::ASKS)
                .making_texts(import::texts)
                .doc(
                    "Makes the events of `ics`, the text of an iCalendar file, all or none. Events that were imported \
                     before are known by their UID, and left out. With `preview`, nothing is made, and the answer tells \
                     what would be made, what is there already, and what is wrong.",
                )
                .argument("siteId", "The site.")
                .parameters(&[("preview", "whether to tell only what would be made")]),
        ]
    }
}

async fn of_caller(cx: &Context, arguments: Arguments) -> Result<ActionResult<CalendarEvent>> {
    let mut search = arguments.search()?.clone();
    search.narrow_to_sites::<CalendarEvent>(cx.authorizer().own_sites(cx).await?)?;
    chosen(cx, &arguments, search).await
}

async fn of_site(cx: &Context, arguments: Arguments) -> Result<ActionResult<CalendarEvent>> {
    let site = arguments.argument("siteId")?;
    let mut search = arguments.search()?.clone();
    if gate::holds(cx, READ, site).await? {
        search.narrow_to_site::<CalendarEvent>(site)?;
        return chosen(cx, &arguments, search).await;
    }
    // Existing clients ask for the calendar of every site that they know, and expect an empty one. It is as empty where
    // there is no such site, so that nobody learns which there are.
    days(&arguments)?;
    Ok(ActionResult::empty(search))
}

/// Returns the occurrences within the days that the query names or, without any, the events as they are stored.
async fn chosen(
    cx: &Context,
    arguments: &Arguments,
    search: Search,
) -> Result<ActionResult<CalendarEvent>> {
    let Some(range) = days(arguments)? else {
        return Ok(ActionResult::List(search));
    };
    for name in ["_order", "_cursor"] {
        if arguments.parameter(name).is_some() {
            let message = "does not go with days: their events are in order of time";
            return Err(Error::field(name, message));
        }
    }
    let page = range::list(cx, search.clone(), range).await?;
    Ok(ActionResult::Part {
        page,
        search,
        total: None,
    })
}

/// Returns the days that the query names, if it names some.
fn days(arguments: &Arguments) -> Result<Option<Range>> {
    let day = |name| arguments.parameter(name).map(|it| (name, it));
    Range::of_days(day(FIRST_DAY), day(LAST_DAY))
}

async fn of_site_and_id(cx: &Context, arguments: Arguments) -> Result<CalendarEvent> {
    let site = arguments.argument("siteId")?;
    let found = gate::read::<CalendarEvent>(cx, arguments.argument("eventId")?).await;
    match found.map_err(Error::hide) {
        Ok(event) if event.site_id == site => Ok(event),
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        // Strangers are not told what is there.
        _ if cx.caller().is_anonymous() => Err(Error::unauthenticated()),
        _ => Err(Error::not_found()),
    }
}
