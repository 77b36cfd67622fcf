//! Copies of courses: what was prepared in one, in a new one, with its dates moved. What people have said, handed in or
//! reached stays where it is.

use std::collections::{BTreeSet, HashMap, HashSet};

use chrono::{NaiveDate, TimeDelta};
use entity_core::db::archive::{self, AccountIds, ArchivedTable, Entry, Reading};
use entity_core::db::attached::{AttachedFileService, uses};
use entity_core::schema::{Field, Kind, Role};
use entity_core::wire::size_in_json;
use entity_core::{
    ActionResult, Arguments, Context, Error, Input, Reference, Registry, Result, gate,
};
use serde_json::Value;

use super::{Site, Sites};
use crate::base::parameters;
use crate::storage::db::PARENTS;

/// The tables with what was prepared.
const COPIED: [&str; 19] = [
    "assignment",
    "assignment_group",
    "calendar_event",
    "calendar_event_group",
    "content",
    "conversation_tag",
    "forum",
    "forum_topic",
    "gradebook_category",
    "gradebook_item",
    "lesson_checklist_entry",
    "lesson_item",
    "lesson_page",
    "news_feed",
    "quiz",
    "quiz_question",
    "site_group",
    "syllabus",
    "web_content",
];
/// The maximum number of rows of a copy: it is one transaction.
const MOST_ROWS: usize = 10_000;
/// The maximum number of bytes of these rows.
const MOST_BYTES: usize = 16 << 20;
/// The maximum number of days by which dates move: ten years.
const MOST_DAYS: i64 = 3_660;
/// The largest id of those that are numbers.
const LARGEST_NUMBER: u64 = 2_147_483_647;

/// The fields for which pages ask before a copy.
pub(super) const ASKS: &[Field] = &[
    Field::new("title", Kind::Text(99), "The title of the new course.")
        .required()
        .hint(""),
    Field::new(
        "days",
        Kind::Integer,
        "The number of days by which dates move.",
    )
    .default("364")
    .label("Days by which dates move")
    .hint("364 keeps the day of the week, a year later."),
];

