//! Scores out of a table as [`super::sheet`] writes it: all of it or nothing, after a look at what it would change.

use std::collections::{BTreeMap, HashMap, HashSet};

use entity_core::reply::{Prompt, PromptCell, PromptRow, Questionnaire, Sending};
use entity_core::schema::Field;
use entity_core::sheet::{self, Faults, Line, Report};
use entity_core::wire::Decimal;
use entity_core::{ActionResult, Arguments, Context, Error, Result, encode_segment};
use schemars::JsonSchema;
use serde::Serialize;

use super::Gradebook;
use super::audience::Audience;
use super::bulk::check_comment;
use super::item::GradebookItem;
use super::marking::{self, Mark};
use super::result::{self, Listed};
use super::score::check_points;
use super::sheet::{COMMENT, COURSE_GRADE, NAME, STUDENT, title};
use super::stored::{self, EXCUSED, Scores, Stored};
use crate::base::parameters;

/// The maximum number of scores that one import changes.
const MOST_CHANGES: usize = 10_000;

/// The fields for which pages ask before an import.
pub(super) const ASKS: &[Field] = &[
    parameters::table_or_file("The table as the export writes it, unless it is chosen as a file."),
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
    /// The name of the student.
    user_name: String,
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
pub(super) async fn import(cx: &Context, arguments: Arguments) -> Result<ActionResult<Gradebook>> {
    let site = arguments.argument("siteId")?;
    let audience = Audience::demand_grader(cx, site).await?;
    let is_preview = parameters::truth(&arguments, "preview")?;
    let is_page = arguments.input.is_form;
    let table = parameters::sent_table(cx, &arguments).await?;
    let items = super::sheet::items(cx, site).await?;
    let lines = sheet::read(&table)?;
    let plan = Plan::of(cx, site, audience, &items, &lines).await?;
    if plan.changes.len() > MOST_CHANGES {
        let message = format!("must not change more than {MOST_CHANGES} scores at once");
        return Err(Error::field("csv", message));
    }
    let (changes, marks): (Vec<Changed>, Vec<Mark>) = plan.changes.into_iter().unzip();
    // A form with faults is given back with them.
    let report = Report::of(is_preview && !is_page, changes, plan.faults)?;
    if is_preview && is_page {
        return Ok(ActionResult::Questionnaire(preview(site, &report, table)));
    }
    if !is_preview {
        marking::set(cx, site, marks).await?;
    }
    Ok(ActionResult::value(report))
}

/// Returns the form that shows what a table would change, and imports it.
fn preview(site: &str, report: &Report<Changed>, table: String) -> Questionnaire {
    let row = |it: &Changed| PromptRow {
        title: it.user_name.clone(),
        cells: [
            it.item_name.as_str(),
            it.before.trim_end_matches(".0"),
            it.after.trim_end_matches(".0"),
            if it.comment { "changes" } else { "" },
        ]
        .map(|it| PromptCell::Text(it.to_owned()))
        .to_vec(),
        ..PromptRow::default()
    };
    let sending = Sending {
        path: format!("/direct/gradebook/import/{}", encode_segment(site)),
        label: "Set these scores".to_owned(),
    };
    let text = "The table".to_owned();
    let columns = ["Student", "Item", "Now", "Then", "Comment"];
    Questionnaire {
        title: match report.changed {
            0 => "The table would change nothing".to_owned(),
            1 => "The table would change 1 score".to_owned(),
            count => format!("The table would change {count} scores"),
        },
        columns: columns.map(ToOwned::to_owned).to_vec(),
        rows: report.changes.iter().map(row).collect(),
        prompts: vec![Prompt::line("csv".to_owned(), text, table)],
        sendings: vec![sending],
        ..Questionnaire::default()
    }
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
        let students = result::all_students(cx, site, audience).await?;
        let students: HashMap<&str, &Listed> =
            students.iter().map(|it| (it.eid.as_str(), it)).collect();
        let student = |line: &Line| students.get(line.cell(place)).copied();
        let mut seen = HashSet::new();
        let mut rest = lines;
        while !rest.is_empty() {
            let user = |it| student(it).map_or("", |it| &*it.id);
            let users: Vec<&str> = rest.iter().map(user).collect();
            let (stored, count) = stored::of_first(cx, site, &users, items.len()).await?;
            let (few, others) = rest.split_at_checked(count).unwrap_or((rest, &[]));
            for line in few {
                match student(line) {
                    None => {
                        let message = "must be the external id of a student whom you grade here";
                        plan.faults.add(line, place, message);
                    }
                    Some(_) if !seen.insert(line.cell(place)) => {
                        plan.faults.add(line, place, "must not be there twice");
                    }
                    Some(student) => plan.add_line(line, &columns, student, &stored),
                }
            }
            rest = others;
        }
        Ok(plan)
    }

    /// Adds what a line says about a student.
    fn add_line(&mut self, line: &Line, columns: &[Column<'_>], of: &Listed, stored: &Scores) {
        let mut wanted: BTreeMap<&str, (&GradebookItem, usize, Stored)> = BTreeMap::new();
        let nothing = Stored::default();
        let before = |item: &GradebookItem| {
            let pair = (of.id.clone(), item.item_id.clone());
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
                user_id: of.id.clone(),
                user_name: of.name.clone(),
                item_id: item.item_id.clone(),
                item_name: item.name.clone(),
                before: before.to_cell(),
                after: after.to_cell(),
                comment: before.comment != after.comment,
            };
            self.changes.push((changed, after.into_mark(item, &of.id)));
        }
    }
}

impl Stored {
    /// Takes over the score in a cell: a number, the sign that the student is excused, or nothing, which leaves the
    /// score as it is.
    pub(super) fn set_score(&mut self, cell: &str) -> Result<(), String> {
        if cell.is_empty() {
            return Ok(());
        }
        self.excused = cell.eq_ignore_ascii_case(EXCUSED);
        if !self.excused {
            let score = Decimal::typed(cell)?;
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

    pub(super) fn into_mark(self, item: &GradebookItem, user: &str) -> Mark {
        Mark {
            item: item.item_id.clone(),
            user: user.to_owned(),
            score: Some(self.score),
            excused: Some(self.excused),
            comment: Some(self.comment),
        }
    }
}
