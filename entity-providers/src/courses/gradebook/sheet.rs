//! The whole gradebook of a site as a table: a line for each student, and two columns for each item.

use async_trait::async_trait;
use entity_core::db;
use entity_core::engine::{Piece, Pieces, Streaming};
use entity_core::sheet::{self, CsvTable};
use entity_core::{ActionResult, Answers, Arguments, Context, Error, Result};
use sea_orm::{ColumnTrait as _, EntityTrait as _, QueryFilter as _, QueryOrder as _};

use super::Gradebook;
use super::audience::{Audience, sees_grades};
use super::item::{GradebookItem, gradebook_item};
use super::result::{self, Book, Listed};
use super::stored::{self, Scores};

/// The title of the column with the external ids, by which an import finds students.
pub(super) const STUDENT: &str = "Student ID";
/// The title of the column with the names.
pub(super) const NAME: &str = "Student Name";
/// The title of the column with the course grades.
pub(super) const COURSE_GRADE: &str = "Course Grade";
/// The text before the name of an item in the title of the column with its comments.
pub(super) const COMMENT: &str = "Comment: ";

/// The media types of the table.
pub(super) const ANSWERS: Answers = Answers::Bytes(&[sheet::CSV]);

/// Answers the table of the students whom the caller grades, of whom a few are in memory at a time.
pub(super) async fn export(cx: &Context, arguments: Arguments) -> Result<ActionResult<Gradebook>> {
    let site = arguments.argument("siteId")?;
    let audience = Audience::demand_grader(cx, site).await?;
    let export = Export {
        items: items(cx, site).await?,
        book: Book::load(cx, site).await?,
        students: result::all_students(cx, site, audience).await?,
        site: site.to_owned(),
        audience,
        written: 0,
    };
    let name = format!("gradebook-{site}.csv");
    Ok(ActionResult::Stream(Streaming::new(
        sheet::CSV,
        name,
        export,
    )))
}

/// A table that is being written.
struct Export {
    site: String,
    audience: Audience,
    items: Vec<GradebookItem>,
    book: Book,
    students: Vec<Listed>,
    /// The number of students whose lines are written.
    written: usize,
}

#[async_trait]
impl Pieces for Export {
    async fn next(&mut self, cx: &Context) -> Result<Piece> {
        if Audience::demand_grader(cx, &self.site).await? != self.audience {
            return Err(Error::forbidden());
        }
        // What an answer may have in memory is bounded by the number of students in a piece.
        let mut sheet = CsvTable::new(usize::MAX);
        if self.written == 0 {
            sheet.row(titles(&self.items))?;
        }
        let rest = self.students.get(self.written..).unwrap_or_default();
        let ids: Vec<&str> = rest.iter().map(|it| it.id.as_str()).collect();
        let (mut scores, count) = stored::of_first(cx, &self.site, &ids, self.items.len()).await?;
        let ids = ids.get(..count).unwrap_or_default();
        let entered = result::entered(cx, &self.site, ids).await?;
        for student in rest.iter().take(count) {
            let grade = self.book.grade(&student.id, &self.items, &scores);
            let shown = result::display(grade, entered.get(&student.id));
            sheet.row(line(student, &self.items, &mut scores, shown))?;
        }
        self.written = self.written.saturating_add(count);
        Ok(Piece {
            bytes: sheet.into_bytes("")?.bytes,
            is_last: self.written >= self.students.len(),
        })
    }
}

/// Returns the items of a site in which the caller grades, as far as they may know of them, in their order.
pub(super) async fn items(cx: &Context, site: &str) -> Result<Vec<GradebookItem>> {
    let seen = sees_grades(cx, &[site]).await?;
    let items = gradebook_item::Entity::find()
        .filter(gradebook_item::Column::SiteId.eq(site))
        .filter(seen.condition(cx)?)
        .order_by_asc(gradebook_item::Column::Position)
        .order_by_asc(gradebook_item::Column::ItemId);
    db::load(cx, items).await
}

/// Returns the title of the column with the scores of `item`.
pub(super) fn title(item: &GradebookItem) -> String {
    format!("{} [{}]", item.name, item.points)
}

fn titles(items: &[GradebookItem]) -> Vec<String> {
    let own = [STUDENT, NAME].map(ToOwned::to_owned);
    let of_item = |it: &GradebookItem| [title(it), format!("{COMMENT}{}", it.name)];
    let of_items = items.iter().flat_map(of_item);
    let last = COURSE_GRADE.to_owned();
    own.into_iter().chain(of_items).chain([last]).collect()
}

fn line(
    student: &Listed,
    items: &[GradebookItem],
    scores: &mut Scores,
    grade: Option<String>,
) -> Vec<String> {
    let mut cells = vec![student.eid.clone(), student.name.clone()];
    for item in items {
        let pair = (student.id.clone(), item.item_id.clone());
        let stored = scores.remove(&pair).unwrap_or_default();
        cells.extend([stored.to_cell(), stored.comment]);
    }
    cells.push(grade.unwrap_or_default());
    cells
}