/// Copies a site into a new one, which is not published yet.
pub(super) async fn copy(cx: &Context, site: Site, sent: Arguments) -> Result<ActionResult<Sites>> {
    let title = parameters::required(&sent, "title")?;
    let days = match sent.input.fields.get("days") {
        Some(Value::Number(days)) => Some(days.to_string()),
        _ => parameters::text(&sent, "days")?,
    };
    let days: i64 = days
        .map_or(Ok(0), |it| it.parse())
        .map_err(|error| Error::field("days", "must be a whole number").with_source(error))?;
    if days.abs() > MOST_DAYS {
        let message = format!("must be between -{MOST_DAYS} and {MOST_DAYS}");
        return Err(Error::field("days", message));
    }
    let mut copy = Copy::read(cx, &site.id).await?;
    let draft = [
        ("title", Value::from(title)),
        ("type", site.r#type.into()),
        ("shortDescription", site.short_description.into()),
        ("description", site.description.into()),
        ("published", false.into()),
    ];
    let draft: Input = draft.into_iter().collect();
    let made = gate::create::<Sites>(cx, &draft).await?;
    copy.rename(cx, &site.id, &made.id);
    copy.move_dates(&*cx.service::<Registry>()?, TimeDelta::days(days));
    copy.write(cx, &made.id).await?;
    let about = Reference::entity("site", made.id.clone());
    Ok(ActionResult::Entity(made).about(about))
}

/// The rows of a course that are copied.
struct Copy {
    /// The tables, each behind those that its rows name.
    tables: Vec<ArchivedTable>,
    /// The rows of each of them.
    rows: Vec<Vec<Entry>>,
}

impl Copy {
    async fn read(cx: &Context, site: &str) -> Result<Self> {
        let mut tables = archive::tables(&*cx.service::<Registry>()?, PARENTS);
        tables.retain(|it| COPIED.contains(&it.name));
        let (mut rows, mut count, mut bytes) = (Vec::new(), 0_usize, 0_usize);
        for table in &tables {
            let mut found: Vec<Entry> = Vec::new();
            let mut reading = Reading::begin(cx.db()?, table, site).await?;
            loop {
                let next = reading.next(cx.db()?).await?;
                if next.is_empty() {
                    break;
                }
                count = count.saturating_add(next.len());
                for entry in &next {
                    bytes = bytes.saturating_add(size_in_json(entry)?);
                }
                if count > MOST_ROWS || bytes > MOST_BYTES {
                    return Err(Error::limit_reached(
                        "the course has too much to be copied at once: an administrator can export and import it",
                    ));
                }
                found.extend(next);
            }
            rows.push(found);
        }
        let mut copy = Self { tables, rows };
        copy.drop_files_of_people(site);
        Ok(copy)
    }

    /// Drops the files that belong to nothing that is copied: those of work that people have handed in, and of what they
    /// have written.
    fn drop_files_of_people(&mut self, site: &str) {
        let (shared, attached) = (format!("/group/{site}/"), format!("/attachment/{site}/"));
        let others = self.tables.iter().zip(&self.rows);
        let others = others.filter(|it| it.0.name != "content");
        let texts = others.flat_map(|it| it.1.iter().flat_map(texts));
        let named: HashSet<&str> = texts
            .flat_map(|it| it.split(&attached).skip(1))
            .filter_map(|it| it.split('/').next())
            .collect();
        let named: HashSet<String> = named.into_iter().map(ToOwned::to_owned).collect();
        for (table, rows) in self.tables.iter().zip(&mut self.rows) {
            if table.name == "content" {
                rows.retain(|it| {
                    let path = it.get("resource_id").and_then(Value::as_str);
                    let path = path.unwrap_or_default();
                    let own = path.strip_prefix(&attached);
                    let folder = own.and_then(|it| it.split('/').next());
                    path.starts_with(&shared) || folder.is_some_and(|it| named.contains(it))
                });
            }
        }
    }

    /// Gives all rows ids of their own, wherever these stand, and puts them into the new site.
    fn rename(&mut self, cx: &Context, site: &str, new: &str) {
        let mut ids: HashMap<String, String> = HashMap::new();
        for (table, rows) in self.tables.iter().zip(&self.rows) {
            for id in rows.iter().filter_map(|it| table.id(it)) {
                let is_number = id.bytes().all(|it| it.is_ascii_digit());
                let number = entity_core::db::large_number(cx).checked_rem(LARGEST_NUMBER);
                let own = match is_number {
                    true => number.unwrap_or_default().saturating_add(1).to_string(),
                    false => cx.new_id(),
                };
                ids.insert(id.to_owned(), own);
            }
        }
        for (name, value) in self.rows.iter_mut().flatten().flatten() {
            if let Value::String(text) = value {
                // A title may be the same word as the id of the site.
                *text = match name == "site_id" {
                    true => new.to_owned(),
                    false => renamed(text, &ids, (site, new)),
                };
            }
        }
    }

    /// Moves what happens at a time.
    fn move_dates(&mut self, registry: &Registry, by: TimeDelta) {
        for (table, rows) in self.tables.iter().zip(&mut self.rows) {
            let route = registry.route(table.prefix);
            let fields = route.iter().flat_map(|it| it.schema.fields);
            let moved = |it: &&Field| {
                let is_instant = matches!(it.kind, Kind::Instant | Kind::Millis | Kind::Moment);
                is_instant && !matches!(it.role, Some(Role::Created | Role::Updated))
            };
            let columns: BTreeSet<&str> = fields.filter(moved).filter_map(|it| it.column).collect();
            for (name, value) in rows.iter_mut().flatten() {
                match value {
                    Value::Number(_) if columns.contains(name.as_str()) => {
                        let moved = value.as_i64().unwrap_or_default();
                        *value = moved.saturating_add(by.num_milliseconds()).into();
                    }
                    Value::String(text) if name == "excluded" => *text = each_moved(text, by),
                    Value::String(text) if name == "recurrence_rule" => {
                        *text = rule_moved(text, by);
                    }
                    _ => {}
                }
            }
        }
    }

    async fn write(self, cx: &Context, site: &str) -> Result<()> {
        let caller = cx.user_id()?;
        let mut accounts = AccountIds::default();
        for (table, rows) in self.tables.iter().zip(&self.rows) {
            for account in rows.iter().flat_map(|it| table.accounts(it)) {
                accounts.note(account, caller);
            }
        }
        for (table, rows) in self.tables.iter().zip(&self.rows) {
            for rows in rows.chunks(archive::ROWS) {
                archive::insert(cx.db()?, &self.tables, table, site, rows, &accounts).await?;
            }
        }
        let (registry, files) = (
            cx.service::<Registry>()?,
            cx.service::<AttachedFileService>()?,
        );
        uses::note_rows(cx.db()?, &registry, &files, site).await
    }
}

fn texts(entry: &Entry) -> impl Iterator<Item = &str> {
    entry.values().filter_map(Value::as_str)
}

/// Returns `text` with the ids in it replaced, and with the site where a path names it.
fn renamed(text: &str, ids: &HashMap<String, String>, (site, new): (&str, &str)) -> String {
    let is_of_id = |it: char| it.is_alphanumeric() || "-_.!~".contains(it);
    let mut renamed = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(|it| !is_of_id(it)).unwrap_or(rest.len());
        let (word, others) = rest.split_at_checked(end).unwrap_or((rest, ""));
        match ids.get(word) {
            Some(own) => renamed.push_str(own),
            None if word == site && renamed.ends_with('/') => renamed.push_str(new),
            None => renamed.push_str(word),
        }
        let mut characters = others.chars();
        renamed.extend(characters.next());
        rest = characters.as_str();
    }
    renamed
}

