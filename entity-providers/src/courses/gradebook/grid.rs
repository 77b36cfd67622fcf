//! The grid of a gradebook: a row for each student, a column for each item, and the course grade last.

use std::collections::BTreeMap;

use entity_core::reply::{Choice, Lead, Prompt, PromptCell, PromptRow, Questionnaire, Sending};
use entity_core::wire::Decimal;
use entity_core::{
    ActionResult, Arguments, Context, Error, FieldError, Input, Preconditions, Result, Window,
    encode_segment, gate,
};
use serde_json::Value;

use super::Gradebook;
use super::audience::Audience;
use super::entered::GradebookOverride;
use super::item::GradebookItem;
use super::marking::{self, Mark};
use super::result::{self, GradedStudent};
use super::score::GradebookScore;
use super::stored::{self, Scores, Stored};
use crate::base::letter::LETTERS;
use crate::base::parameters;

/// The maximum number of cells in a part of the grid: a page with more takes long to load.
const MOST_CELLS: u64 = 2_000;
/// The maximum number of parts to which a page leads.
const MOST_PARTS: u64 = 50;
/// The name of the box by which more is given than an item is worth.
const MORE: &str = "more";

/// A part of the students of a site with their scores.
struct Grid {
    site: String,
    window: Window,
    total: u64,
    items: Vec<GradebookItem>,
    students: Vec<GradedStudent>,
    scores: Scores,
    /// True if the caller may enter course grades.
    may_enter: bool,
}

/// Answers the grid as a form.
pub(super) async fn show(cx: &Context, arguments: Arguments) -> Result<ActionResult<Gradebook>> {
    let grid = Grid::load(cx, &arguments).await?;
    Ok(ActionResult::Questionnaire(grid.form()))
}

/// Stores what a sender has changed in the grid, all or nothing.
pub(super) async fn save(cx: &Context, arguments: Arguments) -> Result<ActionResult<Gradebook>> {
    let grid = Grid::load(cx, &arguments).await?;
    let mut changes = grid.form().changes(&arguments.input.fields)?;
    let is_more = parameters::truth(&arguments, MORE)?;
    let marks = grid.marks(&mut changes, is_more)?;
    marking::set(cx, &grid.site, marks).await?;
    for student in &grid.students {
        if let Some(grade) = changes.remove(&entered(student)) {
            grid.enter(cx, student, grade).await?;
        }
    }
    show(cx, arguments).await
}

/// The name under which the score of a student in an item is sent.
fn score(item: &GradebookItem, student: &GradedStudent) -> String {
    format!(
        "score:{}",
        GradebookScore::id_of(&item.item_id, &student.user_id)
    )
}

/// The name under which the course grade is sent that is entered for a student.
fn entered(student: &GradedStudent) -> String {
    format!("grade:{}", student.user_id)
}

impl Grid {
    async fn load(cx: &Context, arguments: &Arguments) -> Result<Self> {
        let site = arguments.argument("siteId")?.to_owned();
        let audience = Audience::demand_grader(cx, &site).await?;
        let items = super::sheet::items(cx, &site).await?;
        let columns = u64::try_from(items.len()).unwrap_or(u64::MAX).max(1);
        let most = MOST_CELLS.div_euclid(columns);
        let window = Window::parse(&arguments.query, most.clamp(1, super::MOST_STUDENTS))?;
        let page = result::course_grades(cx, &site, audience, window).await?;
        let ids: Vec<&str> = page.items.iter().map(|it| it.user_id.as_str()).collect();
        let (mut scores, mut rest) = (Scores::new(), ids.as_slice());
        while !rest.is_empty() {
            let (found, count) = stored::of_first(cx, &site, rest, items.len()).await?;
            scores.extend(found);
            rest = rest.get(count..).unwrap_or_default();
        }
        Ok(Self {
            total: result::count_students(cx, &site, audience).await?,
            may_enter: gate::holds(cx, super::audience::GRADE_ALL, &site).await?,
            site,
            window,
            items,
            students: page.items,
            scores,
        })
    }

    fn stored(&self, item: &GradebookItem, student: &GradedStudent) -> Stored {
        let pair = (student.user_id.clone(), item.item_id.clone());
        self.scores.get(&pair).cloned().unwrap_or_default()
    }

    fn form(&self) -> Questionnaire {
        let columns = std::iter::once("Student".to_owned());
        let columns = columns.chain(self.items.iter().map(heading));
        let columns = columns.chain(["Course grade".to_owned()]);
        let sending = Sending {
            path: self.path(self.window.start),
            label: "Save".to_owned(),
        };
        let more = "More points than an item is worth are meant".to_owned();
        Questionnaire {
            title: "Grades".to_owned(),
            parts: self.parts(),
            columns: columns
                .chain(self.may_enter.then(|| "Entered instead".to_owned()))
                .collect(),
            rows: self.students.iter().map(|it| self.row(it)).collect(),
            prompts: vec![Prompt::tick(MORE.to_owned(), more, false)],
            sendings: vec![sending],
            ..Questionnaire::default()
        }
    }

