//! `/direct/gradebook`: the grades of a site, as existing clients read them, and the types that they consist of.
//!
//! Items, categories and scores are entities of their own. Course grades are computed from them.

mod audience;
mod bulk;
pub mod category;
pub mod cause;
pub mod change;
mod course;
pub mod entered;
mod grades;
mod grid;
mod import;
pub mod instructor;
pub mod item;
mod marking;
mod named;
mod report;
mod result;
pub mod score;
mod sheet;
mod stored;
#[cfg(test)]
mod tests;
pub(crate) mod view;

use entity_core::action::Paging;
use entity_core::blob::{Receive, Room, Target};
use entity_core::reply::Questionnaire;
use entity_core::schema::Pivot;
use entity_core::sheet::Report;
use entity_core::wire::Decimal;
use entity_core::{
    Access, Action, ActionResult, Actions, Answers, Arguments, Context, Entity, Error, Need, Read,
    Result, Verb, Window, shape,
};
use schemars::JsonSchema;
use serde::Serialize;

use self::audience::{Audience, MEMBER};
use self::grades::{MOST_ROWS, Site};
use self::result::GradedStudent;
use crate::base::parameters;

pub(crate) use self::audience::{SEES_CHANGE as SEES_STUDENT, student_roles};
pub use self::cause::{
    ItemSpec, follow_cause, is_student, set_score_of_cause, set_scores_of_cause,
};
pub(crate) use self::named::{demand_item, grade};

/// The grades of a site, as far as the caller sees them.
#[derive(Clone, Debug, PartialEq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(tool = "sakai.gradebookng")]
#[entity(icon = "grades")]
#[entity(prefix = "gradebook", plural = "Gradebook", access = Access::new(Need::Session, Need::Superuser))]
pub struct Gradebook {
    /// The site.
    #[entity(id, site, references = "site")]
    pub site_id: String,
    /// The title of the site.
    #[entity(title)]
    pub site_name: String,
    /// The name of the item, where one is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item_name: Option<String>,
    /// The comment for the student, where one item is asked for and one student has a row; otherwise empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// A row for each student and each item: with `itemName`, `grade`, `points`, `userId` and `userName`.
    #[entity(pivot = GRADES, label = "Grades")]
    pub assignments: Vec<GradeRow>,
    /// The address of the further rows, if an answer can't hold all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[entity(for_programs)]
    pub next_assignments: Option<String>,
}

/// Grades as a table: a line for each student, a column for each item.
const GRADES: Pivot = Pivot {
    line: &["userId", "userName"],
    column: "itemName",
    cell: "grade",
    beside: &["comment"],
};

/// One student's grade in one item.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GradeRow {
    /// The name of the item.
    pub item_name: String,
    /// The points that the student has, as text; null for none.
    pub grade: Option<String>,
    /// The points that the item is worth.
    pub points: Decimal,
    /// The internal id of the student.
    pub user_id: String,
    /// The name of the student.
    pub user_name: String,
    /// The comment for the student, where one item is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comment: Option<Option<String>>,
}

entity_core::register!(Gradebook);

impl Read for Gradebook {
    async fn read(cx: &Context, id: &str) -> Result<Option<Self>> {
        let window = Window {
            start: 0,
            limit: MOST_ROWS,
        };
        match find(cx, id).await? {
            Some(site) => whole(cx, &site, None, window).await.map(Some),
            None => Ok(None),
        }
    }
}

/// The maximum number of students whose course grades are computed in one request.
const MOST_STUDENTS: u64 = 200;

/// The parameters by which a class that is too large for one answer is read in parts.
const PART: &[(&str, &str)] = &[
    ("_start", "how many rows to leave out at the beginning"),
    ("_limit", "how many rows at most"),
];

/// The parameters by which a part of the students is chosen.
const OF_STUDENTS: &[(&str, &str)] = &[
    ("_start", "how many students to leave out at the beginning"),
    ("_limit", "how many students at most"),
];

impl Receive for Gradebook {
    const IN_FORMS: bool = false;

    async fn room(cx: &Context, target: Target<'_>) -> Result<Room> {
        let site = target.arguments.first().ok_or_else(Error::not_found)?;
        Audience::demand_grader(cx, site).await?;
        Ok(Room::of(parameters::MOST_BYTES))
    }
}