/// Returns instants in milliseconds, with white space between them, moved.
fn each_moved(text: &str, by: TimeDelta) -> String {
    let instants = text.split_whitespace().map(|it| match it.parse::<i64>() {
        Ok(at) => at.saturating_add(by.num_milliseconds()).to_string(),
        Err(_) => it.to_owned(),
    });
    instants.collect::<Vec<_>>().join(" ")
}

/// Returns a rule of recurrence whose last day is moved.
fn rule_moved(rule: &str, by: TimeDelta) -> String {
    let moved = |part: &str| {
        let until = part.strip_prefix("UNTIL=")?;
        let (day, time) = until.split_at_checked(8)?;
        let day = NaiveDate::parse_from_str(day, "%Y%m%d").ok()?;
        let day = day.checked_add_signed(by)?.format("%Y%m%d");
        Some(format!("UNTIL={day}{time}"))
    };
    let parts = rule.split(';');
    let parts = parts.map(|it| moved(it).unwrap_or_else(|| it.to_owned()));
    parts.collect::<Vec<_>>().join(";")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_replaced_as_words_and_the_site_in_paths() {
        let ids = HashMap::from([("17".to_owned(), "42".to_owned())]);
        for (text, expected) in [
            ("17", "42"),
            ("/assignment/17", "/assignment/42"),
            ("a 1700 b", "a 1700 b"),
            (
                "/access/content/group/bio/x%20y",
                "/access/content/group/new/x%20y",
            ),
            ("bio is fun", "bio is fun"),
        ] {
            assert_eq!(renamed(text, &ids, ("bio", "new")), expected);
        }
    }

    #[test]
    fn the_last_day_of_a_rule_moves() {
        let week = TimeDelta::days(7);
        let moved = rule_moved("FREQ=DAILY;UNTIL=20261228T120000Z", week);
        assert_eq!(moved, "FREQ=DAILY;UNTIL=20270104T120000Z");
        assert_eq!(rule_moved("FREQ=DAILY;COUNT=3", week), "FREQ=DAILY;COUNT=3");
        assert_eq!(each_moved("0 5", TimeDelta::milliseconds(2)), "2 7");
    }
}
