//! `/direct/assignment-submission`: the work that is handed in for an assignment, with its grade.

use entity_core::db::{self, Migration, RowPolicy};
use entity_core::file::Files;
use entity_core::wire::Moment;
use entity_core::{
    Access, Audience, Context, DateTimeUtc, Entity, Error, Need, Notice, Result, gate, standard,
};
use sea_orm::{ColumnTrait as _, EntityTrait as _, QueryFilter as _};
use serde::Serialize;

use super::{ACCESS as OF_ASSIGNMENTS, Assignment, GRADE, SUBMIT};
use crate::base::fields::{Properties, seen};
use crate::people::user::{display_name, sort_name};

/// Whoever hands in changes their own work, and graders change grades: see [`Submission::settle`].
const ACCESS: Access = Access {
    read: OF_ASSIGNMENTS.read,
    create: Need::Site(SUBMIT),
    update: Need::SiteOrOwn(GRADE, SUBMIT),
    delete: Need::Superuser,
};

/// Work is for whoever hands it in and for graders, as long as they see the assignment.
const SIGHT: RowPolicy = RowPolicy::All(&[
    RowPolicy::Parent(&super::SIGHT),
    RowPolicy::Any(&[RowPolicy::Own, RowPolicy::Holds(GRADE)]),
]);

/// Work that is not handed in yet is for nobody else.
const WORK: RowPolicy = RowPolicy::Any(&[
    RowPolicy::Own,
    RowPolicy::All(&[
        RowPolicy::Not(&RowPolicy::Is("draft")),
        RowPolicy::Holds(GRADE),
    ]),
]);

/// Grades are for graders, and for the others once they are returned.
const RESULT: RowPolicy = RowPolicy::Any(&[
    RowPolicy::Holds(GRADE),
    RowPolicy::All(&[RowPolicy::Own, RowPolicy::Is("returned")]),
]);

/// The fields that graders set.
const OF_GRADERS: [&str; 6] = [
    "grade",
    "returned",
    "feedbackText",
    "feedbackComment",
    "feedbackAttachments",
    "privateNotes",
];

