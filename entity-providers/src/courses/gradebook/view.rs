//! `/api/sites/{siteId}/grades` and its like: items and course grades with the union of the keys that clients read.

use std::collections::HashMap;

use entity_core::db::{self, Row, Sql};
use entity_core::endpoint::{Call, Endpoint, Paged};
use entity_core::wire::Decimal;
use entity_core::{Context, ErrorKind, Need, Page, Result, View, Window, gate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::audience::{Audience, MEMBER, sees_grades, write_classes};
use super::course;
pub(crate) use super::grades::TOOL;
use super::marking::{self, Mark};
use super::result::{self, CourseGradeView};
use crate::people::site::{OwnSites, PinnedSites, SiteName, address, write_placement};

const OF_SITE: Endpoint = Endpoint::get("/api/sites/{siteId}/grades", "listGradesOfSite")
    .doc("The gradebook items of a site with the caller's scores, and the caller's course grade.")
    .tag("gradebook")
    .variable("siteId", "The site.")
    .refuses(&[ErrorKind::Forbidden, ErrorKind::NotFound])
    .answers::<Paged<SiteGrades>>(&of_site);
entity_core::register_endpoint!(
    OF_SITE,
    also("/api/grades/sites/{siteId}", "listGradesInSite")
);

const MINE: Endpoint = Endpoint::get("/api/users/me/grades", "listMyGrades")
    .doc("The gradebook items of the caller's pinned sites.")
    .tag("gradebook")
    .answers::<Paged<MyGrades>>(&mine);
entity_core::register_endpoint!(MINE, also("/api/grades/users/me", "listGradesOfCaller"));

const GRADE: Endpoint = Endpoint::post(
    "/api/sites/{siteId}/grades/{gradingItemId}/{userId}",
    "gradeInSite",
)
.doc("Sets the score of a student in an item, and the comment unless it is blank.")
.tag("gradebook")
.variable("siteId", "The site.")
.variable("gradingItemId", "The item.")
.variable("userId", "The internal id of the student.")
.refuses(&[
    ErrorKind::Forbidden,
    ErrorKind::NotFound,
    ErrorKind::Conflict,
])
.takes::<SentGrade>()
.answers::<Option<Graded>>(&grade);
entity_core::register_endpoint!(GRADE);

/// The grades of a site.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SiteGrades {
    /// The items that the caller sees, in the order of the site.
    items: Vec<ItemView>,
    /// The caller's course grade.
    course_grade: CourseGradeView,
    /// The same items, as other clients read them.
    grades: Vec<GradeView>,
}

/// The grades of the caller's sites.
#[derive(Debug, Serialize, JsonSchema)]
struct MyGrades {
    /// The items, by site.
    grades: Vec<GradeView>,
    /// The sites, by title.
    sites: Vec<SiteName>,
}

/// An item with the caller's own score.
#[derive(Debug, Serialize, JsonSchema, Row)]
#[serde(rename_all = "camelCase")]
struct ItemView {
    /// The id.
    id: String,
    /// The name.
    name: String,
    /// The points that the caller has; null for none, and for those who grade.
    #[schemars(with = "Option<f64>")]
    score: Option<Decimal>,
    /// The points that the item is worth.
    #[schemars(with = "f64")]
    points: Decimal,
    /// The comment for the caller.
    comment: Option<String>,
    /// True if the item does not count for the caller.
    excused: bool,
    /// When it is due, in milliseconds.
    due_date: Option<i64>,
    /// True if students see it.
    released: bool,
    /// True if it counts in the course grade.
    counted: bool,
    /// True if it is extra credit.
    extra_credit: bool,
}

/// An item as portals show it.
#[derive(Debug, Serialize, JsonSchema, View)]
#[serde(rename_all = "camelCase")]
#[view(of = &Found, beside(numbers: &Numbers), with(
    id = it.view.id.clone(),
    name = it.view.name.clone(),
    told = numbers.of_item(it),
    not_graded_yet = told.0.is_none(),
    score = told.0.unwrap_or_default(),
    ungraded = told.1,
    url = it.tool.as_ref().map(|tool| address::of_tool(&it.site, tool)).unwrap_or_default(),
    site_title = it.title.clone(),
    site_role = it.role.clone(),
    site_id = it.site.clone(),
))]
pub(crate) struct GradeView {
    /// The id.
    id: String,
    /// The name.
    name: String,
    /// For students their own points, for those who grade the mean of the class; empty for none.
    score: String,
    /// True if there is no such number yet.
    not_graded_yet: bool,
    /// For those who grade, the number of students without a score.
    ungraded: i64,
    /// The path of the gradebook in the portal.
    url: String,
    /// The title of the site.
    site_title: String,
    /// The caller's role in the site.
    site_role: String,
    /// The site.
    site_id: String,
}