    /// The path of the grid from the student with this number on.
    fn path(&self, start: u64) -> String {
        let (site, limit) = (encode_segment(&self.site), self.window.limit);
        format!("/direct/gradebook/marks/{site}?_start={start}&_limit={limit}")
    }

    /// The other parts of a class that is too large for one page.
    fn parts(&self) -> Vec<Lead> {
        let step = self.window.limit;
        let count = self.total.div_ceil(step);
        let part = |index: u64| {
            let start = index.saturating_mul(step);
            let end = start.saturating_add(step).min(self.total);
            Lead {
                path: self.path(start),
                label: format!("Students {} to {end}", start.saturating_add(1)),
                is_here: start == self.window.start,
            }
        };
        match count {
            0 | 1 => Vec::new(),
            _ => (0..count.min(MOST_PARTS)).map(part).collect(),
        }
    }

    fn row(&self, student: &GradedStudent) -> PromptRow {
        let cell = |item: &GradebookItem| {
            let held = self.stored(item, student).shown();
            match item.is_external() {
                true => PromptCell::Text(held),
                false => {
                    PromptCell::Prompt(Prompt::line(score(item, student), item.name.clone(), held))
                }
            }
        };
        let grade = &student.course_grade;
        let computed = grade.computed().unwrap_or_default();
        let letter = self.may_enter.then(|| {
            let held = grade.entered_grade.as_deref().unwrap_or_default();
            let choices = std::iter::once("").chain(LETTERS).map(|it| Choice {
                value: it.to_owned(),
                label: if it.is_empty() { "–" } else { it }.to_owned(),
                is_chosen: it == held,
            });
            PromptCell::Prompt(Prompt {
                choices: choices.collect(),
                ..Prompt::line(
                    entered(student),
                    "Entered instead".to_owned(),
                    String::new(),
                )
            })
        });
        let (site, user) = (encode_segment(&self.site), encode_segment(&student.user_id));
        PromptRow {
            title: student.user_name.clone(),
            path: Some(format!("/gradebook/report/{site}/{user}")),
            cells: (self.items.iter().map(cell))
                .chain([PromptCell::Text(computed)])
                .chain(letter)
                .collect(),
            ..PromptRow::default()
        }
    }

    /// Takes the scores out of the changes.
    fn marks(&self, changes: &mut BTreeMap<String, String>, is_more: bool) -> Result<Vec<Mark>> {
        let (mut marks, mut errors) = (Vec::new(), Vec::new());
        for student in &self.students {
            for item in &self.items {
                let name = score(item, student);
                let Some(cell) = changes.remove(&name) else {
                    continue;
                };
                let mut after = self.stored(item, student);
                if cell.is_empty() {
                    (after.score, after.excused) = (None, false);
                }
                let is_over = |it: Decimal| it > item.points && item.points > Decimal::ZERO;
                let read = match after.set_score(&cell) {
                    Ok(()) if !is_more && after.score.is_some_and(is_over) && !after.excused => {
                        Err(
                            "is more than the item is worth: tick the box for that to give it"
                                .to_owned(),
                        )
                    }
                    read => read,
                };
                match read {
                    Ok(()) => marks.push(Mark {
                        comment: None,
                        ..after.into_mark(item, &student.user_id)
                    }),
                    Err(message) => errors.push(FieldError { name, message }),
                }
            }
        }
        match errors.is_empty() {
            true => Ok(marks),
            false => Err(Error::fields(errors)),
        }
    }

    /// Enters a course grade for a student, or takes back the one that was entered.
    async fn enter(&self, cx: &Context, student: &GradedStudent, grade: String) -> Result<()> {
        let id = format!("{}:{}", self.site, student.user_id);
        let any = Preconditions::default();
        let of_student = [("siteId", &self.site), ("userId", &student.user_id)];
        let before = &student.course_grade.entered_grade;
        let own = of_student.into_iter().filter(|_| before.is_none());
        let fields = own.chain([("grade", &grade)]);
        let input: Input = fields
            .map(|(name, it)| (name, Value::from(it.as_str())))
            .collect();
        let written = match (before, grade.is_empty()) {
            (Some(_), true) => gate::delete::<GradebookOverride>(cx, &id, &any)
                .await
                .map(drop),
            (Some(_), false) => {
                let updated = gate::update::<GradebookOverride>(cx, &id, &input, &any);
                updated.await.map(drop)
            }
            (None, _) => gate::create::<GradebookOverride>(cx, &input)
                .await
                .map(drop),
        };
        written.map_err(|error| match error.field_errors() {
            [] => error,
            [first, ..] => Error::field(entered(student), first.message.clone()),
        })
    }
}

/// The heading of the column of an item, such as `Essay 1 of 100`.
fn heading(item: &GradebookItem) -> String {
    let points = item.points.plain();
    let remarks = [
        (item.extra_credit, ", extra"),
        (!item.released, ", hidden"),
        (!item.counted, ", does not count"),
    ];
    let remarks = remarks.into_iter().filter(|it| it.0).map(|it| it.1);
    format!("{} of {points}{}", item.name, remarks.collect::<String>())
}