/// The work that somebody hands in for an assignment, with its grade.
#[standard(
    version,
    facts,
    alias(
        /// True if the student handed it in: a grader can also grade without that.
        user_submission = submitted,
        visible = returned,
    ),
    seconds(date_submitted_epoch_seconds = date_submitted),
    constant(
        /// Always null: groups don't hand in together.
        group_id = null,
        lti_submission_launch = null,
    ),
)]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(prefix = "assignment-submission", table = "assignment_submission")]
#[entity(access = ACCESS, sight = SIGHT, settle = Self::settle, version = seen)]
#[entity(asked = Self::is_asked, for_holders("asn.grade"))]
#[entity(
    verbs(read, list, create, update),
    order = "gradableId,id",
    plural = "Work",
    singular = "Work",
    listed("submitter", "status", "dateSubmitted", "late", "grade")
)]
pub struct Submission {
    /// The id.
    #[entity(id)]
    pub id: String,
    /// The assignment.
    #[serde(rename = "gradableId")]
    #[entity(on_create, parent = Assignment, references = "assignment", label = "Assignment")]
    pub assignment_id: String,
    /// The site.
    #[serde(rename = "context")]
    #[entity(site, references = "site")]
    pub site_id: String,
    /// The title of the assignment.
    #[entity(title, sql = "parent.title")]
    pub assignment_title: String,
    /// The points that the assignment is worth, as text.
    #[entity(
        sql = "parent.grade_scale_max_points",
        fact = "of {} points",
        label = "Points"
    )]
    pub assignment_points: Option<String>,
    /// When work is no longer accepted.
    #[entity(sql = "parent.close_time", label = "Closes")]
    pub assignment_close_time: Moment,
    /// The number of times work may be handed in again: 0 for never, -1 for as often as one likes.
    #[entity(sql = "parent.resubmissions", for_programs)]
    pub assignment_resubmissions: i64,
    /// The internal id of whoever hands it in.
    #[entity(owner, person, references = "user", label = "Student")]
    pub submitter: String,
    /// The name of whoever hands it in.
    #[entity(name_of = submitter)]
    pub submitter_display_name: String,
    /// The first name of whoever hands it in.
    #[entity(sql = "coalesce(submitter_account.first_name, '')", for_programs)]
    pub submitter_first_name: String,
    /// The last name of whoever hands it in.
    #[entity(sql = "coalesce(submitter_account.last_name, '')", for_programs)]
    pub submitter_last_name: String,
    /// The external id of whoever hands it in.
    #[entity(sql = "coalesce(submitter_account.eid, '')", for_programs)]
    pub submitter_eid: String,
    /// The students who hand it in.
    #[entity(computed = Self::submitters, for_programs)]
    pub submitters: Vec<Submitter>,
    /// The text. Graders see it when it is handed in.
    #[entity(html, sight = WORK, label = "Text")]
    pub submitted_text: Option<String>,
    /// The files. Graders see them when they are handed in.
    #[entity(sight = WORK, label = "Files")]
    pub submitted_attachments: Files,
    /// True if it is not to be handed in yet.
    #[entity(column = "is_draft")]
    pub draft: bool,
    /// True if it was handed in.
    #[entity(read_only, for_programs)]
    pub submitted: bool,
    /// When it was handed in.
    #[entity(read_only, label = "Handed in")]
    pub date_submitted: Option<DateTimeUtc>,
    /// True if it was handed in after it was due.
    #[entity(read_only)]
    pub late: bool,
    /// True if the caller may hand it in, again or for the first time.
    #[entity(computed = Self::may_be_submitted, label = "May be handed in")]
    pub can_submit: bool,
    /// The grade. Whoever hands in sees it when it is returned.
    #[entity(max = 40, sight = RESULT)]
    pub grade: Option<String>,
    /// True if there is a grade that the caller sees.
    #[entity(computed = |it, _| it.grade.is_some(), for_programs)]
    pub graded: bool,
    /// True if grade and feedback are shown to whoever handed it in.
    pub returned: bool,
    /// The text with remarks in it. Whoever hands in sees it when it is returned.
    #[entity(html, sight = RESULT, label = "Text with remarks")]
    pub feedback_text: Option<String>,
    /// A comment. Whoever hands in sees it when it is returned.
    #[entity(html, sight = RESULT, label = "Comment")]
    pub feedback_comment: Option<String>,
    /// Files of the grader. Whoever hands in sees them when they are returned.
    #[entity(sight = RESULT, label = "Files with remarks")]
    pub feedback_attachments: Files,
    /// Notes for graders.
    #[entity(html, sight = RowPolicy::Holds(GRADE))]
    pub private_notes: Option<String>,
    /// The state, in words for people.
    #[entity(computed = Self::status)]
    pub status: String,
    /// `allow_resubmit_number` says how often it may be handed in again.
    #[entity(computed = Self::properties, for_programs)]
    pub properties: Properties,
    /// Always empty.
    #[entity(computed, for_programs)]
    pub previewable_attachments: Properties,
    /// The number of times it was handed in again.
    #[entity(read_only, label = "Handed in again")]
    pub resubmissions: i64,
    /// True if it was handed in again since a grader looked at it, so that a grade is one of the work before.
    #[serde(skip)]
    #[entity(hidden)]
    pub is_renewed: bool,
    /// The assignment and whoever hands in: nobody hands in twice.
    #[serde(skip)]
    #[entity(hidden, unique)]
    pub place: String,
}

entity_core::register!(Submission, migrations(INDEXES));

/// The kind of the event that a grade is returned.
pub(super) const RETURNED: &str = "asn.grade.submission";
entity_core::register_notice!(Notice {
    event: RETURNED,
    kind: RETURNED,
    tool: "sakai.assignment.grades",
    audience: Audience::Person,
    text: "",
});

/// The work of one person is found among that of all others, and the work of a site in the order of lists. SQLite would
/// also look for the work of one person there, without knowing how much there is, if the index of persons did not have the
/// site as well.
const INDEXES: Migration = Migration::of_tables(
    "assignment_submission_indexes",
    &[
        "CREATE INDEX assignment_submission_in_order ON assignment_submission (site_id, assignment_id, id)",
        "CREATE INDEX assignment_submission_by_submitter \
         ON assignment_submission (submitter, site_id, assignment_id, id)",
    ],
);

