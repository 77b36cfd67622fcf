//! The overview of an assignment: the students who have handed in work, and those who have not.

use entity_core::db::{self, Row};
use entity_core::wire::Millis;
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
    /// The number of those who have handed in and have no grade for it yet.
    to_grade: usize,
    /// The number of those to whom their grade was returned.
    returned: usize,
    /// The students who have not handed in, by last name.
    missing: Vec<Missing>,
}

/// A student who has not handed in.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
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
    let most = i64::try_from(MOST_STUDENTS.saturating_add(1)).unwrap_or(i64::MAX);
    let found = works(cx, &assignment, most, "''").await?;
    if found.len() > MOST_STUDENTS {
        let message = format!("the assignment is for more than {MOST_STUDENTS} students");
        return Err(Error::limit_reached(message));
    }
    let mut told = Overview::default();
    for work in found {
        told.add(&work);
    }
    Ok(Data(told))
}

/// A student with what is known of the work.
#[derive(Row)]
pub(super) struct Work {
    pub(super) name: String,
    eid: String,
    pub(super) student: String,
    pub(super) id: Option<String>,
    pub(super) is_draft: bool,
    pub(super) is_submitted: bool,
    pub(super) is_late: bool,
    pub(super) handed_in_on: Option<Millis>,
    pub(super) grade: String,
    pub(super) is_returned: bool,
    pub(super) is_renewed: bool,
    pub(super) comment: Option<String>,
}

/// Returns the students for whom the assignment is, by last name, with their work: no more than `most`, each with a comment that SQL
/// reads from the work `w`.
pub(super) async fn works(
    cx: &Context,
    assignment: &Assignment,
    most: i64,
    comment: &'static str,
) -> Result<Vec<Work>> {
    let roles = student_roles(cx, &assignment.site_id).await?;
    let db = cx.db()?;
    let mut sql = db.sql(
        "SELECT trim(u.first_name || ' ' || u.last_name), u.eid, m.user_id, w.id, coalesce(w.is_draft, FALSE), \
         coalesce(w.submitted, FALSE), coalesce(w.late, FALSE), w.date_submitted, coalesce(w.grade, ''), \
         coalesce(w.returned, FALSE), coalesce(w.is_renewed, FALSE), ",
    );
    sql.push(comment);
    sql.push(
        " FROM membership m JOIN user_account u ON u.id = m.user_id \
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
    sql.bind(most);
    db.rows(sql.into_statement(), db::columns).await
}

impl Work {
    /// Returns whether there is work that has no grade yet, or none since it was handed in again.
    pub(super) fn is_to_grade(&self) -> bool {
        self.is_submitted && (self.grade.is_empty() || self.is_renewed)
    }
}

impl Overview {
    fn add(&mut self, work: &Work) {
        let count = |number: &mut usize, counts: bool| *number += usize::from(counts);
        count(&mut self.students, true);
        count(&mut self.handed_in, work.is_submitted);
        count(&mut self.late, work.is_submitted && work.is_late);
        count(&mut self.to_grade, work.is_to_grade());
        count(&mut self.returned, work.is_returned);
        if !work.is_submitted {
            self.missing.push(Missing {
                display_name: work.name.clone(),
                user_eid: work.eid.clone(),
                user_id: work.student.clone(),
                has_begun: work.id.is_some(),
            });
        }
    }
}
