//! `/direct/grades`: gradebooks as the tools of instructors read and write them. Students are refused.

mod sent;

use std::collections::HashSet;

use entity_core::action::Paging;
use entity_core::view::millis;
use entity_core::wire::{Decimal, size_in_json};
use entity_core::{
    Access, Action, ActionResult, Actions, Answers, Arguments, Context, Data, Entity, Error, Need,
    Read, Result, Verb, View, Window, encode_segment, shape,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use self::sent::SentItem;
use super::audience::{Audience, MEMBER};
use super::item::GradebookItem;
use super::result::GradedStudent;
use super::score::GradebookScore;
use super::stored::{self, Scores, Stored};
use super::{MOST_STUDENTS, grades, sheet};
use super::{marking, result};

/// A gradebook with all students and all scores.
#[derive(Clone, Debug, PartialEq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(icon = "grades")]
#[entity(prefix = "grades", plural = "Gradebooks of instructors")]
#[entity(access = Access::new(Need::Session, Need::Superuser))]
pub struct Grades {
    /// The site.
    #[entity(id, site, references = "site")]
    pub id: String,
    /// The site again.
    #[entity(for_programs)]
    pub course_id: String,
    /// The students whom the caller grades, by name.
    pub students: Vec<Student>,
    /// The items, in the order of the site, each with the scores of these students.
    pub items: Vec<Item>,
    /// The address of the gradebook with the further students, if an answer can't hold all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[entity(for_programs)]
    pub next_students: Option<String>,
}

entity_core::register!(Grades);

/// A course in which the caller grades.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema, View)]
#[view(of = grades::Site)]
struct Course {
    /// The site.
    id: String,
    /// The title.
    title: String,
}

/// A student.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema, View)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "GradedPerson")]
#[view(of = GradedStudent, with(course_grade = it.course_grade.display_grade.clone()))]
pub struct Student {
    /// The internal id.
    user_id: String,
    /// The external id.
    #[view(of = eid)]
    username: String,
    /// The name.
    #[view(of = user_name)]
    name: String,
    /// The course grade, if there is one.
    course_grade: Option<String>,
}

/// An item with its scores.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema, View)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "GradeItem")]
#[view(of = GradebookItem, beside(scores: Vec<Score>), with(
    due_date = it.due_date.map(millis),
    kind = if it.is_external() { "external" } else { "internal" },
    r#type = kind.to_owned(),
))]
pub struct Item {
    /// The id.
    #[view(of = item_id)]
    id: String,
    /// The name.
    name: String,
    /// The site.
    #[view(of = site_id)]
    gradebook_id: String,
    /// The points that it is worth.
    #[schemars(with = "f64")]
    #[view(of = points)]
    points_possible: Decimal,
    /// When it is due, in milliseconds.
    due_date: Option<i64>,
    /// `internal`, or `external` for an item that something else belongs to, such as an assignment.
    r#type: String,
    /// True if students see it.
    released: bool,
    /// True if it counts in the course grade.
    #[view(of = counted)]
    included_in_course_grade: bool,
    /// The scores.
    scores: Vec<Score>,
}

/// The score of one student.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema, View)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "GradeItemScore")]
#[view(of = Student, beside(item: &GradebookItem, stored: Stored), with(
    id = GradebookScore::id_of(&item.item_id, &it.user_id),
    item_id = item.item_id.clone(),
    grade = stored.score.map(|it| it.to_string()),
    comment = Some(stored.comment).filter(|it| !it.is_empty()),
))]
pub struct Score {
    /// The id.
    id: String,
    /// The item.
    item_id: String,
    /// The internal id of the student.
    user_id: String,
    /// The external id of the student.
    username: String,
    /// The points, as text; null for none.
    grade: Option<String>,
    /// The comment for the student.
    comment: Option<String>,
}

/// The parameters by which a large class is read in parts.
const PART: &[(&str, &str)] = &[
    ("_start", "how many students to leave out at the beginning"),
    ("_limit", "how many students at most"),
];

impl Read for Grades {
    async fn read(cx: &Context, id: &str) -> Result<Option<Self>> {
        let window = Window {
            start: 0,
            limit: MOST_STUDENTS,
        };
        whole(cx, id, window).await.map(Some)
    }
}

