//! The report for one student: the course grade first, and what made it.

use entity_core::reply::{PromptCell, PromptRow, Questionnaire};
use entity_core::schema::Tone;
use entity_core::{ActionResult, Arguments, Context, Error, Result};

use super::Gradebook;
use super::audience::Audience;
use super::course::{self, Part};
use super::item::GradebookItem;
use super::result::{self, Book, GradedStudent};
use super::stored::{self, Scores, Stored};

/// Answers the report of the caller or, to those who grade, of one of their students.
pub(super) async fn report(cx: &Context, arguments: Arguments) -> Result<ActionResult<Gradebook>> {
    let site = arguments.argument("siteId")?;
    let audience = Audience::demand(cx, site).await?;
    let user = arguments.optional("userId").unwrap_or(cx.user_id()?);
    let student = result::course_grade(cx, site, audience, user).await?;
    let student = student.ok_or_else(Error::forbidden)?;
    let items = super::sheet::items(cx, site).await?;
    let (scores, _) = stored::of_first(cx, site, &[user], items.len()).await?;
    let report = Report {
        book: Book::load(cx, site).await?,
        student,
        items,
        scores,
    };
    Ok(ActionResult::Questionnaire(report.table()))
}

/// The gradebook as far as it is about one student.
struct Report {
    student: GradedStudent,
    items: Vec<GradebookItem>,
    book: Book,
    scores: Scores,
}

impl Report {
    fn table(&self) -> Questionnaire {
        let of_student = (self.book).scores(&self.student.user_id, &self.items, &self.scores);
        let dropped = course::dropped(&of_student, &self.book.categories);
        let parts = course::parts(&of_student, &self.book.categories);
        let mut rows = vec![self.course()];
        for (index, part) in parts.into_iter().enumerate() {
            rows.extend(self.category(index, part));
            rows.extend(self.items_of(Some(index), &dropped));
        }
        let others = self.items_of(None, &dropped);
        if rows.len() > 1 && !others.is_empty() {
            let note = match course::has_weights(&self.book.categories) {
                true => "They do not count in the course grade",
                false => "",
            };
            rows.push(head("Others", Default::default(), note.to_owned()));
        }
        rows.extend(others);
        let columns = ["Part", "Grade", "Weight", "Adds", "Comment"];
        Questionnaire {
            title: format!("Grades of {}", self.student.user_name),
            columns: columns.map(ToOwned::to_owned).to_vec(),
            rows,
            ..Questionnaire::default()
        }
    }

    /// The row of the course grade.
    fn course(&self) -> PromptRow {
        let grade = &self.student.course_grade;
        let computed = grade.computed();
        let note = match (&grade.entered_grade, &computed) {
            (Some(_), Some(computed)) => format!("Entered by hand; the scores make {computed}"),
            (Some(_), None) => "Entered by hand".to_owned(),
            (None, _) => String::new(),
        };
        let shown = grade.entered_grade.clone().or(computed);
        let shown = shown.unwrap_or_else(|| NOTHING.to_owned());
        head(
            "Course grade so far",
            [shown, String::new(), String::new()],
            note,
        )
    }

    fn category(&self, index: usize, part: Part) -> Option<PromptRow> {
        let (_, name) = self.book.named.get(index)?;
        let weighing = self.book.categories.get(index)?;
        let percent = |it: Option<rust_decimal::Decimal>| it.map(|it| format!("{it} %"));
        let dropped = match weighing.drop_lowest {
            0 => None,
            1 => Some("The lowest is left out".to_owned()),
            count => Some(format!("The lowest {count} are left out")),
        };
        let extra = weighing.is_extra.then(|| "Extra credit".to_owned());
        let notes: Vec<String> = dropped.into_iter().chain(extra).collect();
        let cells = [
            percent(part.percentage).unwrap_or_else(|| NOTHING.to_owned()),
            weighing
                .weight
                .map(|it| format!("{} %", it.plain()))
                .unwrap_or_default(),
            part.adds.map(|it| it.to_string()).unwrap_or_default(),
        ];
        Some(head(name, cells, notes.join("; ")))
    }

    /// The rows of the items of a category, or of those that are in none.
    fn items_of(&self, index: Option<usize>, dropped: &[usize]) -> Vec<PromptRow> {
        let id = index.and_then(|it| self.book.named.get(it));
        let id = id.map(|it| it.0.as_str());
        let own = self
            .items
            .iter()
            .filter(|it| it.category_id.as_deref() == id);
        own.map(|it| self.item(it, dropped)).collect()
    }

    fn item(&self, item: &GradebookItem, dropped: &[usize]) -> PromptRow {
        let pair = (self.student.user_id.clone(), item.item_id.clone());
        let nothing = Stored::default();
        let stored = self.scores.get(&pair).unwrap_or(&nothing);
        let place = self.book.place(&item.item_id);
        let state = |text: &str| PromptCell::State {
            text: text.to_owned(),
            tone: Tone::Neutral,
        };
        let grade = match (stored.excused, stored.score) {
            (true, _) => state("Does not count for you"),
            (false, None) => state("Not graded yet"),
            (false, Some(score)) => {
                PromptCell::Text(format!("{} of {}", score.plain(), item.points.plain()))
            }
        };
        let remarks = [
            (
                place.is_some_and(|it| dropped.contains(&it)),
                "Left out as the lowest",
            ),
            (!item.counted, "Does not count"),
            (item.extra_credit, "Extra credit"),
        ];
        let remarks = remarks
            .into_iter()
            .filter(|it| it.0)
            .map(|it| it.1.to_owned());
        let comment = Some(stored.comment.clone()).filter(|it| !it.is_empty());
        let notes: Vec<String> = remarks.chain(comment).collect();
        let empty = || PromptCell::Text(String::new());
        PromptRow {
            title: item.name.clone(),
            path: item.external_reference.clone(),
            cells: vec![grade, empty(), empty(), PromptCell::Text(notes.join("; "))],
            ..PromptRow::default()
        }
    }
}

/// The text where no score counts yet.
const NOTHING: &str = "nothing graded yet";

/// The row of a sum.
fn head(title: &str, cells: [String; 3], note: String) -> PromptRow {
    PromptRow {
        title: title.to_owned(),
        is_sum: true,
        cells: cells
            .into_iter()
            .chain([note])
            .map(PromptCell::Text)
            .collect(),
        ..PromptRow::default()
    }
}
