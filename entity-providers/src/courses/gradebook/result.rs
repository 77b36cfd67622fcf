//! Course grades of students: their computation, and their form for clients.

use std::collections::HashMap;

use entity_core::db::{self, Row, Sql};
use entity_core::wire::Decimal;
use entity_core::{Context, Error, Page, Result, Window};
use schemars::JsonSchema;
use serde::Serialize;

use super::audience::{Audience, sees_grades, write_students};
use super::course::{Counted, CourseGrade, Weighing};
use super::item::GradebookItem;
use super::stored::{self, Scores};
use crate::people::user::NAME_OR_NOTHING;

/// The course grade of a student, as clients see it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct CourseGradeView {
    /// The letter that an instructor entered; null for none.
    pub(super) entered_grade: Option<String>,
    /// The percentage that is computed from the scores, such as `87.50`; null as long as nothing is graded.
    pub(super) calculated_grade: Option<String>,
    /// The letter of that percentage.
    pub(super) mapped_grade: Option<String>,
    /// The text to show: the letter that was entered, or the letter and the percentage, as in `B+ (87.50%)`.
    pub(super) display_grade: Option<String>,
    /// The points earned by the scores that count.
    #[schemars(with = "Option<f64>")]
    pub(super) points_earned: Option<Decimal>,
    /// The points possible with these scores.
    #[schemars(with = "Option<f64>")]
    pub(super) total_points_possible: Option<Decimal>,
    /// When the letter was entered, in milliseconds.
    pub(super) date_recorded: Option<i64>,
}

/// A student, as a list of a class names them.
#[derive(Clone, Debug, Row)]
pub(super) struct Listed {
    pub(super) id: String,
    pub(super) eid: String,
    pub(super) name: String,
}

/// A student with the course grade.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct GradedStudent {
    /// The internal id.
    pub(super) user_id: String,
    /// The external id.
    #[serde(skip)]
    pub(super) eid: String,
    /// The name.
    pub(super) user_name: String,
    /// The course grade.
    pub(super) course_grade: CourseGradeView,
}

impl CourseGradeView {
    fn of(computed: Option<CourseGrade>, entered: Option<&Entered>) -> Self {
        let letter = computed.map(|it| it.letter().to_owned());
        let percentage = computed.map(|it| it.percentage.to_string());
        let computed_text = letter.as_ref().zip(percentage.as_ref());
        let display = computed_text.map(|(letter, percentage)| format!("{letter} ({percentage}%)"));
        Self {
            entered_grade: entered.map(|it| it.grade.clone()),
            display_grade: entered.map(|it| it.grade.clone()).or(display),
            date_recorded: entered.map(|it| it.on),
            calculated_grade: percentage,
            mapped_grade: letter,
            points_earned: computed.map(|it| it.earned),
            total_points_possible: computed.map(|it| it.possible),
        }
    }

    /// Returns the grade that is computed, as pages tell it.
    pub(super) fn computed(&self) -> Option<String> {
        let told = self
            .calculated_grade
            .as_ref()
            .zip(self.mapped_grade.as_ref());
        told.map(|(percentage, letter)| format!("{percentage} % {letter}"))
    }
}

/// Returns the course grade to show, if there is one.
pub(super) fn display(computed: Option<CourseGrade>, entered: Option<&Entered>) -> Option<String> {
    CourseGradeView::of(computed, entered).display_grade
}

/// A course grade that an instructor entered.
#[derive(Row)]
pub(super) struct Entered {
    grade: String,
    on: i64,
}

/// The items that count in a site, by id, with the index of their category.
pub(super) struct Book {
    items: HashMap<String, Item>,
    /// The number of all items, with those that don't count.
    all_items: usize,
    /// The id and the name of each category, and how it counts.
    pub(super) named: Vec<(String, String)>,
    pub(super) categories: Vec<Weighing>,
}

struct Item {
    /// The place among the items by id.
    place: usize,
    category: Option<usize>,
    points: Decimal,
    is_extra: bool,
}