impl Actions for Grades {
    fn actions() -> Vec<Action<Self>> {
        vec![
            Action::collection(Verb::Get, "courses", Need::Session, courses)
                .doc("The sites with a gradebook in which the caller grades.")
                .parameters(&[
                    ("_start", "how many sites to leave out at the beginning"),
                    ("_limit", "how many sites at most"),
                ]),
            Action::collection(Verb::Get, "students", Need::Site(MEMBER), students)
                .doc("The students of a site whom the caller grades, by name.")
                .argument("siteId", "The site.")
                .parameters(PART)
                .answers(Answers::Value(shape::of::<Vec<Student>>)),
            Action::collection(Verb::Get, "gradebook", Need::Site(MEMBER), gradebook)
                .doc(
                    "The gradebook of a site, with students and scores. If there are more students than an answer holds, \
                     `nextStudents` and the header `Link` lead to the others; `X-Total-Count` tells how many there are.",
                )
                .argument("siteId", "The site.")
                .parameters(PART)
                .answers(Answers::Entity),
            Action::collection(Verb::Get, "gradeitem", Need::Site(MEMBER), grade_item)
                .doc("One item of a site, with the scores.")
                .argument("siteId", "The site.")
                .argument("itemName", "The name of the item.")
                .parameters(PART),
            Action::collection(Verb::Post, "gradeitem", Need::Site(MEMBER), set_grade_item)
                .doc(
                    "Makes an item with `name`, `pointsPossible` and `dueDate`, or changes the one with this name, and \
                     sets its scores: a list `scores` of objects with `userId` or `username`, `grade` and perhaps \
                     `comment`. All of it or nothing.",
                )
                .argument("siteId", "The site.")
                .optional_argument("itemName", "The name of the item, if the body has none."),
        ]
    }
}

async fn courses(cx: &Context, arguments: Arguments) -> Result<Data<Vec<Course>>> {
    let window = Window::parse(&arguments.query, entity_core::search::MAX_LIMIT)?;
    let mut seen = Audience::of_own_sites(cx).await?;
    seen.retain(|it| it.1.is_grader());
    if seen.is_empty() {
        return Err(Error::forbidden());
    }
    let page = grades::sites(cx, seen, window).await?;
    Ok(Data(page.map(Course::of).items))
}

async fn students(cx: &Context, arguments: Arguments) -> Result<ActionResult<Grades>> {
    let window = Window::parse(&arguments.query, MOST_STUDENTS)?;
    let site = arguments.argument("siteId")?;
    let class = Class::of(cx, site, window).await?;
    let paging = paging(cx, site, window, class.next).await?;
    Ok(ActionResult::value(class.students).part_of(paging))
}

/// Returns what there is beside a part of the students, behind which those from `next` on stand.
async fn paging(cx: &Context, site: &str, window: Window, next: Option<u64>) -> Result<Paging> {
    let audience = Audience::demand_grader(cx, site).await?;
    let total = Some(result::count_students(cx, site, audience).await?);
    Ok(Paging {
        window,
        next,
        total,
    })
}

async fn gradebook(cx: &Context, arguments: Arguments) -> Result<ActionResult<Grades>> {
    let window = Window::parse(&arguments.query, MOST_STUDENTS)?;
    let site = arguments.argument("siteId")?;
    let found = whole(cx, site, window).await?;
    let is_cut = found.next_students.is_some();
    let next = is_cut.then(|| window.start.saturating_add(to_u64(found.students.len())));
    let paging = paging(cx, site, window, next).await?;
    Ok(ActionResult::Entity(found).part_of(paging))
}

async fn grade_item(cx: &Context, arguments: Arguments) -> Result<Data<Item>> {
    let window = Window::parse(&arguments.query, MOST_STUDENTS)?;
    let (site, name) = (
        arguments.argument("siteId")?,
        arguments.argument("itemName")?,
    );
    let class = Class::of(cx, site, window).await?;
    let item = find(cx, site, name).await?.ok_or_else(Error::not_found)?;
    Ok(Data(class.item(cx, item).await?))
}

