//! Many people and courses beside the demo university, for measurements: copies of its data with other names.
//!
//! Each table is filled by one statement for a part, from one row of the university. So it stays right when a table gets
//! another column, and a hundred thousand users take minutes.

use std::ops::AddAssign;

use entity_core::{Context, Error, Result};
use sea_orm::{ConnectionTrait as _, DbBackend};

use crate::base::university::BIOLOGY;
use crate::courses::content::path::root;
use crate::people::site::claim_ids;

/// The ids of what is made, but for the number and the kind.
const ID: &str = "01900000-0000-7000-80";
/// The number of numbers that are between the first pages of two sites, or their first assignments, and so on.
const IN_SITE: u64 = 10_000;
/// The number of members a site has at most, counted from the first one of any.
const MEMBERS: u64 = 10_000;

/// Some people and courses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The number of the first student, which is that of no other part.
    pub first: u64,
    /// The number of students.
    pub students: u64,
    /// The number of instructors, whose numbers follow.
    pub instructors: u64,
    /// The number of the first course.
    pub first_course: u64,
    /// The number of courses.
    pub courses: u64,
    /// The number of these courses that each student is in.
    pub courses_of_student: u64,
    /// The number of announcements of each course.
    pub announcements: u64,
    /// The number of assignments of each course, and of events: all its students have handed in, and have a score.
    pub assignments: u64,
    /// The number of files of each course.
    pub files: u64,
}

/// The number of rows that were made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Added {
    /// People.
    pub users: u64,
    /// Courses.
    pub sites: u64,
    /// Members of courses.
    pub members: u64,
    /// All that is in the courses.
    pub entities: u64,
}

impl AddAssign for Added {
    fn add_assign(&mut self, other: Self) {
        self.users += other.users;
        self.sites += other.sites;
        self.members += other.members;
        self.entities += other.entities;
    }
}

impl Part {
    /// Returns a thousand users: in 20 courses, of which a student is in 4, with 10 announcements, 4 assignments and 5
    /// files each.
    pub const fn thousand(number: u64) -> Self {
        Self {
            first: number * 1_000,
            students: 960,
            instructors: 40,
            first_course: number * 20,
            courses: 20,
            courses_of_student: 4,
            announcements: 10,
            assignments: 4,
            files: 5,
        }
    }

    /// Returns the id of the course with this number.
    pub fn course(number: u64) -> String {
        format!("course-{number:06}")
    }

    /// Returns the name by which the person with this number logs in.
    pub fn eid(number: u64) -> String {
        format!("user{number:06}")
    }
}

/// Adds `part` to a database that holds the demo university. All have the password of its `student1`.
///
/// # Errors
/// Returns an error if the part was added before, or the database can't be written.
pub async fn add(cx: &Context, part: &Part) -> Result<Added> {
    let copy = Copying {
        cx,
        is_sqlite: cx.db()?.get_database_backend() == DbBackend::Sqlite,
        part,
    };
    let users = copy.users().await?;
    let sites = copy.sites().await?;
    let ids: Vec<String> = (0..part.courses)
        .map(|it| Part::course(part.first_course + it))
        .collect();
    claim_ids(cx, &ids).await?;
    let members = copy.members().await?;
    let entities = [
        copy.announcements().await?,
        copy.assignments().await?,
        copy.events().await?,
        copy.submissions().await?,
        copy.items().await?,
        copy.scores().await?,
        copy.files().await?,
    ];
    Ok(Added {
        users,
        sites,
        members,
        entities: entities.iter().sum(),
    })
}

/// A column and what it holds in a copy: SQL in which `t` is the row that is copied, `c` the number of the course, `n`
/// that of the copy in it, and `u` that of the user.
type Other<'a> = (&'a str, String);

struct Copying<'a> {
    cx: &'a Context,
    is_sqlite: bool,
    part: &'a Part,
}