/// A grade that is given.
#[derive(Debug, Deserialize, JsonSchema)]
struct SentGrade {
    /// The points, as text; empty for none.
    grade: String,
    /// The comment for the student.
    #[serde(default)]
    comment: Option<String>,
    /// The reference of what the item belongs to. It has no effect.
    #[serde(default)]
    #[expect(dead_code, reason = "clients send it")]
    reference: Option<String>,
}

/// Nothing.
#[derive(Debug, Serialize, JsonSchema)]
struct Graded {}

/// An item of a site, with the caller's own score, and what there is to tell of the site: its title, the caller's role and
/// the place of the tool.
#[derive(Debug, Serialize, Row)]
pub(super) struct Found {
    site: String,
    view: ItemView,
    title: String,
    role: String,
    tool: Option<String>,
}

/// A summary of the scores of a class in one item.
#[derive(Clone, Copy, Debug, Default, Row)]
struct Class {
    sum: Decimal,
    graded: i64,
    excused: i64,
}

/// A site, and what the caller sees there.
type Seen = (String, Audience);

/// Which items are listed, and in which order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// All items, by site.
    BySite,
    /// The items in which the caller sees scores, with that of the newest score first.
    LastGraded,
}

async fn of_site(cx: &Context, call: Call) -> Result<Paged<SiteGrades>> {
    let (site, window) = (call.variable("siteId")?, call.window()?);
    gate::demand_in_site(cx, Need::Site(MEMBER), Some(site)).await?;
    let audience = Audience::of(cx, site).await?;
    let seen: Vec<Seen> = audience.iter().map(|it| (site.to_owned(), *it)).collect();
    let page = items(cx, &seen, Order::BySite, window).await?;
    let course_grade = result::own(cx, site, audience).await?;
    let numbers = Numbers::of(cx, &seen).await?;
    let page = page.map(|it| (GradeView::of(&it, &numbers), it.view));
    Paged::of(cx, page, window, |told| {
        let (grades, items) = told.into_iter().unzip();
        SiteGrades {
            items,
            course_grade,
            grades,
        }
    })
}

async fn mine(cx: &Context, call: Call) -> Result<Paged<MyGrades>> {
    let window = call.window()?;
    let sites = OwnSites::of_caller(cx, &[TOOL]).await?;
    let (page, pinned) = own(cx, &sites, Order::BySite, window).await?;
    let sites = pinned.into_names();
    Paged::of(cx, page, window, |grades| MyGrades { grades, sites })
}

/// Returns a part of the items of the caller's pinned sites, and these sites.
pub(crate) async fn own(
    cx: &Context,
    sites: &OwnSites<'_>,
    order: Order,
    window: Window,
) -> Result<(Page<GradeView>, PinnedSites)> {
    let pinned = sites.pinned(cx, MEMBER, TOOL).await?;
    let ids = pinned.ids();
    let mut seen = Audience::of_own_sites(cx).await?;
    seen.retain(|it| ids.contains(&it.0));
    let page = items(cx, &seen, order, window).await?;
    let numbers = Numbers::of(cx, &seen).await?;
    Ok((page.map(|it| GradeView::of(&it, &numbers)), pinned))
}

async fn grade(cx: &Context, call: Call) -> Result<Option<Graded>> {
    let sent: SentGrade = call.body()?;
    let score = match sent.grade.trim() {
        "" => None,
        text => {
            let parsed = Decimal::parse(text);
            Some(parsed.map_err(|message| entity_core::Error::field("grade", message))?)
        }
    };
    let mark = Mark {
        item: call.variable("gradingItemId")?.to_owned(),
        user: call.variable("userId")?.to_owned(),
        score: Some(score),
        excused: None,
        comment: sent.comment.filter(|it| !it.trim().is_empty()),
    };
    super::bulk::check_comment(mark.comment.as_deref(), "comment")?;
    marking::set(cx, call.variable("siteId")?, vec![mark]).await?;
    Ok(None)
}