impl Actions for Gradebook {
    fn actions() -> Vec<Action<Self>> {
        let mut actions = tables();
        actions.extend([
            Action::collection(Verb::Get, "site", Need::Site(MEMBER), of_site)
                .doc(
                    "The grades of a site: students see their own, without those of items that are not released; whoever \
                     grades sees a row for each student and item. If there are more rows than an answer holds, \
                     `nextAssignments` and the header `Link` lead to the others; `X-Total-Count` tells how many there are.",
                )
                .argument("siteId", "The site.")
                .parameters(PART)
                .answers(Answers::Entity),
            Action::collection(Verb::Get, "item", Need::Site(MEMBER), of_item)
                .doc("The grades in one item of a site, with the comments.")
                .argument("siteId", "The site.")
                .argument("itemName", "The name of the item.")
                .parameters(PART)
                .answers(Answers::Entity),
            Action::collection(Verb::Get, "course", Need::Site(MEMBER), course_grades)
                .doc(
                    "The course grades in a site, by student: students see their own. The header `Link` leads to further \
                     students, and `X-Total-Count` tells how many there are.",
                )
                .argument("siteId", "The site.")
                .parameters(OF_STUDENTS)
                .answers(Answers::Value(shape::of::<CourseGrades>)),
            Action::collection(Verb::Get, "export", Need::Site(MEMBER), sheet::export)
                .label("Table for spreadsheets")
                .offered_to(audience::GRADE_ALL)
                .doc(
                    "The whole gradebook as a table for spreadsheets: a line for each student whom the caller grades, and \
                     for each item a column with the scores and one with the comments. `EX` stands for an item that does \
                     not count for the student.",
                )
                .argument("siteId", "The site.")
                .answers(sheet::ANSWERS),
            Action::collection(Verb::Post, "import", Need::Site(MEMBER), import::import)
                .label("Import scores")
                .asks(import::ASKS)
                .offered_to(audience::GRADE_ALL)
                .doc(
                    "Sets scores and comments from `csv`, the text of a table as `export` writes it, all or none. Empty \
                     cells and missing columns leave everything as it is. With `preview`, nothing changes, and the answer \
                     tells what would, and which cells are wrong.",
                )
                .argument("siteId", "The site.")
                .parameters(&[("preview", "whether to tell only what would change")])
                .receiving_in_forms()
                .answers(Answers::Value(shape::of::<Report<import::Changed>>)),
            Action::collection(Verb::Get, "my", Need::Session, mine)
                .doc("The grades of each of the caller's sites that has a gradebook, by title.")
                .parameters(&[
                    ("_start", "how many sites to leave out at the beginning"),
                    ("_limit", "how many sites at most"),
                ])
                .answers(Answers::Collection),
        ]);
        actions
    }
}

/// Returns the actions behind the tables of the page: the grid for those who grade, the report for a student.
fn tables() -> Vec<Action<Gradebook>> {
    vec![
            Action::collection(Verb::Get, "marks", Need::Site(MEMBER), grid::show)
                .label("Grade")
                .in_place_of("assignments")
                .doc(
                    "The students of a site whom the caller grades, as a form: the score of each in each item, `EX` for one \
                     that does not count, and the course grade that was entered instead of the computed one.",
                )
                .argument("siteId", "The site.")
                .parameters(OF_STUDENTS)
                .answers(Answers::Value(shape::of::<Questionnaire>)),
            Action::collection(Verb::Post, "marks", Need::Site(MEMBER), grid::save)
                .label("Grade")
                .done("The grades are saved.")
                .doc(
                    "Sets scores and course grades, all or none, by the names that the grid has: `score:` with the ids of the \
                     item and the student, and `grade:` with that of the student. What is not sent stays as it is. More \
                     points than an item is worth need `more`.",
                )
                .argument("siteId", "The site.")
                .parameters(OF_STUDENTS)
                .answers(Answers::Value(shape::of::<Questionnaire>)),
            Action::collection(Verb::Get, "report", Need::Site(MEMBER), report::report)
                .label("How the course grade is made")
                .in_place_of("assignments")
                .doc(
                    "The course grade of the caller or, for those who grade, of one of their students, and what made it: \
                     categories with weight and part, items with score and comment.",
                )
                .argument("siteId", "The site.")
                .optional_argument("userId", "The internal id of the student; without it, the caller.")
                .answers(Answers::Value(shape::of::<Questionnaire>)),
    ]
}