impl Copying<'_> {
    async fn users(&self) -> Result<u64> {
        let part = self.part;
        let (first, behind) = (part.first, part.first + part.students + part.instructors);
        let mut count = 0;
        for (source, first, behind) in [
            ("student1", first, first + part.students),
            ("instructor1", first + part.students, behind),
        ] {
            let eid = self.text("user", "n.i", 6);
            let email = format!("{eid} || '@example.edu'");
            let name = format!("'Number ' || {}", self.digits("n.i", 6));
            let others = [
                ("id", user_id(self, "n.i")),
                ("eid", eid.clone()),
                ("eid_folded", eid),
                ("email", email.clone()),
                ("email_folded", email),
                ("last_name", name.clone()),
                ("last_name_folded", format!("lower({name})")),
            ];
            let from = format!(
                "{}, user_account t WHERE t.eid = '{source}'",
                numbers("n", first, behind)
            );
            count += self.copy("user_account", &others, &from).await?;
        }
        Ok(count)
    }

    async fn sites(&self) -> Result<u64> {
        let others = [
            ("id", self.course()),
            ("title", format!("'Course ' || {}", self.digits("c.i", 6))),
            (
                "title_folded",
                format!("'course ' || {}", self.digits("c.i", 6)),
            ),
        ];
        let from = format!("{}, site t WHERE t.id = '{BIOLOGY}'", self.courses());
        let count = self.copy("site", &others, &from).await?;
        let page = self.id(1, &format!("c.i * {IN_SITE} + p.position"));
        for (table, tables, id) in [
            ("site_page", "site_page t, site_page p", &page),
            (
                "site_tool",
                "site_tool t, site_page p",
                &self.id(2, &format!("c.i * {IN_SITE} + p.position")),
            ),
        ] {
            let own = if table == "site_page" {
                "t.id"
            } else {
                "t.page_id"
            };
            let mut others = vec![("id", id.clone()), ("site_id", self.course())];
            if table == "site_tool" {
                others.push(("page_id", page.clone()));
            }
            let from = format!(
                "{}, {tables} WHERE t.site_id = '{BIOLOGY}' AND p.id = {own}",
                self.courses()
            );
            self.copy(table, &others, &from).await?;
        }
        Ok(count)
    }

    async fn members(&self) -> Result<u64> {
        let part = self.part;
        let students = (
            "Student",
            format!(
                "{}, membership t, user_account u WHERE u.eid = 'student1' AND t.user_id = u.id AND t.site_id = '{BIOLOGY}'",
                self.seats()
            ),
            self.course_of_seat(),
            user_id(self, "n.i"),
        );
        let first = part.first + part.students;
        let instructors = (
            "Instructor",
            format!(
                "{}, membership t, user_account u WHERE u.eid = 'instructor1' AND t.user_id = u.id AND t.site_id = '{BIOLOGY}'",
                numbers("n", first, first + part.instructors)
            ),
            self.text(
                "course-",
                &format!("({} + n.i % {})", part.first_course, part.courses),
                6,
            ),
            user_id(self, "n.i"),
        );
        let mut count = 0;
        for (role, from, site, user) in [students, instructors] {
            let others = [
                ("role", format!("'{role}'")),
                ("site_id", site),
                ("user_id", user),
            ];
            count += self.copy("membership", &others, &from).await?;
        }
        Ok(count)
    }

    async fn announcements(&self) -> Result<u64> {
        let others = [
            ("id", self.id(3, &in_course())),
            ("site_id", self.course()),
            ("title", "'Announcement ' || n.i".to_owned()),
            ("title_folded", "'announcement ' || n.i".to_owned()),
            ("position", "n.i + 1".to_owned()),
            ("attachments", "'[]'".to_owned()),
            ("published", "t.published - n.i * 60000".to_owned()),
        ];
        let source = format!("announcement t WHERE t.site_id = '{BIOLOGY}' AND t.position = 1");
        self.copy_into_courses("announcement", &others, self.part.announcements, &source)
            .await
    }

    async fn assignments(&self) -> Result<u64> {
        let others = [
            ("id", self.id(4, &in_course())),
            ("site_id", self.course()),
            ("title", "'Assignment ' || n.i".to_owned()),
            ("title_folded", "'assignment ' || n.i".to_owned()),
            ("place", "n.i + 1".to_owned()),
            ("due_time", later("due_time")),
            ("close_time", later("close_time")),
        ];
        let source =
            format!("assignment t WHERE t.site_id = '{BIOLOGY}' AND t.title LIKE 'Essay%'");
        self.copy_into_courses("assignment", &others, self.part.assignments, &source)
            .await
    }

    async fn events(&self) -> Result<u64> {
        let others = [
            ("event_id", self.id(9, &in_course())),
            ("site_id", self.course()),
            ("title", "'Event ' || n.i".to_owned()),
            ("title_folded", "'event ' || n.i".to_owned()),
            ("attachments", "'[]'".to_owned()),
            ("first_time", later("first_time")),
            ("over_at", later("over_at")),
        ];
        let source =
            format!("calendar_event t WHERE t.site_id = '{BIOLOGY}' AND t.title = 'Midterm exam'");
        self.copy_into_courses("calendar_event", &others, self.part.assignments, &source)
            .await
    }

    async fn items(&self) -> Result<u64> {
        let others = [
            ("item_id", self.id(5, &in_course())),
            ("site_id", self.course()),
            ("name", "'Item ' || n.i".to_owned()),
            ("name_folded", "'item ' || n.i".to_owned()),
            ("position", "n.i + 1".to_owned()),
            ("category_id", "NULL".to_owned()),
        ];
        let source =
            format!("gradebook_item t WHERE t.site_id = '{BIOLOGY}' AND t.name = 'Essay 1'");
        self.copy_into_courses("gradebook_item", &others, self.part.assignments, &source)
            .await
    }

    async fn submissions(&self) -> Result<u64> {
        let assignment = self.id(4, &in_course_of_seat(self));
        let user = user_id(self, "n.i");
        let others = [
            ("id", self.id(6, &of_member(self))),
            ("assignment_id", assignment.clone()),
            ("site_id", self.course_of_seat()),
            ("submitter", user.clone()),
            ("place", format!("{assignment} || ':' || {user}")),
            ("grade", "cast(20 + n.i % 30 AS TEXT)".to_owned()),
        ];
        let source = "assignment_submission t, assignment ta, user_account tu WHERE ta.title LIKE 'Essay%' \
            AND t.assignment_id = ta.id AND tu.eid = 'student1' AND t.submitter = tu.id";
        self.copy_of_seats("assignment_submission", &others, source)
            .await
    }

    async fn scores(&self) -> Result<u64> {
        let item = self.id(5, &in_course_of_seat(self));
        let user = user_id(self, "n.i");
        let others = [
            ("score_id", format!("{item} || ':' || {user}")),
            ("item_id", item.clone()),
            ("site_id", self.course_of_seat()),
            ("user_id", user.clone()),
            ("score", "500000 + n.i % 50 * 10000".to_owned()),
        ];
        let source = "gradebook_score t, gradebook_item ti, user_account tu WHERE ti.name = 'Essay 1' \
            AND t.item_id = ti.item_id AND tu.eid = 'student1' AND t.user_id = tu.id";
        self.copy_of_seats("gradebook_score", &others, source).await
    }

    async fn files(&self) -> Result<u64> {
        let folder = self.id(7, "c.i");
        let path = format!("'/group/' || {} || '/'", self.course());
        let others = [
            ("id", folder.clone()),
            ("site_id", self.course()),
            ("resource_id", path.clone()),
        ];
        let source = root(BIOLOGY);
        let source = format!("content t WHERE t.resource_id = '{source}'");
        self.copy_into_courses("content", &others, 1, &source)
            .await?;
        let name = format!("'File ' || {} || '.pdf'", self.digits("n.i", 5));
        let others = [
            ("id", self.id(8, &in_course())),
            ("site_id", self.course()),
            ("folder_id", folder),
            ("title", name.clone()),
            ("title_folded", format!("lower({name})")),
            ("resource_id", format!("{path} || {name}")),
            ("depth", "1".to_owned()),
            ("position", "n.i + 2".to_owned()),
        ];
        let source = format!(
            "content t WHERE t.resource_id = (SELECT min(x.resource_id) FROM content x WHERE x.site_id = '{BIOLOGY}' \
             AND x.depth = 2 AND x.media_type = 'application/pdf' AND NOT x.is_hidden)"
        );
        self.copy_into_courses("content", &others, self.part.files, &source)
            .await
    }

    /// Copies the row of `source` so often into each course.
    async fn copy_into_courses(
        &self,
        table: &str,
        others: &[Other<'_>],
        times: u64,
        source: &str,
    ) -> Result<u64> {
        let from = format!("{}, {}, {source}", self.courses(), numbers("n", 0, times));
        self.copy(table, others, &from).await
    }

    /// Copies the row of `source` for each student and each assignment of a course.
    async fn copy_of_seats(&self, table: &str, others: &[Other<'_>], source: &str) -> Result<u64> {
        let assignments = numbers("a", 0, self.part.assignments);
        let from = format!("{}, {assignments}, {source}", self.seats());
        self.copy(table, others, &from).await
    }

    /// Writes copies of the rows of `from`, in which `t` is the row of `table`. Returns their number.
    async fn copy(&self, table: &str, others: &[Other<'_>], from: &str) -> Result<u64> {
        let db = self.cx.db()?;
        let row = db.sql(&format!("SELECT * FROM {table} LIMIT 1"));
        let row = db.query_one_raw(row.into_statement()).await?;
        let row = row.ok_or_else(|| {
            Error::conflict(format!(
                "the demo university is to be there first: {table} is empty"
            ))
        })?;
        let names = row.column_names();
        let quoted: Vec<String> = names.iter().map(|it| format!("\"{it}\"")).collect();
        let values = names.iter().zip(&quoted).map(|(name, quoted)| {
            let other = others.iter().find(|it| it.0 == name);
            other.map_or_else(|| format!("t.{quoted}"), |it| it.1.clone())
        });
        let values: Vec<String> = values.collect();
        let sql = format!(
            "INSERT INTO {table} ({}) SELECT {} FROM {from}",
            quoted.join(", "),
            values.join(", ")
        );
        let done = db.execute_unprepared(&sql).await?;
        Ok(done.rows_affected())
    }

    fn courses(&self) -> String {
        let first = self.part.first_course;
        numbers("c", first, first + self.part.courses)
    }

    /// The id of course `c`.
    fn course(&self) -> String {
        self.text("course-", "c.i", 6)
    }

    /// Each student `n` in each of their courses, the `s`-th.
    fn seats(&self) -> String {
        let part = self.part;
        let students = numbers("n", part.first, part.first + part.students);
        let courses = numbers("s", 0, part.courses_of_student);
        format!("{students}, {courses}")
    }

    /// The number of the course of a seat.
    fn number_of_seat(&self) -> String {
        let part = self.part;
        let step = part.courses / part.courses_of_student.max(1);
        format!(
            "({} + (n.i * 7 + s.i * {step}) % {})",
            part.first_course, part.courses
        )
    }

    fn course_of_seat(&self) -> String {
        self.text("course-", &self.number_of_seat(), 6)
    }

    /// An id of this kind.
    fn id(&self, kind: u8, number: &str) -> String {
        self.text(&format!("{ID}{kind:02}-"), number, 12)
    }

    /// A text and a number with so many digits.
    fn text(&self, before: &str, number: &str, digits: u8) -> String {
        format!("'{before}' || {}", self.digits(number, digits))
    }

    fn digits(&self, number: &str, digits: u8) -> String {
        match self.is_sqlite {
            true => format!("printf('%0{digits}d', {number})"),
            false => format!("lpad(({number})::text, {digits}, '0')"),
        }
    }
}

/// The numbers from `first` on, as a table with the column `i`.
fn numbers(name: &str, first: u64, behind: u64) -> String {
    format!(
        "(WITH RECURSIVE counted(i) AS (SELECT {first} UNION ALL SELECT i + 1 FROM counted WHERE i + 1 < {behind}) \
         SELECT cast(i AS BIGINT) AS i FROM counted WHERE i < {behind}) {name}"
    )
}

fn user_id(copy: &Copying<'_>, number: &str) -> String {
    copy.id(0, number)
}

/// The time in a column of what is copied, and some weeks and another day for each copy: they are still to come.
fn later(column: &str) -> String {
    format!("t.{column} + (20 + n.i) * 86400000")
}

/// The number of copy `n` in course `c`.
fn in_course() -> String {
    format!("c.i * {IN_SITE} + n.i")
}

/// The number of assignment `a` in the course of a seat.
fn in_course_of_seat(copy: &Copying<'_>) -> String {
    format!("{} * {IN_SITE} + a.i", copy.number_of_seat())
}

/// The number of what the student of a seat has of assignment `a`.
fn of_member(copy: &Copying<'_>) -> String {
    format!(
        "({}) * {MEMBERS} + n.i % {MEMBERS}",
        in_course_of_seat(copy)
    )
}
