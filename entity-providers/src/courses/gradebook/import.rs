//! Scores out of a table as [`super::sheet`] writes it: all of it or nothing, after a look at what it would change.

use std::collections::{BTreeMap, HashMap, HashSet};

use entity_core::schema::Field;
use entity_core::sheet::{self, Faults, Line, Report};
use entity_core::wire::Decimal;
use entity_core::{Arguments, Context, Data, Error, Result};
use schemars::JsonSchema;
use serde::Serialize;

use super::audience::Audience;
use super::bulk::check_comment;
use super::item::GradebookItem;
use super::marking::{self, Mark};
use super::score::check_points;
use super::sheet::{COMMENT, COURSE_GRADE, NAME, STUDENT, title};
use super::stored::{self, EXCUSED, Scores, Stored};
use crate::base::parameters;
use crate::people::membership::named::members_named;

/// The maximum number of scores that one import changes.
const MOST_CHANGES: usize = 10_000;

/// The fields for which pages ask before an import.
pub(super) const ASKS: &[Field] = &[
    parameters::table(
        "The table, as the export writes it, copied from a spreadsheet that was saved as CSV.",
    ),
    parameters::PREVIEW,
];

/// The change of one score.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ScoreChange")]
pub(super) struct Changed {
    /// The number of the line.
    line: u64,
    /// The internal id of the student.
    user_id: String,
    /// The item.
    item_id: String,
    /// The name of the item.
    item_name: String,
    /// The cell of the score before.
    before: String,
    /// The cell afterwards.
    after: String,
    /// True if the comment changes.
    comment: bool,
}

/// The content of a column of the table.
#[derive(Clone, Copy)]
enum Column<'a> {
    Student,
    /// A column to which imports pay no heed.
    Ignored,
    Score(&'a GradebookItem),
    Comment(&'a GradebookItem),
}

/// The changes that a table makes to the stored marks.
#[derive(Default)]
struct Plan {
    changes: Vec<(Changed, Mark)>,
    faults: Faults,
}

/// Imports a table, or answers what that would change.
pub(super) async fn import(cx: &Context, arguments: Arguments) -> Result<Data<Report<Changed>>> {
    let site = arguments.argument("siteId")?;
    let audience = Audience::demand_grader(cx, site).await?;
    let is_preview = parameters::truth(&arguments, "preview")?;
    let table = parameters::whole(&arguments, "csv")?;
    let items = super::sheet::items(cx, site).await?;
    let lines = sheet::read(&table)?;
    let plan = Plan::of(cx, site, audience, &items, &lines).await?;
    if plan.changes.len() > MOST_CHANGES {
        let message = format!("must not change more than {MOST_CHANGES} scores at once");
        return Err(Error::field("csv", message));
    }
    let (changes, marks): (Vec<Changed>, Vec<Mark>) = plan.changes.into_iter().unzip();
    let report = Report::of(is_preview, changes, plan.faults)?;
    if !is_preview {
        marking::set(cx, site, marks).await?;
    }
    Ok(Data(report))
}

/// Returns what each column of the table has, by the titles in its first line.
fn columns<'a>(head: &Line, items: &'a [GradebookItem], faults: &mut Faults) -> Vec<Column<'a>> {
    let mut titles = HashSet::new();
    let mut columns = Vec::new();
    for (index, text) in head.cells().enumerate() {
        let named = |it: &&GradebookItem| it.name == text || title(it) == text;
        let commented = |it: &&GradebookItem| text.strip_prefix(COMMENT) == Some(&*it.name);
        let column = match text {
            STUDENT => Column::Student,
            "" | NAME | COURSE_GRADE => Column::Ignored,
            _ => match (items.iter().find(named), items.iter().find(commented)) {
                (Some(item), _) => Column::Score(item),
                (None, Some(item)) => Column::Comment(item),
                (None, None) => {
                    faults.add(head, index, "must be the title of an exported column");
                    Column::Ignored
                }
            },
        };
        let key = match column {
            Column::Ignored => None,
            Column::Student => Some((STUDENT, false)),
            Column::Score(it) => Some((it.item_id.as_str(), false)),
            Column::Comment(it) => Some((it.item_id.as_str(), true)),
        };
        if key.is_some_and(|it| !titles.insert(it)) {
            faults.add(head, index, "must not be there twice");
        }
        columns.push(column);
    }
    if !titles.contains(&(STUDENT, false)) {
        faults.add(
            head,
            0,
            format!("must be `{STUDENT}`, in this or another column"),
        );
    }
    columns
}