/// Finds the gradebook of `site`, if it has one.
///
/// # Errors
/// Returns an error if there is no such site, or if the caller sees nothing of its gradebook.
async fn find(cx: &Context, site: &str) -> Result<Option<Site>> {
    let audience = Audience::demand(cx, site).await?;
    let window = Window { start: 0, limit: 1 };
    let found = grades::sites(cx, vec![(site.to_owned(), audience)], window).await?;
    Ok(found.items.into_iter().next())
}

/// Returns the part `window` of a gradebook's rows, all or those of one item.
async fn whole(cx: &Context, site: &Site, item: Option<&str>, window: Window) -> Result<Gradebook> {
    let page = grades::rows(cx, std::slice::from_ref(site), item, window).await?;
    let next = page.next_start(window);
    let rows = page.items.into_iter().map(|it| it.1).collect();
    let mut gradebook = Gradebook::new(site, rows);
    gradebook.next_assignments = next.map(|it| grades::address(cx, &site.id, item, it));
    Ok(gradebook)
}

async fn of_site(cx: &Context, arguments: Arguments) -> Result<ActionResult<Gradebook>> {
    part(cx, &arguments, None).await
}

async fn of_item(cx: &Context, arguments: Arguments) -> Result<ActionResult<Gradebook>> {
    part(cx, &arguments, Some(arguments.argument("itemName")?)).await
}

async fn part(
    cx: &Context,
    arguments: &Arguments,
    item: Option<&str>,
) -> Result<ActionResult<Gradebook>> {
    let window = Window::parse(&arguments.query, MOST_ROWS)?;
    let site = find(cx, arguments.argument("siteId")?).await?;
    let site = site.ok_or_else(|| Error::bad_request("this site has no gradebook"))?;
    let mut gradebook = whole(cx, &site, item, window).await?;
    if let Some(name) = item
        && gradebook.assignments.is_empty()
        && !grades::has_item(cx, &site, name).await?
    {
        return Err(Error::not_found());
    }
    gradebook.item_name = item.map(ToOwned::to_owned);
    gradebook.comment = item.map(|_| match gradebook.assignments.as_slice() {
        [only] => only.comment.clone().flatten().unwrap_or_default(),
        _ => String::new(),
    });
    let rows = u64::try_from(gradebook.assignments.len()).unwrap_or(u64::MAX);
    let is_cut = gradebook.next_assignments.is_some();
    let next = is_cut.then(|| window.start.saturating_add(rows));
    let total = match (window.start, next) {
        (0, None) => rows,
        _ => grades::count(cx, &site, item).await?,
    };
    Ok(ActionResult::Entity(gradebook).part_of(Paging {
        window,
        next,
        total: Some(total),
    }))
}

/// The course grades of a site, as far as the caller sees them.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CourseGrades {
    /// The site.
    site_id: String,
    /// The students, by name.
    students: Vec<GradedStudent>,
}

async fn course_grades(cx: &Context, arguments: Arguments) -> Result<ActionResult<Gradebook>> {
    let window = Window::parse(&arguments.query, MOST_STUDENTS)?;
    let site = arguments.argument("siteId")?;
    let audience = Audience::demand(cx, site).await?;
    let page = result::course_grades(cx, site, audience, window).await?;
    let total = result::count_students(cx, site, audience).await?;
    let next = page.next_start(window);
    let outcome = ActionResult::value(CourseGrades {
        site_id: site.to_owned(),
        students: page.items,
    });
    Ok(outcome.part_of(Paging {
        window,
        next,
        total: Some(total),
    }))
}

async fn mine(cx: &Context, arguments: Arguments) -> Result<ActionResult<Gradebook>> {
    let window = Window::parse(&arguments.query, entity_core::search::MAX_LIMIT)?;
    let seen = Audience::of_own_sites(cx).await?;
    let sites = grades::sites(cx, seen, window).await?;
    let page = grades::gradebooks(cx, sites).await?;
    Ok(ActionResult::Collection { page, window })
}