impl Book {
    /// Reads the gradebook of a site: without the items that the caller may not know of, because the course grade would tell
    /// what was reached there.
    pub(super) async fn load(cx: &Context, site: &str) -> Result<Self> {
        let db = cx.db()?;
        let mut sql = db.sql(
            "SELECT category_id, name, weight, drop_lowest, extra_credit FROM gradebook_category WHERE site_id = ",
        );
        sql.bind(site).push(" ORDER BY category_id");
        let read = |row: &mut Row<'_>| {
            let (named, weight, drop_lowest, is_extra): (_, _, i64, _) = db::columns(row)?;
            let weighing = Weighing {
                weight,
                drop_lowest: usize::try_from(drop_lowest).unwrap_or_default(),
                is_extra,
            };
            Ok((named, weighing))
        };
        let found = db.rows(sql.into_statement(), read).await?;
        let (named, categories): (Vec<(String, String)>, Vec<_>) = found.into_iter().unzip();
        let mut sql = db.sql(
            "SELECT i.counted, i.item_id, i.category_id, i.points, i.extra_credit FROM gradebook_item i \
             WHERE i.site_id = ",
        );
        sql.bind(site).push(" AND ");
        sees_grades(cx, &[site]).await?.write(&mut sql, "i")?;
        sql.push(" ORDER BY i.item_id");
        let read = |row: &mut Row<'_>| {
            let (is_counted, id, category, points, is_extra): (bool, String, Option<String>, _, _) =
                db::columns(row)?;
            let item = Item {
                place: 0,
                category: category.and_then(|it| named.iter().position(|named| named.0 == it)),
                points,
                is_extra,
            };
            Ok(is_counted.then_some((id, item)))
        };
        let items = db.rows(sql.into_statement(), read).await?;
        let all_items = items.len();
        let placed = items.into_iter().flatten().enumerate();
        let items = placed.map(|(place, (id, item))| (id, Item { place, ..item }));
        Ok(Self {
            items: items.collect(),
            all_items,
            named,
            categories,
        })
    }

    /// Returns the course grade of `student`, if there is one, out of all that is stored of some students.
    pub(super) fn grade(
        &self,
        student: &str,
        items: &[GradebookItem],
        scores: &Scores,
    ) -> Option<CourseGrade> {
        CourseGrade::of(&self.scores(student, items, scores), &self.categories)
    }

    /// Returns the scores of `student` that count, out of all that is stored of some students.
    pub(super) fn scores(
        &self,
        student: &str,
        items: &[GradebookItem],
        scores: &Scores,
    ) -> Vec<Counted> {
        let counted = items.iter().filter_map(|item| {
            let stored = scores.get(&(student.to_owned(), item.item_id.clone()))?;
            let score = stored.score.filter(|_| !stored.excused)?;
            self.counted(&item.item_id, score)
        });
        in_order(counted.collect())
    }

    fn counted(&self, item: &str, score: Decimal) -> Option<Counted> {
        let item = self.items.get(item)?;
        Some(Counted {
            place: item.place,
            category: item.category,
            points: item.points,
            is_extra: item.is_extra,
            score,
        })
    }

    /// Returns the place of an item that counts.
    pub(super) fn place(&self, item: &str) -> Option<usize> {
        self.items.get(item).map(|it| it.place)
    }
}

/// Of equal scores, the first ones are dropped.
fn in_order(mut counted: Vec<Counted>) -> Vec<Counted> {
    counted.sort_by_key(|it| it.place);
    counted
}

/// Returns a part of the students of `site` whom the caller sees, by name, with their course grades.
pub(super) async fn course_grades(
    cx: &Context,
    site: &str,
    audience: Audience,
    window: Window,
) -> Result<Page<GradedStudent>> {
    let students = students(cx, site, audience, window).await?;
    with_grades(cx, site, students).await
}

/// Returns a student of `site` with the course grade, if the caller sees them.
pub(super) async fn course_grade(
    cx: &Context,
    site: &str,
    audience: Audience,
    user: &str,
) -> Result<Option<GradedStudent>> {
    let sql = listing(cx, site, audience, Some(user)).await?;
    let found = cx.db()?.rows(sql.into_statement(), db::columns).await?;
    let page = with_grades(cx, site, Page::whole(found)).await?;
    Ok(page.items.into_iter().next())
}

async fn with_grades(
    cx: &Context,
    site: &str,
    students: Page<Listed>,
) -> Result<Page<GradedStudent>> {
    let ids: Vec<&str> = students.items.iter().map(|it| it.id.as_str()).collect();
    let entered = entered(cx, site, &ids).await?;
    let book = Book::load(cx, site).await?;
    let mut computed = Vec::new();
    for few in ids.chunks(stored::at_once(book.all_items)) {
        let counted = counted(cx, site, &book, few).await?;
        let grade = |it| CourseGrade::of(&in_order(it), &book.categories);
        computed.extend(counted.into_iter().map(grade));
    }
    let mut computed = computed.into_iter();
    Ok(students.map(|student| GradedStudent {
        course_grade: CourseGradeView::of(computed.next().flatten(), entered.get(&student.id)),
        user_id: student.id,
        eid: student.eid,
        user_name: student.name,
    }))
}

