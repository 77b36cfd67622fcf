//! The overview of an assignment: the students who have handed in work, and those who have not.

use entity_core::db::{self, Row};
use entity_core::{Action, Arguments, Context, Data, Error, Need, Result, Verb};
use schemars::JsonSchema;
use serde::Serialize;

use super::submission::place;
use super::{Assignment, GRADE};
use crate::courses::gradebook::student_roles;

/// The maximum number of students whose work is counted.
const MOST_STUDENTS: usize = 5_000;

/// The progress of the students for whom an assignment is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "AssignmentOverview")]
struct Overview {
    /// The number of students: of the site, or of the groups of the assignment.
    students: usize,
    /// The number of those who have handed in.
    handed_in: usize,
    /// The number of those who did so after it was due.
    late: usize,
    /// The number of those who have handed in and have no grade yet.
    to_grade: usize,
    /// The number of those to whom their grade was returned.
    returned: usize,
    /// The students who have not handed in, by last name.
    missing: Vec<Missing>,
}

/// A student who has not handed in.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema, Row)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "AssignmentMissing")]
struct Missing {
    /// The name.
    display_name: String,
    /// The external id.
    user_eid: String,
    /// The internal id.
    user_id: String,
    /// True if they have begun: there is a draft, or a grade without work.
    has_begun: bool,
}

/// Returns the action that tells who has handed in.
pub(super) fn action() -> Action<Assignment> {
    Action::entity(Verb::Get, "overview", Need::Site(GRADE), overview)
        .label("Who has handed in")
        .doc(
            "How many students have handed in, late or not, how many wait for a grade, and who has not handed in.",
        )
}

async fn overview(cx: &Context, assignment: Assignment, _: Arguments) -> Result<Data<Overview>> {
    let roles = student_roles(cx, &assignment.site_id).await?;
    let db = cx.db()?;
    let mut sql = db.sql(
        "SELECT trim(u.first_name || ' ' || u.last_name), u.eid, m.user_id, w.id IS NOT NULL, \
         coalesce(w.submitted, FALSE), coalesce(w.late, FALSE), coalesce(w.grade, '') <> '', \
         coalesce(w.returned, FALSE) FROM membership m JOIN user_account u ON u.id = m.user_id \
         LEFT JOIN assignment_submission w ON w.place = ",
    );
    // With the student behind it, the one place that their work has.
    sql.bind(place(&assignment.id, ""));
    sql.push(" || m.user_id WHERE m.is_active AND m.site_id = ");
    sql.bind(assignment.site_id.as_str());
    sql.push(" AND m.role").bind_list(&roles)?;
    if !assignment.groups.is_empty() {
        sql.push(
            " AND EXISTS (SELECT 1 FROM group_member g WHERE g.user_id = m.user_id AND g.group_id",
        );
        sql.bind_list(&assignment.groups)?.push(")");
    }
    sql.push(" ORDER BY u.last_name, u.first_name, u.id LIMIT ");
    sql.bind(i64::try_from(MOST_STUDENTS.saturating_add(1)).unwrap_or(i64::MAX));
    let found: Vec<Work> = db.rows(sql.into_statement(), db::columns).await?;
    if found.len() > MOST_STUDENTS {
        let message = format!("the assignment is for more than {MOST_STUDENTS} students");
        return Err(Error::limit_reached(message));
    }
    let mut told = Overview::default();
    for work in found {
        told.add(work);
    }
    Ok(Data(told))
}

/// A student with their work, if there is some.
#[derive(Row)]
struct Work {
    student: Missing,
    submitted: bool,
    late: bool,
    graded: bool,
    returned: bool,
}

impl Overview {
    fn add(&mut self, work: Work) {
        let count = |number: &mut usize, counts: bool| *number += usize::from(counts);
        count(&mut self.students, true);
        count(&mut self.handed_in, work.submitted);
        count(&mut self.late, work.submitted && work.late);
        count(&mut self.to_grade, work.submitted && !work.graded);
        count(&mut self.returned, work.returned);
        if !work.submitted {
            self.missing.push(work.student);
        }
    }
}