/// Somebody who hands in.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Submitter {
    /// The internal id.
    pub id: String,
    /// The name.
    pub display_name: String,
    /// The name as lists are sorted by it.
    pub sort_name: String,
    /// The external id.
    pub display_id: String,
    /// The grade.
    pub grade: Option<String>,
    /// Always false: nobody has a grade that differs from that of the work.
    pub overridden: bool,
    /// Always null.
    pub time_spent: Option<String>,
}

impl Submission {
    /// Returns new work of `submitter`, with nothing in it, for code that stores it as it is.
    pub fn blank(id: String, assignment: &Assignment, submitter: &str) -> Self {
        Self {
            id,
            assignment_id: assignment.id.clone(),
            site_id: assignment.site_id.clone(),
            submitter: submitter.to_owned(),
            place: place(&assignment.id, submitter),
            version: 1,
            ..Self::default()
        }
    }

    /// Returns the work of `submitter` for an assignment as the caller sees it, if there is some.
    pub(super) async fn of(
        cx: &Context,
        assignment: &Assignment,
        submitter: &str,
    ) -> Result<Option<Self>> {
        let place = submission::Column::Place.eq(place(&assignment.id, submitter));
        let found: Vec<Self> = db::find(cx, submission::Entity::find().filter(place)).await?;
        gate::retain::<Self>(cx, entity_core::Page::whole(found))
            .await
            .map(|page| page.items.into_iter().next())
    }

    /// Decides who changes what, before it is written: whoever hands in their work, and graders the rest.
    async fn settle(&mut self, cx: &Context, before: Option<&Self>) -> Result<()> {
        let unknown = |_| Error::field("gradableId", "must be an assignment that you see");
        let assignment = Assignment::find(cx, &self.assignment_id).await;
        let assignment = assignment.map_err(unknown)?;
        if assignment.site_id != self.site_id {
            let message = "must be the site of the assignment";
            return Err(Error::field("context", message));
        }
        self.place = place(&self.assignment_id, &self.submitter);
        if self.is_own(cx) {
            self.hand_in(cx, &assignment, before).await
        } else {
            self.mark(cx, &assignment, before).await
        }
    }

    /// The form asks whoever hands in for their work, and graders for what they say of it.
    fn is_asked(work: Option<&Self>, caller: Option<&str>, field: &str) -> bool {
        let is_own = work.is_none_or(|it| caller == Some(&it.submitter));
        OF_GRADERS.contains(&field) != is_own
    }

    fn is_own(&self, cx: &Context) -> bool {
        cx.caller().user_id() == Some(&self.submitter)
    }

    fn submitters(&self, _cx: &Context) -> Vec<Submitter> {
        let (first, last) = (&self.submitter_first_name, &self.submitter_last_name);
        vec![Submitter {
            id: self.submitter.clone(),
            display_name: display_name(first, last, &self.submitter_eid),
            sort_name: sort_name(first, last, &self.submitter_eid),
            display_id: self.submitter_eid.clone(),
            grade: self.grade.clone(),
            ..Submitter::default()
        }]
    }

    fn may_be_submitted(&self, cx: &Context) -> bool {
        let is_over = cx.now().timestamp_millis() >= self.assignment_close_time.time;
        self.is_own(cx) && !is_over && (!self.submitted || self.resubmissions_left() != 0)
    }

    /// Returns how often it may be handed in again; -1 for as often as one likes.
    pub(super) fn resubmissions_left(&self) -> i64 {
        match self.assignment_resubmissions {
            most if most < 0 => -1,
            most => most.saturating_sub(self.resubmissions).max(0),
        }
    }

    fn properties(&self, _cx: &Context) -> Properties {
        let left = self.resubmissions_left().to_string();
        Properties([("allow_resubmit_number".to_owned(), left)].into())
    }

    fn status(&self, _cx: &Context) -> String {
        match self.date_submitted {
            _ if self.returned => "Returned".to_owned(),
            _ if self.graded && !self.is_renewed => "Graded".to_owned(),
            _ if self.draft => "Draft - In progress".to_owned(),
            None => "No Submission".to_owned(),
            Some(at) => {
                let late = if self.late { " - late" } else { "" };
                format!("Submitted {}{late}", Moment::from(at).display)
            }
        }
    }
}

pub(super) fn place(assignment: &str, submitter: &str) -> String {
    format!("{assignment}:{submitter}")
}