/// Returns the gradebook with this part of the students, or with as many of them as an answer holds.
async fn whole(cx: &Context, site: &str, window: Window) -> Result<Grades> {
    Audience::demand_grader(cx, site).await?;
    let found = sheet::items(cx, site).await?;
    // More of them would be read in vain.
    let most = stored::at_once(found.len());
    let limit = window.limit.min(u64::try_from(most).unwrap_or(u64::MAX));
    let window = Window { limit, ..window };
    let mut class = Class::of(cx, site, window).await?;
    let (items, count) = class.items(cx, found).await?;
    let is_cut = count < class.students.len();
    class.students.truncate(count);
    let next = match is_cut {
        true => Some(window.start.saturating_add(to_u64(count))),
        false => class.next,
    };
    let (base, segment, limit) = (cx.base_url(), encode_segment(site), window.limit);
    let address =
        |it: u64| format!("{base}/direct/grades/gradebook/{segment}?_start={it}&_limit={limit}");
    let mut grades = Grades {
        id: site.to_owned(),
        course_id: site.to_owned(),
        students: class.students,
        items,
        next_students: next.map(address),
    };
    // As other lists, it takes no more than a third of what an answer may have: it is in memory more than once.
    let most = cx.answer_bytes().div_euclid(3);
    while size_in_json(&grades)? > most && grades.students.len() > 1 {
        let half = grades.students.len().div_euclid(2);
        grades.keep(half);
        let start = window.start.saturating_add(to_u64(half));
        grades.next_students = Some(address(start));
    }
    match size_in_json(&grades)? > cx.answer_bytes() {
        true => Err(Error::insufficient_storage(
            "the scores of one student take more bytes than an answer may have: read the items one by one",
        )),
        false => Ok(grades),
    }
}

fn to_u64(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

impl Grades {
    /// Keeps the first `count` students, with their scores.
    fn keep(&mut self, count: usize) {
        self.students.truncate(count);
        let kept: HashSet<&str> = self.students.iter().map(|it| &*it.user_id).collect();
        for item in &mut self.items {
            item.scores.retain(|it| kept.contains(&*it.user_id));
        }
    }
}

async fn find(cx: &Context, site: &str, name: &str) -> Result<Option<GradebookItem>> {
    let items = sheet::items(cx, site).await?;
    Ok(items.into_iter().find(|it| it.name == name))
}

/// A part of the students of a site.
struct Class {
    site: String,
    students: Vec<Student>,
    /// The number of students before the next part, if there is one.
    next: Option<u64>,
}

impl Class {
    async fn of(cx: &Context, site: &str, window: Window) -> Result<Self> {
        let audience = Audience::demand_grader(cx, site).await?;
        let page = result::course_grades(cx, site, audience, window).await?;
        let next = page.next_start(window);
        Ok(Self {
            site: site.to_owned(),
            students: page.map(Student::of).items,
            next,
        })
    }

    /// Returns these items with the scores of the first students, and the number of these: all of them, if they are no
    /// more than are read at once and their comments are not long.
    async fn items(&self, cx: &Context, items: Vec<GradebookItem>) -> Result<(Vec<Item>, usize)> {
        let (mut stored, count) =
            stored::of_first(cx, &self.site, &self.ids(), items.len()).await?;
        let items = items.into_iter();
        let items = items.map(|it| self.scored(it, count, &mut stored));
        Ok((items.collect(), count))
    }

    /// Returns this item with the scores of the students.
    async fn item(&self, cx: &Context, item: GradebookItem) -> Result<Item> {
        let mut stored = stored::of_item(cx, &item.item_id, &self.ids()).await?;
        Ok(self.scored(item, self.students.len(), &mut stored))
    }

    fn ids(&self) -> Vec<&str> {
        self.students.iter().map(|it| &*it.user_id).collect()
    }

    /// Returns this item with the scores of the first `count` students.
    fn scored(&self, item: GradebookItem, count: usize, stored: &mut Scores) -> Item {
        let scores = self.students.iter().take(count).filter_map(|it| {
            let pair = (it.user_id.clone(), item.item_id.clone());
            Some(Score::of(it.clone(), &item, stored.remove(&pair)?))
        });
        let scores = scores.collect();
        Item::of(item, scores)
    }
}

async fn set_grade_item(cx: &Context, arguments: Arguments) -> Result<Data<Item>> {
    let site = arguments.argument("siteId")?;
    Audience::demand_grader(cx, site).await?;
    let sent: SentItem = shape::decode(Value::Object(arguments.input.fields.clone()))?;
    let name = sent.name.as_deref().or(arguments.optional("itemName"));
    let name = name.ok_or_else(|| Error::field("name", "is required"))?;
    if sent.scores.len() > super::bulk::MOST_SCORES {
        let message = format!("must not have more than {} items", super::bulk::MOST_SCORES);
        return Err(Error::field("scores", message));
    }
    let item = sent.write(cx, site, name).await?;
    let marks = sent.marks(cx, site, &item).await?;
    marking::set(cx, site, marks).await?;
    let window = Window {
        start: 0,
        limit: MOST_STUDENTS,
    };
    let class = Class::of(cx, site, window).await?;
    Ok(Data(class.item(cx, item).await?))
}