impl Plan {
    async fn of(
        cx: &Context,
        site: &str,
        audience: Audience,
        items: &[GradebookItem],
        lines: &[Line],
    ) -> Result<Self> {
        let mut plan = Self::default();
        let Some((head, lines)) = lines.split_first() else {
            return Err(Error::field("csv", "must not be empty"));
        };
        let columns = columns(head, items, &mut plan.faults);
        let is_student = |it: &Column<'_>| matches!(it, Column::Student);
        let Some(place) = columns.iter().position(is_student) else {
            return Ok(plan);
        };
        let eids: Vec<&str> = lines.iter().map(|it| it.cell(place)).collect();
        let students = students(cx, site, audience, &eids).await?;
        let user = |line: &Line| students.get(line.cell(place)).map(String::as_str);
        let mut seen = HashSet::new();
        let mut rest = lines;
        while !rest.is_empty() {
            let users: Vec<&str> = rest.iter().map(|it| user(it).unwrap_or_default()).collect();
            let (stored, count) = stored::of_first(cx, site, &users, items.len()).await?;
            let (few, others) = rest.split_at_checked(count).unwrap_or((rest, &[]));
            for line in few {
                match user(line) {
                    None => {
                        let message = "must be the external id of a student whom you grade here";
                        plan.faults.add(line, place, message);
                    }
                    Some(_) if !seen.insert(line.cell(place)) => {
                        plan.faults.add(line, place, "must not be there twice");
                    }
                    Some(user) => plan.add_line(line, &columns, user, &stored),
                }
            }
            rest = others;
        }
        Ok(plan)
    }

    /// Adds what a line says about the student `user`.
    fn add_line(&mut self, line: &Line, columns: &[Column<'_>], user: &str, stored: &Scores) {
        let mut wanted: BTreeMap<&str, (&GradebookItem, usize, Stored)> = BTreeMap::new();
        let nothing = Stored::default();
        let before = |item: &GradebookItem| {
            let pair = (user.to_owned(), item.item_id.clone());
            stored.get(&pair).unwrap_or(&nothing)
        };
        for (index, column) in columns.iter().enumerate() {
            let (Column::Score(item) | Column::Comment(item)) = *column else {
                continue;
            };
            let cell = line.cell(index);
            let entry = wanted.entry(&item.item_id);
            let (_, _, after) = entry.or_insert_with(|| (item, index, before(item).clone()));
            let read = match column {
                Column::Score(_) => after.set_score(cell),
                _ => after.set_comment(cell),
            };
            if let Err(message) = read {
                self.faults.add(line, index, message);
            }
        }
        for (item, index, after) in wanted.into_values() {
            let before = before(item);
            if *before == after {
                continue;
            }
            if item.is_external() {
                let message = "must stay as it is: this item is graded where it comes from";
                self.faults.add(line, index, message);
                continue;
            }
            let changed = Changed {
                line: line.number,
                user_id: user.to_owned(),
                item_id: item.item_id.clone(),
                item_name: item.name.clone(),
                before: before.to_cell(),
                after: after.to_cell(),
                comment: before.comment != after.comment,
            };
            self.changes.push((changed, after.into_mark(item, user)));
        }
    }
}

impl Stored {
    /// Takes over the score in a cell: a number, the sign that the student is excused, or nothing, which leaves the
    /// score as it is.
    fn set_score(&mut self, cell: &str) -> Result<(), String> {
        if cell.is_empty() {
            return Ok(());
        }
        self.excused = cell.eq_ignore_ascii_case(EXCUSED);
        if !self.excused {
            let score = Decimal::parse(cell)?;
            let is_fine = check_points(Some(score));
            is_fine.map_err(|error| error.reason().to_owned())?;
            self.score = Some(score);
        }
        Ok(())
    }

    /// Takes over the comment in a cell, if there is one.
    fn set_comment(&mut self, cell: &str) -> Result<(), String> {
        let is_fine = check_comment(Some(cell), "comment");
        is_fine.map_err(|error| error.reason().to_owned())?;
        if !cell.is_empty() && cell != self.comment.trim() {
            cell.clone_into(&mut self.comment);
        }
        Ok(())
    }

    fn into_mark(self, item: &GradebookItem, user: &str) -> Mark {
        Mark {
            item: item.item_id.clone(),
            user: user.to_owned(),
            score: Some(self.score),
            excused: Some(self.excused),
            comment: Some(self.comment),
        }
    }
}

/// Returns the internal ids of those students whom the caller grades, by external id.
async fn students(
    cx: &Context,
    site: &str,
    audience: Audience,
    eids: &[&str],
) -> Result<HashMap<String, String>> {
    let mut named = members_named(cx, site, eids).await?;
    let users = named.values().map(String::as_str).collect();
    let students = marking::students(cx, site, audience, &users).await?;
    named.retain(|_, user| students.contains(user));
    Ok(named)
}