async fn students(
    cx: &Context,
    site: &str,
    audience: Audience,
    window: Window,
) -> Result<Page<Listed>> {
    let mut sql = listing(cx, site, audience, None).await?;
    super::grades::limit(&mut sql, window);
    let limit = cx.read_limit_of(window.limit);
    cx.db()?
        .page(sql.into_statement(), limit, db::columns)
        .await
}

/// Returns all students of `site` whom the caller sees, by name.
pub(super) async fn all_students(
    cx: &Context,
    site: &str,
    audience: Audience,
) -> Result<Vec<Listed>> {
    let sql = listing(cx, site, audience, None).await?;
    cx.db()?.each(cx, sql.into_statement(), db::columns).await
}

/// Returns the number of students of `site` whom the caller sees.
pub(super) async fn count_students(cx: &Context, site: &str, audience: Audience) -> Result<u64> {
    let db = cx.db()?;
    let mut sql = db.sql(
        "SELECT count(*) FROM membership this JOIN user_account u ON u.id = this.user_id WHERE ",
    );
    write_students(cx, &mut sql, site, audience).await?;
    let counts: Vec<i64> = db.rows(sql.into_statement(), db::columns).await?;
    let count = counts.into_iter().next().unwrap_or_default();
    Ok(u64::try_from(count).unwrap_or_default())
}

/// Returns the statement that selects the students of `site` whom the caller sees, by name, or one of them.
async fn listing(cx: &Context, site: &str, audience: Audience, only: Option<&str>) -> Result<Sql> {
    let mut sql = cx.db()?.sql("SELECT u.id, u.eid, ");
    sql.push(NAME_OR_NOTHING)
        .push(" FROM membership this JOIN user_account u ON u.id = this.user_id WHERE ");
    write_students(cx, &mut sql, site, audience).await?;
    if let Some(user) = only {
        sql.push(" AND u.id = ").bind(user);
    }
    sql.push(" ORDER BY u.last_name, u.first_name, u.id");
    Ok(sql)
}

/// Returns the scores of these students that count, by student.
async fn counted(
    cx: &Context,
    site: &str,
    book: &Book,
    users: &[&str],
) -> Result<Vec<Vec<Counted>>> {
    let places: HashMap<&str, usize> = users.iter().enumerate().map(|it| (*it.1, it.0)).collect();
    let db = cx.db()?;
    let mut sql = db.sql(
        "SELECT user_id, item_id, score FROM gradebook_score WHERE score IS NOT NULL AND NOT excused",
    );
    write_of_users(&mut sql, site, users)?;
    let read = |row: &mut Row<'_>| {
        let (user, item, score): (String, String, Decimal) = db::columns(row)?;
        let counted = book.counted(&item, score);
        Ok(places.get(user.as_str()).copied().zip(counted))
    };
    let mut scores = vec![Vec::new(); users.len()];
    for (place, counted) in db
        .each(cx, sql.into_statement(), read)
        .await?
        .into_iter()
        .flatten()
    {
        if let Some(scores) = scores.get_mut(place) {
            scores.push(counted);
        }
    }
    Ok(scores)
}

/// Returns the course grades that instructors entered for these students, by student.
pub(super) async fn entered(
    cx: &Context,
    site: &str,
    users: &[&str],
) -> Result<HashMap<String, Entered>> {
    let db = cx.db()?;
    let mut sql = db.sql("SELECT user_id, grade, entered_on FROM gradebook_override WHERE TRUE");
    write_of_users(&mut sql, site, users)?;
    let found = db.rows(sql.into_statement(), db::columns).await?;
    Ok(found.into_iter().collect())
}

fn write_of_users(sql: &mut Sql, site: &str, users: &[&str]) -> Result<()> {
    sql.push(" AND site_id = ").bind(site).push(" AND user_id");
    sql.bind_list(users)?;
    Ok(())
}

/// Returns the caller's own course grade in `site`, one without anything for those who are no students there.
///
/// # Errors
/// Returns an error if nobody is logged in, or if the database can't be read.
pub(super) async fn own(
    cx: &Context,
    site: &str,
    audience: Option<Audience>,
) -> Result<CourseGradeView> {
    cx.caller().user_id().ok_or_else(Error::unauthenticated)?;
    if audience != Some(Audience::Oneself) {
        return Ok(CourseGradeView::default());
    }
    let window = Window { start: 0, limit: 1 };
    let page = course_grades(cx, site, Audience::Oneself, window).await?;
    let own = page.items.into_iter().next();
    Ok(own.map(|it| it.course_grade).unwrap_or_default())
}
