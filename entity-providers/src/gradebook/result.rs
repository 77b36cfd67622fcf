//! Course grades of students: what they are computed from, and what clients see of them.

use std::collections::HashMap;

use entity_core::db::{Row, Sql};
use entity_core::wire::Decimal;
use entity_core::{Context, Error, Page, Result, Window};
use schemars::JsonSchema;
use serde::Serialize;

use super::audience::{Audience, write_students};
use super::course::{Counted, CourseGrade, Weighing};
use crate::user::NAME_OR_NOTHING;

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
    /// What to show: the letter that was entered, or the letter and the percentage, as in `B+ (87.50%)`.
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

/// A student with the course grade.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct GradedStudent {
    /// The internal id.
    pub(super) user_id: String,
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
}

/// A course grade that an instructor entered.
struct Entered {
    grade: String,
    on: i64,
}

/// The items that count in a site, by id, with the index of their category.
struct Book {
    items: HashMap<String, Item>,
    categories: Vec<Weighing>,
}

struct Item {
    category: Option<usize>,
    points: Decimal,
    is_extra: bool,
}

impl Book {
    /// Reads the gradebook of a site: for students without the items that are not released, because their course grade
    /// would tell what they have reached there.
    async fn load(cx: &Context, site: &str, audience: Audience) -> Result<Self> {
        let db = cx.db()?;
        let mut sql = db.sql(
            "SELECT category_id, weight, drop_lowest, extra_credit FROM gradebook_category WHERE site_id = ",
        );
        sql.bind(site).push(" ORDER BY category_id");
        let read = |row: &mut Row<'_>| {
            let id: String = row.take()?;
            let weight = row.take::<Option<i64>>()?.map(Decimal::of_units);
            let drop_lowest = usize::try_from(row.take::<i64>()?).unwrap_or_default();
            let is_extra = row.take()?;
            let weighing = Weighing {
                weight,
                drop_lowest,
                is_extra,
            };
            Ok((id, weighing))
        };
        let (ids, categories): (Vec<_>, Vec<_>) = db
            .rows(sql.into_statement(), read)
            .await?
            .into_iter()
            .unzip();
        let mut sql = db.sql(
            "SELECT item_id, category_id, points, extra_credit FROM gradebook_item WHERE counted AND site_id = ",
        );
        sql.bind(site);
        if !audience.is_grader() {
            sql.push(" AND released");
        }
        let read = |row: &mut Row<'_>| {
            let (id, category): (String, Option<String>) = (row.take()?, row.take()?);
            let item = Item {
                category: category.and_then(|it| ids.iter().position(|id| *id == it)),
                points: Decimal::of_units(row.take()?),
                is_extra: row.take()?,
            };
            Ok((id, item))
        };
        let items = db
            .rows(sql.into_statement(), read)
            .await?
            .into_iter()
            .collect();
        Ok(Self { items, categories })
    }

    fn counted(&self, item: &str, score: Decimal) -> Option<Counted> {
        let item = self.items.get(item)?;
        Some(Counted {
            category: item.category,
            points: item.points,
            is_extra: item.is_extra,
            score,
        })
    }
}

/// Returns a part of the students of `site` whom the caller sees, by name, with their course grades.
pub(super) async fn course_grades(
    cx: &Context,
    site: &str,
    audience: Audience,
    window: Window,
) -> Result<Page<GradedStudent>> {
    let students = students(cx, site, audience, window).await?;
    let ids: Vec<&str> = students.items.iter().map(|it| it.0.as_str()).collect();
    let mut scores = scores(cx, site, &ids).await?;
    let entered = entered(cx, site, &ids).await?;
    let book = Book::load(cx, site, audience).await?;
    Ok(students.map(|(user_id, user_name)| {
        let scores = scores.remove(&user_id).unwrap_or_default();
        let counted = scores
            .iter()
            .filter_map(|(item, score)| book.counted(item, *score));
        let counted: Vec<Counted> = counted.collect();
        let computed = CourseGrade::of(&counted, &book.categories);
        let course_grade = CourseGradeView::of(computed, entered.get(&user_id));
        GradedStudent {
            user_id,
            user_name,
            course_grade,
        }
    }))
}

async fn students(
    cx: &Context,
    site: &str,
    audience: Audience,
    window: Window,
) -> Result<Page<(String, String)>> {
    let db = cx.db()?;
    let mut sql = db.sql("SELECT u.id, ");
    sql.push(NAME_OR_NOTHING)
        .push(" FROM membership this JOIN user_account u ON u.id = this.user_id WHERE ");
    write_students(cx, &mut sql, site, audience).await?;
    sql.push(" ORDER BY u.last_name, u.first_name, u.id");
    super::grades::limit(&mut sql, window);
    let read = |row: &mut Row<'_>| Ok((row.take()?, row.take()?));
    db.page(sql.into_statement(), cx.measure_items(window.limit), read)
        .await
}

/// Returns the scores of these students that count, by student, each with its item.
async fn scores(
    cx: &Context,
    site: &str,
    users: &[&str],
) -> Result<HashMap<String, Vec<(String, Decimal)>>> {
    let db = cx.db()?;
    let mut sql = db.sql(
        "SELECT user_id, item_id, score FROM gradebook_score WHERE score IS NOT NULL AND NOT excused",
    );
    write_of_users(&mut sql, site, users)?;
    sql.push(" ORDER BY user_id, item_id");
    let read = |row: &mut Row<'_>| {
        let user: String = row.take()?;
        Ok((user, (row.take()?, Decimal::of_units(row.take()?))))
    };
    let mut scores: HashMap<String, Vec<_>> = HashMap::new();
    for (user, score) in db.scan(sql.into_statement(), read).await? {
        scores.entry(user).or_default().push(score);
    }
    Ok(scores)
}

async fn entered(cx: &Context, site: &str, users: &[&str]) -> Result<HashMap<String, Entered>> {
    let db = cx.db()?;
    let mut sql = db.sql("SELECT user_id, grade, entered_on FROM gradebook_override WHERE TRUE");
    write_of_users(&mut sql, site, users)?;
    let read = |row: &mut Row<'_>| {
        let user: String = row.take()?;
        let (grade, on) = (row.take()?, row.take()?);
        Ok((user, Entered { grade, on }))
    };
    Ok(db
        .rows(sql.into_statement(), read)
        .await?
        .into_iter()
        .collect())
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