/// Returns a part of the items that the caller sees in these sites.
async fn items(cx: &Context, seen: &[Seen], order: Order, window: Window) -> Result<Page<Found>> {
    let ids: Vec<&str> = seen.iter().map(|it| it.0.as_str()).collect();
    let db = cx.db()?;
    let mut sql = db.sql(
        "SELECT i.site_id, i.item_id, i.name, c.score, i.points, nullif(c.comment, ''), coalesce(c.excused, FALSE), \
         i.due_date, i.released, i.counted, i.extra_credit, s.title, coalesce(m.role, ''), ",
    );
    write_placement(&mut sql, TOOL);
    sql.push(" FROM gradebook_item i JOIN site s ON s.id = i.site_id");
    sql.push(" LEFT JOIN membership m ON m.site_id = s.id AND m.user_id = ");
    sql.bind(cx.user_id()?);
    sql.push(" LEFT JOIN gradebook_score c ON c.score_id = i.item_id || ':' || ");
    sql.bind(cx.user_id()?).push(" AND NOT (i.site_id");
    sql.bind_list(&graded(seen))?.push(")");
    if order == Order::LastGraded {
        write_last_graded(cx, &mut sql, seen).await?;
    }
    sql.push(" WHERE i.site_id");
    sql.bind_list(&ids)?.push(" AND ");
    sees_grades(cx, &ids).await?.write(&mut sql, "i")?;
    sql.push(match order {
        Order::BySite => " ORDER BY s.title, s.id, i.position, i.item_id",
        Order::LastGraded => " ORDER BY g.graded_on DESC, i.item_id",
    });
    super::grades::limit(&mut sql, window);
    db.page(
        sql.into_statement(),
        cx.read_limit_of(window.limit),
        db::columns,
    )
    .await
}

/// Joins to each item `i` the time of its newest score that the caller sees, as `g`; without one, the item is left out.
async fn write_last_graded(cx: &Context, sql: &mut Sql, seen: &[Seen]) -> Result<()> {
    sql.push(
        " JOIN (SELECT k.item_id, max(k.graded_on) AS graded_on FROM membership this \
         CROSS JOIN gradebook_score k \
         WHERE k.site_id = this.site_id AND k.user_id = this.user_id AND k.score IS NOT NULL AND ",
    );
    write_classes(cx, sql, classes_of(seen.iter())).await?;
    sql.push(" GROUP BY k.item_id) g ON g.item_id = i.item_id");
    Ok(())
}

/// Returns the sites in which the caller grades.
fn graded(seen: &[Seen]) -> Vec<&str> {
    graders(seen).map(|it| it.0.as_str()).collect()
}

fn graders(seen: &[Seen]) -> impl Iterator<Item = &Seen> {
    seen.iter().filter(|it| it.1.is_grader())
}

/// The numbers of students and of their scores, where the caller grades.
pub(super) struct Numbers {
    /// The number of students, by site in which the caller grades.
    students: HashMap<String, i64>,
    /// By item of such a site.
    classes: HashMap<String, Class>,
}

impl Numbers {
    async fn of(cx: &Context, seen: &[Seen]) -> Result<Self> {
        Ok(Self {
            students: students(cx, seen).await?,
            classes: classes(cx, seen).await?,
        })
    }

    /// Returns the score or the mean that is shown of an item, and the number of students without a score.
    fn of_item(&self, found: &Found) -> (Option<String>, i64) {
        let Some(students) = self.students.get(&found.site) else {
            return (found.view.score.map(|it| it.to_string()), 0);
        };
        let class = self.classes.get(&found.view.id).copied();
        let class = class.unwrap_or_default();
        let mean = course::mean(class.sum, class.graded).map(|it| it.to_string());
        let left = students.saturating_sub(class.graded);
        (mean, left.saturating_sub(class.excused))
    }
}

/// Returns these sites as [`write_classes`] takes them.
fn classes_of<'a>(seen: impl Iterator<Item = &'a Seen>) -> Vec<(&'a str, Audience)> {
    seen.map(|it| (it.0.as_str(), it.1)).collect()
}

async fn students(cx: &Context, seen: &[Seen]) -> Result<HashMap<String, i64>> {
    let db = cx.db()?;
    let mut sql = db.sql("SELECT this.site_id, count(*) FROM membership this WHERE ");
    write_classes(cx, &mut sql, classes_of(graders(seen))).await?;
    sql.push(" GROUP BY this.site_id");
    let counted = db.scan(sql.into_statement(), db::columns).await?;
    let none = graded(seen).into_iter().map(|it| (it.to_owned(), 0));
    Ok(none.chain(counted).collect())
}

async fn classes(cx: &Context, seen: &[Seen]) -> Result<HashMap<String, Class>> {
    let db = cx.db()?;
    let mut sql = db.sql(
        "SELECT c.item_id, \
         CAST(coalesce(sum(CASE WHEN c.excused THEN NULL ELSE c.score END), 0) AS bigint), \
         CAST(count(CASE WHEN c.excused THEN NULL ELSE c.score END) AS bigint), \
         CAST(coalesce(sum(CASE WHEN c.excused THEN 1 ELSE 0 END), 0) AS bigint) \
         FROM membership this CROSS JOIN gradebook_score c \
         WHERE c.site_id = this.site_id AND c.user_id = this.user_id AND ",
    );
    write_classes(cx, &mut sql, classes_of(graders(seen))).await?;
    sql.push(" GROUP BY c.item_id");
    let found = db.scan(sql.into_statement(), db::columns).await?;
    Ok(found.into_iter().collect())
}
